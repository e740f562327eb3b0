/* folder.c - a model in a folder that explains itself: the graph, what goes in and comes out, some rows with what is
   right for them, a page, and a program that tries it. */
#include "onnx_impl.h"

#include "core/base/context_impl.h"
#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"
#include "engine/data/reader_impl.h"
#include "engine/run/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/names.h>
#include <tutti/sized.h>
#include <tutti/export.h>
#include <tutti/run.h>
#include <tutti/version.h>

enum { SAMPLE = 20 };

static enum tutti_status write_text(tutti_context *context, const char *folder, const char *name, const char *text) {
  char *path;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  enum tutti_status status = tutti_file_write_text(context, path, text);
  tutti_free(path);
  return status;
}

/* Takes `root`. */
static enum tutti_status write_json(tutti_context *context, const char *folder, const char *name, json_t *root) {
  char *text;
  TUTTI_TRY(context, tutti_json_document(context, root, &text));
  enum tutti_status status = write_text(context, folder, name, text);
  tutti_free(text);
  return status;
}

/* --- what goes in and comes out --- */

static const char *meaning_of(const char *output) {
  static const char *const meanings[][2] = {
      {"mean", "the predicted value, in the unit of the target"},
      {"aleatoric", "standard deviation of the noise in the data"},
      {"epistemic", "standard deviation that stands for what the ensemble does not know"},
      {"total", "both together: the standard deviation of a prediction"},
      {"epistemic_between", "the part of epistemic on which the members differ"},
      {"epistemic_within", "the part of epistemic that members know of themselves"},
      {"lower", "lower end of the interval that holds 95 % of the targets"},
      {"upper", "upper end of that interval"},
      {"label", "the most probable class"},
      {"probabilities", "the probability of each class, in the order of classes"},
      {"entropy", "all uncertainty about the class, in nats"},
      {"expected_entropy", "the part of it that is in the data"},
      {"mutual_information", "the part of it that the ensemble does not know"},
      {"mutual_information_between", "of that, what the members differ on"},
      {"mutual_information_within", "of that, what members know of themselves"}};
  for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
    if (strcmp(meanings[i][0], output) == 0)
      return meanings[i][1];
  return "";
}

/* Text inside a cell of a table of the page: "|" would end it. */
static void add_cell(struct tutti_text *page, const char *text) {
  for (const char *c = text; *c; c++)
    tutti_text_add(page, *c == '|' ? "\\|" : "%c", *c);
}

static json_t *texts(size_t count, char *const *items) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, json_string(items[i]));
  return list;
}

/* What the graph says of itself, with what each input and output means. */
static json_t *describe(const struct onnx_graph *graph, const struct tutti_model *model) {
  const struct tutti_encoding *encoding = model->view->experiment->dataset->encoding;
  const bool takes_missing = encoding->missing == TUTTI_MISSING_MEAN || encoding->missing == TUTTI_MISSING_INDICATOR;
  json_t *described = onnx_graph_describe(graph), *value, *names = json_array();
  size_t i;
  json_array_foreach(json_object_get(described, "inputs"), i, value) {
    const struct tutti_data_column *column = i < encoding->inputs ? &encoding->input[i] : NULL;
    if (column && column->categories)
      (void)json_object_set_new(value, "categories", texts(column->categories, column->category));
    else
      (void)json_object_set_new(value, "meaning",
                                json_string(!column               ? "the pixels of an image, as in the data"
                                            : column->date_format ? "days since 1970-01-01"
                                            : takes_missing       ? "a number; NaN: missing"
                                                                  : "a number, which may not be missing"));
  }
  json_array_foreach(json_object_get(described, "outputs"), i, value)(void)
      json_object_set_new(value, "meaning", json_string(meaning_of(json_string_value(json_object_get(value, "name")))));
  if (tutti_model_kind(model) == TUTTI_TASK_CLASSIFICATION)
    (void)json_object_set_new(described, "classes",
                              texts(encoding->target[0].categories, encoding->target[0].category));
  for (size_t o = 0; o < encoding->targets; o++)
    (void)json_array_append_new(names, json_string(encoding->target[o].name));
  (void)json_object_set_new(described, "targets", names);
  return described;
}

/* --- a sample of rows --- */

