/* test_cpu_nomu.c - how backend cpu trains NOMU (Heiss et al., ICML 2022): its gradients against finite differences of
   the whole loss in double precision, artificial points and stop-gradient included; frozen layers; the box of the
   artificial points; the readout. */
#include "backends/cpu/cpu.c"

#include "cpu_training.h"
#include "golden.h"

enum { ART = 17, PARAMETERS = 3 * 8 + 8 + 8 * 6 + 6 + 6 + 1 + 3 * 7 + 7 + 7 * 5 + 5 + 11 + 1 };

/* How the gradient of the raw uncertainty r goes through the connection from the network of the prediction f. */
enum variant { THROUGH, STOPPED };

static const struct {
  const char *label;
  size_t inputs, units;
} layers[] = {{"f1", 3, 8}, {"f2", 8, 6}, {"f3", 6, 1}, {"r1", 3, 7}, {"r2", 7, 5}, {"r3", 11, 1}};

static const struct tutti_attribute head_attributes[] = {{"pi_sqr", 0.7}, {"pi_exp", 5},       {"c_exp", 3},
                                                         {"margin", 0.1}, {"artificial", ART}, {NULL, 0}};

static uint32_t add(struct setting *s, tutti_network *network, enum tutti_op op, const char *label, size_t count,
                    const uint32_t *inputs, const struct tutti_attribute *attributes) {
  uint32_t layer;
  OK(tutti_network_add(s->context, network, op, label, count, inputs, attributes, &layer));
  return layer;
}

static uint32_t hidden(struct setting *s, tutti_network *network, const char *label, uint32_t from, int32_t units) {
  uint32_t layer;
  OK(tutti_network_add_dense(s->context, network, label, from, units, TUTTI_ACTIVATION_RELU, &layer));
  return layer;
}

/* f 3-8-6-1, r 3-7-5-[both last hidden layers]-1; full batches, L2 as the configuration has it. */
static struct setting *begin_nomu(enum variant variant) {
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  tutti_network *network;
  s->task.head = TUTTI_OP_HEAD_NOMU;
  OK(tutti_network_create(s->context, s->task.input, &network));
  uint32_t f = hidden(s, network, "f2", hidden(s, network, "f1", 0, 8), 6);
  uint32_t r = hidden(s, network, "r2", hidden(s, network, "r1", 0, 7), 5);
  uint32_t ends[2] = {add(s, network, TUTTI_OP_DENSE, "f3", 1, &f, TUTTI_ATTRIBUTES({"units", 1})), 0};
  uint32_t last[2] = {variant == STOPPED ? add(s, network, TUTTI_OP_DETACH, NULL, 1, &f, NULL) : f, r};
  uint32_t both = add(s, network, TUTTI_OP_CONCAT, NULL, 2, last, NULL);
  ends[1] = add(s, network, TUTTI_OP_DENSE, "r3", 1, &both, TUTTI_ATTRIBUTES({"units", 1}));
  add(s, network, TUTTI_OP_HEAD_NOMU, NULL, 2, ends, head_attributes);
  OK(tutti_network_check(s->context, network));
  tutti_network_destroy(s->network);
  s->job.network = s->network = network;
  s->values->batch_size = 0;
  s->values->l2 = 1e-3;
  s->values->l2_biases = true;
  s->job.validation = NULL;
  return s;
}

/* --- the loss in double precision --- */

/* All weights and biases, in the order of `layers`. */
static void to_doubles(const tutti_tensors *tensors, double *to) {
  for (size_t k = 0; k < 6; k++)
    for (size_t part = 0; part < 2; part++) {
      char name[16];
      (void)snprintf(name, sizeof name, "%s/%s", layers[k].label, part ? "bias" : "weight");
      const struct tutti_tensor *tensor = tutti_tensors_find(tensors, name);
      assert_non_null(tensor);
      for (size_t i = 0; i < tensor->bytes / sizeof(float); i++)
        *to++ = (double)((const float *)tensor->data)[i];
    }
}

/* y = x W + b of layer k, with ReLU unless it is the last of its network. */
static void apply(const double *weights, size_t k, const double *x, double *y) {
  for (size_t i = 0; i < k; i++)
    weights += (layers[i].inputs + 1) * layers[i].units;
  size_t inputs = layers[k].inputs, units = layers[k].units;
  for (size_t u = 0; u < units; u++) {
    y[u] = weights[inputs * units + u];
    for (size_t i = 0; i < inputs; i++)
      y[u] += x[i] * weights[i * units + u];
    if (k % 3 != 2)
      y[u] = fmax(y[u], 0);
  }
}

