/* show_status.c - where a run stands, for people: its state, workers, failures, last trials. */
#include "program_impl.h"
#include "table.h"

#include <string.h>

static void put_trial(const json_t *trial, struct table *table) {
  char loss[32];
  table_cell(table, "%lld", count_of(trial, "trial"));
  table_cell(table, "%s", text_of(trial, "state"));
  table_cell(table, "%s", show_number(number_of(trial, "loss"), loss));
  table_cell(table, "%.3f", number_of(trial, "seconds"));
  table_cell(table, "%s%s%s", text_of(trial, "origin"), *text_of(trial, "failure") ? ": " : "",
             text_of(trial, "failure"));
}

static void show_scalar(const json_t *value, FILE *out) {
  if (json_is_string(value))
    (void)fprintf(out, "%s", json_string_value(value));
  else if (json_is_integer(value))
    (void)fprintf(out, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    (void)fprintf(out, "%.4g", json_real_value(value));
  else
    (void)fprintf(out, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "-");
}

/* A builder's description of itself, on one line; nested objects, such as its surrogate's fitted hyperparameters, on
   lines of their own. */
static void show_facts(const char *label, const json_t *facts, FILE *out) {
  enum { LONGEST = 8 }; /* of an array */
  const char *key, *between = "";
  json_t *value;
  (void)fprintf(out, "%-11s ", label);
  json_object_foreach((json_t *)facts, key, value) {
    if (json_is_object(value))
      continue;
    (void)fprintf(out, "%s%s ", between, key);
    between = ", ";
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count && i < LONGEST; i++) {
      (void)fprintf(out, i ? " " : "");
      show_scalar(json_array_get(value, i), out);
    }
    if (count > LONGEST)
      (void)fprintf(out, " ...");
    if (!json_is_array(value))
      show_scalar(value, out);
  }
  (void)fprintf(out, "\n");
  json_object_foreach((json_t *)facts, key, value) {
    if (json_is_object(value))
      show_facts(key, value, out);
  }
}

/* What the calibrator changes on the test rows. */
static void show_changes(const json_t *splits, FILE *out) {
  json_t *changed = json_array(), *split, *metric;
  size_t index, i;
  json_array_foreach(splits, index, split) {
    json_t *before = json_array(), *after = json_array();
    json_array_foreach(json_object_get(split, "calibrated"), i, metric) {
      const json_t *old = metric_of(json_object_get(split, "metrics"), text_of(metric, "name"));
      if (old && !json_equal(json_object_get(old, "value"), json_object_get(metric, "value"))) {
        json_array_append(before, (json_t *)old);
        json_array_append(after, metric);
      }
    }
    json_array_append_new(changed, json_pack("{s:O, s:o, s:o}", "split", json_object_get(split, "split"), "metrics",
                                             before, "calibrated", after));
  }
  show_evaluation(changed, out);
  json_decref(changed);
}

/* "  worker 0   trial     12   epoch   40 of 100   loss 0.31234   2.1 s" */
static void show_training(const json_t *one, const char *units, FILE *out) {
  long long epoch = (long long)json_integer_value(json_object_get(one, "epoch")),
            epochs = (long long)json_integer_value(json_object_get(one, "epochs"));
  const json_t *loss = json_object_get(one, "loss");
  char buffer[32];
  (void)fprintf(out, "  worker %-4lld trial %6lld", (long long)json_integer_value(json_object_get(one, "worker")),
                (long long)json_integer_value(json_object_get(one, "trial")));
  if (epochs > 0)
    (void)fprintf(out, "   epoch %4lld of %lld", epoch, epochs);
  if (json_is_number(loss))
    (void)fprintf(out, "   validation loss %s%s", show_number(json_number_value(loss), buffer), units);
  (void)fprintf(out, "   %.1f s\n", number_of(one, "seconds"));
}

/* What the workers of a run at work are at. */
static void show_live(const json_t *status, FILE *out) {
  const char *units = strcmp(text_of(status, "task"), "regression") == 0 ? " (standardised)" : "";
  const json_t *live = json_object_get(status, "live"), *training = json_object_get(live, "training"),
               *time = json_object_get(live, "time"), *left = json_object_get(live, "left"),
               *share = json_object_get(live, "utilisation");
  size_t index;
  json_t *one;
  if (!json_is_object(live))
    return;
  (void)fprintf(out, "workers     %zu of %lld at work", json_array_size(training),
                (long long)json_integer_value(json_object_get(live, "workers")));
  if (json_is_number(share))
    (void)fprintf(out, ", %.0f %% of their time used", 100 * json_number_value(share));
  (void)fprintf(out, "; %.3g trials/s", number_of(live, "rate"));
  if (json_is_number(time))
    (void)fprintf(out, "; %.0f of %.0f s worked", number_of(live, "worked"), json_number_value(time));
  if (json_is_number(left))
    (void)fprintf(out, "; about %.0f s left", json_number_value(left));
  (void)fprintf(out, "\n");
  json_array_foreach(training, index, one) show_training(one, units, out);
}

