/* onnx_graph.c - an ONNX graph in the structs that protobuf-c makes of onnx.proto, and its file. */
#include "onnx_graph.h"

#include "core/base/file_impl.h"
#include "engine/export/onnx.pb-c.h"

#include <stdio.h>
#include <string.h>
#include <tutti/version.h>

/* Both are understood by every runtime since 2022. */
enum { IR_VERSION = 8, OPSET = 15, ML_OPSET = 3 };
static const char ml_domain[] = "ai.onnx.ml";

/* Everything that the graph points to; freed at once. */
struct block {
  struct block *next;
};

/* A list of pointers, as protobuf-c has them. */
struct list {
  size_t count, room;
  void **items;
};

struct onnx_graph {
  tutti_context *context;
  enum tutti_status status;
  struct block *blocks;
  struct list nodes, constants, inputs, outputs;
  struct list outer; /* the nodes around a loop's body, while that grows */
  struct body *body; /* NULL: none grows */
  size_t values;
  size_t weighed[2]; /* nodes and constants that `bytes` counts */
  uint64_t bytes;
  char *name, *doc;
};

/* --- memory --- */

enum tutti_status onnx_graph_create(tutti_context *context, struct onnx_graph **graph) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **graph, graph));
  (*graph)->context = context;
  return TUTTI_OK;
}

void onnx_graph_destroy(struct onnx_graph *graph) {
  if (!graph)
    return;
  while (graph->blocks) {
    struct block *next = graph->blocks->next;
    tutti_free(graph->blocks);
    graph->blocks = next;
  }
  tutti_free(graph->nodes.items);
  tutti_free(graph->constants.items);
  tutti_free(graph->inputs.items);
  tutti_free(graph->outputs.items);
  tutti_free(graph->outer.items);
  tutti_free(graph);
}

tutti_context *onnx_graph_context(const struct onnx_graph *graph) { return graph->context; }
bool onnx_graph_failed(const struct onnx_graph *graph) { return graph->status != TUTTI_OK; }
void onnx_graph_fail(struct onnx_graph *graph, enum tutti_status status) {
  if (graph->status == TUTTI_OK)
    graph->status = status;
}

/* Zeroed memory that lives as long as the graph; NULL after a failure. */
static void *keep(struct onnx_graph *graph, size_t count, size_t size) {
  enum { HEAD = 64 }; /* what follows stays aligned */
  char *made = NULL;
  size_t bytes;
  if (onnx_graph_failed(graph))
    return NULL;
  if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, HEAD, &bytes))
    onnx_graph_fail(graph, TUTTI_FAIL(graph->context, TUTTI_ERROR_MEMORY, "a model of so many numbers"));
  else
    onnx_graph_fail(graph, tutti_alloc(graph->context, bytes, 1, &made));
  if (!made)
    return NULL;
  struct block *block = (struct block *)(void *)made;
  block->next = graph->blocks;
  graph->blocks = block;
  return made + HEAD;
}

static void *keep_copy(struct onnx_graph *graph, const void *data, size_t count, size_t size) {
  void *copy = keep(graph, count ? count : 1, size);
  if (copy && count)
    memcpy(copy, data, count * size);
  return copy;
}

/* NULL for NULL, which is what is left of a node after a failure. */
static char *keep_text(struct onnx_graph *graph, const char *text) {
  return text ? keep_copy(graph, text, strlen(text) + 1, 1) : NULL;
}

static void append_item(struct onnx_graph *graph, struct list *list, void *item) {
  if (onnx_graph_failed(graph))
    return;
  if (list->count == list->room) {
    size_t room = list->room * 2 + 32;
    onnx_graph_fail(graph, tutti_realloc(graph->context, list->count, room, sizeof *list->items, &list->items));
    if (onnx_graph_failed(graph))
      return;
    list->room = room;
  }
  list->items[list->count++] = item;
}

/* A name that no other value has: inputs and outputs have no such prefix. */
static char *new_name(struct onnx_graph *graph) {
  char name[32];
  (void)snprintf(name, sizeof name, ONNX_INNER "%zu", graph->values++);
  return keep_text(graph, name);
}

/* --- inputs and outputs --- */

static Onnx__TensorShapeProto__Dimension *dimension(struct onnx_graph *graph, const int64_t *size) {
  Onnx__TensorShapeProto__Dimension *made = keep(graph, 1, sizeof *made);
  if (!made)
    return NULL;
  onnx__tensor_shape_proto__dimension__init(made);
  made->value_case = size ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
                          : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
  if (size)
    made->dim_value = *size;
  else
    made->dim_param = keep_text(graph, "rows");
  return made;
}

