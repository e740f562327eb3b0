/* ablation_swap.c - what an ablation swaps: keys, their values, and the texts that say so. */
#include "ablation_impl.h"
#include "path_labels.h"

#include "core/base/text_impl.h"

#include <string.h>

enum tutti_status tutti_ablation_copy_texts(tutti_context *context, size_t count, const char *const *from, char ***to) {
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof **to, to));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_strdup(context, from[i], &(*to)[i]));
  return TUTTI_OK;
}

void tutti_ablation_free_texts(size_t count, char **texts) {
  for (size_t i = 0; texts && i < count; i++)
    tutti_free(texts[i]);
  tutti_free(texts);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static enum tutti_status add_value(tutti_context *context, const char *key, const char *value, size_t *count,
                                   char ***values) {
  for (size_t i = 0; i < *count; i++)
    if (strcmp((*values)[i], value) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap %s: the value '%s' is given twice", key, value);
  TUTTI_TRY(context, tutti_realloc(context, *count, *count + 1, sizeof **values, values));
  TUTTI_TRY(context, tutti_strdup(context, value, &(*values)[*count]));
  ++*count;
  return TUTTI_OK;
}

/* "section.key=a,b,c", which is taken apart; `whole`, for the message, is what was given. */
static enum tutti_status parse_values(tutti_context *context, const char *whole, char *text, char **key, size_t *count,
                                      char ***values) {
  char *equals = strchr(text, '='), *cursor = equals ? equals + 1 : text, *value;
  if (equals)
    *equals = '\0';
  char *name = tutti_text_trim(text), *dot = strchr(name, '.');
  if (!equals || !dot || dot == name || !dot[1])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "--swap: expected 'section.key=a,b,c', perhaps followed by ' where section.key=a,b', found '%s'",
                      whole);
  TUTTI_TRY(context, tutti_strdup(context, name, key));
  while ((value = strsep(&cursor, ",")))
    TUTTI_TRY(context, add_value(context, *key, tutti_text_trim(value), count, values));
  return TUTTI_OK;
}

/* Keys that belong to a cell's name or its place in the matrix cannot be swapped. */
static enum tutti_status check_swap_key(tutti_context *context, const tutti_ablation *ablation, size_t index) {
  const char *key = ablation->swaps[index].key;
  if (strcmp(key, "run.seed") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap run.seed: seeds are swapped by --seeds N");
  if (strcmp(key, "run.name") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap run.name: cells are named by what is swapped in them");
  if (strcmp(key, "run.workers") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "--swap run.workers: the number of workers changes no result; give --workers N for all cells");
  for (size_t i = 0; i < index; i++)
    if (strcmp(ablation->swaps[i].key, key) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap %s: the key is given twice; put all its values in one",
                        key);
  for (size_t i = 0; i < index; i++)
    if (ablation->swaps[i].condition.key && strcmp(ablation->swaps[i].condition.key, key) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--swap %s: give it before --swap %s, whose condition it decides",
                        key, ablation->swaps[i].key);
  return TUTTI_OK;
}

const char *tutti_ablation_last_part(const char *key) { return strrchr(key, '.') + 1; }

bool tutti_ablation_has_paths(const struct ablation_swap *swap) {
  for (size_t i = 0; i < swap->count; i++)
    if (strchr(swap->values[i], '/'))
      return true;
  return strcmp(tutti_ablation_last_part(swap->key), "path") == 0;
}

static enum tutti_status label_values(tutti_context *context, struct ablation_swap *swap) {
  if (!tutti_ablation_has_paths(swap))
    return tutti_ablation_copy_texts(context, swap->count, (const char *const *)swap->values, &swap->labels);
  TUTTI_TRY(context, tutti_alloc(context, swap->count, sizeof *swap->labels, &swap->labels));
  return tutti_path_labels(context, swap->count, (const char *const *)swap->values, swap->labels);
}

enum tutti_status tutti_ablation_parse_swap(tutti_context *context, tutti_ablation *ablation, size_t index,
                                            const char *text) {
  static const char where[] = " where";
  enum tutti_status status = TUTTI_OK;
  struct ablation_swap *swap = &ablation->swaps[index];
  struct ablation_condition *condition = &swap->condition;
  char *copy;
  TUTTI_TRY(context, tutti_strdup(context, text, &copy));
  char *behind = strstr(copy, where);
  if (behind && (behind[sizeof where - 1] == ' ' || behind[sizeof where - 1] == '\0')) {
    *behind = '\0';
    behind = tutti_text_trim(behind + sizeof where - 1);
    TUTTI_TRY_OUT(context, tutti_strdup(context, behind, &condition->text));
    TUTTI_TRY_OUT(context, parse_values(context, text, behind, &condition->key, &condition->count, &condition->values));
  }
  TUTTI_TRY_OUT(context, parse_values(context, text, copy, &swap->key, &swap->count, &swap->values));
  TUTTI_TRY_OUT(context, check_swap_key(context, ablation, index));
  if (condition->key && strcmp(condition->key, swap->key) == 0)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "--swap %s: its condition cannot depend on its own value", swap->key));
  TUTTI_TRY_OUT(context, label_values(context, swap));
out:
  tutti_free(copy);
  return status;
}

/* Is this "section.key=..."? */
static bool begins_with_key(const char *text) {
  size_t length = strcspn(text, " =");
  const char *dot = memchr(text, '.', length);
  return dot && dot > text && dot + 1 < text + length && text[length + strspn(text + length, " ")] == '=';
}

/* The word before "section.key=" in a value; returns its length, or 0. */
static size_t word_before_key(const char *value, const char **word) {
  for (const char *blank = strchr(value, ' '); blank;) {
    const char *begin = blank + strspn(blank, " "), *end = begin + strcspn(begin, " ");
    *word = begin;
    if (begins_with_key(end + strspn(end, " ")))
      return (size_t)(end - begin);
    blank = *end ? end : NULL;
  }
  return 0;
}

size_t tutti_ablation_not_where(const struct ablation_swap *swap, const char **word) {
  size_t length = 0;
  for (size_t i = 0; i < swap->count && length == 0; i++)
    length = word_before_key(swap->values[i], word);
  return length;
}

void tutti_ablation_release_swap(struct ablation_swap *swap) {
  tutti_free(swap->key);
  tutti_ablation_free_texts(swap->count, swap->values);
  tutti_ablation_free_texts(swap->count, swap->labels);
  tutti_free(swap->condition.text);
  tutti_free(swap->condition.key);
  tutti_ablation_free_texts(swap->condition.count, swap->condition.values);
}

enum tutti_status tutti_ablation_setting(tutti_context *context, const tutti_ablation *ablation, size_t swap,
                                         size_t value, char **setting) {
  return tutti_format(context, setting, "%s=%s", ablation->swaps[swap].key, ablation->swaps[swap].values[value]);
}
