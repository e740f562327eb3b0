/* command_curve.c - tutti curve: how good ensembles of fewer trials and of other sizes would have been. */
#include "program_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 64 };

struct list {
  size_t count;
  uint64_t values[POINTS];
};

struct curve_arguments {
  const char *directory, *split;
  struct texts set;
  struct list budgets, members;
  bool json;
};

/* "1,5,10", ascending or not. */
static void parse_list(struct argp_state *state, const char *option, const char *text, struct list *list) {
  while (*text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *text == '-' || errno || value == 0 || (*end && *end != ','))
      argp_error(state, "--%s: expected positive numbers separated by commas, as in 25,50,100; found '%s'", option,
                 text);
    if (list->count == POINTS)
      argp_error(state, "--%s: expected at most %d numbers", option, POINTS);
    list->values[list->count++] = value;
    text = *end ? end + 1 : end;
  }
}

static error_t parse_curve(int key, char *value, struct argp_state *state) {
  struct curve_arguments *arguments = state->input;
  switch (key) {
  case 's':
    if (!texts_add(&arguments->set, value))
      argp_error(state, "too many --set");
    return 0;
  case 'p':
    arguments->split = value;
    return 0;
  case 'b':
    parse_list(state, "budgets", value, &arguments->budgets);
    return 0;
  case 'm':
    parse_list(state, "members", value, &arguments->members);
    return 0;
  case 'j':
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->directory)
      argp_error(state, "expected one run directory, found '%s' and '%s'", arguments->directory, value);
    arguments->directory = value;
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a run directory, as in: %s runs/quickstart", state->name);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* --- the table --- */

/* What is shown of a point, as far as its task has it. */
static const char *const shown[] = {"nll",         "error",         "ece",          "rmse",
                                    "crps",        "oracle-nll",    "oracle-error", "oracle-rmse",
                                    "average-nll", "average-error", "average-rmse"};
enum { SHOWN = sizeof shown / sizeof shown[0] };

/* The metric of that name on the last split of a point: test rows, where there are any. */
static const json_t *metric_of(const json_t *point, const char *name) {
  const json_t *evaluation = json_object_get(point, "evaluation"), *metric;
  const json_t *split = json_array_get(evaluation, json_array_size(evaluation) - 1);
  size_t index;
  json_array_foreach(json_object_get(split, "metrics"), index, metric) {
    if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0)
      return metric;
  }
  return NULL;
}

static void show_point(const json_t *point, FILE *out) {
  (void)fprintf(out, "  %8lld %8lld", (long long)json_integer_value(json_object_get(point, "budget")),
                (long long)json_integer_value(json_object_get(point, "members")));
  for (size_t i = 0; i < SHOWN; i++) {
    char buffer[32];
    const json_t *metric = metric_of(point, shown[i]), *value = json_object_get(metric, "value");
    if (metric)
      (void)fprintf(out, " %13s", json_is_number(value) ? show_number(json_number_value(value), buffer) : "-");
  }
  (void)fprintf(out, "\n");
}

static void show_curve(const json_t *points, FILE *out) {
  const json_t *first = json_array_get(points, 0), *evaluation = json_object_get(first, "evaluation"), *point;
  size_t index;
  if (!first)
    return;
  const json_t *split = json_array_get(evaluation, json_array_size(evaluation) - 1);
  (void)fprintf(out, "On %s\n\n  %8s %8s", json_string_value(json_object_get(split, "split")), "budget", "members");
  for (size_t i = 0; i < SHOWN; i++)
    if (metric_of(first, shown[i]))
      (void)fprintf(out, " %13s", shown[i]);
  (void)fprintf(out, "\n");
  json_array_foreach(points, index, point) show_point(point, out);
}

static int print_curve(const char *text, bool as_json) {
  if (as_json) {
    (void)fputs(text, stdout);
    return finish_output();
  }
  json_t *points = json_loads(text, 0, NULL);
  show_curve(points, stdout);
  json_decref(points);
  return finish_output();
}

int command_curve(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"budgets", 'b', "N,...", 0, "Choose from the first N trials (default: 8 even steps to all of them).", 0},
      {"members", 'm', "N,...", 0, "Choose so many members (default: as the selector's parameters say).", 0},
      {"split", 'p', "SPLIT", 0, "Choose on the rows of this split, as in validation-5 (default: validation).", 0},
      {"set", 's', "SECTION.KEY=VALUE", 0, "Another selector or other parameters, as in selector.plugin=top-m.", 0},
      {"json", 'j', NULL, 0, "As JSON, with all metrics and the members.", 0},
      {0}};
  const struct argp argp = {
      options, parse_curve,
      "RUN",   "How good the ensemble would have been of fewer trials, and of other sizes; nothing is trained.",
      NULL,    NULL,
      NULL};
  struct curve_arguments arguments = {0};
  tutti_view *view = NULL;
  char *text = NULL;
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  struct tutti_curve_options points = {.size = sizeof points,
                                       .budgets_count = arguments.budgets.count,
                                       .budgets = arguments.budgets.values,
                                       .members_count = arguments.members.count,
                                       .members = arguments.members.values};
  enum tutti_status status = tutti_view_open(context, arguments.directory, &view);
  if (status == TUTTI_OK)
    status = tutti_view_curve(context, view, arguments.split, arguments.set.count, arguments.set.items, &points, &text);
  code = status == TUTTI_OK ? print_curve(text, arguments.json) : fail(context, status);
  tutti_free(text);
  tutti_view_close(view);
  return code;
}
