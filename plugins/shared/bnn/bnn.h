/* bnn.h - functions drawn from a Bayesian network's prior: fully connected, 1024, 2048 and 1024 ReLU units, all weights
   and biases normal (Heiss et al., NOMU, ICML 2022, Appendix B.2.5). */
#ifndef SHARED_BNN_H
#define SHARED_BNN_H

#include <tutti/plugin.h>

struct bnn;

/* The deviation of the weights for which the function's variance over [-1, 1]^dimensions is about 1 (Table 9: 1, 2, 5,
   10 and 20 dimensions); 0 for others. */
double bnn_deviation(size_t dimensions);
/* Draw a function; the caller destroys *bnn. It has the same bits wherever and whenever it is drawn from a seed. */
TUTTI_NODISCARD enum tutti_status bnn_create(tutti_context *context, size_t dimensions, double deviation, uint64_t seed,
                                             struct bnn **bnn);
void bnn_destroy(struct bnn *bnn);
/* Its values[count] at x[count][dimensions]. */
TUTTI_NODISCARD enum tutti_status bnn_values(tutti_context *context, const struct bnn *bnn, size_t count,
                                             const double *x, double *values);

#endif
