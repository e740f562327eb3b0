/* Backend function: values against golden numbers and known minima, noise, sleep, and every fault in a child
   process. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "backends/function.c"

struct fixture {
  tutti_context *context;
  struct drawn self;
  struct function_config config;
  struct tutti_job job;
  struct tutti_outcome outcome;
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  if (tutti_context_create(&fixture->context) != TUTTI_OK)
    return -1;
  fixture->config.dimensions = 2;
  fixture->config.fault_probability = 1;
  fixture->job = (struct tutti_job){.size = sizeof(fixture->job), .config = &fixture->config, .seed = 1};
  fixture->outcome.size = sizeof(fixture->outcome);
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  bnn_destroy(fixture->self.bnn);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static enum tutti_status train(struct fixture *fixture) {
  return backend_train_function(&fixture->self, fixture->context, &fixture->job, &fixture->outcome);
}

static double value_at(struct fixture *fixture, int function, size_t dimensions, const double *x) {
  fixture->config.function = function;
  fixture->config.dimensions = (int64_t)dimensions;
  memcpy(fixture->config.x, x, dimensions * sizeof(*x));
  assert_int_equal(train(fixture), TUTTI_OK);
  assert_int_equal(fixture->outcome.state, TUTTI_STATE_FINISHED);
  return fixture->outcome.value;
}

/* Golden values are scaled to [-1, 1] by the function's extremes; points are in [-1, 1]^d. */
static double scaled(double value, double least, double most) {
  return 2 * (value - (most + least) / 2) / (most - least);
}

static void to_box(const double *z, size_t dimensions, double low, double high, double *x) {
  for (size_t i = 0; i < dimensions; i++)
    x[i] = low + (high - low) * (z[i] + 1) / 2;
}

static void test_golden_2d(void **state) {
  struct fixture *fixture = *state;
  json_t *root = golden_load("nomu_functions");
  const json_t *plane = golden_get(root, "2D"), *functions = golden_get(plane, "functions");
  size_t count;
  double *points = golden_doubles(golden_get(plane, "X"), &count);
  double *branin = golden_doubles(golden_get(golden_get(functions, "Branin2D"), "values"), NULL);
  double *rosenbrock = golden_doubles(golden_get(golden_get(functions, "Rosenbrock2D"), "values"), NULL);
  double *squared = golden_doubles(golden_get(golden_get(functions, "Squared2D"), "values"), NULL);
  for (size_t i = 0; i < count / 2; i++) {
    const double *z = points + 2 * i;
    double x[2];
    x[0] = -5 + 15 * (z[0] + 1) / 2;
    x[1] = 15 * (z[1] + 1) / 2;
    assert_close(scaled(value_at(fixture, FUNCTION_BRANIN, 2, x), 0.397887, 308.12909601160663), branin[i], 0, 1e-12);
    to_box(z, 2, -5, 10, x);
    assert_close(scaled(value_at(fixture, FUNCTION_ROSENBROCK, 2, x), 0, 1102581), rosenbrock[i], 0, 1e-12);
    assert_close(value_at(fixture, FUNCTION_SPHERE, 2, z) - 1, squared[i], 0, 1e-12);
  }
  free(points), free(branin), free(rosenbrock), free(squared);
  json_decref(root);
}

static void check_many(struct fixture *fixture, const json_t *group, const char *name, int function) {
  const json_t *entry = golden_get(group, name);
  size_t count, values;
  double *z = golden_doubles(golden_get(group, "z_in_[-1,1]^d"), &count), x[COORDINATES];
  double *expected = golden_doubles(golden_get(entry, "values=-(f(x)-(max+min)/2)*2/(max-min)"), &values);
  double *box = golden_doubles(golden_get(entry, "domain"), NULL);
  double least = golden_number_of(entry, "code_min_const"), most = golden_number_of(entry, "code_max_const");
  for (size_t i = 0, d = count / values; i < values; i++) {
    to_box(z + i * d, d, box[0], box[1], x);
    assert_close(-scaled(value_at(fixture, function, d, x), least, most), expected[i], 0, 1e-12);
  }
  free(z), free(expected), free(box);
}

