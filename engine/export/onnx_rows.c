/* onnx_rows.c - raw columns, or images, as what networks read. Each column of a table is an input of its own, [rows,
   1]: doubles (NaN: missing), days since 1970 of a column of dates, or texts of a column with categories (empty:
   missing).
 */
#include "onnx_impl.h"

#include <math.h>
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

/* Where x is NaN, `other`; else `same`. */
static onnx_value where_missing(struct onnx_graph *graph, onnx_value x, double other, onnx_value same) {
  return ONNX(graph, "Where", ONNX(graph, "IsNaN", x), onnx_double(graph, other), same);
}

/* Of each stretch between the increasing edges[count + 1], which share of it lies below x: [rows, count]. */
static onnx_value shares(struct onnx_graph *graph, size_t count, const double *edges, onnx_value x) {
  const int64_t row[] = {1, (int64_t)count};
  tutti_context *context = onnx_graph_context(graph);
  double *widths = NULL;
  onnx_value made = NULL;
  onnx_graph_fail(graph, tutti_alloc(context, count, sizeof *widths, &widths));
  for (size_t i = 0; widths && i < count; i++)
    widths[i] = edges[i + 1] - edges[i];
  if (widths) {
    made = ONNX(graph, "Sub", x, onnx_doubles(graph, 2, row, edges));
    made = ONNX(graph, "Div", made, onnx_doubles(graph, 2, row, widths));
    made = ONNX(graph, "Min", ONNX(graph, "Max", made, onnx_double(graph, 0)), onnx_double(graph, 1));
  }
  tutti_free(widths);
  return made;
}

/* Straight from knot to knot: the first level, and of each rise the share below x. */
static onnx_value between_knots(struct onnx_graph *graph, const struct tutti_data_column *column, onnx_value x) {
  const size_t count = column->knots - 1;
  const int64_t side[] = {(int64_t)count, 1};
  tutti_context *context = onnx_graph_context(graph);
  double *rises = NULL;
  onnx_value made = NULL;
  if (count == 0)
    return ONNX(graph, "Add", ONNX(graph, "Mul", x, onnx_double(graph, 0)), onnx_double(graph, column->level[0]));
  onnx_graph_fail(graph, tutti_alloc(context, count, sizeof *rises, &rises));
  for (size_t i = 0; rises && i < count; i++)
    rises[i] = column->level[i + 1] - column->level[i];
  if (rises) {
    made = ONNX(graph, "MatMul", shares(graph, count, column->knot, x), onnx_doubles(graph, 2, side, rises));
    made = ONNX(graph, "Add", made, onnx_double(graph, column->level[0]));
  }
  tutti_free(rises);
  return made;
}

/* x / sqrt(1 + (x / clip)^2). At `far` that is the clip for floats, and the square is still finite. */
static onnx_value clipped(struct onnx_graph *graph, double clip, onnx_value x) {
  const double far = 1e9;
  onnx_value near = ONNX(graph, "Min", ONNX(graph, "Max", x, onnx_double(graph, -far)), onnx_double(graph, far));
  onnx_value part = ONNX(graph, "Div", near, onnx_double(graph, clip));
  onnx_value square = ONNX(graph, "Mul", part, part);
  return ONNX(graph, "Div", near, ONNX(graph, "Sqrt", ONNX(graph, "Add", square, onnx_double(graph, 1))));
}

/* The features of a number, or of the days of a date: the number of a cell, or where it is missing (NaN) the training
   rows' mean, scaled; cycles; and whether it is missing. Adds to values[]; *bins: those of the number. */
