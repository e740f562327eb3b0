/* world.c - tasks, hosts, scopes and synthetic predictions for the checks. */
#include "conform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tutti_task world_task(enum tutti_task_kind kind) {
  struct tutti_task task = {.size = sizeof task,
                            .kind = kind,
                            .input = {1, 1, 4},
                            .outputs = kind == TUTTI_TASK_CLASSIFICATION ? 3
                                       : kind == TUTTI_TASK_REGRESSION   ? 1
                                                                         : 0,
                            .train_rows = WORLD_ROWS,
                            .head = kind == TUTTI_TASK_CLASSIFICATION ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_GAUSSIAN};
  return task;
}

/* The settings "kind/name.key=value" that are this plugin's. */
static void apply_settings(struct conform *conform, tutti_host *host) {
  const char *section = tutti_kind_name(conform->kind);
  char prefix[256], key[128];
  (void)snprintf(prefix, sizeof prefix, "%s/%s.", section, conform->name);
  for (size_t i = 0; i < conform->setting_count; i++) {
    const char *setting = conform->settings[i], *equals = strchr(setting, '=');
    if (!equals || strncmp(setting, prefix, strlen(prefix)) != 0)
      continue;
    (void)snprintf(key, sizeof key, "%.*s", (int)(equals - setting) - (int)strlen(prefix), setting + strlen(prefix));
    /* Files for sources are no parameters of theirs. */
    if (conform->kind == TUTTI_KIND_SOURCE && tutti_params_find(tutti_data_params(), key))
      continue;
    if (tutti_host_set(conform->context, host, section, key, equals + 1) != TUTTI_OK)
      conform_fail(conform, "--set %s: %s", setting, tutti_error_message(conform->context));
  }
}

tutti_host *world_host(struct conform *conform, const struct tutti_host_facts *facts) {
  const char *section = tutti_kind_name(conform->kind);
  tutti_host *host;
  TRY(conform, tutti_host_create(conform->context, facts, &host));
  TRY(conform, tutti_host_put(conform->context, host, section, conform->kind, conform->name));
  apply_settings(conform, host);
  if (tutti_host_check(conform->context, host) != TUTTI_OK)
    conform_skip(conform, "%s (give it by --set)", tutti_error_message(conform->context));
  return host;
}

/* --- predictions --- */

static float unit_draw(struct tutti_random *random) { return (float)tutti_random_uniform(random); }

static void fill_regression(struct tutti_random *random, size_t rows, const double *targets, float *values) {
  float error = 0.2f + unit_draw(random);
  for (size_t i = 0; i < rows; i++) {
    values[2 * i] = (float)targets[i] + error * (float)tutti_random_normal(random);
    values[2 * i + 1] = 0.1f + error * unit_draw(random);
  }
}

static void fill_classification(struct tutti_random *random, size_t rows, const int32_t *labels, float *values) {
  float skill = unit_draw(random);
  for (size_t i = 0; i < rows; i++) {
    float sum = 0;
    for (int32_t k = 0; k < 3; k++)
      sum += values[3 * i + (size_t)k] = 0.05f + unit_draw(random) + (k == labels[i] ? skill : 0);
    for (size_t k = 0; k < 3; k++)
      values[3 * i + k] /= sum;
  }
}

