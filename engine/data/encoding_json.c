/* encoding_json.c - converts an encoding to JSON, which a run keeps for new rows, and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoding_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"

/* Of data.json. Readers that know of nothing but shift and scale read version 3; where there is more to a number, it is
   version 4. */
enum { VERSION_LINEAR = 3, VERSION = 4 };

/* --- to JSON --- */

static void print_array(struct tutti_text *text, const char *key, size_t count, const double *numbers) {
  tutti_text_add(text, "\"%s\": [", key);
  for (size_t i = 0; i < count; i++) {
    tutti_text_add(text, i ? ", " : "");
    tutti_text_add_number(text, numbers[i]);
  }
  tutti_text_add(text, "]");
}

static void print_numbers(struct tutti_text *text, const char *key, size_t count, const double *numbers) {
  tutti_text_add(text, ",\n ");
  print_array(text, key, count, numbers);
}

/* What there is to a number besides shift and scale. */
static void print_scaling(struct tutti_text *text, const struct tutti_data_column *column) {
  if (column->knots) {
    tutti_text_add(text, ", ");
    print_array(text, "knots", column->knots, column->knot);
    tutti_text_add(text, ", ");
    print_array(text, "levels", column->knots, column->level);
  }
  if (column->clip > 0) {
    tutti_text_add(text, ", \"clip\": ");
    tutti_text_add_number(text, column->clip);
  }
  if (column->bins) {
    tutti_text_add(text, ", ");
    print_array(text, "edges", column->bins + 1, column->edge);
  }
}

static int version_of(const struct tutti_encoding *encoding) {
  for (size_t i = 0; i < encoding->inputs; i++)
    if (encoding->input[i].knots || encoding->input[i].clip > 0 || encoding->input[i].bins)
      return VERSION;
  return VERSION_LINEAR;
}

/* `whole`: with what predictions warn by, and no row is encoded by. */
static void print_columns(struct tutti_text *text, const char *key, size_t count,
                          const struct tutti_data_column *columns, bool whole) {
  tutti_text_add(text, ",\n \"%s\": [", key);
  for (size_t i = 0; i < count; i++) {
    tutti_text_add(text, "%s\n  {\"name\": ", i ? "," : "");
    tutti_text_add_json(text, columns[i].name);
    tutti_text_add(text, ", \"position\": %zu, \"mean\": ", columns[i].position);
    tutti_text_add_number(text, columns[i].mean);
    tutti_text_add(text, ", \"categories\": [");
    for (size_t c = 0; c < columns[i].categories; c++) {
      tutti_text_add(text, c ? ", " : "");
      tutti_text_add_json(text, columns[i].category[c]);
    }
    tutti_text_add(text, "]");
    if (columns[i].date_format) {
      tutti_text_add(text, ", \"date\": ");
      tutti_text_add_json(text, columns[i].date_format);
      tutti_text_add(text, ", \"cycles\": %zu", columns[i].cycles);
    }
    print_scaling(text, &columns[i]);
    tutti_text_add(text, "%s%s}", columns[i].marks_missing ? ", \"marks_missing\": true" : "",
                   whole && columns[i].whole ? ", \"whole\": true" : "");
  }
  tutti_text_add(text, "]");
}

/* Columns and statistics. */
static void print_rest(struct tutti_text *text, const struct tutti_encoding *encoding, bool whole) {
  size_t targets = encoding->task == TUTTI_TASK_CLASSIFICATION ? 0 : encoding->targets;
  if (!encoding->image.height)
    print_columns(text, "inputs", encoding->inputs, encoding->input, whole);
  print_columns(text, "targets", encoding->targets, encoding->target, whole);
  print_numbers(text, "shift", encoding->features, encoding->shift);
  print_numbers(text, "scale", encoding->features, encoding->scale);
  print_numbers(text, "target_shift", targets, encoding->target_shift);
  print_numbers(text, "target_scale", targets, encoding->target_scale);
  if (tutti_encoding_has_origin(encoding))
    print_numbers(text, "target_origin", targets, encoding->target_origin);
  tutti_text_add(text, "}\n");
}

