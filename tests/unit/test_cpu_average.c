/* test_cpu_average.c - weights averaged over the last epochs by backend cpu: against the mean of what shorter trainings
   end with; what is validated and kept; batch norm's statistics against those of all training rows, with numbers
   rounded as in training. */
#include "backends/cpu/cpu.c"

#include "bfloat_rounded.h"
#include "cpu_training.h"
#include "golden.h"
#include "tests/attributes.h"

enum { EPOCHS = 6, UNITS = 5, WIDE = 16 };

static const float *tensor(const tutti_tensors *tensors, const char *name) {
  const struct tutti_tensor *found = tutti_tensors_find(tensors, name);
  assert_non_null(found);
  return found->data;
}

static struct setting *begin_average(void) {
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->values->epochs = EPOCHS;
  s->values->keep = CPU_KEEP_LAST;
  return s;
}

/* The weights after each epoch: those that a training of so many ends with. */
static void train_each(struct setting *s, tutti_tensors *after[EPOCHS]) {
  double average = s->values->average;
  s->values->average = 0;
  for (int e = 1; e <= EPOCHS; e++) {
    s->values->epochs = e;
    train(s);
    OK(tutti_tensors_copy(s->context, s->outcome.weights, &after[e - 1]));
  }
  s->values->average = average;
}

/* Are the tensor's numbers the means of those after the last `count` epochs? */
static void assert_mean(const tutti_tensors *found, size_t index, tutti_tensors *const after[EPOCHS], size_t count) {
  const struct tutti_tensor *tensor = tutti_tensors_at(found, index);
  for (size_t i = 0; i < tensor->bytes / sizeof(float); i++) {
    double mean = 0;
    for (size_t e = EPOCHS - count; e < EPOCHS; e++)
      mean += (double)((const float *)tutti_tensors_at(after[e], index)->data)[i] / (double)count;
    assert_close((double)((const float *)tensor->data)[i], mean, 1e-6, 1e-6);
  }
}

static void destroy_each(tutti_tensors *after[EPOCHS]) {
  for (size_t e = 0; e < EPOCHS; e++)
    tutti_tensors_destroy(after[e]);
}

static void test_mean(void **state) {
  (void)state;
  struct setting *s = begin_average();
  tutti_tensors *after[EPOCHS];
  train_each(s, after);
  const struct {
    double share;
    size_t epochs;
  } cases[] = {{0.5, 3}, {1.0 / 3, 2}, {0.58, 3}, {0.59, 4}, {1, 6}, {1e-9, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    s->values->average = cases[k].share;
    train(s);
    assert_int_equal(s->outcome.best_epoch, EPOCHS);
    for (size_t i = 0; i < tutti_tensors_count(s->outcome.weights); i++)
      assert_mean(s->outcome.weights, i, after, cases[k].epochs);
  }
  assert_true(same_weights(s->outcome.weights, after[EPOCHS - 1])); /* of one epoch, to the bit */
  destroy_each(after);
  end(s);
}

/* The loss on the validation rows of what was kept. */
static double held_loss(struct setting *s) {
  float out[2 * HELD];
  double loss = 0;
  OK(cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out));
  for (size_t r = 0; r < HELD; r++) {
    double off = (double)tutti_split_targets(s->validation)[r] - (double)out[2 * r];
    loss += off * off / HELD;
  }
  return loss;
}

static void test_validated_and_kept(void **state) {
  (void)state;
  struct setting *s = begin_average();
  double before[EPOCHS], train_loss[EPOCHS];
  s->values->learning_rate = 0.05; /* not all is better than what was before */
  train(s);
  for (size_t e = 0; e < EPOCHS; e++) {
    before[e] = s->epochs[e].validation_loss;
    train_loss[e] = s->epochs[e].train_loss;
  }
  s->values->average = 0.5;
  train(s);
  for (size_t e = 0; e < EPOCHS; e++) {
    assert_true(s->epochs[e].train_loss == train_loss[e]); /* training goes on from the weights themselves */
    assert_true((s->epochs[e].validation_loss == before[e]) == (e <= EPOCHS / 2)); /* the first average is of one */
  }
  assert_close(held_loss(s), s->epochs[EPOCHS - 1].validation_loss, 1e-5, 0);
  assert_true(trains_the_same(s));
  /* the best of all epochs, whether it was averaged or not */
  s->values->keep = CPU_KEEP_BEST;
  for (int k = 0; k < 2; k++) {
    s->values->average = k ? 0.99 : 0.2;
    train(s);
    size_t best = 0;
    for (size_t e = 0; e < EPOCHS; e++)
      best = s->epochs[e].validation_loss < s->epochs[best].validation_loss ? e : best;
    assert_int_equal(s->outcome.best_epoch, best + 1);
    assert_close(held_loss(s), s->epochs[best].validation_loss, 1e-5, 0);
  }
  /* a training that is stopped keeps what it has averaged so far */
  s->values->keep = CPU_KEEP_LAST;
  s->values->average = 0.5;
  s->stop_after = 5;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_PRUNED);
  assert_close(held_loss(s), s->epochs[4].validation_loss, 1e-5, 0);
  end(s);
}

