/* executor local: worker processes on this machine, which share its cores: plugins/shared/crew. The manager decides
   whether a trial that was lost is tried again. */
#include "plugins/shared/crew/crew.h"

struct executor_local_config {
  struct crew_config crew;
};

static const struct tutti_param executor_local_params[] = {
    CREW_PARAMS(struct executor_local_config),
};

static void executor_destroy_local(void *self) { crew_destroy(self); }

static enum tutti_status executor_create_local(tutti_context *context, const void *config, const void *setup,
                                               void **self) {
  const struct executor_local_config *given = config;
  struct crew *crew = NULL;
  TUTTI_TRY(context, crew_create(context, &given->crew, setup, 0, NULL, &crew));
  *self = crew;
  return TUTTI_OK;
}

static size_t executor_capacity_local(void *self) { return crew_capacity(self); }

static enum tutti_status executor_submit_local(void *self, tutti_context *context, uint64_t trial,
                                               const char *request) {
  return crew_submit(self, context, trial, request);
}

static enum tutti_status executor_wait_local(void *self, tutti_context *context, double timeout,
                                             struct tutti_reply *reply) {
  return crew_wait(self, context, timeout, reply);
}

static enum tutti_status executor_stop_local(void *self, tutti_context *context, uint64_t trial, const char *text) {
  crew_stop(self, context, trial, text);
  return TUTTI_OK;
}

static const struct tutti_executor_ops executor_local_ops = {
    .size = sizeof executor_local_ops,
    .capacity = executor_capacity_local,
    .submit = executor_submit_local,
    .wait = executor_wait_local,
    .stop = executor_stop_local,
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
