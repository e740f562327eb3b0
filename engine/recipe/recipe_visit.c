/* recipe_visit.c - visits the effective recipe key by key, and decides whether two recipes belong to one run. */
#include <stdio.h>
#include <string.h>

#include "core/base/text_impl.h"
#include "recipe_impl.h"

typedef enum tutti_status (*visit_item)(void *argument, tutti_context *context, const struct tutti_recipe_item *item);

/* --- parts ------------------------------------------------------------------------------------------------------- */

/* Is it the section `user`, or one that parameters of its plugin name, or of theirs, at most `depth` plugins
   further? */
static bool belongs_to(const tutti_recipe *recipe, const char *section, const char *user, size_t depth) {
  const tutti_config *config;
  const struct tutti_descriptor *descriptor = tutti_recipe_plugin(recipe, user, &config);
  if (strcmp(user, section) == 0)
    return true;
  for (size_t i = 0; descriptor && depth > 0 && i < descriptor->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&descriptor->params, i);
    if (param->type == TUTTI_PARAM_PLUGIN && belongs_to(recipe, section, param->name, depth - 1))
      return true;
  }
  return false;
}

static bool leads_to(const tutti_recipe *recipe, const struct recipe_root *root, const char *section) {
  return tutti_recipe_has_root(recipe, root) &&
         belongs_to(recipe, section, root->section, tutti_host_sections(recipe->host));
}

static bool is_extent(const char *section, const char *key) {
  return strcmp(section, "run") == 0 && (strcmp(key, "budget") == 0 || strcmp(key, "time") == 0);
}

/* A section is of the part of the root that leads to it; of several, of the part that decides most. Sections that no
   root leads to are the engine's, or those of learners and of fits. */
static enum tutti_recipe_part part_of_section(const tutti_recipe *recipe, const char *section) {
  bool found = false;
  enum tutti_recipe_part part = TUTTI_RECIPE_SEARCH;
  for (size_t i = 0; i < RECIPE_ROOTS; i++) {
    const struct recipe_root *root = &tutti_recipe_roots[i];
    if (!leads_to(recipe, root, section))
      continue;
    if (!found || root->part < part)
      part = root->part;
    found = true;
  }
  return part;
}

static enum tutti_recipe_part part_of(const tutti_recipe *recipe, const char *section, const char *key) {
  if (strcmp(section, "run") == 0 && tutti_run_is_circumstance(key))
    return TUTTI_RECIPE_CIRCUMSTANCES;
  if (is_extent(section, key))
    return TUTTI_RECIPE_EXTENT;
  return strcmp(section, "evaluation") == 0 ? TUTTI_RECIPE_SELECTION : part_of_section(recipe, section);
}

/* --- visits ------------------------------------------------------------------------------------------------------ */

/* Who visits what. */
struct tour {
  const tutti_recipe *recipe;
  visit_item visit;
  void *argument;
};

/* Are there plugins in it that workers make? Sections that no root leads to are those of learners and of fits. */
static bool is_of_training(const tutti_recipe *recipe, const char *section) {
  bool others = false;
  for (size_t i = 0; i < RECIPE_ROOTS; i++) {
    const struct recipe_root *root = &tutti_recipe_roots[i];
    if (!leads_to(recipe, root, section))
      continue;
    if (root->of_training)
      return true;
    others = true;
  }
  return !others;
}

enum tutti_status tutti_recipe_visit_training(tutti_context *context, const tutti_recipe *recipe,
                                              tutti_visit_plugin *visit, void *visitor) {
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    if (is_of_training(recipe, section))
      TUTTI_TRY(context, visit(visitor, context, descriptor));
  }
  return TUTTI_OK;
}

static bool is_input(const tutti_recipe *recipe, const char *section, const struct tutti_param *param) {
  return param->type == TUTTI_PARAM_PATH && !(param->flags & TUTTI_PARAM_MADE) && is_of_training(recipe, section);
}

static enum tutti_status show(tutti_context *context, const struct tour *tour, struct tutti_recipe_item item) {
  item.size = sizeof item;
  item.part = part_of(tour->recipe, item.section, item.key);
  return tour->visit(tour->argument, context, &item);
}