void world_pool(struct conform *conform, enum tutti_task_kind kind, size_t models, size_t rows, uint64_t seed,
                struct tutti_pool *pool) {
  bool classes = kind == TUTTI_TASK_CLASSIFICATION;
  size_t outputs = classes ? 3 : 1, width = classes ? 3 : 2;
  struct tutti_random random;
  double *values = conform_alloc(conform, rows, sizeof *values),
         *losses = conform_alloc(conform, models, sizeof *losses);
  int32_t *labels = conform_alloc(conform, rows, sizeof *labels);
  uint64_t *trials = conform_alloc(conform, models, sizeof *trials);
  float **predictions = conform_alloc(conform, models, sizeof *predictions);
  tutti_random_init(&random, seed, "conform targets", 0);
  for (size_t i = 0; i < rows; i++) {
    values[i] = tutti_random_normal(&random);
    labels[i] = (int32_t)tutti_random_below(&random, 3);
  }
  *pool = (struct tutti_pool){.size = sizeof *pool,
                              .kind = kind,
                              .models = models,
                              .rows = rows,
                              .outputs = outputs,
                              .predictions = (const float *const *)predictions,
                              .values = classes ? NULL : values,
                              .labels = classes ? labels : NULL,
                              .trials = trials,
                              .losses = losses};
  if (classes)
    tutti_free(values);
  else
    tutti_free(labels);
  for (size_t m = 0; m < models; m++) {
    tutti_random_init(&random, seed, "conform model", m);
    trials[m] = 3 * m + 1;
    predictions[m] = conform_alloc(conform, rows * width, sizeof **predictions);
    if (classes)
      fill_classification(&random, rows, labels, predictions[m]);
    else
      fill_regression(&random, rows, values, predictions[m]);
    struct tutti_predictions alone = {.size = sizeof alone};
    struct tutti_targets targets = {.size = sizeof targets};
    tutti_pool_predictions(pool, m, &alone);
    tutti_pool_targets(pool, &targets);
    losses[m] = tutti_loss_of(TUTTI_LOSS_NLL, &alone, &targets);
  }
}

void world_pool_free(struct tutti_pool *pool) {
  for (size_t m = 0; m < pool->models; m++)
    tutti_free((void *)(uintptr_t)pool->predictions[m]);
  tutti_free((void *)(uintptr_t)pool->predictions);
  tutti_free((void *)(uintptr_t)pool->trials);
  tutti_free((void *)(uintptr_t)pool->losses);
  tutti_free((void *)(uintptr_t)pool->values);
  tutti_free((void *)(uintptr_t)pool->labels);
}

const struct tutti_pool *world_given_pool(struct conform *conform, const struct tutti_pool *pool) {
  struct tutti_pool given = *pool;
  size_t models = pool->models, cells = pool->rows * tutti_predictions_width(pool->kind, pool->outputs);
  const float **predictions = conform_alloc(conform, models, sizeof *predictions);
  for (size_t m = 0; m < models && pool->predictions; m++)
    predictions[m] = conform_given(conform, "predictions of the pool", pool->predictions[m], cells * sizeof(float));
  if (pool->predictions)
    given.predictions = conform_given(conform, "predictions of the pool", predictions, models * sizeof *predictions);
  given.values =
      conform_given(conform, "values of the pool", pool->values, pool->rows * pool->outputs * sizeof(double));
  given.labels = conform_given(conform, "labels of the pool", pool->labels, pool->rows * sizeof(int32_t));
  given.trials = conform_given(conform, "trials of the pool", pool->trials, models * sizeof(uint64_t));
  given.losses = conform_given(conform, "losses of the pool", pool->losses, models * sizeof(double));
  tutti_free(predictions);
  return conform_given(conform, "the pool", &given, sizeof given);
}

