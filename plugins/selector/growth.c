/* growth.c - what selectors share that grow an ensemble model by model. */
#include "growth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const growth_losses[] = {TUTTI_LOSS_CHOICES};
const char *const growth_densities[] = {"mixture", "moments", NULL};
const char *const growth_epistemic[] = {"unbiased", "population", NULL};
const char *const growth_keeps[] = {"last", "best", NULL};
enum { KEEP_LAST, KEEP_BEST };

/* Losses that differ by less are equal but for rounding: relative to the loss, or to one nat, for log-likelihoods cancel. */
static const double ROUNDING = 1e-13;

/* --- parameters and instances ------------------------------------------------------------------------------------ */

struct selector_growth {
  const void *config;
};

enum tutti_loss growth_loss(int choice) {
  enum tutti_loss loss = TUTTI_LOSS_COUNT;
  (void)tutti_loss_parse(growth_losses[choice], &loss);
  return loss;
}

enum tutti_status growth_check(tutti_context *context, int choice, enum tutti_task_kind task) {
  static const char *const tasks[] = {
      [TUTTI_TASK_REGRESSION] = "regression: expected nll or mse",
      [TUTTI_TASK_CLASSIFICATION] = "classification: expected nll, error or brier",
      [TUTTI_TASK_VALUE] = "a task without data: expected auto",
  };
  enum tutti_loss loss = growth_loss(choice);
  if (loss != TUTTI_LOSS_COUNT && !tutti_loss_applies(loss, task))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "loss = %s is not defined for %s", growth_losses[choice],
                      tasks[task]);
  return TUTTI_OK;
}

enum tutti_status growth_create(tutti_context *context, const void *config, const void *setup, void **self) {
  const struct tutti_selector_setup *given = setup;
  const struct tutti_task *task = given && given->host ? tutti_host_task(given->host) : NULL;
  struct selector_growth *instance;
  if (task)
    TUTTI_TRY(context, growth_check(context, ((const struct growth_config *)config)->loss, task->kind));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *instance, &instance));
  instance->config = config;
  *self = instance;
  return TUTTI_OK;
}

void growth_destroy(void *self) { tutti_free(self); }

const void *growth_config_of(const void *self) { return ((const struct selector_growth *)self)->config; }

size_t growth_size(const void *self, size_t count) {
  return count ? count : (size_t)((const struct growth_config *)growth_config_of(self))->size;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

struct ranked {
  size_t model;
  double loss;
};

static int compare_ranked(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (isnan(a->loss) != isnan(b->loss))
    return isnan(a->loss) ? 1 : -1;
  if (a->loss < b->loss || a->loss > b->loss)
    return a->loss < b->loss ? -1 : 1;
  return a->model < b->model ? -1 : a->model > b->model;
}

enum tutti_status growth_rank(tutti_context *context, size_t models, const double *losses, size_t **order) {
  struct ranked *ranking;
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof **order, order));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *ranking, &ranking));
  for (size_t k = 0; k < models; k++)
    ranking[k] = (struct ranked){k, losses[k]};
  qsort(ranking, models, sizeof *ranking, compare_ranked);
  for (size_t k = 0; k < models; k++)
    (*order)[k] = ranking[k].model;
  tutti_free(ranking);
  return TUTTI_OK;
}

/* --- beginning and ending ----------------------------------------------------------------------------------------- */

/* The models' own losses under `options`, NaN barred; `some`: not all are. */
static enum tutti_status try_loss(tutti_context *context, const struct tutti_ensemble_loss_options *options,
                                  struct growth *growth, bool *some) {
  tutti_ensemble_loss_destroy(growth->loss);
  growth->loss = NULL;
  growth->minimised = options->loss;
  TUTTI_TRY(context, tutti_ensemble_loss_create(context, growth->pool, options, &growth->loss));
  tutti_ensemble_loss_each(growth->loss, growth->own);
  *some = false;
  for (size_t k = 0; k < growth->pool->models; k++) {
    growth->barred[k] = isnan(growth->own[k]);
    *some |= !growth->barred[k];
  }
  return TUTTI_OK;
}

