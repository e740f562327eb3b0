/* compare.c - compares runs: reads them, groups them, computes, and writes JSON. */
#include "compare_impl.h"

#include "core/base/json_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>

#include <tutti/names.h>
#include <tutti/sized.h>

/* --- what is compared -------------------------------------------------------------------------------------------- */

static json_t *settings_of(const struct compare_run *run, const char *const *keys, size_t count) {
  json_t *settings = json_object();
  for (size_t k = 0; k < count; k++) {
    const char *value = tutti_compare_value(run, keys[k]);
    if (value)
      json_object_set_new(settings, keys[k], json_string(value));
  }
  return settings;
}

static size_t runs_of_variant(const struct compare *compare, size_t variant) {
  size_t runs = 0;
  for (size_t i = 0; i < compare->compared; i++)
    runs += compare->runs[i].variant == variant;
  return runs;
}

static json_t *variants_json(const struct compare *compare) {
  json_t *variants = json_array();
  for (size_t v = 0; v < compare->variants; v++)
    json_array_append_new(
        variants, json_pack("{s:o, s:I}", "settings",
                            settings_of(&compare->runs[compare->variant_runs[v]], compare->keys, compare->key_count),
                            "runs", (json_int_t)runs_of_variant(compare, v)));
  return variants;
}

static json_t *data_sets_json(const struct compare *compare) {
  json_t *data_sets = json_array();
  for (size_t d = 0; d < compare->data_sets; d++)
    json_array_append_new(data_sets, json_pack("{s:s, s:o}", "name", compare->data_set_names[d], "settings",
                                               settings_of(&compare->runs[compare->data_set_runs[d]],
                                                           compare->data_keys, compare->data_key_count)));
  return data_sets;
}

static json_t *blocks_json(const struct compare *compare) {
  json_t *blocks = json_array();
  for (size_t b = 0; b < compare->block_count; b++)
    json_array_append_new(blocks, json_pack("{s:I, s:I}", "data_set", (json_int_t)compare->blocks[b].data_set, "seed",
                                            (json_int_t)compare->blocks[b].seed));
  return blocks;
}

static json_t *runs_json(const struct compare *compare) {
  json_t *runs = json_array();
  for (size_t i = 0; i < compare->compared; i++) {
    const struct compare_run *run = &compare->runs[i];
    json_t *metrics = json_object(), *metric;
    size_t index;
    json_array_foreach(run->metrics, index, metric)
        json_object_set(metrics, json_string_value(json_object_get(metric, "name")), json_object_get(metric, "value"));
    json_array_append_new(runs, json_pack("{s:s, s:I, s:s, s:I, s:o}", "run", run->directory, "variant",
                                          (json_int_t)run->variant, "data_set", compare->data_set_names[run->data_set],
                                          "seed", (json_int_t)run->seed, "metrics", metrics));
  }
  return runs;
}

static json_t *left_out_json(const struct compare *compare) {
  json_t *left_out = json_array();
  for (size_t i = compare->compared; i < compare->count; i++)
    json_array_append_new(
        left_out, json_pack("{s:s, s:s}", "run", compare->runs[i].directory, "reason", compare->runs[i].reason));
  return left_out;
}

/* Runs on different rows are not pairs: warn about them, and about predictions that cannot be read. */
static enum tutti_status warnings_json(tutti_context *context, const struct compare *compare, json_t **out) {
  *out = json_array();
  for (size_t i = 0; i < compare->compared; i++) {
    const struct compare_run *run = &compare->runs[i], *first = &compare->runs[compare->blocks[run->block].first];
    char *text;
    if (strcmp(run->rows, first->rows) != 0)
      TUTTI_TRY(context, tutti_compare_other_rows(context, compare, first, run, &text));
    else if (run->no_rows)
      TUTTI_TRY(context, tutti_format(context, &text, "%s is left out of the Poisson-binomial test: %s", run->directory,
                                      run->no_rows));
    else
      continue;
    json_array_append_new(*out, json_string(text));
    tutti_free(text);
  }
  return TUTTI_OK;
}

/* --- metrics ----------------------------------------------------------------------------------------------------- */

