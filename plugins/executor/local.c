/* executor local: worker processes on this machine, which share its cores: plugins/shared/crew. The manager decides
   whether a trial that was lost is tried again. */
#include "plugins/shared/crew/crew.h"

struct executor_local_config {
  struct crew_config crew;
  const char *devices;
};

static const struct tutti_param executor_local_params[] = {
    TUTTI_STRING(struct executor_local_config, devices, "",
                 "Devices, separated by spaces or commas, as in 0,1: the workers see one each, in turn "
                 "(CUDA_VISIBLE_DEVICES). Empty: each sees all."),
    CREW_PARAMS(struct executor_local_config),
};

struct executor_local {
  struct crew *crew;
  struct crew_devices devices;
};

static void executor_destroy_local(void *self) {
  struct executor_local *local = self;
  crew_destroy(local->crew);
  crew_devices_release(&local->devices);
  tutti_free(local);
}

static enum tutti_status executor_create_local(tutti_context *context, const void *config, const void *setup,
                                               void **self) {
  const struct executor_local_config *given = config;
  struct executor_local *local;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *local, &local));
  enum tutti_status status = crew_devices_read(context, given->devices, &local->devices);
  if (status == TUTTI_OK)
    status = crew_create(context, &given->crew, setup, local->devices.count, local->devices.names, &local->crew);
  if (status != TUTTI_OK) {
    executor_destroy_local(local);
    return status;
  }
  *self = local;
  return TUTTI_OK;
}

static size_t executor_capacity_local(void *self) { return crew_capacity(((struct executor_local *)self)->crew); }

static enum tutti_status executor_submit_local(void *self, tutti_context *context, uint64_t trial,
                                               const char *request) {
  return crew_submit(((struct executor_local *)self)->crew, context, trial, request);
}

static enum tutti_status executor_wait_local(void *self, tutti_context *context, double timeout,
                                             struct tutti_reply *reply) {
  return crew_wait(((struct executor_local *)self)->crew, context, timeout, reply);
}

static enum tutti_status executor_stop_local(void *self, tutti_context *context, uint64_t trial, const char *text) {
  crew_stop(((struct executor_local *)self)->crew, context, trial, text);
  return TUTTI_OK;
}

static enum tutti_status executor_end_local(void *self, tutti_context *context, uint64_t trial) {
  return crew_end(((struct executor_local *)self)->crew, context, trial);
}

static const struct tutti_executor_ops executor_local_ops = {
    .size = sizeof executor_local_ops,
    .capacity = executor_capacity_local,
    .submit = executor_submit_local,
    .wait = executor_wait_local,
    .stop = executor_stop_local,
    .end = executor_end_local,
};

static const struct tutti_descriptor executor_local_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "local"),
    .version = "1.0",
    .summary = "worker processes on this machine",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(executor_local_params, struct executor_local_config),
    .create = executor_create_local,
    .destroy = executor_destroy_local,
    .ops = &executor_local_ops,
};

TUTTI_PLUGIN(executor_local_descriptor)
