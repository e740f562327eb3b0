/* test_cpu_train.c - whole trainings by backend cpu: what is learnt, repeated, kept and stopped; what is refused; and
   that a step allocates nothing. */
#include "backends/cpu/cpu.c"

#include "cpu_training.h"
#include "golden.h"
#include "tests/attributes.h"

/* --- tests --- */

static void test_table(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  assert_int_equal(tutti_plugin()->kind, TUTTI_KIND_BACKEND);
  OK(tutti_params_check(s->context, &cpu_descriptor.params));
  assert_int_equal(s->values->batch_size, 32);
  assert_int_equal(s->values->optimiser, CPU_ADAM);
  for (size_t i = 0; i < CPU_PARAMS; i++)
    assert_true(strlen(backend_cpu_params[i].doc) > 20);
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    assert_true(cpu_ops.supports(s->backend, (enum tutti_op)op));
  assert_false(cpu_ops.supports(s->backend, TUTTI_OP_COUNT));
  end(s);
}

static const char *optimiser_name(int optimiser) {
  return tutti_params_find(&cpu_descriptor.params, "optimiser")->choices[optimiser];
}

static void test_learns(void **state) {
  (void)state;
  const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR, TUTTI_OP_HEAD_SOFTMAX};
  const double good[] = {0.6, 0.15, 0.65};
  for (size_t h = 0; h < 3; h++)
    for (int o = 0; o < CPU_OPTIMISERS; o++) {
      struct setting *s = begin(heads[h]);
      s->values->optimiser = o;
      s->values->learning_rate = o == CPU_SGD || o == CPU_ADAGRAD ? 0.05 : o == CPU_ADADELTA ? 1 : 0.005;
      s->values->epochs = 60;
      train(s);
      if (s->outcome.state != TUTTI_STATE_FINISHED)
        fail_msg("%s, head %zu: %s", optimiser_name(o), h, s->outcome.failure);
      assert_int_equal(s->seen, 60);
      assert_int_equal(s->outcome.epochs, 60);
      assert_int_equal(s->outcome.steps, 60 * 7);
      double best = INFINITY;
      uint32_t best_epoch = 0;
      for (size_t e = 0; e < s->seen; e++)
        if (s->epochs[e].validation_loss < best) {
          best = s->epochs[e].validation_loss;
          best_epoch = s->epochs[e].epoch;
        }
      if (best > good[h])
        fail_msg("%s, head %zu: best loss %g", optimiser_name(o), h, best);
      assert_int_equal(s->outcome.best_epoch, best_epoch);
      /* The kept weights are those of the best epoch: predictions give that epoch's loss. */
      size_t width = tutti_predictions_width(s->task.kind, s->task.outputs);
      float out[HELD * 3];
      double loss = 0;
      OK(cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out));
      for (size_t r = 0; r < HELD; r++) {
        const float *p = out + r * width;
        if (h == 2) {
          loss -= log((double)p[tutti_split_labels(s->validation)[r]]) / HELD;
        } else {
          double d = (double)tutti_split_targets(s->validation)[r] - (double)p[0], v = (double)p[1];
          loss += (h == 1 ? d * d : 0.5 * log(2 * M_PI * v) + d * d / (2 * v)) / HELD;
        }
      }
      assert_close(loss, best, 1e-5, 1e-5);
      end(s);
    }
}

static void test_same_bits(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  train(s);
  assert_true(trains_the_same(s));
  s->job.trial = 77; /* the number of the trial says nothing */
  s->job.run_seed = 78;
  assert_true(trains_the_same(s));
  s->job.seed = 4;
  assert_false(trains_the_same(s));
  end(s);
}

/* Mini-batches of the run: with the weights given and no dropout, the candidate's seed no longer matters. */
static void test_shuffle(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 8, TUTTI_ACTIVATION_RELU);
  s->values->epochs = 2;
  train(s);
  tutti_tensors *initial;
  OK(tutti_tensors_copy(s->context, s->outcome.weights, &initial));
  s->job.initial = initial;
  s->values->shuffle = CPU_SHUFFLE_RUN;
  train(s);
  assert_false(same_weights(initial, s->outcome.weights)); /* it went on from there */
  s->job.seed++;
  assert_true(trains_the_same(s));
  s->job.run_seed++;
  assert_false(trains_the_same(s));
  s->job.run_seed--;
  s->values->shuffle = CPU_SHUFFLE_TRIAL;
  assert_false(trains_the_same(s));
  tutti_tensors_destroy(initial);
  end(s);
}