/* A value of a type, of any shape. */
static Onnx__ValueInfoProto *typed_info(struct onnx_graph *graph, const char *name, enum onnx_type type) {
  Onnx__ValueInfoProto *info = keep(graph, 1, sizeof *info);
  Onnx__TypeProto *typed = keep(graph, 1, sizeof *typed);
  Onnx__TypeProto__Tensor *tensor = keep(graph, 1, sizeof *tensor);
  char *own = keep_text(graph, name);
  if (!own)
    return NULL;
  onnx__value_info_proto__init(info);
  onnx__type_proto__init(typed);
  onnx__type_proto__tensor__init(tensor);
  tensor->has_elem_type = true;
  tensor->elem_type = (int32_t)type;
  typed->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  typed->tensor_type = tensor;
  info->name = own;
  info->type = typed;
  return info;
}

static Onnx__ValueInfoProto *value_info(struct onnx_graph *graph, const char *name, enum onnx_type type, size_t count,
                                        const int64_t *dims) {
  Onnx__ValueInfoProto *info = typed_info(graph, name, type);
  Onnx__TensorShapeProto *shape = keep(graph, 1, sizeof *shape);
  Onnx__TensorShapeProto__Dimension **sizes = keep(graph, count + 1, sizeof *sizes);
  if (!sizes)
    return NULL;
  onnx__tensor_shape_proto__init(shape);
  for (size_t i = 0; i <= count; i++)
    sizes[i] = dimension(graph, i ? &dims[i - 1] : NULL);
  shape->n_dim = count + 1;
  shape->dim = sizes;
  info->type->tensor_type->shape = shape;
  return info;
}

onnx_value onnx_input(struct onnx_graph *graph, const char *name, enum onnx_type type, size_t count,
                      const int64_t *dims) {
  Onnx__ValueInfoProto *info = value_info(graph, name, type, count, dims);
  append_item(graph, &graph->inputs, info);
  return info ? info->name : NULL;
}

/* --- numbers --- */

/* ONNX wants raw numbers in little-endian order. */
static void to_little_endian(size_t count, size_t size, uint8_t *bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t i = 0; i < count; i++)
    for (size_t b = 0; b < size / 2; b++) {
      uint8_t *first = bytes + i * size + b, *last = bytes + (i + 1) * size - 1 - b, kept = *first;
      *first = *last;
      *last = kept;
    }
#else
  (void)count, (void)size, (void)bytes;
#endif
}

static Onnx__TensorProto *tensor_of(struct onnx_graph *graph, enum onnx_type type, size_t rank, const int64_t *dims) {
  Onnx__TensorProto *tensor = keep(graph, 1, sizeof *tensor);
  int64_t *sizes = keep_copy(graph, dims, rank, sizeof *dims);
  if (!sizes)
    return NULL;
  onnx__tensor_proto__init(tensor);
  tensor->n_dims = rank;
  tensor->dims = sizes;
  tensor->has_data_type = true;
  tensor->data_type = (int32_t)type;
  return tensor;
}

/* Give a tensor its numbers, which are copied. */
static void fill_tensor(struct onnx_graph *graph, Onnx__TensorProto *tensor, size_t count, size_t size,
                        const void *values) {
  tensor->has_raw_data = true;
  tensor->raw_data.len = count * size;
  tensor->raw_data.data = keep_copy(graph, values, count, size);
  if (tensor->raw_data.data)
    to_little_endian(count, size, tensor->raw_data.data);
}

/* --- nodes --- */

static Onnx__AttributeProto *attribute_of(struct onnx_graph *graph, const struct onnx_attribute *from) {
  Onnx__AttributeProto *made = keep(graph, 1, sizeof *made);
  char *name = keep_text(graph, from->name);
  if (!name)
    return NULL;
  onnx__attribute_proto__init(made);
  made->name = name;
  made->has_type = true;
  switch (from->type) {
  case ONNX_IS_INTEGER:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    made->has_i = true;
    made->i = from->integer;
    break;
  case ONNX_IS_INTEGERS:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
    made->n_ints = from->count;
    made->ints = keep_copy(graph, from->integers, from->count, sizeof *from->integers);
    break;
  case ONNX_IS_REAL:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
    made->has_f = true;
    made->f = (float)from->real;
    break;
  case ONNX_IS_REALS:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    made->t = tensor_of(graph, ONNX_DOUBLE, 1, &(int64_t){(int64_t)from->count});
    if (made->t)
      fill_tensor(graph, made->t, from->count, sizeof *from->reals, from->reals);
    break;
  case ONNX_IS_TEXTS:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
    made->n_strings = from->count;
    made->strings = keep(graph, from->count, sizeof *made->strings);
    for (size_t i = 0; made->strings && i < from->count; i++) {
      made->strings[i].len = strlen(from->texts[i]);
      made->strings[i].data = (uint8_t *)(uintptr_t)from->texts[i]; /* protobuf-c only reads it */
    }
    break;
  case ONNX_IS_BODY:
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    made->g = (Onnx__GraphProto *)(uintptr_t)from->body;
    break;
  }
  return made;
}

