/* selector.c - the contract of kind selector. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum { MODELS = 12 };

struct subject {
  struct tutti_host_facts facts;
  struct tutti_task task;
  tutti_host *host;
  tutti_selector *selector;
};

static void open_subject(struct conform *conform, struct subject *subject, enum tutti_task_kind kind) {
  subject->task = world_task(kind);
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = MODELS, .window = 1, .task = &subject->task};
  subject->host = world_host(conform, &subject->facts);
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = subject->host, .seed = WORLD_SEED};
  TRY(conform, tutti_selector_create(conform->context, subject->host, "selector", &setup, &subject->selector));
}

static void close_subject(struct subject *subject) {
  tutti_selector_destroy(subject->selector);
  tutti_host_destroy(subject->host);
}

/* Select, and check the contract's conditions on any choice. The wrapper checks that members are from the pool. */
static tutti_ensemble *choose(struct conform *conform, struct subject *subject, const struct tutti_pool *pool,
                              size_t count) {
  tutti_ensemble *ensemble = NULL;
  double sum = 0;
  TRY(conform, tutti_ensemble_create(conform->context, &ensemble));
  const struct tutti_pool *given = world_given_pool(conform, pool);
  TRY(conform, tutti_selector_select(conform->context, subject->selector, given, count, ensemble));
  size_t members = tutti_ensemble_size(ensemble);
  for (size_t i = 0; i < members; i++) {
    uint64_t trial = tutti_ensemble_trial(ensemble, i);
    double weight = tutti_ensemble_weight(ensemble, i);
    REQUIRE(conform, weight > 0, "the weight of trial %llu is %g", (unsigned long long)trial, weight);
    sum += weight;
    for (size_t k = 0; k < i; k++)
      REQUIRE(conform, tutti_ensemble_trial(ensemble, k) != trial, "trial %llu is a member twice",
              (unsigned long long)trial);
  }
  REQUIRE(conform, fabs(sum - 1) < 1e-12, "weights sum to %.17g", sum);
  for (size_t i = 0; i < tutti_ensemble_steps(ensemble); i++)
    REQUIRE(conform, memchr(tutti_ensemble_step(ensemble, i)->note, 0, sizeof tutti_ensemble_step(ensemble, i)->note),
            "a note of the trace has no end");
  return ensemble;
}

static double weight_of(const tutti_ensemble *ensemble, uint64_t trial) {
  for (size_t i = 0; i < tutti_ensemble_size(ensemble); i++)
    if (tutti_ensemble_trial(ensemble, i) == trial)
      return tutti_ensemble_weight(ensemble, i);
  return 0;
}

static void require_same(struct conform *conform, const tutti_ensemble *a, const tutti_ensemble *b, const char *what) {
  REQUIRE(conform, tutti_ensemble_size(a) == tutti_ensemble_size(b), "%s: %zu members, then %zu", what,
          tutti_ensemble_size(a), tutti_ensemble_size(b));
  for (size_t i = 0; i < tutti_ensemble_size(a); i++) {
    uint64_t one = tutti_ensemble_trial(a, i), two = tutti_ensemble_trial(b, i);
    REQUIRE(conform, one == two && tutti_ensemble_weight(a, i) == tutti_ensemble_weight(b, i),
            "%s: member %zu was trial %llu, then %llu", what, i, (unsigned long long)one, (unsigned long long)two);
  }
}

/* --- checks --- */

static void check_choice(struct conform *conform, enum tutti_task_kind kind) {
  struct subject subject;
  struct tutti_pool pool;
  open_subject(conform, &subject, kind);
  for (uint64_t seed = 0; seed < 8; seed++) {
    world_pool(conform, kind, 1 + 2 * (size_t)seed, seed == 0 ? 1 : WORLD_ROWS, seed, &pool);
    tutti_ensemble_destroy(choose(conform, &subject, &pool, 0));
    world_pool_free(&pool);
  }
  close_subject(&subject);
}

static void check_regression(struct conform *conform) { check_choice(conform, TUTTI_TASK_REGRESSION); }

static void check_classification(struct conform *conform) { check_choice(conform, TUTTI_TASK_CLASSIFICATION); }

static void check_determinism(struct conform *conform) {
  struct subject a, b;
  struct tutti_pool pool, other;
  open_subject(conform, &a, TUTTI_TASK_CLASSIFICATION);
  open_subject(conform, &b, TUTTI_TASK_CLASSIFICATION);
  world_pool(conform, TUTTI_TASK_CLASSIFICATION, MODELS, WORLD_ROWS, 1, &pool);
  world_pool(conform, TUTTI_TASK_CLASSIFICATION, MODELS, WORLD_ROWS, 2, &other);
  tutti_ensemble *first = choose(conform, &a, &pool, 0);
  tutti_ensemble_destroy(choose(conform, &a, &other, 0));
  tutti_ensemble *again = choose(conform, &a, &pool, 0), *twin = choose(conform, &b, &pool, 0);
  require_same(conform, first, again, "asked again");
  require_same(conform, first, twin, "another instance");
  tutti_ensemble_destroy(first), tutti_ensemble_destroy(again), tutti_ensemble_destroy(twin);
  world_pool_free(&pool), world_pool_free(&other);
  close_subject(&a);
  close_subject(&b);
}

