/* What the wrapper of backends checks and defaults: plugins that break their contract in every way that can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "kinds.h"

/* How the plugins below behave in the running test. */
static struct {
  bool refuse, no_ops, weightless;
  enum tutti_state state;
  size_t unread;
} act;

struct backend_config {
  int64_t epochs;
  int optimiser;
  double rate;
};
static const char *const optimisers[] = {"sgd", "adam", "nadam", NULL};
#define FIELD(member) .name = #member, .offset = offsetof(struct backend_config, member), .doc = "A field."
static const struct tutti_param backend_params[] = {
    {FIELD(epochs), .type = TUTTI_PARAM_INTEGER, .preset = "7", .min = 1, .max = 100},
    {FIELD(optimiser), .type = TUTTI_PARAM_CHOICE, .preset = "sgd", .choices = optimisers},
    {FIELD(rate), .type = TUTTI_PARAM_REAL, .preset = "0.25"}};

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op != TUTTI_OP_DROPOUT && !act.no_ops;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  (void)self;
  if (act.refuse)
    return TUTTI_ERROR_NUMERIC;
  outcome->state = act.state;
  outcome->value = (double)job->trial;
  memset(outcome->failure, 'x', sizeof outcome->failure);
  return act.weightless ? TUTTI_OK : tutti_tensors_create(context, &outcome->weights);
}

static enum tutti_status predict_rows(void *self, tutti_context *context, const struct tutti_job *job,
                                      const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)job, (void)weights, (void)split;
  *out = 1;
  return TUTTI_OK;
}

static const struct tutti_backend_ops backend_ops = {
    .size = sizeof backend_ops, .supports = supports, .train = train, .predict = predict_rows};
static const struct tutti_backend_ops value_ops = {.size = sizeof value_ops, .supports = supports, .train = train};

static size_t unread(void *self, const struct tutti_job *job) {
  (void)self, (void)job;
  return act.unread;
}
static const struct tutti_backend_ops partial_ops = {
    .size = sizeof partial_ops, .supports = supports, .train = train, .predict = predict_rows, .unread = unread};

static size_t capacity(void *self) {
  (void)self;
  return 2;
}

/* The last job is not told. */
static enum tutti_status train_all_but_one(void *self, tutti_context *context, size_t count,
                                           const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                           void (*done)(void *argument, size_t index), void *argument) {
  for (size_t i = 0; i + 1 < count; i++) {
    TUTTI_TRY(context, train(self, context, jobs[i], outcomes[i]));
    done(argument, i);
  }
  return TUTTI_OK;
}
static const struct tutti_backend_ops forgetful_ops = {.size = sizeof forgetful_ops,
                                                       .supports = supports,
                                                       .train = train,
                                                       .capacity = capacity,
                                                       .train_many = train_all_but_one};

/* A predictor whose answers the running test gives; each row's inputs are the test's, too. */
static struct {
  const float *out, *epistemic, *gradient; /* [2][2], [2], [2][4] */
  bool knows_training, tells;
  size_t rows;
} answer;

static enum tutti_status open_it(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, size_t rows, void **predictor) {
  (void)self, (void)context, (void)weights;
  answer.knows_training = job->train || job->validation;
  answer.rows = rows;
  *predictor = &answer;
  return act.refuse ? TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "no key") : TUTTI_OK;
}

static enum tutti_status ask_it(void *self, tutti_context *context, void *predictor, const struct tutti_query *query,
                                float *out) {
  (void)self, (void)context;
  assert_ptr_equal(predictor, &answer);
  memcpy(out, answer.out, query->rows * 2 * sizeof *out);
  if (query->epistemic)
    memcpy(query->epistemic, answer.epistemic, query->rows * sizeof *out);
  return TUTTI_OK;
}

static enum tutti_status ask_its_slope(void *self, tutti_context *context, void *predictor,
                                       const struct tutti_query *query, const struct tutti_slope *slope, float *out) {
  memcpy(slope->gradient, answer.gradient, query->rows * 4 * sizeof *out);
  return ask_it(self, context, predictor, query, out);
}

static void close_it(void *self, void *predictor) {
  (void)self;
  assert_ptr_equal(predictor, &answer);
  answer.rows = 0;
}

static bool tells_epistemic(void *self, const struct tutti_job *job) {
  (void)self, (void)job;
  return answer.tells;
}

static enum tutti_status predict_parts(void *self, tutti_context *context, const struct tutti_job *job,
                                       const tutti_tensors *weights, const tutti_split *split, float *out,
                                       float *epistemic) {
  (void)self, (void)context, (void)job, (void)weights, (void)split, (void)out, (void)epistemic;
  return TUTTI_OK;
}