static void print_origin(struct tutti_text *text, const struct tutti_origin *origin) {
  tutti_text_add(text, "\"source\": {\"plugin\": ");
  tutti_text_add_json(text, origin->plugin);
  tutti_text_add(text, ", \"parameters\": {");
  for (size_t i = 0; i < origin->count; i++) {
    tutti_text_add(text, i ? ", " : "");
    tutti_text_add_json(text, origin->keys[i]);
    tutti_text_add(text, ": ");
    tutti_text_add_json(text, origin->values[i]);
  }
  tutti_text_add(text, "}");
  for (size_t i = 0; origin->settled && origin->settled[i]; i += 2) {
    tutti_text_add(text, i ? ", " : ", \"settled\": {");
    tutti_text_add_json(text, origin->settled[i]);
    tutti_text_add(text, ": ");
    tutti_text_add_json(text, origin->settled[i + 1]);
  }
  tutti_text_add(text, origin->settled ? "}}" : "}");
}

static void print_splits(struct tutti_text *text, size_t count, tutti_split *const *splits) {
  tutti_text_add(text, ",\n \"splits\": [");
  for (size_t i = 0; i < count; i++) {
    tutti_text_add(text, "%s\n  {\"name\": ", i ? "," : "");
    tutti_text_add_json(text, tutti_split_name(splits[i]));
    tutti_text_add(text, ", \"rows\": %zu, \"targets\": %s}", tutti_split_rows(splits[i]),
                   tutti_split_labels(splits[i]) || tutti_split_raw_targets(splits[i]) ? "true" : "false");
  }
  tutti_text_add(text, "]");
}

enum tutti_status tutti_encoding_print(tutti_context *context, const struct tutti_encoding *encoding, size_t count,
                                       tutti_split *const *splits, char **json) {
  struct tutti_text text = tutti_text_begin(context);
  tutti_text_add(&text, "{\"version\": %d, ", version_of(encoding));
  print_origin(&text, &encoding->origin);
  tutti_text_add(&text, ",\n \"task\": \"%s\", \"named\": %s, \"columns\": %zu, \"missing\": %d",
                 tutti_task_name(encoding->task), encoding->named ? "true" : "false", encoding->source_columns,
                 (int)encoding->missing);
  if (encoding->unseen != TUTTI_UNSEEN_ERROR)
    tutti_text_add(&text, ", \"unseen\": %d", (int)encoding->unseen);
  if (encoding->image.height)
    tutti_text_add(&text, ",\n \"images\": [%d, %d, %d], \"channels\": %zu, \"floats\": %s", encoding->image.height,
                   encoding->image.width, encoding->image.channels, encoding->features,
                   encoding->floats ? "true" : "false");
  print_splits(&text, count, splits);
  print_rest(&text, encoding, true);
  return tutti_text_take(&text, json);
}

enum tutti_status tutti_encoding_fingerprint_text(tutti_context *context, const struct tutti_encoding *encoding,
                                                  const char *source, char **out) {
  struct tutti_text text = tutti_text_begin(context);
  tutti_text_add(
      &text, "{\"version\": 1, \"task\": \"%s\", \"header\": %s, \"columns\": %zu, \"delimiter\": 0, \"missing\": %d",
      tutti_task_name(encoding->task), encoding->named ? "true" : "false", encoding->source_columns,
      (int)encoding->missing);
  if (encoding->image.height)
    tutti_text_add(&text, ",\n \"images\": [%d, %d, %d], \"channels\": %zu, \"format\": \"%s\", \"floats\": %s",
                   encoding->image.height, encoding->image.width, encoding->image.channels, encoding->features, source,
                   encoding->floats ? "true" : "false");
  print_rest(&text, encoding, false);
  return tutti_text_take(&text, out);
}

/* --- from JSON --- */

static enum tutti_status torn(tutti_context *context, const char *what) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the description of the data is torn at '%s'", what);
}

/* An integer of [0, limit]. */
static enum tutti_status take_count(tutti_context *context, const json_t *object, const char *key, size_t limit,
                                    size_t *count) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > limit)
    return torn(context, key);
  *count = (size_t)json_integer_value(value);
  return TUTTI_OK;
}

