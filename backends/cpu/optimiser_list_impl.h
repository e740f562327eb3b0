/* optimiser_list_impl.h - the optimisers, with their names as enum constants, in C and in recipes. The enum, the
   parameter's choices and the kernels follow from this list; each has a file of its name in optimiser/. */
#ifndef BACKEND_CPU_OPTIMISER_LIST_IMPL_H
#define BACKEND_CPU_OPTIMISER_LIST_IMPL_H

#define CPU_OPTIMISER_LIST(X)                                                                                          \
  X(SGD, sgd)                                                                                                          \
  X(RMSPROP, rmsprop)                                                                                                  \
  X(ADAGRAD, adagrad)                                                                                                  \
  X(ADAM, adam)                                                                                                        \
  X(ADADELTA, adadelta)                                                                                                \
  X(ADAMAX, adamax)                                                                                                    \
  X(NADAM, nadam)

#define CPU_OPTIMISER_ID(id, name) CPU_##id,
enum cpu_optimiser {
  CPU_OPTIMISER_LIST(CPU_OPTIMISER_ID) /* these follow the gradient of a mini-batch by a rule */
  CPU_OPTIMISERS,
  CPU_LBFGS = CPU_OPTIMISERS /* this one minimises the loss of all rows (lbfgs.c) */
};
#undef CPU_OPTIMISER_ID

#endif
