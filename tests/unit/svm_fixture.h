/* svm_fixture.h - rows and trainings for the tests of backend svm. Included after svm.c. */
#ifndef SVM_FIXTURE_H
#define SVM_FIXTURE_H

#include "learning.h"

enum { ROWS = 120, FEATURES = 2 };

static const struct machine_config usual = {
    .c = 1, .gamma = 0.5, .epsilon = 0.1, .tolerance = 1e-3, .folds = 5, .cache = 10};

static inline enum tutti_status train(struct learning *learning, const struct machine_config *config) {
  learning_again(learning);
  learning->job.config = config;
  return backend_train_svm(NULL, learning->context, &learning->job, &learning->outcome);
}

static inline void finish(struct learning *learning, const struct machine_config *config) {
  OK(train(learning, config));
  assert_int_equal(learning->outcome.state, TUTTI_STATE_FINISHED);
}

/* out[rows][width], by weights or those of the last training. */
static inline void predict(struct learning *learning, const tutti_tensors *weights, size_t rows, const float *inputs,
                           float *out) {
  tutti_split *points = learning_points(learning, rows, inputs);
  OK(backend_predict_svm(NULL, learning->context, &learning->job, weights ? weights : learning->outcome.weights, points,
                         out));
  tutti_split_destroy(points);
}

static inline const struct tutti_tensor *tensor(const struct learning *learning, const char *name) {
  const struct tutti_tensor *found = tutti_tensors_find(learning->outcome.weights, name);
  assert_non_null(found);
  return found;
}

struct rows {
  float inputs[ROWS * FEATURES], targets[ROWS];
  int32_t labels[ROWS];
};

/* Classes by rings with noise; a smooth function with noise of standard deviation .2. */
static inline void draw_rows(struct rows *rows, size_t classes) {
  struct tutti_random random;
  tutti_random_init(&random, 5, "svm rows", 0);
  for (size_t i = 0; i < ROWS; i++) {
    double x = tutti_random_normal(&random), y = tutti_random_normal(&random);
    double ring = sqrt(x * x + y * y) + 0.2 * tutti_random_normal(&random);
    rows->inputs[2 * i] = (float)x;
    rows->inputs[2 * i + 1] = (float)y;
    rows->targets[i] = (float)(sin(x) + 0.5 * y + 0.2 * tutti_random_normal(&random));
    rows->labels[i] = ring < 0.9 ? 0 : ring < 1.5 || classes == 2 ? 1 : 2;
  }
}

static inline void begin_classes(struct learning *learning, const struct rows *rows, size_t classes) {
  learning_begin(learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, classes, rows->inputs, rows->labels, NULL);
}

static inline void begin_values(struct learning *learning, const struct rows *rows, enum tutti_op head) {
  learning_begin(learning, head, ROWS, FEATURES, 1, rows->inputs, NULL, rows->targets);
}

#endif