static enum tutti_status take_numbers(tutti_context *context, const json_t *root, const char *key, size_t count,
                                      bool positive, double *numbers) {
  const json_t *array = json_object_get(root, key);
  if (!json_is_array(array) || json_array_size(array) != count)
    return torn(context, key);
  for (size_t i = 0; i < count; i++) {
    const json_t *value = json_array_get(array, i);
    numbers[i] = json_number_value(value);
    if (!json_is_number(value) || !isfinite(numbers[i]) || (positive && numbers[i] <= 0))
      return torn(context, key);
  }
  return TUTTI_OK;
}

/* Categories are already sorted, so adding them in turn keeps their numbers. */
static enum tutti_status take_categories(tutti_context *context, const json_t *array,
                                         struct tutti_data_column *column) {
  if (!json_is_array(array))
    return torn(context, "categories");
  for (size_t i = 0; i < json_array_size(array); i++) {
    const char *category = json_string_value(json_array_get(array, i));
    if (!category)
      return torn(context, "categories");
    TUTTI_TRY(context, tutti_category_add(context, column, category));
    if (column->categories != i + 1 || strcmp(column->category[i], category) != 0)
      return torn(context, "categories");
  }
  return TUTTI_OK;
}

static enum tutti_status take_date(tutti_context *context, const json_t *object, struct tutti_data_column *column) {
  const json_t *date = json_object_get(object, "date");
  if (!date)
    return TUTTI_OK;
  if (!json_is_string(date))
    return torn(context, "date");
  TUTTI_TRY(context, tutti_strdup(context, json_string_value(date), &column->date_format));
  return take_count(context, object, "cycles", TUTTI_CYCLES, &column->cycles);
}

/* An array of `least` numbers and more that rise, or do not fall, into *numbers[*count]; without the key there is
   none. */
static enum tutti_status take_rising(tutti_context *context, const json_t *object, const char *key, size_t least,
                                     bool strictly, size_t *count, double **numbers) {
  size_t size = json_array_size(json_object_get(object, key));
  *count = 0;
  if (!json_object_get(object, key))
    return TUTTI_OK;
  if (size < least)
    return torn(context, key);
  TUTTI_TRY(context, tutti_alloc(context, size, sizeof **numbers, numbers));
  TUTTI_TRY(context, take_numbers(context, object, key, size, false, *numbers));
  for (size_t i = 1; i < size; i++)
    if ((*numbers)[i] < (*numbers)[i - 1] || (strictly && (*numbers)[i] == (*numbers)[i - 1]))
      return torn(context, key);
  *count = size;
  return TUTTI_OK;
}

static enum tutti_status take_scaling(tutti_context *context, const json_t *object, struct tutti_data_column *column) {
  const json_t *clip = json_object_get(object, "clip");
  size_t levels, edges;
  TUTTI_TRY(context, take_rising(context, object, "knots", 1, true, &column->knots, &column->knot));
  TUTTI_TRY(context, take_rising(context, object, "levels", 1, false, &levels, &column->level));
  if (levels != column->knots)
    return torn(context, "levels");
  TUTTI_TRY(context, take_rising(context, object, "edges", 3, true, &edges, &column->edge));
  column->bins = edges ? edges - 1 : 0;
  column->clip = json_number_value(clip);
  if (clip && !(column->clip > 0 && isfinite(column->clip)))
    return torn(context, "clip");
  return TUTTI_OK;
}

