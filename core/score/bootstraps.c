/* bootstraps.c - how often each row is in each bootstrap, and means weighted by that. */
#include <tutti/bootstraps.h>
#include <tutti/random.h>

struct tutti_bootstraps {
  size_t count, rows;
  double *draws;   /* [count]: rows in each */
  uint32_t *times; /* [count][rows] */
};

void tutti_bootstraps_destroy(tutti_bootstraps *bootstraps) {
  if (!bootstraps)
    return;
  tutti_free(bootstraps->draws);
  tutti_free(bootstraps->times);
  tutti_free(bootstraps);
}

/* Make bootstraps without rows in them. */
static enum tutti_status create_empty(tutti_context *context, size_t count, size_t rows,
                                      tutti_bootstraps **bootstraps) {
  enum tutti_status status;
  tutti_bootstraps *made = NULL;
  *bootstraps = NULL;
  if (count == 0 || rows == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "bootstraps: %zu of %zu rows; expected at least one of each", count,
                      rows);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->count = count;
  made->rows = rows;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *made->draws, &made->draws));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, rows * sizeof *made->times, &made->times));
  *bootstraps = made;
  return TUTTI_OK;
out:
  tutti_bootstraps_destroy(made);
  return status;
}

enum tutti_status tutti_bootstraps_create(tutti_context *context, size_t count, size_t rows, size_t draws,
                                          uint64_t seed, tutti_bootstraps **bootstraps) {
  TUTTI_TRY(context, create_empty(context, count, rows, bootstraps));
  if (draws == 0) {
    tutti_bootstraps_destroy(*bootstraps);
    *bootstraps = NULL;
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "bootstraps: expected at least one draw out of %zu rows", rows);
  }
  for (size_t k = 0; k < count; k++) {
    struct tutti_random random;
    tutti_random_init(&random, seed, "bootstrap", k);
    for (size_t i = 0; i < draws; i++)
      (*bootstraps)->times[k * rows + tutti_random_below(&random, rows)]++;
    (*bootstraps)->draws[k] = (double)draws;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_bootstraps_from(tutti_context *context, size_t count, size_t rows, const uint32_t *times,
                                        tutti_bootstraps **bootstraps) {
  TUTTI_TRY(context, create_empty(context, count, rows, bootstraps));
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < rows; i++) {
      (*bootstraps)->times[k * rows + i] = times[k * rows + i];
      (*bootstraps)->draws[k] += times[k * rows + i];
    }
  return TUTTI_OK;
}

size_t tutti_bootstraps_count(const tutti_bootstraps *bootstraps) { return bootstraps->count; }

void tutti_bootstraps_risks(const tutti_bootstraps *bootstraps, const double *losses, double *risks) {
  for (size_t k = 0; k < bootstraps->count; k++) {
    const uint32_t *times = bootstraps->times + k * bootstraps->rows;
    double sum = 0;
    for (size_t i = 0; i < bootstraps->rows; i++)
      if (times[i])
        sum += times[i] * losses[i];
    risks[k] = sum / bootstraps->draws[k];
  }
}