static void test_golden_many_dimensions(void **state) {
  static const char *const groups[] = {"5D", "10D", "20D"};
  json_t *root = golden_load("nomu_functions");
  for (size_t i = 0; i < 3; i++) {
    const json_t *group = golden_get(golden_get(root, "BO"), groups[i]);
    check_many(*state, group, "levy_standard", FUNCTION_LEVY);
    check_many(*state, group, "rosenbrock", FUNCTION_ROSENBROCK);
    check_many(*state, group, "g_function", FUNCTION_G);
    check_many(*state, group, "perm", FUNCTION_PERM);
  }
  json_decref(root);
}

/* The same values, scaled by the plugin itself. */
static void test_scaled(void **state) {
  static const struct {
    const char *name;
    int function;
  } functions[] = {{"levy_standard", FUNCTION_LEVY},
                   {"rosenbrock", FUNCTION_ROSENBROCK},
                   {"g_function", FUNCTION_G},
                   {"perm", FUNCTION_PERM}};
  struct fixture *fixture = *state;
  json_t *root = golden_load("nomu_functions"), *plane = golden_get(root, "2D");
  size_t count, values;
  fixture->config.scaled = true;
  for (size_t g = 0; g < 3; g++)
    for (size_t f = 0; f < 4; f++) {
      const json_t *group = golden_get(golden_get(root, "BO"), (const char *const[]){"5D", "10D", "20D"}[g]);
      const json_t *entry = golden_get(group, functions[f].name);
      double *z = golden_doubles(golden_get(group, "z_in_[-1,1]^d"), &count);
      double *expected = golden_doubles(golden_get(entry, "values=-(f(x)-(max+min)/2)*2/(max-min)"), &values);
      for (size_t i = 0, d = count / values; i < values; i++)
        assert_close(-value_at(fixture, functions[f].function, d, z + i * d), expected[i], 0, 1e-12);
      free(z), free(expected);
    }
  double *z = golden_doubles(golden_get(plane, "X"), &count);
  double *branin = golden_doubles(golden_get(golden_get(golden_get(plane, "functions"), "Branin2D"), "values"), NULL);
  for (size_t i = 0; i < count / 2; i++)
    assert_close(value_at(fixture, FUNCTION_BRANIN, 2, z + 2 * i), branin[i], 0, 1e-12);
  free(z), free(branin);
  json_decref(root);
}

static void test_minima(void **state) {
  struct fixture *fixture = *state;
  double ones[COORDINATES];
  for (int i = 0; i < COORDINATES; i++)
    ones[i] = 1;
  assert_close(value_at(fixture, FUNCTION_BRANIN, 2, (double[]){M_PI, 2.275}), 0.39788735772973816, 1e-12, 0);
  assert_close(value_at(fixture, FUNCTION_BRANIN, 2, (double[]){-M_PI, 12.275}), 0.39788735772973816, 1e-12, 0);
  assert_close(
      value_at(fixture, FUNCTION_HARTMANN6, 6, (double[]){0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573}),
      -3.32237, 0, 1e-5);
  assert_close(value_at(fixture, FUNCTION_LEVY, 20, ones), 0, 0, 1e-25);
  assert_close(value_at(fixture, FUNCTION_ROSENBROCK, 20, ones), 0, 0, 0);
}

