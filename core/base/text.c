/* text.c - texts that grow piece by piece, and numbers as text. */
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

struct tutti_text tutti_text_begin(tutti_context *context) {
  return (struct tutti_text){.context = context};
}

/* Room for `more` characters and the end. */
static bool text_reserve(struct tutti_text *text, size_t more) {
  if (text->status != TUTTI_OK)
    return false;
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity)
    return true;
  size_t capacity = needed < 128 ? 256 : 2 * needed;
  text->status = tutti_realloc(text->context, text->length, capacity, 1, &text->data);
  if (text->status == TUTTI_OK)
    text->capacity = capacity;
  return text->status == TUTTI_OK;
}

void tutti_text_add(struct tutti_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !text_reserve(text, (size_t)length))
    return;
  va_start(arguments, format);
  (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
}

void tutti_text_add_number(struct tutti_text *text, double number) {
  char digits[TUTTI_NUMBER_SIZE];
  tutti_number_print(number, digits);
  tutti_text_add(text, "%s", digits);
}

void tutti_text_add_json(struct tutti_text *text, const char *string) {
  json_t *value = json_string(string);
  char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
  tutti_text_add(text, "%s", quoted ? quoted : "\"?\"");
  free(quoted);
  json_decref(value);
}

enum tutti_status tutti_text_take(struct tutti_text *text, char **out) {
  *out = NULL;
  if (!text_reserve(text, 0)) {
    enum tutti_status status = text->status;
    tutti_text_discard(text);
    return status;
  }
  *out = text->data;
  *text = tutti_text_begin(text->context);
  return TUTTI_OK;
}

void tutti_text_discard(struct tutti_text *text) {
  tutti_free(text->data);
  *text = tutti_text_begin(text->context);
}

/* Numbers have a point, whatever the locale of the process that embeds us. */
static locale_t enter_c_locale(locale_t *before) {
  locale_t standard = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  *before = uselocale(standard);
  return standard;
}

static void leave_c_locale(locale_t standard, locale_t before) {
  (void)uselocale(before);
  if (standard)
    freelocale(standard);
}

char *tutti_text_trim(char *text) {
  static const char blanks[] = " \t\r\n\v\f";
  text += strspn(text, blanks);
  size_t length = strlen(text);
  while (length > 0 && strchr(blanks, text[length - 1]))
    text[--length] = '\0';
  return text;
}

void tutti_number_print(double number, char text[TUTTI_NUMBER_SIZE]) {
  locale_t before, standard = enter_c_locale(&before);
  for (int digits = 15; digits <= 17; digits++) {
    (void)snprintf(text, TUTTI_NUMBER_SIZE, "%.*g", digits, number);
    double back = strtod(text, NULL);
    if (memcmp(&back, &number, sizeof back) == 0)
      break;
  }
  leave_c_locale(standard, before);
}

bool tutti_number_parse(const char *text, double *number) {
  char *end;
  locale_t before, standard = enter_c_locale(&before);
  *number = strtod(text, &end);
  leave_c_locale(standard, before);
  return end != text && *end == '\0';
}

bool tutti_name_is_plain(const char *name, char joint) {
  if (!name || name[0] < 'a' || name[0] > 'z')
    return false;
  for (const char *c = name; *c; c++)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == joint))
      return false;
  return true;
}
