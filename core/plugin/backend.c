/* backend.c - kind backend: checks and defaults around its ops. */
#include "backend_impl.h"

#include "core/base/sized_impl.h"
#include "core/network/formula_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/sized.h>

static const char *const states[] = {
    [TUTTI_STATE_FINISHED] = "finished", [TUTTI_STATE_FAILED] = "failed", [TUTTI_STATE_PRUNED] = "pruned"};

enum { STATES = sizeof states / sizeof *states };

const char *tutti_state_name(enum tutti_state state) { return (size_t)state < STATES ? states[state] : NULL; }

bool tutti_state_parse(const char *name, enum tutti_state *state) {
  for (size_t i = 0; i < STATES; i++)
    if (strcmp(name, states[i]) == 0) {
      *state = (enum tutti_state)i;
      return true;
    }
  return false;
}

static const char *missing_ops(const void *ops) {
  if (TUTTI_HAS_OP(backend, ops, delegate))
    return NULL;
  if (!TUTTI_HAS_OP(backend, ops, supports))
    return "supports";
  if (!TUTTI_HAS_OP(backend, ops, train))
    return "train";
  if (TUTTI_HAS_OP(backend, ops, capacity) != TUTTI_HAS_OP(backend, ops, train_many))
    return "capacity or train_many (both or neither)";
  bool open = TUTTI_HAS_OP(backend, ops, open);
  if (open != TUTTI_HAS_OP(backend, ops, ask) || open != TUTTI_HAS_OP(backend, ops, close))
    return "open, ask or close (all or none)";
  if (TUTTI_HAS_OP(backend, ops, train_queue) && !TUTTI_HAS_OP(backend, ops, train_many))
    return "train_many, without which there is no train_queue";
  if (TUTTI_HAS_OP(backend, ops, ask_slope) && !open)
    return "open, without which there is no ask_slope";
  if (TUTTI_HAS_OP(backend, ops, tells_epistemic) != TUTTI_HAS_OP(backend, ops, predict_parts))
    return "tells_epistemic or predict_parts (both or neither)";
  return NULL;
}

static enum tutti_status check_task(tutti_context *context, const void *object, const void *setup) {
  const tutti_backend *backend = object;
  const struct tutti_task *task = ((const struct tutti_backend_setup *)setup)->task;
  if (task && task->kind != TUTTI_TASK_VALUE && !backend->ops.predict && !backend->ops.delegate)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend %s does not predict; it works without [data] only",
                      backend->instance.descriptor->name);
  return TUTTI_OK;
}

TUTTI_DEFINE_KIND(BACKEND, backend, .missing = missing_ops, .check = check_task, .open = tutti_backend_open_others,
                  .close = tutti_backend_close_others)

bool tutti_backend_supports(const tutti_backend *backend, enum tutti_op op) {
  bool answer = false;
  if (backend->ops.supports)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend, answer = backend->ops.supports(backend->instance.self, op));
  return answer;
}

bool tutti_backend_takes_networks(const tutti_backend *backend) {
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    if (tutti_backend_supports(backend, (enum tutti_op)op))
      return true;
  return false;
}

static bool supports_layer(const tutti_backend *backend, const struct tutti_layer *layer) {
  bool knows;
  TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend,
            knows = tutti_backend_knows(&backend->ops, backend->instance.self, layer));
  return knows;
}

bool tutti_backend_honours(const tutti_backend *backend, unsigned members) {
  return (backend->ops.honours & members) == members;
}

static bool has_layer(const tutti_network *network, const char *label) {
  for (size_t i = 0; network && i < tutti_network_layers(network); i++)
    if (strcmp(tutti_network_layer(network, i)->label, label) == 0)
      return true;
  return false;
}

