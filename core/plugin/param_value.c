/* param_value.c - values of parameters: from text with every check, back to text, and into their field. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "param_impl.h"
#include "core/base/text_impl.h"

static const char separators[] = " \t\r\n,";

/* Seconds may be written with another unit. */
static bool is_duration(const struct tutti_param *param) { return param->unit && strcmp(param->unit, "s") == 0; }

bool tutti_param_is_text(enum tutti_param_type type) {
  return type == TUTTI_PARAM_STRING || type == TUTTI_PARAM_PATH || type == TUTTI_PARAM_PLUGIN;
}

size_t tutti_param_field_size(enum tutti_param_type type) {
  switch (type) {
  case TUTTI_PARAM_BOOL:
    return sizeof(bool);
  case TUTTI_PARAM_INTEGER:
    return sizeof(int64_t);
  case TUTTI_PARAM_REAL:
    return sizeof(double);
  case TUTTI_PARAM_CHOICE:
    return sizeof(int);
  case TUTTI_PARAM_STRING:
  case TUTTI_PARAM_PATH:
  case TUTTI_PARAM_PLUGIN:
    return sizeof(const char *);
  case TUTTI_PARAM_INTEGERS:
    return sizeof(struct tutti_integers);
  case TUTTI_PARAM_REALS:
    return sizeof(struct tutti_reals);
  case TUTTI_PARAM_CHOICES:
    return sizeof(struct tutti_choices);
  }
  return 0;
}

/* The type of a list's elements; else the type itself. */
static enum tutti_param_type element_type(enum tutti_param_type type) {
  switch (type) {
  case TUTTI_PARAM_INTEGERS:
    return TUTTI_PARAM_INTEGER;
  case TUTTI_PARAM_REALS:
    return TUTTI_PARAM_REAL;
  case TUTTI_PARAM_CHOICES:
    return TUTTI_PARAM_CHOICE;
  default:
    return type;
  }
}

static bool is_list(const struct tutti_param *param) { return element_type(param->type) != param->type; }

/* --- what is expected, in words --- */

static bool has_min(const struct tutti_param *param) {
  return !isinf(param->min) && (param->min != 0 || param->max != 0);
}

static bool has_max(const struct tutti_param *param) {
  return !isinf(param->max) && (param->min != 0 || param->max != 0);
}

static void add_range(struct tutti_text *text, const struct tutti_param *param) {
  if (has_min(param) && has_max(param)) {
    tutti_text_add(text, param->min_open ? " in (" : " in [");
    tutti_text_add_number(text, param->min);
    tutti_text_add(text, ", ");
    tutti_text_add_number(text, param->max);
    tutti_text_add(text, param->max_open ? ")" : "]");
  } else if (has_min(param)) {
    tutti_text_add(text, param->min_open ? " > " : " >= ");
    tutti_text_add_number(text, param->min);
  } else if (has_max(param)) {
    tutti_text_add(text, param->max_open ? " < " : " <= ");
    tutti_text_add_number(text, param->max);
  }
}

static void add_choices(struct tutti_text *text, const struct tutti_param *param) {
  for (size_t i = 0; param->choices[i]; i++)
    tutti_text_add(text, "%s%s", i ? ", " : " ", param->choices[i]);
}

/* As in "an integer in [1, 16]", "a list of numbers, each > 0", "one of: sgd, adam". */
static void add_expectation(struct tutti_text *text, const struct tutti_param *param) {
  switch (param->type) {
  case TUTTI_PARAM_BOOL:
    tutti_text_add(text, "yes or no");
    break;
  case TUTTI_PARAM_INTEGER:
    tutti_text_add(text, "an integer");
    break;
  case TUTTI_PARAM_REAL:
    tutti_text_add(text, "a number");
    break;
  case TUTTI_PARAM_CHOICE:
    tutti_text_add(text, "one of:");
    break;
  case TUTTI_PARAM_INTEGERS:
    tutti_text_add(text, "a list of integers");
    break;
  case TUTTI_PARAM_REALS:
    tutti_text_add(text, "a list of numbers");
    break;
  case TUTTI_PARAM_CHOICES:
    tutti_text_add(text, "a list of:");
    break;
  case TUTTI_PARAM_PLUGIN:
    tutti_text_add(text, "the name of a %s (lower-case letters, digits and hyphens)", tutti_kind_name(param->kind));
    break;
  case TUTTI_PARAM_STRING:
  case TUTTI_PARAM_PATH:
    tutti_text_add(text, "a text");
    break;
  }
  enum tutti_param_type element = element_type(param->type);
  if (element == TUTTI_PARAM_CHOICE)
    add_choices(text, param);
  if (element == TUTTI_PARAM_INTEGER || element == TUTTI_PARAM_REAL) {
    if (is_list(param) && (has_min(param) || has_max(param)))
      tutti_text_add(text, ", each");
    add_range(text, param);
    if (param->unit)
      tutti_text_add(text, " (%s)%s", param->unit,
                     is_duration(param) && param->type == TUTTI_PARAM_REAL ? ", or with a unit: s, m, h or d" : "");
  }
}

