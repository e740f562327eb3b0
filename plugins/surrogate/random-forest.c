/* random-forest.c - a regression forest: mean over the trees, deviation by the law of total variance. Breiman, "Random
   Forests", Machine Learning 2001; Geurts, Ernst, Wehenkel, "Extremely randomized trees", Machine Learning 2006;
   Hutter, Xu, Hoos, Leyton-Brown, "Algorithm runtime prediction: Methods & evaluation", Artificial Intelligence 2014,
   section 4.3.2 (the variance), as Egele et al., "AutoDEUQ", ICPR 2022, use it.

   Deviations from AutoDEUQ's code: 100 trees instead of 10, since 10 fully grown trees give a deviation from only 10
   numbers, and 100 cost little here. Known noise of observations is not used: as a weight, 1 / noise would be infinite
   for noise 0, and the leaves estimate the scatter of the values anyway.

   Predictions are a function of the sequence of observations: when observations were added, the next prediction grows
   the forest again from all of them. */
#include <jansson.h>
#include <string.h>

#include "plugins/shared/forest/forest_impl.h"
#include "plugins/shared/json.h"

struct forest_config {
  int64_t trees, min_leaf, min_split, max_depth;
  int splitter, deviation;
  double features;
  bool bootstrap;
};

static const char *const forest_splitters[] = {[FOREST_BEST] = "best", [FOREST_RANDOM] = "random", NULL};
static const char *const forest_deviations[] = {[FOREST_TOTAL] = "total", [FOREST_BETWEEN] = "between", NULL};

static const struct tutti_param forest_params[] = {
    TUTTI_INTEGER(struct forest_config, trees, "100", 1, 1000000, "Trees of the forest."),
    TUTTI_CHOICE(
        struct forest_config, splitter, "best", forest_splitters,
        "Where a column is cut: at the best threshold, or at one drawn uniformly between its least and greatest "
        "value in "
        "the node (extremely randomised trees; usually without bootstrap)."),
    TUTTI_REAL(struct forest_config, features, "1", 0, 1,
               "Share of the columns that are tried at a split, drawn anew for each; at least one that varies.",
               .min_open = true),
    TUTTI_INTEGER(struct forest_config, min_leaf, "1", 1, TUTTI_NO_LIMIT,
                  "Fewest observations on each side of a split, each counted once however often it was drawn."),
    TUTTI_INTEGER(struct forest_config, min_split, "2", 2, TUTTI_NO_LIMIT,
                  "Fewest observations that are split, each counted once however often it was drawn."),
    TUTTI_INTEGER(struct forest_config, max_depth, "0", 0, TUTTI_NO_LIMIT,
                  "Splits between the root and a leaf at most; 0: no limit."),
    TUTTI_BOOL(struct forest_config, bootstrap, "yes",
               "Grow each tree on as many observations drawn with replacement; no: on all."),
    TUTTI_CHOICE(
        struct forest_config, deviation, "total", forest_deviations,
        "Standard deviation from the law of total variance, the leaves' variances + the variance between the trees' "
        "means, or from the latter alone."),
};

struct random_forest {
  const struct forest_config *config;
  struct forest_settings settings;
  size_t dimension, count, room;
  double *vectors, *values; /* [room][dimension], [room] */
  size_t grown;             /* observations that the forest has grown on */
  struct forest forest;
};

/* --- life -------------------------------------------------------------------------------------------------------- */

static void surrogate_destroy_random_forest(void *instance) {
  struct random_forest *self = instance;
  forest_clear(&self->forest);
  tutti_free(self->vectors);
  tutti_free(self->values);
  tutti_free(self);
}