/* A backend that ignored these members would train something else than was asked for. */
enum tutti_status tutti_backend_check_members(tutti_context *context, const tutti_backend *backend,
                                              const struct tutti_job *theirs) {
  const char *name = backend->instance.descriptor->name;
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  if (job.frozen && !tutti_backend_honours(backend, TUTTI_JOB_FROZEN))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend %s cannot freeze layers; choose another backend", name);
  if (job.box && !tutti_backend_honours(backend, TUTTI_JOB_BOX))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend %s takes no box for artificial points; choose another backend", name);
  if (job.class_weights && !tutti_backend_honours(backend, TUTTI_JOB_CLASS_WEIGHTS))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend %s cannot weigh classes; choose another backend, or data.class_weights = none", name);
  if (job.warm && !tutti_backend_honours(backend, TUTTI_JOB_WARM))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend %s cannot start from the weights of another network; choose another backend, or no warm "
                      "starts",
                      name);
  for (size_t i = 0; job.frozen && job.frozen[i]; i++)
    if (!has_layer(job.network, job.frozen[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer '%s' is to be frozen, but the network has none of that name",
                        job.frozen[i]);
  return TUTTI_OK;
}

enum tutti_status tutti_backend_check(tutti_context *context, const tutti_backend *backend,
                                      const struct tutti_job *job) {
  TUTTI_TRY(context, tutti_backend_check_members(context, backend, job));
  for (size_t i = 0; job->network && i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    enum tutti_status status = TUTTI_OK;
    if (!supports_layer(backend, layer))
      TUTTI_ASK(context, backend,
                status = tutti_backend_refuse(context, backend->instance.descriptor->name, &backend->ops,
                                              backend->instance.self, i, layer));
    TUTTI_TRY(context, status);
  }
  if (backend->ops.check)
    TUTTI_CALL(context, backend, backend->ops.check(backend->instance.self, context, job));
  return TUTTI_OK;
}

/* Check that an outcome is consistent. */
enum tutti_status tutti_backend_check_outcome(tutti_context *context, const tutti_backend *backend,
                                              const struct tutti_job *job, struct tutti_outcome *outcome) {
  if (!tutti_state_name(outcome->state))
    return TUTTI_BREACH(context, &backend->instance, "train gave state %d", (int)outcome->state);
  if (outcome->state == TUTTI_STATE_FINISHED && job->task->kind != TUTTI_TASK_VALUE && !outcome->weights)
    return TUTTI_BREACH(context, &backend->instance, "train finished without weights");
  outcome->failure[sizeof outcome->failure - 1] = '\0';
  return TUTTI_OK;
}

enum tutti_status tutti_backend_train(tutti_context *context, const tutti_backend *backend, const struct tutti_job *job,
                                      struct tutti_outcome *outcome) {
  if (!backend->ops.train)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s trains nothing itself, but chooses who does",
                      backend->instance.descriptor->name);
  TUTTI_TRY(context, tutti_backend_check_members(context, backend, job));
  TUTTI_CALL(context, backend, backend->ops.train(backend->instance.self, context, job, outcome));
  return tutti_backend_check_outcome(context, backend, job, outcome);
}

enum tutti_status tutti_backend_check_predictions(tutti_context *context, const tutti_backend *backend,
                                                  const struct tutti_task *task, const char *split, size_t rows,
                                                  const float *out) {
  const char *fault = tutti_predictions_fault(task->kind, rows, task->outputs, out);
  if (!fault)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "backend %s: its predictions%s%s %s",
                    backend->instance.descriptor->name, split ? " on split " : "", split ? split : "", fault);
}

enum tutti_status tutti_backend_predict(tutti_context *context, const tutti_backend *backend,
                                        const struct tutti_job *job, const tutti_tensors *weights,
                                        const tutti_split *split, float *out) {
  if (!backend->ops.predict)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s does not predict",
                      backend->instance.descriptor->name);
  TUTTI_CALL(context, backend, backend->ops.predict(backend->instance.self, context, job, weights, split, out));
  return tutti_backend_check_predictions(context, backend, job->task, tutti_split_name(split), tutti_split_rows(split),
                                         out);
}

