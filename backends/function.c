/* function.c - known functions in place of training, for tests and benchmarks of builders and executors:
   TUTTI_TASK_VALUE, takes no networks. Coordinates are the hyperparameters x0, x1, ... in the function's own units.

   Branin, Rosenbrock, Levy, Hartmann 6: as in Surjanovic & Bingham, "Virtual library of simulation experiments: test
   functions and datasets"; so G, with a_i = (i - 2) / 2, and Perm, with beta = 0.5. Levy is the textbook function,
   minimised. Sphere: the sum of squares. `scaled` puts box and values into [-1, 1], as Heiss et al. ("NOMU", ICML 2022)
   have them. Bnn: drawn from a Bayesian network's prior as that paper draws its test-bed (Appendix B.2.5), on [-1,
   1]^d; its extremes are not known.

   This backend exists to produce faults, so on request it breaks the rule that plugins never end their process: `fault`
   strikes with `fault_probability`, drawn from the candidate's seed. */
#include "plugins/shared/bnn/bnn.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <tutti/plugin.h>
#include <unistd.h>

enum { COORDINATES = 20 };

enum function {
  FUNCTION_BRANIN,
  FUNCTION_LEVY,
  FUNCTION_ROSENBROCK,
  FUNCTION_HARTMANN6,
  FUNCTION_SPHERE,
  FUNCTION_G,
  FUNCTION_PERM,
  FUNCTION_BNN
};
static const char *const function_names[] = {"branin", "levy", "rosenbrock", "hartmann6", "sphere",
                                             "g",      "perm", "bnn",        NULL};

enum fault { FAULT_NONE, FAULT_ERROR, FAULT_NAN, FAULT_ABORT, FAULT_SEGFAULT, FAULT_EXIT, FAULT_HANG, FAULT_OOM };
static const char *const fault_names[] = {"none", "error", "nan", "abort", "segfault", "exit", "hang", "oom", NULL};

struct function_config {
  int function, fault;
  int64_t dimensions, draw;
  double deviation, seconds, noise, fault_probability;
  double x[COORDINATES];
  bool scaled;
};