/* Which trial number a model bears does not change whether it is chosen (no two of these models are alike). */
static void check_permutation(struct conform *conform) {
  struct subject subject;
  struct tutti_pool pool;
  const float *reversed[MODELS];
  double losses[MODELS];
  open_subject(conform, &subject, TUTTI_TASK_CLASSIFICATION);
  world_pool(conform, TUTTI_TASK_CLASSIFICATION, MODELS, WORLD_ROWS, 3, &pool);
  for (size_t i = 0; i < MODELS; i++) {
    reversed[i] = pool.predictions[MODELS - 1 - i];
    losses[i] = pool.losses[MODELS - 1 - i];
  }
  struct tutti_pool turned = pool;
  turned.predictions = reversed;
  turned.losses = losses;
  tutti_ensemble *first = choose(conform, &subject, &pool, 0), *second = choose(conform, &subject, &turned, 0);
  for (size_t i = 0; i < MODELS; i++)
    REQUIRE(conform,
            conform_close(weight_of(first, pool.trials[i]), weight_of(second, pool.trials[MODELS - 1 - i]), 1e-6, 1e-9),
            "model %zu has weight %g; with the trials in reversed order %g", i, weight_of(first, pool.trials[i]),
            weight_of(second, pool.trials[MODELS - 1 - i]));
  tutti_ensemble_destroy(first), tutti_ensemble_destroy(second);
  world_pool_free(&pool);
  close_subject(&subject);
}

/* Of two models that are alike the lower trial comes first. */
static void check_duplicates(struct conform *conform) {
  struct subject subject;
  struct tutti_pool pool;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  for (uint64_t seed = 0; seed < 4; seed++) {
    world_pool(conform, TUTTI_TASK_REGRESSION, MODELS, WORLD_ROWS, 10 + seed, &pool);
    const float *predictions[MODELS];
    double losses[MODELS];
    for (size_t i = 0; i < MODELS; i++) {
      predictions[i] = pool.predictions[i / 2];
      losses[i] = pool.losses[i / 2];
    }
    struct tutti_pool twins = pool;
    twins.predictions = predictions;
    twins.losses = losses;
    tutti_ensemble *ensemble = choose(conform, &subject, &twins, 0);
    for (size_t i = 0; i < MODELS; i += 2)
      REQUIRE(conform, weight_of(ensemble, pool.trials[i]) > 0 || weight_of(ensemble, pool.trials[i + 1]) == 0,
              "trials %llu and %llu are alike, and the later one was chosen alone", (unsigned long long)pool.trials[i],
              (unsigned long long)pool.trials[i + 1]);
    tutti_ensemble_destroy(ensemble);
    world_pool_free(&pool);
  }
  close_subject(&subject);
}

static void check_count(struct conform *conform) {
  struct subject subject;
  struct tutti_pool pool;
  bool sized = tutti_params_find(&conform->descriptor->params, "size") != NULL;
  open_subject(conform, &subject, TUTTI_TASK_CLASSIFICATION);
  world_pool(conform, TUTTI_TASK_CLASSIFICATION, MODELS, WORLD_ROWS, 5, &pool);
  for (size_t count = 1; count <= 2 * MODELS; count++) {
    tutti_ensemble *ensemble = choose(conform, &subject, &pool, count);
    REQUIRE(conform, !sized || tutti_ensemble_size(ensemble) <= count, "asked for %zu, it chose %zu members", count,
            tutti_ensemble_size(ensemble));
    tutti_ensemble_destroy(ensemble);
  }
  world_pool_free(&pool);
  close_subject(&subject);
}

/* Linear heads give no variance: NaN there is ordinary. */
static void check_no_variance(struct conform *conform) {
  struct subject subject;
  struct tutti_pool pool;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  world_pool(conform, TUTTI_TASK_REGRESSION, MODELS, WORLD_ROWS, 6, &pool);
  for (size_t m = 0; m < MODELS; m++) {
    float *values = (float *)(uintptr_t)pool.predictions[m];
    for (size_t i = 0; i < WORLD_ROWS; i++)
      values[2 * i + 1] = NAN;
    struct tutti_predictions alone = {.size = sizeof alone};
    struct tutti_targets targets = {.size = sizeof targets};
    tutti_pool_predictions(&pool, m, &alone);
    tutti_pool_targets(&pool, &targets);
    ((double *)(uintptr_t)pool.losses)[m] = tutti_loss_of(TUTTI_LOSS_MSE, &alone, &targets);
  }
  tutti_ensemble *ensemble = NULL;
  TRY(conform, tutti_ensemble_create(conform->context, &ensemble));
  enum tutti_status status = tutti_selector_select(conform->context, subject.selector, &pool, 0, ensemble);
  REQUIRE(conform, status == TUTTI_OK || (status != TUTTI_ERROR_PLUGIN && tutti_error_message(conform->context)[0]),
          "means without variances: %s", tutti_error_message(conform->context));
  tutti_ensemble_destroy(ensemble);
  world_pool_free(&pool);
  close_subject(&subject);
}

