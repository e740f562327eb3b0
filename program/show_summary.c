/* show_summary.c - the result of a run for people: data, trials, ensemble. */
#include "program_impl.h"
#include "table.h"

#include <string.h>

void show_data(const json_t *data, FILE *out) {
  const char *name;
  json_t *rows;
  bool first = true;
  if (!json_is_object(data))
    return;
  (void)fprintf(out, "data        ");
  long long folds = json_integer_value(json_object_get(data, "folds"));
  json_object_foreach(json_object_get(data, "rows"), name, rows) {
    if (folds > 0 && strcmp(name, "train") == 0) /* the same rows as for validation */
      continue;
    if (strchr(name, '-')) /* a shifted split has the rows of the clean one */
      (void)fprintf(out, ", %s", name);
    else
      (void)fprintf(out, "%s%lld %s", first ? "" : ", ", (long long)json_integer_value(rows), name);
    const long long groups = json_integer_value(json_object_get(json_object_get(data, "groups"), name));
    const bool pool = folds > 0 && strcmp(name, "validation") == 0;
    if (pool)
      (void)fprintf(out, " and training");
    if (groups > 0)
      (void)fprintf(out, "%s of %lld %s", pool ? "," : "", groups, tutti_plural((size_t)groups, "group", "groups"));
    if (pool)
      (void)fprintf(out, ", by %lld folds", folds);
    first = false;
  }
  (void)fprintf(out, "\n");
}

/* Numbers beside the loss: "            c10_test_e200 93.760, ..." */
static void show_measures(const json_t *measures, FILE *out) {
  const char *name, *between = "            ";
  json_t *value;
  char buffer[32];
  json_object_foreach((json_t *)measures, name, value) {
    (void)fprintf(out, "%s%s %s", between, name, show_number(json_number_value(value), buffer));
    between = ", ";
  }
  if (json_object_size(measures) > 0)
    (void)fprintf(out, "\n");
}

void show_best(const json_t *best, const char *loss, FILE *out) {
  char buffer[32];
  if (!json_is_object(best))
    return;
  (void)fprintf(out, "best        trial %lld, %s %s\n", (long long)json_integer_value(json_object_get(best, "trial")),
                loss, show_number(number_of(best, "loss"), buffer));
  char *candidate = json_dumps(json_object_get(best, "candidate"), JSON_REAL_PRECISION(6));
  if (candidate)
    (void)fprintf(out, "            %s\n", candidate);
  free(candidate);
  show_measures(json_object_get(best, "measures"), out);
}

/* "calibrator  temperature, on 120 calibration rows: nll 0.43 without it, 0.40 with it (5 folds)" */
static void show_calibration(const json_t *calibration, FILE *out) {
  const char *refused = json_string_value(json_object_get(calibration, "refused")), *key;
  const char *const notes[] = {
      json_string_value(json_object_get(calibration, "taken")),
      json_string_value(json_object_get(calibration, "note")),
      json_string_value(json_object_get(json_object_get(calibration, "endless"), "note")),
  };
  char before[32], after[32];
  json_t *value;
  if (!json_is_object(calibration))
    return;
  const long long rows = (long long)json_integer_value(json_object_get(calibration, "rows"));
  (void)fprintf(out, "\ncalibrator  %s, on %lld %s %s", text_of(calibration, "calibrator"), rows,
                text_of(calibration, "split"), tutti_plural((size_t)rows, "row", "rows"));
  if (refused)
    (void)fprintf(out, ": the ensemble stays as it is\n            %s", refused);
  else if (json_object_get(calibration, "measure"))
    (void)fprintf(out, ": %s %s without it, %s with it (%lld folds)", text_of(calibration, "measure"),
                  show_number(number_of(calibration, "before"), before),
                  show_number(number_of(calibration, "after"), after),
                  (long long)json_integer_value(json_object_get(calibration, "folds")));
  json_object_foreach(json_object_get(calibration, "fit"), key, value) {
    if (json_is_number(value))
      (void)fprintf(out, "\n            %s %s", key, show_number(json_number_value(value), before));
  }
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    if (notes[i])
      (void)fprintf(out, "\n            %s", notes[i]);
  (void)fprintf(out, "\n");
}

/* The note of the last step that took the trial. */
static const char *reason_of(const json_t *trace, json_int_t trial) {
  for (size_t i = json_array_size(trace); i-- > 0;)
    if (json_integer_value(json_object_get(json_array_get(trace, i), "trial")) == trial)
      return text_of(json_array_get(trace, i), "note");
  return "";
}

