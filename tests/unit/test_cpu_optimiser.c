/* test_cpu_optimiser.c - trajectories of every optimiser of backend cpu, on every instruction set that this machine
   has, against the rules in double precision; L2, clipping; golden numbers of Gaussian and NOMU networks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu_impl.h"
#include "cpu_levels.h"
#include "golden_training.h"

static tutti_context *context;

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static struct cpu_config make_config(int optimiser) {
  return (struct cpu_config){.epochs = 3,
                             .batch_size = 8,
                             .optimiser = optimiser,
                             .learning_rate = 1e-2,
                             .beta1 = 0.9,
                             .beta2 = 0.999,
                             .epsilon = 1e-7,
                             .initialiser_range = 0.5,
                             .accumulator = 0.1};
}

/* --- the rules, one weight at a time --- */

struct scalar {
  double w, m, v;
  double product; /* Nadam's */
};

/* One step of a weight with gradient g; t: the number of the step, from 1. */
typedef void scalar_rule(const struct cpu_config *c, struct scalar *s, double g, double rate, int t);

static void scalar_sgd(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  (void)t;
  s->m = c->momentum * s->m + g;
  s->w -= rate * (c->nesterov ? g + c->momentum * s->m : s->m);
}

static void scalar_rmsprop(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  double rho = c->rho > 0 ? c->rho : 0.9;
  (void)t;
  s->v = rho * s->v + (1 - rho) * g * g;
  s->m = c->momentum * s->m + g / (sqrt(s->v) + c->epsilon);
  s->w -= rate * s->m;
}

static void scalar_adagrad(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  s->v = (t == 1 ? c->accumulator : s->v) + g * g;
  s->w -= rate * g / (sqrt(s->v) + c->epsilon);
}

static void scalar_adadelta(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  double rho = c->rho > 0 ? c->rho : 0.95;
  (void)t;
  s->v = rho * s->v + (1 - rho) * g * g;
  double step = g * sqrt(s->m + c->epsilon) / sqrt(s->v + c->epsilon);
  s->m = rho * s->m + (1 - rho) * step * step;
  s->w -= rate * step;
}

static void scalar_adam(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  s->m = c->beta1 * s->m + (1 - c->beta1) * g;
  s->v = c->beta2 * s->v + (1 - c->beta2) * g * g;
  if (c->epsilon_placement == CPU_EPSILON_PAPER)
    s->w -= rate * s->m / (1 - pow(c->beta1, t)) / (sqrt(s->v / (1 - pow(c->beta2, t))) + c->epsilon);
  else
    s->w -= rate * sqrt(1 - pow(c->beta2, t)) / (1 - pow(c->beta1, t)) * s->m / (sqrt(s->v) + c->epsilon);
}

static void scalar_adamax(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  s->m = c->beta1 * s->m + (1 - c->beta1) * g;
  s->v = fmax(c->beta2 * s->v, fabs(g));
  s->w -= rate / (1 - pow(c->beta1, t)) * s->m / (s->v + c->epsilon);
}

static void scalar_nadam(const struct cpu_config *c, struct scalar *s, double g, double rate, int t) {
  double now = c->beta1 * (1 - 0.5 * pow(0.96, 0.004 * t)), next = c->beta1 * (1 - 0.5 * pow(0.96, 0.004 * (t + 1)));
  s->m = c->beta1 * s->m + (1 - c->beta1) * g;
  s->v = c->beta2 * s->v + (1 - c->beta2) * g * g;
  s->product = (t == 1 ? 1 : s->product) * now;
  s->w -= rate * ((1 - now) * g / (1 - s->product) + next * s->m / (1 - s->product * next)) /
          (sqrt(s->v / (1 - pow(c->beta2, t))) + c->epsilon);
}

/* A new optimiser needs its rule above; without it this does not compile. */
#define SCALAR_RULE(id, name) {#name, scalar_##name},
static const struct {
  const char *name;
  scalar_rule *step;
} rules[CPU_OPTIMISERS] = {CPU_OPTIMISER_LIST(SCALAR_RULE)};

/* --- a small network's worth of weights --- */

enum { INPUTS = 3, UNITS = 19, WEIGHTS = INPUTS * UNITS + UNITS + UNITS + 1, STEPS = 25 };

