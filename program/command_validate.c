/* command_validate.c - tutti validate: a recipe and its data checked without training, and what the data hold. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>

struct validate_options {
  struct texts set;
  bool json;
};

static void show_plan(const json_t *root, const void *options, FILE *out) {
  (void)options;
  show_profile(json_object_get(root, "profile"), out);
  (void)fprintf(out, "The recipe is valid: nothing was trained or written.\n\n");
  show_summary(root, out);
}

/* What the data hold, beside an error that comes from them, or may. */
static void show_reasons(tutti_context *context, const char *profile) {
  json_t *root = json_loads(profile, 0, NULL);
  struct plain_output output;
  const char *origin = json_string_value(json_object_get(root, "origin"));
  bool named = origin && strstr(tutti_error_message(context), origin);
  if ((named || json_array_size(json_object_get(root, "warnings")) > 0) && begin_plain(&output)) {
    show_profile(root, output.stream);
    end_plain(&output, stderr);
  }
  json_decref(root);
}

/* The plan of a run, with the profile of its data. */
static char *join(const char *summary, const char *profile) {
  json_t *root = json_loads(summary, 0, NULL);
  if (profile)
    json_object_set_new(root, "profile", json_loads(profile, 0, NULL));
  char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  json_decref(root);
  return text;
}

/* The check takes the recipe. */
static int check(tutti_context *context, tutti_recipe *recipe, const char *profile, bool as_json) {
  char *summary = NULL;
  enum tutti_status status = tutti_run_check(context, recipe, &summary);
  if (status != TUTTI_OK) {
    if (profile && !as_json)
      show_reasons(context, profile);
    return fail(context, status);
  }
  char *text = join(summary, profile);
  int code = print_result(text, as_json, show_plan, NULL);
  free(text);
  tutti_free(summary);
  return code;
}

int check_recipe(tutti_context *context, tutti_recipe *recipe, bool as_json) {
  char *profile = NULL;
  if (tutti_run_profile(context, recipe, &profile) != TUTTI_OK)
    tutti_error_clear(context); /* the check will say it */
  int code = check(context, recipe, profile, as_json);
  tutti_free(profile);
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
     .offset = offsetof(struct validate_options, set), .completes = COMPLETE_SETTING},
    {"json", 'j', OPTION_FLAG, NULL, "Print what would be run as JSON.",
     .offset = offsetof(struct validate_options, json)},
    {0}};

const struct command command_validate = {
    .name = "validate",
    .alias = "check",
    .summary = "check a recipe and its data without training",
    .about =
        "Check a recipe: every key, the plugins, the data, and that the backend can train what the space makes. Of a "
        "table, show what each column holds and becomes, and what is worth a look.",
    .operands = ONE_RECIPE,
    .options = validate_options,
    .size = sizeof(struct validate_options),
    .run = run_validate,
};
