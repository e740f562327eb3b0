/* executor.c - kind executor: checks around its ops. */
#include "core/base/sized_impl.h"
#include "core/plugin/instance_impl.h"

#include <tutti/clock.h>
#include <tutti/hosting.h>

struct tutti_executor {
  struct tutti_instance instance;
  struct tutti_executor_ops ops;
};

static enum tutti_status check_setup(tutti_context *context, const void *object, const void *setup_) {
  const struct tutti_executor_setup *setup = setup_;
  (void)object;
  if (setup->workers == 0 || setup->capacity == 0 || !setup->worker_command || !setup->worker_command[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "an executor needs workers, capacity and a worker command");
  return TUTTI_OK;
}

TUTTI_DEFINE_KIND(EXECUTOR, executor,
                  .required = {TUTTI_REQUIRED_OP(executor, capacity), TUTTI_REQUIRED_OP(executor, submit),
                               TUTTI_REQUIRED_OP(executor, wait)},
                  .check = check_setup)

size_t tutti_executor_capacity(const tutti_executor *executor) {
  size_t capacity;
  TUTTI_ASK(TUTTI_CONTEXT_OF(executor), executor, capacity = executor->ops.capacity(executor->instance.self));
  return capacity;
}

enum tutti_status tutti_executor_submit(tutti_context *context, tutti_executor *executor, uint64_t trial,
                                        const char *request) {
  TUTTI_CALL(context, executor, executor->ops.submit(executor->instance.self, context, trial, request));
  return TUTTI_OK;
}

enum tutti_status tutti_executor_wait(tutti_context *context, tutti_executor *executor, double timeout,
                                      struct tutti_reply *reply) {
  struct tutti_reply own = {.size = sizeof own, .kind = TUTTI_REPLY_NONE};
  const struct tutti_reply none = own;
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_reply, reply, seconds));
  TUTTI_GIVE(reply, &none);
  TUTTI_CALL(context, executor, executor->ops.wait(executor->instance.self, context, timeout, &own));
  TUTTI_GIVE(reply, &own);
  if ((unsigned)own.kind > TUTTI_REPLY_TIMED_OUT)
    return TUTTI_BREACH(context, &executor->instance, "wait gave a reply of kind %d", (int)own.kind);
  if (own.kind != TUTTI_REPLY_NONE && !own.text)
    return TUTTI_BREACH(context, &executor->instance, "wait gave a reply without a text");
  return TUTTI_OK;
}

enum tutti_status tutti_executor_stop(tutti_context *context, tutti_executor *executor, uint64_t trial,
                                      const char *text) {
  if (executor->ops.stop)
    TUTTI_CALL(context, executor, executor->ops.stop(executor->instance.self, context, trial, text));
  return TUTTI_OK;
}

enum tutti_status tutti_executor_end(tutti_context *context, tutti_executor *executor, uint64_t trial) {
  if (executor->ops.end)
    TUTTI_CALL(context, executor, executor->ops.end(executor->instance.self, context, trial));
  return TUTTI_OK;
}

double tutti_executor_clock(const tutti_executor *executor) {
  double now;
  if (!executor->ops.clock)
    return tutti_clock();
  TUTTI_ASK(TUTTI_CONTEXT_OF(executor), executor, now = executor->ops.clock(executor->instance.self));
  return now;
}

enum tutti_status tutti_executor_describe(tutti_context *context, tutti_executor *executor, char **json) {
  *json = NULL;
  if (executor->ops.describe)
    TUTTI_CALL(context, executor, executor->ops.describe(executor->instance.self, context, json));
  return TUTTI_OK;
}

/* It serves as long as the run lasts, so nobody is told that the plugin's code runs. */
enum tutti_status tutti_executor_serve(tutti_context *context, const tutti_host *host, const char *section,
                                       const struct tutti_executor_setup *setup, tutti_executor **executor,
                                       bool *served) {
  *served = false;
  *executor = NULL;
  TUTTI_TRY(context, tutti_executor_create(context, host, section, setup, executor));
  if (!(*executor)->ops.serve) {
    tutti_executor_destroy(*executor);
    *executor = NULL;
    return TUTTI_OK;
  }
  enum tutti_status status = (*executor)->ops.serve((*executor)->instance.self, context, served);
  return status == TUTTI_OK ? TUTTI_OK : tutti_instance_blame(context, &(*executor)->instance, status);
}