/* Where the data are, as the recipe says; free *path with tutti_free. */
static enum tutti_status find_data(tutti_context *context, const tutti_recipe *recipe, char **path) {
  char *text;
  const char *folder = tutti_recipe_folder(recipe);
  *path = NULL;
  TUTTI_TRY(context, tutti_config_get(context, tutti_recipe_data(recipe), "path", &text));
  bool relative = *text != '/' && folder && *folder;
  enum tutti_status status =
      *text ? tutti_format(context, path, "%s%s%s", relative ? folder : "", relative ? "/" : "", text)
            : TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "the recipe names no file of data (data.path)");
  tutti_free(text);
  return status;
}

static enum tutti_status copy_cell(tutti_context *context, const tutti_rows *from, size_t row, size_t column,
                                   size_t into, tutti_rows *to) {
  enum tutti_cell cell = tutti_rows_cell(from, row, column);
  double number = tutti_rows_number(from, row, column);
  if (cell == TUTTI_CELL_NUMBER || cell == TUTTI_CELL_INFINITE)
    return tutti_rows_add_numbers(context, to, into, 1, &number);
  return tutti_rows_add_text(context, to, into, cell == TUTTI_CELL_TEXT ? tutti_rows_text(from, row, column) : NULL);
}

/* TUTTI_ERROR_USAGE unless the data are still those of the run. */
static enum tutti_status check_same_data(tutti_context *context, const tutti_view *view, const char *path) {
  enum tutti_status status;
  tutti_catalogue *catalogue = view->catalogue ? view->catalogue : view->parts[0].view->catalogue;
  tutti_dataset *dataset = NULL;
  char *recorded = NULL, found[17];
  TUTTI_TRY_OUT(context, tutti_catalogue_get(context, catalogue, "fingerprint", &recorded));
  TUTTI_TRY_OUT(context, tutti_experiment_load(context, view->experiment, 0, &dataset));
  (void)snprintf(found, sizeof found, "%016" PRIx64, tutti_dataset_fingerprint(dataset));
  if (!recorded || strcmp(recorded, found) != 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: the data have changed since the run began: their fingerprint is %s, and that of the "
                        "run's data is %s; put the old data back, and export to a new folder",
                        path, found, recorded ? recorded : "not known");
out:
  tutti_dataset_destroy(dataset);
  tutti_free(recorded);
  return status;
}

/* Can a model read this row? The data of a run may have others, which it did not use. */
static enum tutti_status try_row(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *all,
                                 size_t row, bool *readable) {
  tutti_split *split;
  const uint32_t number = (uint32_t)row;
  enum tutti_status status = tutti_encoding_split(context, encoding, all, "sample", 1, &number, false, &split);
  *readable = status == TUTTI_OK;
  tutti_split_destroy(split);
  if (status == TUTTI_ERROR_USAGE) {
    tutti_error_clear(context);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, status);
  return TUTTI_OK;
}

/* The first rows that a model can read, in picked[SAMPLE]. */
static enum tutti_status pick_rows(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *all,
                                   size_t *count, size_t *picked) {
  *count = 0;
  for (size_t i = 0; i < encoding->inputs; i++)
    if (encoding->input[i].position >= tutti_rows_columns(all))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected the columns of the training data, found only %zu",
                        tutti_rows_origin(all), tutti_rows_columns(all));
  for (size_t r = 0; *count < SAMPLE && r < tutti_rows_count(all); r++) {
    bool readable;
    TUTTI_TRY(context, try_row(context, encoding, all, r, &readable));
    if (readable)
      picked[(*count)++] = r;
  }
  return TUTTI_OK;
}

/* The input columns, one after the other, of the first rows of the data. */
static enum tutti_status read_rows(tutti_context *context, const tutti_view *view, tutti_rows **sample) {
  enum tutti_status status;
  const struct tutti_encoding *encoding = view->experiment->dataset->encoding;
  size_t count, picked[SAMPLE];
  char *path = NULL;
  tutti_rows *all = NULL;
  *sample = NULL;
  TUTTI_TRY_OUT(context, find_data(context, view->experiment->recipe, &path));
  TUTTI_TRY_OUT(context, check_same_data(context, view, path));
  TUTTI_TRY_OUT(context,
                tutti_read_new(context, &encoding->origin, path, encoding->named, NULL, TUTTI_ROWS_TABLE, &all));
  TUTTI_TRY_OUT(context, pick_rows(context, encoding, all, &count, picked));
  TUTTI_TRY_OUT(context, tutti_rows_create(context, path, sample));
  for (size_t i = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    TUTTI_TRY_OUT(context, tutti_rows_add_column(context, *sample, encoding->named ? column->name : NULL));
    for (size_t k = 0; k < count; k++)
      TUTTI_TRY_OUT(context, copy_cell(context, all, picked[k], column->position, i, *sample));
  }
out:
  tutti_free(path);
  tutti_rows_destroy(all);
  return status;
}

