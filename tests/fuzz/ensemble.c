/* ensemble.c - fuzz target: the text of an ensemble, which a user gives in place of a run's own (--ensemble), for a run
   of values and for one of classes: it is evaluated, and opened as a model that predicts rows in memory. */
#include "archive.h"
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

const char fuzz_name[] = "ensemble";

enum { RUNS = 2 };
static const char *const names[RUNS] = {"numbers", "classes"};
static tutti_view *views[RUNS];
static tutti_rows *rows[RUNS];

static void end(void) {
  for (size_t r = 0; r < RUNS; r++) {
    tutti_view_close(views[r]);
    tutti_rows_destroy(rows[r]);
  }
}

/* The run of the seeds of target run. */
static tutti_view *open_run(tutti_context *context, const char *name) {
  static uint8_t data[1 << 16];
  struct archive archive;
  tutti_view *view = NULL;
  char path[4096];
  const char *source = getenv("TUTTI_TEST_SRCDIR");
  (void)snprintf(path, sizeof path, "%s/tests/fuzz/seeds/run/%s", source ? source : ".", name);
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(data, 1, sizeof data, file) : 0;
  if (file)
    (void)fclose(file);
  fuzz_unpack(data, size, &archive);
  fuzz_build(&archive, name);
  (void)snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
  if (tutti_view_open(context, path, &view) != TUTTI_OK) {
    (void)fprintf(stderr, "fuzz: %s\n", tutti_error_message(context));
    abort();
  }
  return view;
}

/* Two rows of the run's columns: x1, x2, group, and what the other run has for its target. */
static void fill(tutti_context *context, const char *last, bool text, tutti_rows **filled) {
  const char *const columns[] = {"x1", "x2", "group", last};
  const double numbers[] = {0.5, -1};
  FUZZ_REQUIRE(tutti_rows_create(context, "memory", filled) == TUTTI_OK);
  for (size_t c = 0; c < 4; c++)
    FUZZ_REQUIRE(tutti_rows_add_column(context, *filled, columns[c]) == TUTTI_OK);
  for (size_t c = 0; c < 4; c++)
    for (size_t i = 0; i < 2; i++)
      if (c == 2 || (c == 3 && text))
        FUZZ_REQUIRE(tutti_rows_add_text(context, *filled, c, c == 2 ? "a" : "up") == TUTTI_OK);
      else
        FUZZ_REQUIRE(tutti_rows_add_numbers(context, *filled, c, 1, &numbers[i]) == TUTTI_OK);
}

static void begin(tutti_context *context) {
  (void)fuzz_folder(); /* deleted after the views are closed */
  (void)atexit(end);
  for (size_t r = 0; r < RUNS; r++)
    views[r] = open_run(context, names[r]);
  fill(context, "kind", true, &rows[0]);
  fill(context, "y", false, &rows[1]);
}

static void predict(tutti_context *context, size_t run, const char *text) {
  struct tutti_forecast forecast = {.size = sizeof forecast, .level = 0.9};
  tutti_model *model = NULL;
  tutti_error_clear(context);
  if (tutti_view_model(context, views[run], text, &model) != TUTTI_OK) {
    fuzz_refused(model);
    return;
  }
  FUZZ_REQUIRE(tutti_model_members(model) > 0);
  if (tutti_model_predict(context, model, rows[run], &forecast) != TUTTI_OK)
    fuzz_failed(forecast.predicted);
  for (size_t i = 0; forecast.predicted && i < forecast.rows * forecast.outputs; i++)
    FUZZ_REQUIRE(isfinite(forecast.predicted[i].mean));
  tutti_forecast_release(&forecast);
  tutti_model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  if (!rows[0])
    begin(context);
  char *text = fuzz_text(data, size), *json = NULL;
  for (size_t r = 0; r < RUNS; r++) {
    tutti_error_clear(context);
    if (tutti_view_evaluate(context, views[r], text, 0, NULL, &json) != TUTTI_OK)
      fuzz_failed(json);
    tutti_free(json);
    json = NULL;
    predict(context, r, text);
  }
  free(text);
  return 0;
}
