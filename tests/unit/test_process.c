/* test_process.c - backend gp: the posterior and the likelihood against plain arithmetic, what is noise and what is not
   known, rows that are left out, what is kept and made again, and what is refused. */
#include "golden.h"
#include "learning.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gp.c"

enum { ROWS = 60, FEATURES = 2, POINTS = 7 };

static double wide_amplitude[] = {1e-3, 1e3}, wide_length[] = {0.02, 200}, wide_noise[] = {1e-6, 1};

static struct process_config usual(void) {
  return (struct process_config){.ard = true,
                                 .amplitude = {2, wide_amplitude},
                                 .length_scale = {2, wide_length},
                                 .noise = {2, wide_noise},
                                 .most_rows = 1000,
                                 .fit_rows = 1000,
                                 .looks = 32,
                                 .starts = 3,
                                 .evaluations = 200};
}

static enum tutti_status train(struct learning *learning, const struct process_config *config) {
  learning_again(learning);
  learning->job.config = config;
  return backend_train_gp(NULL, learning->context, &learning->job, &learning->outcome);
}

static void finish(struct learning *learning, const struct process_config *config) {
  OK(train(learning, config));
  assert_int_equal(learning->outcome.state, TUTTI_STATE_FINISHED);
}

/* out[rows][outputs][2] and, unless NULL, epistemic[rows][outputs], by weights or those of the last training. */
static void predict(struct learning *learning, const tutti_tensors *weights, size_t rows, const float *inputs,
                    float *out, float *epistemic) {
  tutti_split *points = learning_points(learning, rows, inputs);
  const tutti_tensors *used = weights ? weights : learning->outcome.weights;
  OK(epistemic ? backend_predict_parts_gp(NULL, learning->context, &learning->job, used, points, out, epistemic)
               : backend_predict_gp(NULL, learning->context, &learning->job, used, points, out));
  tutti_split_destroy(points);
}

static const struct tutti_tensor *tensor(const struct learning *learning, const char *name) {
  const struct tutti_tensor *found = tutti_tensors_find(learning->outcome.weights, name);
  assert_non_null(found);
  return found;
}

static double number(const struct learning *learning, const char *name) {
  return *(const double *)tensor(learning, name)->data;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

struct rows {
  float inputs[ROWS * FEATURES], targets[ROWS];
};

/* A smooth function of the first input, nearly none of the second, with noise of standard deviation .2. */
static void draw_rows(struct rows *rows) {
  struct tutti_random random;
  tutti_random_init(&random, 5, "process rows", 0);
  for (size_t i = 0; i < ROWS; i++) {
    double x = tutti_random_normal(&random), y = tutti_random_normal(&random);
    rows->inputs[2 * i] = (float)x;
    rows->inputs[2 * i + 1] = (float)y;
    rows->targets[i] = (float)(0.3 + sin(2 * x) + 0.05 * y + 0.2 * tutti_random_normal(&random));
  }
}

static void begin(struct learning *learning, const struct rows *rows, enum tutti_op head) {
  learning_begin(learning, head, ROWS, FEATURES, 1, rows->inputs, NULL, rows->targets);
}

static const float points[2 * POINTS] = {0, 0, -1, 0.5f, 1.3f, -2, 0.2f, 0.1f, 3, 3, -2.5f, 1, 100, -100};

/* --- plain arithmetic -------------------------------------------------------------------------------------------- */

/* A process, as its tensors or a test say. */
struct plain {
  bool rbf;
  size_t count;
  double amplitude, noise, mean, lengths[FEATURES];
  double points[ROWS][FEATURES], values[ROWS];
};

static double covariance(const struct plain *plain, const double *x, const double *y) {
  double square = 0;
  for (size_t k = 0; k < FEATURES; k++)
    square += pow((x[k] - y[k]) / plain->lengths[k], 2);
  double s = sqrt(5 * square);
  return plain->amplitude * (plain->rbf ? exp(-square / 2) : (1 + s + s * s / 3) * exp(-s));
}

/* Solve K x = b for b[count][columns] by elimination, and give the logarithm of the determinant of K. */
static double solve(const struct plain *plain, size_t columns, double *b) {
  static double matrix[ROWS][ROWS];
  size_t n = plain->count;
  double logarithm = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      matrix[i][j] = covariance(plain, plain->points[i], plain->points[j]) + (i == j ? plain->noise : 0);
  for (size_t p = 0; p < n; p++) {
    logarithm += log(matrix[p][p]);
    for (size_t i = 0; i < n; i++) {
      double factor = i == p ? 0 : matrix[i][p] / matrix[p][p];
      for (size_t j = p; j < n; j++)
        matrix[i][j] -= factor * matrix[p][j];
      for (size_t c = 0; c < columns; c++)
        b[i * columns + c] -= factor * b[p * columns + c];
    }
  }
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < columns; c++)
      b[i * columns + c] /= matrix[i][i];
  return logarithm;
}

