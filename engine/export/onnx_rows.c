/* onnx_rows.c - raw columns, or images, as what networks read. Each column of a table is an input of its own, [rows,
   1]: doubles, or texts of a column with categories. */
#include "onnx_impl.h"

#include <string.h>

/* Is it a name that the graph uses for something else? */
static bool is_taken(const char *name) {
  bool taken = strncmp(name, ONNX_INNER, strlen(ONNX_INNER)) == 0;
  for (size_t i = 0; onnx_outputs[i]; i++)
    taken = taken || strcmp(name, onnx_outputs[i]) == 0;
  return taken;
}

static bool is_column(const struct tutti_encoding *encoding, const char *name) {
  for (size_t i = 0; i < encoding->inputs; i++)
    if (strcmp(encoding->input[i].name, name) == 0)
      return true;
  return false;
}

/* The input of a column, of its name; of one that has the name of an output, "column NAME". */
static onnx_value input_of(struct onnx_graph *graph, const struct tutti_encoding *encoding,
                           const struct tutti_data_column *column, enum onnx_type type) {
  static const int64_t one_column[] = {1};
  tutti_context *context = onnx_graph_context(graph);
  char *name;
  if (!is_taken(column->name))
    return onnx_input(graph, column->name, type, 1, one_column);
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, tutti_format(context, &name, "column %s", column->name));
  if (onnx_graph_failed(graph))
    return NULL;
  if (is_column(encoding, name))
    onnx_graph_fail(graph,
                    TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                               "column '%s' has the name of an output, and there is a column '%s', too; rename one "
                               "of them in the data",
                               column->name, name));
  onnx_value made = onnx_input(graph, name, type, 1, one_column);
  tutti_free(name);
  return made;
}

/* The number of a cell, or where it is missing (NaN) the training rows' mean, scaled. */
static onnx_value number(struct onnx_graph *graph, const struct tutti_encoding *encoding,
                         const struct tutti_data_column *column, size_t feature) {
  onnx_value x = input_of(graph, encoding, column, ONNX_DOUBLE);
  if (encoding->missing == TUTTI_MISSING_MEAN)
    x = ONNX(graph, "Where", ONNX(graph, "IsNaN", x), onnx_double(graph, column->mean), x);
  onnx_value centred = ONNX(graph, "Sub", x, onnx_double(graph, encoding->shift[feature]));
  return ONNX(graph, "Div", centred, onnx_double(graph, encoding->scale[feature]));
}

/* 1 for the category of a cell, 0 for the others; all 0 for an unknown one. */
static onnx_value one_hot(struct onnx_graph *graph, const struct tutti_encoding *encoding,
                          const struct tutti_data_column *column) {
  tutti_context *context = onnx_graph_context(graph);
  enum { UNKNOWN = -1 };
  int64_t *numbers;
  onnx_value x = input_of(graph, encoding, column, ONNX_STRING);
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, tutti_alloc(context, column->categories, sizeof *numbers, &numbers));
  if (onnx_graph_failed(graph))
    return NULL;
  for (size_t i = 0; i < column->categories; i++)
    numbers[i] = (int64_t)i;
  onnx_value code =
      ONNX_NODE(graph, "ai.onnx.ml:LabelEncoder",
                ONNX_ATTRIBUTES(ONNX_TEXTS("keys_strings", column->categories, (const char *const *)column->category),
                                ONNX_INTEGERS("values_int64s", column->categories, numbers),
                                ONNX_INTEGER("default_int64", UNKNOWN)),
                x);
  onnx_value same = ONNX(graph, "Equal", code, onnx_integers(graph, column->categories, numbers));
  tutti_free(numbers);
  return onnx_cast(graph, same, ONNX_DOUBLE);
}

static onnx_value table(struct onnx_graph *graph, const struct tutti_encoding *encoding) {
  tutti_context *context = onnx_graph_context(graph);
  size_t feature = 0;
  onnx_value *columns;
  onnx_graph_fail(graph, tutti_alloc(context, encoding->inputs, sizeof *columns, &columns));
  if (onnx_graph_failed(graph))
    return NULL;
  for (size_t i = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    columns[i] = column->categories ? one_hot(graph, encoding, column) : number(graph, encoding, column, feature);
    feature += column->categories ? column->categories : 1;
  }
  onnx_value all = onnx_node(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), encoding->inputs, columns);
  tutti_free(columns);
  return onnx_cast(graph, all, ONNX_FLOAT);
}

/* Images as they are stored, channels last; grey ones are repeated where networks read more channels. */
static onnx_value images(struct onnx_graph *graph, const struct tutti_encoding *encoding) {
  static const int64_t channels_first[] = {0, 3, 1, 2};
  const struct tutti_shape shape = encoding->image;
  const int64_t sides[] = {shape.height, shape.width, shape.channels}, channels = (int64_t)encoding->features;
  onnx_value x = onnx_input(graph, "image", encoding->floats ? ONNX_FLOAT : ONNX_UINT8, 3, sides);
  x = ONNX(graph, "Sub", onnx_cast(graph, x, ONNX_DOUBLE), onnx_doubles(graph, 1, &channels, encoding->shift));
  x = ONNX(graph, "Div", x, onnx_doubles(graph, 1, &channels, encoding->scale));
  x = ONNX_NODE(graph, "Transpose", ONNX_ATTRIBUTES(ONNX_INTEGERS("perm", 4, channels_first)),
                onnx_cast(graph, x, ONNX_FLOAT));
  return shape.height * shape.width > 1 ? x : ONNX_NODE(graph, "Flatten", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), x);
}

onnx_value onnx_rows(struct onnx_graph *graph, const struct tutti_encoding *encoding) {
  return encoding->image.height ? images(graph, encoding) : table(graph, encoding);
}
