/* optimisers.cuh - the rules of backends/cpu/optimiser, compiled for a GPU. A new one is included here; it is missed in
   step.cuh otherwise. */
#include "backends/cpu/optimiser/adadelta.c"
#include "backends/cpu/optimiser/adagrad.c"
#include "backends/cpu/optimiser/adam.c"
#include "backends/cpu/optimiser/adamax.c"
#include "backends/cpu/optimiser/nadam.c"
#include "backends/cpu/optimiser/rmsprop.c"
#include "backends/cpu/optimiser/sgd.c"
