/* network_json.c - a network as JSON, both ways. The text is canonical: a network has one, and parsing it gives the
   same network. A layer states every attribute that its op reads; in a text written by hand those with a default may be
   left out. Layers name their inputs by label.

     {"format": "tutti-network", "version": 1, "layers": [
       {"op": "input", "label": "input", "shape": [1, 1, 8]},
       {"op": "dense", "label": "hidden", "inputs": ["input"], "units": 50, "bias": true},
       ...]} */
#include "network_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/names.h>

enum { FORMAT_VERSION = 1 };
static const char format_name[] = "tutti-network";

/* --- print --- */

static void print_attribute(struct tutti_text *text, const struct tutti_attribute_definition *attribute, double value) {
  if (isnan(value))
    return;
  tutti_text_add(text, ", \"%s\": ", attribute->name);
  switch (attribute->type) {
  case TUTTI_ATTRIBUTE_INTEGER:
    tutti_text_add(text, "%d", (int32_t)value);
    break;
  case TUTTI_ATTRIBUTE_REAL:
    tutti_text_add_number(text, value);
    break;
  case TUTTI_ATTRIBUTE_FLAG:
    tutti_text_add(text, "%s", value != 0 ? "true" : "false");
    break;
  case TUTTI_ATTRIBUTE_CHOICE:
    tutti_text_add_json(text, attribute->choices[(size_t)value]);
    break;
  }
}

static void print_layer(struct tutti_text *text, const tutti_network *network, const struct network_layer *whole) {
  const struct tutti_layer *layer = &whole->layer;
  tutti_text_add(text, "  {\"op\": \"%s\", \"label\": \"%s\"", layer->op_name, layer->label);
  if (layer->op == TUTTI_OP_INPUT)
    tutti_text_add(text, ", \"shape\": [%d, %d, %d]", layer->shape.height, layer->shape.width, layer->shape.channels);
  for (size_t i = 0; i < layer->input_count; i++)
    tutti_text_add(text, "%s\"%s\"", i == 0 ? ", \"inputs\": [" : ", ", network->layers[layer->inputs[i]]->layer.label);
  if (layer->input_count)
    tutti_text_add(text, "]");
  for (size_t i = 0; i < whole->definition->attributes.count; i++)
    print_attribute(text, &whole->definition->attributes.table[i], whole->attributes[i].value);
  tutti_text_add(text, "}");
}

enum tutti_status tutti_network_print(tutti_context *context, const tutti_network *network, char **json) {
  struct tutti_text text = tutti_text_begin(context);
  tutti_text_add(&text, "{\"format\": \"%s\", \"version\": %d, \"layers\": [", format_name, FORMAT_VERSION);
  for (size_t i = 0; i < network->count; i++) {
    tutti_text_add(&text, i ? ",\n" : "\n");
    print_layer(&text, network, network->layers[i]);
  }
  tutti_text_add(&text, "\n]}\n");
  return tutti_text_take(&text, json);
}

/* --- parse --- */

/* A layer that is being read. */
struct layer_reader {
  tutti_context *context;
  json_t *numbers; /* label -> number, of the layers read so far */
  size_t number;
  json_t *object;
  const char *label;
};

static const char *type_name(const json_t *value) {
  static const char *const names[] = {"an object", "an array", "a text", "an integer",
                                      "a real",    "true",     "false",  "null"};
  return value ? names[json_typeof(value)] : "nothing";
}

static enum tutti_status fail_field(const struct layer_reader *reader, const char *key, const char *expected) {
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "network JSON, layer %zu%s%s%s: \"%s\" must be %s, not %s",
                    reader->number, reader->label ? " \"" : "", reader->label ? reader->label : "",
                    reader->label ? "\"" : "", key, expected, type_name(json_object_get(reader->object, key)));
}

static enum tutti_status read_choice(const struct layer_reader *reader,
                                     const struct tutti_attribute_definition *attribute, const json_t *value,
                                     double *number) {
  size_t count = 0;
  while (attribute->choices[count])
    count++;
  if (!json_is_string(value))
    return fail_field(reader, attribute->name, "a text");
  for (size_t i = 0; i < count; i++)
    if (strcmp(attribute->choices[i], json_string_value(value)) == 0) {
      *number = (double)i;
      return TUTTI_OK;
    }
  const char *closest = tutti_closest_name(json_string_value(value), count, attribute->choices);
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                    "network JSON, layer %zu \"%s\": there is no %s \"%s\"; the closest name is \"%s\"", reader->number,
                    reader->label, attribute->name, json_string_value(value),
                    closest ? closest : attribute->choices[0]);
}

