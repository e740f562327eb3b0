/* calibration.c - fuzz target: the fit of a calibrator, which an ensemble.json has. The first byte says of which one,
   the rest is the text. What is read is written, read again, and is the same; applied, it keeps what the host
   promises. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

const char fuzz_name[] = "calibration";

enum { ROWS = 4, OUTPUTS = 2, KINDS = 6 };
static const struct {
  const char *plugin;
  enum tutti_task_kind kind;
} kinds[KINDS] = {{"temperature", TUTTI_TASK_CLASSIFICATION},  {"vector-scaling", TUTTI_TASK_CLASSIFICATION},
                  {"isotonic", TUTTI_TASK_CLASSIFICATION},     {"none", TUTTI_TASK_CLASSIFICATION},
                  {"variance-scaling", TUTTI_TASK_REGRESSION}, {"conformal", TUTTI_TASK_REGRESSION}};
static struct tutti_task tasks[KINDS];
static tutti_host *hosts[KINDS];
static tutti_calibrator *calibrators[KINDS];

static void end(void) {
  for (size_t k = 0; k < KINDS; k++) {
    tutti_calibrator_destroy(calibrators[k]);
    tutti_host_destroy(hosts[k]);
  }
}

static void begin(tutti_context *context) {
  struct tutti_calibrator_setup setup = {.size = sizeof setup};
  for (size_t k = 0; k < KINDS; k++) {
    tasks[k] = (struct tutti_task){.size = sizeof tasks[k], .kind = kinds[k].kind, .outputs = OUTPUTS};
    struct tutti_host_facts facts = {.size = sizeof facts, .task = &tasks[k]};
    if (tutti_host_create(context, &facts, &hosts[k]) != TUTTI_OK ||
        tutti_host_put(context, hosts[k], "calibrator", TUTTI_KIND_CALIBRATOR, kinds[k].plugin) != TUTTI_OK ||
        tutti_calibrator_create(context, hosts[k], "calibrator", &setup, &calibrators[k]) != TUTTI_OK) {
      (void)fprintf(stderr, "fuzz: %s\n", tutti_error_message(context));
      abort();
    }
  }
  (void)atexit(end);
}

/* A fit may be so wide that numbers overflow: then the host says so. */
static void apply(tutti_context *context, size_t k) {
  static const double classes[ROWS * OUTPUTS] = {0.25, 0.75, 1, 0, 0.5, 0.5, 1e-9, 1 - 1e-9};
  static const double values[ROWS * OUTPUTS * TUTTI_COMBINED_PARTS] = {1, 0.5, 0.25, -2, 1e-6, 0,    1e6, 1e3,
                                                                       4, 0,   0,    0,  3,    1e12, 1,   1};
  struct tutti_combined combined = {.size = sizeof combined,
                                    .kind = kinds[k].kind,
                                    .rows = ROWS,
                                    .outputs = OUTPUTS,
                                    .values = kinds[k].kind == TUTTI_TASK_REGRESSION ? values : classes};
  double out[ROWS * OUTPUTS * TUTTI_COMBINED_PARTS], ends[ROWS * OUTPUTS * 2];
  if (tutti_calibrator_apply(context, calibrators[k], &combined, out) == TUTTI_OK)
    for (size_t i = 0; i < ROWS * OUTPUTS && kinds[k].kind == TUTTI_TASK_CLASSIFICATION; i++)
      FUZZ_REQUIRE(out[i] >= 0 && out[i] <= 1);
  else
    fuzz_failed(NULL);
  if (!(tutti_calibrator_gives(calibrators[k]) & TUTTI_GIVES_INTERVALS))
    return;
  if (tutti_calibrator_intervals(context, calibrators[k], &combined, 0.9, ends) == TUTTI_OK)
    for (size_t i = 0; i < ROWS * OUTPUTS; i++)
      FUZZ_REQUIRE(ends[2 * i] <= ends[2 * i + 1]);
  else
    fuzz_failed(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  char *first = NULL, *second = NULL;
  if (!hosts[0])
    begin(context);
  if (size == 0)
    return 0;
  size_t k = data[0] % KINDS;
  char *text = fuzz_text(data + 1, size - 1);
  if (tutti_calibrator_parse(context, calibrators[k], text) == TUTTI_OK) {
    FUZZ_REQUIRE(tutti_calibrator_print(context, calibrators[k], &first) == TUTTI_OK);
    FUZZ_REQUIRE(tutti_calibrator_parse(context, calibrators[k], first) == TUTTI_OK);
    FUZZ_REQUIRE(tutti_calibrator_print(context, calibrators[k], &second) == TUTTI_OK);
    FUZZ_REQUIRE(strcmp(first, second) == 0);
    apply(context, k);
  } else {
    fuzz_refused(NULL);
  }
  tutti_free(first);
  tutti_free(second);
  free(text);
  return 0;
}