static const struct tutti_backend_ops open_ops = {.size = sizeof open_ops,
                                                  .supports = supports,
                                                  .train = train,
                                                  .predict = predict_rows,
                                                  .open = open_it,
                                                  .ask = ask_it,
                                                  .close = close_it,
                                                  .tells_epistemic = tells_epistemic,
                                                  .predict_parts = predict_parts,
                                                  .ask_slope = ask_its_slope};

static const struct tutti_descriptor plugins[] = {
    KINDS_PLUGIN(TUTTI_KIND_BACKEND, "open", &open_ops),
    KINDS_PLUGIN(TUTTI_KIND_BACKEND, "valued", &value_ops),
    KINDS_PLUGIN(TUTTI_KIND_BACKEND, "partial", &partial_ops),
    KINDS_PLUGIN(TUTTI_KIND_BACKEND, "forgetful", &forgetful_ops),
    {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "fake"), .version = "1", .summary = "a test's", .source = "",
     .licence = "Apache-2.0", .params = TUTTI_PARAMS(backend_params, struct backend_config), .create = kinds_create,
     .destroy = tutti_free, .ops = &backend_ops},
};

static int setup(void **state) {
  (void)state;
  memset(&act, 0, sizeof act);
  memset(&answer, 0, sizeof answer);
  kinds_open(plugins, sizeof plugins / sizeof plugins[0]);
  return 0;
}

static struct tutti_task task_of(enum tutti_task_kind kind) {
  return (struct tutti_task){.size = sizeof(struct tutti_task), .kind = kind, .input = {1, 1, 4}, .outputs = 1};
}

static enum tutti_status make_backend(const char *name, enum tutti_task_kind kind, tutti_backend **made) {
  static struct tutti_task task;
  struct tutti_backend_setup setup_of = {.size = sizeof setup_of, .task = &task};
  task = task_of(kind);
  toy_put(&toy, "backend", TUTTI_KIND_BACKEND, name);
  return tutti_backend_create(toy.context, toy.host, "backend", &setup_of, made);
}

/* A choice goes by its text: its number differs between the recipe's list and the backend's. */
static void test_backend_configure(void **state) {
  (void)state;
  tutti_backend *made;
  tutti_config *config;
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  TOY_OK(&toy, tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){0.75, 0}, &config));
  const struct backend_config *set = tutti_config_values(config);
  assert_true(set->rate == 0.75 && set->optimiser == 2 && set->epochs == 7);
  tutti_config_destroy(config);
  /* What is inactive keeps the recipe's value. */
  TOY_OK(&toy, tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){NAN, NAN}, &config));
  set = tutti_config_values(config);
  assert_true(set->rate == 0.25 && set->optimiser == 0);
  tutti_config_destroy(config);
  TOY_OK(&toy, tutti_domain_add_text(toy.context, toy.hyperparameters, "epochs", "integer 90 110"));
  kinds_must_fail(tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){0.5, 1, 101}, &config),
                  TUTTI_ERROR_USAGE, "[hyperparameters] epochs: expected an integer in [1, 100]; found '101'");
  tutti_backend_destroy(made);
}

static void test_backend_train(void **state) {
  (void)state;
  tutti_backend *made;
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  struct tutti_job job = {.size = sizeof job, .task = &task, .trial = 4};
  struct tutti_outcome outcome = {.size = sizeof outcome};
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  TOY_OK(&toy, tutti_backend_train(toy.context, made, &job, &outcome));
  assert_int_equal(strlen(outcome.failure), sizeof outcome.failure - 1);
  tutti_tensors_destroy(outcome.weights);
  outcome.weights = NULL;
  act.weightless = true;
  kinds_must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_PLUGIN,
                  "backend fake broke its contract: train finished without weights");
  act.state = (enum tutti_state)9;
  kinds_must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_PLUGIN, "train gave state 9");
  act.refuse = true;
  tutti_error_clear(toy.context);
  kinds_must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_NUMERIC,
                  "backend fake failed (numeric) without saying why");
  tutti_backend_destroy(made);
}

static void on_done(void *argument, size_t index) { *(size_t *)argument = *(size_t *)argument * 10 + index + 1; }

