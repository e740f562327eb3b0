/* evaluate.h - an ensemble's predictions and uncertainty, and how good they are. */
#ifndef TUTTI_EVALUATE_H
#define TUTTI_EVALUATE_H

#include <tutti/metrics.h>
#include <tutti/selector.h>

TUTTI_BEGIN_DECLS

/* Uncertainty of each row, by the law of total variance or entropy. Arrays belong to the struct. */
struct tutti_uncertainty {
  size_t size;
  enum tutti_task_kind kind;
  size_t rows, outputs;
  /* Regression, [rows][outputs], in the target's units; standard deviations. Aleatoric is NaN for models without a
     variance; total then is the epistemic part. */
  double *mean, *aleatoric, *epistemic, *total;
  /* Classification: probabilities [rows][outputs], label [rows]; entropies [rows] in nats: of the mean prediction (total),
     mean of the members' (aleatoric), their difference, the mutual information (epistemic). */
  double *probabilities, *entropy, *expected_entropy, *mutual_information;
  int32_t *label;
};

/* Combine members: predictions[members] -> [rows][width], weights[members] summing to 1. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_uncertainty_of(tutti_context *context, enum tutti_task_kind kind,
                                                                 size_t rows, size_t outputs, size_t members,
                                                                 const float *const *predictions, const double *weights,
                                                                 enum tutti_combination combination,
                                                                 struct tutti_uncertainty *uncertainty);
TUTTI_API void tutti_uncertainty_release(struct tutti_uncertainty *uncertainty);

/* One figure. */
struct tutti_metric {
  const char *name; /* "nll", "rmse", "ece", ... */
  const char *of;   /* "ensemble", "average member", "oracle", "members" */
  const char *unit; /* "nats", "target", "share", ... */
  int better;       /* -1: lower, +1: higher, 0: neither */
  double value;
};
struct tutti_evaluation {
  size_t size;
  size_t count;
  struct tutti_metric metrics[64];
};
/* All metrics of an ensemble on a split. `pool` holds its members' predictions there, one model a member, in the
   ensemble's order. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate(tutti_context *context, const struct tutti_pool *pool,
                                                           const tutti_ensemble *ensemble,
                                                           struct tutti_evaluation *evaluation);

TUTTI_END_DECLS
#endif