static double plain_likelihood(const struct plain *plain) {
  double weight[ROWS], sum = 0;
  for (size_t i = 0; i < plain->count; i++)
    weight[i] = plain->values[i] - plain->mean;
  double logarithm = solve(plain, 1, weight);
  for (size_t i = 0; i < plain->count; i++)
    sum += weight[i] * (plain->values[i] - plain->mean);
  return -0.5 * (sum + logarithm + (double)plain->count * log(2 * M_PI));
}

static void plain_predict(const struct plain *plain, const float *input, double *mean, double *epistemic) {
  double x[FEATURES], right[ROWS * 2];
  for (size_t k = 0; k < FEATURES; k++)
    x[k] = (double)input[k];
  for (size_t i = 0; i < plain->count; i++) {
    right[2 * i] = plain->values[i] - plain->mean;
    right[2 * i + 1] = covariance(plain, plain->points[i], x);
  }
  (void)solve(plain, 2, right);
  *mean = plain->mean;
  *epistemic = plain->amplitude;
  for (size_t i = 0; i < plain->count; i++) {
    double k = covariance(plain, plain->points[i], x);
    *mean += k * right[2 * i];
    *epistemic -= k * right[2 * i + 1];
  }
}

static void read_plain(const struct learning *learning, struct plain *plain) {
  const struct tutti_tensor *rows = tensor(learning, "0.points");
  *plain = (struct plain){.rbf = *(const int32_t *)tensor(learning, "0.kernel")->data == 1,
                          .count = rows->shape[0],
                          .amplitude = number(learning, "0.amplitude"),
                          .noise = number(learning, "0.noise"),
                          .mean = number(learning, "0.mean")};
  for (size_t k = 0; k < FEATURES; k++)
    plain->lengths[k] = ((const double *)tensor(learning, "0.lengths")->data)[k];
  for (size_t i = 0; i < plain->count; i++) {
    plain->values[i] = (double)((const float *)tensor(learning, "0.values")->data)[i];
    for (size_t k = 0; k < FEATURES; k++)
      plain->points[i][k] = (double)((const float *)rows->data)[i * FEATURES + k];
  }
}

/* --- against it -------------------------------------------------------------------------------------------------- */

static void predictions_are_the_posterior(void **state) {
  struct rows rows;
  struct learning learning;
  struct plain plain;
  (void)state;
  draw_rows(&rows);
  for (int kernel = 0; kernel < 2; kernel++) {
    struct process_config config = usual();
    float out[2 * POINTS], alone[2 * POINTS], epistemic[POINTS];
    config.kernel = kernel;
    begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
    finish(&learning, &config);
    read_plain(&learning, &plain);
    assert_true(plain.rbf == (kernel == 1));
    assert_int_equal(plain.count, ROWS);
    assert_memory_equal(tensor(&learning, "0.points")->data, rows.inputs, sizeof rows.inputs);
    predict(&learning, NULL, POINTS, points, out, epistemic);
    predict(&learning, NULL, POINTS, points, alone, NULL);
    assert_memory_equal(out, alone, sizeof out);
    for (size_t i = 0; i < POINTS; i++) {
      double mean, own;
      plain_predict(&plain, points + 2 * i, &mean, &own);
      assert_close((double)out[2 * i], mean, 1e-5, 1e-6);
      assert_close((double)epistemic[i], own, 1e-5, 1e-7);
      assert_close((double)out[2 * i + 1], own + plain.noise, 1e-5, 1e-7);
    }
    learning_end(&learning);
  }
}