static enum tutti_status surrogate_create_random_forest(tutti_context *context, const void *config_, const void *setup_,
                                                        void **instance) {
  const struct forest_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  struct random_forest *self;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->dimension = setup->dimension;
  self->settings = (struct forest_settings){.trees = (size_t)config->trees,
                                            .splitter = (enum forest_splitter)config->splitter,
                                            .features = config->features,
                                            .min_leaf = (size_t)config->min_leaf,
                                            .min_split = (size_t)config->min_split,
                                            .max_depth = (size_t)config->max_depth,
                                            .bootstrap = config->bootstrap,
                                            .seed = setup->seed};
  *instance = self;
  return TUTTI_OK;
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

/* A NaN is on no side of a threshold. */
static enum tutti_status check_points_random_forest(tutti_context *context, const struct tutti_points *points) {
  for (size_t i = 0; i < points->count * points->dimension; i++)
    if (!isfinite(points->vectors[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "surrogate random-forest: a finite number was expected, and coordinate %zu of point %zu is %g",
                        i % points->dimension, i / points->dimension, points->vectors[i]);
  return TUTTI_OK;
}

static enum tutti_status make_room_random_forest(struct random_forest *self, tutti_context *context, size_t count) {
  if (count <= self->room)
    return TUTTI_OK;
  size_t room = count + count / 2;
  TUTTI_TRY(context,
            tutti_realloc(context, self->count, room, self->dimension * sizeof *self->vectors, &self->vectors));
  TUTTI_TRY(context, tutti_realloc(context, self->count, room, sizeof *self->values, &self->values));
  self->room = room;
  return TUTTI_OK;
}

static enum tutti_status surrogate_add_random_forest(void *instance, tutti_context *context,
                                                     const struct tutti_points *points, const double *values,
                                                     const double *noise) {
  struct random_forest *self = instance;
  (void)noise;
  TUTTI_TRY(context, check_points_random_forest(context, points));
  for (size_t i = 0; i < points->count; i++)
    if (!isfinite(values[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "surrogate random-forest: a finite value was expected, and that of observation %zu is %g", i,
                        values[i]);
  TUTTI_TRY(context, make_room_random_forest(self, context, self->count + points->count));
  if (self->dimension > 0)
    memcpy(self->vectors + self->count * self->dimension, points->vectors,
           points->count * self->dimension * sizeof *self->vectors);
  memcpy(self->values + self->count, values, points->count * sizeof *values);
  self->count += points->count;
  return TUTTI_OK;
}

/* Grow again if there are observations that the forest has not seen. */
static enum tutti_status settle_random_forest(struct random_forest *self, tutti_context *context) {
  const struct forest_data data = {self->count, self->dimension, self->vectors, self->values};
  if (self->count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate random-forest: fit was expected before a prediction");
  if (self->grown == self->count)
    return TUTTI_OK;
  self->grown = 0;
  TUTTI_TRY(context, forest_grow(context, &self->settings, &data, &self->forest));
  self->grown = self->count;
  return TUTTI_OK;
}

static enum tutti_status surrogate_fit_random_forest(void *instance, tutti_context *context,
                                                     const struct tutti_points *points, const double *values,
                                                     const double *noise) {
  struct random_forest *self = instance;
  self->count = self->grown = 0;
  TUTTI_TRY(context, surrogate_add_random_forest(self, context, points, values, noise));
  return settle_random_forest(self, context);
}

/* --- predictions -------------------------------------------------------------------------------------------------- */

static enum tutti_status surrogate_predict_random_forest(void *instance, tutti_context *context,
                                                         const struct tutti_points *points, double *mean,
                                                         double *deviation) {
  struct random_forest *self = instance;
  TUTTI_TRY(context, settle_random_forest(self, context));
  TUTTI_TRY(context, check_points_random_forest(context, points));
  forest_predict(&self->forest, (enum forest_deviation)self->config->deviation, points->count, points->vectors, mean,
                 deviation);
  return TUTTI_OK;
}

/* One tree, drawn at random, is one function for all points together; the scatter in its leaves is added if it
   counts. */
static enum tutti_status surrogate_draw_random_forest(void *instance, tutti_context *context,
                                                      const struct tutti_points *points, struct tutti_random *random,
                                                      double *values) {
  struct random_forest *self = instance;
  const struct forest *forest = &self->forest;
  size_t *leaves;
  TUTTI_TRY(context, settle_random_forest(self, context));
  TUTTI_TRY(context, check_points_random_forest(context, points));
  TUTTI_TRY(context, tutti_alloc(context, points->count, sizeof *leaves, &leaves));
  forest_leaves(forest, (size_t)tutti_random_below(random, forest->trees), points->count, points->vectors, leaves);
  for (size_t i = 0; i < points->count; i++) {
    const struct forest_moments *moments = &forest->moments[leaves[i]];
    values[i] = moments->mean;
    if (self->config->deviation == FOREST_TOTAL)
      values[i] += sqrt(moments->variance) * tutti_random_normal(random);
    values[i] *= forest->scale;
  }
  tutti_free(leaves);
  return TUTTI_OK;
}

static enum tutti_status surrogate_describe_random_forest(void *instance, tutti_context *context, char **json) {
  struct random_forest *self = instance;
  const struct forest *forest = &self->forest;
  TUTTI_TRY(context, settle_random_forest(self, context));
  size_t nodes = forest->roots[forest->trees];
  json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I}", "trees", (json_int_t)forest->trees, "nodes",
                             (json_int_t)nodes, "leaves", (json_int_t)((nodes + forest->trees) / 2), "depth",
                             (json_int_t)forest->depth, "observations", (json_int_t)self->count);
  return shared_json_print(context, object, 0, "the state of surrogate random-forest", json);
}

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static const struct tutti_surrogate_ops forest_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_random_forest,
    .predict = surrogate_predict_random_forest,
    .add = surrogate_add_random_forest,
    .draw = surrogate_draw_random_forest,
    .describe = surrogate_describe_random_forest,
};

static const struct tutti_descriptor forest_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "random-forest"),
    .version = "1.0",
    .summary = "Regression forest, or extremely randomised trees",
    .source =
        "Breiman, Random Forests, Machine Learning 2001; Geurts et al., Extremely randomized trees, Machine Learning "
        "2006; Hutter et al., Algorithm runtime prediction, Artificial Intelligence 2014, section 4.3.2; Egele et "
        "al., AutoDEUQ, ICPR 2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(forest_params, struct forest_config),
    .create = surrogate_create_random_forest,
    .destroy = surrogate_destroy_random_forest,
    .ops = &forest_ops,
};

TUTTI_PLUGIN(forest_descriptor)