static float *values_of(const tutti_tensors *tensors, const char *name) {
  const struct tutti_tensor *tensor = tutti_tensors_find(tensors, name);
  assert_non_null(tensor);
  return tensor->data;
}

static double seen_layers;
static void see_layers(void *argument, const char *name, double value) {
  (void)argument;
  assert_string_equal(name, "layers-from-parent");
  seen_layers = value;
}

/* A copy of a set with one tensor left out (NULL: none), or, with rank 1, one long row in place of a table. */
static tutti_tensors *copy_but(struct setting *s, const tutti_tensors *from, const char *name, size_t rank) {
  tutti_tensors *copy;
  OK(tutti_tensors_create(s->context, &copy));
  for (size_t i = 0; i < tutti_tensors_count(from); i++) {
    const struct tutti_tensor *tensor = tutti_tensors_at(from, i);
    bool named = strcmp(tensor->name, name) == 0;
    size_t flat = tensor->bytes / sizeof(float);
    float *values;
    if (named && rank == 0)
      continue;
    OK(tutti_tensors_add(s->context, copy, tensor->name, tensor->element, named ? rank : tensor->rank,
                         named ? &flat : tensor->shape, &values));
    memcpy(values, tensor->data, tensor->bytes);
  }
  return copy;
}

/* A layer starts with the other network's weights if it has all of them, in its shapes; else with its own draw. A step
   length of nothing shows where it started. */
static void test_warm(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 8, TUTTI_ACTIVATION_RELU);
  s->values->epochs = 1;
  s->values->learning_rate = 1e-100; /* nothing, in single precision */
  train(s);
  tutti_tensors *own = s->outcome.weights, *other;
  s->outcome.weights = NULL;
  char first[64], head[64];
  (void)snprintf(first, sizeof first, "%s", tutti_tensors_at(own, 0)->name);
  (void)snprintf(head, sizeof head, "%s", tutti_tensors_at(own, tutti_tensors_count(own) - 1)->name);
  s->job.seed++;
  train(s);
  other = s->outcome.weights;
  s->outcome.weights = NULL;
  s->job.seed--;
  assert_memory_not_equal(values_of(own, first), values_of(other, first), sizeof(float));
  values_of(other, head)[0] = 3; /* the head's bias */
  s->job.warm = true;
  s->job.measure = see_layers;
  for (size_t rank = 0; rank < 2; rank++) {
    const struct tutti_tensor *table = tutti_tensors_find(own, first);
    tutti_tensors *part = copy_but(s, other, first, rank);
    s->job.initial = part;
    train(s);
    assert_true(seen_layers == 1);
    assert_memory_equal(values_of(s->outcome.weights, first), values_of(own, first), table->bytes);
    assert_true(values_of(s->outcome.weights, head)[0] == 3);
    tutti_tensors_destroy(part);
  }
  s->job.initial = other;
  train(s);
  assert_true(seen_layers == 2);
  assert_true(same_weights(s->outcome.weights, other));
  tutti_tensors_destroy(own);
  tutti_tensors_destroy(other);
  end(s);
}

static void test_no_allocation(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  s->values->gradient_clip = 1;
  check_no_allocation(s);
  end(s);
}