static void test_backend_many(void **state) {
  (void)state;
  tutti_backend *made;
  struct tutti_task task = task_of(TUTTI_TASK_VALUE);
  struct tutti_job jobs[2] = {{.size = sizeof jobs[0], .task = &task, .trial = 4},
                              {.size = sizeof jobs[0], .task = &task, .trial = 8}};
  struct tutti_outcome outcomes[2] = {{.size = sizeof outcomes[0]}, {.size = sizeof outcomes[0]}};
  const struct tutti_job *const job_list[] = {&jobs[0], &jobs[1]};
  struct tutti_outcome *const outcome_list[] = {&outcomes[0], &outcomes[1]};
  size_t done = 0;
  act.weightless = true;
  TOY_OK(&toy, make_backend("valued", TUTTI_TASK_VALUE, &made));
  assert_int_equal(tutti_backend_capacity(made), 1);
  TOY_OK(&toy, tutti_backend_train_many(toy.context, made, 2, job_list, outcome_list, on_done, &done));
  assert_int_equal(done, 12);
  assert_true(outcomes[0].value == 4 && outcomes[1].value == 8);
  tutti_backend *forgetful;
  TOY_OK(&toy, make_backend("forgetful", TUTTI_TASK_VALUE, &forgetful));
  kinds_must_fail(tutti_backend_train_many(toy.context, forgetful, 2, job_list, outcome_list, on_done, &done),
                  TUTTI_ERROR_PLUGIN, "never called done for job 1 of 2");
  tutti_backend_destroy(forgetful);
  float out;
  double loss;
  tutti_tensors *slopes;
  kinds_must_fail(tutti_backend_predict(toy.context, made, &jobs[0], NULL, NULL, &out), TUTTI_ERROR_UNSUPPORTED,
                  "backend valued does not predict");
  kinds_must_fail(tutti_backend_gradient(toy.context, made, &jobs[0], NULL, &loss, &slopes), TUTTI_ERROR_UNSUPPORTED,
                  "backend valued does not give gradients");
  tutti_backend_destroy(made);
  kinds_must_fail(make_backend("valued", TUTTI_TASK_REGRESSION, &made), TUTTI_ERROR_USAGE,
                  "backend valued does not predict; it works without [data] only");
}

/* Inputs that a backend leaves out cost nothing; one that leaves out more than there are is refused. */
static void test_backend_unread(void **state) {
  (void)state;
  tutti_backend *made[2];
  tutti_network *network;
  uint32_t layer;
  double flops[3];
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  struct tutti_job job = {.size = sizeof job, .task = &task};
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made[0]));
  TOY_OK(&toy, make_backend("partial", TUTTI_TASK_REGRESSION, &made[1]));
  assert_int_equal(tutti_backend_unread(made[1], &job), 0); /* no network reads anything */
  TOY_OK(&toy, tutti_network_create(toy.context, task.input, &network));
  TOY_OK(&toy, tutti_network_add_dense(toy.context, network, NULL, 0, 5, TUTTI_ACTIVATION_LINEAR, &layer));
  job.network = network;
  act.unread = 3;
  for (size_t i = 0; i < 2; i++)
    TOY_OK(&toy, tutti_backend_flops(toy.context, made[i], &job, NULL, &flops[i]));
  assert_int_equal(tutti_backend_unread(made[0], &job), 0);
  assert_int_equal(tutti_backend_unread(made[1], &job), 3);
  assert_true(flops[0] == 4 * 5 * 2 + 5 && flops[1] == 1 * 5 * 2 + 5);
  act.unread = 4;
  kinds_must_fail(tutti_backend_flops(toy.context, made[1], &job, NULL, &flops[2]), TUTTI_ERROR_USAGE,
                  "4 of 4 inputs are to be left out");
  tutti_network_destroy(network);
  tutti_backend_destroy(made[0]);
  tutti_backend_destroy(made[1]);
}

static void test_backend_check(void **state) {
  (void)state;
  tutti_backend *made;
  tutti_network *network;
  uint32_t layer;
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  struct tutti_job job = {.size = sizeof job, .task = &task};
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  assert_true(tutti_backend_takes_networks(made));
  TOY_OK(&toy, tutti_network_create(toy.context, task.input, &network));
  TOY_OK(&toy, tutti_network_add_dense(toy.context, network, NULL, 0, 3, TUTTI_ACTIVATION_RELU, &layer));
  job.network = network;
  TOY_OK(&toy, tutti_backend_check(toy.context, made, &job));
  TOY_OK(&toy, tutti_network_add_dropout(toy.context, network, "drop", layer, 0.5, &layer));
  kinds_must_fail(tutti_backend_check(toy.context, made, &job), TUTTI_ERROR_USAGE,
                  "a layer that backend fake does not have: layer 3 'drop', op dropout");
  act.no_ops = true;
  assert_false(tutti_backend_takes_networks(made));
  tutti_network_destroy(network);
  tutti_backend_destroy(made);
}