enum tutti_status tutti_backend_formula(tutti_context *context, const tutti_backend *backend,
                                        const struct tutti_job *job, const tutti_tensors *weights,
                                        tutti_formula *formula, struct tutti_predicted_terms *terms) {
  if (!backend->ops.formula)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s cannot write down what its models compute",
                      backend->instance.descriptor->name);
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_predicted_terms, terms, epistemic));
  terms->mean = terms->variance = terms->epistemic = TUTTI_NO_TERM;
  TUTTI_CALL(context, backend, backend->ops.formula(backend->instance.self, context, job, weights, formula, terms));
  if (tutti_formula_status(formula) != TUTTI_OK)
    return tutti_error_trace(context, tutti_instance_blame(context, &backend->instance, tutti_formula_status(formula)),
                             __FILE__, __LINE__, __func__);
  size_t outputs = job->task->outputs;
  if (!tutti_formula_answers(formula, terms->mean, outputs) ||
      (terms->variance != TUTTI_NO_TERM && !tutti_formula_answers(formula, terms->variance, outputs)) ||
      (terms->epistemic != TUTTI_NO_TERM && !tutti_formula_answers(formula, terms->epistemic, outputs)))
    return TUTTI_BREACH(context, &backend->instance, "formula gave no terms of the task's %zu outputs", outputs);
  if (terms->epistemic != TUTTI_NO_TERM && terms->variance == TUTTI_NO_TERM)
    return TUTTI_BREACH(context, &backend->instance, "formula gave a part of the variance, but no variance");
  return TUTTI_OK;
}

size_t tutti_backend_unread(const tutti_backend *backend, const struct tutti_job *job) {
  size_t answer = 0;
  if (backend->ops.unread && job->network)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend, answer = backend->ops.unread(backend->instance.self, job));
  return answer;
}

static enum tutti_status flops_of_network(tutti_context *context, const tutti_backend *backend,
                                          const struct tutti_job *job, double *flops) {
  tutti_network *computed;
  TUTTI_TRY(context, tutti_network_narrow(context, job->network, tutti_backend_unread(backend, job), &computed));
  *flops = tutti_network_flops(computed);
  tutti_network_destroy(computed);
  return TUTTI_OK;
}

enum tutti_status tutti_backend_flops(tutti_context *context, const tutti_backend *backend, const struct tutti_job *job,
                                      const tutti_tensors *weights, double *flops) {
  const struct tutti_shape input = job->task->input;
  struct tutti_predicted_terms terms = {.size = sizeof terms};
  tutti_formula *formula;
  *flops = 0;
  if (job->network)
    return flops_of_network(context, backend, job, flops);
  if (!backend->ops.formula)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_formula_create_counting(context, &formula));
  terms.inputs = tutti_formula_input(formula, (size_t)input.height * (size_t)input.width * (size_t)input.channels);
  enum tutti_status status = tutti_backend_formula(context, backend, job, weights, formula, &terms);
  if (status == TUTTI_OK)
    *flops = tutti_formula_flops(formula);
  tutti_formula_destroy(formula);
  if (status != TUTTI_ERROR_UNSUPPORTED)
    return status;
  tutti_error_clear(context); /* this model cannot say it */
  return TUTTI_OK;
}

bool tutti_backend_keeps_rows(const tutti_backend *backend) { return backend->ops.keeps_rows; }

bool tutti_backend_tells_epistemic(const tutti_backend *backend, const struct tutti_job *job) {
  bool answer = false;
  if (backend->ops.tells_epistemic)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend, answer = backend->ops.tells_epistemic(backend->instance.self, job));
  return answer;
}

enum tutti_status tutti_backend_check_parts(tutti_context *context, const tutti_backend *backend,
                                            const struct tutti_task *task, const char *split, size_t rows,
                                            const float *out, const float *epistemic) {
  const char *fault = tutti_parts_fault(task->kind, rows, task->outputs, out, epistemic);
  if (!fault)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "backend %s: its predictions%s%s %s",
                    backend->instance.descriptor->name, split ? " on split " : "", split ? split : "", fault);
}

enum tutti_status tutti_backend_has_no_parts(tutti_context *context, const tutti_backend *backend) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "backend %s does not tell which part of a model's uncertainty is its own",
                    backend->instance.descriptor->name);
}

enum tutti_status tutti_backend_predict_parts(tutti_context *context, const tutti_backend *backend,
                                              const struct tutti_job *job, const tutti_tensors *weights,
                                              const tutti_split *split, float *out, float *epistemic) {
  if (!tutti_backend_tells_epistemic(backend, job))
    return tutti_backend_has_no_parts(context, backend);
  TUTTI_CALL(context, backend,
             backend->ops.predict_parts(backend->instance.self, context, job, weights, split, out, epistemic));
  TUTTI_TRY(context, tutti_backend_check_predictions(context, backend, job->task, tutti_split_name(split),
                                                     tutti_split_rows(split), out));
  return tutti_backend_check_parts(context, backend, job->task, tutti_split_name(split), tutti_split_rows(split), out,
                                   epistemic);
}

