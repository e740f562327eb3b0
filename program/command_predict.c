/* command_predict.c - tutti predict: the rows of a file, with their uncertainty, as CSV, NPY or JSON. */
#include "program_impl.h"

#include "core/base/file_impl.h"
#include "core/base/replaced_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct predict_options {
  const char *out, *ensemble, *level;
  struct texts quantiles;
  bool json, trust, uncalibrated, strict;
};

/* --- the columns of a prediction --- */

/* A column: a name, and the numbers values[row * stride]. */
struct column {
  char *name;
  const double *values;
  size_t stride;
};
struct columns {
  struct column *items;
  size_t count;
};

/* Without memory, the column has no name. */
static void add_column(struct columns *columns, const char *what, const char *output, const double *values,
                       size_t stride) {
  struct column *column = &columns->items[columns->count++];
  if (asprintf(&column->name, "%s%s%s", what, *output ? "_" : "", output) < 0)
    column->name = NULL;
  column->values = values;
  column->stride = stride;
}

static void release_columns(struct columns *columns) {
  for (size_t c = 0; c < columns->count; c++)
    free(columns->items[c].name);
  tutti_free(columns->items);
}

static const char *name_of(const struct column *column) { return column->name ? column->name : ""; }

/* Doubles from one row to the next. */
static size_t row_of_uncertainty(size_t outputs) { return outputs * sizeof(struct tutti_uncertainty) / sizeof(double); }
static size_t row_of_parts(size_t outputs) { return outputs * sizeof(struct tutti_epistemic_parts) / sizeof(double); }

/* Of what the epistemic part is made, if members tell theirs. */
static void add_parts(struct columns *columns, const char *between, const char *within, const char *output,
                      const struct tutti_forecast *forecast, size_t k) {
  if (!forecast->parts)
    return;
  add_column(columns, between, output, &forecast->parts[k].between, row_of_parts(forecast->outputs));
  add_column(columns, within, output, &forecast->parts[k].within, row_of_parts(forecast->outputs));
}

static void add_uncertainty(struct columns *columns, const char *output, const struct tutti_forecast *forecast,
                            size_t k) {
  const struct tutti_uncertainty *first = &forecast->predicted[k];
  size_t stride = row_of_uncertainty(forecast->outputs);
  add_column(columns, "aleatoric", output, &first->aleatoric, stride);
  add_column(columns, "epistemic", output, &first->epistemic, stride);
  add_column(columns, "total", output, &first->total, stride);
  add_parts(columns, "epistemic_between", "epistemic_within", output, forecast, k);
}

static void add_intervals(struct columns *columns, const char *output, const struct tutti_forecast *forecast,
                          size_t k) {
  size_t outputs = forecast->outputs, count = forecast->quantile_count;
  add_column(columns, "lower", output, forecast->intervals + 2 * k, 2 * outputs);
  add_column(columns, "upper", output, forecast->intervals + 2 * k + 1, 2 * outputs);
  for (size_t q = 0; q < count; q++) {
    char name[32];
    (void)snprintf(name, sizeof name, "q%.15g", forecast->quantiles_at[q]);
    add_column(columns, name, output, forecast->quantiles + k * count + q, count * outputs);
  }
}

static enum tutti_status make_columns(tutti_context *context, const tutti_view *view,
                                      const struct tutti_forecast *forecast, struct columns *columns) {
  const struct tutti_uncertainty *predicted = forecast->predicted;
  size_t outputs = forecast->outputs, stride = row_of_uncertainty(outputs);
  bool classes = forecast->kind == TUTTI_TASK_CLASSIFICATION;
  *columns = (struct columns){0};
  TUTTI_TRY(context, tutti_alloc(context, outputs * (8 + forecast->quantile_count) + 5, sizeof *columns->items,
                                 &columns->items));
  for (size_t k = 0; k < outputs; k++) {
    const char *output = classes || outputs > 1 ? tutti_view_output(view, k) : "";
    add_column(columns, classes ? "p" : "mean", output, &predicted[k].mean, stride);
    if (!classes) {
      add_uncertainty(columns, output, forecast, k);
      add_intervals(columns, output, forecast, k);
    }
  }
  if (classes) { /* the same for every class of a row */
    add_column(columns, "entropy", "", &predicted->total, stride);
    add_column(columns, "expected_entropy", "", &predicted->aleatoric, stride);
    add_column(columns, "mutual_information", "", &predicted->epistemic, stride);
    add_parts(columns, "mutual_information_between", "mutual_information_within", "", forecast, 0);
  }
  return TUTTI_OK;
}