/* Each row of an answer is checked: mean and variance, the model's own part, the gradient. */
static void test_predictor(void **state) {
  (void)state;
  static const float inputs[2][4], good[2][2] = {{1, 2}, {3, 4}}, parts[2] = {0, 4},
                                   slopes[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  static const float negative[2][2] = {{1, 2}, {3, -4}}, infinite[2][2] = {{1, 2}, {INFINITY, 4}}, more[2] = {0, 4.1F},
                     less[2] = {-0.1F, 4}, steep[2][4] = {{1, 2, 3, 4}, {5, 6, 7, NAN}};
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  tutti_split *rows;
  float out[2][2] = {{0}}, epistemic[2] = {9, 9}, gradient[2][4] = {{0}};
  tutti_backend *made;
  tutti_predictor *predictor;
  struct tutti_query query = {.size = sizeof query, .rows = 2, .inputs = inputs[0]};
  struct tutti_slope slope = {.size = sizeof slope, .by_out = good[0], .gradient = gradient[0]};
  TOY_OK(&toy, make_backend("open", TUTTI_TASK_REGRESSION, &made));
  TOY_OK(&toy,
         tutti_split_create(toy.context, "train", 2, task.input, 1, inputs[0], (const float[]){1, 2}, NULL, &rows));
  struct tutti_job job = {.size = sizeof job, .task = &task, .train = rows, .validation = rows};
  act.refuse = true;
  kinds_must_fail(tutti_predictor_open(toy.context, made, &job, NULL, 2, &predictor), TUTTI_ERROR_NUMERIC, "no key");
  assert_null(predictor);
  act.refuse = false;
  TOY_OK(&toy, tutti_predictor_open(toy.context, made, &job, NULL, 2, &predictor));
  assert_false(answer.knows_training); /* which may be gone when it is asked */
  assert_int_equal(answer.rows, 2);
  answer.out = good[0], answer.epistemic = parts, answer.gradient = slopes[0];
  TOY_OK(&toy, tutti_predictor_ask(toy.context, predictor, &query, out[0]));
  assert_memory_equal(out, good, sizeof good);
  TOY_OK(&toy, tutti_predictor_slope(toy.context, predictor, &query, &slope, out[0]));
  assert_memory_equal(gradient, slopes, sizeof slopes);
  answer.gradient = steep[0];
  kinds_must_fail(tutti_predictor_slope(toy.context, predictor, &query, &slope, out[0]), TUTTI_ERROR_NUMERIC,
                  "backend open: a gradient of its predictions is not finite");
  answer.gradient = slopes[0];
  query.epistemic = epistemic;
  kinds_must_fail(tutti_predictor_ask(toy.context, predictor, &query, out[0]), TUTTI_ERROR_UNSUPPORTED,
                  "does not tell which part");
  answer.tells = true;
  TOY_OK(&toy, tutti_predictor_ask(toy.context, predictor, &query, out[0]));
  assert_memory_equal(epistemic, parts, sizeof parts);
  const float *const bad_parts[] = {more, less};
  for (size_t i = 0; i < 2; i++) {
    answer.epistemic = bad_parts[i];
    kinds_must_fail(tutti_predictor_ask(toy.context, predictor, &query, out[0]), TUTTI_ERROR_NUMERIC,
                    "is not between 0 and the whole");
    kinds_must_fail(tutti_predictor_slope(toy.context, predictor, &query, &slope, out[0]), TUTTI_ERROR_NUMERIC,
                    "is not between 0 and the whole");
  }
  answer.epistemic = parts;
  const float *const bad[] = {negative[0], infinite[0]};
  static const char *const why[] = {"have a negative variance", "are not finite"};
  for (size_t i = 0; i < 2; i++) {
    answer.out = bad[i];
    kinds_must_fail(tutti_predictor_ask(toy.context, predictor, &query, out[0]), TUTTI_ERROR_NUMERIC, why[i]);
    kinds_must_fail(tutti_predictor_slope(toy.context, predictor, &query, &slope, out[0]), TUTTI_ERROR_NUMERIC, why[i]);
  }
  tutti_predictor_close(predictor);
  assert_int_equal(answer.rows, 0);
  tutti_split_destroy(rows);
  tutti_backend_destroy(made);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, kinds_close)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_backend_configure), TEST(test_backend_train), TEST(test_backend_many),
      TEST(test_backend_unread),    TEST(test_backend_check), TEST(test_predictor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
