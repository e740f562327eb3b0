/* space_fixture.h - for tests that include a space's source: instances with given parameters, decoded networks. Include
   it behind the space. */
#ifndef SPACE_FIXTURE_H
#define SPACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

static tutti_context *context;
static tutti_host *host;
static tutti_space *space;
static struct tutti_task task;

/* A regression of 5 features and 2 targets. */
static inline struct tutti_task table_task(void) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_REGRESSION,
                             .input = {1, 1, 5},
                             .outputs = 2,
                             .train_rows = 100,
                             .head = TUTTI_OP_HEAD_GAUSSIAN};
}

/* A classification of square images. */
static inline struct tutti_task image_task(int32_t side, int32_t channels, size_t classes) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_CLASSIFICATION,
                             .input = {side, side, channels},
                             .outputs = classes,
                             .train_rows = 100,
                             .head = TUTTI_OP_HEAD_SOFTMAX};
}

static inline int begin(void **state) {
  (void)state;
  struct tutti_host_facts facts = {.size = sizeof facts};
  task = table_task();
  space = NULL;
  return tutti_context_create(&context) != TUTTI_OK || tutti_plugin_register(context, tutti_plugin()) != TUTTI_OK ||
         tutti_host_create(context, &facts, &host) != TUTTI_OK ||
         tutti_host_put(context, host, "space", TUTTI_KIND_SPACE, tutti_plugin()->name) != TUTTI_OK;
}

static inline int end(void **state) {
  (void)state;
  tutti_space_destroy(space);
  tutti_host_destroy(host);
  tutti_context_destroy(context);
  return 0;
}

static inline void set(const char *name, const char *value) {
  if (tutti_host_set(context, host, "space", name, value) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static inline enum tutti_status create(void) {
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &task};
  return tutti_space_create(context, host, "space", &setup, &space);
}

static inline void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static inline void must_fail(enum tutti_status status, enum tutti_status expected, const char *message) {
  assert_int_equal(status, expected);
  if (!strstr(tutti_error_message(context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), message);
}

/* Decode a genotype written in JSON. */
static inline tutti_network *decoded(const char *json) {
  tutti_genotype *genotype;
  tutti_network *network;
  must(tutti_space_parse(context, space, json, &genotype));
  must(tutti_space_decode(context, genotype, &task, &network));
  tutti_genotype_unref(genotype);
  return network;
}

/* "dense 16, activation relu, ..." of all layers but the input. */
static inline void assert_layers(const tutti_network *network, const char *expected) {
  char text[1024] = "";
  for (size_t i = 1; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    size_t used = strlen(text);
    char detail[64] = "";
    if (layer->op == TUTTI_OP_DENSE)
      (void)snprintf(detail, sizeof detail, " %d", layer->shape.channels);
    if (layer->op == TUTTI_OP_ACTIVATION)
      (void)snprintf(detail, sizeof detail, " %s",
                     tutti_activation_name((enum tutti_activation)tutti_layer_integer(layer, "activation", -1)));
    if (layer->op == TUTTI_OP_DROPOUT)
      (void)snprintf(detail, sizeof detail, " %g", tutti_layer_real(layer, "rate", 0));
    (void)snprintf(text + used, sizeof text - used, "%s%s%s", i > 1 ? ", " : "", layer->op_name, detail);
  }
  assert_string_equal(text, expected);
}

#endif
