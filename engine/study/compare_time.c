/* compare_time.c - runs against each other after fewer trials. The best trial so far comes from the catalogues alone.
   On request, the ensembles that would have been chosen by then are compared, too, with the rows that only one of two
   gets wrong. Nothing is trained. */
#include "compare_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How runs went: of each, the metrics after so many trials. */
struct course {
  size_t steps;
  uint64_t *trials;                  /* [steps] */
  json_t *metrics;                   /* name, unit and better of each metric */
  json_t **points;                   /* [compared][steps]: value by name; what a run does not have by then is absent */
  struct compare_evidence *evidence; /* [steps], of ensembles chosen anew; NULL: none are */
};

/* Which steps are taken: every so many trials, or the last ones. */
struct span {
  uint64_t step, last; /* one of them is 0 */
};

/* --- catalogues -------------------------------------------------------------------------------------------------- */

/* Losses of a run's trials; NaN unless finished. */
struct losses {
  tutti_context *context;
  size_t count, room;
  double *values;
};

static enum tutti_status take_loss(void *argument, const struct tutti_trial *trial) {
  struct losses *losses = argument;
  tutti_context *context = losses->context;
  if (losses->count == losses->room) {
    size_t room = 2 * losses->room + 128;
    TUTTI_TRY(context, tutti_realloc(context, losses->count, room, sizeof *losses->values, &losses->values));
    losses->room = room;
  }
  losses->values[losses->count++] = trial->done && trial->state == TUTTI_STATE_FINISHED ? trial->loss : NAN;
  return TUTTI_OK;
}

static enum tutti_status read_losses(tutti_context *context, const struct compare_run *run, struct losses *losses) {
  enum tutti_status status = TUTTI_OK;
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  losses->context = context;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, run->directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, tutti_catalogue_visit(context, catalogue, take_loss, losses));
out:
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return status;
}

/* The least loss so far at every step that the run has come to. */
static void add_best(const struct course *course, const struct losses *losses, json_t *const *points) {
  double best = INFINITY;
  size_t trial = 0;
  for (size_t s = 0; s < course->steps && course->trials[s] <= losses->count; s++) {
    for (; trial < course->trials[s]; trial++)
      best = fmin(best, losses->values[trial]);
    if (isfinite(best))
      json_object_set_new(points[s], COMPARE_BEST_TRIAL, json_real(best));
  }
}

/* The numbers of trials, to the end of the longest run. */
static enum tutti_status list_steps(tutti_context *context, uint64_t longest, const struct span *span,
                                    struct course *course) {
  uint64_t last = span->last < longest ? span->last : longest;
  course->steps = (size_t)(span->step ? (longest + span->step - 1) / span->step : last);
  TUTTI_TRY(context, tutti_alloc(context, course->steps, sizeof *course->trials, &course->trials));
  for (size_t s = 0; s < course->steps; s++)
    if (s + 1 == course->steps)
      course->trials[s] = longest;
    else
      course->trials[s] = span->step ? span->step * (s + 1) : longest - last + 1 + s;
  return TUTTI_OK;
}

static enum tutti_status open_course(tutti_context *context, const struct compare *compare, const struct losses *losses,
                                     const struct span *span, bool reselect, struct course *course) {
  size_t longest = 0;
  for (size_t i = 0; i < compare->compared; i++)
    longest = losses[i].count > longest ? losses[i].count : longest;
  TUTTI_TRY(context, list_steps(context, longest, span, course));
  TUTTI_TRY(context, tutti_alloc(context, compare->compared, course->steps * sizeof(json_t *), &course->points));
  for (size_t i = 0; i < compare->compared * course->steps; i++)
    course->points[i] = json_object();
  course->metrics = json_array();
  json_array_append_new(course->metrics,
                        json_pack("{s:s, s:s, s:s}", "name", COMPARE_BEST_TRIAL, "unit", "", "better", "lower"));
  if (!reselect)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, course->steps, sizeof *course->evidence, &course->evidence));
  for (size_t s = 0; s < course->steps; s++)
    TUTTI_TRY(context, tutti_compare_evidence_open(context, compare, &course->evidence[s]));
  return TUTTI_OK;
}

static void release_course(const struct compare *compare, struct course *course) {
  for (size_t i = 0; course->points && i < compare->compared * course->steps; i++)
    json_decref(course->points[i]);
  for (size_t s = 0; course->evidence && s < course->steps; s++)
    tutti_compare_evidence_release(&course->evidence[s]);
  tutti_free(course->evidence);
  tutti_free(course->points);
  tutti_free(course->trials);
  json_decref(course->metrics);
}

/* --- ensembles chosen anew --------------------------------------------------------------------------------------- */

static bool is_known(const json_t *metrics, const char *name) {
  size_t index;
  json_t *metric;
  json_array_foreach(metrics, index, metric) {
    if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0)
      return true;
  }
  return false;
}