/* The features as an image of one row, through what images have. */
static void test_no_allocation_for_images(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_SOFTMAX);
  const enum tutti_op ops[] = {TUTTI_OP_CONV2D,       TUTTI_OP_BATCH_NORM,        TUTTI_OP_MAX_POOL,
                               TUTTI_OP_AVERAGE_POOL, TUTTI_OP_FACTORISED_REDUCE, TUTTI_OP_GLOBAL_POOL};
  struct attributes attributes = default_attributes();
  uint32_t layer = 0;
  tutti_split_destroy(s->train);
  tutti_split_destroy(s->validation);
  tutti_network_destroy(s->network);
  s->task.input = (struct tutti_shape){1, FEATURES, 1};
  s->job.train = s->train = make_split(s, "train", ROWS);
  s->job.validation = s->validation = make_split(s, "validation", HELD);
  attributes.units = 8;
  attributes.kernel_height = attributes.kernel_width = 3;
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    OK(add_with(s->context, s->network, ops[i], NULL, 1, &layer, &attributes, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
  s->values->gradient_clip = 1;
  check_no_allocation(s);
  end(s);
}

static void test_schedules(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->values->epochs = 10;
  s->values->schedule = CPU_SCHEDULE_COSINE;
  s->values->schedule_minimum = 0.001;
  train(s);
  for (size_t e = 0; e < 10; e++)
    assert_close(s->epochs[e].learning_rate, 0.001 + 0.009 * 0.5 * (1 + cos(M_PI * (double)e / 10)), 1e-12, 0);
  s->values->schedule = CPU_SCHEDULE_STEP;
  s->values->schedule_epochs = 3;
  s->values->schedule_factor = 0.2;
  train(s);
  const double steps[] = {0.01, 0.01, 0.01, 0.002, 0.002, 0.002, 0.001, 0.001, 0.001, 0.001};
  for (size_t e = 0; e < 10; e++)
    assert_close(s->epochs[e].learning_rate, steps[e], 1e-12, 0);
  /* Nothing is ever an improvement of a million: the rate falls every second epoch. */
  s->values->schedule = CPU_SCHEDULE_PLATEAU;
  s->values->schedule_epochs = 2;
  s->values->schedule_factor = 0.5;
  s->values->schedule_minimum = 0;
  s->values->plateau_min_delta = 1e6;
  train(s);
  for (size_t e = 0; e < 10; e++)
    assert_close(s->epochs[e].learning_rate, 0.01 * pow(0.5, e < 3 ? 0 : (double)((e - 1) / 2)), 1e-12, 0);
  s->values->schedule_minimum = 0.004;
  train(s);
  for (size_t e = 0; e < 10; e++)
    assert_close(s->epochs[e].learning_rate, e < 3 ? 0.01 : e < 5 ? 0.005 : 0.004, 1e-12, 0);
  end(s);
}

static void test_stopping(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->values->epochs = 200;
  s->values->early_stopping = 3;
  s->values->learning_rate = 0.05;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_true(s->outcome.epochs < 200);
  assert_int_equal(s->outcome.epochs, s->outcome.best_epoch + 3);
  s->values->keep = CPU_KEEP_LAST;
  assert_false(trains_the_same(s));
  assert_int_equal(s->outcome.best_epoch, s->outcome.epochs);
  /* progress says no */
  s->stop_after = 2;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_PRUNED);
  assert_int_equal(s->outcome.epochs, 2);
  assert_non_null(s->outcome.weights);
  end(s);
}

/* Of epochs with the same loss the first is kept: nothing is gained by more training. */
static void test_equal_losses(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 8, TUTTI_ACTIVATION_RELU);
  s->values->learning_rate = 1e-100; /* nothing, in single precision */ /* no weight changes */
  s->values->epochs = 20;
  s->values->early_stopping = 4;
  train(s);
  assert_true(s->epochs[0].validation_loss == s->epochs[4].validation_loss); /* or nothing is tested */
  assert_int_equal(s->outcome.best_epoch, 1);
  assert_int_equal(s->outcome.epochs, 5);
  end(s);
}

static void test_without_validation(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  s->job.validation = NULL;
  s->job.progress = NULL;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  s->job.progress = watch;
  train(s);
  assert_true(isnan(s->epochs[0].validation_loss));
  double best = INFINITY;
  uint32_t epoch = 0;
  for (size_t e = 0; e < s->seen; e++)
    if (s->epochs[e].train_loss < best) {
      best = s->epochs[e].train_loss;
      epoch = s->epochs[e].epoch;
    }
  assert_int_equal(s->outcome.best_epoch, epoch);
  end(s);
}

static void test_batches(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  const int64_t sizes[] = {1, 3, 17, 202, 203, 0, 100000};
  const uint64_t steps[] = {203, 68, 12, 2, 1, 1, 1};
  s->values->epochs = 3;
  s->values->learning_rate = 0.001;
  for (size_t i = 0; i < 7; i++) {
    s->values->batch_size = sizes[i];
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
    assert_int_equal(s->outcome.steps, 3 * steps[i]);
    assert_true(s->epochs[2].train_loss < s->epochs[0].train_loss);
  }
  end(s);
}

