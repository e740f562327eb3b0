/* ablation_condition.c - in which cells a key is swapped: conditions on other keys, and what a condition with
   a value that is nowhere should have said. */
#include "ablation_impl.h"

#include "core/base/text_impl.h"

#include <string.h>

#include <tutti/names.h>

/* Load the recipe as it is before this swap: with the common overrides and the values of the swaps before it. */
static enum tutti_status load_before(tutti_context *context, const tutti_ablation *ablation, size_t recipe,
                                     const size_t *values, size_t swap, tutti_recipe **loaded) {
  enum tutti_status status = TUTTI_OK;
  size_t common = ablation->overrides, count = common;
  char **overrides = NULL;
  *loaded = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, common + swap, sizeof *overrides, &overrides));
  for (size_t i = 0; i < common; i++)
    overrides[i] = ablation->override[i];
  for (size_t s = 0; s < swap; s++)
    if (values[s] != ABLATION_NO_VALUE)
      TUTTI_TRY_OUT(context, tutti_ablation_setting(context, ablation, s, values[s], &overrides[count++]));
  status = tutti_recipe_load(context, ablation->recipe[recipe], count, (const char *const *)overrides, loaded);
  if (status != TUTTI_OK)
    (void)tutti_error_prefix(context, status, "--swap %s where %s: ", ablation->swaps[swap].key,
                             ablation->swaps[swap].condition.text);
out:
  for (size_t i = common; overrides && i < count; i++)
    tutti_free(overrides[i]);
  tutti_free(overrides);
  return status;
}

static const char hyperparameters[] = "hyperparameters.";

/* Is it a key of [hyperparameters]? */
static bool is_hyperparameter(const char *key) { return strncmp(key, hyperparameters, strlen(hyperparameters)) == 0; }

/* Is this item of the section that the key begins with? */
static bool is_in_section(const struct tutti_recipe_item *item, const char *key) {
  size_t length = strlen(item->section);
  return strncmp(item->section, key, length) == 0 && key[length] == '.';
}

/* Is this item the key "section.key"? One of [hyperparameters] that has one value is an item of whom it belongs to: of
   the backend, which is not named, or of the head or a learner, as "svm.c". */
static bool is_key(const struct tutti_recipe_item *item, const char *key) {
  if (is_in_section(item, key) && strcmp(item->key, key + strlen(item->section) + 1) == 0)
    return true;
  if (!is_hyperparameter(key))
    return false;
  key += strlen(hyperparameters);
  return (strcmp(item->section, "backend") == 0 && strcmp(item->key, key) == 0) || is_key(item, key);
}

/* Could this item be meant where the key is written? */
static bool is_beside(const struct tutti_recipe_item *item, const char *key) {
  return is_in_section(item, key) ||
         (is_hyperparameter(key) && strcmp(item->section, "backend") == 0 && strcmp(item->key, "plugin") != 0);
}

/* --- does it hold? ----------------------------------------------------------------------------------------------- */

/* A condition, and whether an item of the recipe meets it. */
struct meeting {
  const struct ablation_condition *condition;
  bool met;
};

static enum tutti_status meet(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct meeting *meeting = argument;
  (void)context;
  for (size_t i = 0; is_key(item, meeting->condition->key) && i < meeting->condition->count; i++)
    meeting->met = meeting->met || strcmp(item->value, meeting->condition->values[i]) == 0;
  return TUTTI_OK;
}

enum tutti_status tutti_ablation_condition(tutti_context *context, const tutti_ablation *ablation, size_t recipe,
                                           const size_t *values, size_t swap, bool *holds) {
  struct meeting meeting = {.condition = &ablation->swaps[swap].condition};
  tutti_recipe *loaded;
  *holds = true;
  if (!meeting.condition->key)
    return TUTTI_OK;
  TUTTI_TRY(context, load_before(context, ablation, recipe, values, swap, &loaded));
  enum tutti_status status = tutti_recipe_visit(context, loaded, meet, &meeting);
  *holds = meeting.met;
  tutti_recipe_destroy(loaded);
  return status;
}

/* --- a value of it is nowhere ------------------------------------------------------------------------------------ */

/* Texts, each once. */
struct found {
  char **items;
  size_t count;
};

static bool has(const struct found *found, const char *text) {
  for (size_t i = 0; i < found->count; i++)
    if (strcmp(found->items[i], text) == 0)
      return true;
  return false;
}

static enum tutti_status add_found(tutti_context *context, struct found *found, const char *text) {
  if (has(found, text))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, found->count, found->count + 1, sizeof *found->items, &found->items));
  TUTTI_TRY(context, tutti_strdup(context, text, &found->items[found->count]));
  found->count++;
  return TUTTI_OK;
}