static enum tutti_status take_columns(tutti_context *context, const json_t *root, const char *key, size_t positions,
                                      size_t *count, struct tutti_data_column **columns) {
  const json_t *array = json_object_get(root, key);
  if (!json_is_array(array) || json_array_size(array) == 0)
    return torn(context, key);
  TUTTI_TRY(context, tutti_alloc(context, json_array_size(array), sizeof **columns, columns));
  *count = json_array_size(array);
  for (size_t i = 0; i < *count; i++) {
    const json_t *object = json_array_get(array, i);
    const char *name = json_string_value(json_object_get(object, "name"));
    struct tutti_data_column *column = &(*columns)[i];
    const json_t *mean = json_object_get(object, "mean");
    if (!name || !json_is_number(mean))
      return torn(context, key);
    column->mean = json_number_value(mean);
    TUTTI_TRY(context, tutti_strdup(context, name, &column->name));
    TUTTI_TRY(context, take_count(context, object, "position", positions - 1, &column->position));
    TUTTI_TRY(context, take_categories(context, json_object_get(object, "categories"), column));
    TUTTI_TRY(context, take_date(context, object, column));
    column->marks_missing = json_is_true(json_object_get(object, "marks_missing"));
    column->whole = json_is_true(json_object_get(object, "whole"));
    TUTTI_TRY(context, take_scaling(context, object, column));
    if (column->categories &&
        (column->date_format || column->marks_missing || column->knots || column->clip > 0 || column->bins))
      return torn(context, "categories");
  }
  return TUTTI_OK;
}

static int by_position(const void *a, const void *b) {
  const struct tutti_data_column *const *x = a, *const *y = b;
  return ((*x)->position > (*y)->position) - ((*x)->position < (*y)->position);
}

/* Each column of the source has one role at most; this is what reading without the targets' columns rests on. */
static enum tutti_status check_positions(tutti_context *context, const struct tutti_encoding *encoding) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_data_column **columns = NULL;
  size_t count = encoding->inputs + encoding->targets;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(struct tutti_data_column *), &columns));
  for (size_t i = 0; i < count; i++)
    columns[i] = i < encoding->inputs ? &encoding->input[i] : &encoding->target[i - encoding->inputs];
  qsort(columns, count, sizeof(struct tutti_data_column *), by_position);
  for (size_t i = 1; i < count && status == TUTTI_OK; i++)
    if (columns[i]->position == columns[i - 1]->position)
      status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                          "the description of the data is torn at 'position': columns '%s' and '%s' are both at %zu",
                          columns[i - 1]->name, columns[i]->name, columns[i]->position);
out:
  tutti_free(columns);
  return status;
}

/* How images become inputs. */
static enum tutti_status take_images(tutti_context *context, const json_t *root, struct tutti_encoding *encoding) {
  const json_t *shape = json_object_get(root, "images");
  int32_t *sizes[] = {&encoding->image.height, &encoding->image.width, &encoding->image.channels};
  if (json_array_size(shape) != 3 || encoding->task != TUTTI_TASK_CLASSIFICATION)
    return torn(context, "images");
  for (size_t i = 0; i < 3; i++) {
    const json_t *size = json_array_get(shape, i);
    if (!json_is_integer(size) || json_integer_value(size) < 1 || json_integer_value(size) > INT16_MAX)
      return torn(context, "images");
    *sizes[i] = (int32_t)json_integer_value(size);
  }
  TUTTI_TRY(context, take_count(context, root, "channels", TUTTI_ROWS_MAX_CHANNELS, &encoding->features));
  if (encoding->features == 0 ||
      (encoding->image.channels != 1 && (size_t)encoding->image.channels != encoding->features))
    return torn(context, "channels");
  encoding->floats = json_is_true(json_object_get(root, "floats"));
  return tutti_encoding_name_channels(context, encoding);
}

static enum tutti_status take_origin(tutti_context *context, const json_t *root, struct tutti_origin *origin) {
  json_t *source = json_object_get(root, "source"), *parameters = json_object_get(source, "parameters");
  const char *plugin = json_string_value(json_object_get(source, "plugin")), *key;
  json_t *value;
  size_t i = 0;
  if (!plugin || !json_is_object(parameters))
    return torn(context, "source");
  TUTTI_TRY(context, tutti_strdup(context, plugin, &origin->plugin));
  TUTTI_TRY(context, tutti_origin_reserve(context, origin, json_object_size(parameters)));
  json_object_foreach(parameters, key, value) {
    if (!json_is_string(value))
      return torn(context, "source");
    TUTTI_TRY(context, tutti_strdup(context, key, &origin->keys[i]));
    TUTTI_TRY(context, tutti_strdup(context, json_string_value(value), &origin->values[i++]));
  }
  json_object_foreach(json_object_get(source, "settled"), key, value) {
    if (!json_is_string(value))
      return torn(context, "settled");
    TUTTI_TRY(context, tutti_origin_settle(context, origin, key, json_string_value(value)));
  }
  return TUTTI_OK;
}

