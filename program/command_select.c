/* command_select.c - tutti select: another ensemble from a finished pool. */
#include "program_impl.h"

struct select_options {
  const char *split, *out;
  struct texts set;
  bool json, keep, trust;
};

static enum tutti_status work_select(tutti_context *context, tutti_view *view, const void *given, char **text) {
  const struct select_options *options = given;
  if (options->out)
    return tutti_view_keep_to(context, view, options->out, options->split, options->set.count, options->set.items,
                              text);
  return (options->keep ? tutti_view_keep : tutti_view_select)(context, view, options->split, options->set.count,
                                                               options->set.items, text);
}

static void show_selection(const json_t *root, const void *options, FILE *out) {
  (void)options;
  if (json_object_get(root, "trials")) { /* kept: the run's new summary */
    show_summary(root, out);
    return;
  }
  show_pools(json_object_get(root, "pools"), out);
  show_ensemble(root, out);
  show_values(json_object_get(root, "values"), json_string_value(json_object_get(root, "loss")), out);
  show_evaluation(json_object_get(root, "evaluation"), out);
}

static int run_select(tutti_context *context, const struct texts *operands, const void *given) {
  const struct select_options *options = given;
  tutti_trust_runs(context, options->trust);
  return print_views(context, operands, options->json, work_select, show_selection, options);
}

static const char *check_select(const struct texts *operands, const void *given) {
  const struct select_options *options = given;
  if (operands->count > 1 && options->keep)
    return "--out DIR in place of --keep: the ensemble of several runs is kept in a directory of its own";
  if (operands->count == 1 && options->out)
    return "several runs with --out; --keep keeps the ensemble of one run in its directory";
  return NULL;
}

static const struct command_option select_options[] = {
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE",
     "Another selector, as in selector.plugin=top-m, another calibrator, as in calibrator.plugin=temperature, other "
     "parameters of these, or other choices of metrics, as in "
     "evaluation.bins=10 (not with --keep: the summary has the recipe's metrics; but evaluation.folds, which judges a "
     "calibrator); may be repeated.",
     .offset = offsetof(struct select_options, set), .completes = COMPLETE_SETTING},
    {"split", 'p', OPTION_TEXT, "SPLIT", "Choose on the rows of this split, as in validation-5 (default: validation).",
     .offset = offsetof(struct select_options, split)},
    {"keep", 'k', OPTION_FLAG, NULL,
     "Make it the run's ensemble (ensemble.json, summary.json), with those that are chosen on each shift; --set may "
     "change the selector, the calibrator and evaluation.folds alone.",
     .offset = offsetof(struct select_options, keep)},
    {"out", 'o', OPTION_TEXT, "DIR",
     "Keep the ensemble of several runs in this new directory, with copies of the runs, so that it needs no other: a "
     "model for "
     "predict, evaluate, status and select.",
     .offset = offsetof(struct select_options, out)},
    {"json", 'j', OPTION_FLAG, NULL, "As JSON: the text of ensemble.json, with its evaluation.",
     .offset = offsetof(struct select_options, json)},
    TRUST_OPTION(struct select_options),
    {0}};

const struct command command_select = {
    .name = "select",
    .summary = "choose another ensemble from a finished pool",
    .about = "Choose an ensemble from the finished trials of a run, or of several runs over the same rows; nothing is "
             "trained.",
    .operands = {.synopsis = "RUN...",
                 .wanted = "a run directory, or several",
                 .example = "runs/quickstart",
                 .least = 1,
                 .most = MOST_TEXTS,
                 .completes = {COMPLETE_FOLDER, COMPLETE_FOLDER}},
    .options = select_options,
    .size = sizeof(struct select_options),
    .check = check_select,
    .run = run_select,
};
