/* command_view.c - tutti status, tutti select, tutti evaluate: a run directory after the fact. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>

struct view_arguments {
  const char *directory, *ensemble, *split;
  struct texts set;
  size_t trials;
  bool json, keep;
};

static error_t parse_view(int key, char *value, struct argp_state *state) {
  struct view_arguments *arguments = state->input;
  char *end;
  switch (key) {
  case 's':
    if (!texts_add(&arguments->set, value))
      argp_error(state, "too many --set");
    return 0;
  case 'e':
    arguments->ensemble = value;
    return 0;
  case 'p':
    arguments->split = value;
    return 0;
  case 't':
    arguments->trials = (size_t)strtoul(value, &end, 10);
    if (*end || end == value)
      argp_error(state, "--trials: expected a number, found '%s'", value);
    return 0;
  case 'k':
    arguments->keep = true;
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

/* Print a JSON text as it is, or as `show` does. */
static int print_json(const char *text, const struct view_arguments *arguments,
                      void (*show)(const json_t *root, const struct view_arguments *arguments, FILE *out)) {
  if (arguments->json) {
    (void)fputs(text, stdout);
    return finish_output();
  }
  json_t *root = json_loads(text, 0, NULL);
  show(root, arguments, stdout);
  json_decref(root);
  return finish_output();
}

/* Open the directory, let `work` make a JSON text, print it. */
static int with_view(tutti_context *context, const struct view_arguments *arguments,
                     enum tutti_status (*work)(tutti_context *context, tutti_view *view,
                                               const struct view_arguments *arguments, char **text),
                     void (*show)(const json_t *root, const struct view_arguments *arguments, FILE *out)) {
  tutti_view *view = NULL;
  char *text = NULL;
  enum tutti_status status = tutti_view_open(context, arguments->directory, &view);
  if (status == TUTTI_OK)
    status = work(context, view, arguments, &text);
  int code = status == TUTTI_OK ? print_json(text, arguments, show) : fail(context, status);
  tutti_free(text);
  tutti_view_close(view);
  return code;
}

/* --- status --- */

static enum tutti_status status_text(tutti_context *context, tutti_view *view, const struct view_arguments *arguments,
                                     char **text) {
  (void)arguments;
  return tutti_view_status(context, view, text);
}

static void show_status_text(const json_t *root, const struct view_arguments *arguments, FILE *out) {
  show_status(root, arguments->trials, out);
}

int command_status(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {{"trials", 't', "N", 0, "Show the last N trials (default 10).", 0},
                                        {"json", 'j', NULL, 0, "All of it as JSON.", 0},
                                        {0}};
  const struct argp argp = {options, parse_view, "RUN", "Show where the run in a directory stands.", NULL, NULL, NULL};
  struct view_arguments arguments = {.trials = 10};
  int code;
  return parse_arguments(&argp, argc, argv, &arguments, &code)
             ? with_view(context, &arguments, status_text, show_status_text)
             : code;
}

/* --- select --- */

static enum tutti_status select_text(tutti_context *context, tutti_view *view, const struct view_arguments *arguments,
                                     char **text) {
  enum tutti_status status = TUTTI_OK;
  char *ensemble = NULL, *evaluation = NULL;
  json_t *root = NULL;
  TUTTI_TRY_OUT(context, tutti_view_select(context, view, arguments->split, arguments->set.count, arguments->set.items,
                                           &ensemble));
  if (arguments->keep) {
    TUTTI_TRY_OUT(context, tutti_view_keep(context, view, ensemble, text));
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_view_evaluate(context, view, ensemble, &evaluation));
  root = json_loads(ensemble, 0, NULL);
  json_object_set_new(root, "evaluation", json_loads(evaluation, 0, NULL));
  char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  status =
      dumped ? tutti_format(context, text, "%s\n", dumped) : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "out of memory");
  free(dumped);
out:
  json_decref(root);
  tutti_free(ensemble);
  tutti_free(evaluation);
  return status;
}

static void show_selection(const json_t *root, const struct view_arguments *arguments, FILE *out) {
  (void)arguments;
  if (json_object_get(root, "trials")) { /* kept: the run's new summary */
    show_summary(root, out);
    return;
  }
  show_ensemble(root, out);
  show_evaluation(json_object_get(root, "evaluation"), out);
}

int command_select(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"set", 's', "SECTION.KEY=VALUE", 0, "Another selector or other parameters, as in selector.plugin=top-m.", 0},
      {"split", 'p', "SPLIT", 0, "Choose on the rows of this split, as in validation-5 (default: validation).", 0},
      {"keep", 'k', NULL, 0, "Make it the run's ensemble (ensemble.json, summary.json).", 0},
      {"json", 'j', NULL, 0, "As JSON: the text of ensemble.json, with its evaluation.", 0},
      {0}};
  const struct argp argp = {
      options, parse_view, "RUN", "Choose an ensemble from the finished trials of a run; nothing is trained.",
      NULL,    NULL,       NULL};
  struct view_arguments arguments = {0};
  int code;
  return parse_arguments(&argp, argc, argv, &arguments, &code)
             ? with_view(context, &arguments, select_text, show_selection)
             : code;
}

/* --- evaluate --- */

static enum tutti_status evaluate_text(tutti_context *context, tutti_view *view, const struct view_arguments *arguments,
                                       char **text) {
  char *ensemble = NULL;
  if (arguments->ensemble)
    TUTTI_TRY(context, read_json(context, arguments->ensemble, &ensemble));
  enum tutti_status status = tutti_view_evaluate(context, view, ensemble, text);
  tutti_free(ensemble);
  return status;
}

static void show_metrics(const json_t *root, const struct view_arguments *arguments, FILE *out) {
  (void)arguments;
  show_evaluation(root, out);
}

int command_evaluate(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"ensemble", 'e', "FILE", 0, "Of this ensemble (as select --json prints it), not the run's own.", 0},
      {"json", 'j', NULL, 0, "As JSON.", 0},
      {0}};
  const struct argp argp = {options, parse_view, "RUN", "Metrics of a run's ensemble on every split.",
                            NULL,    NULL,       NULL};
  struct view_arguments arguments = {0};
  int code;
  return parse_arguments(&argp, argc, argv, &arguments, &code)
             ? with_view(context, &arguments, evaluate_text, show_metrics)
             : code;
}