static enum tutti_status take_encoding(tutti_context *context, const json_t *root, struct tutti_encoding *encoding) {
  size_t version, missing, unseen;
  const char *task = json_string_value(json_object_get(root, "task"));
  TUTTI_TRY(context, take_count(context, root, "version", SIZE_MAX, &version));
  if (version != VERSION_LINEAR && version != VERSION)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "the description of the data has version %zu, and this Tutti reads versions %d and %d; look at "
                      "the run with the Tutti that made it (recipe.ini says which), or run it again",
                      version, VERSION_LINEAR, VERSION);
  TUTTI_TRY(context, take_origin(context, root, &encoding->origin));
  encoding->task = TUTTI_TASK_REGRESSION;
  while (encoding->task < TUTTI_TASK_VALUE && (!task || strcmp(task, tutti_task_name(encoding->task)) != 0))
    encoding->task++;
  if (encoding->task == TUTTI_TASK_VALUE)
    return torn(context, "task");
  if (!json_is_boolean(json_object_get(root, "named")))
    return torn(context, "named");
  encoding->named = json_is_true(json_object_get(root, "named"));
  TUTTI_TRY(context, take_count(context, root, "columns", UINT32_MAX, &encoding->source_columns));
  TUTTI_TRY(context, take_count(context, root, "missing", TUTTI_MISSING_INDICATOR, &missing));
  encoding->missing = (enum tutti_missing)missing;
  if (json_object_get(root, "unseen")) {
    TUTTI_TRY(context, take_count(context, root, "unseen", TUTTI_UNSEEN_OTHER, &unseen));
    encoding->unseen = (enum tutti_unseen)unseen;
  }
  if (encoding->source_columns == 0)
    return torn(context, "columns");
  bool images = json_object_get(root, "images") != NULL;
  TUTTI_TRY(context, images ? take_images(context, root, encoding)
                            : take_columns(context, root, "inputs", encoding->source_columns, &encoding->inputs,
                                           &encoding->input));
  TUTTI_TRY(context,
            take_columns(context, root, "targets", encoding->source_columns, &encoding->targets, &encoding->target));
  bool classes = encoding->task == TUTTI_TASK_CLASSIFICATION;
  for (size_t i = 0; i < encoding->targets; i++)
    if (classes ? encoding->targets != 1 || encoding->target[i].categories < 2 : encoding->target[i].categories != 0)
      return torn(context, "targets");
  if (!images) {
    TUTTI_TRY(context, check_positions(context, encoding));
    TUTTI_TRY(context, tutti_encoding_lay_out(context, encoding));
  }
  size_t targets = classes ? 0 : encoding->targets;
  TUTTI_TRY(context, take_numbers(context, root, "shift", encoding->features, false, encoding->shift));
  TUTTI_TRY(context, take_numbers(context, root, "scale", encoding->features, true, encoding->scale));
  TUTTI_TRY(context, take_numbers(context, root, "target_shift", targets, false, encoding->target_shift));
  TUTTI_TRY(context, take_numbers(context, root, "target_scale", targets, true, encoding->target_scale));
  if (!json_object_get(root, "target_origin"))
    return TUTTI_OK; /* 0 */
  return take_numbers(context, root, "target_origin", targets, false, encoding->target_origin);
}

enum tutti_status tutti_encoding_parse(tutti_context *context, const char *json, struct tutti_encoding **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_encoding *encoding = NULL;
  json_t *root;
  *out = NULL;
  TUTTI_TRY(context, tutti_json_parse(context, json, JSON_REJECT_DUPLICATES, TUTTI_ERROR_CORRUPT,
                                      "the description of the data as JSON", &root));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *encoding, &encoding));
  TUTTI_TRY_OUT(context, take_encoding(context, root, encoding));
  *out = encoding;
  encoding = NULL;
out:
  tutti_encoding_destroy(encoding);
  json_decref(root);
  return status;
}
