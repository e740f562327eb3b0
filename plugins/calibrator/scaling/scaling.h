/* scaling.h - probabilities scaled in their logarithms: p'_c = softmax_c(scale_c log p_c + bias_c). What calibrators
   temperature and vector-scaling share. */
#ifndef TUTTI_CALIBRATOR_SCALING_H
#define TUTTI_CALIBRATOR_SCALING_H

#include <tutti/plugin.h>

struct scaling {
  size_t classes;
  double *scales, *biases; /* [classes]; biases NULL: none */
};

/* out[rows][classes], which may be combined->values. Probabilities below the smallest normal float32 count as that. */
void scaling_apply(const struct scaling *scaling, const struct tutti_combined *combined, double *out);

/* The same as a formula. */
tutti_term scaling_formula(const struct scaling *scaling, tutti_formula *formula, tutti_term probabilities);

/* The mean NLL of rows, in nats, and its slopes by the scales and by the biases, [classes] each; room[classes]. */
double scaling_loss(const struct scaling *scaling, const struct tutti_combined *combined, const int32_t *labels,
                    double *room, double *by_scale, double *by_bias);

/* TUTTI_ERROR_NUMERIC: all these rows are of one class, so that nothing bounds how sure of it one may be. */
TUTTI_NODISCARD enum tutti_status scaling_check_labels(tutti_context *context, const struct tutti_targets *targets);

#endif