enum tutti_status growth_open(tutti_context *context, const struct growth_config *config, const struct tutti_pool *pool,
                              struct growth *growth) {
  struct tutti_ensemble_loss_options options = {
      .size = sizeof options,
      .loss = growth_loss(config->loss),
      .density = config->density ? TUTTI_DENSITY_MOMENTS : TUTTI_DENSITY_MIXTURE,
      .epistemic = config->epistemic ? TUTTI_EPISTEMIC_POPULATION : TUTTI_EPISTEMIC_UNBIASED,
  };
  bool automatic = options.loss == TUTTI_LOSS_COUNT, some = false;
  *growth = (struct growth){.config = config, .pool = pool};
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *growth->own, &growth->own));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *growth->barred, &growth->barred));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *growth->copies, &growth->copies));
  if (automatic)
    options.loss = TUTTI_LOSS_NLL;
  TUTTI_TRY(context, try_loss(context, &options, growth, &some));
  if (!some && automatic && pool->kind == TUTTI_TASK_REGRESSION) {
    options.loss = TUTTI_LOSS_MSE;
    TUTTI_TRY(context, try_loss(context, &options, growth, &some));
  }
  if (some)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                    "none of the %zu models has a %s that is a number: nothing to choose from", pool->models,
                    tutti_loss_names()[growth->minimised]);
}

void growth_close(struct growth *growth) {
  tutti_ensemble_loss_destroy(growth->loss);
  tutti_free(growth->own);
  tutti_free(growth->barred);
  tutti_free(growth->copies);
  tutti_free(growth->path);
}

/* How many of the first picks have the lowest loss; the fewest on ties. */
static size_t best_prefix(const struct growth *growth) {
  size_t best = 0;
  for (size_t i = 1; i < growth->picks; i++)
    if (growth->path[i].loss < growth->path[best].loss)
      best = i;
  return best + 1;
}

TUTTI_PRINTF(2, 3) static void append(char note[96], const char *format, ...) {
  size_t used = strlen(note);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(note + used, 96 - used, format, arguments);
  va_end(arguments);
}

static void describe(const struct growth *growth, const struct growth_pick *pick, char note[96]) {
  size_t models = growth->pool->models;
  note[0] = '\0';
  if (pick->copies > 1)
    append(note, "taken again, part %zu; ", pick->copies);
  if (pick->rank > 0)
    append(note, "rank %zu of %zu", pick->rank, models);
  else if (pick->runner_up < models)
    append(note, "next best: trial %" PRIu64 ", %.3g worse", growth->pool->trials[pick->runner_up],
           pick->runner_up_loss - pick->loss);
  else
    append(note, "the last one left");
  if (pick->needed)
    append(note, "; for min_size, improves nothing");
}

enum tutti_status growth_trace_passed_over(tutti_context *context, const struct tutti_pool *pool, const char *loss,
                                           const double *losses, tutti_ensemble *ensemble) {
  char note[96];
  (void)snprintf(note, sizeof note, "passed over: its %s is not a number", loss);
  for (size_t k = 0; k < pool->models; k++)
    if (isnan(losses[k]))
      TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, pool->trials[k], losses[k], note));
  return TUTTI_OK;
}

enum tutti_status growth_finish(tutti_context *context, const struct growth *growth, const char *end,
                                tutti_ensemble *ensemble) {
  size_t kept = growth->config->keep == KEEP_BEST ? best_prefix(growth) : growth->picks;
  for (size_t i = 0; i < growth->picks; i++) {
    const struct growth_pick *pick = &growth->path[i];
    uint64_t trial = growth->pool->trials[pick->model];
    char note[96];
    describe(growth, pick, note);
    if (i + 1 == kept && kept < growth->picks)
      append(note, "; the best, so the last pick that is kept");
    if (i >= kept)
      append(note, "; not kept");
    if (i + 1 == growth->picks)
      append(note, "%s", end);
    if (i < kept)
      TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, trial, 1));
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, trial, pick->loss, note));
  }
  return growth_trace_passed_over(context, growth->pool, tutti_loss_names()[growth->minimised], growth->own, ensemble);
}

