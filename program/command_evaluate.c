/* command_evaluate.c - tutti evaluate: the metrics of an ensemble. */
#include "program_impl.h"

struct evaluate_options {
  const char *ensemble;
  struct texts set;
  bool json, tables, trust;
};

static enum tutti_status work_evaluate(tutti_context *context, tutti_view *view, const void *given, char **text) {
  const struct evaluate_options *options = given;
  char *ensemble = NULL;
  if (options->ensemble)
    TUTTI_TRY(context, read_json(context, options->ensemble, &ensemble));
  enum tutti_status status = tutti_view_evaluate(context, view, ensemble, options->set.count, options->set.items, text);
  tutti_free(ensemble);
  return status;
}

static void show_metrics(const json_t *root, const void *given, FILE *out) {
  show_evaluation(root, out);
  if (((const struct evaluate_options *)given)->tables)
    show_tables(root, out);
}

static int run_evaluate(tutti_context *context, const struct texts *operands, const void *given) {
  const struct evaluate_options *options = given;
  tutti_trust_runs(context, options->trust);
  return print_view(context, operands->items[0], options->json, work_evaluate, show_metrics, options);
}

static const struct command_option evaluate_options[] = {
    {"ensemble", 'e', OPTION_TEXT, "FILE", "Of this ensemble (as select --json prints it), not the run's own.",
     .offset = offsetof(struct evaluate_options, ensemble), .completes = COMPLETE_FILE},
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE",
     "Other choices of metrics, as in evaluation.bins=10; may be repeated.",
     .offset = offsetof(struct evaluate_options, set), .completes = COMPLETE_SETTING},
    {"tables", 't', OPTION_FLAG, NULL, "With the tables of each split, which JSON always has: reliability, classes.",
     .offset = offsetof(struct evaluate_options, tables)},
    {"json", 'j', OPTION_FLAG, NULL, "As JSON.", .offset = offsetof(struct evaluate_options, json)},
    TRUST_OPTION(struct evaluate_options),
    {0}};

const struct command command_evaluate = {
    .name = "evaluate",
    .summary = "metrics of an ensemble on every split",
    .about = "Metrics of a run's ensemble on every split.",
    .operands = ONE_RUN,
    .options = evaluate_options,
    .size = sizeof(struct evaluate_options),
    .run = run_evaluate,
};
