/* calibrator.c - the contract of kind calibrator. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum { FITTED = 0, OTHER = 1 }; /* models of the pool: whose rows the fit sees, and others */

struct subject {
  struct tutti_host_facts facts;
  struct tutti_task task;
  tutti_host *host;
  struct tutti_pool pool;
  struct tutti_predictions predictions[2];
  struct tutti_targets targets;
  size_t count; /* numbers of predictions */
};

static tutti_calibrator *open_calibrator(struct conform *conform, const struct subject *subject) {
  struct tutti_calibrator_setup setup = {.size = sizeof setup, .seed = WORLD_SEED};
  tutti_calibrator *calibrator;
  TRY(conform, tutti_calibrator_create(conform->context, subject->host, "calibrator", &setup, &calibrator));
  return calibrator;
}

/* Skips the check where the calibrator does not serve the task. */
static void open_subject(struct conform *conform, struct subject *subject, enum tutti_task_kind kind) {
  const struct tutti_calibrator_ops *ops = conform->descriptor->ops;
  bool classes = kind == TUTTI_TASK_CLASSIFICATION;
  if (!(ops->tasks & (classes ? TUTTI_CALIBRATES_CLASSIFICATION : TUTTI_CALIBRATES_REGRESSION)))
    conform_skip(conform, "it does not serve %s", classes ? "classification" : "regression");
  subject->task = world_task(kind);
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = 1, .window = 1, .task = &subject->task};
  subject->host = world_host(conform, &subject->facts);
  world_pool(conform, kind, 2, WORLD_ROWS, WORLD_SEED, &subject->pool);
  const struct tutti_pool *given = world_given_pool(conform, &subject->pool);
  for (size_t m = 0; m < 2; m++) {
    subject->predictions[m] = (struct tutti_predictions){.size = sizeof subject->predictions[m]};
    tutti_pool_predictions(given, m, &subject->predictions[m]);
  }
  subject->targets = (struct tutti_targets){.size = sizeof subject->targets};
  tutti_pool_targets(given, &subject->targets);
  subject->count = WORLD_ROWS * tutti_predictions_width(kind, subject->pool.outputs);
}

static void close_subject(struct subject *subject) {
  world_pool_free(&subject->pool);
  tutti_host_destroy(subject->host);
}

static tutti_calibrator *fit(struct conform *conform, const struct subject *subject) {
  tutti_calibrator *calibrator = open_calibrator(conform, subject);
  TRY(conform, tutti_calibrator_fit(conform->context, calibrator, &subject->predictions[FITTED], &subject->targets));
  return calibrator;
}

static float *apply(struct conform *conform, const struct subject *subject, tutti_calibrator *calibrator) {
  float *out = conform_alloc(conform, subject->count, sizeof *out);
  TRY(conform, tutti_calibrator_apply(conform->context, calibrator, &subject->predictions[OTHER], out));
  return out;
}

static void require_same(struct conform *conform, size_t count, const float *a, const float *b, const char *what) {
  for (size_t i = 0; i < count; i++)
    REQUIRE(conform, memcmp(&a[i], &b[i], sizeof a[i]) == 0, "number %zu is %.9g, and %.9g %s", i, (double)a[i],
            (double)b[i], what);
}

/* --- checks --- */

static void try_task(struct conform *conform, enum tutti_task_kind kind) {
  struct subject subject;
  open_subject(conform, &subject, kind);
  tutti_calibrator *calibrator = fit(conform, &subject);
  float *out = apply(conform, &subject, calibrator);
  for (size_t row = 0; row < WORLD_ROWS && kind == TUTTI_TASK_CLASSIFICATION; row++) {
    double sum = 0;
    for (size_t k = 0; k < subject.pool.outputs; k++)
      sum += (double)out[row * subject.pool.outputs + k];
    REQUIRE(conform, fabs(sum - 1) < 1e-5, "the probabilities of row %zu sum to %.9g", row, sum);
  }
  tutti_free(out);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

static void check_regression(struct conform *conform) { try_task(conform, TUTTI_TASK_REGRESSION); }
static void check_classification(struct conform *conform) { try_task(conform, TUTTI_TASK_CLASSIFICATION); }

static enum tutti_task_kind served(const struct conform *conform) {
  const struct tutti_calibrator_ops *ops = conform->descriptor->ops;
  return ops->tasks & TUTTI_CALIBRATES_CLASSIFICATION ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION;
}

/* The same fit, in another instance and after other rows, gives the same bits. */
static void check_determinism(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, served(conform));
  tutti_calibrator *first = fit(conform, &subject), *second = open_calibrator(conform, &subject);
  TRY(conform, tutti_calibrator_fit(conform->context, second, &subject.predictions[OTHER], &subject.targets));
  TRY(conform, tutti_calibrator_fit(conform->context, second, &subject.predictions[FITTED], &subject.targets));
  float *a = apply(conform, &subject, first), *b = apply(conform, &subject, second);
  require_same(conform, subject.count, a, b, "of a second instance that was fitted twice");
  tutti_free(a), tutti_free(b);
  tutti_calibrator_destroy(first), tutti_calibrator_destroy(second);
  close_subject(&subject);
}