/* The host's pool: model of trial t is always the same, whichever others are asked for. */
static enum tutti_status give_pool(void *argument, tutti_context *context, const char *split, size_t count,
                                   const uint64_t *trials, struct tutti_pool *pool) {
  struct conform *conform = argument;
  struct tutti_pool all;
  if (strcmp(split, "validation") != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no split '%s' here", split);
  world_pool(conform, TUTTI_TASK_REGRESSION, 4 * WORLD_BUDGET, WORLD_ROWS, WORLD_SEED, &all);
  *pool = all;
  pool->models = count;
  for (size_t i = 0; i < count; i++) {
    size_t model = trials[i] % (4 * WORLD_BUDGET);
    ((uint64_t *)(uintptr_t)pool->trials)[i] = trials[i];
    ((double *)(uintptr_t)pool->losses)[i] = all.losses[model];
    const float **place = (const float **)(uintptr_t)&pool->predictions[i], *swapped = *place;
    *place = pool->predictions[model]; /* ascending and distinct, so that none is taken twice */
    ((const float **)(uintptr_t)pool->predictions)[model] = swapped;
  }
  return TUTTI_OK;
}

static void release_pool(void *argument, struct tutti_pool *pool) {
  (void)argument;
  pool->models = 4 * WORLD_BUDGET;
  world_pool_free(pool);
}

/* --- the world --- */

static void make_hyperparameters(struct conform *conform, tutti_domain **domain) {
  static const char *const dimensions[][2] = {{"learning_rate", "log-uniform 1e-4 1e-1"},
                                              {"optimiser", "choice sgd adam"}};
  TRY(conform, tutti_domain_create(conform->context, domain));
  for (size_t i = 0; i < 2; i++)
    TRY(conform, tutti_domain_add_text(conform->context, *domain, dimensions[i][0], dimensions[i][1]));
}

void world_make(struct conform *conform, enum world_space space, size_t window, struct world *world) {
  static const struct tutti_descriptor *const spaces[] = {&world_space_points, &world_space_few, &world_space_graphs};
  tutti_context *context = conform->context;
  const struct tutti_descriptor *known;
  memset(world, 0, sizeof *world);
  for (size_t i = 0; i < 3; i++)
    if (tutti_plugin_find(context, TUTTI_KIND_SPACE, spaces[i]->name, &known) != TUTTI_OK)
      TRY(conform, tutti_plugin_register(context, spaces[i]));
  world->task = world_task(TUTTI_TASK_REGRESSION);
  world->facts = (struct tutti_host_facts){.size = sizeof world->facts,
                                           .seed = WORLD_SEED,
                                           .budget = WORLD_BUDGET,
                                           .window = window,
                                           .task = &world->task,
                                           .pool = give_pool,
                                           .pool_release = release_pool,
                                           .pool_argument = conform};
  world->host = world_host(conform, &world->facts);
  TRY(conform, tutti_host_put(context, world->host, "conform-space", TUTTI_KIND_SPACE, spaces[space]->name));
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &world->task};
  TRY(conform, tutti_space_create(context, world->host, "conform-space", &setup, &world->space));
  if (space != WORLD_FEW)
    make_hyperparameters(conform, &world->hyperparameters);
  TRY(conform, tutti_scope_create(context, world->space, world->hyperparameters, &world->scope));
  world->facts.scope = world->scope;
  tutti_host_set_facts(world->host, &world->facts);
}

void world_end(struct world *world) {
  tutti_scope_destroy(world->scope);
  tutti_domain_destroy(world->hyperparameters);
  tutti_space_destroy(world->space);
  tutti_host_destroy(world->host);
}

tutti_candidate **world_candidates(struct conform *conform, const struct world *world, uint64_t index, size_t count) {
  tutti_candidate **candidates = conform_alloc(conform, count, sizeof *candidates);
  struct tutti_random random;
  tutti_random_init(&random, WORLD_SEED, "conform candidates", index);
  for (size_t i = 0; i < count; i++)
    TRY(conform, tutti_scope_sample(conform->context, world->scope, &random, i, &candidates[i]));
  return candidates;
}

void world_release(size_t count, tutti_candidate **candidates) {
  for (size_t i = 0; i < count; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_free(candidates);
}

struct tutti_points world_points(struct conform *conform, const struct world *world, size_t count,
                                 tutti_candidate *const *candidates, double **vectors) {
  const tutti_domain *joint = tutti_scope_joint(world->scope);
  struct tutti_points points = {
      .size = sizeof points, .count = count, .candidates = (const tutti_candidate *const *)candidates};
  *vectors = NULL;
  if (!joint)
    return points;
  double point[64];
  REQUIRE(conform, tutti_domain_count(joint) <= 64, "the joint domain has %zu dimensions", tutti_domain_count(joint));
  points.dimension = tutti_domain_width(joint);
  points.vectors = *vectors = conform_alloc(conform, count * points.dimension, sizeof **vectors);
  for (size_t i = 0; i < count; i++) {
    tutti_scope_to_point(world->scope, candidates[i], point);
    tutti_domain_encode(joint, point, *vectors + i * points.dimension);
  }
  return points;
}

double world_loss(const tutti_candidate *candidate) {
  struct tutti_random random;
  tutti_random_init(&random, tutti_candidate_hash(candidate), "conform loss", 0);
  return tutti_random_uniform(&random);
}