/* The metric whose value is wanted. */
static double value_now(const void *argument, const struct compare *compare, size_t run) {
  const json_t *value = json_object_get(tutti_compare_metric(compare->runs[run].metrics, argument), "value");
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* values[blocks][variants]: the mean of the runs of one block and variant. That is one run, unless the chosen keys put
   more together. */
static enum tutti_status means_of_runs(tutti_context *context, const struct compare *compare,
                                       double (*value_of)(const void *argument, const struct compare *compare,
                                                          size_t run),
                                       const void *argument, double **values) {
  size_t *counts = NULL;
  *values = NULL;
  TUTTI_TRY(context, tutti_alloc(context, compare->block_count, compare->variants * sizeof **values, values));
  TUTTI_TRY(context, tutti_alloc(context, compare->block_count, compare->variants * sizeof *counts, &counts));
  for (size_t i = 0; i < compare->compared; i++) {
    size_t place = compare->runs[i].block * compare->variants + compare->runs[i].variant;
    (*values)[place] += value_of(argument, compare, i);
    counts[place]++;
  }
  for (size_t i = 0; i < compare->block_count * compare->variants; i++)
    (*values)[i] /= (double)counts[i]; /* NaN where there is none */
  tutti_free(counts);
  return TUTTI_OK;
}

static json_t *placing_json(const struct tutti_placing *placing) {
  return json_pack("{s:I, s:o, s:o, s:I, s:o, s:o}", "count", (json_int_t)placing->count, "mean",
                   tutti_json_number(placing->mean), "error", tutti_json_number(placing->error), "ranked",
                   (json_int_t)placing->ranked, "rank", tutti_json_number(placing->rank), "expected_rank",
                   tutti_json_number(placing->expected_rank));
}

static json_t *placings_json(const struct tutti_figures *figures) {
  json_t *array = json_array();
  for (size_t v = 0; v < figures->variants; v++) {
    struct tutti_placing placing = {.size = sizeof placing};
    tutti_placing_of(figures, v, &placing);
    json_array_append_new(array, placing_json(&placing));
  }
  return array;
}

/* Standings on each data set; the blocks of a data set follow one another. */
static json_t *data_set_placings_json(const struct compare *compare, const struct tutti_figures *figures) {
  json_t *array = json_array();
  for (size_t begin = 0, end; begin < figures->blocks; begin = end) {
    for (end = begin; end < figures->blocks && compare->blocks[end].data_set == compare->blocks[begin].data_set;)
      end++;
    struct tutti_figures part = *figures;
    part.values += begin * figures->variants;
    part.blocks = end - begin;
    json_array_append_new(array, placings_json(&part));
  }
  return array;
}

static json_t *duels_json(const struct tutti_figures *figures) {
  json_t *duels = json_array();
  for (size_t a = 0; a < figures->variants && figures->better != TUTTI_BETTER_NEITHER; a++)
    for (size_t b = a + 1; b < figures->variants; b++) {
      struct tutti_duel duel = {.size = sizeof duel};
      tutti_duel_of(figures, a, b, &duel);
      json_array_append_new(duels,
                            json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "one", (json_int_t)a, "other",
                                      (json_int_t)b, "wins", (json_int_t)duel.wins, "losses", (json_int_t)duel.losses,
                                      "ties", (json_int_t)duel.ties, "frequency", tutti_json_number(duel.frequency),
                                      "p", tutti_json_number(duel.p), "p_one", tutti_json_number(duel.p_one)));
    }
  return duels;
}

enum tutti_status
tutti_compare_standings(tutti_context *context, const struct compare *compare, enum tutti_better better,
                        double (*value_of)(const void *argument, const struct compare *compare, size_t run),
                        const void *argument, json_t **placings, json_t **duels) {
  enum tutti_status status = TUTTI_OK;
  double *values = NULL;
  TUTTI_TRY_OUT(context, means_of_runs(context, compare, value_of, argument, &values));
  const struct tutti_figures figures = {sizeof figures, compare->block_count, compare->variants, values, better};
  *placings = placings_json(&figures);
  *duels = duels_json(&figures);
out:
  tutti_free(values);
  return status;
}

/* Is it one of the few that people see first? Of a calibrator, only where it changes something. */
static bool is_brief(const struct compare *compare, const json_t *metric) {
  const char *name = json_string_value(json_object_get(metric, "name"));
  const char *of = json_string_value(json_object_get(metric, COMPARE_CALIBRATED_OF));
  return tutti_metric_shown_in(of ? of : name) == TUTTI_METRIC_IN_BRIEF &&
         (!of || tutti_compare_is_changed(compare, name, of));
}

static enum tutti_status metric_json(tutti_context *context, const struct compare *compare, const json_t *metric,
                                     json_t **out) {
  enum tutti_status status = TUTTI_OK;
  const char *name = json_string_value(json_object_get(metric, "name"));
  double *values = NULL;
  TUTTI_TRY_OUT(context, means_of_runs(context, compare, value_now, name, &values));
  const struct tutti_figures figures = {sizeof figures, compare->block_count, compare->variants, values,
                                        tutti_compare_better(metric)};
  json_t *all = placings_json(&figures);
  *out = json_pack("{s:s, s:O, s:O, s:b, s:o, s:o, s:o}", "name", name, "unit", json_object_get(metric, "unit"),
                   "better", json_object_get(metric, "better"), "brief", is_brief(compare, metric), "placings", all,
                   "data_sets", data_set_placings_json(compare, &figures), "duels", duels_json(&figures));
out:
  tutti_free(values);
  return status;
}