#define COORDINATE(number)                                                                                             \
  TUTTI_PARAM("x" #number, REAL, struct function_config, x[number], "0", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT, NULL,        \
              TUTTI_KIND_SPACE, "Coordinate " #number " of the function's argument.", .flags = TUTTI_PARAM_SEARCHABLE)

static const struct tutti_param function_params[] = {
    TUTTI_CHOICE(
        struct function_config, function, "branin", function_names,
        "What is minimised: branin (2 dimensions, least value 0.397887), hartmann6 (6; -3.32237), levy, rosenbrock, "
        "sphere or perm (any number; 0), g (any number; less than 0), or bnn (any number; not known)."),
    TUTTI_BOOL(
        struct function_config, scaled, "no",
        "Coordinates go from -1 to 1 over the box in which the function is usually minimised, and values from -1 at "
        "its least to 1 at its greatest there (of rosenbrock to 1 at (10, ..., 10), where the NOMU paper's program "
        "has it); bnn is left as it is."),
    TUTTI_INTEGER(struct function_config, dimensions, "2", 1, COORDINATES,
                  "Dimensions of levy, rosenbrock, sphere, g, perm and bnn; the first so many coordinates are read."),
    TUTTI_INTEGER(struct function_config, draw, "1", 0, 1e9, "Which bnn: the seed that its weights are drawn from."),
    TUTTI_REAL(struct function_config, deviation, "0", 0, TUTTI_NO_LIMIT,
               "Standard deviation of the weights of bnn; 0: the NOMU paper's, which there is for 1, 2, 5, 10 and 20 "
               "dimensions."),
    TUTTI_REAL(struct function_config, noise, "0", 0, TUTTI_NO_LIMIT,
               "Standard deviation of the normal noise on each value, drawn from the candidate's seed."),
    TUTTI_REAL(struct function_config, seconds, "0", 0, TUTTI_NO_LIMIT, "How long a training takes: the time is slept.",
               .unit = "s", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct function_config, fault, "none", fault_names,
                 "What goes wrong after the sleep: an error, a value that is not a number, or the end of the process.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct function_config, fault_probability, "1", 0, 1,
               "Share of the candidates that the fault strikes, drawn from the candidate's seed."),
    COORDINATE(0),
    COORDINATE(1),
    COORDINATE(2),
    COORDINATE(3),
    COORDINATE(4),
    COORDINATE(5),
    COORDINATE(6),
    COORDINATE(7),
    COORDINATE(8),
    COORDINATE(9),
    COORDINATE(10),
    COORDINATE(11),
    COORDINATE(12),
    COORDINATE(13),
    COORDINATE(14),
    COORDINATE(15),
    COORDINATE(16),
    COORDINATE(17),
    COORDINATE(18),
    COORDINATE(19),
};

/* --- values ---------------------------------------------------------------------------------------------------- */

static double branin_function(const double *x) {
  double bend = x[1] - 5.1 / (4 * M_PI * M_PI) * x[0] * x[0] + 5 / M_PI * x[0] - 6;
  return bend * bend + 10 * (1 - 1 / (8 * M_PI)) * cos(x[0]) + 10;
}

static double levy_function(const double *x, size_t dimensions) {
  double first = sin(M_PI * (1 + (x[0] - 1) / 4)), sum = first * first;
  for (size_t i = 0; i < dimensions; i++) {
    bool last = i + 1 == dimensions;
    double w = 1 + (x[i] - 1) / 4, wave = last ? sin(2 * M_PI * w) : sin(M_PI * w + 1);
    sum += (w - 1) * (w - 1) * (1 + (last ? 1 : 10) * wave * wave);
  }
  return sum;
}

static double rosenbrock_function(const double *x, size_t dimensions) {
  double sum = 0;
  for (size_t i = 0; i + 1 < dimensions; i++) {
    double valley = x[i + 1] - x[i] * x[i];
    sum += 100 * valley * valley + (x[i] - 1) * (x[i] - 1);
  }
  return sum;
}

static double hartmann6_function(const double *x) {
  static const double alpha[4] = {1.0, 1.2, 3.0, 3.2};
  static const double a[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  static const double p[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                 {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                 {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                 {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    double exponent = 0;
    for (int j = 0; j < 6; j++)
      exponent += a[i][j] * (x[j] - p[i][j]) * (x[j] - p[i][j]);
    sum -= alpha[i] * exp(-exponent);
  }
  return sum;
}

static double sphere_function(const double *x, size_t dimensions) {
  double sum = 0;
  for (size_t i = 0; i < dimensions; i++)
    sum += x[i] * x[i];
  return sum;
}

static double g_function(const double *x, size_t dimensions) {
  double product = 1;
  for (size_t i = 0; i < dimensions; i++) {
    double a = ((double)i - 1) / 2;
    product *= (fabs(4 * x[i] - 2) + a) / (1 + a);
  }
  return product;
}

static double perm_function(const double *x, size_t dimensions) {
  double sum = 0;
  for (size_t i = 1; i <= dimensions; i++) {
    double inner = 0;
    for (size_t j = 1; j <= dimensions; j++)
      inner += (pow((double)j, (double)i) + 0.5) * (pow(x[j - 1] / (double)j, (double)i) - 1);
    sum += inner * inner;
  }
  return sum;
}

static double at_function(const struct function_config *config, const double *x) {
  size_t dimensions = (size_t)config->dimensions;
  switch (config->function) {
  case FUNCTION_BRANIN:
    return branin_function(x);
  case FUNCTION_LEVY:
    return levy_function(x, dimensions);
  case FUNCTION_ROSENBROCK:
    return rosenbrock_function(x, dimensions);
  case FUNCTION_HARTMANN6:
    return hartmann6_function(x);
  case FUNCTION_G:
    return g_function(x, dimensions);
  case FUNCTION_PERM:
    return perm_function(x, dimensions);
  default:
    return sphere_function(x, dimensions);
  }
}

/* The usual box, the same in each coordinate but for Branin's second; the least value in it, and a corner with the
   greatest. Rosenbrock has greater values at (10, ..., 10, -5), but the published code takes (10, ..., 10). */
static void extremes_function(const struct function_config *config, double *low, double *high, double *least,
                              double *corner) {
  double d = (double)config->dimensions;
  *least = 0;
  switch (config->function) {
  case FUNCTION_BRANIN:
    *low = *corner = -5, *high = 10, *least = 0.397887;
    break;
  case FUNCTION_LEVY:
    *low = *corner = -10, *high = 10;
    break;
  case FUNCTION_ROSENBROCK:
    *low = -5, *high = *corner = 10;
    break;
  case FUNCTION_PERM:
    *low = *corner = -d, *high = d;
    break;
  case FUNCTION_SPHERE:
    *low = -1, *high = *corner = 1;
    break;
  default: /* hartmann6 and g */
    *low = 0, *high = *corner = 1;
  }
}

static double value_function(const struct function_config *config) {
  double low, high, least, corner, x[COORDINATES], top[COORDINATES], most;
  bool branin = config->function == FUNCTION_BRANIN;
  if (!config->scaled)
    return at_function(config, config->x);
  extremes_function(config, &low, &high, &least, &corner);
  for (int i = 0; i < COORDINATES; i++) {
    x[i] = low + (high - low) * (config->x[i] + 1) / 2 + (branin && i == 1 ? 5 : 0);
    top[i] = branin && i == 1 ? 0 : corner;
  }
  most = at_function(config, top);
  if (config->function == FUNCTION_G) {
    top[0] = 0.5;
    least = at_function(config, top);
  } else if (config->function == FUNCTION_HARTMANN6) {
    least = -3.32237, most = 0;
  }
  return 2 * (at_function(config, x) - (most + least) / 2) / (most - least);
}

/* --- drawn functions ---------------------------------------------------------------------------------------------- */

/* An instance: the function that it drew last. */
struct drawn {
  struct bnn *bnn;
  int64_t draw, dimensions;
  double deviation;
};

static enum tutti_status draw_function(tutti_context *context, struct drawn *self, const struct function_config *config,
                                       double deviation) {
  bool same = self->draw == config->draw && self->dimensions == config->dimensions && self->deviation == deviation;
  if (self->bnn && same)
    return TUTTI_OK;
  bnn_destroy(self->bnn);
  self->bnn = NULL;
  self->draw = config->draw;
  self->dimensions = config->dimensions;
  self->deviation = deviation;
  return bnn_create(context, (size_t)config->dimensions, deviation, (uint64_t)config->draw, &self->bnn);
}

static enum tutti_status bnn_function(tutti_context *context, struct drawn *self, const struct function_config *config,
                                      double *value) {
  size_t dimensions = (size_t)config->dimensions;
  double deviation = config->deviation > 0 ? config->deviation : bnn_deviation(dimensions);
  TUTTI_TRY(context, draw_function(context, self, config, deviation));
  return bnn_values(context, self->bnn, 1, config->x, value);
}

/* --- sleep and faults -------------------------------------------------------------------------------------------- */

/* Sleep in short naps, so that a cancelled context is noticed soon. */
static enum tutti_status sleep_function(tutti_context *context, double seconds) {
  static const double nap = 0.02;
  while (seconds > 0) {
    double now = seconds < nap ? seconds : nap;
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)(now * 1e9)};
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled with %g s of sleep left", seconds);
    nanosleep(&time, NULL);
    seconds -= now;
  }
  return TUTTI_OK;
}

/* Take memory until the limit of the address space says no. Without such a limit, end in the way the kernel would end
   it, without starving the machine first. */
static enum tutti_status exhaust_function(tutti_context *context) {
  enum { BLOCK = 16 << 20 };
  enum tutti_status status = TUTTI_OK;
  struct rlimit limit;
  void *chain = NULL;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    raise(SIGKILL);
  while (status == TUTTI_OK) {
    void **block = NULL;
    status = tutti_alloc(context, 1, BLOCK, &block);
    if (status == TUTTI_OK) {
      *block = chain;
      chain = block;
    }
  }
  while (chain) {
    void *next = *(void **)chain;
    tutti_free(chain);
    chain = next;
  }
  return status;
}

static enum tutti_status strike_function(tutti_context *context, const struct function_config *config, double *value) {
  switch (config->fault) {
  case FAULT_ERROR:
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "backend function: failed as its parameter fault = error asks");
  case FAULT_NAN:
    *value = NAN;
    break;
  case FAULT_ABORT:
    raise(SIGABRT);
    break;
  case FAULT_SEGFAULT:
    raise(SIGSEGV);
    break;
  case FAULT_EXIT:
    _exit(0); /* exit code 0 but no reply: the nastier case */
  case FAULT_HANG:
    for (;;)
      pause();
  case FAULT_OOM:
    return exhaust_function(context);
  default:
    break;
  }
  return TUTTI_OK;
}

/* --- the plugin -------------------------------------------------------------------------------------------------- */

static bool backend_supports_function(void *instance, enum tutti_op op) {
  (void)instance, (void)op;
  return false;
}

static enum tutti_status backend_train_function(void *instance, tutti_context *context, const struct tutti_job *job,
                                                struct tutti_outcome *outcome) {
  const struct function_config *config = job->config;
  struct tutti_random random;
  double value;
  tutti_random_init(&random, job->seed, "function fault", 0);
  bool struck = tutti_random_uniform(&random) < config->fault_probability;
  tutti_random_init(&random, job->seed, "function noise", 0);
  if (config->function == FUNCTION_BNN)
    TUTTI_TRY(context, bnn_function(context, instance, config, &value));
  else
    value = value_function(config);
  value += config->noise * tutti_random_normal(&random);

  TUTTI_TRY(context, sleep_function(context, config->seconds));
  if (struck)
    TUTTI_TRY(context, strike_function(context, config, &value));
  if (isfinite(value)) {
    outcome->state = TUTTI_STATE_FINISHED;
    outcome->value = value;
    outcome->epochs = outcome->best_epoch = 1;
    outcome->steps = 1;
  } else {
    outcome->state = TUTTI_STATE_FAILED;
    snprintf(outcome->failure, sizeof(outcome->failure), "the value of %s is %g: a finite one was expected",
             function_names[config->function], value);
  }
  return TUTTI_OK;
}

static enum tutti_status backend_create_function(tutti_context *context, const void *config, const void *setup,
                                                 void **instance) {
  const struct function_config *function = config;
  size_t dimensions = (size_t)function->dimensions;
  struct drawn *self;
  (void)setup;
  if (function->function == FUNCTION_BNN && function->deviation == 0 && bnn_deviation(dimensions) <= 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.deviation: needs a value in %zu dimensions; known are those of 1, 2, 5, 10 and 20",
                      dimensions);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  *instance = self;
  return TUTTI_OK;
}

static void backend_destroy_function(void *instance) {
  struct drawn *self = instance;
  bnn_destroy(self->bnn);
  tutti_free(self);
}

static const struct tutti_backend_ops function_ops = {
    .size = sizeof(struct tutti_backend_ops),
    .supports = backend_supports_function,
    .train = backend_train_function,
};

static const struct tutti_descriptor function_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "function"),
    .version = "1.0",
    .summary = "test functions, sleeps and faults in place of training",
    .source = "Surjanovic & Bingham, Virtual library of simulation experiments: test functions and datasets",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(function_params, struct function_config),
    .create = backend_create_function,
    .destroy = backend_destroy_function,
    .ops = &function_ops,
};

TUTTI_PLUGIN(function_descriptor)