/* A dense layer, a batch norm, the head. */
static void norm_network(struct setting *s) {
  struct attributes attributes = default_attributes();
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, "dense", 0, UNITS, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(add_with(s->context, s->network, TUTTI_OP_BATCH_NORM, "norm", 1, &layer, &attributes, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
}

/* What the dense layer of so many units says of a row, for one unit. */
static double dense_of(const struct setting *s, size_t row, size_t unit, size_t units) {
  const float *w = tensor(s->outcome.weights, "dense/weight"), *x = tutti_split_inputs(s->train) + row * FEATURES;
  double sum = (double)tensor(s->outcome.weights, "dense/bias")[unit];
  for (size_t f = 0; f < FEATURES; f++)
    sum += (double)w[f * units + unit] * (double)x[f];
  return sum;
}

/* Statistics of the dense layer with the averaged weights: the mean of all rows, and the mean of the mini-batches'
   unbiased variances, each as often as it has rows. */
static void assert_norms(const struct setting *s, size_t batch) {
  for (size_t unit = 0; unit < UNITS; unit++) {
    double mean = 0, variance = 0;
    for (size_t begin = 0; begin < ROWS; begin += batch) {
      size_t count = ROWS - begin < batch ? ROWS - begin : batch;
      double sum = 0, squares = 0;
      for (size_t r = begin; r < begin + count; r++)
        sum += dense_of(s, r, unit, UNITS);
      for (size_t r = begin; r < begin + count; r++)
        squares += pow(dense_of(s, r, unit, UNITS) - sum / (double)count, 2);
      mean += sum / ROWS;
      variance += squares / (double)(count - 1) * (double)count / ROWS;
    }
    assert_close((double)tensor(s->outcome.weights, "norm/mean")[unit], mean, 1e-5, 1e-5);
    assert_close((double)tensor(s->outcome.weights, "norm/variance")[unit], variance, 1e-5, 1e-5);
  }
}

static void test_batch_norm(void **state) {
  (void)state;
  struct setting *s = begin_average();
  const size_t batches[] = {0, 32};
  norm_network(s);
  for (size_t k = 0; k < 2; k++) {
    tutti_tensors *after[EPOCHS];
    s->values->batch_size = (int64_t)batches[k];
    train_each(s, after);
    s->values->average = 0.5;
    train(s);
    for (size_t i = 0; i < tutti_tensors_count(s->outcome.weights); i++) {
      const char *name = tutti_tensors_at(s->outcome.weights, i)->name;
      if (strcmp(name, "norm/mean") != 0 && strcmp(name, "norm/variance") != 0)
        assert_mean(s->outcome.weights, i, after, 3);
    }
    assert_norms(s, batches[k] ? batches[k] : ROWS);
    assert_close(held_loss(s), s->epochs[EPOCHS - 1].validation_loss, 1e-5, 0);
    destroy_each(after);
  }
  end(s);
}

/* What is drawn in training is not drawn where statistics are measured: with dropout in front, they are of all
   units. */
static void test_batch_norm_without_dropout(void **state) {
  (void)state;
  struct setting *s = begin_average();
  struct attributes attributes = default_attributes();
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, "dense", 0, UNITS, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, "dropout", layer, 0.5, &layer));
  OK(add_with(s->context, s->network, TUTTI_OP_BATCH_NORM, "norm", 1, &layer, &attributes, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
  s->values->average = 0.5;
  train(s);
  assert_norms(s, 32);
  end(s);
}

/* The mean over the training rows of what the second of two dense layers, with relu between them, says for one unit:
   with its inputs and weights as they are, or rounded. */
static double mean_of_second(const struct setting *s, size_t unit, float round(float)) {
  const float *w = tensor(s->outcome.weights, "second/weight");
  double mean = (double)tensor(s->outcome.weights, "second/bias")[unit];
  for (size_t r = 0; r < ROWS; r++)
    for (size_t k = 0; k < WIDE; k++)
      mean += (double)round((float)fmax(0, dense_of(s, r, k, WIDE))) * (double)round(w[k * WIDE + unit]) / ROWS;
  return mean;
}

static float as_it_is(float x) { return x; }

/* A training with precision = bfloat16 rounds where it measures, too: the layers are as wide as it takes. */
static void test_batch_norm_of_rounded_products(void **state) {
  (void)state;
  struct setting *s = begin_average();
  struct attributes attributes = default_attributes();
  double apart = 0;
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, "dense", 0, WIDE, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_dense(s->context, s->network, "second", layer, WIDE, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(add_with(s->context, s->network, TUTTI_OP_BATCH_NORM, "norm", 1, &layer, &attributes, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
  s->values->batch_size = 0;
  s->values->average = 0.5;
  s->values->precision = CPU_BFLOAT16;
  train(s);
  for (size_t unit = 0; unit < WIDE; unit++) {
    double with = mean_of_second(s, unit, rounded), without = mean_of_second(s, unit, as_it_is);
    assert_close((double)tensor(s->outcome.weights, "norm/mean")[unit], with, 0,
                 5e-5); /* a few halves fall otherwise */
    apart += fabs(with - without) / WIDE;
  }
  assert_true(apart > 1e-4); /* more than the bound above */
  end(s);
}

static void test_no_allocation(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  norm_network(s);
  s->values->average = 1;
  check_no_allocation(s);
  end(s);
}

static void test_refused(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 4, TUTTI_ACTIVATION_TANH);
  s->values->optimiser = CPU_LBFGS;
  s->values->average = 0.25;
  expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE,
         "backend.average: iterations of lbfgs go down to one point");
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mean),
      cmocka_unit_test(test_validated_and_kept),
      cmocka_unit_test(test_batch_norm),
      cmocka_unit_test(test_batch_norm_without_dropout),
      cmocka_unit_test(test_batch_norm_of_rounded_products),
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