/* Take the metrics of the compared split from a point of a curve. */
static void take_point(struct course *course, const json_t *point, const char *wanted, json_t *values) {
  size_t i, j;
  json_t *split, *metric;
  json_array_foreach(json_object_get(point, "evaluation"), i, split) {
    if (strcmp(json_string_value(json_object_get(split, "split")), wanted) != 0)
      continue;
    json_array_foreach(json_object_get(split, "metrics"), j, metric) {
      const char *name = json_string_value(json_object_get(metric, "name"));
      json_object_set(values, name, json_object_get(metric, "value"));
      if (!is_known(course->metrics, name))
        json_array_append_new(course->metrics,
                              json_pack("{s:s, s:O, s:O}", "name", name, "unit", json_object_get(metric, "unit"),
                                        "better", json_object_get(metric, "better")));
    }
  }
}

/* Losses of rows by the ensembles of one run: of each step, [rows]; NULL where there is no ensemble. */
struct run_losses {
  double **at; /* [steps] */
  size_t rows;
};

static enum tutti_status take_losses(tutti_context *context, const struct compare *compare,
                                     const struct compare_run *run, const json_t *point, size_t step,
                                     struct run_losses *losses) {
  json_t *ensemble = json_pack("{s:O, s:O}", "combination", json_object_get(point, "combination"), "members",
                               json_object_get(point, "ensemble"));
  char *text = json_dumps(ensemble, JSON_REAL_PRECISION(17));
  enum tutti_status status =
      text ? tutti_compare_row_losses(context, run, compare->split, text, &losses->at[step], &losses->rows)
           : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory for the text of an ensemble");
  free(text);
  json_decref(ensemble);
  return status;
}

/* Choose a run's ensembles anew: their metrics, and their losses of rows. */
static enum tutti_status add_ensembles(tutti_context *context, const struct compare *compare, struct course *course,
                                       const struct compare_run *run, size_t trials, json_t *const *points,
                                       struct run_losses *losses) {
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  char *text = NULL;
  json_t *curve = NULL, *point;
  size_t index, steps = 0;
  while (steps < course->steps && course->trials[steps] <= trials)
    steps++;
  if (steps == 0)
    return TUTTI_OK;
  const struct tutti_curve_options options = {
      .size = sizeof options, .budgets_count = steps, .budgets = course->trials};
  TUTTI_TRY_OUT(context, tutti_view_open(context, run->directory, &view));
  TUTTI_TRY_OUT(context, tutti_view_curve(context, view, NULL, 0, NULL, &options, &text));
  curve = json_loads(text, 0, NULL);
  json_array_foreach(curve, index, point) {
    for (size_t s = 0; s < steps; s++)
      if ((uint64_t)json_integer_value(json_object_get(point, "budget")) == course->trials[s]) {
        take_point(course, point, compare->split, points[s]);
        TUTTI_TRY_OUT(context, take_losses(context, compare, run, point, s, losses));
      }
  }
out:
  json_decref(curve);
  tutti_free(text);
  tutti_view_close(view);
  return status;
}

/* Scratch for the runs of one block. */
struct block_losses {
  struct run_losses *runs; /* [compared] */
  double **at_step;        /* [compared]: pointers into them */
  size_t *rows;            /* [compared] */
};

/* Choose the ensembles of a block's runs anew, and set their rows against each other at every step. */
static enum tutti_status add_block(tutti_context *context, const struct compare *compare, struct course *course,
                                   size_t block, const struct losses *losses, struct block_losses *scratch) {
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i < compare->compared; i++)
    if (compare->runs[i].block == block && json_array_size(compare->runs[i].splits) > 0)
      TUTTI_TRY_OUT(context, add_ensembles(context, compare, course, &compare->runs[i], losses[i].count,
                                           course->points + i * course->steps, &scratch->runs[i]));
  for (size_t s = 0; s < course->steps; s++) {
    for (size_t i = 0; i < compare->compared; i++) {
      scratch->at_step[i] = scratch->runs[i].at[s];
      scratch->rows[i] = scratch->runs[i].rows;
    }
    tutti_compare_evidence_add(compare, &course->evidence[s], scratch->at_step, scratch->rows);
  }
out:
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t s = 0; s < course->steps; s++) {
      tutti_free(scratch->runs[i].at[s]);
      scratch->runs[i].at[s] = NULL;
    }
  return status;
}

static enum tutti_status reselect_all(tutti_context *context, const struct compare *compare, struct course *course,
                                      const struct losses *losses) {
  enum tutti_status status = TUTTI_OK;
  struct block_losses scratch = {0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *scratch.runs, &scratch.runs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *scratch.at_step, &scratch.at_step));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *scratch.rows, &scratch.rows));
  for (size_t i = 0; i < compare->compared; i++)
    TUTTI_TRY_OUT(context, tutti_alloc(context, course->steps, sizeof *scratch.runs[i].at, &scratch.runs[i].at));
  for (size_t b = 0; b < compare->block_count; b++)
    TUTTI_TRY_OUT(context, add_block(context, compare, course, b, losses, &scratch));
  for (size_t s = 0; s < course->steps; s++)
    tutti_compare_evidence_close(compare, &course->evidence[s]);