/* Fail with "expected ..., found ..." and, for a choice, the closest one. */
static enum tutti_status refuse(tutti_context *context, const struct tutti_param *param, const char *found) {
  struct tutti_text text = tutti_text_begin(context);
  char *message;
  tutti_text_add(&text, "expected ");
  add_expectation(&text, param);
  if (found[0])
    tutti_text_add(&text, "; found '%s'", found);
  else
    tutti_text_add(&text, "; found nothing");
  if (element_type(param->type) == TUTTI_PARAM_CHOICE) {
    size_t count = 0;
    while (param->choices[count])
      count++;
    const char *closest = tutti_closest_name(found, count, param->choices);
    if (closest)
      tutti_text_add(&text, "; did you mean '%s'?", closest);
  }
  TUTTI_TRY(context, tutti_text_take(&text, &message));
  enum tutti_status status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message);
  tutti_free(message);
  return status;
}

/* --- from text --- */

static bool is_infinite(const char *text) {
  double number;
  return text && tutti_number_parse(text, &number) && isinf(number);
}

/* Is the number in range, and finite unless the preset is infinite? */
static bool in_range(const struct tutti_param *param, double number) {
  if (isnan(number) || (isinf(number) && !is_infinite(param->preset)))
    return false;
  if (has_min(param) && (param->min_open ? number <= param->min : number < param->min))
    return false;
  return !(has_max(param) && (param->max_open ? number >= param->max : number > param->max));
}

/* Decimal digits with sign, point and exponent, or inf. Whatever else strtod takes is a slip here. */
static bool parse_real(const char *text, double *number) {
  bool word = strcmp(text, "inf") == 0 || strcmp(text, "infinity") == 0;
  if (!word && text[strspn(text, "+-.eE0123456789")] != '\0')
    return false;
  return tutti_number_parse(text, number) && (word || !isinf(*number));
}

/* Seconds, as "90" or with a unit: "90s", "1.5 h". */
static bool parse_duration(const char *text, double *seconds) {
  static const struct {
    char letter;
    double seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  char number[TUTTI_NUMBER_SIZE * 2];
  size_t length = strlen(text);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (length < 2 || length >= sizeof number || text[length - 1] != units[i].letter)
      continue;
    (void)snprintf(number, sizeof number, "%s", text);
    for (length--; length > 0 && number[length - 1] == ' ';)
      length--;
    number[length] = '\0';
    if (!parse_real(number, seconds) || isinf(*seconds))
      return false;
    *seconds *= units[i].seconds;
    return true;
  }
  return parse_real(text, seconds);
}

static bool parse_integer(const char *text, int64_t *integer) {
  char *end;
  if (text[strspn(text, "+-0123456789")] != '\0')
    return false;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  *integer = value;
  return end != text && *end == '\0' && errno == 0;
}

static bool parse_bool(const char *text, int64_t *value) {
  static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}, {"0", "1"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    for (int64_t truth = 0; truth < 2; truth++)
      if (strcmp(text, words[i][truth]) == 0) {
        *value = truth;
        return true;
      }
  return false;
}

static bool parse_choice(const struct tutti_param *param, const char *text, int64_t *choice) {
  for (int64_t i = 0; param->choices[i]; i++)
    if (strcmp(param->choices[i], text) == 0) {
      *choice = i;
      return true;
    }
  return false;
}

/* One number, bool or choice. */
static bool parse_element(const struct tutti_param *param, const char *text, struct tutti_value *value) {
  switch (element_type(param->type)) {
  case TUTTI_PARAM_BOOL:
    return parse_bool(text, &value->integer);
  case TUTTI_PARAM_INTEGER:
    return parse_integer(text, &value->integer) && in_range(param, (double)value->integer);
  case TUTTI_PARAM_REAL:
    return (is_duration(param) ? parse_duration(text, &value->number) : parse_real(text, &value->number)) &&
           in_range(param, value->number);
  default:
    return parse_choice(param, text, &value->integer);
  }
}