/* The most probable class of a row, the first on ties. */
static size_t label_of(const struct tutti_forecast *forecast, size_t row) {
  const struct tutti_uncertainty *classes = forecast->predicted + row * forecast->outputs;
  size_t best = 0;
  for (size_t k = 1; k < forecast->outputs; k++)
    if (classes[k].mean > classes[best].mean)
      best = k;
  return best;
}

static bool is_unread(const struct tutti_forecast *forecast, size_t row) {
  return forecast->unread && forecast->unread[row];
}

/* --- writing --- */

/* A CSV cell, quoted if necessary. */
static void write_cell(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\n\r")) {
    (void)fputs(text, out);
    return;
  }
  (void)fputc('"', out);
  for (; *text; text++)
    (void)fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
  (void)fputc('"', out);
}

static void write_csv(FILE *out, const tutti_view *view, const struct tutti_forecast *forecast,
                      const struct columns *columns) {
  bool label = forecast->kind == TUTTI_TASK_CLASSIFICATION;
  (void)fputs(label ? "row,label" : "row", out);
  for (size_t c = 0; c < columns->count; c++) {
    (void)fputc(',', out);
    write_cell(out, name_of(&columns->items[c]));
  }
  (void)fputc('\n', out);
  for (size_t row = 0; row < forecast->rows; row++) {
    (void)fprintf(out, "%zu", row);
    if (label) {
      (void)fputc(',', out);
      write_cell(out, is_unread(forecast, row) ? "" : tutti_view_output(view, label_of(forecast, row)));
    }
    for (size_t c = 0; c < columns->count; c++) {
      double value = columns->items[c].values[row * columns->items[c].stride];
      (void)fputc(',', out);
      if (isfinite(value))
        (void)fprintf(out, "%.*g", forecast->digits, value);
    }
    (void)fputc('\n', out);
  }
}

static void write_json(FILE *out, const tutti_view *view, const struct tutti_forecast *forecast,
                       const struct columns *columns) {
  json_t *root = json_object();
  json_object_set_new(root, "rows", json_integer((json_int_t)forecast->rows));
  for (size_t c = 0; c < columns->count; c++) {
    json_t *values = json_array();
    for (size_t row = 0; row < forecast->rows; row++) {
      double value = columns->items[c].values[row * columns->items[c].stride];
      json_array_append_new(values, isfinite(value) ? json_real(value) : json_null());
    }
    json_object_set_new(root, name_of(&columns->items[c]), values);
  }
  if (forecast->kind == TUTTI_TASK_CLASSIFICATION) {
    json_t *labels = json_array();
    for (size_t row = 0; row < forecast->rows; row++)
      json_array_append_new(labels, is_unread(forecast, row)
                                        ? json_null()
                                        : json_string(tutti_view_output(view, label_of(forecast, row))));
    json_object_set_new(root, "label", labels);
  }
  if (forecast->unread) {
    json_t *unread = json_array(), *reasons = json_array();
    for (size_t row = 0; row < forecast->rows; row++)
      if (is_unread(forecast, row)) {
        json_array_append_new(unread, json_integer((json_int_t)row));
        json_array_append_new(reasons, json_string(forecast->reasons[row]));
      }
    json_object_set_new(root, "unread", unread);
    json_object_set_new(root, "reasons", reasons);
  }
  if (forecast->evaluation)
    json_object_set_new(root, "evaluation", json_loads(forecast->evaluation, 0, NULL));
  (void)json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION((size_t)forecast->digits));
  (void)fputc('\n', out);
  json_decref(root);
}