static bool is_searched(const tutti_recipe *recipe, const char *section, const char *key) {
  char name[256];
  if (strcmp(section, "backend") == 0)
    return tutti_domain_find(recipe->hyperparameters, key) != SIZE_MAX;
  (void)snprintf(name, sizeof name, "%s.%s", section, key);
  return (strcmp(section, RECIPE_HEAD_SECTION) == 0 || tutti_recipe_is_learner(recipe, section, NULL)) &&
         tutti_domain_find(recipe->hyperparameters, name) != SIZE_MAX;
}

static enum tutti_status visit_config(tutti_context *context, const struct tour *tour, const char *section,
                                      const tutti_config *config) {
  const struct tutti_params *params = tutti_config_params(config);
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    char *value;
    if (is_searched(tour->recipe, section, param->name))
      continue;
    TUTTI_TRY(context, tutti_config_get(context, config, param->name, &value));
    enum tutti_status status = show(context, tour,
                                    (struct tutti_recipe_item){.section = section,
                                                               .key = param->name,
                                                               .value = value,
                                                               .doc = param->doc,
                                                               .note = param->unit,
                                                               .input = is_input(tour->recipe, section, param),
                                                               .param = param});
    tutti_free(value);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

static enum tutti_status visit_hyperparameters(tutti_context *context, const struct tour *tour) {
  const tutti_domain *domain = tour->recipe->hyperparameters;
  for (size_t i = 0; i < tutti_domain_count(domain); i++) {
    const char *name = tutti_domain_at(domain, i)->name, *own;
    const tutti_config *config;
    const char *section = tutti_recipe_owner(tour->recipe, name, &own);
    const struct tutti_param *param = tutti_params_find(tutti_recipe_owner_params(tour->recipe, section, &config), own);
    char *range;
    TUTTI_TRY(context, tutti_domain_text(context, domain, i, &range));
    enum tutti_status status =
        show(context, tour,
             (struct tutti_recipe_item){
                 .section = "hyperparameters", .key = name, .value = range, .doc = param->doc, .note = param->unit});
    tutti_free(range);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

/* [data]: its source, and the keys of the data set and of the source. */
static enum tutti_status visit_data(tutti_context *context, const struct tour *tour) {
  const tutti_config *config;
  const struct tutti_descriptor *source = tutti_recipe_plugin(tour->recipe, "data", &config);
  TUTTI_TRY(context, show(context, tour,
                          (struct tutti_recipe_item){.section = "data",
                                                     .key = "plugin",
                                                     .value = source->name,
                                                     .doc = source->summary,
                                                     .note = source->version,
                                                     .plugin = source}));
  TUTTI_TRY(context, visit_config(context, tour, "data", tour->recipe->data));
  return visit_config(context, tour, "data", config);
}

static enum tutti_status visit_plugins(tutti_context *context, const struct tour *tour) {
  const tutti_host *host = tour->recipe->host;
  for (size_t i = 0; i < tutti_host_sections(host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(host, i, &descriptor, &config);
    if (descriptor->kind == TUTTI_KIND_SOURCE)
      continue;
    TUTTI_TRY(context,
              show(context, tour,
                   (struct tutti_recipe_item){.section = section,
                                              .key = tutti_recipe_is_root(tour->recipe, section) ? "plugin" : "",
                                              .value = descriptor->name,
                                              .doc = descriptor->summary,
                                              .note = descriptor->version,
                                              .plugin = descriptor}));
    TUTTI_TRY(context, visit_config(context, tour, section, config));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_visit(tutti_context *context, const tutti_recipe *recipe, visit_item visit,
                                     void *argument) {
  const struct tour tour = {recipe, visit, argument};
  TUTTI_TRY(context, visit_config(context, &tour, "run", recipe->run));
  if (recipe->data) {
    TUTTI_TRY(context, visit_data(context, &tour));
    if (!recipe->fit)
      TUTTI_TRY(context, visit_config(context, &tour, "head", recipe->head));
  }
  if (recipe->fit)
    TUTTI_TRY(context, visit_config(context, &tour, RECIPE_FIT_SECTION, recipe->fit));
  TUTTI_TRY(context, visit_hyperparameters(context, &tour));
  TUTTI_TRY(context, visit_plugins(context, &tour));
  bool evaluates = recipe->data && !recipe->fit;
  return evaluates ? visit_config(context, &tour, "evaluation", recipe->evaluation) : TUTTI_OK;
}

/* --- overrides that nobody reads --------------------------------------------------------------------------------- */

static bool is_read(const tutti_recipe *recipe, const char *const *reads, const struct recipe_entry *entry) {
  size_t length = strlen(entry->section), sections = tutti_host_sections(recipe->host);
  for (; *reads; reads++)
    if (belongs_to(recipe, entry->section, *reads, sections) ||
        (strncmp(*reads, entry->section, length) == 0 && (*reads)[length] == '.' &&
         strcmp(*reads + length + 1, entry->key) == 0))
      return true;
  return false;
}

/* Where an override acts. Every command but `run` and `ablate` reads a few sections or keys alone. */
static const char *places_of(const tutti_recipe *recipe, const struct recipe_entry *entry) {
  static const struct {
    const char *read, *places;
  } known[] = {
      {"selector", "tutti run, tutti ablate, tutti select, and tutti curve"},
      {"calibrator", "tutti run, tutti ablate, and tutti select"},
      {"evaluation.folds", "tutti run, tutti ablate, and tutti select"},
      {"evaluation", "tutti run, tutti ablate, tutti select without --keep, tutti curve, and tutti evaluate"},
      {"space", "tutti run, tutti ablate, and tutti distance"},
      {"run.plugin_path", "tutti run, tutti ablate, tutti select, tutti curve, and tutti distance"},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (is_read(recipe, (const char *const[]){known[i].read, NULL}, entry))
      return known[i].places;
  return "tutti run and tutti ablate";
}

static enum tutti_status refuse(tutti_context *context, const tutti_recipe *recipe, const char *const *reads,
                                const struct recipe_entry *entry) {
  struct tutti_text text = tutti_text_begin(context);
  char *message;
  tutti_text_add(&text, "expected a key of ");
  for (size_t i = 0; reads[i]; i++) {
    bool key = strchr(reads[i], '.');
    tutti_text_add(&text, "%s%s%s%s",
                   i == 0         ? ""
                   : reads[i + 1] ? ", "
                                  : " or ",
                   key ? "" : "[", reads[i], key ? "" : "]");
  }
  tutti_text_add(&text, ": nothing else is read here; [%s] %s acts in %s", entry->section, entry->key,
                 places_of(recipe, entry));
  TUTTI_TRY(context, tutti_text_take(&text, &message));
  enum tutti_status status =
      tutti_recipe_blame_line(context, entry, TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message));
  tutti_free(message);
  return status;
}

enum tutti_status tutti_recipe_refuse_unread(tutti_context *context, const tutti_recipe *recipe,
                                             const char *const *reads) {
  for (size_t i = 0; i < recipe->count; i++)
    if (recipe->entries[i].file->command_line && !is_read(recipe, reads, &recipe->entries[i]))
      return refuse(context, recipe, reads, &recipe->entries[i]);
  return TUTTI_OK;
}

/* --- the same run? ----------------------------------------------------------------------------------------------- */

/* Looks for an item of one recipe in the other. */
struct comparison {
  const tutti_recipe *other;
  const struct tutti_recipe_item *wanted; /* of the first recipe */
  char *found;                            /* its value in `other` */
};

static enum tutti_status note_value(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct comparison *comparison = argument;
  if (strcmp(item->section, comparison->wanted->section) != 0 || strcmp(item->key, comparison->wanted->key) != 0)
    return TUTTI_OK;
  return tutti_strdup(context, item->value, &comparison->found);
}

static enum tutti_status compare_item(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct comparison *comparison = argument;
  if (item->part == TUTTI_RECIPE_CIRCUMSTANCES || item->part == TUTTI_RECIPE_EXTENT)
    return TUTTI_OK;
  comparison->wanted = item;
  comparison->found = NULL;
  TUTTI_TRY(context, tutti_recipe_visit(context, comparison->other, note_value, comparison));
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
  struct comparison forward = {.other = b}, backward = {.other = a};
  TUTTI_TRY(context, tutti_recipe_visit(context, a, compare_item, &forward));
  return tutti_recipe_visit(context, b, compare_item, &backward);
}
