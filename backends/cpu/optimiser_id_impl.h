/* optimiser_id_impl.h - the optimisers as enum constants, in the order of the list in local.mk. */
#ifndef BACKEND_CPU_OPTIMISER_ID_IMPL_H
#define BACKEND_CPU_OPTIMISER_ID_IMPL_H

#include "cpu_optimisers.h"

#define CPU_OPTIMISER_ID(id, name) CPU_##id,
enum cpu_optimiser {
  CPU_OPTIMISER_LIST(CPU_OPTIMISER_ID) /* these follow the gradient of a mini-batch by a rule */
  CPU_OPTIMISERS,
  CPU_LBFGS = CPU_OPTIMISERS /* this one minimises the loss of all rows (lbfgs.c) */
};
#undef CPU_OPTIMISER_ID

#endif
