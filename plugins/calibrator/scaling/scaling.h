/* scaling.h - probabilities scaled in their logarithms: p'_c = softmax_c(scale_c log p_c + bias_c). What calibrators
   temperature and vector-scaling share. */
#ifndef TUTTI_CALIBRATOR_SCALING_H
#define TUTTI_CALIBRATOR_SCALING_H

#include <tutti/plugin.h>

/* The parameter of that name, of both. */
#define UNSEEN_ERRORS(config, field)                                                                                   \
  TUTTI_REAL(config, field, "1", 0, TUTTI_NO_LIMIT,                                                                    \
             "So many errors count beside those that the rows hold, where the ensemble itself expects errors, and no " \
             "more than it expects: rows that are all predicted right would else make it as sure as it may become.")

struct scaling {
  size_t classes;
  double *scales, *biases; /* [classes]; biases NULL: none */
};

/* out[rows][classes], which may be combined->values. Probabilities below the smallest normal float32 count as that. */
void scaling_apply(const struct scaling *scaling, const struct tutti_combined *combined, double *out);

/* The same as a formula. */
tutti_term scaling_formula(const struct scaling *scaling, tutti_formula *formula, tutti_term probabilities);

/* Rows that are all predicted right say nothing of the errors that others will have, and make a fit as sure as it may
   be. So `errors` errors more are counted, but no more than the ensemble itself expects, where it expects them: spread
   over the classes that are not the most probable ones, in proportion to their probabilities. This is what a
   probability of 1 then counts, at most 1; 0 if the ensemble has no doubts at all. */
double scaling_weight_of_doubts(const struct scaling *scaling, const struct tutti_combined *combined, double errors);

/* The mean NLL of rows, and of errors that count so (doubts; 0: none), in nats, and its slopes by the scales and by the
   biases, [classes] each; room[classes]. */
double scaling_loss(const struct scaling *scaling, const struct tutti_combined *combined, const int32_t *labels,
                    double doubts, double *room, double *by_scale, double *by_bias);

/* TUTTI_ERROR_NUMERIC: all these rows are of one class, so that nothing bounds how sure of it one may be. */
TUTTI_NODISCARD enum tutti_status scaling_check_labels(tutti_context *context, const struct tutti_targets *targets);

#endif
