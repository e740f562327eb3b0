/* simulated.c - a backend and an executor that do what a test says. */
#include "simulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/registry.h>
#include <unistd.h>

struct simulated simulated;
tutti_context *simulated_context;

/* --- the backend ------------------------------------------------------------------------------------------------- */

struct backend_config {
  double x;
};
static const struct tutti_param backend_params[] = {
    TUTTI_REAL(struct backend_config, x, "0", -100, 100, "Where it is right.", .flags = TUTTI_PARAM_SEARCHABLE),
};

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)context, (void)setup;
  *self = (void *)(uintptr_t)config;
  return TUTTI_OK;
}

static void destroy(void *self) { (void)self; }

static bool supports(void *self, enum tutti_op op) {
  (void)self, (void)op;
  return false;
}

static void note_job(const struct tutti_job *job, size_t together) {
  struct simulated_job *noted = &simulated.jobs[simulated.job_count++ % SIMULATED_MOST];
  *noted = (struct simulated_job){.trial = job->trial,
                                  .seed = job->seed,
                                  .run_seed = job->run_seed,
                                  .x = ((const struct backend_config *)job->config)->x,
                                  .together = together};
  if (job->train) {
    (void)snprintf(noted->train, sizeof noted->train, "%s", tutti_split_name(job->train));
    noted->train_rows = tutti_split_rows(job->train);
    noted->first_target = (float)tutti_split_raw_targets(job->train)[0];
  }
  if (job->validation) {
    (void)snprintf(noted->validation, sizeof noted->validation, "%s", tutti_split_name(job->validation));
    noted->validation_rows = tutti_split_rows(job->validation);
    noted->first_validation = (float)tutti_split_raw_targets(job->validation)[0];
  }
}

/* The curve falls, and rises in the end. */
static enum tutti_status train_well(tutti_context *context, const struct tutti_job *job,
                                    struct tutti_outcome *outcome) {
  const struct backend_config *config = job->config;
  size_t one = 1;
  float *data;
  outcome->state = TUTTI_STATE_FINISHED;
  outcome->value = config->x;
  if (!job->train)
    return TUTTI_OK;
  for (uint32_t e = 1; e <= simulated.epochs; e++) {
    struct tutti_epoch epoch = {.size = sizeof epoch,
                                .epoch = e,
                                .steps = 10 * e,
                                .learning_rate = 0.5,
                                .train_loss = 8.0 / e,
                                .validation_loss = e < simulated.epochs ? 4.0 / e : 7.25};
    (void)job->progress(job->progress_argument, &epoch);
  }
  outcome->epochs = simulated.epochs;
  outcome->best_epoch = outcome->epochs > 1 ? outcome->epochs - 1 : outcome->epochs;
  outcome->steps = 10 * outcome->epochs;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "x", TUTTI_F32, 1, &one, &data));
  data[0] = (float)config->x;
  return TUTTI_OK;
}

static enum tutti_status train_one(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome,
                                   size_t together) {
  note_job(job, together);
  TUTTI_TRY(context, train_well(context, job, outcome));
  return simulated.train ? simulated.train(context, job, outcome) : TUTTI_OK;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  (void)self;
  return train_one(context, job, outcome, 1);
}

static size_t capacity(void *self) {
  (void)self;
  return simulated.capacity;
}

static enum tutti_status train_many(void *self, tutti_context *context, size_t count,
                                    const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                    void (*done)(void *argument, size_t index), void *argument) {
  (void)self;
  for (size_t i = count; i-- > 0;) { /* in another order than they came */
    TUTTI_TRY(context, train_one(context, jobs[i], outcomes[i], count));
    done(argument, i);
  }
  return TUTTI_OK;
}

static enum tutti_status train_queue(void *self, tutti_context *context, const struct tutti_job_queue *queue) {
  const struct tutti_job *first, *job;
  struct tutti_outcome *kept, *outcome;
  size_t number, other, done = 0;
  (void)self;
  if (!queue->next(queue->argument, &first, &kept, &number))
    return TUTTI_OK;
  while (done < simulated.wanted)
    if (queue->next(queue->argument, &job, &outcome, &other)) {
      TUTTI_TRY(context, train_one(context, job, outcome, 2));
      queue->done(queue->argument, other);
      done++;
    }
  if (simulated.lost)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "the device is lost");
  TUTTI_TRY(context, train_one(context, first, kept, 1));
  queue->done(queue->argument, number);
  return TUTTI_OK;
}

float simulated_mean(double x, const char *split) {
  return (float)(strcmp(split, "test") == 0 ? -x : strcmp(split, "validation") == 0 ? x / 2 : x / 3);
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)job;
  double x = (double)((const float *)tutti_tensors_find(weights, "x")->data)[0];
  for (size_t i = 0; i < tutti_split_rows(split); i++) {
    out[2 * i] = simulated_mean(x, tutti_split_name(split));
    out[2 * i + 1] = simulated.variance;
  }
  return TUTTI_OK;
}

static const struct tutti_backend_ops backend_ops = {.size = sizeof backend_ops,
                                                     .supports = supports,
                                                     .train = train,
                                                     .predict = predict,
                                                     .capacity = capacity,
                                                     .train_many = train_many};

static const struct tutti_backend_ops queue_ops = {.size = sizeof queue_ops,
                                                   .supports = supports,
                                                   .train = train,
                                                   .predict = predict,
                                                   .capacity = capacity,
                                                   .train_many = train_many,
                                                   .train_queue = train_queue};

/* --- the executor ------------------------------------------------------------------------------------------------- */

