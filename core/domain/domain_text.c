/* domain_text.c - domains as recipes write them, and points as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

#include "domain_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"

/* --- dimensions as recipes write them --------------------------------------------------------------------------- */

/* A text cut at blanks. */
struct words {
  char *text;
  size_t count;
  const char **items; /* [count] */
};

static void words_release(struct words *words) {
  tutti_free(words->text);
  tutti_free(words->items);
}

static enum tutti_status words_split(tutti_context *context, const char *text, struct words *words) {
  static const char blanks[] = " \t";
  *words = (struct words){0};
  TUTTI_TRY(context, tutti_strdup(context, text, &words->text));
  TUTTI_TRY(context, tutti_alloc(context, strlen(text) / 2 + 1, sizeof *words->items, &words->items));
  char *rest = words->text;
  for (char *word = strtok_r(words->text, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest))
    words->items[words->count++] = word;
  return TUTTI_OK;
}

struct form {
  const char *word;
  enum tutti_dimension_type type;
  bool log;
};
static const struct form forms[] = {
    {"uniform", TUTTI_DIMENSION_REAL, false},       {"log-uniform", TUTTI_DIMENSION_REAL, true},
    {"integer", TUTTI_DIMENSION_INTEGER, false},    {"log-integer", TUTTI_DIMENSION_INTEGER, true},
    {"choice", TUTTI_DIMENSION_CATEGORICAL, false},
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

static const struct form *find_form(const char *word) {
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (strcmp(forms[i].word, word) == 0)
      return &forms[i];
  return NULL;
}

bool tutti_domain_is_range(const char *text) {
  static const char blanks[] = " \t";
  text += strspn(text, blanks);
  size_t length = strcspn(text, blanks);
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (strlen(forms[i].word) == length && strncmp(forms[i].word, text, length) == 0)
      return true;
  return false;
}

static enum tutti_status unknown_form(tutti_context *context, const char *name, const char *word) {
  const char *names[FORM_COUNT];
  for (size_t i = 0; i < FORM_COUNT; i++)
    names[i] = forms[i].word;
  const char *closest = tutti_closest_name(word, FORM_COUNT, names);
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "%s: expected 'uniform A B', 'log-uniform A B', 'integer A B', 'log-integer A B' or 'choice A B ...', "
      "found '%s'%s%s%s",
      name, word, closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

static enum tutti_status read_limits(tutti_context *context, const struct words *words, size_t count,
                                     struct tutti_dimension *dimension) {
  double *limits[2] = {&dimension->low, &dimension->high};
  if (count != 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected '%s A B' with two numbers, found %zu", dimension->name,
                      words->items[0], count - 1);
  for (size_t i = 0; i < 2; i++)
    if (!tutti_number_parse(words->items[1 + i], limits[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a number, found '%s'", dimension->name,
                        words->items[1 + i]);
  return TUTTI_OK;
}

/* Number of a choice; SIZE_MAX when there is none of that name. */
static size_t find_choice(const struct tutti_dimension *dimension, const char *name) {
  for (size_t i = 0; i < dimension->choice_count; i++)
    if (strcmp(dimension->choices[i], name) == 0)
      return i;
  return SIZE_MAX;
}

static enum tutti_status unknown_choice(tutti_context *context, const char *name,
                                        const struct tutti_dimension *dimension, const char *found) {
  const char *closest = tutti_closest_name(found, dimension->choice_count, dimension->choices);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: '%s' is no choice of '%s'%s%s%s", name, found, dimension->name,
                    closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

/* A value of the parent, as a condition writes it. tutti_domain_add checks whether the parent can have it. */
static enum tutti_status read_parent_value(tutti_context *context, const char *name,
                                           const struct tutti_dimension *parent, const char *text, double *value) {
  if (parent->type == TUTTI_DIMENSION_CATEGORICAL) {
    size_t choice = find_choice(parent, text);
    if (choice == SIZE_MAX)
      return unknown_choice(context, name, parent, text);
    *value = (double)choice;
    return TUTTI_OK;
  }
  if (!tutti_number_parse(text, value))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a value of '%s', a number, found '%s'", name,
                      parent->name, text);
  return TUTTI_OK;
}

/* "if NAME = v1 v2 ..." from word `begin` on; the caller frees *values. */
static enum tutti_status read_condition(tutti_context *context, const tutti_domain *domain, const struct words *words,
                                        size_t begin, struct tutti_dimension *dimension, double **values) {
  *values = NULL;
  if (begin == words->count)
    return TUTTI_OK;
  if (words->count < begin + 4 || strcmp(words->items[begin + 2], "=") != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected 'if NAME = VALUE ...' with blanks around '=' at the end", dimension->name);
  dimension->parent = words->items[begin + 1];
  dimension->parent_value_count = words->count - begin - 3;
  TUTTI_TRY(context, tutti_alloc(context, dimension->parent_value_count, sizeof **values, values));
  dimension->parent_values = *values;
  size_t parent = tutti_domain_find(domain, dimension->parent);
  for (size_t i = 0; parent != SIZE_MAX && i < dimension->parent_value_count; i++)
    TUTTI_TRY(context, read_parent_value(context, dimension->name, tutti_domain_at(domain, parent),
                                         words->items[begin + 3 + i], *values + i));
  return TUTTI_OK;
}

enum tutti_status tutti_domain_add_text(tutti_context *context, tutti_domain *domain, const char *name,
                                        const char *text) {
  enum tutti_status status = TUTTI_OK;
  struct words words = {0};
  double *values = NULL;
  TUTTI_TRY_OUT(context, words_split(context, text, &words));
  const struct form *form = words.count ? find_form(words.items[0]) : NULL;
  if (!form) {
    status = unknown_form(context, name, words.count ? words.items[0] : "");
    goto out;
  }
  size_t end = 1;
  while (end < words.count && strcmp(words.items[end], "if") != 0)
    end++;
  struct tutti_dimension dimension = {.size = sizeof dimension, .name = name, .type = form->type, .log = form->log};
  if (form->type == TUTTI_DIMENSION_CATEGORICAL) {
    dimension.choices = words.items + 1;
    dimension.choice_count = end - 1;
  } else {
    TUTTI_TRY_OUT(context, read_limits(context, &words, end, &dimension));
  }
  TUTTI_TRY_OUT(context, read_condition(context, domain, &words, end, &dimension, &values));
  TUTTI_TRY_OUT(context, tutti_domain_add(context, domain, &dimension));
out:
  tutti_free(values);
  words_release(&words);
  return status;
}

/* --- points as JSON --------------------------------------------------------------------------------------------- */

static void add_value(struct tutti_text *text, const struct tutti_dimension *dimension, double value) {
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    tutti_text_add_json(text, dimension->choices[(size_t)value]);
  else if (dimension->type == TUTTI_DIMENSION_INTEGER)
    tutti_text_add(text, "%.0f", value);
  else if (value == 0 && signbit(value))
    tutti_text_add(text, "-0.0"); /* "-0" would read back as the integer 0 */
  else
    tutti_text_add_number(text, value);
}

enum tutti_status tutti_domain_print(tutti_context *context, const tutti_domain *domain, const double *point,
                                     char **json) {
  struct tutti_text text = tutti_text_begin(context);
  const char *separator = "";
  tutti_text_add(&text, "{");
  for (size_t i = 0; i < domain->count; i++) {
    if (isnan(point[i]))
      continue;
    tutti_text_add(&text, "%s", separator);
    tutti_text_add_json(&text, domain->dimensions[i].given.name);
    tutti_text_add(&text, ": ");
    add_value(&text, &domain->dimensions[i].given, point[i]);
    separator = ", ";
  }
  tutti_text_add(&text, "}");
  return tutti_text_take(&text, json);
}

static enum tutti_status read_value(tutti_context *context, const struct tutti_dimension *dimension,
                                    const json_t *value, double *out) {
  if (dimension->type != TUTTI_DIMENSION_CATEGORICAL) {
    if (!json_is_number(value))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a number", dimension->name);
    *out = json_number_value(value);
    return TUTTI_OK;
  }
  if (!json_is_string(value))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a text, the name of a choice", dimension->name);
  size_t choice = find_choice(dimension, json_string_value(value));
  if (choice == SIZE_MAX)
    return unknown_choice(context, dimension->name, dimension, json_string_value(value));
  *out = (double)choice;
  return TUTTI_OK;
}

static enum tutti_status unknown_member(tutti_context *context, const tutti_domain *domain, const char *name) {
  const char *closest = NULL;
  for (size_t i = 0; i < domain->count && !closest; i++)
    closest = tutti_closest_name(name, 1, &domain->dimensions[i].given.name);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there is no dimension of this name%s%s%s", name,
                    closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

static enum tutti_status read_point(tutti_context *context, const tutti_domain *domain, const json_t *object,
                                    double *point) {
  const char *name;
  json_t *value;
  if (!json_is_object(object))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a JSON object of dimensions and values");
  json_object_foreach((json_t *)object, name, value) {
    if (tutti_domain_find(domain, name) == SIZE_MAX)
      return unknown_member(context, domain, name);
  }
  for (size_t i = 0; i < domain->count; i++) {
    const struct tutti_dimension *dimension = &domain->dimensions[i].given;
    value = json_object_get(object, dimension->name);
    point[i] = NAN;
    if (value)
      TUTTI_TRY(context, read_value(context, dimension, value, &point[i]));
    else if (tutti_dimension_active(domain, i, point))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: has no value", dimension->name);
  }
  return tutti_domain_check(context, domain, point);
}

enum tutti_status tutti_domain_parse(tutti_context *context, const tutti_domain *domain, const char *json,
                                     double *point) {
  json_t *object;
  TUTTI_TRY(context, tutti_json_parse(context, json, JSON_REJECT_DUPLICATES, TUTTI_ERROR_USAGE,
                                      "a JSON object of dimensions and values", &object));
  enum tutti_status status = read_point(context, domain, object, point);
  json_decref(object);
  return status;
}

/* --- dimensions as text ------------------------------------------------------------------------------------------ */

/* A value as recipes write it. */
static void add_word(struct tutti_text *text, const struct tutti_dimension *dimension, double value) {
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    tutti_text_add(text, " %s", dimension->choices[(size_t)value]);
  else {
    tutti_text_add(text, " ");
    add_value(text, dimension, value);
  }
}

enum tutti_status tutti_domain_text(tutti_context *context, const tutti_domain *domain, size_t index, char **out) {
  const struct dimension *dimension = &domain->dimensions[index];
  const struct tutti_dimension *given = &dimension->given;
  struct tutti_text text = tutti_text_begin(context);
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (forms[i].type == given->type && forms[i].log == given->log)
      tutti_text_add(&text, "%s", forms[i].word);
  if (given->type == TUTTI_DIMENSION_CATEGORICAL) {
    for (size_t i = 0; i < given->choice_count; i++)
      add_word(&text, given, (double)i);
  } else {
    add_word(&text, given, given->low);
    add_word(&text, given, given->high);
  }
  if (given->parent)
    tutti_text_add(&text, " if %s =", given->parent);
  for (size_t i = 0; i < given->parent_value_count; i++)
    add_word(&text, &domain->dimensions[dimension->parent].given, given->parent_values[i]);
  return tutti_text_take(&text, out);
}