/* f and r at a point; the connection reads f's hidden layer as made by `connected`. */
static void outputs(const double *weights, const double *connected, const float *point, double *f, double *r) {
  double x[3] = {(double)point[0], (double)point[1], (double)point[2]}, one[8], two[11];
  apply(weights, 0, x, one), apply(weights, 1, one, two), apply(weights, 2, two, f);
  apply(connected, 0, x, one), apply(connected, 1, one, two);
  apply(weights, 3, x, one), apply(weights, 4, one, two + 6), apply(weights, 5, two, r);
}

static double squares(size_t count, const double *weights) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += weights[i] * weights[i];
  return sum;
}

static double loss_of(const struct setting *s, const float *artificial, const double *weights,
                      const double *connected) {
  const float *x = tutti_split_inputs(s->train), *y = tutti_split_targets(s->train);
  double loss = 0, push = 0, f, r;
  for (size_t i = 0; i < ROWS; i++) {
    outputs(weights, connected, x + i * FEATURES, &f, &r);
    loss += (f - (double)y[i]) * (f - (double)y[i]) + 0.7 * r * r;
  }
  for (size_t i = 0; i < ART; i++) {
    outputs(weights, connected, artificial + i * FEATURES, &f, &r);
    push += exp(-3 * r);
  }
  return loss + 5 * push / ART + 1e-3 * squares(PARAMETERS, weights);
}

/* --- gradients --- */

static const float box[] = {-5, -6, -7, 5, 6, 7};

/* The points that the backend draws first in the box. */
static void draw(const struct setting *s, float *artificial) {
  struct tutti_random random;
  tutti_random_init(&random, s->job.seed, "artificial points", 0);
  for (size_t i = 0; i < ART * FEATURES; i++)
    tutti_random_fill_uniform(&random, 1, box[i % FEATURES], box[FEATURES + i % FEATURES], artificial + i);
}

/* Weights of a size at which no term is negligible. */
static tutti_tensors *some_weights(struct setting *s) {
  s->values->initialiser = CPU_UNIFORM;
  s->values->initialiser_range = 0.5;
  s->values->epochs = 1;
  s->values->learning_rate = 1e-9;
  train(s);
  tutti_tensors *weights = s->outcome.weights;
  s->outcome.weights = NULL;
  return weights;
}

static void check_gradient(enum variant variant) {
  struct setting *s = begin_nomu(variant);
  tutti_tensors *weights = some_weights(s), *gradient;
  double at[PARAMETERS], slopes[PARAMETERS], moved[PARAMETERS], loss;
  float artificial[ART * FEATURES];
  s->job.box = box;
  draw(s, artificial);
  to_doubles(weights, at);
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, weights, &loss, &gradient));
  assert_close(loss, loss_of(s, artificial, at, at), 1e-5, 0);
  to_doubles(gradient, slopes);
  memcpy(moved, at, sizeof at);
  for (size_t i = 0; i < PARAMETERS; i++) {
    const double *connected = variant == STOPPED ? at : moved;
    moved[i] = at[i] + 1e-6;
    double above = loss_of(s, artificial, moved, connected);
    moved[i] = at[i] - 1e-6;
    double difference = (above - loss_of(s, artificial, moved, connected)) / 2e-6;
    moved[i] = at[i];
    assert_close(slopes[i], difference, 2e-4, 2e-3);
  }
  tutti_tensors_destroy(gradient);
  tutti_tensors_destroy(weights);
  end(s);
}

static void test_gradient_through(void **state) {
  (void)state;
  check_gradient(THROUGH);
}

static void test_gradient_stopped(void **state) {
  (void)state;
  check_gradient(STOPPED);
}

static bool same_tensor(const tutti_tensors *a, const tutti_tensors *b, const char *name) {
  const struct tutti_tensor *one = tutti_tensors_find(a, name), *two = tutti_tensors_find(b, name);
  return memcmp(one->data, two->data, one->bytes) == 0;
}

/* f is frozen: r's gradient is what it was, f's is 0, and the loss has none of f's L2. */
static void test_gradient_frozen(void **state) {
  (void)state;
  static const char *const f[] = {"f1", "f2", "f3", NULL};
  enum { OF_F = 3 * 8 + 8 + 8 * 6 + 6 + 6 + 1 };
  struct setting *s = begin_nomu(THROUGH);
  tutti_tensors *weights = some_weights(s), *whole, *part;
  double at[PARAMETERS], slopes[PARAMETERS], frozen[PARAMETERS], loss, rest;
  to_doubles(weights, at);
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, weights, &loss, &whole));
  s->job.frozen = f;
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, weights, &rest, &part));
  to_doubles(whole, slopes);
  to_doubles(part, frozen);
  for (size_t i = 0; i < PARAMETERS; i++)
    if (i < OF_F)
      assert_true(frozen[i] == 0);
    else
      assert_true(frozen[i] == slopes[i] && slopes[i] != 0);
  assert_close(loss - rest, 1e-3 * squares(OF_F, at), 1e-3, 0);
  tutti_tensors_destroy(whole);
  tutti_tensors_destroy(part);
  tutti_tensors_destroy(weights);
  end(s);
}

