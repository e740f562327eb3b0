/* growth.c - ensembles that grow model by model. */
#include <tutti/growth.h>

#include <tutti/names.h>
#include <tutti/sized.h>
#include "core/network/task_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Losses that differ by less are equal up to rounding: relative to the loss, and for log-likelihoods, which cancel, to
   at least one nat. */
static const double ROUNDING = 1e-13;
enum { NOTE = sizeof((struct tutti_step *)0)->note };

struct pick {
  size_t model;
  double loss; /* of the ensemble after it */
  char note[NOTE];
};

struct tutti_growth {
  struct tutti_growth_options options;
  const struct tutti_pool *pool;
  tutti_ensemble_loss *loss;
  enum tutti_loss minimised;
  double *own;    /* [models]: losses of the models alone */
  bool *barred;   /* [models]: not to be taken */
  size_t *copies; /* [models]: how often each was taken */
  size_t picks, members, room;
  struct pick *path; /* [picks] */
};

/* --- losses and ranks --------------------------------------------------------------------------------------------- */

bool tutti_growth_loss_of(int choice, enum tutti_loss *loss) {
  bool known = choice >= 0 && (size_t)choice + 1 < sizeof tutti_growth_losses / sizeof tutti_growth_losses[0];
  *loss = known ? TUTTI_LOSS_NLL : TUTTI_LOSS_COUNT; /* a choice of a newer header: it applies to nothing */
  return known ? tutti_loss_parse(tutti_growth_losses[choice], loss) : true;
}

/* The choices that a task has, separated by commas. */
static void list_losses(enum tutti_task_kind task, size_t size, char text[]) {
  size_t length = (size_t)snprintf(text, size, "auto");
  enum tutti_loss loss;
  for (int i = 1; tutti_growth_losses[i]; i++)
    if (tutti_growth_loss_of(i, &loss) && tutti_loss_applies(loss, task) && length < size)
      length += (size_t)snprintf(text + length, size - length, ", %s", tutti_growth_losses[i]);
}

enum tutti_status tutti_growth_check(tutti_context *context, int choice, enum tutti_task_kind task) {
  char expected[256];
  enum tutti_loss loss;
  if (!tutti_growth_loss_of(choice, &loss) || tutti_loss_applies(loss, task))
    return TUTTI_OK;
  list_losses(task, sizeof expected, expected);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "loss = %s is not defined for %s: expected one of %s",
                    loss == TUTTI_LOSS_COUNT ? "?" : tutti_growth_losses[choice], tutti_task_in_words(task), expected);
}

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

enum tutti_status tutti_rank_models(tutti_context *context, size_t models, const double *losses, size_t **order) {
  struct ranked *ranking = NULL;
  enum tutti_status status;
  *order = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *ranking, &ranking));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof **order, order));
  for (size_t k = 0; k < models; k++)
    ranking[k] = (struct ranked){k, losses[k]};
  qsort(ranking, models, sizeof *ranking, compare_ranked);
  for (size_t k = 0; k < models; k++)
    (*order)[k] = ranking[k].model;
out:
  tutti_free(ranking);
  return status;
}

enum tutti_status tutti_trace_passed_over(tutti_context *context, const struct tutti_pool *pool, const char *loss,
                                          const double *losses, tutti_ensemble *ensemble) {
  char note[NOTE];
  (void)snprintf(note, sizeof note, "passed over: its %s is not a number", loss);
  for (size_t k = 0; k < pool->models; k++)
    if (isnan(losses[k]))
      TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, pool->trials[k], losses[k], note));
  return TUTTI_OK;
}

/* --- beginning and ending ----------------------------------------------------------------------------------------- */

/* Compute the models' own losses and bar those that are NaN. *some: not all are. */
static enum tutti_status try_loss(tutti_context *context, enum tutti_loss loss, tutti_growth *growth, bool *some) {
  const struct tutti_ensemble_loss_options options = {
      .size = sizeof options, .loss = loss, .density = growth->options.density, .epistemic = growth->options.epistemic};
  tutti_ensemble_loss_destroy(growth->loss);
  growth->loss = NULL;
  growth->minimised = loss;
  TUTTI_TRY(context, tutti_ensemble_loss_create(context, growth->pool, &options, &growth->loss));
  tutti_ensemble_loss_each(growth->loss, growth->own);
  *some = false;
  for (size_t k = 0; k < growth->pool->models; k++) {
    growth->barred[k] = isnan(growth->own[k]);
    *some |= !growth->barred[k];
  }
  return TUTTI_OK;
}