static enum tutti_status create_executor(tutti_context *context, const void *config, const void *setup_, void **self) {
  const struct tutti_executor_setup *setup = setup_;
  (void)context, (void)config;
  simulated.workers = setup->workers;
  simulated.trial_timeout = setup->trial_timeout;
  simulated.memory_limit = setup->memory_limit;
  for (size_t i = 0; i < 4; i++)
    (void)snprintf(simulated.command[i], sizeof simulated.command[i], "%s",
                   setup->worker_command[i] ? setup->worker_command[i] : "");
  *self = &simulated;
  return TUTTI_OK;
}

static size_t executor_capacity(void *self) {
  (void)self;
  return SIMULATED_MOST;
}

static enum tutti_status submit(void *self, tutti_context *context, uint64_t trial, const char *request) {
  (void)self;
  assert_true(simulated.submitted < SIMULATED_MOST);
  simulated.trials[simulated.submitted] = trial;
  return tutti_strdup(context, request, &simulated.requests[simulated.submitted++]);
}

static enum tutti_status wait_for(void *self, tutti_context *context, double timeout, struct tutti_reply *reply) {
  (void)self;
  if (simulated.answered == simulated.submitted && timeout > 0 && simulated.waits++ > 1000)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "the manager waits, and nothing is outstanding");
  if (simulated.answered == simulated.submitted)
    return TUTTI_OK;
  return simulated.wait(context, reply);
}

static const struct tutti_executor_ops executor_ops = {
    .size = sizeof executor_ops, .capacity = executor_capacity, .submit = submit, .wait = wait_for};

static const struct tutti_descriptor plugins[] = {
    {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "simulated"), .version = "1", .summary = "A test's.", .source = "",
     .licence = "Apache-2.0", .params = TUTTI_PARAMS(backend_params, struct backend_config), .create = create,
     .destroy = destroy, .ops = &backend_ops},
    {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "simulated-queue"), .version = "1", .summary = "A test's.", .source = "",
     .licence = "Apache-2.0", .params = TUTTI_PARAMS(backend_params, struct backend_config), .create = create,
     .destroy = destroy, .ops = &queue_ops},
    {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "simulated"), .version = "1", .summary = "A test's.", .source = "",
     .licence = "Apache-2.0", .params = TUTTI_NO_PARAMS, .create = create_executor, .destroy = destroy,
     .ops = &executor_ops},
};

/* --- folders and recipes ------------------------------------------------------------------------------------------ */

static char folder[64], here[4096];

int simulated_begin(void **state) {
  (void)state;
  simulated = (struct simulated){.capacity = 1, .epochs = 3, .variance = 0.25f};
  (void)strcpy(folder, "/tmp/tutti-simulated-XXXXXX");
  if (!getcwd(here, sizeof here) || !mkdtemp(folder) || chdir(folder) != 0 ||
      tutti_context_create(&simulated_context) != TUTTI_OK)
    return 1;
  simulated_register();
  return 0;
}

void simulated_register(void) {
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    SIMULATED_OK(tutti_plugin_register(simulated_context, &plugins[i]));
}

int simulated_end(void **state) {
  char command[128];
  (void)state;
  for (size_t i = 0; i < simulated.submitted; i++)
    tutti_free(simulated.requests[i]);
  tutti_context_destroy(simulated_context);
  (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return chdir(here) != 0 || system(command) != 0;
}

void simulated_ok(enum tutti_status status, const char *what, const char *file, int line) {
  if (status == TUTTI_OK)
    return;
  print_error("%s: %s: %s\n%s\n", what, tutti_status_name(status), tutti_error_message(simulated_context),
              tutti_error_trace_text(simulated_context));
  _fail(file, line);
}

void simulated_write(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

void simulated_table(void) {
  FILE *table = fopen("table.csv", "w"), *rows = NULL;
  static const char *const names[] = {"train", "validation", "test"};
  static const int ends[] = {12, 18, 24};
  assert_non_null(table);
  (void)fputs("x,y\n", table);
  for (int i = 0; i < 24; i++)
    (void)fprintf(table, "%d,%.6f\n", i * i % 7, 50 + 9 * sin(i * 1.7) + (i >= 18 ? 4 : 0));
  assert_int_equal(fclose(table), 0);
  for (int s = 0, i = 0; s < 3; s++) {
    char path[32];
    (void)snprintf(path, sizeof path, "%s.rows", names[s]);
    rows = fopen(path, "w");
    assert_non_null(rows);
    for (; i < ends[s]; i++)
      (void)fprintf(rows, "%d\n", i);
    assert_int_equal(fclose(rows), 0);
  }
}

const char *simulated_recipe(bool data, const char *more) {
  static char text[4096];
  int length = snprintf(text, sizeof text,
                        "[space]\nplugin = fixed\n[backend]\nplugin = simulated%s\n[executor]\nplugin = simulated\n"
                        "[hyperparameters]\nx = uniform -2 2\n%s%s",
                        simulated.queue ? "-queue" : "",
                        data ? "[data]\nplugin = csv\npath = table.csv\ntarget = y\ntrain_rows = train.rows\n"
                               "validation_rows = validation.rows\ntest_rows = test.rows\n"
                             : "",
                        more);
  assert_true(length > 0 && (size_t)length < sizeof text);
  return text;
}

tutti_recipe *simulated_load(const char *text) {
  tutti_recipe *recipe;
  simulated_write("recipe.ini", text);
  SIMULATED_OK(tutti_recipe_load(simulated_context, "recipe.ini", 0, NULL, &recipe));
  return recipe;
}

char *simulated_reply(tutti_context *context, double loss) {
  char *text;
  SIMULATED_OK(tutti_format(context, &text,
                            "{\"status\": \"ok\", \"state\": \"finished\", \"failure\": \"\", \"seconds\": 0.5, "
                            "\"loss\": %.17g, \"report\": {\"files\": []}}",
                            loss));
  return text;
}
