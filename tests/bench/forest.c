/* forest.c - surrogate random-forest on .npy files, float64: forest X Y POINTS OUT REPEATS [PARAMETER=VALUE]... Prints
   the processor time, in seconds, of a refit and of a prediction at all points (best of the repeats), and the
   surrogate's description of itself. Means and standard deviations go to OUT as raw float64 [2][points].
   forest_sklearn.py and ../experiments/forest-vs-sklearn.py run it beside scikit-learn on the same data. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tutti/data.h>

#include "plugins/surrogate/random-forest.c"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum tutti_status write_moments(tutti_context *context, const char *path, size_t count, const double *moments) {
  FILE *file = fopen(path, "wb");
  if (!file)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s cannot be written", path);
  size_t written = fwrite(moments, sizeof *moments, count, file);
  if (fclose(file) != 0 || written != count)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s cannot be written", path);
  return TUTTI_OK;
}

/* Parameters as "name=value". */
static enum tutti_status configure(tutti_context *context, char **texts, tutti_config **config, uint64_t *seed) {
  TUTTI_TRY(context, tutti_config_create(context, &forest_descriptor.params, config));
  for (; *texts; texts++) {
    char *value = strchr(*texts, '=');
    if (!value)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "PARAMETER=VALUE was expected, found %s", *texts);
    *value++ = 0;
    if (strcmp(*texts, "seed") == 0)
      *seed = strtoull(value, NULL, 10);
    else
      TUTTI_TRY(context, tutti_config_set(context, *config, *texts, value));
  }
  return TUTTI_OK;
}

static enum tutti_status run(tutti_context *context, char **arguments) {
  struct tutti_npy x, y, z;
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 1};
  double refit = INFINITY, ask = INFINITY, *moments;
  tutti_config *config;
  char *description;
  void *forest;
  TUTTI_TRY(context, tutti_npy_map(context, arguments[0], &x));
  TUTTI_TRY(context, tutti_npy_map(context, arguments[1], &y));
  TUTTI_TRY(context, tutti_npy_map(context, arguments[2], &z));
  struct tutti_points seen = {sizeof(seen), x.shape[0], x.shape[1], x.data, NULL};
  struct tutti_points at = {sizeof(at), z.shape[0], z.shape[1], z.data, NULL};
  setup.dimension = seen.dimension;
  TUTTI_TRY(context, configure(context, arguments + 5, &config, &setup.seed));
  TUTTI_TRY(context, tutti_alloc(context, at.count, 2 * sizeof(double), &moments));
  TUTTI_TRY(context, surrogate_create_random_forest(context, tutti_config_values(config), &setup, &forest));
  for (int i = 0; i < atoi(arguments[4]); i++) {
    double start = seconds();
    TUTTI_TRY(context, surrogate_fit_random_forest(forest, context, &seen, y.data, NULL));
    double middle = seconds();
    TUTTI_TRY(context, surrogate_predict_random_forest(forest, context, &at, moments, moments + at.count));
    refit = fmin(refit, middle - start);
    ask = fmin(ask, seconds() - middle);
  }
  TUTTI_TRY(context, surrogate_describe_random_forest(forest, context, &description));
  printf("%.6f %.6f %s\n", refit, ask, description);
  TUTTI_TRY(context, write_moments(context, arguments[3], 2 * at.count, moments));
  surrogate_destroy_random_forest(forest);
  tutti_free(description);
  tutti_free(moments);
  tutti_config_destroy(config);
  tutti_npy_unmap(&x);
  tutti_npy_unmap(&y);
  tutti_npy_unmap(&z);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  tutti_context *context;
  if (count < 6 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s X.npy Y.npy POINTS.npy OUT REPEATS [PARAMETER=VALUE]...\n", arguments[0]);
    return 2;
  }
  enum tutti_status status = run(context, arguments + 1);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
