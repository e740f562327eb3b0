/* surrogate nearest: the mean of the nearest observations, weighted by how near they are. The deviation is what they
   scatter by.

   A surrogate predicts an unknown value, with a standard deviation, from observations at points. To write one:
     1. copy this file to src/surrogate-NAME.c, and put its two lines into Makefile.am;
     2. say in `needs` what it reads of the points: vectors (of spaces with a domain), or candidates with distances;
     3. write `fit`, which forgets what was before, and `predict`;
     4. everything else is optional: surrogate.h says what it gives (`add` makes it cheaper to go on; `gradient` lets
   maximisers climb; `hallucinate` serves parallel searches). */
#include <string.h>
#include <tutti/plugin.h>

enum { MOST = 64 };

struct nearest_config {
  int64_t neighbours;
};

static const struct tutti_param nearest_params[] = {
    TUTTI_INTEGER(struct nearest_config, neighbours, "5", 1, MOST, "Observations that a prediction is made of."),
};

struct nearest {
  const struct nearest_config *config;
  size_t count, dimension, room;
  double *vectors; /* [count][dimension] */
  double *values;  /* [count] */
};

static enum tutti_status surrogate_create_nearest(tutti_context *context, const void *config, const void *setup,
                                                  void **self) {
  struct nearest *made;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->config = config;
  made->dimension = ((const struct tutti_surrogate_setup *)setup)->dimension;
  *self = made;
  return TUTTI_OK;
}

static void surrogate_destroy_nearest(void *self) {
  struct nearest *nearest = self;
  tutti_free(nearest->vectors);
  tutti_free(nearest->values);
  tutti_free(nearest);
}

/* Points are borrowed until return: what is needed later is copied. */
static enum tutti_status surrogate_fit_nearest(void *self, tutti_context *context, const struct tutti_points *points,
                                               const double *values, const double *noise) {
  struct nearest *nearest = self;
  size_t width = nearest->dimension * sizeof(double);
  (void)noise;
  if (points->count > nearest->room) {
    TUTTI_TRY(context, tutti_realloc(context, nearest->room, points->count, width, &nearest->vectors));
    TUTTI_TRY(context, tutti_realloc(context, nearest->room, points->count, sizeof(double), &nearest->values));
    nearest->room = points->count;
  }
  nearest->count = points->count;
  memcpy(nearest->vectors, points->vectors, points->count * width);
  memcpy(nearest->values, values, points->count * sizeof(double));
  return TUTTI_OK;
}

static double square_distance(size_t dimension, const double *a, const double *b) {
  double sum = 0;
  for (size_t k = 0; k < dimension; k++)
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

struct neighbour {
  double distance, value;
};

/* The nearest observations, nearest first; returns how many there are. */
static size_t find(const struct nearest *nearest, const double *vector, struct neighbour found[MOST]) {
  size_t most = (size_t)nearest->config->neighbours, count = 0;
  for (size_t i = 0; i < nearest->count; i++) {
    double distance = square_distance(nearest->dimension, vector, nearest->vectors + i * nearest->dimension);
    size_t place = count;
    while (place > 0 && distance < found[place - 1].distance)
      place--;
    if (place == most)
      continue;
    count += count < most;
    memmove(found + place + 1, found + place, (count - place - 1) * sizeof *found);
    found[place] = (struct neighbour){distance, nearest->values[i]};
  }
  return count;
}

static enum tutti_status surrogate_predict_nearest(void *self, tutti_context *context,
                                                   const struct tutti_points *points, double *mean, double *deviation) {
  const struct nearest *nearest = self;
  (void)context;
  for (size_t n = 0; n < points->count; n++) {
    struct neighbour found[MOST];
    size_t count = find(nearest, points->vectors + n * nearest->dimension, found);
    double weights = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
      double weight = 1 / (found[i].distance + 1e-9);
      weights += weight;
      sum += weight * found[i].value;
    }
    mean[n] = sum / weights;
    for (size_t i = 0; i < count; i++)
      squares += (found[i].value - mean[n]) * (found[i].value - mean[n]) / (found[i].distance + 1e-9);
    deviation[n] = sqrt(squares / weights);
  }
  return TUTTI_OK;
}

static const struct tutti_surrogate_ops nearest_ops = {
    .size = sizeof nearest_ops,
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_nearest,
    .predict = surrogate_predict_nearest,
};

static const struct tutti_descriptor nearest_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "nearest"),
    .version = "1.0",
    .summary = "the mean of the nearest observations",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nearest_params, struct nearest_config),
    .create = surrogate_create_nearest,
    .destroy = surrogate_destroy_nearest,
    .ops = &nearest_ops,
};

TUTTI_PLUGIN(nearest_descriptor)