/* Cells as the graph takes them. */
static json_t *inputs_of(const struct tutti_encoding *encoding, const json_t *described, const tutti_rows *rows) {
  json_t *inputs = json_object(), *input;
  size_t i;
  json_array_foreach(json_object_get(described, "inputs"), i, input) {
    struct tutti_data_column column = encoding->input[i];
    json_t *cells = json_array();
    column.position = i;
    for (size_t r = 0; r < tutti_rows_count(rows); r++) {
      char buffer[32];
      bool missing = tutti_rows_cell(rows, r, i) == TUTTI_CELL_MISSING;
      if (column.categories)
        (void)json_array_append_new(cells, json_string(missing ? "" : tutti_category_of(rows, r, i, buffer)));
      else
        (void)json_array_append_new(cells, tutti_json_number(tutti_column_number(&column, rows, r, NULL)));
    }
    (void)json_object_set_new(inputs, json_string_value(json_object_get(input, "name")), cells);
  }
  return inputs;
}

/* Numbers [rows][count], `stride` doubles from one to the next. */
static json_t *numbers(size_t rows, size_t count, size_t stride, const double *first) {
  json_t *list = json_array();
  for (size_t r = 0; r < rows; r++) {
    json_t *row = json_array();
    for (size_t o = 0; o < count; o++)
      (void)json_array_append_new(row, tutti_json_number(first[(r * count + o) * stride]));
    (void)json_array_append_new(list, row);
  }
  return list;
}

/* What is right for these rows: the outputs that any ensemble has. */
static json_t *outputs_of(const struct tutti_forecast *forecast) {
  enum { STRIDE = sizeof(struct tutti_uncertainty) / sizeof(double) };
  const struct tutti_uncertainty *first = forecast->predicted;
  size_t rows = forecast->rows, outputs = forecast->outputs;
  if (forecast->kind == TUTTI_TASK_CLASSIFICATION)
    return json_pack("{s:o}", "probabilities", numbers(rows, outputs, STRIDE, &first->mean));
  json_t *made = json_pack("{s:o, s:o, s:o, s:o}", "mean", numbers(rows, outputs, STRIDE, &first->mean), "aleatoric",
                           numbers(rows, outputs, STRIDE, &first->aleatoric), "epistemic",
                           numbers(rows, outputs, STRIDE, &first->epistemic), "total",
                           numbers(rows, outputs, STRIDE, &first->total));
  (void)json_object_set_new(made, "lower", numbers(rows, outputs, 2, forecast->intervals));
  (void)json_object_set_new(made, "upper", numbers(rows, outputs, 2, forecast->intervals + 1));
  return made;
}

/* {"inputs": ..., "outputs": ...}; NULL, with what is in the way in the log, where the data cannot be read again. */
static json_t *sample_of(tutti_context *context, tutti_model *model, bool uncalibrated, const json_t *described) {
  enum tutti_status status;
  const struct tutti_encoding *encoding = model->view->experiment->dataset->encoding;
  struct tutti_forecast forecast = {.size = sizeof forecast, .level = 0.95, .uncalibrated = uncalibrated};
  tutti_rows *rows = NULL;
  json_t *sample = NULL;
  if (encoding->image.height)
    return NULL;
  TUTTI_TRY_OUT(context, read_rows(context, model->view, &rows));
  const tutti_log_function told = context->log;
  context->log = NULL; /* these rows are no new ones: their rare categories are what models have learnt */
  status = tutti_model_predict(context, model, rows, &forecast);
  context->log = told;
  TUTTI_TRY_OUT(context, status);
  sample = json_pack("{s:o, s:o}", "inputs", inputs_of(encoding, described, rows), "outputs", outputs_of(&forecast));
out:
  tutti_forecast_release(&forecast);
  tutti_rows_destroy(rows);
  if (status != TUTTI_OK) {
    tutti_log(context, TUTTI_LOG_WARNING, "the folder has no sample of rows: %s", tutti_error_message(context));
    tutti_error_clear(context);
  }
  return sample;
}

/* --- models that hold rows --- */

/* The first member whose model holds rows of the training data; NULL: none does. */
static const struct tutti_member *keeper_of(const struct tutti_model *model) {
  for (size_t k = 0; k < model->count; k++)
    if (tutti_backend_keeps_rows(model->members[k].learner))
      return &model->members[k];
  return NULL;
}