enum tutti_status tutti_backend_gradient(tutti_context *context, const tutti_backend *backend,
                                         const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                         tutti_tensors **gradient) {
  if (!backend->ops.gradient)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend %s does not give gradients",
                      backend->instance.descriptor->name);
  TUTTI_TRY(context, tutti_backend_check_members(context, backend, job));
  TUTTI_CALL(context, backend, backend->ops.gradient(backend->instance.self, context, job, weights, loss, gradient));
  return TUTTI_OK;
}

uint32_t tutti_backend_epochs(const tutti_backend *backend, const tutti_config *config) {
  uint32_t answer = 0;
  if (backend->ops.epochs)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend,
              answer = backend->ops.epochs(backend->instance.self, tutti_config_values(config)));
  return answer;
}

size_t tutti_backend_capacity(const tutti_backend *backend) {
  size_t capacity = 1;
  if (backend->ops.capacity)
    TUTTI_ASK(TUTTI_CONTEXT_OF(backend), backend, capacity = backend->ops.capacity(backend->instance.self));
  return capacity ? capacity : 1;
}

/* Stands between train_many and the caller's `done`: each job is done once, and its outcome is checked. */
struct watch {
  tutti_context *context;
  const tutti_backend *backend;
  size_t count;
  const struct tutti_job *const *jobs;
  struct tutti_outcome *const *outcomes;
  void (*done)(void *argument, size_t index);
  void *argument;
  bool *seen;         /* [count] */
  size_t wrong;       /* calls that should not have come */
  size_t wrong_index; /* of the first */
};

static void watch_done(void *argument, size_t index) {
  struct watch *watch = argument;
  if (index >= watch->count || watch->seen[index]) {
    watch->wrong_index = watch->wrong++ ? watch->wrong_index : index;
    return;
  }
  struct tutti_outcome *outcome = watch->outcomes[index];
  watch->seen[index] = true;
  if (tutti_backend_check_outcome(watch->context, watch->backend, watch->jobs[index], outcome) != TUTTI_OK) {
    outcome->state = TUTTI_STATE_FAILED;
    (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", tutti_error_message(watch->context));
    tutti_error_clear(watch->context);
  }
  watch->done(watch->argument, index);
}

static enum tutti_status check_watch(const struct watch *watch) {
  size_t missing = 0;
  while (missing < watch->count && watch->seen[missing])
    missing++;
  if (watch->wrong)
    return TUTTI_BREACH(watch->context, &watch->backend->instance, "train_many called done for job %zu of %zu, %s",
                        watch->wrong_index, watch->count,
                        watch->wrong_index < watch->count ? "which was done already" : "which there is not");
  if (missing < watch->count)
    return TUTTI_BREACH(watch->context, &watch->backend->instance,
                        "train_many returned, but never called done for job %zu of %zu", missing, watch->count);
  return TUTTI_OK;
}

static enum tutti_status train_together(struct watch *watch) {
  tutti_context *context = watch->context;
  const tutti_backend *backend = watch->backend;
  TUTTI_CALL(context, backend,
             backend->ops.train_many(backend->instance.self, context, watch->count, watch->jobs, watch->outcomes,
                                     watch_done, watch));
  return check_watch(watch);
}

enum tutti_status tutti_backend_train_many(tutti_context *context, const tutti_backend *backend, size_t count,
                                           const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                           void (*done)(void *argument, size_t index), void *argument) {
  struct watch watch = {.context = context,
                        .backend = backend,
                        .count = count,
                        .jobs = jobs,
                        .outcomes = outcomes,
                        .done = done,
                        .argument = argument};
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_backend_check_members(context, backend, jobs[i]));
  if (backend->ops.train_many) {
    TUTTI_TRY(context, tutti_alloc(context, count, sizeof *watch.seen, &watch.seen));
    enum tutti_status status = train_together(&watch);
    tutti_free(watch.seen);
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    TUTTI_TRY(context, tutti_backend_train(context, backend, jobs[i], outcomes[i]));
    done(argument, i);
  }
  return TUTTI_OK;
}
