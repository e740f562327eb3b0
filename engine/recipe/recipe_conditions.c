/* recipe_conditions.c - conditions of ranges, "RANGE if NAME = VALUE ...", where a higher layer has given NAME one
   value, or fewer to choose from: the range then counts always, never, or for the values that are left. */
#include <string.h>

#include "recipe_impl.h"
#include "core/base/text_impl.h"

static const char word_if[] = " if ";

/* The entry that a condition's name stands for, where it is of a higher layer than the range; else NULL. */
static const struct recipe_entry *decided_above(const tutti_recipe *recipe, const struct recipe_entry *entry,
                                                const char *name) {
  const struct recipe_entry *other = tutti_recipe_find(recipe, "hyperparameters", name);
  return other && other->layer > entry->layer ? other : NULL;
}

/* Is it the one value, or one of the choices? Ranges of numbers have whatever the condition says. */
static bool is_possible(const tutti_domain *domain, const struct recipe_entry *decided, const char *value) {
  size_t index = tutti_domain_find(domain, decided->key);
  if (index == SIZE_MAX)
    return strcmp(decided->value, value) == 0;
  const struct tutti_dimension *dimension = tutti_domain_at(domain, index);
  for (size_t i = 0; i < dimension->choice_count; i++)
    if (strcmp(dimension->choices[i], value) == 0)
      return true;
  return dimension->type != TUTTI_DIMENSION_CATEGORICAL;
}

/* Write the range with what is left of its condition; nothing if no value is left. */
static void add_rest(struct tutti_text *text, const tutti_recipe *recipe, const struct recipe_entry *decided,
                     const char *range, char *values) {
  bool fixed = tutti_domain_find(recipe->hyperparameters, decided->key) == SIZE_MAX;
  size_t left = 0;
  for (char *rest = values, *word; (word = strtok_r(rest, " \t", &rest));) {
    if (!is_possible(recipe->hyperparameters, decided, word))
      continue;
    if (left++ == 0)
      tutti_text_add(text, "%s", range);
    if (left == 1 && !fixed)
      tutti_text_add(text, "%s%s =", word_if, decided->key);
    if (!fixed)
      tutti_text_add(text, " %s", word);
  }
}

enum tutti_status tutti_recipe_condition(tutti_context *context, const tutti_recipe *recipe,
                                         const struct recipe_entry *entry, char **text) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text rest = tutti_text_begin(context);
  char *copy = NULL, *name, *end;
  *text = NULL;
  TUTTI_TRY_OUT(context, tutti_strdup(context, entry->value, &copy));
  name = strstr(copy, word_if);
  end = name ? strstr(name, " = ") : NULL;
  if (end) {
    *name = *end = '\0';
    name += sizeof word_if - 1;
    name += strspn(name, " \t");
  }
  const struct recipe_entry *decided = end ? decided_above(recipe, entry, name) : NULL;
  if (decided)
    add_rest(&rest, recipe, decided, copy, end + sizeof " = " - 1);
  else
    tutti_text_add(&rest, "%s", entry->value);
  TUTTI_TRY_OUT(context, tutti_text_take(&rest, text));
out:
  tutti_free(copy);
  return status;
}