static enum tutti_status choose_loss(tutti_context *context, tutti_growth *growth) {
  enum tutti_loss loss;
  bool given = tutti_growth_loss_of(growth->options.loss, &loss), some = false;
  TUTTI_TRY(context, try_loss(context, loss, growth, &some));
  if (!some && !given && growth->pool->kind == TUTTI_TASK_REGRESSION)
    TUTTI_TRY(context, try_loss(context, TUTTI_LOSS_MSE, growth, &some));
  if (some)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                    "none of the %zu %s has a %s that is a number: nothing to choose from", growth->pool->models,
                    tutti_plural(growth->pool->models, "model", "models"), tutti_loss_names()[growth->minimised]);
}

enum tutti_status tutti_growth_create(tutti_context *context, const struct tutti_growth_options *options,
                                      const struct tutti_pool *pool, tutti_growth **growth) {
  enum tutti_status status;
  tutti_growth *made = NULL;
  *growth = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TAKE(&made->options, options);
  made->pool = pool;
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *made->own, &made->own));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *made->barred, &made->barred));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *made->copies, &made->copies));
  TUTTI_TRY_OUT(context, choose_loss(context, made));
  *growth = made;
  return TUTTI_OK;
out:
  tutti_growth_destroy(made);
  return status;
}

void tutti_growth_destroy(tutti_growth *growth) {
  if (!growth)
    return;
  tutti_ensemble_loss_destroy(growth->loss);
  tutti_free(growth->own);
  tutti_free(growth->barred);
  tutti_free(growth->copies);
  tutti_free(growth->path);
  tutti_free(growth);
}

/* How many picks there are up to the lowest loss; the fewest on ties. */
static size_t best_prefix(const tutti_growth *growth) {
  size_t best = 0;
  for (size_t i = 1; i < growth->picks; i++)
    if (growth->path[i].loss < growth->path[best].loss)
      best = i;
  return best + 1;
}

enum tutti_status tutti_growth_finish(tutti_context *context, const tutti_growth *growth, const char *end,
                                      tutti_ensemble *ensemble) {
  size_t kept = growth->options.keep_best && growth->picks ? best_prefix(growth) : growth->picks;
  for (size_t i = 0; i < growth->picks; i++) {
    const struct pick *pick = &growth->path[i];
    uint64_t trial = growth->pool->trials[pick->model];
    bool last = i + 1 == growth->picks;
    const char *fate = i >= kept              ? "; not kept"
                       : last || i + 1 < kept ? ""
                                              : "; the best, so the last pick that is kept";
    char note[2 * NOTE];
    (void)snprintf(note, sizeof note, "%s%s%s", pick->note, fate, last ? end : "");
    note[NOTE - 1] = '\0';
    if (i < kept)
      TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, trial, 1));
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, trial, pick->loss, note));
  }
  return tutti_trace_passed_over(context, growth->pool, tutti_loss_names()[growth->minimised], growth->own, ensemble);
}

/* --- growing ------------------------------------------------------------------------------------------------------ */

enum tutti_loss tutti_growth_loss(const tutti_growth *growth) { return growth->minimised; }

const double *tutti_growth_own_losses(const tutti_growth *growth) { return growth->own; }

size_t tutti_growth_members(const tutti_growth *growth) { return growth->members; }

double tutti_growth_loss_with(const tutti_growth *growth, size_t model) {
  return tutti_ensemble_loss_with(growth->loss, model);
}

enum tutti_status tutti_growth_take(tutti_context *context, tutti_growth *growth, size_t model, double loss,
                                    const char *note) {
  char again[48] = "";
  if (tutti_cancelled(context))
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "the selection was cancelled after %zu picks", growth->picks);
  if (growth->picks == growth->room) {
    size_t room = growth->room ? 2 * growth->room : 64;
    TUTTI_TRY(context, tutti_realloc(context, growth->picks, room, sizeof *growth->path, &growth->path));
    growth->room = room;
  }
  if (growth->copies[model]++ == 0)
    growth->members++;
  else
    (void)snprintf(again, sizeof again, "taken again, part %zu; ", growth->copies[model]);
  struct pick *pick = &growth->path[growth->picks++];
  *pick = (struct pick){.model = model, .loss = loss};
  (void)snprintf(pick->note, sizeof pick->note, "%s%s", again, note);
  tutti_ensemble_loss_add(growth->loss, model);
  return TUTTI_OK;
}