void show_ensemble(const json_t *ensemble, FILE *out) {
  struct table table = table_begin(2);
  size_t index;
  json_t *member;
  if (!json_is_object(ensemble))
    return;
  (void)fprintf(out, "\nEnsemble of %zu, chosen by %s (%s)\n\n", json_array_size(json_object_get(ensemble, "members")),
                text_of(ensemble, "selector"), text_of(ensemble, "loss"));
  table_column(&table, TABLE_NUMBER, "trial");
  table_column(&table, TABLE_NUMBER, "weight");
  table_column(&table, TABLE_PROSE, "why");
  json_array_foreach(json_object_get(ensemble, "members"), index, member) {
    char buffer[32], from[96] = "";
    const long long trial = count_of(member, "trial");
    if (json_object_get(member, "pool"))
      (void)snprintf(from, sizeof from, "trial %lld of run %lld: ", count_of(member, "pool_trial"),
                     count_of(member, "pool"));
    table_cell(&table, "%lld", trial);
    table_cell(&table, "%s", show_number(number_of(member, "weight"), buffer));
    table_cell(&table, "%s%s", from, reason_of(json_object_get(ensemble, "trace"), trial));
  }
  table_end(&table, out);
  show_calibration(json_object_get(ensemble, "calibration"), out);
}