/* Every metric that some run has; the best trial's loss, the least informative, comes last. */
static enum tutti_status metrics_json(tutti_context *context, const struct compare *compare, json_t *metrics) {
  for (int last = 0; last < 2; last++)
    for (size_t i = 0; i < compare->compared; i++) {
      size_t index, count = json_array_size(compare->runs[i].metrics);
      json_t *metric, *made;
      json_array_foreach(compare->runs[i].metrics, index, metric) {
        if ((index + 1 == count) != last ||
            tutti_compare_metric(metrics, json_string_value(json_object_get(metric, "name"))))
          continue;
        TUTTI_TRY(context, metric_json(context, compare, metric, &made));
        json_array_append_new(metrics, made);
      }
    }
  return TUTTI_OK;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static enum tutti_status nothing_to_compare(tutti_context *context, const struct compare *compare) {
  for (size_t i = 0; i < compare->count; i++)
    for (size_t s = 0; s < json_array_size(compare->runs[i].splits);) {
      const char *names[16];
      size_t count = 0;
      for (; s < json_array_size(compare->runs[i].splits) && count < 16; s++)
        names[count++] = json_string_value(json_array_get(compare->runs[i].splits, s));
      const char *closest = tutti_closest_name(compare->split, count, names);
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no run has rows of split '%s'; did you mean '%s'?", compare->split,
                        closest ? closest : names[count - 1]);
    }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is nothing to compare: none of %zu %s is finished (%s: %s)",
                    compare->count, tutti_plural(compare->count, "run", "runs"), compare->runs[0].directory,
                    compare->runs[0].reason);
}

static enum tutti_status print(tutti_context *context, const struct compare *compare,
                               const struct tutti_compare_options *options, char **json) {
  enum tutti_status status = TUTTI_OK;
  json_t *metrics = json_array(), *warnings = NULL, *keys = json_array(), *rows = json_array(), *time = NULL,
         *last = NULL;
  char *unpaired = NULL;
  TUTTI_TRY_OUT(context, metrics_json(context, compare, metrics));
  TUTTI_TRY_OUT(context, tutti_compare_rows_json(context, compare, &compare->evidence, rows));
  TUTTI_TRY_OUT(context, warnings_json(context, compare, &warnings));
  TUTTI_TRY_OUT(context, tutti_compare_unpaired(context, compare, &unpaired));
  if (options->step > 0)
    TUTTI_TRY_OUT(context, tutti_compare_time(context, compare, options->step, options->reselect, &time));
  if (options->last > 0)
    TUTTI_TRY_OUT(context, tutti_compare_last(context, compare, options->last, &last));
  for (size_t k = 0; k < compare->key_count; k++)
    json_array_append_new(keys, json_string(compare->keys[k]));
  json_t *root = json_pack("{s:s, s:O, s:o, s:o, s:o, s:O, s:O, s:o, s:o, s:O}", "split", compare->split, "keys", keys,
                           "variants", variants_json(compare), "data_sets", data_sets_json(compare), "blocks",
                           blocks_json(compare), "metrics", metrics, "rows", rows, "runs", runs_json(compare),
                           "left_out", left_out_json(compare), "warnings", warnings);
  if (unpaired)
    json_object_set_new(root, "unpaired", json_string(unpaired));
  if (time)
    json_object_set(root, "over_time", time);
  if (last)
    json_object_set(root, "last", last);
  status = tutti_json_document(context, root, json);
out:
  json_decref(keys);
  json_decref(metrics);
  json_decref(rows);
  json_decref(time);
  json_decref(last);
  json_decref(warnings);
  tutti_free(unpaired);
  return status;
}

enum tutti_status tutti_compare(tutti_context *context, size_t count, const char *const *directories,
                                const struct tutti_compare_options *given, char **json) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_compare_options options;
  TUTTI_TAKE(&options, given);
  struct compare compare = {.split = options.split ? options.split : TUTTI_SPLIT_TEST};
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_compare_read(context, &compare, count, directories));
  if (compare.compared == 0) {
    status = nothing_to_compare(context, &compare);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_compare_group(context, &compare, options.keys, options.by));
  TUTTI_TRY_OUT(context, tutti_compare_rows(context, &compare));
  TUTTI_TRY_OUT(context, print(context, &compare, &options, json));
out:
  tutti_compare_release(&compare);
  return status;
}