/* --- growing ------------------------------------------------------------------------------------------------------ */

enum tutti_status growth_take(tutti_context *context, struct growth *growth, struct growth_pick pick) {
  if (tutti_cancelled(context))
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "the selection was cancelled after %zu picks", growth->picks);
  if (growth->picks == growth->room) {
    size_t room = growth->room ? 2 * growth->room : 64;
    TUTTI_TRY(context, tutti_realloc(context, growth->picks, room, sizeof *growth->path, &growth->path));
    growth->room = room;
  }
  pick.copies = ++growth->copies[pick.model];
  growth->members += pick.copies == 1;
  growth->path[growth->picks++] = pick;
  tutti_ensemble_loss_add(growth->loss, pick.model);
  return TUTTI_OK;
}

bool growth_accepts(const struct growth *growth, enum growth_accept accept, double loss) {
  double now = growth->path[growth->picks - 1].loss, unit = growth->minimised == TUTTI_LOSS_NLL ? 1 : 0;
  double rounding = ROUNDING * fmax(fabs(now), unit);
  switch (accept) {
  case GROWTH_ACCEPT_BETTER:
    return now - loss > rounding;
  case GROWTH_ACCEPT_NOT_WORSE:
    return loss - now <= rounding;
  default:
    return true;
  }
}

/* The best addition there is, as a pick; its model is the pool's number of models where there is none. */
static struct growth_pick best_addition(const struct growth *growth) {
  struct tutti_addition best = {.size = sizeof best};
  tutti_ensemble_loss_best(growth->loss, growth->barred, &best);
  return (struct growth_pick){
      .model = best.model, .runner_up = best.runner_up, .loss = best.loss, .runner_up_loss = best.runner_up_loss};
}

/* The best addition of a model that is no member yet. */
static struct growth_pick best_newcomer(const struct growth *growth, bool replace) {
  struct growth_pick pick;
  for (size_t k = 0; k < growth->pool->models; k++)
    growth->barred[k] = growth->barred[k] || growth->copies[k] > 0;
  pick = best_addition(growth);
  pick.needed = true;
  for (size_t k = 0; k < growth->pool->models; k++)
    growth->barred[k] = isnan(growth->own[k]) || (!replace && growth->copies[k] > 0);
  return pick;
}

/* Grow by the rule; why it ended. */
static enum tutti_status grow(tutti_context *context, const struct growth_rule *rule, struct growth *growth,
                              const char **end) {
  struct growth_pick pick = best_addition(growth);
  for (;;) {
    TUTTI_TRY(context, growth_take(context, growth, pick));
    growth->barred[pick.model] = !rule->replace;
    *end = "";
    if (growth->members >= rule->members)
      return TUTTI_OK;
    *end = rule->accept == GROWTH_ACCEPT_ANY ? "" : "; the end: as many picks as allowed";
    if (growth->picks >= rule->picks)
      return TUTTI_OK;
    pick = best_addition(growth);
    *end = "";
    if (pick.model == growth->pool->models)
      return TUTTI_OK;
    *end = "; the end: no model improves it";
    if (!growth_accepts(growth, rule->accept, pick.loss)) {
      if (growth->members >= rule->least)
        return TUTTI_OK;
      pick = best_newcomer(growth, rule->replace);
      if (pick.model == growth->pool->models)
        return TUTTI_OK;
    }
  }
}

enum tutti_status growth_select(tutti_context *context, const struct growth_config *config,
                                const struct growth_rule *rule, const struct tutti_pool *pool,
                                tutti_ensemble *ensemble) {
  enum tutti_status status;
  struct growth growth;
  const char *end;
  TUTTI_TRY_OUT(context, growth_open(context, config, pool, &growth));
  TUTTI_TRY_OUT(context, grow(context, rule, &growth, &end));
  TUTTI_TRY_OUT(context, growth_finish(context, &growth, end, ensemble));
out:
  growth_close(&growth);
  return status;
}