/* [rows][columns] float64, in the order of the CSV's columns. */
static enum tutti_status write_npy(tutti_context *context, const char *path, const struct tutti_forecast *forecast,
                                   const struct columns *columns) {
  size_t shape[2] = {forecast->rows, columns->count};
  double *values;
  TUTTI_TRY(context, tutti_alloc(context, shape[0], shape[1] * sizeof *values, &values));
  for (size_t row = 0; row < shape[0]; row++)
    for (size_t c = 0; c < shape[1]; c++)
      values[row * shape[1] + c] = columns->items[c].values[row * columns->items[c].stride];
  enum tutti_status status = tutti_npy_write(context, path, TUTTI_F64, 2, shape, values);
  tutti_free(values);
  return status;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int write_file(tutti_context *context, const struct predict_options *options, const tutti_view *view,
                      const struct tutti_forecast *forecast, const struct columns *columns) {
  if (options->out && ends_with(options->out, ".npy")) {
    enum tutti_status status = write_npy(context, options->out, forecast, columns);
    return status == TUTTI_OK ? EXIT_DONE : fail(context, status);
  }
  void (*write)(FILE *, const tutti_view *, const struct tutti_forecast *, const struct columns *) =
      options->json ? write_json : write_csv;
  if (!options->out) {
    struct plain_output output;
    begin_output();
    if (!is_terminal(stdout)) {
      write(stdout, view, forecast, columns);
    } else if (begin_plain(&output)) { /* names of classes may be anybody's */
      write(output.stream, view, forecast, columns);
      end_plain(&output, stdout);
    }
    return finish_output();
  }
  struct result_file file = begin_result(options->out);
  if (!file.stream)
    return EXIT_FAILED;
  write(file.stream, view, forecast, columns);
  return end_result(&file);
}

/* The metrics of a file with targets, for people: on stdout if the predictions are in a file, else beside them. */
static int show_metrics(const struct predict_options *options, const struct tutti_forecast *forecast) {
  if (!forecast->evaluation || options->json)
    return EXIT_DONE;
  json_t *evaluation = json_loads(forecast->evaluation, 0, NULL);
  if (options->out)
    begin_output();
  show_evaluation(evaluation, options->out ? stdout : stderr);
  json_decref(evaluation);
  return finish_output();
}

/* --- the command --- */

/* A number between 0 and 1, or -1, which no level is. */
static double probability_of(const char *text) {
  char *end;
  double value = strtod(text, &end);
  return *text && !*end && value > 0 && value < 1 ? value : -1;
}

static const double USUAL_LEVEL = 0.95;

/* What is asked of a forecast: quantiles[MOST_TEXTS] are the room for those. */
static enum tutti_status ask(tutti_context *context, const struct predict_options *options, double *quantiles,
                             struct tutti_forecast *forecast) {
  forecast->uncalibrated = options->uncalibrated;
  forecast->tolerant = !options->strict;
  forecast->level = options->level ? probability_of(options->level) : USUAL_LEVEL;
  if (forecast->level < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--level: expected a number between 0 and 1, found '%s'",
                      options->level);
  forecast->quantiles_at = quantiles;
  for (size_t q = 0; q < options->quantiles.count; q++) {
    quantiles[q] = probability_of(options->quantiles.items[q]);
    if (quantiles[q] < 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--quantiles: expected numbers between 0 and 1, found '%s'",
                        options->quantiles.items[q]);
    for (size_t i = 0; i < q; i++)
      if (fabs(quantiles[i] - quantiles[q]) < 1e-15) /* of one name, too */
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--quantiles: '%s' is given twice", options->quantiles.items[q]);
  }
  forecast->quantile_count = options->quantiles.count;
  return TUTTI_OK;
}

/* Classes have neither intervals nor quantiles. */
static enum tutti_status check_asked(tutti_context *context, const struct predict_options *options,
                                     const tutti_view *view) {
  if (tutti_view_kind(view) != TUTTI_TASK_CLASSIFICATION || (!options->level && options->quantiles.count == 0))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--%s: the run predicts classes, which have probabilities and no %s",
                    options->level ? "level" : "quantiles", options->level ? "intervals" : "quantiles");
}

/* As CSV of values or classes, as JSON, or as an array. */
static const struct tutti_file_kind prediction_kind = {
    .name = "a file of predictions", .begins = {"row,mean", "row,\"mean", "row,label", "{\"rows\":", "\x93NUMPY"}};

/* Predictions do not take the place of their own rows, nor of what is no prediction. */
static enum tutti_status check_out(tutti_context *context, const char *rows, const char *out) {
  struct stat facts;
  if (!out)
    return TUTTI_OK;
  if (stat(rows, &facts) == 0 && S_ISREG(facts.st_mode) && tutti_file_is_same(rows, out))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "--out %s: that is the file with the rows, which would be lost; give another name", out);
  return tutti_file_check_replaced(context, out, &prediction_kind);
}

/* "-" is what comes through a pipe. */
static const char *path_of(const char *operand) { return strcmp(operand, "-") == 0 ? "/dev/stdin" : operand; }

