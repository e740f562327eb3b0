/* op_check.c - checks the values of attributes, and plugins' definitions of ops. */
#include "core/base/text_impl.h"
#include "op_impl.h"

#include <math.h>
#include <string.h>

/* --- values --- */

struct range {
  double min, max;
  bool min_open, max_open;
};

/* Without limits of its own, an integer has those of 32 bits, and a real must be finite. */
static struct range range_of(const struct tutti_attribute_definition *attribute) {
  struct range range = {attribute->min, attribute->max, attribute->min_open, attribute->max_open};
  bool integer = attribute->type == TUTTI_ATTRIBUTE_INTEGER;
  if (range.min == 0 && range.max == 0) {
    range.min = -INFINITY;
    range.max = INFINITY;
  }
  if (isinf(range.min)) {
    range.min = integer ? INT32_MIN : -(double)INFINITY;
    range.min_open = !integer;
  }
  if (isinf(range.max)) {
    range.max = integer ? INT32_MAX : (double)INFINITY;
    range.max_open = !integer;
  }
  return range;
}

static enum tutti_status check_number(tutti_context *context, const struct tutti_attribute_definition *attribute,
                                      double value) {
  struct range range = range_of(attribute);
  bool low = range.min_open ? value > range.min : value >= range.min;
  bool high = range.max_open ? value < range.max : value <= range.max;
  bool whole = attribute->type != TUTTI_ATTRIBUTE_INTEGER || !(low && high) || value == trunc(value);
  if (low && high && whole)
    return TUTTI_OK;
  if (isnan(value) && (attribute->flags & TUTTI_ATTRIBUTE_REQUIRED))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s must be in %c%g, %g%c, and is not given", attribute->name,
                      range.min_open ? '(' : '[', range.min, range.max, range.max_open ? ')' : ']');
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s must be %sin %c%g, %g%c, not %g", attribute->name,
                    whole ? "" : "a whole number ", range.min_open ? '(' : '[', range.min, range.max,
                    range.max_open ? ')' : ']', value);
}

static size_t count_choices(const struct tutti_attribute_definition *attribute) {
  size_t count = 0;
  while (attribute->choices[count])
    count++;
  return count;
}

enum tutti_status tutti_attribute_check(tutti_context *context, const struct tutti_attribute_definition *attribute,
                                        double value) {
  size_t count;
  if (isnan(value) && (attribute->flags & TUTTI_ATTRIBUTE_OPTIONAL))
    return TUTTI_OK;
  if (isnan(value) && attribute->type > TUTTI_ATTRIBUTE_REAL)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s must be given", attribute->name);
  switch (attribute->type) {
  case TUTTI_ATTRIBUTE_INTEGER:
  case TUTTI_ATTRIBUTE_REAL:
    return check_number(context, attribute, value);
  case TUTTI_ATTRIBUTE_FLAG:
    if (value == 0 || value == 1)
      return TUTTI_OK;
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s must be 0 or 1, not %g", attribute->name, value);
  case TUTTI_ATTRIBUTE_CHOICE:
    count = count_choices(attribute);
    if (value >= 0 && value < (double)count && value == trunc(value))
      return TUTTI_OK;
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "unknown %s: number %g of 0 to %zu", attribute->name, value,
                      count - 1);
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has the type %d, which is none", attribute->name,
                    (int)attribute->type);
}

/* --- definitions --- */

/* Choices are written in JSON and in pictures. */
static bool choices_are_plain(const char *const *choices) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  for (; *choices; choices++)
    if (!**choices || (*choices)[strspn(*choices, letters)])
      return false;
  return true;
}

/* The fault of the entry by itself, or NULL. */
static const char *entry_fault(const struct tutti_attribute_definition *attribute) {
  if ((unsigned)attribute->type > TUTTI_ATTRIBUTE_CHOICE)
    return "its type is unknown";
  if (attribute->flags & ~(unsigned)(TUTTI_ATTRIBUTE_REQUIRED | TUTTI_ATTRIBUTE_OPTIONAL))
    return "it has a flag that this version does not know";
  if ((attribute->flags & TUTTI_ATTRIBUTE_OPTIONAL) &&
      (attribute->type != TUTTI_ATTRIBUTE_REAL || (attribute->flags & TUTTI_ATTRIBUTE_REQUIRED)))
    return "only a real that is not required can be optional";
  if (attribute->type == TUTTI_ATTRIBUTE_CHOICE && (!attribute->choices || !attribute->choices[0]))
    return "it has no choices";
  if (attribute->type == TUTTI_ATTRIBUTE_CHOICE && !choices_are_plain(attribute->choices))
    return "a choice is of letters, digits and \"._-\"";
  if (!(attribute->min <= attribute->max))
    return "its min is above its max";
  if (!attribute->doc || !attribute->doc[0])
    return "it has no doc";
  return NULL;
}