/* No hyperparameter can be moved to a place that is likelier; the mean is the likeliest one, too. */
static void hyperparameters_are_the_likeliest(void **state) {
  struct rows rows;
  struct learning learning;
  struct plain plain;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  read_plain(&learning, &plain);
  double best = plain_likelihood(&plain);
  double *numbers[] = {&plain.amplitude, &plain.noise, &plain.lengths[0]};
  for (size_t k = 0; k < 3; k++)
    for (int up = 0; up < 2; up++) {
      double kept = *numbers[k];
      *numbers[k] *= up ? 1.1 : 1 / 1.1;
      assert_true(plain_likelihood(&plain) < best - 1e-4);
      *numbers[k] = kept;
    }
  for (int up = 0; up < 2; up++) {
    double kept = plain.mean;
    plain.mean += up ? 0.1 : -0.1;
    assert_true(plain_likelihood(&plain) < best - 1e-4);
    plain.mean = kept;
  }
  assert_true(plain.noise > 0.02 && plain.noise < 0.07); /* 0.2 squared */
  assert_true(plain.lengths[1] > 5 * plain.lengths[0]);  /* the second input says nearly nothing */
  config.ard = false;
  finish(&learning, &config);
  read_plain(&learning, &plain);
  assert_true(plain.lengths[0] == plain.lengths[1]);
  assert_true(plain_likelihood(&plain) < best);
  learning_end(&learning);
}

/* A length scale's unit is the standard deviation of inputs times the root of their number. */
static void one_number_fixes_a_hyperparameter(void **state) {
  double amplitude = 2, length = 0.5, noise = 0;
  struct rows rows;
  struct learning learning;
  struct plain plain;
  struct process_config config = usual();
  float out[2 * ROWS], epistemic[ROWS];
  (void)state;
  config.amplitude = (struct tutti_reals){1, &amplitude};
  config.length_scale = (struct tutti_reals){1, &length};
  config.noise = (struct tutti_reals){1, &noise};
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  read_plain(&learning, &plain);
  assert_close(plain.amplitude, 2, 1e-12, 0);
  assert_close(plain.lengths[1], 0.5 * sqrt(2), 1e-12, 0);
  assert_true(plain.noise == 0);
  predict(&learning, NULL, ROWS, rows.inputs, out, epistemic);
  for (size_t i = 0; i < ROWS; i++) { /* without noise it goes through all rows */
    assert_close((double)out[2 * i], (double)rows.targets[i], 0, 1e-3);
    assert_close((double)epistemic[i], 0, 0, 1e-3);
  }
  learning_end(&learning);
}

/* What is not known falls where rows are near, and far away is all of the function's variance; noise is everywhere. */
static void what_is_not_known_is_told_from_noise(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  float out[2 * POINTS], epistemic[POINTS];
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  assert_true(backend_tells_epistemic_gp(NULL, &learning.job));
  predict(&learning, NULL, POINTS, points, out, epistemic);
  assert_true((double)epistemic[0] < 0.1 * number(&learning, "0.amplitude"));
  assert_close((double)epistemic[POINTS - 1], number(&learning, "0.amplitude"), 1e-3, 0);
  assert_close((double)out[2 * POINTS - 2], number(&learning, "0.mean"), 0, 1e-3);
  for (size_t i = 0; i < POINTS; i++)
    assert_close((double)(out[2 * i + 1] - epistemic[i]), number(&learning, "0.noise"), 1e-3, 1e-6);
  learning_end(&learning);
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR); /* a value alone, the same one */
  finish(&learning, &config);
  float value[2 * POINTS];
  predict(&learning, NULL, POINTS, points, value, NULL);
  assert_false(backend_tells_epistemic_gp(NULL, &learning.job));
  for (size_t i = 0; i < POINTS; i++)
    assert_true(value[2 * i] == out[2 * i] && isnan(value[2 * i + 1]));
  learning_end(&learning);
}

/* --- rows that are left out -------------------------------------------------------------------------------------- */

static void large_tables_are_thinned(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  double noise = number(&learning, "0.noise");
  config.fit_rows = 40; /* a fit to others, which all rows are then conditioned on */
  finish(&learning, &config);
  assert_int_equal(tensor(&learning, "0.points")->shape[0], ROWS);
  assert_true(number(&learning, "0.noise") != noise);
  double first = number(&learning, "0.noise");
  learning.job.seed = 12;
  finish(&learning, &config);
  assert_true(fabs(number(&learning, "0.noise") / first - 1) > 0.01); /* the seed says which, and it is not the first */
  config.fit_rows = 1000;
  config.most_rows = 25;
  finish(&learning, &config);
  const struct tutti_tensor *kept = tensor(&learning, "0.points");
  assert_int_equal(kept->shape[0], 25);
  for (size_t v = 0; v < 25; v++) {
    size_t i = 0;
    while (i < ROWS && memcmp((const float *)kept->data + 2 * v, rows.inputs + 2 * i, 2 * sizeof(float)) != 0)
      i++;
    assert_true(i < ROWS && ((const float *)tensor(&learning, "0.values")->data)[v] == rows.targets[i]);
  }
  learning_end(&learning);
}

