/* without.c - replaces libsvm if Tutti was built without it. */
#include "machine.h"

#include <stdio.h>

static const char absent[] = "built without libsvm: install it (Debian: libsvm-dev), then configure and build again";

bool backend_available_svm(char *why, size_t size) {
  (void)snprintf(why, size, "%s", absent);
  return false;
}

enum tutti_status machine_fit(tutti_context *context, const struct machine_config *config,
                              const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                              size_t output, tutti_tensors *tensors) {
  (void)config, (void)task, (void)seed, (void)rows, (void)output, (void)tensors;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status machine_predict(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  const struct learner_rows *rows, size_t output, float *out) {
  (void)task, (void)tensors, (void)rows, (void)output, (void)out;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status machine_formula(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  size_t output, tutti_formula *formula, struct tutti_predicted_terms *terms) {
  (void)task, (void)tensors, (void)output, (void)formula, (void)terms;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}
