/* without.c - replaces XGBoost if Tutti was built without it. */
#include "grove.h"

enum tutti_status grove_check_boosting(tutti_context *context) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "method = boosting does not work here: built without XGBoost; install it (Debian: libxgboost-dev), "
                    "then configure and build again, or choose random-forest or extra-trees");
}

enum tutti_status grove_fit_boosting(tutti_context *context, const struct grove_config *config,
                                     const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                                     size_t output, tutti_tensors *tensors) {
  (void)config, (void)task, (void)seed, (void)rows, (void)output, (void)tensors;
  return grove_check_boosting(context);
}

enum tutti_status grove_predict_boosting(tutti_context *context, const struct grove_config *config,
                                         const struct tutti_task *task, const tutti_tensors *tensors,
                                         const struct learner_rows *rows, size_t output, float *out) {
  (void)config, (void)task, (void)tensors, (void)rows, (void)output, (void)out;
  return grove_check_boosting(context);
}

enum tutti_status grove_formula_boosting(tutti_context *context, const struct grove_config *config,
                                         const struct tutti_task *task, const tutti_tensors *tensors, size_t output,
                                         tutti_formula *formula, struct tutti_predicted_terms *terms) {
  (void)config, (void)task, (void)tensors, (void)output, (void)formula, (void)terms;
  return grove_check_boosting(context);
}