/* --- the same bits ----------------------------------------------------------------------------------------------- */

/* Two targets are two processes, each as if it were alone. */
static void targets_are_independent(void **state) {
  struct rows rows;
  struct learning one, both;
  struct process_config config = usual();
  float pairs[2 * ROWS], alone[2 * ROWS], together[4 * ROWS], part[ROWS], parts[2 * ROWS];
  (void)state;
  draw_rows(&rows);
  for (size_t i = 0; i < ROWS; i++) {
    pairs[2 * i] = rows.inputs[2 * i] * rows.inputs[2 * i];
    pairs[2 * i + 1] = rows.targets[i];
  }
  learning_begin(&both, TUTTI_OP_HEAD_GAUSSIAN, ROWS, FEATURES, 2, rows.inputs, NULL, pairs);
  begin(&one, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&both, &config);
  finish(&one, &config);
  predict(&one, NULL, ROWS, rows.inputs, alone, part);
  predict(&both, NULL, ROWS, rows.inputs, together, parts);
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(together[4 * i + 2] == alone[2 * i] && together[4 * i + 3] == alone[2 * i + 1]);
    assert_true(parts[2 * i + 1] == part[i] && parts[2 * i] != part[i] && together[4 * i] != alone[2 * i]);
  }
  learning_end(&one);
  learning_end(&both);
}

static void kept_and_read_again_it_predicts_the_same(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  float before[2 * POINTS], after[2 * POINTS];
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  predict(&learning, NULL, POINTS, points, before, NULL);
  tutti_tensors *again = learning_reload(&learning, learning.outcome.weights);
  predict(&learning, again, POINTS, points, after, NULL);
  assert_memory_equal(before, after, sizeof before);
  finish(&learning, &config);
  assert_true(learning_same(again, learning.outcome.weights));
  tutti_tensors_destroy(again);
  learning_end(&learning);
}

/* --- what a prediction costs ------------------------------------------------------------------------------------- */

/* Of the formula of the weights; it fails: 0. */
static double flops_of(const struct learning *learning, bool counts) {
  tutti_formula *formula;
  struct tutti_predicted_terms terms = {.size = sizeof terms};
  OK((counts ? tutti_formula_create_counting : tutti_formula_create)(learning->context, &formula));
  terms.inputs = tutti_formula_input(formula, FEATURES);
  enum tutti_status status =
      backend_formula_gp(NULL, learning->context, &learning->job, learning->outcome.weights, formula, &terms);
  double flops = status == TUTTI_OK && tutti_formula_status(formula) == TUTTI_OK ? tutti_formula_flops(formula) : 0;
  tutti_formula_destroy(formula);
  return flops;
}

/* It is counted by the shapes alone: the same for rows that no process could be conditioned on again. */
static void costs_are_counted_without_the_rows(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  for (int gaussian = 0; gaussian < 2; gaussian++) {
    begin(&learning, &rows, gaussian ? TUTTI_OP_HEAD_GAUSSIAN : TUTTI_OP_HEAD_LINEAR);
    finish(&learning, &config);
    double flops = flops_of(&learning, false);
    assert_true(flops > (gaussian ? 2 * ROWS * ROWS : 2 * ROWS) && flops_of(&learning, true) == flops);
    ((float *)(uintptr_t)tensor(&learning, "0.points")->data)[3] = NAN;
    assert_true(flops_of(&learning, false) == 0 && flops_of(&learning, true) == flops);
    learning_end(&learning);
  }
}

/* --- odd data, refusals ------------------------------------------------------------------------------------------ */

static void what_says_nothing_gives_a_constant(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  float out[2 * POINTS];
  (void)state;
  draw_rows(&rows);
  for (size_t i = 0; i < ROWS; i++) {
    rows.inputs[2 * i] = 0;
    rows.targets[i] = 0.25f;
  }
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  predict(&learning, NULL, POINTS, points, out, NULL);
  for (size_t i = 0; i < POINTS; i++)
    assert_close((double)out[2 * i], 0.25, 0, 1e-3);
  learning_end(&learning);
}