static enum tutti_status refuse_keeper(tutti_context *context, const struct tutti_model *model) {
  const struct tutti_member *keeper = keeper_of(model);
  if (!keeper)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "trial %" PRIu64 ": models of backend %s hold rows of the training data, and a folder without any "
                    "was asked for (--no-sample); select an ensemble without its members",
                    keeper->trial, tutti_backend_descriptor(keeper->learner)->name);
}

/* --- the page and the program --- */

/* Is a missing cell one of the categories? */
static bool has_missing(const json_t *categories) {
  const json_t *category;
  size_t i;
  json_array_foreach((json_t *)categories, i,
                     category) if (strcmp(json_string_value(category), TUTTI_CATEGORY_MISSING) == 0) return true;
  return false;
}

static void add_values(struct tutti_text *page, const char *title, const json_t *values) {
  const json_t *value;
  size_t i;
  tutti_text_add(page, "\n## %s\n\n| name | type | shape | meaning |\n|---|---|---|---|\n", title);
  json_array_foreach((json_t *)values, i, value) {
    const json_t *size, *shape = json_object_get(value, "shape"), *categories = json_object_get(value, "categories");
    size_t k;
    tutti_text_add(page, "| `");
    add_cell(page, json_string_value(json_object_get(value, "name")));
    tutti_text_add(page, "` | %s | [", json_string_value(json_object_get(value, "type")));
    json_array_foreach((json_t *)shape, k, size) {
      if (json_is_string(size))
        tutti_text_add(page, "%s%s", k ? ", " : "", json_string_value(size));
      else
        tutti_text_add(page, "%s%lld", k ? ", " : "", (long long)json_integer_value(size));
    }
    if (categories)
      tutti_text_add(page, "] | a text, one of %zu categories (model.json lists them)%s |\n",
                     json_array_size(categories), has_missing(categories) ? "; empty: missing" : "");
    else
      tutti_text_add(page, "] | %s |\n", json_string_value(json_object_get(value, "meaning")));
  }
}

static enum tutti_status write_page(tutti_context *context, const char *folder, const struct tutti_model *model,
                                    const json_t *described, bool sample) {
  struct tutti_text page = tutti_text_begin(context);
  const json_t *target;
  size_t t;
  char *text;
  json_array_foreach(json_object_get(described, "targets"), t, target)
      tutti_text_add(&page, "%s%s", t ? ", " : "# A model of ", json_string_value(target));
  tutti_text_add(
      &page,
      "\n\nAn ensemble of %zu %s, made by Tutti %s. `model.onnx` holds all of it: raw rows go in, "
      "predictions with "
      "their uncertainty come\nout. Whatever runs ONNX (operator set 15, ONNX-ML 3) runs it, without Tutti.\n\n"
      "| file | what it is |\n|---|---|\n| `model.onnx` | the model |\n| `model.json` | its inputs, outputs, "
      "classes and targets, for programs |\n| `data.json` | how the rows that it was trained on were read, for "
      "programs |\n",
      model->count, tutti_plural(model->count, "model", "models"), tutti_version());
  if (sample)
    tutti_text_add(&page,
                   "| `sample.json` | the first rows of the data, as the model takes them, and the outputs that are "
                   "right for them |\n| `example.py` | predicts these rows and compares: `python3 example.py` |\n");
  if (keeper_of(model))
    tutti_text_add(&page,
                   "\nSome of its models hold rows of the training data, which can be read from `model.onnx`.\n");
  tutti_text_add(&page,
                 "\nEach row stands alone: any number of rows can be asked for at once. Outputs are right to 1e-5 of "
                 "their spread%s.\n",
                 model->calibration.calibrator ? ", but where the calibrator's function is steep" : "");
  add_values(&page, "Inputs", json_object_get(described, "inputs"));
  tutti_text_add(
      &page, "\nA category that the model does not know counts as `(other)`, where that is one, or as none. Categories "
             "that look like\nnumbers have their shortest form: `2`, and not `2.0` or `02`. Texts that files take for "
             "missing, such as `NA` and `?`, are the\nempty text.\n");
  add_values(&page, "Outputs", json_object_get(described, "outputs"));
  TUTTI_TRY(context, tutti_text_take(&page, &text));
  enum tutti_status status = write_text(context, folder, "README.md", text);
  tutti_free(text);
  return status;
}