static void put_element(const struct tutti_param *param, const struct tutti_value *element, size_t index, void *list) {
  switch (element_type(param->type)) {
  case TUTTI_PARAM_INTEGER:
    ((int64_t *)list)[index] = element->integer;
    break;
  case TUTTI_PARAM_REAL:
    ((double *)list)[index] = element->number;
    break;
  default:
    ((int *)list)[index] = (int)element->integer;
  }
}

static size_t count_words(const char *text) {
  size_t count = 0;
  for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
    text += strcspn(text, separators);
    count++;
  }
  return count;
}

/* Elements are separated by blanks or commas. A list may be empty only where its preset is. */
static enum tutti_status parse_list(tutti_context *context, const struct tutti_param *param, const char *text,
                                    struct tutti_value *value) {
  enum tutti_status status = TUTTI_OK;
  char *words = NULL, *rest;
  void *list = NULL;
  size_t size = tutti_param_field_size(element_type(param->type)), count = count_words(text), index = 0;
  if (count == 0 && (!param->preset || count_words(param->preset) > 0))
    return refuse(context, param, "");
  TUTTI_TRY_OUT(context, tutti_strdup(context, text, &words));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, size, &list));
  for (char *word = strtok_r(words, separators, &rest); word; word = strtok_r(NULL, separators, &rest)) {
    struct tutti_value element = {0};
    if (!parse_element(param, word, &element))
      TUTTI_TRY_OUT(context, refuse(context, param, word));
    put_element(param, &element, index++, list);
  }
  *value = (struct tutti_value){.count = count, .memory = list, .bytes = count * size};
  list = NULL;
out:
  tutti_free(list);
  tutti_free(words);
  return status;
}

static enum tutti_status parse_text(tutti_context *context, const struct tutti_param *param, const char *text,
                                    struct tutti_value *value) {
  if (param->type == TUTTI_PARAM_PLUGIN) {
    if (!tutti_plugin_name_valid(text))
      return refuse(context, param, text);
    if (strcmp(text, "none") == 0 && !(param->preset && strcmp(param->preset, "none") == 0))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected the name of a %s; found 'none', but one is needed here",
                        tutti_kind_name(param->kind));
  }
  char *copy;
  TUTTI_TRY(context, tutti_strdup(context, text, &copy));
  *value = (struct tutti_value){.memory = copy, .bytes = strlen(text) + 1};
  return TUTTI_OK;
}

enum tutti_status tutti_value_parse(tutti_context *context, const struct tutti_param *param, const char *text,
                                    struct tutti_value *value) {
  *value = (struct tutti_value){0};
  if (tutti_param_is_text(param->type))
    return parse_text(context, param, text, value);
  if (is_list(param))
    return parse_list(context, param, text, value);
  return parse_element(param, text, value) ? TUTTI_OK : refuse(context, param, text);
}

/* --- from a number --- */

/* 2^63: the first double that no int64_t holds. */
static const double integer_end = 9223372036854775808.0;

static bool number_fits(const struct tutti_param *param, double number) {
  bool whole = number == floor(number) && fabs(number) < integer_end;
  size_t choices = 0;
  switch (param->type) {
  case TUTTI_PARAM_BOOL:
    return number == 0 || number == 1;
  case TUTTI_PARAM_INTEGER:
    return whole && in_range(param, number);
  case TUTTI_PARAM_REAL:
    return in_range(param, number);
  case TUTTI_PARAM_CHOICE:
    while (param->choices[choices])
      choices++;
    return whole && number >= 0 && number < (double)choices;
  default:
    return false;
  }
}

enum tutti_status tutti_value_from_number(tutti_context *context, const struct tutti_param *param, double number,
                                          struct tutti_value *value) {
  *value = (struct tutti_value){0};
  if (!number_fits(param, number)) {
    char text[TUTTI_NUMBER_SIZE];
    tutti_number_print(number, text);
    return refuse(context, param, text);
  }
  if (param->type == TUTTI_PARAM_REAL)
    value->number = number;
  else
    value->integer = (int64_t)number;
  return TUTTI_OK;
}

