/* command_compare.c - tutti compare: runs against each other. */
#include "program_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/compare.h>

struct compare_arguments {
  struct texts runs, by, metrics;
  const char *split, *csv;
  uint64_t step;
  bool json, reselect;
};

/* Add the parts of a text at its commas, which end them; false when there are too many. */
static bool add_parts(struct texts *texts, char *value) {
  char *part;
  while ((part = strsep(&value, ",")))
    if (*part && !texts_add(texts, part))
      return false;
  return true;
}

static error_t parse_compare(int key, char *value, struct argp_state *state) {
  struct compare_arguments *arguments = state->input;
  switch (key) {
  case 'b':
    if (!add_parts(&arguments->by, value))
      argp_error(state, "too many --by");
    return 0;
  case 'm':
    if (!add_parts(&arguments->metrics, value))
      argp_error(state, "too many --metric");
    return 0;
  case 's':
    arguments->split = value;
    return 0;
  case 'c':
    arguments->csv = value;
    return 0;
  case 't':
    arguments->step = (uint64_t)parse_count(state, "over-time", value, 1000000000);
    return 0;
  case 'r':
    arguments->reselect = true;
    return 0;
  case 'j':
    arguments->json = true;
    return 0;
  case ARGP_KEY_END:
    if (arguments->reselect && !arguments->step)
      argp_error(state, "--reselect goes with --over-time N");
    return 0;
  case ARGP_KEY_ARG:
    if (!texts_add(&arguments->runs, value))
      argp_error(state, "too many runs; give a folder that holds them");
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a run directory, or that of an ablation, as in: %s runs/a runs/b", state->name);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

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

static int write_table(const json_t *comparison, const char *path) {
  struct result_file file = begin_result(path);
  if (!file.stream)
    return EXIT_FAILED;
  put_table(comparison, file.stream);
  return end_result(&file);
}

/* --- the command --- */

static int print_comparison(const char *text, const struct compare_arguments *arguments) {
  json_t *root = json_loads(text, 0, NULL);
  int code = EXIT_DONE;
  if (arguments->json)
    (void)fputs(text, stdout);
  else if (!show_comparison(root, &arguments->metrics, stdout))
    code = EXIT_USAGE;
  if (code == EXIT_DONE && arguments->csv)
    code = write_table(root, arguments->csv);
  json_decref(root);
  int written = finish_output();
  return code == EXIT_DONE ? written : code;
}

int command_compare(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"by", 'b', "SECTION.KEY", 0, "Variants differ in this key alone; may be repeated (default: found out).", 0},
      {"metric", 'm', "NAME,...", 0, "Show these metrics (default: nll, rmse, error).", 0},
      {"split", 's', "NAME", 0, "Compare metrics of this split (default: test).", 0},
      {"csv", 'c', "FILE", 0, "Write every run's metrics to FILE.", 0},
      {"over-time", 't', "N", 0, "Ranks after N, 2 N, ... trials, too, by the best trial so far.", 0},
      {"reselect", 'r', NULL, 0,
       "And by the ensembles that each run's selector would have chosen by then; nothing is trained.", 0},
      {"json", 'j', NULL, 0, "All of it as JSON.", 0},
      {0}};
  const struct argp argp = {
      options,
      parse_compare,
      "RUN...",
      "Compare finished runs: means with standard errors, ranks, how often one beats the other, sign "
      "and Poisson-binomial tests, over pairs with the same data set and seed. RUN is a run directory, or "
      "the directory of an ablation.",
      NULL,
      NULL,
      NULL};
  struct compare_arguments arguments = {0};
  char *text = NULL;
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  const struct tutti_compare_options compare = {.size = sizeof compare,
                                                .split = arguments.split,
                                                .keys = arguments.by.count,
                                                .by = arguments.by.items,
                                                .step = arguments.step,
                                                .reselect = arguments.reselect};
  enum tutti_status status = tutti_compare(context, arguments.runs.count, arguments.runs.items, &compare, &text);
  code = status == TUTTI_OK ? print_comparison(text, &arguments) : fail(context, status);
  tutti_free(text);
  return code;
}
