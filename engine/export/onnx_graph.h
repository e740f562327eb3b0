/* onnx_graph.h - an ONNX graph that grows value by value, and is written as a model file. For engine/export/ alone.

   The first failure is kept: whatever is asked afterwards gives NULL, and onnx_graph_write reports it. So translators
   need no check after each call. */
#ifndef TUTTI_ONNX_GRAPH_H
#define TUTTI_ONNX_GRAPH_H

#include <jansson.h>
#include <tutti/context.h>

struct onnx_graph;

/* What the names of values within the graph begin with. */
#define ONNX_INNER "tutti:"

/* The name of a value in the graph, which owns it. */
typedef const char *onnx_value;

/* Types of values, with ONNX's numbers. */
enum onnx_type { ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT64 = 7, ONNX_STRING = 8, ONNX_BOOL = 9, ONNX_DOUBLE = 11 };

/* An attribute of a node: one integer, integers, a real, a tensor of doubles, or texts. Arrays are borrowed until the
   node is added, and what texts point to, until the graph is written. Lists of attributes end with name NULL. */
struct onnx_attribute {
  const char *name;
  enum { ONNX_IS_INTEGER, ONNX_IS_INTEGERS, ONNX_IS_REAL, ONNX_IS_REALS, ONNX_IS_TEXTS, ONNX_IS_BODY } type;
  size_t count;
  int64_t integer;
  const int64_t *integers;
  double real;
  const double *reals;
  const void *body; /* of onnx_body_loop */
  const char *const *texts;
};
#define ONNX_INTEGER(key, value)                                                                                       \
  { .name = (key), .type = ONNX_IS_INTEGER, .integer = (value) }
#define ONNX_INTEGERS(key, number, values)                                                                             \
  { .name = (key), .type = ONNX_IS_INTEGERS, .count = (number), .integers = (values) }
#define ONNX_REAL(key, value)                                                                                          \
  { .name = (key), .type = ONNX_IS_REAL, .real = (value) }
#define ONNX_REALS(key, number, values)                                                                                \
  { .name = (key), .type = ONNX_IS_REALS, .count = (number), .reals = (values) }
#define ONNX_TEXTS(key, number, values)                                                                                \
  { .name = (key), .type = ONNX_IS_TEXTS, .count = (number), .texts = (values) }
#define ONNX_ATTRIBUTES(...) ((const struct onnx_attribute[]){__VA_ARGS__, {.name = NULL}})

/* Create an empty graph; the caller destroys *graph. */
TUTTI_NODISCARD enum tutti_status onnx_graph_create(tutti_context *context, struct onnx_graph **graph);
void onnx_graph_destroy(struct onnx_graph *graph);
/* The context, for translators that fail. onnx_graph_fail: keep a failure that was set in it. */
tutti_context *onnx_graph_context(const struct onnx_graph *graph);
void onnx_graph_fail(struct onnx_graph *graph, enum tutti_status status);
bool onnx_graph_failed(const struct onnx_graph *graph);

/* An input and an output of the whole, of that name, with shape [rows, dims[rank - 1]...]: dims has the others. */
onnx_value onnx_input(struct onnx_graph *graph, const char *name, enum onnx_type type, size_t count,
                      const int64_t *dims);
void onnx_output(struct onnx_graph *graph, const char *name, onnx_value value, enum onnx_type type, size_t count,
                 const int64_t *dims);
/* Constants, which are copied. */
onnx_value onnx_floats(struct onnx_graph *graph, size_t rank, const int64_t *dims, const float *values);
onnx_value onnx_doubles(struct onnx_graph *graph, size_t rank, const int64_t *dims, const double *values);
onnx_value onnx_integers(struct onnx_graph *graph, size_t count, const int64_t *values);
onnx_value onnx_texts(struct onnx_graph *graph, size_t count, const char *const *values);
onnx_value onnx_float(struct onnx_graph *graph, double value);  /* of rank 0 */
onnx_value onnx_double(struct onnx_graph *graph, double value); /* of rank 0 */

/* Add a node of one output. `attributes` may be NULL; an operator of ONNX-ML is named "ai.onnx.ml:NAME". */
onnx_value onnx_node(struct onnx_graph *graph, const char *operator_, const struct onnx_attribute *attributes,
                     size_t count, const onnx_value *inputs);
#define ONNX_NODE(graph, operator_, attributes, ...)                                                                   \
  onnx_node(graph, operator_, attributes, sizeof((onnx_value[]){__VA_ARGS__}) / sizeof(onnx_value),                    \
            (const onnx_value[]){__VA_ARGS__})
/* Without attributes. */
#define ONNX(graph, operator_, ...) ONNX_NODE(graph, operator_, NULL, __VA_ARGS__)
/* The value as another type. */
onnx_value onnx_cast(struct onnx_graph *graph, onnx_value value, enum onnx_type type);
/* Columns [begin, end) of a value [rows, columns]. */
onnx_value onnx_columns(struct onnx_graph *graph, onnx_value value, int64_t begin, int64_t end);

/* A loop over one value: after onnx_body_begin, which gives the value as it is before a pass, nodes are added to the
   loop's body; then onnx_body_result, first for whether to go on (ONNX_BOOL, of rank 0), then for the value after the
   pass; then onnx_body_loop, which ends the body and gives the value after the last pass. Not within each other. */
onnx_value onnx_body_begin(struct onnx_graph *graph, enum onnx_type type);
void onnx_body_result(struct onnx_graph *graph, onnx_value value, enum onnx_type type);
onnx_value onnx_body_loop(struct onnx_graph *graph, int64_t most_passes, onnx_value start);

/* Bytes that the nodes and constants so far take in the file. */
uint64_t onnx_graph_bytes(struct onnx_graph *graph);
/* Say what the model is; both are copied. */
void onnx_graph_name(struct onnx_graph *graph, const char *name, const char *doc);
/* The first failure, if there was one. */
TUTTI_NODISCARD enum tutti_status onnx_graph_status(const struct onnx_graph *graph);
/* {"inputs": [{"name", "type", "shape"}, ...], "outputs": ...}: names as they are, ONNX's types in words, and shapes
   that begin with "rows". The caller releases it. */
json_t *onnx_graph_describe(const struct onnx_graph *graph);
/* Write the model, and set *bytes to the size of the file. TUTTI_ERROR_UNSUPPORTED: it is larger than ONNX's 2 GiB. */
TUTTI_NODISCARD enum tutti_status onnx_graph_write(struct onnx_graph *graph, const char *path, uint64_t *bytes);

#endif