static void add_attributes(struct onnx_graph *graph, Onnx__NodeProto *node, const struct onnx_attribute *attributes) {
  size_t count = 0;
  while (attributes && attributes[count].name)
    count++;
  if (count == 0)
    return;
  node->attribute = keep(graph, count, sizeof *node->attribute);
  for (size_t i = 0; node->attribute && i < count; i++)
    node->attribute[i] = attribute_of(graph, &attributes[i]);
  node->n_attribute = count;
}

/* A node whose output has a given name. */
static onnx_value named_node(struct onnx_graph *graph, const char *operator_, const struct onnx_attribute *attributes,
                             size_t count, const onnx_value *inputs, char *output) {
  size_t domain = sizeof ml_domain - 1;
  bool ml = strncmp(operator_, ml_domain, domain) == 0 && operator_[domain] == ':';
  Onnx__NodeProto *node = keep(graph, 1, sizeof *node);
  char *name = keep_text(graph, ml ? operator_ + domain + 1 : operator_);
  char **in = keep(graph, count ? count : 1, sizeof *in), **out = keep(graph, 1, sizeof *out);
  if (!out)
    return NULL;
  onnx__node_proto__init(node);
  node->op_type = name;
  if (ml)
    node->domain = keep_text(graph, ml_domain);
  for (size_t i = 0; i < count; i++)
    in[i] = keep_text(graph, inputs[i]);
  out[0] = output;
  node->n_input = count;
  node->input = in;
  node->n_output = 1;
  node->output = out;
  add_attributes(graph, node, attributes);
  append_item(graph, &graph->nodes, node);
  return onnx_graph_failed(graph) ? NULL : output;
}

onnx_value onnx_node(struct onnx_graph *graph, const char *operator_, const struct onnx_attribute *attributes,
                     size_t count, const onnx_value *inputs) {
  return onnx_graph_failed(graph) ? NULL : named_node(graph, operator_, attributes, count, inputs, new_name(graph));
}

void onnx_output(struct onnx_graph *graph, const char *name, onnx_value value, enum onnx_type type, size_t count,
                 const int64_t *dims) {
  Onnx__ValueInfoProto *info = value_info(graph, name, type, count, dims);
  if (!info)
    return;
  append_item(graph, &graph->outputs, info);
  (void)named_node(graph, "Identity", NULL, 1, &value, info->name);
}

onnx_value onnx_cast(struct onnx_graph *graph, onnx_value value, enum onnx_type type) {
  return ONNX_NODE(graph, "Cast", ONNX_ATTRIBUTES(ONNX_INTEGER("to", type)), value);
}

onnx_value onnx_columns(struct onnx_graph *graph, onnx_value value, int64_t begin, int64_t end) {
  return ONNX(graph, "Slice", value, onnx_integers(graph, 1, &begin), onnx_integers(graph, 1, &end),
              onnx_integers(graph, 1, &(int64_t){1}));
}

/* --- constants --- */

static Onnx__TensorProto *constant(struct onnx_graph *graph, enum onnx_type type, size_t rank, const int64_t *dims) {
  Onnx__TensorProto *tensor = tensor_of(graph, type, rank, dims);
  char *name = onnx_graph_failed(graph) ? NULL : new_name(graph);
  if (!name)
    return NULL;
  tensor->name = name;
  append_item(graph, &graph->constants, tensor);
  return onnx_graph_failed(graph) ? NULL : tensor;
}

static onnx_value numbers(struct onnx_graph *graph, enum onnx_type type, size_t rank, const int64_t *dims, size_t size,
                          const void *values) {
  size_t count = 1;
  for (size_t i = 0; i < rank; i++)
    count *= (size_t)dims[i];
  Onnx__TensorProto *tensor = constant(graph, type, rank, dims);
  if (!tensor)
    return NULL;
  fill_tensor(graph, tensor, count, size, values);
  return onnx_graph_failed(graph) ? NULL : tensor->name;
}