/* What there is in the cells: all keys, as "section.key"; those of the condition's section; the values of its key. */
struct survey {
  const char *key;
  struct found keys, section, values;
};

static enum tutti_status look(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct survey *survey = argument;
  char *key;
  if (!*item->section || !*item->key)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &key, "%s.%s", item->section, item->key));
  enum tutti_status status = add_found(context, &survey->keys, key);
  if (status == TUTTI_OK && is_beside(item, survey->key))
    status = add_found(context, &survey->section, item->key);
  if (status == TUTTI_OK && is_key(item, survey->key))
    status = add_found(context, &survey->values, item->value);
  tutti_free(key);
  return status;
}

static const char *closest_found(const struct found *found, const char *name) {
  return tutti_closest_name(name, found->count, (const char *const *)found->items);
}

/* "a, b or c", the first of many. */
static void add_list(struct tutti_text *text, const struct found *found, size_t most, const char *last) {
  size_t shown = found->count < most ? found->count : most;
  for (size_t i = 0; i < shown; i++)
    tutti_text_add(text, "%s%.60s", i == 0 ? "" : i + 1 == found->count ? last : ", ", found->items[i]);
  tutti_text_add(text, shown < found->count ? ", ..." : "");
}

/* Of a section that is there, its keys; else the key that is called nearly like this one, in whichever section. */
static void add_unknown_key(struct tutti_text *text, const struct survey *survey) {
  const char *dot = strchr(survey->key, '.');
  bool known = survey->section.count > 0;
  const char *closest = known ? closest_found(&survey->section, dot + 1) : closest_found(&survey->keys, survey->key);
  tutti_text_add(text, ", since no cell has a key %s", survey->key);
  if (closest)
    tutti_text_add(text, "; did you mean '%s'?", closest);
  if (known) {
    tutti_text_add(text, " ([%.*s] has: ", (int)(dot - survey->key), survey->key);
    add_list(text, &survey->section, SIZE_MAX, ", ");
    tutti_text_add(text, ")");
  }
}

/* How many of the condition's values there are; `missing`: the first that there is not. */
static size_t count_met(const struct ablation_condition *condition, const struct survey *survey, const char **missing) {
  size_t met = 0;
  *missing = NULL;
  for (size_t i = 0; i < condition->count; i++)
    if (has(&survey->values, condition->values[i]))
      met++;
    else if (!*missing)
      *missing = condition->values[i];
  return met;
}

static void add_unmet_value(struct tutti_text *text, const struct survey *survey, const char *missing) {
  enum { SHOWN = 8 };
  const char *closest = closest_found(&survey->values, missing);
  tutti_text_add(text, ": there %s is ", survey->key);
  add_list(text, &survey->values, SHOWN, " or ");
  tutti_text_add(text, closest ? "; did you mean '%s'?" : "", closest);
}

enum tutti_status tutti_ablation_check_condition(tutti_context *context, const tutti_ablation *ablation, size_t swap,
                                                 size_t count, const struct ablation_variant *variants) {
  enum tutti_status status = TUTTI_OK;
  const struct ablation_condition *condition = &ablation->swaps[swap].condition;
  struct survey survey = {.key = condition->key};
  struct tutti_text text = tutti_text_begin(context);
  tutti_recipe *loaded = NULL;
  const char *missing = NULL;
  char *why = NULL;
  size_t met = 0;
  for (size_t v = 0; v < count && met < condition->count; v++) {
    TUTTI_TRY_OUT(context, load_before(context, ablation, variants[v].recipe, variants[v].values, swap, &loaded));
    TUTTI_TRY_OUT(context, tutti_recipe_visit(context, loaded, look, &survey));
    tutti_recipe_destroy(loaded);
    loaded = NULL;
    met = count_met(condition, &survey, &missing);
  }
  if (met == condition->count)
    goto out;
  if (survey.values.count == 0)
    add_unknown_key(&text, &survey);
  else
    add_unmet_value(&text, &survey, missing);
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &why));
  if (met > 0)
    tutti_log(context, TUTTI_LOG_WARNING, "--swap %s: its condition, %s, names '%s', which no cell has%s",
              ablation->swaps[swap].key, condition->text, missing, why);
  else
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "--swap %s: its condition, %s, holds in no cell%s; conditions see the recipe and the keys that "
                        "are swapped before it",
                        ablation->swaps[swap].key, condition->text, why);
out:
  tutti_text_discard(&text);
  tutti_recipe_destroy(loaded);
  tutti_ablation_free_texts(survey.keys.count, survey.keys.items);
  tutti_ablation_free_texts(survey.section.count, survey.section.items);
  tutti_ablation_free_texts(survey.values.count, survey.values.items);
  tutti_free(why);
  return status;
}
