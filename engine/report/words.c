/* words.c - what was asked and what was found, in a few sentences. */
#include "report_impl.h"

#include "engine/draw/xml.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/names.h>

static const char *text_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static const char *plugin_at(const struct report_facts *facts, const char *kind) {
  return text_at(json_object_get(facts->status, "plugins"), kind);
}

static long long rows_at(const struct report_facts *facts, const char *split) {
  return json_integer_value(json_object_get(json_object_get(json_object_get(facts->status, "data"), "rows"), split));
}

static long long groups_at(const struct report_facts *facts, const char *split) {
  return json_integer_value(json_object_get(json_object_get(json_object_get(facts->status, "data"), "groups"), split));
}

static void add_strong(struct tutti_text *out, const char *text) {
  tutti_text_add(out, "<b>");
  tutti_xml_add(out, text);
  tutti_text_add(out, "</b>");
}

/* Four digits, and none of them as a power of ten where a number can be written out. */
static void add_figure(struct tutti_text *out, double number) {
  tutti_text_add(out, fabs(number) >= 1e4 && fabs(number) < 1e12 ? "<b>%.0f</b>" : "<b>%.4g</b>", number);
}

/* Of several targets, so many are named. */
enum { NAMED_TARGETS = 5 };

static void add_rest(struct tutti_text *out, size_t count) {
  if (count > NAMED_TARGETS)
    tutti_text_add(out, ", and %zu more", count - NAMED_TARGETS);
}

/* --- origin ------------------------------------------------------------------------------------------------------- */

/* What the page is of. Without a date: the same run gives the same page at any time. */
static void say_origin(const struct report_facts *facts, struct tutti_text *out) {
  const json_t *targets = json_object_get(facts->data, "targets"), *target;
  size_t index, count = json_array_size(targets);
  tutti_text_add(out, "<p class=\"quiet\">");
  if (facts->data) {
    tutti_text_add(out, "Data: ");
    tutti_xml_add(out, facts->path && *facts->path ? facts->path
                                                   : text_at(json_object_get(facts->data, "source"), "plugin"));
    json_array_foreach(targets, index, target) {
      if (index == NAMED_TARGETS)
        break;
      tutti_text_add(out, "%s", index ? ", " : tutti_plural(count, "; target ", "; targets "));
      tutti_xml_add(out, text_at(target, "name"));
    }
    add_rest(out, count);
    tutti_text_add(out, ". ");
  }
  tutti_text_add(out, "Recipe ");
  tutti_xml_add(out, text_at(facts->status, "run"));
  tutti_text_add(out, ", seed %lld", (long long)json_integer_value(json_object_get(facts->status, "seed")));
  tutti_text_add(out, facts->made_by ? "; " : "");
  tutti_xml_add(out, facts->made_by ? facts->made_by : "");
  tutti_text_add(out, ".</p>\n");
}

/* --- asked -------------------------------------------------------------------------------------------------------- */