struct bench {
  struct tutti_task task;
  tutti_network *network;
  struct cpu_plan *plan;
  struct cpu_stepper *stepper;
  size_t place[WEIGHTS]; /* of each number in the flat vector */
  size_t array[WEIGHTS]; /* which segment it is in */
};

static void bench_create(struct bench *b, const struct cpu_config *config, enum tutti_cpu cpu) {
  uint32_t layer;
  b->task = (struct tutti_task){.size = sizeof b->task,
                                .kind = TUTTI_TASK_REGRESSION,
                                .input = {1, 1, INPUTS},
                                .outputs = 1,
                                .train_rows = 1,
                                .head = TUTTI_OP_HEAD_LINEAR};
  OK(tutti_network_create(context, b->task.input, &b->network));
  OK(tutti_network_add_dense(context, b->network, NULL, 0, UNITS, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_head(context, b->network, layer, &b->task));
  OK(backend_cpu_plan_create(context, backend_cpu_kernels(cpu), b->network, &b->task, 1, true, &b->plan));
  backend_cpu_decays(b->plan, config);
  backend_cpu_weights_draw(b->plan, config, 1);
  OK(backend_cpu_stepper_create(context, b->plan, config, &b->stepper));
  size_t n = 0;
  for (size_t s = 0; s < b->plan->segment_count; s++)
    for (size_t r = 0; r < b->plan->segments[s].rows; r++)
      for (size_t c = 0; c < b->plan->segments[s].columns; c++) {
        b->array[n] = s;
        b->place[n++] = b->plan->segments[s].offset + r * b->plan->segments[s].ld + c;
      }
  assert_int_equal(n, WEIGHTS);
}

static void bench_destroy(struct bench *b) {
  backend_cpu_stepper_destroy(b->stepper);
  backend_cpu_plan_destroy(b->plan);
  tutti_network_destroy(b->network);
}

/* Gradients of many sizes, among them weights that never get one. */
static double gradient_of(size_t weight, int step) {
  if (weight % 7 == 0)
    return 0;
  return sin((double)weight * 1.7 + step * 0.3) * pow(10, (double)(weight % 6) - 4);
}

/* One step of all weights by the rule, clipped as configured. */
static void step_scalars(const struct bench *b, const struct cpu_config *config, double rate, int t,
                         struct scalar *scalars) {
  double g[WEIGHTS], squares[8] = {0}, all = 0;
  for (size_t i = 0; i < WEIGHTS; i++) {
    bool counts = b->plan->segments[b->array[i]].matrix || config->l2_biases;
    g[i] = (double)(float)gradient_of(i, t) + (counts ? 2 * config->l2 * scalars[i].w : 0);
    squares[b->array[i]] += g[i] * g[i];
    all += g[i] * g[i];
  }
  for (size_t i = 0; i < WEIGHTS; i++) {
    double norm = sqrt(config->gradient_clip_by == CPU_CLIP_VARIABLE ? squares[b->array[i]] : all);
    double scale = config->gradient_clip > 0 && norm > config->gradient_clip ? config->gradient_clip / norm : 1;
    rules[config->optimiser].step(config, &scalars[i], scale * g[i], rate, t);
  }
}

/* `what` is said of the setting when a check fails. */
static void check_trajectory(const struct cpu_config *config, enum tutti_cpu cpu, const char *what) {
  const char *name = rules[config->optimiser].name, *set = tutti_cpu_name(cpu);
  struct scalar scalars[WEIGHTS] = {0};
  struct bench b;
  bench_create(&b, config, cpu);
  for (size_t i = 0; i < WEIGHTS; i++)
    scalars[i].w = (double)b.plan->weights[b.place[i]];
  for (int t = 1; t <= STEPS; t++) {
    double rate = config->learning_rate * (t > 10 ? 0.1 : 1);
    for (size_t i = 0; i < WEIGHTS; i++)
      b.plan->gradients[b.place[i]] = (float)gradient_of(i, t);
    step_scalars(&b, config, rate, t, scalars);
    backend_cpu_step(b.stepper, rate, b.plan->weights);
    for (size_t i = 0; i < WEIGHTS; i++)
      assert_close_told((double)b.plan->weights[b.place[i]], scalars[i].w, 3e-5, 3e-6,
                        "%s (%s) on %s, step %d: weight %zu", name, what, set, t, i);
  }
  double sum = b.plan->kernels->sum_squares(b.plan->trained, b.plan->weights), want = 0;
  for (size_t i = 0; i < WEIGHTS; i++)
    want += (double)b.plan->weights[b.place[i]] * (double)b.plan->weights[b.place[i]];
  assert_close_told(sum, want, 1e-6, 0, "%s (%s) on %s: sum of squared weights, padding included", name, what, set);
  bench_destroy(&b);
}

static void test_rule(void **state) {
  const struct level_test *test = *state;
  struct cpu_config config = make_config(test->which);
  check_trajectory(&config, test->cpu, "plain");
  config.learning_rate = 1; /* what the rate multiplies shows in more digits of the weights */
  check_trajectory(&config, test->cpu, "long steps");
  config = make_config(test->which);
  config.momentum = 0.8;
  config.l2 = 0.02;
  check_trajectory(&config, test->cpu, "momentum, L2");
  config.nesterov = true;
  config.l2_biases = true;
  config.rho = 0.7;
  config.epsilon = 1e-3;
  config.epsilon_placement = CPU_EPSILON_PAPER;
  check_trajectory(&config, test->cpu, "momentum, L2, Nesterov, rho, epsilon as in the paper");
}

static void test_clipping(void **state) {
  const struct level_test *test = *state;
  for (int by = CPU_CLIP_GLOBAL; by <= CPU_CLIP_VARIABLE; by++) {
    struct cpu_config config = make_config(test->which);
    config.gradient_clip = 5;
    config.gradient_clip_by = by;
    config.l2 = 0.1;
    check_trajectory(&config, test->cpu, by == CPU_CLIP_GLOBAL ? "clipped together" : "clipped by array");
  }
}

/* A number that stands for no rule is refused. */
static void test_no_rule(void **state) {
  const int wrong[] = {-1, CPU_LBFGS, CPU_OPTIMISERS + 1};
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct cpu_config config = make_config(CPU_ADAM), none = make_config(wrong[i]);
    struct cpu_stepper *stepper;
    struct bench b;
    bench_create(&b, &config, TUTTI_CPU_BASELINE);
    assert_int_equal(backend_cpu_stepper_create(context, b.plan, &none, &stepper), TUTTI_ERROR_INTERNAL);
    assert_null(stepper);
    assert_non_null(strstr(tutti_error_message(context), told("optimiser %d has no rule", wrong[i])));
    bench_destroy(&b);
  }
}