void show_pools(const json_t *pools, FILE *out) {
  static const char *const texts[] = {"builder", "space", "backend"};
  struct table table = table_begin(1);
  size_t index;
  const json_t *pool;
  if (!pools)
    return;
  table_column(&table, TABLE_NUMBER, "run");
  table_column(&table, TABLE_NUMBER, "trials");
  table_column(&table, TABLE_NUMBER, "members");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    table_column(&table, TABLE_TEXT, texts[i]);
  table_column(&table, TABLE_PROSE, "directory");
  json_array_foreach(pools, index, pool) {
    table_cell(&table, "%zu", index + 1);
    table_cell(&table, "%lld", count_of(pool, "trials"));
    table_cell(&table, "%lld", count_of(pool, "members"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
      table_cell(&table, "%s", text_of(pool, texts[i]));
    table_cell(&table, "%s", text_of(pool, "run"));
  }
  (void)fputc('\n', out);
  table_end(&table, out);
  json_array_foreach(pools, index, pool) {
    const size_t repeated = (size_t)count_of(pool, "repeated");
    if (repeated > 0)
      (void)fprintf(out, "%s: %zu %s out, since runs before it have the same\n", text_of(pool, "run"), repeated,
                    tutti_plural(repeated, "model is left", "models are left"));
  }
}

/* The cells of a member's row, or of the row of means: its loss, then the measures that `named` has. */
static void put_values(const json_t *row, const json_t *named, struct table *table) {
  char buffer[32];
  const char *name;
  json_t *value;
  table_cell(table, "%s", show_number(number_of(row, "loss"), buffer));
  json_object_foreach((json_t *)named, name, value)
      table_cell(table, "%s", show_number(number_of(json_object_get(row, "measures"), name), buffer));
}

/* Members without predictions: what is known of each, their means, and what that leaves open. */
void show_values(const json_t *values, const char *loss, FILE *out) {
  const json_t *members = json_object_get(values, "members"), *mean = json_object_get(values, "mean"), *member;
  const json_t *named = json_object_get(json_array_get(members, 0), "measures");
  const char *name;
  json_t *value;
  size_t index;
  if (!json_is_object(values))
    return;
  struct table table = table_begin(1);
  table_column(&table, TABLE_NUMBER, "trial");
  table_column(&table, TABLE_NUMBER, loss);
  json_object_foreach((json_t *)named, name, value) table_column(&table, TABLE_NUMBER, name);
  table_column(&table, TABLE_PROSE, "architecture");
  json_array_foreach((json_t *)members, index, member) {
    table_cell(&table, "%lld", count_of(member, "trial"));
    put_values(member, named, &table);
    table_cell(&table, "%s", text_of(member, "architecture"));
  }
  table_cell(&table, "mean");
  put_values(mean, named, &table);
  table_cell(&table, "%s", "");
  (void)fputc('\n', out);
  table_end(&table, out);
  (void)fprintf(out, "\n%s\n", text_of(values, "note"));
}

void show_trials(const json_t *trials, FILE *out) {
  const json_t *failure = json_object_get(trials, "failure");
  long long done = (long long)json_integer_value(json_object_get(trials, "done")),
            budget = (long long)json_integer_value(json_object_get(trials, "budget")),
            failed = (long long)json_integer_value(json_object_get(trials, "failed"));
  char of[32] = "", cut[48] = "";
  if (budget > 0 && done <= budget)
    (void)snprintf(of, sizeof of, " of %lld", budget);
  if (json_object_get(trials, "pruned"))
    (void)snprintf(cut, sizeof cut, ", %lld pruned", (long long)json_integer_value(json_object_get(trials, "pruned")));
  double time = number_of(trials, "time");
  if (done == 0 && budget > 0)
    (void)fprintf(out, "trials      %lld to train\n", budget);
  else if (done == 0 && failed == 0 && time > 0)
    (void)fprintf(out, "trials      as many as %g s allow\n", time);
  else
    (void)fprintf(out, "trials      %lld%s done, %lld failed%s\n", done, of, failed, cut);
  if (json_is_object(failure))
    (void)fprintf(out, "            trial %lld: %s\n", (long long)json_integer_value(json_object_get(failure, "trial")),
                  text_of(failure, "text"));
}

/* The ensembles chosen for each shift: a line with the members, then the metrics of all side by side. */
static void show_shifts(const json_t *shifts, FILE *out) {
  size_t index, i;
  json_t *shift, *member, *all = json_array();
  if (json_array_size(shifts) > 0)
    (void)fprintf(out, "\nChosen anew for each shift\n\n");
  json_array_foreach(shifts, index, shift) {
    (void)fprintf(out, "  on %-14s trials", text_of(shift, "split"));
    json_array_foreach(json_object_get(json_object_get(shift, "ensemble"), "members"), i, member) {
      (void)fprintf(out, " %lld", (long long)json_integer_value(json_object_get(member, "trial")));
    }
    (void)fprintf(out, "\n");
    json_array_extend(all, json_object_get(shift, "evaluation"));
  }
  show_evaluation(all, out);
  json_decref(all);
}

/* The metrics of a split; NULL: it is not there. */
static const json_t *metrics_on(const json_t *evaluation, const char *name) {
  const json_t *split;
  size_t index;
  json_array_foreach(evaluation, index,
                     split) if (strcmp(text_of(split, "split"), name) == 0) return json_object_get(split, "metrics");
  return NULL;
}

/* A line for each shift: "shifts      chosen anew on validation-3: trials 0 3 4; nll 0.73 on test-3, where the ensemble
   has 1.55". */
static void show_shifts_briefly(const json_t *status, FILE *out) {
  const json_t *shift, *member;
  size_t index, i;
  json_array_foreach(json_object_get(status, "shifts"), index, shift) {
    /* The last split is of test rows, or where there are none of validation rows. */
    const json_t *evaluation = json_object_get(shift, "evaluation"),
                 *last = json_array_get(evaluation, json_array_size(evaluation) - 1);
    const json_t *metrics = json_object_get(last, "metrics"), *named = metric_of(metrics, text_of(status, "loss"));
    named = named ? named : json_array_get(metrics, 0);
    const json_t *once =
        metric_of(metrics_on(json_object_get(status, "shifted"), text_of(last, "split")), text_of(named, "name"));
    char anew[32], before[32];
    (void)fprintf(out, "%s chosen anew on %s: trials", index ? "           " : "\nshifts     ",
                  text_of(shift, "split"));
    json_array_foreach(json_object_get(json_object_get(shift, "ensemble"), "members"), i, member)(void)
        fprintf(out, " %lld", count_of(member, "trial"));
    if (named && once)
      (void)fprintf(out, "; %s %s on %s, where the ensemble has %s", text_of(named, "name"),
                    show_number(number_of(named, "value"), anew), text_of(last, "split"),
                    show_number(number_of(once, "value"), before));
    (void)fprintf(out, "\n");
  }
}

void show_summary(const json_t *summary, FILE *out) {
  const json_t *plugins = json_object_get(summary, "plugins"), *trials = json_object_get(summary, "trials");
  (void)fprintf(out, "run         %s (%s), seed %lld\n", text_of(summary, "run"), text_of(summary, "task"),
                (long long)json_integer_value(json_object_get(summary, "seed")));
  if (json_object_get(summary, "fit")) {
    show_fit(summary, out);
    return;
  }
  (void)fprintf(out, "plugins     builder %s, space %s, backend %s, selector %s", text_of(plugins, "builder"),
                text_of(plugins, "space"), text_of(plugins, "backend"), text_of(plugins, "selector"));
  const char *calibrator = json_string_value(json_object_get(plugins, "calibrator"));
  if (calibrator && strcmp(calibrator, "none") != 0)
    (void)fprintf(out, ", calibrator %s", calibrator);
  (void)fprintf(out, "\n");
  show_data(json_object_get(summary, "data"), out);
  show_trials(trials, out);
  show_best(json_object_get(summary, "best"), text_of(summary, "loss"), out);
  show_pools(json_object_get(summary, "pools"), out);
  if (json_object_get(summary, "no_ensemble"))
    (void)fprintf(out, "ensemble    none: %s;\n            selectors such as top-m go by losses\n",
                  text_of(summary, "no_ensemble"));
  show_ensemble(json_object_get(summary, "ensemble"), out);
  show_values(json_object_get(summary, "values"), text_of(summary, "loss"), out);
  if (!json_object_get(summary, "evaluation")) /* where a run stands */
    show_shifts_briefly(summary, out);
  show_evaluation(json_object_get(summary, "evaluation"), out);
  if (json_object_get(summary, "evaluation"))
    show_shifts(json_object_get(summary, "shifts"), out);
}