static void say_data(const struct report_facts *facts, struct tutti_text *out) {
  const struct tutti_task *task = &facts->experiment->task;
  const struct tutti_shape in = task->input;
  const size_t columns = json_array_size(json_object_get(facts->data, "inputs"));
  if (!facts->experiment->dataset) {
    tutti_text_add(out, "There are no data: the backend gives each candidate a value. ");
    return;
  }
  if (facts->classes)
    tutti_text_add(out, "Rows were to be told apart into <b>%zu classes</b>", task->outputs);
  else {
    if (task->outputs == 1)
      tutti_text_add(out, "A number was to be predicted: ");
    else
      tutti_text_add(out, "<b>%zu numbers</b> were to be predicted: ", task->outputs);
    for (size_t i = 0; i < task->outputs && i < NAMED_TARGETS; i++) {
      tutti_text_add(out, i ? ", " : "");
      add_strong(out, tutti_view_output(facts->view, i));
    }
    add_rest(out, task->outputs);
  }
  if (in.height > 1 || in.width > 1)
    tutti_text_add(out, ", from images of %d &#215; %d pixels. ", in.height, in.width);
  else if (columns > 0 && columns != (size_t)in.channels)
    tutti_text_add(out, ", from %zu %s, which are %d %s of a network. ", columns,
                   tutti_plural(columns, "column", "columns"), in.channels,
                   tutti_plural((size_t)in.channels, "input", "inputs"));
  else
    tutti_text_add(out, ", from %d %s. ", in.channels, tutti_plural((size_t)in.channels, "input", "inputs"));
  long long folds = json_integer_value(json_object_get(json_object_get(facts->status, "data"), "folds"));
  if (folds > 0)
    tutti_text_add(out,
                   "%lld rows were for training and for choosing, by cross-validation: %lld trainings of each "
                   "candidate, each without one part of the rows, which it then predicts",
                   rows_at(facts, TUTTI_SPLIT_VALIDATION), folds);
  else
    tutti_text_add(out, "%lld %s for training", rows_at(facts, "train"),
                   tutti_plural((size_t)rows_at(facts, "train"), "row was", "rows were"));
  if (folds == 0 && rows_at(facts, TUTTI_SPLIT_VALIDATION) > 0)
    tutti_text_add(out, ", %lld for choosing (validation)", rows_at(facts, TUTTI_SPLIT_VALIDATION));
  if (rows_at(facts, TUTTI_SPLIT_CALIBRATION) > 0)
    tutti_text_add(out, ", %lld for calibrating", rows_at(facts, TUTTI_SPLIT_CALIBRATION));
  if (rows_at(facts, TUTTI_SPLIT_TEST) > 0)
    tutti_text_add(out, ", and %lld for testing, which took part in nothing. ", rows_at(facts, TUTTI_SPLIT_TEST));
  else
    tutti_text_add(out, ", and <b>none for testing</b>. ");
  if (groups_at(facts, TUTTI_SPLIT_TRAIN) > 0)
    tutti_text_add(out,
                   "Rows that belong together (data.groups) stayed together. Standard errors and grey bands on this "
                   "page take each row for a draw of its own, which rows of a group are not: chance may move more "
                   "than they say. ");
  if (groups_at(facts, TUTTI_SPLIT_TEST) > 0)
    tutti_text_add(out, "The rows for testing are of <b>%lld %s</b>. ", groups_at(facts, TUTTI_SPLIT_TEST),
                   tutti_plural((size_t)groups_at(facts, TUTTI_SPLIT_TEST), "group", "groups"));
}

static void say_asked(const struct report_facts *facts, struct tutti_text *out) {
  const json_t *trials = json_object_get(facts->status, "trials");
  bool fit = tutti_experiment_is_fit(facts->experiment);
  tutti_text_add(out, "<p>");
  say_data(facts, out);
  tutti_text_add(out, fit ? "One surrogate was fitted again and again, with other seeds: " : "The search ");
  if (!fit) {
    add_strong(out, plugin_at(facts, "builder"));
    tutti_text_add(out, " proposed candidates of the space ");
    add_strong(out, plugin_at(facts, "space"));
    tutti_text_add(out, ", which the backend ");
    add_strong(out, plugin_at(facts, "backend"));
    tutti_text_add(out, facts->experiment->dataset ? " trained; the least loss on the validation rows counts. "
                                                   : " valued; the least value counts. ");
  }
  const long long budget = (long long)json_integer_value(json_object_get(trials, "budget"));
  const long long done = (long long)json_integer_value(json_object_get(trials, "done"));
  tutti_text_add(out, "%lld", done);
  if (done <= budget)
    tutti_text_add(out, " of %lld", budget);
  tutti_text_add(out, " %s done", tutti_plural((size_t)(budget > done ? budget : done), "trial is", "trials are"));
  long long failed = json_integer_value(json_object_get(trials, "failed"));
  if (failed > 0)
    tutti_text_add(out, ", of which %lld failed", failed);
  double seconds = tutti_report_number(facts->status, "training_seconds");
  tutti_text_add(out, "; %s took %.4g s, added up over all workers.</p>\n",
                 facts->experiment->dataset ? "training" : "that", seconds);
}

/* --- found -------------------------------------------------------------------------------------------------------- */