static enum tutti_status read_value(const struct layer_reader *reader,
                                    const struct tutti_attribute_definition *attribute, const json_t *value,
                                    double *number) {
  *number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  switch (attribute->type) {
  case TUTTI_ATTRIBUTE_INTEGER:
    if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN || json_integer_value(value) > INT32_MAX)
      return fail_field(reader, attribute->name, "an integer of 32 bits");
    return TUTTI_OK;
  case TUTTI_ATTRIBUTE_REAL:
    return json_is_number(value) ? TUTTI_OK : fail_field(reader, attribute->name, "a number");
  case TUTTI_ATTRIBUTE_FLAG:
    return json_is_boolean(value) ? TUTTI_OK : fail_field(reader, attribute->name, "true or false");
  case TUTTI_ATTRIBUTE_CHOICE:
    return read_choice(reader, attribute, value, number);
  }
  return TUTTI_OK;
}

static enum tutti_status fail_key(const struct layer_reader *reader, const char *key,
                                  const struct tutti_op_definition *op) {
  const char **names, *closest;
  size_t count = 3;
  TUTTI_TRY(reader->context, tutti_alloc(reader->context, count + op->attributes.count, sizeof *names, &names));
  names[0] = "op";
  names[1] = "label";
  names[2] = reader->number == 0 ? "shape" : "inputs";
  for (size_t i = 0; i < op->attributes.count; i++)
    names[count++] = op->attributes.table[i].name;
  closest = tutti_closest_name(key, count, names);
  tutti_free(names);
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "network JSON, layer %zu \"%s\": %s has no \"%s\"%s%s%s",
                    reader->number, reader->label, op->name, key, closest ? "; did you mean \"" : "",
                    closest ? closest : "", closest ? "\"?" : "");
}

/* Every key except op, label, inputs and shape must be an attribute of the op. Free *attributes with tutti_free. */
static enum tutti_status read_attributes(const struct layer_reader *reader, const struct tutti_op_definition *op,
                                         struct tutti_attribute **attributes) {
  const char *key;
  json_t *value;
  size_t count = 0;
  TUTTI_TRY(reader->context, tutti_alloc(reader->context, op->attributes.count + 1, sizeof **attributes, attributes));
  json_object_foreach(reader->object, key, value) {
    if (strcmp(key, "op") == 0 || strcmp(key, "label") == 0 ||
        strcmp(key, reader->number == 0 ? "shape" : "inputs") == 0)
      continue;
    const struct tutti_attribute_definition *attribute = tutti_op_attribute(op, key);
    if (!attribute)
      return fail_key(reader, key, op);
    (*attributes)[count].name = attribute->name;
    TUTTI_TRY(reader->context, read_value(reader, attribute, value, &(*attributes)[count++].value));
  }
  return TUTTI_OK;
}

static enum tutti_status read_shape(const struct layer_reader *reader, struct tutti_shape *shape) {
  static const char expected[] = "three integers: height, width, channels";
  const json_t *array = json_object_get(reader->object, "shape");
  int32_t *const sides[3] = {&shape->height, &shape->width, &shape->channels};
  if (!json_is_array(array) || json_array_size(array) != 3)
    return fail_field(reader, "shape", expected);
  for (size_t i = 0; i < 3; i++) {
    const json_t *side = json_array_get(array, i);
    if (!json_is_integer(side) || json_integer_value(side) < 1 || json_integer_value(side) > INT32_MAX)
      return fail_field(reader, "shape", expected);
    *sides[i] = (int32_t)json_integer_value(side);
  }
  return TUTTI_OK;
}

static enum tutti_status read_inputs(const struct layer_reader *reader, size_t *count, uint32_t **inputs) {
  const json_t *array = json_object_get(reader->object, "inputs");
  *inputs = NULL;
  *count = json_array_size(array);
  if (!json_is_array(array))
    return fail_field(reader, "inputs", "an array of labels");
  TUTTI_TRY(reader->context, tutti_alloc(reader->context, *count, sizeof **inputs, inputs));
  for (size_t i = 0; i < *count; i++) {
    const char *label = json_string_value(json_array_get(array, i));
    const json_t *number = label ? json_object_get(reader->numbers, label) : NULL;
    if (!label)
      return fail_field(reader, "inputs", "an array of labels");
    if (!number)
      return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                        "network JSON, layer %zu \"%s\" reads \"%s\", but no layer before it has that label",
                        reader->number, reader->label, label);
    (*inputs)[i] = (uint32_t)json_integer_value(number);
  }
  return TUTTI_OK;
}