static size_t number(struct onnx_graph *graph, const struct tutti_encoding *encoding,
                     const struct tutti_data_column *column, size_t feature, onnx_value *values, onnx_value *bins) {
  static const char *const waves[] = {"Sin", "Cos"};
  bool fills = encoding->missing == TUTTI_MISSING_MEAN || encoding->missing == TUTTI_MISSING_INDICATOR;
  size_t count = 0;
  onnx_value x = input_of(graph, encoding, column, ONNX_DOUBLE);
  onnx_value filled = fills ? where_missing(graph, x, column->mean, x) : x;
  onnx_value line = column->knots ? between_knots(graph, column, filled) : filled;
  onnx_value centred = ONNX(graph, "Sub", line, onnx_double(graph, encoding->shift[feature]));
  onnx_value scaled = ONNX(graph, "Div", centred, onnx_double(graph, encoding->scale[feature]));
  values[count++] = column->clip > 0 ? clipped(graph, column->clip, scaled) : scaled;
  for (size_t c = 0; c < 2 * column->cycles; c++) {
    onnx_value turns = ONNX(graph, "Div", filled, onnx_double(graph, tutti_cycle_days[c / 2]));
    onnx_value part = ONNX(graph, "Sub", turns, ONNX(graph, "Floor", turns));
    onnx_value wave = ONNX(graph, waves[c % 2], ONNX(graph, "Mul", part, onnx_double(graph, 2 * M_PI)));
    values[count++] = fills ? where_missing(graph, x, 0, wave) : wave;
  }
  if (column->bins)
    *bins = shares(graph, column->bins, column->edge, filled);
  if (column->marks_missing)
    values[count++] = onnx_cast(graph, ONNX(graph, "IsNaN", x), ONNX_DOUBLE);
  return count;
}

/* The texts of the categories, and the empty one of missing cells where these are a category; numbers[] are theirs. */
static size_t texts_of(const struct tutti_data_column *column, const char **texts, int64_t *numbers) {
  size_t missing = tutti_category_find(column, TUTTI_CATEGORY_MISSING), count = column->categories;
  for (size_t i = 0; i < count; i++) {
    texts[i] = column->category[i];
    numbers[i] = (int64_t)i;
  }
  if (missing == SIZE_MAX || tutti_category_find(column, "") != SIZE_MAX)
    return count;
  texts[count] = "";
  numbers[count] = (int64_t)missing;
  return count + 1;
}

/* 1 for the category of a cell, 0 for the others; an unknown one is "(other)" or, without it, none. */
static onnx_value one_hot(struct onnx_graph *graph, const struct tutti_encoding *encoding,
                          const struct tutti_data_column *column) {
  tutti_context *context = onnx_graph_context(graph);
  enum { NONE = -1 };
  int64_t *numbers = NULL;
  const char **texts = NULL;
  onnx_value x = input_of(graph, encoding, column, ONNX_STRING), same = NULL;
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, tutti_alloc(context, column->categories + 1, sizeof *numbers, &numbers));
  if (!onnx_graph_failed(graph))
    onnx_graph_fail(graph, tutti_alloc(context, column->categories + 1, sizeof(const char *), &texts));
  if (numbers && texts) {
    size_t other = tutti_category_find(column, TUTTI_CATEGORY_OTHER), count = texts_of(column, texts, numbers);
    onnx_value code = ONNX_NODE(
        graph, "ai.onnx.ml:LabelEncoder",
        ONNX_ATTRIBUTES(ONNX_TEXTS("keys_strings", count, texts), ONNX_INTEGERS("values_int64s", count, numbers),
                        ONNX_INTEGER("default_int64", other == SIZE_MAX ? NONE : (int64_t)other)),
        x);
    same = ONNX(graph, "Equal", code, onnx_integers(graph, column->categories, numbers));
    same = onnx_cast(graph, same, ONNX_DOUBLE);
  }
  tutti_free(numbers);
  tutti_free(texts);
  return same;
}

static onnx_value table(struct onnx_graph *graph, const struct tutti_encoding *encoding) {
  tutti_context *context = onnx_graph_context(graph);
  size_t feature = 0, count = 0, binned = 0;
  onnx_value *values, *bins;
  onnx_graph_fail(graph, tutti_alloc(context, encoding->features + encoding->inputs, sizeof *values, &values));
  if (onnx_graph_failed(graph))
    return NULL;
  bins = values + encoding->features;
  for (size_t i = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    if (column->categories)
      values[count++] = one_hot(graph, encoding, column);
    else
      count += number(graph, encoding, column, feature, values + count, bins + binned);
    binned += column->bins > 0;
    feature += tutti_column_features(column);
  }
  for (size_t i = 0; i < binned; i++)
    values[count++] = bins[i];
  onnx_value all = onnx_node(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), count, values);
  tutti_free(values);
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