/* --- golden numbers --- */

static enum tutti_status gradient_by(const struct golden_backend *backend, const struct tutti_job *job,
                                     const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  return backend_cpu_gradient(backend->context, backend->self, job, weights, loss, gradient);
}

static enum tutti_status train_by(const struct golden_backend *backend, const struct tutti_job *job,
                                  struct tutti_outcome *outcome) {
  return backend_cpu_train(backend->context, backend->self, job, outcome);
}

/* Backend cpu on one instruction set. */
static struct golden_backend golden_cpu(void **state) {
  return (struct golden_backend){context, make_config(CPU_ADAM), kernels_of(state), gradient_by, train_by};
}

static void test_golden_gaussian(void **state) {
  const struct golden_backend backend = golden_cpu(state);
  golden_gaussian(&backend);
}

static void test_golden_gaussian_adam(void **state) {
  const struct golden_backend backend = golden_cpu(state);
  golden_gaussian_adam(&backend);
}

static void test_golden_nomu(void **state) {
  const struct golden_backend backend = golden_cpu(state);
  golden_nomu(&backend);
}

/* Loss with L2, and gradients into the plan, of the golden data with their artificial points. */
static double nomu_gradient(struct cpu_plan *plan, const json_t *golden) {
  float *x = golden_floats(golden_get(golden, "x_train"), NULL),
        *y = golden_floats(golden_get(golden, "y_train"), NULL);
  float *artificial = golden_floats(golden_get(golden, "x_artificial"), NULL);
  for (size_t r = 0; r < 16; r++)
    memcpy(plan->nodes[0].value + r * plan->nodes[0].ld, r < 6 ? x + 2 * r : artificial + 2 * (r - 6), 2 * sizeof *x);
  memcpy(plan->head.targets, y, 6 * sizeof *y);
  plan->artificial = 10;
  struct cpu_draws draws = {.drop = false};
  backend_cpu_forward(plan, 16, &draws);
  double loss = backend_cpu_loss(plan, 6, true);
  backend_cpu_backward(plan, 16);
  for (size_t s = 0; s < plan->segment_count; s++)
    loss += 0.5 * (double)plan->segments[s].decay *
            plan->kernels->sum_squares(plan->segments[s].rows * plan->segments[s].ld,
                                       plan->weights + plan->segments[s].offset);
  free(x), free(y), free(artificial);
  return loss;
}