out:
  for (size_t i = 0; scratch.runs && i < compare->compared; i++)
    tutti_free(scratch.runs[i].at);
  tutti_free(scratch.runs);
  tutti_free(scratch.at_step);
  tutti_free(scratch.rows);
  return status;
}

/* Ensembles are chosen on validation rows, and curves tell of these and the test rows. */
static enum tutti_status check_split(tutti_context *context, const char *split) {
  if (strcmp(split, TUTTI_SPLIT_VALIDATION) == 0 || strcmp(split, TUTTI_SPLIT_TEST) == 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "ensembles that are chosen anew are compared on split 'test' or 'validation'; found '%s'", split);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

struct sought {
  const struct course *course;
  const char *name;
  size_t step;
};

static double value_then(const void *argument, const struct compare *compare, size_t run) {
  const struct sought *sought = argument;
  (void)compare;
  const json_t *value =
      json_object_get(sought->course->points[run * sought->course->steps + sought->step], sought->name);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The metric with its standings and duels at every step. */
static enum tutti_status metric_json(tutti_context *context, const struct compare *compare, const struct course *course,
                                     const json_t *metric, json_t *out) {
  json_t *standings = json_array(), *meetings = json_array(), *copy = json_deep_copy(metric), *placings, *duels;
  json_object_set_new(copy, "placings", standings);
  json_object_set_new(copy, "duels", meetings);
  json_array_append_new(out, copy);
  for (size_t s = 0; s < course->steps; s++) {
    const struct sought sought = {course, json_string_value(json_object_get(metric, "name")), s};
    TUTTI_TRY(context, tutti_compare_standings(context, compare, tutti_compare_better(metric), value_then, &sought,
                                               &placings, &duels));
    json_array_append_new(standings, placings);
    json_array_append_new(meetings, duels);
  }
  return TUTTI_OK;
}

/* The tests on rows at every step. */
static enum tutti_status rows_json(tutti_context *context, const struct compare *compare, const struct course *course,
                                   json_t *out) {
  for (size_t s = 0; s < course->steps; s++) {
    json_t *duels = json_array();
    json_array_append_new(out, duels);
    TUTTI_TRY(context, tutti_compare_rows_json(context, compare, &course->evidence[s], duels));
  }
  return TUTTI_OK;
}

static enum tutti_status course_json(tutti_context *context, const struct compare *compare, const struct course *course,
                                     json_t *root) {
  json_t *trials = json_array(), *metrics = json_array(), *rows = json_array(), *metric;
  size_t index;
  json_object_set_new(root, "trials", trials);
  json_object_set_new(root, "metrics", metrics);
  json_object_set_new(root, "rows", rows);
  for (size_t s = 0; s < course->steps; s++)
    json_array_append_new(trials, json_integer((json_int_t)course->trials[s]));
  json_array_foreach(course->metrics, index, metric) {
    TUTTI_TRY(context, metric_json(context, compare, course, metric, metrics));
  }
  return course->evidence ? rows_json(context, compare, course, rows) : TUTTI_OK;
}

static enum tutti_status take_course(tutti_context *context, const struct compare *compare, const struct span *span,
                                     bool reselect, json_t **json) {
  enum tutti_status status = TUTTI_OK;
  struct course course = {0};
  struct losses *losses = NULL;
  *json = json_object();
  if (reselect)
    TUTTI_TRY_OUT(context, check_split(context, compare->split));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *losses, &losses));
  for (size_t i = 0; i < compare->compared; i++)
    TUTTI_TRY_OUT(context, read_losses(context, &compare->runs[i], &losses[i]));
  TUTTI_TRY_OUT(context, open_course(context, compare, losses, span, reselect, &course));
  for (size_t i = 0; i < compare->compared; i++)
    add_best(&course, &losses[i], course.points + i * course.steps);
  if (reselect)
    TUTTI_TRY_OUT(context, reselect_all(context, compare, &course, losses));
  TUTTI_TRY_OUT(context, course_json(context, compare, &course, *json));
out:
  for (size_t i = 0; losses && i < compare->compared; i++)
    tutti_free(losses[i].values);
  tutti_free(losses);
  release_course(compare, &course);
  return status;
}

enum tutti_status tutti_compare_time(tutti_context *context, const struct compare *compare, uint64_t step,
                                     bool reselect, json_t **json) {
  const struct span span = {.step = step};
  return take_course(context, compare, &span, reselect, json);
}

enum tutti_status tutti_compare_last(tutti_context *context, const struct compare *compare, uint64_t last,
                                     json_t **json) {
  const struct span span = {.last = last};
  json_t *course;
  enum tutti_status status = take_course(context, compare, &span, true, &course);
  *json = status == TUTTI_OK ? tutti_compare_mean_of(course) : NULL;
  json_decref(course);
  return status;
}
