/* sgd.c - stochastic gradient descent, with momentum:

   m = momentum m + g;  w -= r m, or with Nesterov r (g + momentum m)

   The rate stands outside m, as in PyTorch: it matters only when a schedule changes it. */
#include "backends/cpu/optimiser_impl.h"

CPU_UPDATE(sgd, {
  step = g;
  if (u->momentum > 0) {
    vec m = v_fma(momentum, v_load(first + i), g);
    v_store(first + i, m);
    step = u->nesterov ? v_fma(momentum, m, g) : m;
  }
})

CPU_OPTIMISER(sgd, .first = true)