/* --- training --- */

/* Frozen layers keep their bits under every optimiser, clipped or not; the others move. */
static void test_frozen(void **state) {
  (void)state;
  static const char *const f[] = {"f1", "f2", "f3", NULL};
  struct setting *s = begin_nomu(THROUGH);
  tutti_tensors *weights = some_weights(s);
  s->job.initial = weights;
  s->job.frozen = f;
  s->values->epochs = 5;
  s->values->learning_rate = 0.01;
  for (int k = 0; k < 2 * CPU_OPTIMISERS; k++) {
    s->values->optimiser = k / 2;
    s->values->gradient_clip = k % 2 ? 0.1 : 0;
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
    for (size_t i = 0; i < tutti_tensors_count(weights); i++) {
      const char *name = tutti_tensors_at(weights, i)->name;
      assert_int_equal(same_tensor(weights, s->outcome.weights, name), name[0] == 'f');
    }
  }
  tutti_tensors_destroy(weights);
  end(s);
}

/* With the gradient stopped, f learns as if it were alone: with the same draws it ends the same without r's terms. */
static void test_stopped_leaves_f_alone(void **state) {
  (void)state;
  static const char *const r[] = {"r1", "r2", "r3", NULL};
  struct setting *s = begin_nomu(STOPPED);
  s->values->epochs = 40;
  s->values->learning_rate = 0.01;
  s->values->keep = CPU_KEEP_LAST;
  train(s);
  tutti_tensors *both = s->outcome.weights;
  s->outcome.weights = NULL;
  s->job.frozen = r;
  train(s);
  for (size_t i = 0; i < tutti_tensors_count(both); i++) {
    const char *name = tutti_tensors_at(both, i)->name;
    assert_int_equal(same_tensor(both, s->outcome.weights, name), name[0] == 'f');
  }
  tutti_tensors_destroy(both);
  end(s);
}

static void refuses(struct setting *s, const char *part) {
  forget(s);
  assert_int_not_equal(cpu_ops.train(s->backend, s->context, &s->job, &s->outcome), TUTTI_OK);
  if (!strstr(tutti_error_message(s->context), part))
    fail_msg("expected \"%s\" in: %s", part, tutti_error_message(s->context));
  tutti_error_clear(s->context);
}

static void test_box(void **state) {
  (void)state;
  struct setting *s = begin_nomu(STOPPED);
  float other[6];
  s->job.box = box;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_true(trains_the_same(s));
  s->job.box = NULL;
  assert_false(trains_the_same(s));
  s->job.box = other;
  memcpy(other, box, sizeof box);
  other[1] = 0; /* some training rows lie outside */
  assert_false(trains_the_same(s));
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  other[1] = 6;
  refuses(s, "low < high in each feature: feature 1");
  other[1] = -INFINITY;
  refuses(s, "low < high in each feature: feature 1");
  end(s);
}

/* --- artificial points on a grid --- */

static double number_of(const tutti_tensors *weights, const char *name) {
  return (double)*(const float *)tutti_tensors_find(weights, name)->data;
}

