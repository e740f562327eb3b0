/* calibrating.h - a calibrator in a host, with rows to fit it to. Included after cmocka.h. */
#ifndef CALIBRATING_H
#define CALIBRATING_H

#include <math.h>
#include <string.h>
#include <tutti/tutti.h>

enum { MOST_ROWS = 2000, MOST_WIDTH = 4 };
static struct {
  tutti_context *context;
  struct tutti_task task;
  tutti_host *host;
  tutti_calibrator *calibrator;
  struct tutti_random random;
  double values[MOST_ROWS * MOST_WIDTH], out[MOST_ROWS * MOST_WIDTH], truths[MOST_ROWS];
  int32_t labels[MOST_ROWS];
  struct tutti_combined combined;
  struct tutti_targets targets;
} world;

static inline void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(world.context));
}

static inline int setup(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts, .task = &world.task};
  (void)state;
  memset(&world, 0, sizeof world);
  must(tutti_context_create(&world.context));
  must(tutti_host_create(world.context, &facts, &world.host));
  tutti_random_init(&world.random, 7, "test", 0);
  return 0;
}

static inline int teardown(void **state) {
  (void)state;
  tutti_calibrator_destroy(world.calibrator);
  tutti_host_destroy(world.host);
  tutti_context_destroy(world.context);
  return 0;
}

/* Put a calibrator for so many outputs into the host; set(): a parameter of it; make(): an instance. */
static inline void put(const char *plugin, enum tutti_task_kind kind, size_t outputs) {
  world.task = (struct tutti_task){.size = sizeof world.task, .kind = kind, .outputs = outputs};
  world.combined = (struct tutti_combined){.size = sizeof world.combined, .kind = kind, .outputs = outputs};
  world.targets = (struct tutti_targets){.size = sizeof world.targets, .kind = kind, .outputs = outputs};
  world.combined.values = world.values;
  world.targets.values = kind == TUTTI_TASK_REGRESSION ? world.truths : NULL;
  world.targets.labels = kind == TUTTI_TASK_REGRESSION ? NULL : world.labels;
  must(tutti_host_put(world.context, world.host, "calibrator", TUTTI_KIND_CALIBRATOR, plugin));
}

static inline void set(const char *name, const char *value) {
  must(tutti_host_set(world.context, world.host, "calibrator", name, value));
}

static inline void make(void) {
  struct tutti_calibrator_setup of = {.size = sizeof of};
  must(tutti_calibrator_create(world.context, world.host, "calibrator", &of, &world.calibrator));
}

static inline void rows(size_t count) { world.combined.rows = world.targets.rows = count; }

static inline enum tutti_status fit(void) {
  return tutti_calibrator_fit(world.context, world.calibrator, &world.combined, &world.targets);
}

static inline void apply(void) {
  must(tutti_calibrator_apply(world.context, world.calibrator, &world.combined, world.out));
}

static inline double uniform(void) { return tutti_random_uniform(&world.random); }

static inline void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.17g, expected %.17g", found, expected);
}

/* Rows of random probabilities, each class drawn from them after their logarithms were multiplied by `sharpness`: what
   is predicted is too sure if that is below 1. */
static inline void draw_classes(size_t count, double sharpness) {
  size_t classes = world.combined.outputs;
  rows(count);
  for (size_t r = 0; r < count; r++) {
    double *row = world.values + r * classes, sum = 0, true_sum = 0, drawn = uniform(), below = 0;
    for (size_t c = 0; c < classes; c++)
      sum += row[c] = exp(3 * tutti_random_normal(&world.random));
    for (size_t c = 0; c < classes; c++)
      true_sum += pow(row[c] /= sum, sharpness);
    world.labels[r] = (int32_t)classes - 1;
    for (size_t c = classes; c-- > 0;) {
      below += pow(row[c], sharpness) / true_sum;
      world.labels[r] = (int32_t)c;
      if (drawn < below)
        break;
    }
  }
}

static inline double nll_of(const double *probabilities) {
  double sum = 0;
  for (size_t r = 0; r < world.combined.rows; r++)
    sum -= log(probabilities[r * world.combined.outputs + (size_t)world.labels[r]]);
  return sum / (double)world.combined.rows;
}

static inline void moments(size_t row, double mean, double aleatoric, double epistemic, double truth) {
  world.values[3 * row] = mean;
  world.values[3 * row + 1] = aleatoric;
  world.values[3 * row + 2] = epistemic;
  world.truths[row] = truth;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