static void show_failures(const json_t *failures, FILE *out) {
  enum { SHOWN = 5 };
  size_t index;
  json_t *failure;
  json_array_foreach(failures, index, failure) {
    if (index == SHOWN) {
      (void)fprintf(out, "            and %zu other %s\n", json_array_size(failures) - SHOWN,
                    tutti_plural(json_array_size(failures) - SHOWN, "reason", "reasons"));
      return;
    }
    long long others = (long long)json_integer_value(json_object_get(failure, "others"));
    (void)fprintf(out, "%s%lld failed: %s", index ? "            " : "failures    ",
                  (long long)json_integer_value(json_object_get(failure, "count")), text_of(failure, "text"));
    if (others > 0)
      (void)fprintf(out, " (%lld of them with other numbers)", others);
    (void)fprintf(out, "\n");
  }
}

/* A search that proposes what it has tried says that it has run dry; deep ensembles do nothing else. */
static void show_repeats(const json_t *status, FILE *out) {
  long long repeats = json_integer_value(json_object_get(status, "repeats"));
  long long asked = json_integer_value(json_object_get(status, "asked"));
  if (repeats > 0)
    (void)fprintf(out, "repeats     %lld of %lld %s had been made before, but for %s\n", repeats, asked,
                  tutti_plural((size_t)asked, "proposal", "proposals"),
                  tutti_plural((size_t)repeats, "its seed", "their seeds"));
}

void show_watched(const json_t *status, FILE *out) {
  const json_t *root = json_object_get(status, "trials");
  show_trials(root, out);
  show_best(json_object_get(status, "best"), text_of(status, "loss"), out);
  show_failures(json_object_get(status, "failures"), out);
  show_repeats(status, out);
  show_live(status, out);
}

/* Is it at work, and if it was cut off, how does it go on? */
static void show_state(const json_t *status, FILE *out) {
  const bool running = json_is_true(json_object_get(status, "running"));
  const long long asked = (long long)json_integer_value(json_object_get(status, "asked")),
                  done = (long long)json_integer_value(json_object_get(json_object_get(status, "trials"), "done"));
  const char *directory = text_of(status, "directory");
  (void)fprintf(out, "\nstate       %s; %lld asked for, %.1f s of training in all\n",
                running ? "running" : "not running", asked, number_of(status, "training_seconds"));
  if (!running && done < asked && !json_is_object(json_object_get(status, "ensemble")))
    (void)fprintf(out, "            %lld of them %s no result; to go on: tutti run %s/recipe.ini --out %s --resume\n",
                  asked - done, tutti_plural((size_t)(asked - done), "has", "have"), directory, directory);
}

/* The last trials that have a result: what the others are at is told of workers. */
static void show_last_trials(const json_t *trials, const char *loss, size_t shown, FILE *out) {
  size_t first = json_array_size(trials), found = 0;
  while (first > 0 && found < shown)
    found += strcmp(text_of(json_array_get(trials, --first), "state"), "asked") != 0;
  if (found == 0)
    return;
  struct table table = table_begin(1);
  table_column(&table, TABLE_NUMBER, "trial");
  table_column(&table, TABLE_TEXT, "state");
  table_column(&table, TABLE_NUMBER, loss);
  table_column(&table, TABLE_NUMBER, "seconds");
  table_column(&table, TABLE_PROSE, "origin");
  for (; first < json_array_size(trials); first++)
    if (strcmp(text_of(json_array_get(trials, first), "state"), "asked") != 0)
      put_trial(json_array_get(trials, first), &table);
  (void)fputc('\n', out);
  table_end(&table, out);
}

void show_status(const json_t *status, size_t shown, FILE *out) {
  show_summary(status, out);
  show_changes(json_object_get(status, "calibrated"), out);
  show_state(status, out);
  show_failures(json_object_get(status, "failures"), out);
  show_repeats(status, out);
  show_live(status, out);
  if (json_is_object(json_object_get(status, "builder_state")))
    show_facts("builder", json_object_get(status, "builder_state"), out);
  show_last_trials(json_object_get(status, "all_trials"), text_of(status, "loss"), shown, out);
}
