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
  struct tutti_combined combined[2];
  double *values[2]; /* [count] */
  struct tutti_targets targets;
  size_t count; /* numbers of predictions */
};

static tutti_calibrator *open_calibrator(struct conform *conform, const struct subject *subject) {
  struct tutti_calibrator_setup setup = {.size = sizeof setup, .seed = WORLD_SEED};
  tutti_calibrator *calibrator;
  TRY(conform, tutti_calibrator_create(conform->context, subject->host, "calibrator", &setup, &calibrator));
  return calibrator;
}

static bool serves(const struct conform *conform, enum tutti_task_kind kind) {
  const struct tutti_calibrator_ops *ops = conform->descriptor->ops;
  enum { OF_VALUES = TUTTI_GIVES_MOMENTS | TUTTI_GIVES_INTERVALS };
  return ops->gives & (unsigned)(kind == TUTTI_TASK_CLASSIFICATION ? TUTTI_GIVES_PROBABILITIES : OF_VALUES);
}

/* A model's predictions as those of an ensemble of one whose variance has an epistemic part. */
static void combine(const struct subject *subject, size_t model, double *values) {
  const float *predicted = subject->pool.predictions[model];
  for (size_t i = 0; i < subject->count; i++) {
    size_t cell = i / TUTTI_COMBINED_PARTS, part = i % TUTTI_COMBINED_PARTS;
    if (subject->task.kind == TUTTI_TASK_CLASSIFICATION)
      values[i] = (double)predicted[i];
    else
      values[i] = part == TUTTI_COMBINED_MEAN ? (double)predicted[2 * cell] : 0.5 * (double)predicted[2 * cell + 1];
  }
}

/* Skips the check where the calibrator does not serve the task. */
static void open_subject(struct conform *conform, struct subject *subject, enum tutti_task_kind kind) {
  if (!serves(conform, kind))
    conform_skip(conform, "it does not serve %s", tutti_task_name(kind));
  subject->task = world_task(kind);
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = 1, .window = 1, .task = &subject->task};
  subject->host = world_host(conform, &subject->facts);
  world_pool(conform, kind, 2, WORLD_ROWS, WORLD_SEED, &subject->pool);
  const struct tutti_pool *given = world_given_pool(conform, &subject->pool);
  subject->count = WORLD_ROWS * tutti_combined_width(kind, subject->pool.outputs);
  for (size_t m = 0; m < 2; m++) {
    subject->values[m] = conform_alloc(conform, subject->count, sizeof(double));
    combine(subject, m, subject->values[m]);
    const double *values = conform_given(conform, "predictions", subject->values[m], subject->count * sizeof(double));
    subject->combined[m] = (struct tutti_combined){.size = sizeof subject->combined[m],
                                                   .kind = kind,
                                                   .rows = WORLD_ROWS,
                                                   .outputs = subject->pool.outputs,
                                                   .values = values};
  }
  subject->targets = (struct tutti_targets){.size = sizeof subject->targets};
  tutti_pool_targets(given, &subject->targets);
}

static void close_subject(struct subject *subject) {
  tutti_free(subject->values[0]);
  tutti_free(subject->values[1]);
  world_pool_free(&subject->pool);
  tutti_host_destroy(subject->host);
}

static tutti_calibrator *fit(struct conform *conform, const struct subject *subject) {
  tutti_calibrator *calibrator = open_calibrator(conform, subject);
  TRY(conform, tutti_calibrator_fit(conform->context, calibrator, &subject->combined[FITTED], &subject->targets));
  return calibrator;
}

/* What it says of the other rows: what it applies and, if it gives intervals, these; *count numbers. */
static double *say(struct conform *conform, const struct subject *subject, tutti_calibrator *calibrator,
                   const struct tutti_combined *combined, size_t *count) {
  const double level = 0.7;
  size_t cells = combined->rows * combined->outputs, applied = subject->count / WORLD_ROWS * combined->rows;
  bool intervals =
      tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS && combined->kind == TUTTI_TASK_REGRESSION;
  *count = applied + (intervals ? 2 * cells : 0);
  double *out = conform_alloc(conform, *count, sizeof *out);
  TRY(conform, tutti_calibrator_apply(conform->context, calibrator, combined, out));
  if (intervals)
    TRY(conform, tutti_calibrator_intervals(conform->context, calibrator, combined, level, out + applied));
  return out;
}

static void require_same(struct conform *conform, size_t count, const double *a, const double *b, const char *what) {
  for (size_t i = 0; i < count; i++)
    REQUIRE(conform, memcmp(&a[i], &b[i], sizeof a[i]) == 0, "number %zu is %.17g, and %.17g %s", i, a[i], b[i], what);
}

/* --- checks --- */