/* Targets may have unlike units, so that each has an error of its own. */
static void say_errors(const json_t *targets, struct tutti_text *out) {
  const json_t *target;
  size_t index;
  tutti_text_add(out, "it is off by ");
  json_array_foreach(targets, index, target) {
    if (index == NAMED_TARGETS)
      break;
    tutti_text_add(out, index ? ", " : "");
    add_figure(out, tutti_report_metric(json_object_get(target, "metrics"), "rmse"));
    tutti_text_add(out, " in ");
    tutti_xml_add(out, text_at(target, "target"));
  }
  add_rest(out, json_array_size(targets));
  tutti_text_add(out, " (roots of the mean squared errors, each in its target's unit)");
}

/* Of fewer rows, a share is little more than a count. */
enum { FEW_ROWS = 50 };

static void say_wrong(const struct report_facts *facts, const json_t *metrics, struct tutti_text *out) {
  const double error = tutti_report_metric(metrics, "error");
  const size_t rows = facts->rows.rows;
  if (rows < FEW_ROWS)
    tutti_text_add(out, "it is wrong for <b>%.0f of %zu</b> %s", error * (double)rows, rows,
                   tutti_plural(rows, "row", "rows"));
  else
    tutti_text_add(out, "it is wrong for <b>%.3g %%</b> of the rows", 100 * error);
}

/* Two standard errors of a share of rows of which half are in it; of groups, whose rows are alike. */
static void warn_of_few(const struct report_facts *facts, struct tutti_text *out) {
  const size_t rows = facts->rows.rows, groups = rows > 0 ? (size_t)groups_at(facts, facts->rows.split) : 0;
  if (groups > 0 && groups < FEW_ROWS)
    tutti_text_add(
        out,
        "<p class=\"warn\">The %zu %s %s are of only %zu %s, and rows of one are alike: chance alone may move "
        "a share of them, such as an error, a coverage or what the ensemble says of its certainty, by up to "
        "<b>%.0f percentage points</b> (two standard errors).</p>\n",
        rows, facts->rows.split, tutti_plural(rows, "row", "rows"), groups, tutti_plural(groups, "group", "groups"),
        fmin(100, 100 / sqrt((double)groups)));
  else if (rows > 0 && rows < FEW_ROWS)
    tutti_text_add(out,
                   "<p class=\"warn\">There %s only %zu %s %s: chance alone moves a share of so few, such as an error, "
                   "a coverage or what the ensemble says of its certainty, by up to <b>%.0f percentage points</b> (two "
                   "standard errors).</p>\n",
                   tutti_plural(rows, "is", "are"), rows, facts->rows.split, tutti_plural(rows, "row", "rows"),
                   100 / sqrt((double)rows));
}

/* What makes each kind of task good or bad for people. */
static void say_quality(const struct report_facts *facts, const json_t *split, struct tutti_text *out) {
  const json_t *metrics = json_object_get(split, "metrics"), *targets = json_object_get(split, "targets");
  if (targets) {
    say_errors(targets, out);
  } else if (facts->classes) {
    say_wrong(facts, metrics, out);
  } else {
    tutti_text_add(out, "it is off by ");
    add_figure(out, tutti_report_metric(metrics, "rmse"));
    tutti_text_add(out, " (root of the mean squared error, in the target's unit)");
  }
  double nll = tutti_report_metric(metrics, "nll");
  if (isfinite(nll)) {
    tutti_text_add(out, ", with a negative log-likelihood of ");
    add_figure(out, nll);
    tutti_text_add(out, " nats");
  }
  tutti_text_add(out, ". ");
}

/* What the calibrator makes of it. */
static void say_calibrated(const struct report_facts *facts, const json_t *split, struct tutti_text *out) {
  const json_t *after = json_object_get(split, "calibrated");
  double nll = tutti_report_metric(after, "nll");
  if (!isfinite(nll) || nll == tutti_report_metric(json_object_get(split, "metrics"), "nll"))
    return; /* of intervals alone */
  tutti_text_add(out, "After the calibrator, ");
  if (facts->classes)
    say_wrong(facts, after, out);
  tutti_text_add(out, facts->classes ? ", with a negative log-likelihood of " : "the negative log-likelihood is ");
  add_figure(out, nll);
  tutti_text_add(out, " nats. ");
}

