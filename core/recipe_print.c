/* recipe_print.c - the effective recipe as text, and whether two recipes are of one run. */
#include <string.h>
#include <tutti/version.h>

#include "recipe_impl.h"
#include "text_impl.h"

/* One key with its value; texts are borrowed until the visit returns. A section without keys has one visit with key "".
 */
struct item {
  const char *section, *key, *value, *doc;
  const char *note; /* behind the doc: a unit, a plugin's version; or NULL */
};
typedef enum tutti_status (*visit_item)(void *argument, tutti_context *context, const struct item *item);

static bool is_searched(const tutti_recipe *recipe, const char *section, const char *key) {
  return strcmp(section, "backend") == 0 && tutti_domain_find(recipe->hyperparameters, key) != SIZE_MAX;
}

static enum tutti_status visit_config(tutti_context *context, const tutti_recipe *recipe, const char *section,
                                      const tutti_config *config, visit_item visit, void *argument) {
  const struct tutti_params *params = tutti_config_params(config);
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    char *value;
    if (is_searched(recipe, section, param->name))
      continue;
    TUTTI_TRY(context, tutti_config_get(context, config, param->name, &value));
    struct item item = {.section = section, .key = param->name, .value = value, .doc = param->doc, .note = param->unit};
    enum tutti_status status = visit(argument, context, &item);
    tutti_free(value);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

static enum tutti_status visit_hyperparameters(tutti_context *context, const tutti_recipe *recipe, visit_item visit,
                                               void *argument) {
  const tutti_config *config;
  const struct tutti_descriptor *backend = tutti_recipe_plugin(recipe, "backend", &config);
  for (size_t i = 0; i < tutti_domain_count(recipe->hyperparameters); i++) {
    const char *name = tutti_domain_at(recipe->hyperparameters, i)->name;
    const struct tutti_param *param = tutti_params_find(&backend->params, name);
    char *range;
    TUTTI_TRY(context, tutti_domain_text(context, recipe->hyperparameters, i, &range));
    struct item item = {
        .section = "hyperparameters", .key = name, .value = range, .doc = param->doc, .note = param->unit};
    enum tutti_status status = visit(argument, context, &item);
    tutti_free(range);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

/* Does a section belong to the plugins' roots, whose plugin is named by a key `plugin`? Others are named by a
 * parameter. */
static bool names_its_plugin(const char *section, enum tutti_kind kind) {
  return strcmp(section, tutti_kind_name(kind)) == 0 &&
         (kind == TUTTI_KIND_SPACE || kind == TUTTI_KIND_BACKEND || kind == TUTTI_KIND_BUILDER ||
          kind == TUTTI_KIND_SELECTOR || kind == TUTTI_KIND_EXECUTOR);
}

static enum tutti_status visit_plugins(tutti_context *context, const tutti_recipe *recipe, visit_item visit,
                                       void *argument) {
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    struct item item = {.section = tutti_host_section(recipe->host, i, &descriptor, &config)};
    item.key = names_its_plugin(item.section, descriptor->kind) ? "plugin" : "";
    item.value = descriptor->name;
    item.doc = descriptor->summary;
    item.note = descriptor->version;
    TUTTI_TRY(context, visit(argument, context, &item));
    TUTTI_TRY(context, visit_config(context, recipe, item.section, config, visit, argument));
  }
  return TUTTI_OK;
}

static enum tutti_status visit_all(tutti_context *context, const tutti_recipe *recipe, visit_item visit,
                                   void *argument) {
  TUTTI_TRY(context, visit_config(context, recipe, "run", recipe->run, visit, argument));
  if (recipe->data) {
    TUTTI_TRY(context, visit_config(context, recipe, "data", recipe->data, visit, argument));
    TUTTI_TRY(context, visit_config(context, recipe, "head", recipe->head, visit, argument));
  }
  TUTTI_TRY(context, visit_hyperparameters(context, recipe, visit, argument));
  TUTTI_TRY(context, visit_plugins(context, recipe, visit, argument));
  return recipe->data ? visit_config(context, recipe, "evaluation", recipe->evaluation, visit, argument) : TUTTI_OK;
}

/* --- as text ----------------------------------------------------------------------------------------------------- */

struct printing {
  struct tutti_text text;
  const char *section; /* the last item's; names live as long as the recipe */
};

static enum tutti_status print_item(void *argument, tutti_context *context, const struct item *item) {
  enum { COMMENT_COLUMN = 40 };
  struct printing *printing = argument;
  struct tutti_text *text = &printing->text;
  (void)context;
  if (!printing->section || strcmp(printing->section, item->section) != 0)
    tutti_text_add(text, "\n[%s]\n", item->section);
  printing->section = item->section;
  size_t begin = text->length;
  if (*item->key)
    tutti_text_add(text, "%s = %s ", item->key, item->value);
  else
    tutti_text_add(text, "; %s: ", item->value);
  int used = (int)(text->length - begin);
  tutti_text_add(text, "%*s%s%s%s%s%s\n", *item->key && used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 0, "",
                 *item->key ? "; " : "", item->doc, item->note ? " [" : "", item->note ? item->note : "",
                 item->note ? "]" : "");
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_print(tutti_context *context, const tutti_recipe *recipe, char **out) {
  struct printing printing = {.text = tutti_text_begin(context)};
  *out = NULL;
  tutti_text_add(
      &printing.text,
      "; Effective recipe, every key with its value, by Tutti %s (%s), plugin ABI %d.%d. It runs again as it is.\n",
      tutti_version(), tutti_build_id(), TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
  enum tutti_status status = visit_all(context, recipe, print_item, &printing);
  if (status != TUTTI_OK) {
    tutti_text_discard(&printing.text);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return tutti_text_take(&printing.text, out);
}

/* --- the same run? ----------------------------------------------------------------------------------------------- */

/* Where, and how fast, a run is made; not what comes of it. */
static bool may_differ(const tutti_recipe *recipe, const struct item *item) {
  static const char *const keys[] = {"name", "workers", "trial_timeout", "retries", "memory_limit", "plugin_path"};
  const tutti_config *config;
  const struct tutti_descriptor *executor = tutti_recipe_plugin(recipe, "executor", &config);
  if (strcmp(item->section, "executor") == 0 || tutti_params_find(&executor->params, item->section))
    return true;
  for (size_t i = 0; strcmp(item->section, "run") == 0 && i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp(item->key, keys[i]) == 0)
      return true;
  return false;
}

/* Looks for an item of one recipe in the other. */
struct comparison {
  const tutti_recipe *one, *other;
  const struct item *wanted; /* of `one` */
  char *found;               /* its value in `other` */
};

static enum tutti_status note_value(void *argument, tutti_context *context, const struct item *item) {
  struct comparison *comparison = argument;
  if (strcmp(item->section, comparison->wanted->section) != 0 || strcmp(item->key, comparison->wanted->key) != 0)
    return TUTTI_OK;
  return tutti_strdup(context, item->value, &comparison->found);
}

static enum tutti_status compare_item(void *argument, tutti_context *context, const struct item *item) {
  struct comparison *comparison = argument;
  if (may_differ(comparison->one, item))
    return TUTTI_OK;
  comparison->wanted = item;
  comparison->found = NULL;
  TUTTI_TRY(context, visit_all(context, comparison->other, note_value, comparison));
  bool same = comparison->found && strcmp(comparison->found, item->value) == 0;
  enum tutti_status status =
      same ? TUTTI_OK
           : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s] %s is '%s' in one recipe and %s%s%s in the other",
                        item->section, *item->key ? item->key : "plugin", item->value, comparison->found ? "'" : "",
                        comparison->found ? comparison->found : "not there", comparison->found ? "'" : "");
  tutti_free(comparison->found);
  return status;
}

enum tutti_status tutti_recipe_same_run(tutti_context *context, const tutti_recipe *a, const tutti_recipe *b) {
  struct comparison forward = {.one = a, .other = b}, backward = {.one = b, .other = a};
  TUTTI_TRY(context, visit_all(context, a, compare_item, &forward));
  return visit_all(context, b, compare_item, &backward);
}
