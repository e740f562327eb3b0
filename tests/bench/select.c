/* select.c - times selector forward on class probabilities from .npy files, float32 [models][rows][classes] and int64
   labels [rows]: select PROBABILITIES LABELS MEMBERS [REPEATS [LOSS]]. Prints the best seconds and the picks;
   select_numpy.py runs it beside NumPy on the same array. The files are read before the clock starts; the clock covers
   all that the selector does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tutti/data.h>
#include <tutti/plugin.h>

#include "plugins/selector/forward.c"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum tutti_status select_once(tutti_context *context, const struct tutti_pool *pool, size_t members, int loss,
                                     tutti_ensemble **ensemble, double *elapsed) {
  const struct forward_config config = {.growth = {.size = 1, .loss = loss}};
  const struct tutti_selector_setup setup = {.size = sizeof setup};
  void *self;
  TUTTI_TRY(context, tutti_ensemble_create(context, ensemble));
  double start = seconds();
  TUTTI_TRY(context, tutti_growth_selector_create(context, &config, &setup, &self));
  enum tutti_status status = selector_select_forward(self, context, pool, members, *ensemble);
  *elapsed = seconds() - start;
  return status;
}

/* The files as a pool, copied into memory: trial k is model k. */
static enum tutti_status load(tutti_context *context, char **files, struct tutti_pool *pool, float **values) {
  struct tutti_npy probabilities, labels;
  const float **models;
  int32_t *classes;
  uint64_t *trials;
  TUTTI_TRY(context, tutti_npy_map(context, files[0], &probabilities));
  TUTTI_TRY(context, tutti_npy_map(context, files[1], &labels));
  if (probabilities.rank != 3 || probabilities.element != TUTTI_F32 || labels.element != TUTTI_I64 ||
      labels.count != probabilities.shape[1])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected float32 [models][rows][classes] and int64 [rows]");
  size_t count = probabilities.shape[0], rows = probabilities.shape[1], outputs = probabilities.shape[2];
  TUTTI_TRY(context, tutti_alloc(context, probabilities.count, sizeof(float), values));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *models, &models));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *trials, &trials));
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *classes, &classes));
  for (size_t i = 0; i < probabilities.count; i++)
    (*values)[i] = ((const float *)probabilities.data)[i];
  for (size_t k = 0; k < count; k++) {
    models[k] = *values + k * rows * outputs;
    trials[k] = k;
  }
  for (size_t n = 0; n < rows; n++)
    classes[n] = (int32_t)((const int64_t *)labels.data)[n];
  *pool = (struct tutti_pool){.size = sizeof *pool,
                              .kind = TUTTI_TASK_CLASSIFICATION,
                              .models = count,
                              .rows = rows,
                              .outputs = outputs,
                              .predictions = models,
                              .trials = trials,
                              .labels = classes};
  tutti_npy_unmap(&probabilities);
  tutti_npy_unmap(&labels);
  return TUTTI_OK;
}

/* The parameter's number of a loss; auto if there is no such loss. */
static int loss_named(const char *name) {
  int loss = 0;
  while (tutti_growth_losses[loss] && strcmp(tutti_growth_losses[loss], name) != 0)
    loss++;
  return tutti_growth_losses[loss] ? loss : 0;
}

static enum tutti_status run(tutti_context *context, char **arguments, int repeats, int loss) {
  struct tutti_pool pool;
  float *values;
  double best = INFINITY;
  TUTTI_TRY(context, load(context, arguments, &pool, &values));
  for (int i = 0; i < repeats; i++) {
    tutti_ensemble *ensemble;
    double elapsed = 0;
    TUTTI_TRY(context, select_once(context, &pool, strtoull(arguments[2], NULL, 10), loss, &ensemble, &elapsed));
    best = fmin(best, elapsed);
    if (i + 1 == repeats) {
      printf("%.6f", best);
      for (size_t m = 0; m < tutti_ensemble_size(ensemble); m++)
        printf(" %" PRIu64, tutti_ensemble_trial(ensemble, m));
      printf("\n");
    }
    tutti_ensemble_destroy(ensemble);
  }
  tutti_free((void *)(uintptr_t)pool.predictions);
  tutti_free((void *)(uintptr_t)pool.trials);
  tutti_free((void *)(uintptr_t)pool.labels);
  tutti_free(values);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  tutti_context *context;
  if (count < 4 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s PROBABILITIES.npy LABELS.npy MEMBERS [REPEATS [LOSS]]\n", arguments[0]);
    return 2;
  }
  enum tutti_status status =
      run(context, arguments + 1, count > 4 ? atoi(arguments[4]) : 3, loss_named(count > 5 ? arguments[5] : "auto"));
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