/* A fit goes through its text without a change, and a text that is none is refused. */
static void check_text(struct conform *conform) {
  struct subject subject;
  char *json;
  open_subject(conform, &subject, served(conform));
  tutti_calibrator *first = fit(conform, &subject), *second = open_calibrator(conform, &subject);
  conform_refused(conform, tutti_calibrator_parse(conform->context, second, "{\"half\": "), "half a JSON text");
  TRY(conform, tutti_calibrator_print(conform->context, first, &json));
  TRY(conform, tutti_calibrator_parse(conform->context, second, json));
  float *a = apply(conform, &subject, first), *b = apply(conform, &subject, second);
  require_same(conform, subject.count, a, b, "after print and parse");
  tutti_free(a), tutti_free(b), tutti_free(json);
  tutti_calibrator_destroy(first), tutti_calibrator_destroy(second);
  close_subject(&subject);
}

/* A row's numbers do not depend on the rows beside it, and may be written over the old ones. */
static void check_rows(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, served(conform));
  tutti_calibrator *calibrator = fit(conform, &subject);
  size_t width = subject.count / WORLD_ROWS;
  float *all = apply(conform, &subject, calibrator), *place = conform_alloc(conform, subject.count, sizeof *place);
  memcpy(place, subject.predictions[OTHER].values, subject.count * sizeof *place);
  for (size_t row = 0; row < WORLD_ROWS; row++) {
    struct tutti_predictions one = subject.predictions[OTHER];
    one.rows = 1;
    one.values = place + row * width;
    TRY(conform, tutti_calibrator_apply(conform->context, calibrator, &one, place + row * width));
  }
  require_same(conform, subject.count, all, place, "row by row and in place");
  tutti_free(all), tutti_free(place);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

static void check_quantiles(struct conform *conform) {
  static const double levels[] = {0.025, 0.25, 0.5, 0.75, 0.975};
  enum { LEVELS = sizeof levels / sizeof levels[0] };
  struct subject subject;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  tutti_calibrator *calibrator = fit(conform, &subject);
  size_t cells = WORLD_ROWS * subject.pool.outputs;
  double *out = conform_alloc(conform, cells * LEVELS, sizeof *out);
  TRY(conform,
      tutti_calibrator_quantiles(conform->context, calibrator, &subject.predictions[OTHER], LEVELS, levels, out));
  for (size_t i = 0; i < cells; i++)
    for (size_t k = 1; k < LEVELS; k++)
      REQUIRE(conform, out[i * LEVELS + k - 1] <= out[i * LEVELS + k], "quantile %g is %g, and %g is %g", levels[k - 1],
              out[i * LEVELS + k - 1], levels[k], out[i * LEVELS + k]);
  tutti_free(out);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

/* Linear heads give no variance: calibrated, or refused in words. */
static void check_no_variance(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  tutti_calibrator *calibrator = open_calibrator(conform, &subject);
  struct tutti_predictions means = subject.predictions[FITTED];
  float *values = (float *)(uintptr_t)subject.pool.predictions[FITTED];
  for (size_t i = 1; i < subject.count; i += 2)
    values[i] = NAN;
  means.values = values;
  enum tutti_status status = tutti_calibrator_fit(conform->context, calibrator, &means, &subject.targets);
  REQUIRE(conform, status == TUTTI_OK || status == TUTTI_ERROR_USAGE, "means without variances: %s",
          tutti_error_message(conform->context));
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

const struct conform_check conform_calibrator[] = {
    {"calibrates regression", check_regression},
    {"calibrates classification", check_classification},
    {"the same rows give the same fit", check_determinism},
    {"a fit is printed and read again", check_text},
    {"rows do not sway each other", check_rows},
    {"quantiles ascend", check_quantiles},
    {"means without variances", check_no_variance},
    {NULL, NULL},
};