/* Lines f and r over one input: the points of the loss go from one end of the box to the other, in each step. */
static void check_grid(int32_t count) {
  static const float x[] = {-1, 0.25f, 2}, y[] = {0.5f, -1, 3}, ends[] = {-2, 3};
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  tutti_tensors *gradient;
  tutti_split *split;
  uint32_t outputs[2];
  double loss, expected = 0, push = 0;
  s->task.input = (struct tutti_shape){1, 1, 1};
  s->task.head = TUTTI_OP_HEAD_NOMU;
  OK(tutti_split_create(s->context, "train", 3, s->task.input, 1, x, y, NULL, &split));
  train_on(s, split);
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  for (size_t i = 0; i < 2; i++)
    OK(tutti_network_add_dense(s->context, s->network, i == 0 ? "f" : "r", 0, 1, TUTTI_ACTIVATION_LINEAR, &outputs[i]));
  add(s, s->network, TUTTI_OP_HEAD_NOMU, NULL, 2, outputs,
      TUTTI_ATTRIBUTES({"pi_sqr", 0.7}, {"pi_exp", 5}, {"c_exp", 3}, {"artificial", count},
                       {"points", TUTTI_NOMU_POINTS_GRID}));
  s->job.network = s->network;
  s->job.validation = NULL;
  s->job.box = ends;
  s->values->batch_size = 0;
  s->values->keep = CPU_KEEP_LAST;
  tutti_tensors *weights = some_weights(s);
  const double w = number_of(weights, "f/weight"), b = number_of(weights, "f/bias"), v = number_of(weights, "r/weight"),
               c = number_of(weights, "r/bias");
  for (size_t i = 0; i < 3; i++)
    expected += pow(w * (double)x[i] + b - (double)y[i], 2) + 0.7 * pow(v * (double)x[i] + c, 2);
  for (int32_t j = 0; j < count; j++)
    push += exp(-3 * (c + v * (count == 1 ? 0.5 : -2 + 5.0 * j / (count - 1))));
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, weights, &loss, &gradient));
  assert_close(loss, expected + 5 * push / count, 1e-6, 0);
  tutti_tensors_destroy(gradient);
  /* Another seed draws other weights to begin with, and nothing else. */
  s->job.initial = weights;
  s->values->epochs = 9;
  s->values->learning_rate = 0.01;
  train(s);
  assert_true(s->epochs[8].train_loss < s->epochs[0].train_loss);
  s->job.seed++;
  assert_true(trains_the_same(s));
  tutti_tensors_destroy(weights);
  end(s);
}

static void test_grid(void **state) {
  (void)state;
  check_grid(1);
  check_grid(2);
  check_grid(9);
}

/* Of two inputs, a grid of so few points would be none. */
static void test_grid_refused(void **state) {
  (void)state;
  struct setting *s = begin_nomu(STOPPED);
  uint32_t ends[2] = {0};
  tutti_network *network;
  OK(tutti_network_create(s->context, s->task.input, &network));
  for (size_t i = 0; i < 2; i++)
    OK(tutti_network_add_dense(s->context, network, NULL, 0, 1, TUTTI_ACTIVATION_LINEAR, &ends[i]));
  assert_int_equal(tutti_network_add(s->context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, ends,
                                     TUTTI_ATTRIBUTES({"points", TUTTI_NOMU_POINTS_GRID}), NULL),
                   TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(s->context), "of one input, and this one has 3"));
  tutti_network_destroy(network);
  end(s);
}

/* --- the readout --- */

static void test_readout(void **state) {
  (void)state;
  json_t *golden = golden_load("nomu_loss"), *cases = golden_get(golden, "readout");
  for (size_t n = 0; n < json_array_size(cases); n++) {
    json_t *one = golden_at(cases, n);
    size_t count;
    double *z = golden_doubles(golden_get(one, "z"), &count), *phi = golden_doubles(golden_get(one, "phi"), NULL);
    struct cpu_attributes a = {.l_min = golden_number_of(one, "lmin"), .l_max = golden_number_of(one, "lmax")};
    for (size_t i = 0; i < count; i++)
      assert_close(backend_cpu_readout(&a, z[i]), phi[i], 1e-12, 4e-16); /* 1 - exp, as golden, cancels */
    free(z), free(phi);
  }
  json_decref(golden);
}

/* Predictions carry it, squared. */
static void test_predictions(void **state) {
  (void)state;
  struct setting *s = begin_nomu(THROUGH);
  tutti_tensors *weights = some_weights(s);
  double at[PARAMETERS], f, r;
  float out[2 * HELD];
  to_doubles(weights, at);
  OK(cpu_ops.predict(s->backend, s->context, &s->job, weights, s->validation, out));
  for (size_t i = 0; i < HELD; i++) {
    outputs(at, at, tutti_split_inputs(s->validation) + i * FEATURES, &f, &r);
    assert_close((double)out[2 * i], f, 1e-5, 1e-6);
    assert_close(sqrt((double)out[2 * i + 1]), 2 * (1 - exp(-(fmax(r, 0) + 1e-3) / 2)), 1e-4, 1e-6);
  }
  tutti_tensors_destroy(weights);
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradient_through),
      cmocka_unit_test(test_gradient_stopped),
      cmocka_unit_test(test_gradient_frozen),
      cmocka_unit_test(test_frozen),
      cmocka_unit_test(test_stopped_leaves_f_alone),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_grid_refused),
      cmocka_unit_test(test_readout),
      cmocka_unit_test(test_predictions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