onnx_value onnx_floats(struct onnx_graph *graph, size_t rank, const int64_t *dims, const float *values) {
  return numbers(graph, ONNX_FLOAT, rank, dims, sizeof *values, values);
}
onnx_value onnx_doubles(struct onnx_graph *graph, size_t rank, const int64_t *dims, const double *values) {
  return numbers(graph, ONNX_DOUBLE, rank, dims, sizeof *values, values);
}
onnx_value onnx_integers(struct onnx_graph *graph, size_t count, const int64_t *values) {
  return numbers(graph, ONNX_INT64, 1, &(int64_t){(int64_t)count}, sizeof *values, values);
}
onnx_value onnx_float(struct onnx_graph *graph, double value) {
  return onnx_floats(graph, 0, NULL, &(float){(float)value});
}
onnx_value onnx_double(struct onnx_graph *graph, double value) { return onnx_doubles(graph, 0, NULL, &value); }

onnx_value onnx_texts(struct onnx_graph *graph, size_t count, const char *const *values) {
  Onnx__TensorProto *tensor = constant(graph, ONNX_STRING, 1, &(int64_t){(int64_t)count});
  if (!tensor)
    return NULL;
  tensor->string_data = keep(graph, count, sizeof *tensor->string_data);
  tensor->n_string_data = count;
  for (size_t i = 0; tensor->string_data && i < count; i++) {
    tensor->string_data[i].len = strlen(values[i]);
    tensor->string_data[i].data = (uint8_t *)keep_text(graph, values[i]);
  }
  return onnx_graph_failed(graph) ? NULL : tensor->name;
}

/* --- loops --- */

/* What the body of a loop gets and gives, while it grows; its nodes are the graph's. */
struct body {
  Onnx__GraphProto graph;
  Onnx__ValueInfoProto *in[3], *out[2];
};

onnx_value onnx_body_begin(struct onnx_graph *graph, enum onnx_type type) {
  static const enum onnx_type given[2] = {ONNX_INT64, ONNX_BOOL}; /* the number of the pass, and whether to go on */
  struct body *body = keep(graph, 1, sizeof *body);
  if (!body)
    return NULL;
  onnx__graph_proto__init(&body->graph);
  body->graph.name = keep_text(graph, "body");
  for (size_t i = 0; i < 3; i++)
    body->in[i] = typed_info(graph, onnx_graph_failed(graph) ? "" : new_name(graph), i < 2 ? given[i] : type);
  for (size_t i = 0; i < 2; i++) { /* of rank 0 */
    Onnx__TensorShapeProto *single = keep(graph, 1, sizeof *single);
    if (!single)
      return NULL;
    onnx__tensor_shape_proto__init(single);
    body->in[i]->type->tensor_type->shape = single;
  }
  body->graph.input = body->in;
  body->graph.n_input = 3;
  body->graph.output = body->out;
  graph->body = body;
  graph->outer = graph->nodes;
  graph->nodes = (struct list){0};
  return onnx_graph_failed(graph) ? NULL : body->in[2]->name;
}

void onnx_body_result(struct onnx_graph *graph, onnx_value value, enum onnx_type type) {
  char *name = onnx_graph_failed(graph) ? NULL : new_name(graph);
  Onnx__ValueInfoProto *info = name ? typed_info(graph, name, type) : NULL;
  if (!info)
    return;
  graph->body->out[graph->body->graph.n_output++] = info;
  (void)named_node(graph, "Identity", NULL, 1, &value, info->name);
}

onnx_value onnx_body_loop(struct onnx_graph *graph, int64_t most_passes, onnx_value start) {
  struct body *body = graph->body;
  struct list inner = graph->nodes;
  if (!body)
    return NULL;
  graph->nodes = graph->outer;
  graph->outer = (struct list){0};
  graph->body = NULL;
  body->graph.n_node = inner.count;
  body->graph.node = keep_copy(graph, inner.items, inner.count, sizeof *inner.items);
  tutti_free(inner.items);
  onnx_value most = numbers(graph, ONNX_INT64, 0, NULL, sizeof most_passes, &most_passes);
  onnx_value begin = numbers(graph, ONNX_BOOL, 0, NULL, 1, &(uint8_t){1});
  return ONNX_NODE(graph, "Loop", ONNX_ATTRIBUTES({.name = "body", .type = ONNX_IS_BODY, .body = &body->graph}), most,
                   begin, start);
}

/* --- the file --- */

static Onnx__OperatorSetIdProto operators(const char *domain, int64_t version) {
  Onnx__OperatorSetIdProto made = ONNX__OPERATOR_SET_ID_PROTO__INIT;
  made.domain = (char *)(uintptr_t)domain; /* protobuf-c only reads it */
  made.has_version = true;
  made.version = version;
  return made;
}