bool tutti_growth_accepts(const tutti_growth *growth, enum tutti_growth_accept accept, double loss) {
  double now = growth->path[growth->picks - 1].loss, unit = growth->minimised == TUTTI_LOSS_NLL ? 1 : 0;
  double rounding = ROUNDING * fmax(fabs(now), unit);
  switch (accept) {
  case TUTTI_GROWTH_ACCEPT_BETTER:
    return now - loss > rounding;
  case TUTTI_GROWTH_ACCEPT_NOT_WORSE:
    return loss - now <= rounding;
  default:
    return true;
  }
}

/* Take the best addition: the rule accepts it, or it is `needed` for the least size. */
static enum tutti_status take_best(tutti_context *context, tutti_growth *growth, const struct tutti_addition *best,
                                   bool needed) {
  const char *why = needed ? "; for min_size, improves nothing" : "";
  char note[NOTE];
  if (best->runner_up < growth->pool->models)
    (void)snprintf(note, sizeof note, "next best: trial %" PRIu64 ", %.3g worse%s",
                   growth->pool->trials[best->runner_up], best->runner_up_loss - best->loss, why);
  else
    (void)snprintf(note, sizeof note, "the last one left%s", why);
  TUTTI_TRY(context, tutti_growth_take(context, growth, best->model, best->loss, note));
  growth->barred[best->model] = !growth->options.replace;
  return TUTTI_OK;
}

/* The best addition of a model that is no member yet. */
static struct tutti_addition best_newcomer(const tutti_growth *growth) {
  struct tutti_addition best = {.size = sizeof best};
  for (size_t k = 0; k < growth->pool->models; k++)
    growth->barred[k] = growth->barred[k] || growth->copies[k] > 0;
  tutti_ensemble_loss_best(growth->loss, growth->barred, &best);
  for (size_t k = 0; k < growth->pool->models; k++)
    growth->barred[k] = isnan(growth->own[k]) || (!growth->options.replace && growth->copies[k] > 0);
  return best;
}

/* Grow by the rule; *end says why the growth ended. */
static enum tutti_status grow(tutti_context *context, tutti_growth *growth, const char **end) {
  const struct tutti_growth_options *rule = &growth->options;
  struct tutti_addition best = {.size = sizeof best};
  bool needed = false;
  tutti_ensemble_loss_best(growth->loss, growth->barred, &best);
  for (;;) {
    TUTTI_TRY(context, take_best(context, growth, &best, needed));
    *end = "";
    if (growth->members >= rule->members)
      return TUTTI_OK;
    *end = rule->accept == TUTTI_GROWTH_ACCEPT_ANY ? "" : "; the end: as many picks as allowed";
    if (growth->picks >= rule->picks)
      return TUTTI_OK;
    tutti_ensemble_loss_best(growth->loss, growth->barred, &best);
    *end = "";
    if (best.model == growth->pool->models)
      return TUTTI_OK;
    *end = "; the end: no model improves it";
    needed = !tutti_growth_accepts(growth, rule->accept, best.loss);
    if (needed && growth->members >= rule->least)
      return TUTTI_OK;
    if (needed)
      best = best_newcomer(growth);
    if (best.model == growth->pool->models)
      return TUTTI_OK;
  }
}

enum tutti_status tutti_growth_select(tutti_context *context, const struct tutti_growth_options *options,
                                      const struct tutti_pool *pool, tutti_ensemble *ensemble) {
  tutti_growth *growth;
  const char *end;
  TUTTI_TRY(context, tutti_growth_create(context, options, pool, &growth));
  enum tutti_status status = grow(context, growth, &end);
  if (status == TUTTI_OK)
    status = tutti_growth_finish(context, growth, end, ensemble);
  tutti_growth_destroy(growth);
  return status;
}