static const char program[] =
    "\"\"\"Predict the rows of sample.json with model.onnx, and compare. Needs numpy and onnxruntime.\"\"\"\n"
    "\n"
    "import json\n"
    "import pathlib\n"
    "\n"
    "import numpy\n"
    "import onnxruntime\n"
    "\n"
    "folder = pathlib.Path(__file__).parent\n"
    "model = json.loads((folder / \"model.json\").read_text())\n"
    "sample = json.loads((folder / \"sample.json\").read_text())\n"
    "inputs = {}\n"
    "for value in model[\"inputs\"]:\n"
    "    cells = sample[\"inputs\"][value[\"name\"]]\n"
    "    kind = object if value[\"type\"] == \"string\" else float\n"
    "    cells = [[float(\"nan\") if cell is None else cell] for cell in cells]\n"
    "    inputs[value[\"name\"]] = numpy.array(cells, dtype=kind)\n"
    "session = onnxruntime.InferenceSession(str(folder / \"model.onnx\"))\n"
    "for name, right in sample[\"outputs\"].items():\n"
    "    found = session.run([name], inputs)[0]\n"
    "    right = numpy.array(right, dtype=float)\n"
    "    off = numpy.where(numpy.isfinite(found) | numpy.isfinite(right), abs(found - right), 0)  # null: NaN or inf\n"
    "    off = numpy.where(numpy.isnan(off), numpy.inf, off)  # a number on one side alone\n"
    "    print(name, found[0], \"largest difference\", off.max(initial=0))\n";

/* --- the folder --- */

/* data.json of the run as it is. */
static enum tutti_status copy_data(tutti_context *context, const struct tutti_model *model, const char *folder) {
  enum tutti_status status;
  char *path = NULL, *text = NULL;
  size_t bytes;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, tutti_view_source(model->view), TUTTI_RUN_FILE_DATA, &path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &text, &bytes));
  TUTTI_TRY_OUT(context, write_text(context, folder, "data.json", text));
out:
  tutti_free(path);
  tutti_free(text);
  return status;
}

/* The bytes of all files in the folder, which was empty. */
static enum tutti_status count_bytes(tutti_context *context, const char *folder, uint64_t *bytes) {
  DIR *stream = opendir(folder);
  struct stat facts;
  *bytes = 0;
  if (!stream)
    return tutti_file_error(context, folder, "read the folder", errno);
  for (struct dirent *entry; (entry = readdir(stream));)
    if (fstatat(dirfd(stream), entry->d_name, &facts, 0) == 0 && S_ISREG(facts.st_mode))
      *bytes += (uint64_t)facts.st_size;
  (void)closedir(stream);
  return TUTTI_OK;
}

enum tutti_status tutti_export_folder(tutti_context *context, tutti_model *model,
                                      const struct tutti_export_options *theirs, const char *folder) {
  enum tutti_status status;
  struct tutti_export_options options;
  TUTTI_TAKE(&options, theirs);
  struct onnx_graph *graph = NULL;
  json_t *described = NULL, *sample = NULL;
  char *path = NULL;
  uint64_t bytes, all, *sizes = NULL;
  if (options.without_sample)
    TUTTI_TRY_OUT(context, refuse_keeper(context, model));
  TUTTI_TRY_OUT(context, onnx_graph_create(context, &graph));
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *sizes, &sizes));
  TUTTI_TRY_OUT(context, onnx_build(graph, model, options.uncalibrated, sizes));
  TUTTI_TRY_OUT(context, tutti_run_begin_folder(context, folder));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/model.onnx", folder));
  TUTTI_TRY_OUT(context, onnx_graph_write(graph, path, &bytes));
  described = describe(graph, model);
  sample = options.without_sample ? NULL : sample_of(context, model, options.uncalibrated, described);
  TUTTI_TRY_OUT(context, write_page(context, folder, model, described, sample != NULL));
  TUTTI_TRY_OUT(context, write_json(context, folder, "model.json", json_incref(described)));
  TUTTI_TRY_OUT(context, copy_data(context, model, folder));
  if (sample) {
    TUTTI_TRY_OUT(context, write_json(context, folder, "sample.json", json_incref(sample)));
    TUTTI_TRY_OUT(context, write_text(context, folder, "example.py", program));
  }
  if (options.written) {
    TUTTI_TRY_OUT(context, count_bytes(context, folder, &all));
    TUTTI_TRY_OUT(context, onnx_written(context, model, folder, all, bytes, sizes, options.written));
  }
out:
  tutti_free(sizes);
  json_decref(described);
  json_decref(sample);
  tutti_free(path);
  onnx_graph_destroy(graph);
  return status;
}