/* The one model that a search without an ensemble would have given. */
static void say_single(const struct report_facts *facts, const json_t *metrics, const char *split,
                       struct tutti_text *out) {
  const json_t *best = json_object_get(facts->status, "best");
  const bool several = !facts->classes && facts->experiment->task.outputs > 1; /* whose errors have unlike units */
  const char *loss = facts->classes ? "error" : several ? "nll" : "rmse";
  if (!json_is_object(best))
    return;
  uint64_t trial = (uint64_t)json_integer_value(json_object_get(best, "trial"));
  double value = trial < facts->history->asked ? tutti_report_loss(facts, trial, split, loss) : (double)NAN;
  if (!isfinite(value))
    return;
  tutti_text_add(out, "The single model that is best on the validation rows (trial %llu) has ",
                 (unsigned long long)trial);
  if (facts->classes) {
    tutti_text_add(out, "an error of <b>%.3g %%</b>", 100 * value);
  } else {
    tutti_text_add(out, several ? "a negative log-likelihood of " : "a root of the mean squared error of ");
    add_figure(out, value);
    tutti_text_add(out, several ? " nats" : "");
  }
  tutti_text_add(out, value < tutti_report_metric(metrics, loss) ? ": here <b>less than the ensemble</b>. " : ". ");
}

static void say_intervals(const struct report_facts *facts, const json_t *split, struct tutti_text *out) {
  const json_t *after = json_object_get(split, "calibrated");
  const json_t *metrics = after ? after : json_object_get(split, "metrics");
  const char *which = after ? "calibrated " : "";
  double covered = tutti_report_metric(metrics, facts->classes ? "ece" : "coverage-95");
  if (!isfinite(covered))
    return;
  if (facts->classes)
    tutti_text_add(out, "What the %sensemble said of its own certainty was off by <b>%.3g</b> on average (ECE). ",
                   which, covered);
  else if (tutti_report_endless(facts, 0.95))
    tutti_text_add(out, "The %sensemble's intervals of 95 %% have <b>no end</b>. ", which);
  else
    tutti_text_add(out, "The %sensemble's intervals of 95 %% held <b>%.4g %%</b> of the %s. ", which, 100 * covered,
                   facts->experiment->task.outputs > 1 ? "numbers" : "rows");
}

/* Under the largest shift, the ensemble beside the one that was chosen anew for it, where there is one. */
static void say_shift(const struct report_facts *facts, struct tutti_text *out) {
  const json_t *entry, *largest = NULL, *shift = NULL;
  size_t index;
  json_array_foreach(facts->evaluation, index, entry) {
    const char *split = text_at(entry, "split");
    if (strncmp(split, TUTTI_SPLIT_TEST, sizeof TUTTI_SPLIT_TEST - 1) == 0 && tutti_report_anew(facts, split, NULL) &&
        (!largest || strcmp(split, text_at(largest, "split")) > 0)) /* one digit tells how large */
      largest = entry;
  }
  if (!largest)
    return;
  const json_t *once = json_object_get(largest, "metrics"),
               *anew = tutti_report_anew(facts, text_at(largest, "split"), &shift);
  const double before = tutti_report_metric(once, "nll"), after = tutti_report_metric(anew, "nll");
  if (!isfinite(before) || !isfinite(after))
    return;
  tutti_text_add(out, "On shifted rows (");
  tutti_xml_add(out, text_at(largest, "split"));
  tutti_text_add(out, ") the negative log-likelihood of the ensemble is ");
  add_figure(out, before);
  tutti_text_add(out, " nats, and ");
  add_figure(out, after);
  tutti_text_add(out, " of another one, which was <b>chosen anew</b> for that shift, on the rows ");
  tutti_xml_add(out, text_at(shift, "split"));
  tutti_text_add(out, ". ");
}