/* Give every third model, and the first, predictions and a loss that are NaN, as a training that diverged has. */
static void spoil(const struct tutti_pool *pool) {
  size_t width = tutti_predictions_width(pool->kind, pool->outputs);
  for (size_t m = 0; m < pool->models; m += 3) {
    float *values = (float *)(uintptr_t)pool->predictions[m];
    for (size_t i = 0; i < pool->rows * width; i++)
      values[i] = NAN;
    ((double *)(uintptr_t)pool->losses)[m] = NAN;
  }
}

static void require_known(struct conform *conform, struct subject *subject, const struct tutti_pool *pool,
                          size_t count) {
  tutti_ensemble *ensemble = choose(conform, subject, pool, count);
  for (size_t m = 0; m < pool->models; m++)
    REQUIRE(conform, !isnan(pool->losses[m]) || weight_of(ensemble, pool->trials[m]) == 0,
            "trial %llu was chosen, whose loss is NaN, while there are models whose loss is known",
            (unsigned long long)pool->trials[m]);
  tutti_ensemble_destroy(ensemble);
}

/* NaN never wins a selection, however many models are asked for. */
static void check_not_a_number(struct conform *conform) {
  static const enum tutti_task_kind kinds[] = {TUTTI_TASK_REGRESSION, TUTTI_TASK_CLASSIFICATION};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    struct subject subject;
    struct tutti_pool pool;
    open_subject(conform, &subject, kinds[k]);
    world_pool(conform, kinds[k], MODELS, WORLD_ROWS, 8, &pool);
    spoil(&pool);
    require_known(conform, &subject, &pool, 0);
    require_known(conform, &subject, &pool, 2);
    require_known(conform, &subject, &pool, MODELS);
    world_pool_free(&pool);
    world_pool(conform, kinds[k], 2, WORLD_ROWS, 9, &pool);
    spoil(&pool);
    require_known(conform, &subject, &pool, 0);
    world_pool_free(&pool);
    close_subject(&subject);
  }
}

/* Models with losses and no predictions: for selectors that say that they need none. The others get no such pool. */
static void check_losses_alone(struct conform *conform) {
  struct subject subject;
  struct tutti_pool pool;
  open_subject(conform, &subject, TUTTI_TASK_VALUE);
  bool needs = tutti_selector_needs_predictions(subject.selector);
  world_pool(conform, TUTTI_TASK_REGRESSION, MODELS, WORLD_ROWS, 7, &pool);
  const struct tutti_pool alone = {
      .size = sizeof alone, .kind = TUTTI_TASK_VALUE, .models = MODELS, .trials = pool.trials, .losses = pool.losses};
  if (needs) {
    tutti_ensemble *ensemble = NULL;
    TRY(conform, tutti_ensemble_create(conform->context, &ensemble));
    conform_refused(conform, tutti_selector_select(conform->context, subject.selector, &alone, 0, ensemble),
                    "a pool without predictions");
    tutti_ensemble_destroy(ensemble);
  } else {
    tutti_ensemble_destroy(choose(conform, &subject, &alone, 0));
    tutti_ensemble_destroy(choose(conform, &subject, &alone, 3));
    spoil(&pool);
    require_known(conform, &subject, &alone, 0);
  }
  world_pool_free(&pool);
  close_subject(&subject);
}

/* It chooses by no cost of a later version. */
static void check_costs(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  REQUIRE(conform, !tutti_selector_needs_cost(subject.selector, TUTTI_COSTS), "needs_cost says yes to an unknown cost");
  close_subject(&subject);
}

const struct conform_check conform_selector[] = {
    {"chooses members with weights for regression", check_regression},
    {"chooses members with weights for classification", check_classification},
    {"the same pool gives the same choice", check_determinism},
    {"trial numbers do not sway the choice", check_permutation},
    {"of models that are alike the first is chosen", check_duplicates},
    {"a count given by the caller", check_count},
    {"a loss that is NaN is never chosen", check_not_a_number},
    {"means without variances", check_no_variance},
    {"losses without predictions", check_losses_alone},
    {"costs that it does not know", check_costs},
    {NULL, NULL},
};