static void test_initialisers(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  for (int i = CPU_GLOROT_UNIFORM; i <= CPU_PYTORCH; i++) {
    struct cpu_plan *plan;
    tutti_network *network;
    uint32_t layer;
    OK(tutti_network_create(s->context, s->task.input, &network));
    OK(tutti_network_add_dense(s->context, network, NULL, 0, 200, TUTTI_ACTIVATION_RELU, &layer));
    OK(tutti_network_add_dense(s->context, network, NULL, layer, 300, TUTTI_ACTIVATION_RELU, &layer));
    OK(tutti_network_add_head(s->context, network, layer, &s->task));
    s->values->initialiser = i;
    OK(backend_cpu_plan_create(s->context, backend_cpu_kernels(TUTTI_CPU_BASELINE), network, &s->task, 1, false,
                               &plan));
    backend_cpu_weights_draw(plan, s->values, 5);
    const struct cpu_segment *middle = &plan->segments[2], *bias = &plan->segments[3];
    assert_int_equal(middle->rows, 200);
    const double variance[] = {2.0 / 500, 2.0 / 500, 2.0 / 200,       2.0 / 200,
                               1.0 / 200, 1.0 / 200, 0.05 * 0.05 / 3, 1.0 / 600};
    double squares = plan->kernels->sum_squares(200 * middle->ld, plan->weights + middle->offset), largest = 0;
    assert_close(squares / 60000, variance[i], 0.03, 0);
    for (size_t k = 0; k < 200 * middle->ld; k++)
      largest = fmax(largest, fabs((double)plan->weights[middle->offset + k]));
    bool normal = i == CPU_GLOROT_NORMAL || i == CPU_HE_NORMAL || i == CPU_LECUN_NORMAL;
    assert_int_equal(largest > 1.001 * sqrt(3 * variance[i]), normal);
    double biases = plan->kernels->sum_squares(bias->ld, plan->weights + bias->offset);
    assert_close(biases / 300, i == CPU_UNIFORM || i == CPU_PYTORCH ? variance[i] : 0, 0.2, 0);
    backend_cpu_plan_destroy(plan);
    tutti_network_destroy(network);
  }
  end(s);
}

static void test_nomu(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  const struct tutti_attribute head[] = {{"pi_sqr", 0.1},  {"pi_exp", 0.01},   {"c_exp", 30},
                                         {"margin", 0.05}, {"artificial", 64}, {NULL, 0}};
  s->task.head = TUTTI_OP_HEAD_NOMU;
  tutti_network *network;
  uint32_t mean, raw;
  OK(tutti_network_create(s->context, s->task.input, &network));
  OK(tutti_network_add_dense(s->context, network, NULL, 0, 32, TUTTI_ACTIVATION_RELU, &mean));
  OK(tutti_network_add_dense(s->context, network, NULL, 0, 32, TUTTI_ACTIVATION_RELU, &raw));
  OK(tutti_network_add_dense(s->context, network, NULL, mean, 1, TUTTI_ACTIVATION_LINEAR, &mean));
  OK(tutti_network_add_dense(s->context, network, NULL, raw, 1, TUTTI_ACTIVATION_LINEAR, &raw));
  OK(tutti_network_add(s->context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, (uint32_t[]){mean, raw}, head, NULL));
  s->job.network = network;
  s->values->batch_size = 0;
  s->values->epochs = 200;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_true(s->epochs[199].train_loss < 0.5 * s->epochs[0].train_loss);
  assert_true(trains_the_same(s));
  float out[2 * HELD];
  OK(cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out));
  for (size_t r = 0; r < HELD; r++)
    assert_true(out[2 * r + 1] >= 0);
  double loss;
  tutti_tensors *gradient;
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, s->outcome.weights, &loss, &gradient));
  assert_true(isfinite(loss));
  tutti_tensors_destroy(gradient);
  tutti_network_destroy(network);
  end(s);
}

/* --- what goes wrong --- */

static void test_divergence(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->values->optimiser = CPU_SGD;
  s->values->learning_rate = 1e10;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FAILED);
  assert_null(s->outcome.weights);
  assert_non_null(strstr(s->outcome.failure, "diverged"));
  assert_non_null(strstr(s->outcome.failure, "learning rate 1e+10"));
  assert_non_null(strstr(s->outcome.failure, "epoch 1"));
  /* NaN among the data */
  float x[2 * FEATURES] = {1, 2, NAN, 3, 4, 5}, y[2] = {1, 2};
  tutti_split *bad;
  OK(tutti_split_create(s->context, "bad", 2, s->task.input, 1, x, y, NULL, &bad));
  s->values->learning_rate = 0.01;
  s->job.train = bad;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FAILED);
  /* no rate has acted yet, so that none is blamed */
  assert_non_null(strstr(s->outcome.failure, "after 0 steps; are inputs, targets or initial weights very large?"));
  s->job.train = s->train;
  s->job.validation = bad;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(s->outcome.failure, "validation"));
  tutti_split_destroy(bad);
  end(s);
}