static enum tutti_status read_input(const struct layer_reader *reader, tutti_network **network) {
  struct tutti_shape shape = {0, 0, 0};
  TUTTI_TRY(reader->context, read_shape(reader, &shape));
  if (strcmp(reader->label, "input") != 0)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "network JSON: layer 0 has the label \"input\", not \"%s\"",
                      reader->label);
  return tutti_network_create(reader->context, shape, network);
}

/* Read the op of a layer, and its label into the reader; both must be there. */
static enum tutti_status read_op(struct layer_reader *reader, const struct tutti_op_definition **op) {
  if (!json_is_object(reader->object))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "network JSON, layer %zu must be an object, not %s",
                      reader->number, type_name(reader->object));
  const char *name = json_string_value(json_object_get(reader->object, "op"));
  reader->label = json_string_value(json_object_get(reader->object, "label"));
  if (!reader->label)
    return fail_field(reader, "label", "a text");
  if (!name)
    return fail_field(reader, "op", "a text");
  TUTTI_TRY(reader->context, tutti_op_get(reader->context, name, op));
  if ((tutti_op_number(*op) == TUTTI_OP_INPUT) == (reader->number == 0))
    return TUTTI_OK;
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                    "network JSON, layer %zu \"%s\": layer 0, and no other, is an input", reader->number,
                    reader->label);
}

static enum tutti_status read_layer(struct layer_reader *reader, tutti_network **network) {
  tutti_context *context = reader->context;
  enum tutti_status status = TUTTI_OK;
  const struct tutti_op_definition *op;
  struct tutti_attribute *attributes = NULL;
  size_t count;
  uint32_t *inputs = NULL;
  reader->label = NULL;
  TUTTI_TRY(context, read_op(reader, &op));
  TUTTI_TRY_OUT(context, read_attributes(reader, op, &attributes));
  if (reader->number == 0) {
    TUTTI_TRY_OUT(context, read_input(reader, network));
  } else {
    TUTTI_TRY_OUT(context, read_inputs(reader, &count, &inputs));
    TUTTI_TRY_OUT(context, tutti_network_add_defined(context, *network, tutti_op_number(op), op, reader->label, count,
                                                     inputs, attributes, NULL));
  }
  if (json_object_set_new(reader->numbers, reader->label, json_integer((json_int_t)reader->number)) != 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "out of memory while reading a network");
out:
  tutti_free(inputs);
  tutti_free(attributes);
  return status;
}

/* Check that a document is a network of our version, and find its array of layers. */
static enum tutti_status check_document(tutti_context *context, const json_t *document, const json_t **layers) {
  const char *format = json_string_value(json_object_get(document, "format"));
  *layers = json_object_get(document, "layers");
  if (!format || strcmp(format, format_name) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "network JSON: \"format\" must be \"%s\", not %s", format_name,
                      format ? format : type_name(json_object_get(document, "format")));
  if (json_integer_value(json_object_get(document, "version")) != FORMAT_VERSION)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "network JSON: \"version\" must be %d", FORMAT_VERSION);
  if (json_object_size(document) != 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "network JSON has \"format\", \"version\" and \"layers\", and nothing else");
  if (json_array_size(*layers) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "network JSON: \"layers\" must be an array of at least one layer");
  return TUTTI_OK;
}

enum tutti_status tutti_network_parse(tutti_context *context, const char *json, tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  json_t *document;
  struct layer_reader reader = {.context = context, .numbers = json_object()};
  const json_t *layers;
  *network = NULL;
  TUTTI_TRY_OUT(context,
                tutti_json_parse(context, json, JSON_REJECT_DUPLICATES, TUTTI_ERROR_USAGE, "network JSON", &document));
  if (!reader.numbers)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory for the layers of a network"));
  TUTTI_TRY_OUT(context, check_document(context, document, &layers));
  for (reader.number = 0; reader.number < json_array_size(layers); reader.number++) {
    reader.object = json_array_get(layers, reader.number);
    TUTTI_TRY_OUT(context, read_layer(&reader, network));
  }
out:
  if (status != TUTTI_OK) {
    tutti_network_destroy(*network);
    *network = NULL;
  }
  json_decref(document);
  json_decref(reader.numbers);
  return status;
}