static void expect_refusal(struct learning *learning, const struct process_config *config, const char *text) {
  assert_int_equal(train(learning, config), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(learning->context), text));
  assert_int_equal(backend_check_gp(NULL, learning->context, &learning->job), TUTTI_ERROR_USAGE);
  tutti_error_clear(learning->context);
}

static void what_cannot_be_learnt_is_refused(void **state) {
  static const int32_t labels[ROWS] = {0, 1};
  double backward[] = {2, 1}, from_none[] = {0, 1};
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, 2, rows.inputs, labels, NULL);
  expect_refusal(&learning, &config, "the target is a class; take svm, trees or a network");
  learning_end(&learning);
  begin(&learning, &rows, TUTTI_OP_HEAD_NOMU);
  expect_refusal(&learning, &config, "head.kind");
  learning.task.head = TUTTI_OP_HEAD_GAUSSIAN;
  config.length_scale = (struct tutti_reals){2, backward};
  expect_refusal(&learning, &config, "backend.length_scale: a range \"low high\" or one number was expected");
  config = usual();
  config.amplitude.count = 0;
  expect_refusal(&learning, &config, "backend.amplitude: a range");
  config = usual();
  config.noise = (struct tutti_reals){2, from_none};
  expect_refusal(&learning, &config, "backend.noise: a range from above 0");
  learning_end(&learning);
}

static void what_is_not_finite_is_a_failed_trial(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  rows.targets[9] = NAN;
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  OK(train(&learning, &config));
  assert_int_equal(learning.outcome.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(learning.outcome.failure, "row 9"));
  learning_end(&learning);
}

static void cancelling_ends_the_fit(void **state) {
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  tutti_cancel(learning.context);
  assert_int_equal(train(&learning, &config), TUTTI_ERROR_CANCELLED);
  learning_end(&learning);
}

/* Weights that are not those of a process are refused, whatever they are. */
static void expect_corrupt(struct learning *learning, const char *text) {
  float out[2];
  tutti_split *one = learning_points(learning, 1, points);
  assert_int_equal(backend_predict_gp(NULL, learning->context, &learning->job, learning->outcome.weights, one, out),
                   TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(learning->context), text));
  tutti_error_clear(learning->context);
  tutti_split_destroy(one);
}

static void broken_weights_are_refused(void **state) {
  static const char *const numbers[] = {"0.amplitude", "0.noise", "0.mean", "0.lengths"};
  static const double wrong[] = {0, -1, INFINITY, 0};
  struct rows rows;
  struct learning learning;
  struct process_config config = usual();
  (void)state;
  draw_rows(&rows);
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  finish(&learning, &config);
  for (size_t i = 0; i < 4; i++) {
    double *place = tensor(&learning, numbers[i])->data, kept = *place;
    *place = wrong[i];
    expect_corrupt(&learning, "are not numbers above 0");
    *place = kept;
  }
  int32_t *kernel = tensor(&learning, "0.kernel")->data;
  *kernel = 2;
  expect_corrupt(&learning, "are not numbers above 0");
  *kernel = 0;
  learning.task.input.channels = 1;
  expect_corrupt(&learning, "0.points");
  learning.task.input.channels = FEATURES;
  learning_again(&learning);
  OK(tutti_tensors_create(learning.context, &learning.outcome.weights));
  expect_corrupt(&learning, "not there");
  learning_end(&learning);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_the_posterior),
      cmocka_unit_test(hyperparameters_are_the_likeliest),
      cmocka_unit_test(one_number_fixes_a_hyperparameter),
      cmocka_unit_test(what_is_not_known_is_told_from_noise),
      cmocka_unit_test(large_tables_are_thinned),
      cmocka_unit_test(targets_are_independent),
      cmocka_unit_test(kept_and_read_again_it_predicts_the_same),
      cmocka_unit_test(costs_are_counted_without_the_rows),
      cmocka_unit_test(what_says_nothing_gives_a_constant),
      cmocka_unit_test(what_cannot_be_learnt_is_refused),
      cmocka_unit_test(what_is_not_finite_is_a_failed_trial),
      cmocka_unit_test(cancelling_ends_the_fit),
      cmocka_unit_test(broken_weights_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