static void test_cancel(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->job.progress = cancel_now;
  forget(s);
  assert_int_equal(cpu_ops.train(s->backend, s->context, &s->job, &s->outcome), TUTTI_ERROR_CANCELLED);
  assert_null(s->outcome.weights);
  assert_int_equal(s->outcome.epochs, 3);
  end(s);
}

static void test_refusals(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  struct tutti_job job = s->job;
  forget(s);
  job.network = NULL;
  expect(s, cpu_ops.check(s->backend, s->context, &job), TUTTI_ERROR_USAGE, "has none");
  job = s->job;
  job.train = NULL;
  expect(s, cpu_ops.train(s->backend, s->context, &job, &s->outcome), TUTTI_ERROR_USAGE, "no rows");
  /* other inputs than the network's */
  float x[2] = {0}, y[1] = {0}, out[2];
  tutti_split *narrow;
  OK(tutti_split_create(s->context, "narrow", 1, (struct tutti_shape){1, 1, 2}, 1, x, y, NULL, &narrow));
  job = s->job;
  job.validation = narrow;
  expect(s, cpu_ops.train(s->backend, s->context, &job, &s->outcome), TUTTI_ERROR_USAGE, "1 x 1 x 2");
  train(s);
  expect(s, cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, narrow, out), TUTTI_ERROR_USAGE,
         "narrow");
  tutti_split_destroy(narrow);
  /* weights of another network: one tensor missing, one of another size */
  tutti_tensors *wrong;
  size_t size = 5;
  float *values;
  OK(tutti_tensors_create(s->context, &wrong));
  expect(s, cpu_ops.predict(s->backend, s->context, &s->job, wrong, s->validation, out), TUTTI_ERROR_USAGE,
         "no tensor");
  OK(tutti_tensors_add(s->context, wrong, tutti_tensors_at(s->outcome.weights, 0)->name, TUTTI_F32, 1, &size, &values));
  job = s->job;
  job.initial = wrong;
  struct tutti_outcome other = {.size = sizeof other};
  expect(s, cpu_ops.train(s->backend, s->context, &job, &other), TUTTI_ERROR_USAGE, "20 bytes");
  tutti_tensors_destroy(wrong);
  /* a head that the task does not ask for */
  struct tutti_task task = s->task;
  task.head = TUTTI_OP_HEAD_GAUSSIAN;
  job = s->job;
  job.task = &task;
  expect(s, cpu_ops.check(s->backend, s->context, &job), TUTTI_ERROR_USAGE, "head-gaussian");
  /* rows without targets, or with those of another task; a head of another width */
  tutti_split *bare;
  float rows[FEATURES] = {0};
  int32_t labels[1] = {0};
  for (int labelled = 0; labelled < 2; labelled++) {
    OK(tutti_split_create(s->context, "bare", 1, s->task.input, 1, rows, NULL, labelled ? labels : NULL, &bare));
    job = s->job;
    job.train = bare;
    expect(s, cpu_ops.train(s->backend, s->context, &job, &other), TUTTI_ERROR_USAGE, "bare has no targets");
    job.train = s->train;
    job.validation = bare;
    expect(s, cpu_ops.train(s->backend, s->context, &job, &other), TUTTI_ERROR_USAGE, "bare has no targets");
    tutti_split_destroy(bare);
  }
  task = s->task;
  task.outputs = 2;
  job = s->job;
  job.task = &task;
  expect(s, cpu_ops.check(s->backend, s->context, &job), TUTTI_ERROR_USAGE, "takes 1 numbers");
  /* inputs that are left out, and a layer that cannot leave them out */
  tutti_network *network;
  uint32_t layer = 0;
  task = s->task;
  task.encodings = 1;
  s->values->encodings = false;
  OK(tutti_network_create(s->context, s->task.input, &network));
  OK(tutti_network_add(s->context, network, TUTTI_OP_BATCH_NORM, "first", 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(s->context, network, layer, &s->task));
  job.network = network;
  expect(s, cpu_ops.check(s->backend, s->context, &job), TUTTI_ERROR_UNSUPPORTED, "layer first (batch-norm) reads");
  task.encodings = 0;
  OK(cpu_ops.check(s->backend, s->context, &job));
  tutti_network_destroy(network);
  end(s);
}

