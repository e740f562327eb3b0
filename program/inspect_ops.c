/* inspect_ops.c - the ops of layers, described like plugins with parameters. */
#include "inspect_ops.h"

#include <math.h>
#include <tutti/names.h>
#include <tutti/op.h>

/* The default of an attribute as JSON has it, "" if there is none. */
static void preset_text(const struct tutti_attribute_definition *attribute, char *text, size_t size) {
  text[0] = '\0';
  if (isnan(attribute->preset) || attribute->flags & TUTTI_ATTRIBUTE_REQUIRED)
    return;
  if (attribute->type == TUTTI_ATTRIBUTE_CHOICE)
    (void)snprintf(text, size, "%s", attribute->choices[(size_t)attribute->preset]);
  else if (attribute->type == TUTTI_ATTRIBUTE_FLAG)
    (void)snprintf(text, size, "%s", attribute->preset != 0 ? "true" : "false");
  else
    (void)snprintf(text, size, "%.15g", attribute->preset);
}

static json_t *attribute_json(const struct tutti_attribute_definition *attribute) {
  static const char *const types[] = {[TUTTI_ATTRIBUTE_INTEGER] = "integer",
                                      [TUTTI_ATTRIBUTE_REAL] = "real",
                                      [TUTTI_ATTRIBUTE_FLAG] = "true or false",
                                      [TUTTI_ATTRIBUTE_CHOICE] = "choice"};
  const struct limits limits = {attribute->min, attribute->max, attribute->min_open, attribute->max_open};
  char preset[64], range[128];
  json_t *choices = json_array();
  for (const char *const *choice = attribute->choices; choice && *choice; choice++)
    json_array_append_new(choices, json_string(*choice));
  preset_text(attribute, preset, sizeof preset);
  return json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:s}", "name", attribute->name, "type", types[attribute->type],
                   "default", preset, "range", range_text(&limits, range, sizeof range), "choices", choices, "required",
                   (attribute->flags & TUTTI_ATTRIBUTE_REQUIRED) != 0, "doc", attribute->doc ? attribute->doc : "");
}

static json_t *definition_json(const struct tutti_op_definition *definition) {
  const struct tutti_attribute_definition *attribute;
  json_t *attributes = json_array();
  for (size_t i = 0; (attribute = tutti_attribute_at(&definition->attributes, i)); i++)
    json_array_append_new(attributes, attribute_json(attribute));
  return json_pack("{s:s, s:s, s:s, s:o}", "kind", "op", "name", definition->name, "summary",
                   definition->doc ? definition->doc : "", "parameters", attributes);
}

json_t *op_json(tutti_context *context, const char *name) {
  const struct tutti_op_definition *definition = tutti_op_find(context, name);
  return definition ? definition_json(definition) : NULL;
}

json_t *built_in_op_json(tutti_context *context, size_t number) {
  return number < TUTTI_OP_COUNT ? op_json(context, tutti_op_name((enum tutti_op)number)) : NULL;
}

enum tutti_status refuse_op(tutti_context *context, const char *name) {
  const char *names[TUTTI_OP_COUNT];
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    names[op] = tutti_op_name((enum tutti_op)op);
  const char *closest = tutti_closest_name(name, TUTTI_OP_COUNT, names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no op '%s'; %s%s%s", name,
                    closest ? "did you mean '" : "docs/plugins.md lists them", closest ? closest : "",
                    closest ? "'?" : "");
}