/* Ten steps of Adam on NOMU's loss, in Keras's convention and the paper's. The artificial points are the same at each
   step: only who has a plan can set them. */
static void test_golden_adam(void **state) {
  json_t *golden = golden_load("nomu_loss");
  json_t *first = golden_get(golden_at(golden_get(golden, "cases"), 0), "config");
  struct tutti_task task = golden_nomu_task();
  for (size_t n = 0; n < 2; n++) {
    json_t *one = golden_at(golden_get(golden, "adam"), n);
    tutti_network *network = golden_nomu_network(context, &task, first, GOLDEN_NOMU_ARTIFICIAL, false);
    tutti_tensors *weights = golden_nomu_weights(context, golden), *final;
    struct cpu_config config = make_config(CPU_ADAM);
    config.l2_biases = true;
    config.epsilon_placement = n == 0 ? CPU_EPSILON_KERAS : CPU_EPSILON_PAPER;
    config.epsilon = n == 0 ? 1e-7 : 1e-8;
    struct cpu_plan *plan;
    struct cpu_stepper *stepper;
    OK(backend_cpu_plan_create(context, kernels_of(state), network, &task, 16, true, &plan));
    backend_cpu_decays(plan, &config);
    OK(backend_cpu_weights_read(context, plan, weights));
    OK(backend_cpu_stepper_create(context, plan, &config, &stepper));
    json_t *losses = golden_get(one, "loss_before_each_step_then_final");
    for (size_t t = 0; t < 10; t++) {
      assert_close_told(nomu_gradient(plan, golden), golden_number(golden_at(losses, t)), 1e-5, 0,
                        "loss before step %zu of %s", t + 1, n == 0 ? "Keras's" : "the paper's");
      backend_cpu_step(stepper, golden_number_of(one, "lr"), plan->weights);
    }
    assert_close(nomu_gradient(plan, golden), golden_number(golden_at(losses, 10)), 1e-5, 0);
    OK(backend_cpu_weights_write(context, plan, plan->weights, true, &final));
    golden_nomu_check(final, golden_get(one, "final_params"), 1e-5, 5e-6);
    tutti_tensors_destroy(final);
    tutti_tensors_destroy(weights);
    backend_cpu_stepper_destroy(stepper);
    backend_cpu_plan_destroy(plan);
    tutti_network_destroy(network);
  }
  json_decref(golden);
}

int main(void) {
  struct level_tests all = {.count = 0};
  for (int o = 0; o < CPU_OPTIMISERS; o++)
    add_on_levels(&all, told("test_rule: %s", rules[o].name), o, test_rule);
  add_on_levels(&all, "test_clipping: sgd", CPU_SGD, test_clipping);
  add_on_levels(&all, "test_clipping: adam", CPU_ADAM, test_clipping);
  add_on_levels(&all, "test_golden_gaussian", 0, test_golden_gaussian);
  add_on_levels(&all, "test_golden_gaussian_adam", 0, test_golden_gaussian_adam);
  add_on_levels(&all, "test_golden_nomu", 0, test_golden_nomu);
  add_on_levels(&all, "test_golden_adam", 0, test_golden_adam);
  all.tests[all.count++] = (struct CMUnitTest)cmocka_unit_test(test_no_rule);
  return run_on_levels(&all, "tests", set_up, tear_down);
}
