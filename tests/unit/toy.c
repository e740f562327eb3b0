/* toy.c - a scope for tests of searches. */
#include "toy.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/registry.h>

struct toy_config {
  int64_t depths;
};

static const struct tutti_param toy_params[] = {
    {.name = "depths",
     .type = TUTTI_PARAM_INTEGER,
     .offset = offsetof(struct toy_config, depths),
     .preset = "1",
     .min = 1,
     .max = 1000000,
     .doc = "Number of architectures."},
};

struct toy_space {
  tutti_domain *domain;
};

static void space_destroy_toy(void *instance) {
  struct toy_space *self = instance;
  tutti_domain_destroy(self->domain);
  tutti_free(self);
}

static enum tutti_status space_create_toy(tutti_context *context, const void *config, const void *setup,
                                          void **instance) {
  struct toy_space *self = NULL;
  struct tutti_dimension depth = {.size = sizeof(depth),
                                  .name = "depth",
                                  .type = TUTTI_DIMENSION_INTEGER,
                                  .low = 1,
                                  .high = (double)((const struct toy_config *)config)->depths};
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  TUTTI_TRY(context, tutti_domain_create(context, &self->domain));
  TUTTI_TRY(context, tutti_domain_add(context, self->domain, &depth));
  *instance = self;
  return TUTTI_OK;
}

static enum tutti_status space_decode_toy(void *instance, tutti_context *context, const tutti_genotype *genotype,
                                          const struct tutti_task *task, tutti_network **network) {
  (void)instance, (void)genotype, (void)task, (void)network;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "a toy has no networks");
}

static const tutti_domain *space_domain_toy(void *instance) { return ((struct toy_space *)instance)->domain; }

static const struct tutti_space_ops toy_ops = {
    .size = sizeof(toy_ops), .decode = space_decode_toy, .domain = space_domain_toy};

static const struct tutti_descriptor toy_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "toy"),
    .version = "1.0",
    .summary = "one integer",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(toy_params, struct toy_config),
    .create = space_create_toy,
    .destroy = space_destroy_toy,
    .ops = &toy_ops,
};

void toy_ok(struct toy *toy, enum tutti_status status, const char *what, const char *file, int line) {
  if (status == TUTTI_OK)
    return;
  print_error("%s: %s: %s\n%s\n", what, tutti_status_name(status), tutti_error_message(toy->context),
              tutti_error_trace_text(toy->context));
  _fail(file, line);
}

static void add_dimensions(struct toy *toy, const char *lines) {
  char *copy = strdup(lines), *rest = copy;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
    char *text = strstr(line, " = ");
    if (!text)
      continue;
    *text = 0;
    TOY_OK(toy, tutti_domain_add_text(toy->context, toy->hyperparameters, line, text + 3));
  }
  free(copy);
}

/* The host, with a space plugin in its section. */
static void begin(struct toy *toy, uint64_t seed, size_t window, const struct tutti_descriptor *space) {
  memset(toy, 0, sizeof(*toy));
  assert_int_equal(tutti_context_create(&toy->context), TUTTI_OK);
  toy->task = (struct tutti_task){.size = sizeof(toy->task), .kind = TUTTI_TASK_VALUE};
  toy->facts = (struct tutti_host_facts){
      .size = sizeof(toy->facts), .seed = seed, .budget = 1000, .window = window, .task = &toy->task};
  TOY_OK(toy, tutti_host_create(toy->context, &toy->facts, &toy->host));
  TOY_OK(toy, tutti_plugin_register(toy->context, space));
  toy_put(toy, "space", TUTTI_KIND_SPACE, space->name);
}

/* The space, and the scope with it. */
static void finish(struct toy *toy, const char *hyperparameters) {
  struct tutti_space_setup setup = {.size = sizeof(setup), .task = &toy->task};
  TOY_OK(toy, tutti_space_create(toy->context, toy->host, "space", &setup, &toy->space));
  TOY_OK(toy, tutti_domain_create(toy->context, &toy->hyperparameters));
  add_dimensions(toy, hyperparameters ? hyperparameters : "");
  TOY_OK(toy, tutti_scope_create(toy->context, toy->space, toy->hyperparameters, &toy->scope));
  toy->facts.scope = toy->scope;
  tutti_host_set_facts(toy->host, &toy->facts);
}

void toy_create(struct toy *toy, uint64_t seed, size_t window, int depths, const char *hyperparameters) {
  char text[32];
  begin(toy, seed, window, &toy_descriptor);
  snprintf(text, sizeof(text), "%d", depths);
  toy_set(toy, "space", "depths", text);
  finish(toy, hyperparameters);
}

void toy_create_in(struct toy *toy, uint64_t seed, size_t window, const struct tutti_descriptor *space,
                   const char *hyperparameters) {
  begin(toy, seed, window, space);
  finish(toy, hyperparameters);
}

void toy_destroy(struct toy *toy) {
  tutti_scope_destroy(toy->scope);
  tutti_domain_destroy(toy->hyperparameters);
  tutti_space_destroy(toy->space);
  tutti_host_destroy(toy->host);
  tutti_context_destroy(toy->context);
}

void toy_put(struct toy *toy, const char *section, enum tutti_kind kind, const char *plugin) {
  TOY_OK(toy, tutti_host_put(toy->context, toy->host, section, kind, plugin));
}

void toy_set(struct toy *toy, const char *section, const char *name, const char *text) {
  TOY_OK(toy, tutti_host_set(toy->context, toy->host, section, name, text));
}