static int run_predict(tutti_context *context, const struct texts *operands, const void *given) {
  const struct predict_options *options = given;
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  struct tutti_forecast forecast = {.size = sizeof forecast};
  struct columns columns = {0};
  char *ensemble = NULL;
  int code = EXIT_FAILED;
  double quantiles[MOST_TEXTS];
  tutti_trust_runs(context, options->trust);
  TUTTI_TRY_OUT(context, ask(context, options, quantiles, &forecast));
  TUTTI_TRY_OUT(context, check_out(context, path_of(operands->items[1]), options->out));
  if (options->ensemble)
    TUTTI_TRY_OUT(context, read_json(context, options->ensemble, &ensemble));
  TUTTI_TRY_OUT(context, tutti_view_open(context, operands->items[0], &view));
  TUTTI_TRY_OUT(context, check_asked(context, options, view));
  TUTTI_TRY_OUT(context, tutti_view_predict(context, view, ensemble, path_of(operands->items[1]), &forecast));
  TUTTI_TRY_OUT(context, make_columns(context, view, &forecast, &columns));
  code = write_file(context, options, view, &forecast, &columns);
  if (code == EXIT_DONE)
    code = show_metrics(options, &forecast);
out:
  if (status != TUTTI_OK)
    code = fail(context, status);
  release_columns(&columns);
  tutti_forecast_release(&forecast);
  tutti_free(ensemble);
  tutti_view_close(view);
  return code;
}

static const struct command_option predict_options[] = {
    {"out", 'o', OPTION_TEXT, "FILE", "Write there; a name in .npy gives float64 [rows][columns].",
     .offset = offsetof(struct predict_options, out), .completes = COMPLETE_FILE},
    {"ensemble", 'e', OPTION_TEXT, "FILE", "With this ensemble (as select --json prints it), not the run's own.",
     .offset = offsetof(struct predict_options, ensemble), .completes = COMPLETE_FILE},
    {"level", 'l', OPTION_TEXT, "P", "Probability of the intervals from lower to upper (default 0.95).",
     .offset = offsetof(struct predict_options, level)},
    {"quantiles", 'q', OPTION_PARTS, "P,...", "Quantiles as well, as in 0.05,0.5,0.95: columns q0.05, q0.5, q0.95.",
     .offset = offsetof(struct predict_options, quantiles)},
    {"uncalibrated", 'u', OPTION_FLAG, NULL, "Without the ensemble's calibrator.",
     .offset = offsetof(struct predict_options, uncalibrated)},
    {"strict", 'S', OPTION_FLAG, NULL, "A row that cannot be read ends it; without, its predictions are left empty.",
     .offset = offsetof(struct predict_options, strict)},
    {"json", 'j', OPTION_FLAG, NULL, "As JSON, by column, with the metrics as \"evaluation\".",
     .offset = offsetof(struct predict_options, json)},
    TRUST_OPTION(struct predict_options),
    {0}};

const struct command command_predict = {
    .name = "predict",
    .summary = "predict the rows of a file, with uncertainty",
    .about = "Predict the rows of FILE (CSV, NPY or images; - is standard input) with a run's ensemble.",
    .notes =
        "Regression, in the target's units: mean, and standard deviations: aleatoric (noise in the data), epistemic "
        "(what the ensemble does not know), total (both); lower and upper, the ends of the interval that holds the "
        "target with probability --level: of the mixture of the members or, where the run has a calibrator, of that; "
        "an end that is infinite is empty, in .npy inf. Classification: label, probabilities p_CLASS, and in "
        "nats: entropy (of the mean probabilities: total), expected_entropy (the members' mean: aleatoric), "
        "mutual_information (their difference: epistemic). Of an ensemble that votes, p_CLASS is the share of the "
        "votes, "
        "and entropy that of the shares. Where members tell what they do not know themselves (models of several folds, "
        "Gaussian processes, NOMU, draws of dropout), "
        "epistemic_between and epistemic_within, or mutual_information_..., are the epistemic part between the members "
        "and within them. If the file has targets, the metrics follow, on stdout with --out, else on stderr: of the "
        "rows "
        "with a target and a prediction; with --strict, if all rows have one. Rows that cannot be read are empty; in "
        "JSON \"unread\" are their numbers and \"reasons\" why.",
    .operands = {.synopsis = "RUN FILE",
                 .wanted = "a run directory and a file",
                 .example = "runs/quickstart new.csv",
                 .least = 2,
                 .most = 2,
                 .completes = {COMPLETE_FOLDER, COMPLETE_FILE}},
    .options = predict_options,
    .size = sizeof(struct predict_options),
    .run = run_predict,
};