/* --- to text --- */

static void add_element(struct tutti_text *text, const struct tutti_param *param, int64_t integer, double number) {
  switch (element_type(param->type)) {
  case TUTTI_PARAM_BOOL:
    tutti_text_add(text, "%s", integer ? "true" : "false");
    break;
  case TUTTI_PARAM_INTEGER:
    tutti_text_add(text, "%lld", (long long)integer);
    break;
  case TUTTI_PARAM_REAL:
    tutti_text_add_number(text, number);
    break;
  default:
    tutti_text_add(text, "%s", param->choices[integer]);
  }
}

enum tutti_status tutti_value_print(tutti_context *context, const struct tutti_param *param,
                                    const struct tutti_value *value, char **text) {
  struct tutti_text out = tutti_text_begin(context);
  if (tutti_param_is_text(param->type))
    tutti_text_add(&out, "%s", (const char *)value->memory);
  else if (!is_list(param))
    add_element(&out, param, value->integer, value->number);
  for (size_t i = 0; is_list(param) && i < value->count; i++) {
    int64_t integer = param->type == TUTTI_PARAM_INTEGERS  ? ((const int64_t *)value->memory)[i]
                      : param->type == TUTTI_PARAM_CHOICES ? ((const int *)value->memory)[i]
                                                           : 0;
    if (i)
      tutti_text_add(&out, " ");
    add_element(&out, param, integer, param->type == TUTTI_PARAM_REALS ? ((const double *)value->memory)[i] : 0);
  }
  return tutti_text_take(&out, text);
}

/* --- into the field and back --- */

void tutti_value_store(const struct tutti_param *param, const struct tutti_value *value, void *config) {
  void *field = (char *)config + param->offset;
  switch (param->type) {
  case TUTTI_PARAM_BOOL:
    *(bool *)field = value->integer != 0;
    break;
  case TUTTI_PARAM_INTEGER:
    *(int64_t *)field = value->integer;
    break;
  case TUTTI_PARAM_REAL:
    *(double *)field = value->number;
    break;
  case TUTTI_PARAM_CHOICE:
    *(int *)field = (int)value->integer;
    break;
  case TUTTI_PARAM_STRING:
  case TUTTI_PARAM_PATH:
  case TUTTI_PARAM_PLUGIN:
    *(const char **)field = value->memory;
    break;
  case TUTTI_PARAM_INTEGERS:
    *(struct tutti_integers *)field = (struct tutti_integers){value->count, value->memory};
    break;
  case TUTTI_PARAM_REALS:
    *(struct tutti_reals *)field = (struct tutti_reals){value->count, value->memory};
    break;
  case TUTTI_PARAM_CHOICES:
    *(struct tutti_choices *)field = (struct tutti_choices){value->count, value->memory};
    break;
  }
}

/* A value that borrows `bytes` at `memory`. */
static struct tutti_value borrow(size_t count, const void *memory, size_t bytes) {
  return (struct tutti_value){.count = count, .memory = (void *)(uintptr_t)memory, .bytes = bytes};
}

struct tutti_value tutti_value_load(const struct tutti_param *param, const void *config) {
  const void *field = (const char *)config + param->offset;
  const struct tutti_integers *integers = field;
  const struct tutti_reals *reals = field;
  const struct tutti_choices *choices = field;
  const char *const *text = field;
  switch (param->type) {
  case TUTTI_PARAM_BOOL:
    return (struct tutti_value){.integer = *(const bool *)field};
  case TUTTI_PARAM_INTEGER:
    return (struct tutti_value){.integer = *(const int64_t *)field};
  case TUTTI_PARAM_REAL:
    return (struct tutti_value){.number = *(const double *)field};
  case TUTTI_PARAM_CHOICE:
    return (struct tutti_value){.integer = *(const int *)field};
  case TUTTI_PARAM_INTEGERS:
    return borrow(integers->count, integers->values, integers->count * sizeof *integers->values);
  case TUTTI_PARAM_REALS:
    return borrow(reals->count, reals->values, reals->count * sizeof *reals->values);
  case TUTTI_PARAM_CHOICES:
    return borrow(choices->count, choices->values, choices->count * sizeof *choices->values);
  case TUTTI_PARAM_STRING:
  case TUTTI_PARAM_PATH:
  case TUTTI_PARAM_PLUGIN:
    break;
  }
  return borrow(0, *text, strlen(*text) + 1);
}
