/* executor.c - kind executor: checks around its ops. */
#include "instance_impl.h"

#include <tutti/executor.h>

struct tutti_executor {
  struct tutti_instance instance;
  struct tutti_executor_ops ops;
};

enum tutti_status tutti_executor_create(tutti_context *context, const tutti_host *host, const char *section,
                                        const struct tutti_executor_setup *setup, tutti_executor **out) {
  tutti_executor *executor;
  *out = NULL;
  if (setup->workers == 0 || setup->capacity == 0 || !setup->worker_command || !setup->worker_command[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "an executor needs workers, capacity and a worker command");
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *executor, &executor));
  enum tutti_status status = tutti_instance_create(context, host, section, TUTTI_KIND_EXECUTOR, setup, &executor->ops,
                                                   sizeof executor->ops, &executor->instance);
  if (status != TUTTI_OK) {
    tutti_executor_destroy(executor);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  *out = executor;
  return TUTTI_OK;
}

void tutti_executor_destroy(tutti_executor *executor) {
  if (executor)
    tutti_instance_destroy(&executor->instance);
  tutti_free(executor);
}

const struct tutti_descriptor *tutti_executor_descriptor(const tutti_executor *executor) {
  return executor->instance.descriptor;
}

size_t tutti_executor_capacity(const tutti_executor *executor) {
  return executor->ops.capacity(executor->instance.self);
}

enum tutti_status tutti_executor_submit(tutti_context *context, tutti_executor *executor, uint64_t trial,
                                        const char *request) {
  TUTTI_CALL(context, executor, executor->ops.submit(executor->instance.self, context, trial, request));
  return TUTTI_OK;
}

enum tutti_status tutti_executor_wait(tutti_context *context, tutti_executor *executor, double timeout,
                                      struct tutti_reply *reply) {
  *reply = (struct tutti_reply){.size = sizeof *reply, .kind = TUTTI_REPLY_NONE};
  TUTTI_CALL(context, executor, executor->ops.wait(executor->instance.self, context, timeout, reply));
  if ((unsigned)reply->kind > TUTTI_REPLY_TIMED_OUT)
    return TUTTI_BREACH(context, &executor->instance, "wait gave a reply of kind %d", (int)reply->kind);
  if (reply->kind != TUTTI_REPLY_NONE && !reply->text)
    return TUTTI_BREACH(context, &executor->instance, "wait gave a reply without a text");
  return TUTTI_OK;
}