uint64_t onnx_graph_bytes(struct onnx_graph *graph) {
  const struct list *lists[] = {&graph->nodes, &graph->constants};
  for (size_t l = 0; l < 2 && !onnx_graph_failed(graph); l++)
    for (; graph->weighed[l] < lists[l]->count; graph->weighed[l]++)
      graph->bytes += protobuf_c_message_get_packed_size(lists[l]->items[graph->weighed[l]]);
  return graph->bytes;
}

static enum tutti_status write_model(struct onnx_graph *graph, const Onnx__ModelProto *model, const char *path,
                                     uint64_t *written) {
  enum tutti_status status;
  size_t bytes = onnx__model_proto__get_packed_size(model);
  uint8_t *packed = NULL;
  if (bytes > INT32_MAX)
    return TUTTI_FAIL(graph->context, TUTTI_ERROR_UNSUPPORTED,
                      "%s: the model has %zu bytes, and an ONNX file holds at most %d; export an ensemble of fewer or "
                      "smaller members",
                      path, bytes, INT32_MAX);
  TUTTI_TRY_OUT(graph->context, tutti_alloc(graph->context, bytes, 1, &packed));
  (void)onnx__model_proto__pack(model, packed);
  TUTTI_TRY_OUT(graph->context, tutti_file_write(graph->context, path, 1, &(struct tutti_file_part){packed, bytes}));
  *written = bytes;
out:
  tutti_free(packed);
  return status;
}

void onnx_graph_name(struct onnx_graph *graph, const char *name, const char *doc) {
  graph->name = keep_text(graph, name);
  graph->doc = keep_text(graph, doc);
}

enum tutti_status onnx_graph_status(const struct onnx_graph *graph) {
  return graph->status == TUTTI_OK ? TUTTI_OK
                                   : tutti_error_trace(graph->context, graph->status, __FILE__, __LINE__, __func__);
}

static const char *type_name(int32_t type) {
  static const char *const names[] = {[ONNX_FLOAT] = "float",   [ONNX_UINT8] = "uint8", [ONNX_INT64] = "int64",
                                      [ONNX_STRING] = "string", [ONNX_BOOL] = "bool",   [ONNX_DOUBLE] = "double"};
  return names[type];
}

static json_t *describe_values(const struct list *values) {
  json_t *list = json_array();
  for (size_t i = 0; i < values->count; i++) {
    const Onnx__ValueInfoProto *info = values->items[i];
    const Onnx__TypeProto__Tensor *tensor = info->type->tensor_type;
    json_t *shape = json_array();
    for (size_t d = 0; d < tensor->shape->n_dim; d++)
      (void)json_array_append_new(shape, d ? json_integer((json_int_t)tensor->shape->dim[d]->dim_value)
                                           : json_string(tensor->shape->dim[d]->dim_param));
    (void)json_array_append_new(
        list, json_pack("{s:s, s:s, s:o}", "name", info->name, "type", type_name(tensor->elem_type), "shape", shape));
  }
  return list;
}

json_t *onnx_graph_describe(const struct onnx_graph *graph) {
  return json_pack("{s:o, s:o}", "inputs", describe_values(&graph->inputs), "outputs",
                   describe_values(&graph->outputs));
}

enum tutti_status onnx_graph_write(struct onnx_graph *graph, const char *path, uint64_t *bytes) {
  Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
  Onnx__GraphProto content = ONNX__GRAPH_PROTO__INIT;
  Onnx__OperatorSetIdProto sets[2] = {operators("", OPSET), operators(ml_domain, ML_OPSET)};
  Onnx__OperatorSetIdProto *imported[2] = {&sets[0], &sets[1]};
  content.name = graph->name;
  content.doc_string = graph->doc;
  model.producer_name = keep_text(graph, "tutti");
  model.producer_version = keep_text(graph, tutti_version());
  if (onnx_graph_failed(graph))
    return tutti_error_trace(graph->context, graph->status, __FILE__, __LINE__, __func__);
  content.n_node = graph->nodes.count;
  content.node = (Onnx__NodeProto **)graph->nodes.items;
  content.n_initializer = graph->constants.count;
  content.initializer = (Onnx__TensorProto **)graph->constants.items;
  content.n_input = graph->inputs.count;
  content.input = (Onnx__ValueInfoProto **)graph->inputs.items;
  content.n_output = graph->outputs.count;
  content.output = (Onnx__ValueInfoProto **)graph->outputs.items;
  model.has_ir_version = true;
  model.ir_version = IR_VERSION;
  model.n_opset_import = 2;
  model.opset_import = imported;
  model.graph = &content;
  return write_model(graph, &model, path, bytes);
}