/* --- smoothed labels --- */

/* Rows of split `from`, all of this class. */
static tutti_split *of_class(struct setting *s, const tutti_split *from, int32_t class) {
  int32_t labels[ROWS];
  tutti_split *split;
  for (size_t r = 0; r < ROWS; r++)
    labels[r] = class;
  OK(tutti_split_create(s->context, "train", ROWS, s->task.input, 3, tutti_split_inputs(from), NULL, labels, &split));
  return split;
}

static tutti_tensors *gradient_on(struct setting *s, const tutti_split *rows, const tutti_tensors *weights,
                                  double *loss) {
  struct tutti_job job = s->job;
  tutti_tensors *gradient;
  job.train = rows;
  OK(cpu_ops.gradient(s->backend, s->context, &job, weights, loss, &gradient));
  return gradient;
}

/* Cross-entropy is linear in the target: that of a smoothed label is a mean of those of labels. Validation is as it
   was. */
static void test_smoothed_labels(void **state) {
  (void)state;
  enum { CLASSES = 3 };
  const double share = 0.3;
  struct setting *s = begin(TUTTI_OP_HEAD_SOFTMAX);
  tutti_tensors *gradients[CLASSES + 2];
  double losses[CLASSES + 2], expected;
  plain_network(s, 1, 7, TUTTI_ACTIVATION_TANH);
  s->values->epochs = 3;
  train(s);
  const tutti_tensors *weights = s->outcome.weights;
  for (int32_t c = 0; c < CLASSES; c++) {
    tutti_split *split = of_class(s, s->train, c);
    gradients[c] = gradient_on(s, split, weights, &losses[c]);
    tutti_split_destroy(split);
  }
  gradients[CLASSES] = gradient_on(s, s->train, weights, &losses[CLASSES]);
  s->values->label_smoothing = share;
  gradients[CLASSES + 1] = gradient_on(s, s->train, weights, &losses[CLASSES + 1]);
  expected = (1 - share) * losses[CLASSES];
  for (size_t c = 0; c < CLASSES; c++)
    expected += share / CLASSES * losses[c];
  assert_true(fabs(losses[CLASSES + 1] - expected) < 1e-6 && fabs(expected - losses[CLASSES]) > 0.01);
  for (size_t i = 0; i < tutti_tensors_count(weights); i++)
    for (size_t k = 0; k < tutti_tensors_at(weights, i)->bytes / sizeof(float); k++) {
      double parts[CLASSES + 2];
      for (size_t g = 0; g < CLASSES + 2; g++)
        parts[g] = (double)((const float *)tutti_tensors_at(gradients[g], i)->data)[k];
      expected = (1 - share) * parts[CLASSES] + share / CLASSES * (parts[0] + parts[1] + parts[2]);
      assert_true(fabs(parts[CLASSES + 1] - expected) < 1e-6);
    }
  for (size_t g = 0; g < CLASSES + 2; g++)
    tutti_tensors_destroy(gradients[g]);
  s->values->learning_rate = 1e-12;
  s->values->epochs = 1;
  train(s);
  const double smoothed = s->epochs[0].train_loss, validated = s->epochs[0].validation_loss;
  s->values->label_smoothing = 0;
  train(s);
  assert_true(fabs(s->epochs[0].validation_loss - validated) < 1e-9 && fabs(s->epochs[0].train_loss - smoothed) > 1e-4);
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),         cmocka_unit_test(test_learns),
      cmocka_unit_test(test_same_bits),     cmocka_unit_test(test_shuffle),
      cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_no_allocation_for_images),
      cmocka_unit_test(test_schedules),     cmocka_unit_test(test_stopping),
      cmocka_unit_test(test_equal_losses),  cmocka_unit_test(test_without_validation),
      cmocka_unit_test(test_batches),       cmocka_unit_test(test_initialisers),
      cmocka_unit_test(test_nomu),          cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_cancel),        cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_warm),          cmocka_unit_test(test_smoothed_labels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