static bool is_key(const char *name) {
  static const char *const keys[] = {"op", "label", "inputs", "shape"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp(keys[i], name) == 0)
      return true;
  return false;
}

static enum tutti_status check_entry(tutti_context *context, const struct tutti_op_definition *definition,
                                     size_t index) {
  const struct tutti_attribute_definition *attribute = tutti_attribute_at(&definition->attributes, index);
  if (!tutti_name_is_plain(attribute->name, '_'))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "op \"%s\", attribute number %zu: its name \"%s\" is not of lower-case letters, digits and _, a "
                      "letter first",
                      definition->name, index, attribute->name ? attribute->name : "(null)");
  const char *fault = is_key(attribute->name) ? "that is a word of the JSON form" : entry_fault(attribute);
  if (fault)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "op \"%s\", attribute \"%s\": %s", definition->name, attribute->name,
                      fault);
  for (size_t i = 0; i < index; i++)
    if (strcmp(tutti_attribute_at(&definition->attributes, i)->name, attribute->name) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "op \"%s\": attribute \"%s\" stands twice in the table",
                        definition->name, attribute->name);
  if (attribute->flags || tutti_attribute_check(context, attribute, attribute->preset) == TUTTI_OK)
    return TUTTI_OK;
  (void)tutti_error_prefix(context, TUTTI_ERROR_PLUGIN, "op \"%s\", the default of an attribute: ", definition->name);
  return tutti_error_trace(context, TUTTI_ERROR_PLUGIN, __FILE__, __LINE__, __func__);
}

static enum tutti_status check_table(tutti_context *context, const struct tutti_op_definition *definition) {
  const struct tutti_attribute_definitions *attributes = &definition->attributes;
  const size_t least = offsetof(struct tutti_attribute_definition, doc) + sizeof(const char *);
  if (attributes->count == 0)
    return TUTTI_OK;
  if (!attributes->table)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "op \"%s\": the table of attributes is NULL, but counts %zu",
                      definition->name, attributes->count);
  if (attributes->stride < least || attributes->stride % _Alignof(struct tutti_attribute_definition) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "op \"%s\": the stride of the table of attributes is %zu: %zu or more was expected",
                      definition->name, attributes->stride, least);
  for (size_t i = 0; i < attributes->count; i++)
    TUTTI_TRY(context, check_entry(context, definition, i));
  return TUTTI_OK;
}

enum tutti_status tutti_op_check(tutti_context *context, const struct tutti_op_definition *definition) {
  const size_t least = offsetof(struct tutti_op_definition, infer) + sizeof definition->infer;
  if (definition->size < least)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "a definition of an op has %zu bytes: %zu or more were expected",
                      definition->size, least);
  const size_t begin = offsetof(struct tutti_op_definition, attributes), end = begin + sizeof definition->attributes;
  if (definition->size > begin && definition->size < end)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "a definition of an op has %zu bytes, which end within its attributes", definition->size);
  if (!tutti_name_is_plain(definition->name, '-'))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "an op's name is of lower-case letters, digits and hyphens, a letter first; found \"%s\"",
                      definition->name ? definition->name : "(null)");
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    if (strcmp(tutti_ops_builtin[op]->name, definition->name) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                        "op \"%s\" is built in; give yours another name, as \"acme-%s\" for one of acme",
                        definition->name, definition->name);
  if (definition->min_inputs < 1 || definition->max_inputs < definition->min_inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "op \"%s\" takes %zu to %zu inputs: at least 1, and most not below least, was expected",
                      definition->name, definition->min_inputs, definition->max_inputs);
  if (!definition->infer)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "op \"%s\" has no function `infer` that gives its shape",
                      definition->name);
  if (definition->size < offsetof(struct tutti_op_definition, attributes) + sizeof definition->attributes)
    return TUTTI_OK;
  return check_table(context, definition);
}