static void try_task(struct conform *conform, enum tutti_task_kind kind) {
  struct subject subject;
  size_t count;
  open_subject(conform, &subject, kind);
  tutti_calibrator *calibrator = fit(conform, &subject);
  double *out = say(conform, &subject, calibrator, &subject.combined[OTHER], &count);
  for (size_t row = 0; row < WORLD_ROWS && kind == TUTTI_TASK_CLASSIFICATION; row++) {
    double sum = 0;
    for (size_t k = 0; k < subject.pool.outputs; k++)
      sum += out[row * subject.pool.outputs + k];
    REQUIRE(conform, fabs(sum - 1) < 1e-5, "the probabilities of row %zu sum to %.9g", row, sum);
  }
  tutti_free(out);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

static void check_regression(struct conform *conform) { try_task(conform, TUTTI_TASK_REGRESSION); }
static void check_classification(struct conform *conform) { try_task(conform, TUTTI_TASK_CLASSIFICATION); }

static enum tutti_task_kind served(const struct conform *conform) {
  return serves(conform, TUTTI_TASK_CLASSIFICATION) ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION;
}

static void require_alike(struct conform *conform, const struct subject *subject, tutti_calibrator *first,
                          tutti_calibrator *second, const char *what) {
  size_t count, same;
  double *a = say(conform, subject, first, &subject->combined[OTHER], &count);
  double *b = say(conform, subject, second, &subject->combined[OTHER], &same);
  require_same(conform, count, a, b, what);
  tutti_free(a), tutti_free(b);
}

/* The same fit, in another instance and after other rows, gives the same bits. */
static void check_determinism(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, served(conform));
  tutti_calibrator *first = fit(conform, &subject), *second = open_calibrator(conform, &subject);
  TRY(conform, tutti_calibrator_fit(conform->context, second, &subject.combined[OTHER], &subject.targets));
  TRY(conform, tutti_calibrator_fit(conform->context, second, &subject.combined[FITTED], &subject.targets));
  require_alike(conform, &subject, first, second, "of a second instance that was fitted twice");
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
  require_alike(conform, &subject, first, second, "after print and parse");
  tutti_free(json);
  tutti_calibrator_destroy(first), tutti_calibrator_destroy(second);
  close_subject(&subject);
}

/* A row's numbers do not depend on the rows beside it, and may be written over the old ones. */
static void check_rows(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, served(conform));
  tutti_calibrator *calibrator = fit(conform, &subject);
  size_t width = subject.count / WORLD_ROWS, count;
  double *all = say(conform, &subject, calibrator, &subject.combined[OTHER], &count);
  double *place = subject.values[OTHER];
  for (size_t row = 0; row < WORLD_ROWS; row++) {
    struct tutti_combined one = subject.combined[OTHER];
    one.rows = 1;
    one.values = place + row * width;
    TRY(conform, tutti_calibrator_apply(conform->context, calibrator, &one, place + row * width));
  }
  require_same(conform, subject.count, all, place, "row by row, in place");
  tutti_free(all);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

/* Intervals grow with their level. */
static void check_intervals(struct conform *conform) {
  static const double levels[] = {0.01, 0.5, 0.9, 0.999};
  enum { LEVELS = sizeof levels / sizeof levels[0] };
  struct subject subject;
  if (!(((const struct tutti_calibrator_ops *)conform->descriptor->ops)->gives & TUTTI_GIVES_INTERVALS))
    conform_skip(conform, "it gives no intervals");
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  tutti_calibrator *calibrator = fit(conform, &subject);
  size_t ends = 2 * WORLD_ROWS * subject.pool.outputs;
  double *out = conform_alloc(conform, LEVELS * ends, sizeof *out);
  for (size_t l = 0; l < LEVELS; l++)
    TRY(conform,
        tutti_calibrator_intervals(conform->context, calibrator, &subject.combined[OTHER], levels[l], out + l * ends));
  for (size_t i = ends; i < LEVELS * ends; i++)
    REQUIRE(conform, i % 2 ? out[i] >= out[i - ends] : out[i] <= out[i - ends],
            "an interval ends at %g, and at %g for level %g", out[i - ends], out[i], levels[i / ends]);
  tutti_free(out);
  tutti_calibrator_destroy(calibrator);
  close_subject(&subject);
}

/* Linear heads give no variance: calibrated, or refused in words. */
static void check_no_variance(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, TUTTI_TASK_REGRESSION);
  tutti_calibrator *calibrator = open_calibrator(conform, &subject);
  struct tutti_combined means = subject.combined[FITTED];
  for (size_t i = TUTTI_COMBINED_ALEATORIC; i < subject.count; i += TUTTI_COMBINED_PARTS)
    subject.values[FITTED][i] = (double)NAN;
  means.values = subject.values[FITTED];
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
    {"intervals grow with their level", check_intervals},
    {"means without variances", check_no_variance},
    {NULL, NULL},
};
