/* backend_predictor.c - open predictors: what they answer, their draws, and the gradients of their answers. */
#include "backend_impl.h"

static float *ask(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                  const struct tutti_query *query) {
  const struct tutti_task *task = &subject->example.task;
  float *out = conform_alloc(conform, query->rows * tutti_predictions_width(task->kind, task->outputs), sizeof *out);
  TRY(conform, tutti_predictor_ask(conform->context, predictor, query, out));
  return out;
}

static bool same_numbers(size_t count, const float *a, const float *b) {
  for (size_t i = 0; i < count; i++)
    if (!conform_close((double)a[i], (double)b[i], 1e-5, 1e-6) && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

/* All rows at once, each alone, and as the backend predicts a split. */
static void check_answers(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                          const tutti_tensors *weights, const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  struct tutti_query all = {.size = sizeof all, .rows = rows, .inputs = inputs};
  float *split = predict(conform, subject, weights, subject->validation);
  float *together = ask(conform, subject, predictor, &all);
  REQUIRE(conform, same_numbers(rows * width, split, together), "%s: asked, it predicts other numbers than for a split",
          subject->example.name);
  for (size_t i = 0; i < rows; i++) {
    struct tutti_query one = {.size = sizeof one, .rows = 1, .inputs = inputs + i * features};
    float *alone = ask(conform, subject, predictor, &one);
    REQUIRE(conform, same_numbers(width, alone, together + i * width), "%s: row %zu alone is predicted differently",
            subject->example.name, i);
    tutti_free(alone);
  }
  tutti_free(split), tutti_free(together);
}

/* What it tells as a model's own part is a part of the whole, and is the same for a split and for questions. */
static void check_own_parts(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                            const tutti_tensors *weights, const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t parts = tutti_epistemic_width(task->kind, task->outputs);
  struct tutti_job job = subject->job;
  job.train = job.validation = NULL;
  if (!tutti_backend_tells_epistemic(subject->backend, &job))
    return;
  float *out = conform_alloc(conform, rows * width, sizeof *out),
        *own = conform_alloc(conform, rows * parts, sizeof *own);
  float *told = conform_alloc(conform, rows * parts, sizeof *told);
  float *plain = predict(conform, subject, weights, subject->validation);
  TRY(conform,
      tutti_backend_predict_parts(conform->context, subject->backend, &job, weights, subject->validation, out, own));
  REQUIRE(conform, same_numbers(rows * width, plain, out), "%s: with parts, it predicts other numbers",
          subject->example.name);
  struct tutti_query query = {.size = sizeof query, .rows = rows, .inputs = inputs, .epistemic = told};
  float *asked = ask(conform, subject, predictor, &query);
  REQUIRE(conform, same_numbers(rows * parts, own, told), "%s: asked, it tells other parts than for a split",
          subject->example.name);
  tutti_free(out), tutti_free(own), tutti_free(told), tutti_free(plain), tutti_free(asked);
}

static bool has_dropout(const tutti_network *network) {
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    enum tutti_op op = tutti_network_layer(network, i)->op;
    if (op == TUTTI_OP_DROPOUT || op == TUTTI_OP_DROP_PATH)
      return true;
  }
  return false;
}

/* A draw of dropout is one function: the same for rows alone and together, another for another draw or seed. */
static void check_draws(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                        const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  struct tutti_query query = {.size = sizeof query, .rows = rows, .inputs = inputs, .drop = true, .seed = 5};
  bool drops = has_dropout(subject->job.network), varies = false;
  float *first = ask(conform, subject, predictor, &query), *again = ask(conform, subject, predictor, &query);
  REQUIRE(conform, same_numbers(rows * width, first, again), "%s: the same draw gives other numbers",
          subject->example.name);
  for (size_t i = 0; i < rows; i++) {
    struct tutti_query one = query;
    one.rows = 1;
    one.inputs = inputs + i * features;
    float *alone = ask(conform, subject, predictor, &one);
    REQUIRE(conform, same_numbers(width, alone, first + i * width), "%s: a draw differs for row %zu alone",
            subject->example.name, i);
    tutti_free(alone);
  }
  for (query.draw = 1; query.draw < 20; query.draw++) {
    float *other = ask(conform, subject, predictor, &query);
    varies = varies || !same_numbers(rows * width, first, other);
    tutti_free(other);
  }
  REQUIRE(conform, varies == drops, "%s: its draws %s", subject->example.name, varies ? "differ" : "are all the same");
  tutti_free(first), tutti_free(again);
}

void check_predictor(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  bool draws = false;
  if (!needs_data(conform))
    conform_skip(conform, "it does not predict");
  for (size_t i = 0; i < example_count(); i++) {
    tutti_predictor *predictor;
    if (!open_example(conform, &subject, i))
      continue;
    const struct tutti_task *task = &subject.example.task;
    size_t rows = tutti_split_rows(subject.validation);
    size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
    struct tutti_outcome outcome = finish(conform, &subject);
    float *inputs = conform_alloc(conform, rows * features, sizeof *inputs);
    for (uint32_t r = 0; r < rows; r++)
      tutti_split_gather(subject.validation, 1, &r, inputs + r * features);
    draws = subject.job.network && tutti_backend_has_predictor(subject.backend);
    TRY(conform, tutti_predictor_open(conform->context, subject.backend, &subject.job, outcome.weights, 5, &predictor));
    check_answers(conform, &subject, predictor, outcome.weights, inputs);
    check_own_parts(conform, &subject, predictor, outcome.weights, inputs);
    if (draws)
      check_draws(conform, &subject, predictor, inputs);
    tutti_predictor_close(predictor);
    tutti_tensors_destroy(outcome.weights);
    tutti_free(inputs);
    bool networks = subject.job.network;
    close_subject(&subject);
    checked++;
    if (!networks)
      break;
  }
  snprintf(conform->why, sizeof conform->why, "%zu models%s", checked, draws ? ", and their draws of dropout" : "");
}

/* --- gradients of predictions ------------------------------------------------------------------------------------- */

/* The numbers of a row that are weighed, and their weights. */
struct weighed {
  const struct subject *subject;
  tutti_predictor *predictor;
  struct tutti_query query; /* of one row */
  bool tells;
  size_t width, parts, features;
  float *inputs, *out, *own; /* [features], [width], [parts] */
  float *by_out, *by_own;    /* [width], [parts] */
};

static void weigh(struct conform *conform, struct weighed *w) {
  struct tutti_random random;
  tutti_random_init(&random, WORLD_SEED, "conform slopes", 0);
  w->out = conform_alloc(conform, w->width, sizeof(float)), w->own = conform_alloc(conform, w->parts, sizeof(float));
  w->by_out = conform_alloc(conform, w->width, sizeof(float));
  w->by_own = conform_alloc(conform, w->parts, sizeof(float));
  tutti_random_fill_normal(&random, w->width, 0, 1, w->by_out);
  tutti_random_fill_normal(&random, w->parts, 0, 1, w->by_own);
  w->query.inputs = w->inputs;
  w->query.epistemic = w->tells ? w->own : NULL;
  TRY(conform, tutti_predictor_ask(conform->context, w->predictor, &w->query, w->out));
  for (size_t i = 0; i < w->width; i++)
    if (isnan(w->out[i]))
      w->by_out[i] = 0;
}

static double weighed_sum(struct conform *conform, struct weighed *w) {
  double sum = 0;
  TRY(conform, tutti_predictor_ask(conform->context, w->predictor, &w->query, w->out));
  for (size_t i = 0; i < w->width; i++)
    sum += isnan(w->out[i]) ? 0 : (double)w->by_out[i] * (double)w->out[i];
  for (size_t i = 0; i < w->parts && w->tells; i++)
    sum += (double)w->by_own[i] * (double)w->own[i];
  return sum;
}

static bool input_slope_agrees(struct conform *conform, struct weighed *w, size_t feature, double slope,
                               double *closest) {
  static const float steps[] = {3e-2f, 1e-2f, 3e-3f, 1e-3f};
  float *number = w->inputs + feature, at = *number;
  bool agree = false;
  *closest = NAN;
  for (size_t i = 0; i < 4 && !agree; i++) {
    volatile float high = at + steps[i], low = at - steps[i];
    *number = high;
    double above = weighed_sum(conform, w);
    *number = low;
    double below = weighed_sum(conform, w), difference = (above - below) / ((double)high - (double)low);
    agree = conform_close(difference, slope, 2e-2, 1e-3);
    if (!(fabs(difference - slope) >= fabs(*closest - slope)))
      *closest = difference;
  }
  *number = at;
  return agree;
}

/* All rows at once are asked for their gradients; each is compared with differences of the row alone. */
static void check_slopes_of(struct conform *conform, struct weighed *w, size_t rows, float *inputs) {
  enum { PROBED = 6 };
  size_t step = w->features > PROBED ? w->features / PROBED : 1;
  float *gradient = conform_alloc(conform, rows * w->features, sizeof(float));
  float *out = conform_alloc(conform, rows * w->width, sizeof(float));
  float *by_out = conform_alloc(conform, rows * w->width, sizeof(float));
  float *by_own = conform_alloc(conform, rows * w->parts, sizeof(float));
  for (size_t r = 0; r < rows; r++) {
    memcpy(by_out + r * w->width, w->by_out, w->width * sizeof(float));
    memcpy(by_own + r * w->parts, w->by_own, w->parts * sizeof(float));
  }
  struct tutti_query query = w->query;
  struct tutti_slope slope = {
      .size = sizeof slope, .by_out = by_out, .by_epistemic = w->tells ? by_own : NULL, .gradient = gradient};
  query.rows = rows;
  query.inputs = inputs;
  query.epistemic = NULL;
  TRY(conform, tutti_predictor_slope(conform->context, w->predictor, &query, &slope, out));
  for (size_t r = 0; r < rows; r++) {
    double difference;
    w->query.inputs = w->inputs = inputs + r * w->features;
    (void)weighed_sum(conform, w);
    REQUIRE(conform, same_numbers(w->width, w->out, out + r * w->width),
            "%s: with its gradient, row %zu is predicted differently", w->subject->example.name, r);
    for (size_t k = 0; k < w->features; k += step)
      REQUIRE(conform, input_slope_agrees(conform, w, k, (double)gradient[r * w->features + k], &difference),
              "%s: row %zu: the derivative by input %zu is given as %g, by differences it is %g",
              w->subject->example.name, r, k, (double)gradient[r * w->features + k], difference);
  }
  tutti_free(gradient), tutti_free(out), tutti_free(by_out), tutti_free(by_own);
}

static void check_example_slopes(struct conform *conform, const struct subject *subject) {
  enum { SLOPES = 4 };
  const struct tutti_task *task = &subject->example.task;
  struct tutti_outcome outcome = finish(conform, subject);
  struct weighed w = {.subject = subject,
                      .query = {.size = sizeof w.query, .rows = 1, .seed = 5},
                      .tells = tutti_backend_tells_epistemic(subject->backend, &subject->job),
                      .width = tutti_predictions_width(task->kind, task->outputs),
                      .parts = tutti_epistemic_width(task->kind, task->outputs),
                      .features =
                          (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels};
  float *inputs = conform_alloc(conform, SLOPES * w.features, sizeof *inputs);
  for (uint32_t r = 0; r < SLOPES; r++)
    tutti_split_gather(subject->validation, 1, &r, inputs + r * w.features);
  w.inputs = inputs;
  TRY(conform,
      tutti_predictor_open(conform->context, subject->backend, &subject->job, outcome.weights, 3, &w.predictor));
  weigh(conform, &w);
  check_slopes_of(conform, &w, SLOPES, inputs);
  w.query.drop = true;
  check_slopes_of(conform, &w, SLOPES, inputs);
  tutti_predictor_close(w.predictor);
  tutti_tensors_destroy(outcome.weights);
  tutti_free(inputs), tutti_free(w.out), tutti_free(w.own), tutti_free(w.by_out), tutti_free(w.by_own);
}

void check_slopes(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  for (size_t i = 0; i < example_count() && needs_data(conform); i++) {
    if (!open_example(conform, &subject, i))
      continue;
    bool has = tutti_backend_has_slopes(subject.backend);
    if (has)
      check_example_slopes(conform, &subject);
    close_subject(&subject);
    if (!has)
      break;
    checked++;
  }
  if (checked == 0)
    conform_skip(conform, "it gives none");
  snprintf(conform->why, sizeof conform->why, "%zu small networks", checked);
}