static void test_noise_is_the_seed_s(void **state) {
  struct fixture *fixture = *state;
  const double zero[2] = {0, 0};
  double sum = 0, squares = 0, first;
  enum { DRAWS = 4000 };
  fixture->config.noise = 0.5;
  first = value_at(fixture, FUNCTION_SPHERE, 2, zero);
  assert_true(first != 0 && first == value_at(fixture, FUNCTION_SPHERE, 2, zero));
  for (uint64_t i = 0; i < DRAWS; i++) {
    fixture->job.seed = i;
    double value = value_at(fixture, FUNCTION_SPHERE, 2, zero);
    sum += value;
    squares += value * value;
  }
  /* Standard errors: .008 for the mean, .0056 for the deviation; five of them. */
  assert_close(sum / DRAWS, 0, 0, 0.04);
  assert_close(sqrt(squares / DRAWS), 0.5, 0, 0.028);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void test_sleep(void **state) {
  struct fixture *fixture = *state;
  double start = now();
  fixture->config.seconds = 0.05;
  assert_int_equal(train(fixture), TUTTI_OK);
  assert_true(now() - start >= 0.05);
  fixture->config.seconds = 60;
  tutti_cancel(fixture->context);
  assert_int_equal(train(fixture), TUTTI_ERROR_CANCELLED);
  assert_true(now() - start < 30);
}

static void test_failed_results(void **state) {
  struct fixture *fixture = *state;
  fixture->config.fault = FAULT_ERROR;
  assert_int_equal(train(fixture), TUTTI_ERROR_NUMERIC);
  fixture->config.fault = FAULT_NAN;
  assert_int_equal(train(fixture), TUTTI_OK);
  assert_int_equal(fixture->outcome.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(fixture->outcome.failure, "branin is nan"));
  fixture->config.fault = FAULT_NONE;
  fixture->config.x[0] = 1e200;
  assert_int_equal(train(fixture), TUTTI_OK);
  assert_int_equal(fixture->outcome.state, TUTTI_STATE_FAILED);
}

static void test_faults_strike_a_share(void **state) {
  struct fixture *fixture = *state;
  int struck = 0;
  enum { DRAWS = 2000 };
  fixture->config.fault = FAULT_ERROR;
  fixture->config.fault_probability = 0.3;
  for (uint64_t i = 0; i < DRAWS; i++) {
    fixture->job.seed = i;
    enum tutti_status first = train(fixture);
    assert_int_equal(train(fixture), first); /* the seed decides, and nothing else */
    struck += first != TUTTI_OK;
  }
  assert_in_range(struck, 600 - 103, 600 + 103); /* five standard deviations */
}

/* How a child that trains with this fault ends; limits it to 256 MiB where asked. */
static int end_of_child(struct fixture *fixture, int fault, bool limited) {
  fflush(NULL);
  pid_t child = fork();
  int status = 0;
  assert_true(child >= 0);
  if (child == 0) {
    struct rlimit limit = {512u << 20, 512u << 20}, core = {0, 0};
    setrlimit(RLIMIT_CORE, &core);
    if (limited)
      setrlimit(RLIMIT_AS, &limit);
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    fixture->config.fault = fault;
    _exit(train(fixture) == TUTTI_ERROR_MEMORY ? 42 : 43);
  }
  if (fault == FAULT_HANG) {
    struct timespec moment = {.tv_nsec = 50000000};
    nanosleep(&moment, NULL);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    kill(child, SIGKILL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void test_faults_end_the_process(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(WTERMSIG(end_of_child(fixture, FAULT_ABORT, false)), SIGABRT);
  assert_int_equal(WTERMSIG(end_of_child(fixture, FAULT_SEGFAULT, false)), SIGSEGV);
  assert_int_equal(WTERMSIG(end_of_child(fixture, FAULT_HANG, false)), SIGKILL);
  int end = end_of_child(fixture, FAULT_EXIT, false);
  assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
  /* Sanitizers and valgrind reserve more address space than the limit. */
  if (!getenv("TUTTI_TEST_WATCHED")) {
    end = end_of_child(fixture, FAULT_OOM, true);
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 42);
  }
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
    assert_int_equal(WTERMSIG(end_of_child(fixture, FAULT_OOM, false)), SIGKILL);
}

static void test_takes_no_networks(void **state) {
  struct fixture *fixture = *state;
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    assert_false(backend_supports_function(&fixture->config, (enum tutti_op)op));
}

/* --- functions drawn from a Bayesian network ---------------------------------------------------------------------- */

/* The network in double precision, one number after the other; the draws are those of bnn.c by contract: layer l from
   the stream (seed, "bnn weights", l), 16 units at a time: their rows of inputs, then that of biases. */
static double network_value(uint64_t seed, size_t dimensions, double deviation, const double *x) {
  const size_t units[] = {1024, 2048, 1024, 1};
  double *in = calloc(2048, sizeof *in), *out = calloc(2048, sizeof *out);
  memcpy(in, x, dimensions * sizeof *x);
  for (size_t l = 0, inputs = dimensions; l < 4; inputs = units[l++]) {
    struct tutti_random random;
    float *weights = calloc((inputs + 1) * units[l], sizeof *weights);
    tutti_random_init(&random, seed, "bnn weights", l);
    tutti_random_fill_normal(&random, (inputs + 1) * units[l], 0, (float)deviation, weights);
    for (size_t u = 0; u < units[l]; u++) {
      size_t tile = units[l] < 16 ? units[l] : 16;
      const float *own = weights + u / tile * (inputs + 1) * tile + u % tile;
      out[u] = (double)own[inputs * tile];
      for (size_t i = 0; i < inputs; i++)
        out[u] += in[i] * (double)own[i * tile];
      out[u] = l < 3 && out[u] < 0 ? 0 : out[u];
    }
    memcpy(in, out, units[l] * sizeof *in);
    free(weights);
  }
  double value = in[0];
  free(in), free(out);
  return value;
}

static void test_bnn(void **state) {
  struct fixture *fixture = *state;
  const double x[5] = {0.3, -0.7, 0.1, 0.9, -0.2};
  fixture->config.draw = 3;
  for (size_t dimensions = 1; dimensions <= 5; dimensions = dimensions == 1 ? 2 : dimensions + 3) {
    const double deviation = dimensions == 1 ? 0.114 : dimensions == 2 ? 0.102 : 0.092; /* Table 9 */
    double value = value_at(fixture, FUNCTION_BNN, dimensions, x);
    assert_close(value, network_value(3, dimensions, deviation, x), 1e-4, 1e-4);
    assert_true(value == value_at(fixture, FUNCTION_BNN, dimensions, x));
    fixture->config.draw = 4;
    assert_true(value != value_at(fixture, FUNCTION_BNN, dimensions, x));
    fixture->config.draw = 3;
  }
}

/* Table 9 gives deviations for five dimensions; elsewhere one has to be given. */
static void test_bnn_needs_a_deviation(void **state) {
  struct fixture *fixture = *state;
  fixture->config.function = FUNCTION_BNN;
  fixture->config.dimensions = 3;
  void *instance = NULL;
  assert_int_equal(backend_create_function(fixture->context, &fixture->config, NULL, &instance), TUTTI_ERROR_USAGE);
  assert_null(instance);
  assert_non_null(strstr(tutti_error_message(fixture->context), "backend.deviation: needs a value in 3 dimensions"));
  fixture->config.deviation = 0.1;
  assert_int_equal(train(fixture), TUTTI_OK);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_golden_2d, setup, teardown),
      cmocka_unit_test_setup_teardown(test_golden_many_dimensions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_scaled, setup, teardown),
      cmocka_unit_test_setup_teardown(test_minima, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bnn, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bnn_needs_a_deviation, setup, teardown),
      cmocka_unit_test_setup_teardown(test_noise_is_the_seed_s, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sleep, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failed_results, setup, teardown),
      cmocka_unit_test_setup_teardown(test_faults_strike_a_share, setup, teardown),
      cmocka_unit_test_setup_teardown(test_faults_end_the_process, setup, teardown),
      cmocka_unit_test_setup_teardown(test_takes_no_networks, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
