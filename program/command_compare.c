/* command_compare.c - tutti compare: runs against each other. */
#include "program_impl.h"

#include "core/base/replaced_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/compare.h>

struct compare_options {
  struct texts by, metrics;
  const char *split, *csv;
  long step, last;
  bool json, reselect, trust;
};

/* --- the runs as a table --- */

static void put_text(const char *text, FILE *out) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted)
    (void)fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      (void)fputc('"', out);
    (void)fputc(*text, out);
  }
  if (quoted)
    (void)fputc('"', out);
}

/* run, data set, seed, the keys that variants differ in, every metric. */
static void put_table(const json_t *comparison, FILE *out) {
  const json_t *keys = json_object_get(comparison, "keys"), *metrics = json_object_get(comparison, "metrics"),
               *variants = json_object_get(comparison, "variants");
  size_t index, k;
  json_t *run, *key, *metric;
  (void)fputs("run,data_set,seed", out);
  json_array_foreach(keys, k, key)(void) fprintf(out, ",%s", json_string_value(key));
  json_array_foreach(metrics, k, metric)(void) fprintf(out, ",%s", json_string_value(json_object_get(metric, "name")));
  (void)fputc('\n', out);
  json_array_foreach(json_object_get(comparison, "runs"), index, run) {
    const json_t *settings = json_object_get(
        json_array_get(variants, (size_t)json_integer_value(json_object_get(run, "variant"))), "settings");
    put_text(json_string_value(json_object_get(run, "run")), out);
    (void)fputc(',', out);
    put_text(json_string_value(json_object_get(run, "data_set")), out);
    (void)fprintf(out, ",%lld", (long long)json_integer_value(json_object_get(run, "seed")));
    json_array_foreach(keys, k, key) {
      const char *setting = json_string_value(json_object_get(settings, json_string_value(key)));
      (void)fputc(',', out);
      put_text(setting ? setting : "", out);
    }
    json_array_foreach(metrics, k, metric) {
      const json_t *value =
          json_object_get(json_object_get(run, "metrics"), json_string_value(json_object_get(metric, "name")));
      (void)fputc(',', out);
      if (json_is_number(value))
        (void)fprintf(out, "%.17g", json_number_value(value));
    }
    (void)fputc('\n', out);
  }
}

static const struct tutti_file_kind table_kind = {.name = "a table of runs", .begins = {"run,data_set,seed"}};

static int write_table(const json_t *comparison, const char *path) {
  struct result_file file = begin_result(path);
  if (!file.stream)
    return EXIT_FAILED;
  put_table(comparison, file.stream);
  return end_result(&file);
}

/* --- the command --- */

static int print_comparison(const char *text, const struct compare_options *options) {
  json_t *root = json_loads(text, 0, NULL);
  int code = EXIT_DONE;
  struct plain_output output;
  begin_output();
  if (options->json) {
    (void)fputs(text, stdout);
  } else if (begin_plain(&output)) {
    code = show_comparison(root, &options->metrics, output.stream) ? EXIT_DONE : EXIT_USAGE;
    end_plain(&output, stdout);
  }
  if (code == EXIT_DONE && options->csv)
    code = write_table(root, options->csv);
  json_decref(root);
  int written = finish_output();
  return code == EXIT_DONE ? written : code;
}

static int run_compare(tutti_context *context, const struct texts *operands, const void *given) {
  const struct compare_options *options = given;
  char *text = NULL;
  const struct tutti_compare_options compare = {.size = sizeof compare,
                                                .split = options->split,
                                                .keys = options->by.count,
                                                .by = options->by.items,
                                                .step = (uint64_t)options->step,
                                                .reselect = options->reselect,
                                                .last = (uint64_t)options->last};
  tutti_trust_runs(context, options->trust);
  enum tutti_status status = options->csv ? tutti_file_check_replaced(context, options->csv, &table_kind) : TUTTI_OK;
  if (status == TUTTI_OK)
    status = tutti_compare(context, operands->count, operands->items, &compare, &text);
  int code = status == TUTTI_OK ? print_comparison(text, options) : fail(context, status);
  tutti_free(text);
  return code;
}

static const char *check_compare(const struct texts *operands, const void *given) {
  const struct compare_options *options = given;
  (void)operands;
  return options->reselect && !options->step ? "--reselect goes with --over-time N" : NULL;
}

static const struct command_option compare_options[] = {
    {"by", 'b', OPTION_PARTS, "SECTION.KEY", "Variants differ in this key alone; may be repeated (default: found out).",
     .offset = offsetof(struct compare_options, by)},
    {"metric", 'm', OPTION_PARTS, "NAME,...", "Show these metrics (default: nll, rmse, error, and these calibrated).",
     .offset = offsetof(struct compare_options, metrics)},
    {"split", 's', OPTION_TEXT, "NAME", "Compare metrics of this split (default: test).",
     .offset = offsetof(struct compare_options, split)},
    {"csv", 'c', OPTION_TEXT, "FILE", "Write every run's metrics to FILE.",
     .offset = offsetof(struct compare_options, csv), .completes = COMPLETE_FILE},
    {"over-time", 't', OPTION_NUMBER, "N", "Ranks after N, 2 N, ... trials, too, by the best trial so far.",
     .offset = offsetof(struct compare_options, step), .least = 1, .most = 1000000000},
    {"reselect", 'r', OPTION_FLAG, NULL,
     "And by the ensembles that each run's selector would have chosen by then; nothing is trained.",
     .offset = offsetof(struct compare_options, reselect)},
    {"last", 'l', OPTION_NUMBER, "N",
     "Means over the last N numbers of trials, too, with the ensembles that each run's selector would have chosen at "
     "each.",
     .offset = offsetof(struct compare_options, last), .least = 1, .most = 1000000000},
    {"json", 'j', OPTION_FLAG, NULL, "All of it as JSON.", .offset = offsetof(struct compare_options, json)},
    TRUST_OPTION(struct compare_options),
    {0}};

const struct command command_compare = {
    .name = "compare",
    .summary = "runs against each other, with ranks and tests",
    .about = "Compare finished runs: means with standard errors, ranks, how often one beats the other, sign and "
             "Poisson-binomial tests, over pairs with the same data set and seed. RUN is a run directory, or the "
             "directory of an ablation.",
    .operands = {.synopsis = "RUN...",
                 .wanted = "a run directory, or that of an ablation",
                 .example = "runs/a runs/b",
                 .hint = "give a folder that holds them",
                 .least = 1,
                 .most = MOST_TEXTS,
                 .completes = {COMPLETE_FOLDER, COMPLETE_FOLDER}},
    .options = compare_options,
    .size = sizeof(struct compare_options),
    .check = check_compare,
    .run = run_compare,
};