static void say_calibrator(const struct report_facts *facts, struct tutti_text *out) {
  const json_t *calibration = json_object_get(facts->ensemble, "calibration");
  const char *refused = text_at(calibration, "refused");
  const long long rows = (long long)json_integer_value(json_object_get(calibration, "rows"));
  if (!json_is_object(calibration))
    return;
  tutti_text_add(out, "The calibrator ");
  add_strong(out, text_at(calibration, "calibrator"));
  tutti_text_add(out, " was %s on %lld %s of the split ", *refused ? "tried" : "fitted", rows,
                 tutti_plural((size_t)rows, "row", "rows"));
  tutti_xml_add(out, text_at(calibration, "split"));
  const char *const reasons[] = {refused, text_at(calibration, "taken"), tutti_report_endless(facts, 1)};
  const char *between = *refused ? " and not taken: " : ": ";
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i] && *reasons[i]) {
      tutti_text_add(out, "%s", between);
      tutti_xml_add(out, reasons[i]);
      between = "; ";
    }
  tutti_text_add(out, ". ");
}

static void say_found(const struct report_facts *facts, struct tutti_text *out) {
  const char *name = facts->rows.split;
  const json_t *split = name ? tutti_report_split(facts, name) : NULL;
  tutti_text_add(out, "<p>The selector ");
  add_strong(out, text_at(facts->ensemble, "selector"));
  tutti_text_add(out, " chose <b>%zu</b> of them. ", facts->members);
  if (split) {
    tutti_text_add(out, "On the %zu %s %s, ", facts->rows.rows, name, tutti_plural(facts->rows.rows, "row", "rows"));
    say_quality(facts, split, out);
    say_calibrated(facts, split, out);
    say_single(facts, json_object_get(split, "metrics"), name, out);
    say_intervals(facts, split, out);
    say_calibrator(facts, out);
    say_shift(facts, out);
  }
  tutti_text_add(out, "</p>\n");
  warn_of_few(facts, out);
  if (name && strcmp(name, TUTTI_SPLIT_TEST) != 0)
    tutti_text_add(out, "<p class=\"warn\">The run has no test rows. What is below is of the validation rows, which "
                        "also chose the ensemble, so that it may look better than it is.</p>\n");
}

/* Has every trial that was asked for failed? */
static bool all_failed(const struct report_facts *facts) {
  const struct tutti_history *history = facts->history;
  uint64_t failed = 0;
  for (uint64_t i = 0; i < history->asked; i++)
    failed += history->records[i].done && history->records[i].state == TUTTI_STATE_FAILED;
  return history->asked > 0 && failed == history->asked;
}

static void say_state(const struct report_facts *facts, struct tutti_text *out) {
  long long trials;
  if (json_is_true(json_object_get(facts->status, "running")))
    tutti_text_add(out, "<p class=\"warn\">The run is at work: this is how far it has come.</p>\n");
  else if (!facts->summary && all_failed(facts))
    tutti_text_add(out, "<p class=\"warn\">Every trial has failed; the table of trials has the reasons. "
                        "<code>--resume</code> tries no trial again.</p>\n");
  else if (!facts->summary)
    tutti_text_add(out, "<p class=\"warn\">The run is not finished: this is how far it has come. It goes on with "
                        "<code>--resume</code>.</p>\n");
  else if (tutti_report_is_behind(facts, &trials))
    tutti_text_add(out, "<p class=\"warn\">The ensemble was chosen when %lld trials were done; more are by now.</p>\n",
                   trials);
}

static void say_best(const struct report_facts *facts, struct tutti_text *out) {
  const json_t *best = json_object_get(facts->status, "best");
  if (json_is_object(best))
    tutti_text_add(out, "<p>The least loss so far is <b>%.5g</b>, of trial %lld.</p>\n",
                   tutti_report_number(best, "loss"), (long long)json_integer_value(json_object_get(best, "trial")));
  if (facts->no_ensemble && facts->experiment->dataset && !tutti_experiment_is_fit(facts->experiment)) {
    tutti_text_add(out, "<p>There is no ensemble: ");
    tutti_xml_add(out, facts->no_ensemble);
    tutti_text_add(out, "</p>\n");
  }
}

void tutti_report_words(const struct report_facts *facts, struct tutti_text *out) {
  say_origin(facts, out);
  say_state(facts, out);
  say_asked(facts, out);
  if (facts->evaluation)
    say_found(facts, out);
  else
    say_best(facts, out);
}
