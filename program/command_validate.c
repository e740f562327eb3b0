/* command_validate.c - tutti validate: a recipe and its data checked without training. */
#include "program_impl.h"

struct validate_options {
  struct texts set;
  bool json;
};

static void show_plan(const json_t *summary, const void *options, FILE *out) {
  (void)options;
  (void)fprintf(out, "The recipe is valid: nothing was trained or written.\n\n");
  show_summary(summary, out);
}

int check_recipe(tutti_context *context, tutti_recipe *recipe, bool as_json) {
  char *summary = NULL;
  enum tutti_status status = tutti_run_check(context, recipe, &summary);
  if (status != TUTTI_OK)
    return fail(context, status);
  int code = print_result(summary, as_json, show_plan, NULL);
  tutti_free(summary);
  return code;
}

static int run_validate(tutti_context *context, const struct texts *operands, const void *given) {
  const struct validate_options *options = given;
  tutti_recipe *recipe;
  enum tutti_status status =
      tutti_recipe_load(context, operands->items[0], options->set.count, options->set.items, &recipe);
  return status == TUTTI_OK ? check_recipe(context, recipe, options->json) : fail(context, status);
}

static const struct command_option validate_options[] = {
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE", "Override a key of the recipe; may be repeated.",
     .offset = offsetof(struct validate_options, set)},
    {"json", 'j', OPTION_FLAG, NULL, "Print what would be run as JSON.",
     .offset = offsetof(struct validate_options, json)},
    {0}};

const struct command command_validate = {
    .name = "validate",
    .alias = "check",
    .summary = "check a recipe and its data without training",
    .about = "Check a recipe: every key, the plugins, the data, and that the backend can train what the space makes.",
    .operands = ONE_RECIPE,
    .options = validate_options,
    .size = sizeof(struct validate_options),
    .run = run_validate,
};
