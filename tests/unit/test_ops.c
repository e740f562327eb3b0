/* test_ops.c - ops that plugins bring: a space and a backend of a third party with an op "acme-gate", from the
   definition to the backends that take or refuse its layers; definitions that are wrong, that differ, that are older or
   newer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "core/base/running_impl.h"
#include "core/network/network_impl.h"

/* --- the op --- */

static const char *const gate_modes[] = {"soft", "hard", NULL};
static const struct tutti_attribute_definition gate_attributes[] = {
    {.name = "width",
     .type = TUTTI_ATTRIBUTE_INTEGER,
     .flags = TUTTI_ATTRIBUTE_REQUIRED,
     .min = 1,
     .max = 1000,
     .doc = "Channels."},
    {.name = "slope", .type = TUTTI_ATTRIBUTE_REAL, .preset = 1, .doc = "Of the gate."},
    {.name = "mode", .type = TUTTI_ATTRIBUTE_CHOICE, .choices = gate_modes, .doc = "How it closes."},
    {.name = "residual", .type = TUTTI_ATTRIBUTE_FLAG, .preset = true, .doc = "Add the input."},
    {.name = "l2", .type = TUTTI_ATTRIBUTE_REAL, .flags = TUTTI_ATTRIBUTE_OPTIONAL, .doc = "L2 weight."},
};

/* y = g(x) W: a number for each pair of channels. Refuses a slope of 13, one of 14 without saying why, and one of 15
   with the name of the plugin that is known to run. */
static enum tutti_status infer_gate(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *inferred) {
  int32_t width = tutti_layer_integer(layer, "width", 1), inputs = inferred->shape.channels;
  double slope = tutti_layer_real(layer, "slope", 1);
  const struct tutti_layer *gate = tutti_network_layer(network, layer->inputs[1]);
  if (gate->shape.channels != inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "needs a gate for each of %d channels, not %d", inputs,
                      gate->shape.channels);
  if (slope == 14)
    return TUTTI_ERROR_UNSUPPORTED;
  double seconds;
  const struct tutti_descriptor *running = tutti_running_plugin(context, &seconds);
  if (slope == 15)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s runs", running ? running->name : "nobody");
  inferred->shape.channels = slope == 13 ? 0 : width;
  inferred->parameters = (size_t)inputs * (size_t)width;
  inferred->flops = 2.0 * inputs * width;
  return TUTTI_OK;
}

static const struct tutti_op_definition gate = {.size = sizeof gate,
                                                .name = "acme-gate",
                                                .min_inputs = 2,
                                                .max_inputs = 2,
                                                .infer = infer_gate,
                                                .attributes = TUTTI_ATTRIBUTE_TABLE(gate_attributes),
                                                .doc = "A gated product."};
static const struct tutti_op_definition *const gates[] = {&gate, NULL};

/* --- the plugins --- */

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

static const tutti_domain *no_domain(void *self) {
  (void)self;
  return NULL;
}

static enum tutti_status no_decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                   const struct tutti_task *task, tutti_network **network) {
  (void)self, (void)genotype, (void)task, (void)network;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "never called");
}

static const struct tutti_space_ops space_ops = {.size = sizeof space_ops, .decode = no_decode, .domain = no_domain};

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op == TUTTI_OP_INPUT || op == TUTTI_OP_DENSE || op == TUTTI_OP_ACTIVATION || op == TUTTI_OP_HEAD_LINEAR;
}

/* Knows the op without its slope, and activations but tanh. */
static bool supports_layer(void *self, const struct tutti_layer *layer) {
  static const char *const known[] = {"units", "bias", "activation", NULL};
  static const char *const known_of_gates[] = {"width", "mode", "residual", NULL};
  (void)self;
  if (layer->op == TUTTI_OP_OTHER)
    return strcmp(layer->op_name, "acme-gate") == 0 && !tutti_layer_unknown(layer, known_of_gates);
  return !tutti_layer_unknown(layer, known) && tutti_layer_integer(layer, "activation", 0) != TUTTI_ACTIVATION_TANH;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  (void)self, (void)job, (void)outcome;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "never called");
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)job, (void)weights, (void)split, (void)out;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "never called");
}

static const struct tutti_backend_ops backend_ops = {.size = sizeof backend_ops,
                                                     .supports = supports,
                                                     .train = train,
                                                     .predict = predict,
                                                     .supports_layer = supports_layer};
/* From a version before `supports_layer`: nothing after its end is read. */
static const struct tutti_backend_ops old_ops = {.size = offsetof(struct tutti_backend_ops, supports_layer),
                                                 .supports = supports,
                                                 .train = train,
                                                 .predict = predict,
                                                 .supports_layer = supports_layer};

#define PLUGIN(kind_, name_, ops_, defines_)                                                                           \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(kind_, name_), .version = "1", .summary = "a test's", .source = "", .licence = "Apache-2.0", \
                                         .params = TUTTI_NO_PARAMS, .create = create, .destroy = tutti_free,           \
                                         .ops = ops_, .defines = defines_                                              \
  }
static const struct tutti_descriptor space_plugin = PLUGIN(TUTTI_KIND_SPACE, "acme", &space_ops, gates);
static const struct tutti_descriptor backend_plugin = PLUGIN(TUTTI_KIND_BACKEND, "acme", &backend_ops, gates);
static const struct tutti_descriptor old_plugin = PLUGIN(TUTTI_KIND_BACKEND, "old", &old_ops, NULL);

/* --- fixture --- */

static tutti_context *context;

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

static void must_fail(enum tutti_status status, enum tutti_status expected, const char *part) {
  assert_int_equal(status, expected);
  if (!strstr(tutti_error_message(context), part))
    fail_msg("expected \"%s\" in: %s", part, tutti_error_message(context));
}

/* Two dense layers of 3, which the gate reads. */
static tutti_network *two_layers(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, (struct tutti_shape){1, 1, 4}, &network));
  OK(tutti_network_add_dense(context, network, "x", 0, 3, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(tutti_network_add_dense(context, network, "gate", 0, 3, TUTTI_ACTIVATION_LINEAR, &layer));
  return network;
}

static enum tutti_status add_gate(tutti_network *network, const struct tutti_attribute *attributes, uint32_t *layer) {
  return tutti_network_add_op(context, network, "acme-gate", "g", 2, (const uint32_t[]){1, 2}, attributes, layer);
}

/* A whole network with a gate. */
static tutti_network *gated(const struct tutti_attribute *attributes) {
  tutti_network *network = two_layers();
  uint32_t layer;
  OK(add_gate(network, attributes, &layer));
  OK(tutti_network_add_dense(context, network, "output", layer, 1, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_HEAD_LINEAR, "head", 1, &layer, NULL, NULL));
  OK(tutti_network_check(context, network));
  return network;
}

/* --- a third party's op --- */

static void an_op_is_known_once_its_plugin_is_loaded(void **state) {
  (void)state;
  tutti_network *network = two_layers();
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}), NULL), TUTTI_ERROR_USAGE, "there is no op \"acme-gate\"");
  OK(tutti_plugin_register(context, &space_plugin));
  assert_string_equal(tutti_op_find(context, "acme-gate")->doc, "A gated product.");
  must_fail(tutti_network_add(context, network, TUTTI_OP_OTHER, NULL, 0, NULL, NULL, NULL), TUTTI_ERROR_USAGE,
            "tutti_network_add_op");
  uint32_t added;
  OK(tutti_network_add_op(context, network, "acme-gate", NULL, 2, (const uint32_t[]){1, 2},
                          TUTTI_ATTRIBUTES({"width", 5}, {"mode", 1}), &added));
  const struct tutti_layer *layer = tutti_network_layer(network, added);
  assert_int_equal(layer->op, TUTTI_OP_OTHER);
  assert_string_equal(layer->op_name, "acme-gate");
  assert_string_equal(layer->label, "acme-gate3");
  assert_int_equal(layer->shape.channels, 5);
  assert_int_equal(layer->parameters, 15);
  assert_true(layer->flops == 30);
  assert_int_equal(tutti_network_parameters(network), 2 * 15 + 15);
  assert_int_equal(tutti_layer_integer(layer, "mode", 0), 1);
  assert_true(tutti_layer_flag(layer, "residual", false));
  /* A built-in op goes by name, too, and an input is none that could be added. */
  OK(tutti_network_add_op(context, network, "dense", NULL, 1, &added, TUTTI_ATTRIBUTES({"units", 2}), &added));
  assert_int_equal(tutti_network_layer(network, added)->op, TUTTI_OP_DENSE);
  must_fail(tutti_network_add_op(context, network, "input", NULL, 0, NULL, NULL, NULL), TUTTI_ERROR_USAGE,
            "only layer 0 is an input");
  tutti_network_destroy(network);
}

static void errors_of_an_op_name_the_layer(void **state) {
  (void)state;
  OK(tutti_plugin_register(context, &space_plugin));
  tutti_network *network = two_layers();
  must_fail(tutti_network_add_op(context, network, "acme-gate", "g", 2, (const uint32_t[]){1, 0},
                                 TUTTI_ATTRIBUTES({"width", 5}), NULL),
            TUTTI_ERROR_USAGE, "layer \"g\" (acme-gate): needs a gate for each of 3 channels, not 4");
  must_fail(tutti_network_add_op(context, network, "acme-gate", "g", 1, (const uint32_t[]){1}, NULL, NULL),
            TUTTI_ERROR_USAGE, "layer \"g\" (acme-gate) has 1 inputs; it takes 2");
  must_fail(add_gate(network, NULL, NULL), TUTTI_ERROR_USAGE,
            "layer \"g\" (acme-gate): width must be in [1, 1000], and is not given");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 1001}), NULL), TUTTI_ERROR_USAGE, "not 1001");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}, {"mode", 2}), NULL), TUTTI_ERROR_USAGE, "unknown mode");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}, {"slop", 2}), NULL), TUTTI_ERROR_USAGE,
            "did you mean \"slope\"?");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}, {"slope", 13}), NULL), TUTTI_ERROR_USAGE,
            "layer \"g\" (acme-gate) has the shape 1 x 1 x 0");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}, {"slope", 14}), NULL), TUTTI_ERROR_UNSUPPORTED,
            "layer \"g\" (acme-gate): its shape cannot be inferred (unsupported), and the op does not say why");
  must_fail(add_gate(network, TUTTI_ATTRIBUTES({"width", 5}, {"slope", 15}), NULL), TUTTI_ERROR_USAGE,
            "layer \"g\" (acme-gate): acme runs");
  double seconds;
  assert_null(tutti_running_plugin(context, &seconds));
  assert_int_equal(tutti_network_layers(network), 3);
  tutti_network_destroy(network);
}

/* As in a worker or a reader of a run: their context knows the op from the plugin that the recipe names. */
static void json_has_the_op(void **state) {
  (void)state;
  tutti_context *other;
  tutti_network *again, *copy;
  char *json, *json_again;
  OK(tutti_plugin_register(context, &space_plugin));
  tutti_network *network = gated(TUTTI_ATTRIBUTES({"width", 5}, {"mode", 1}, {"residual", false}, {"l2", 0.5}));
  OK(tutti_network_print(context, network, &json));
  assert_non_null(strstr(json, "{\"op\": \"acme-gate\", \"label\": \"g\", \"inputs\": [\"x\", \"gate\"], \"width\": 5, "
                               "\"slope\": 1, \"mode\": \"hard\", \"residual\": false, \"l2\": 0.5}"));
  assert_int_equal(tutti_context_create(&other), TUTTI_OK);
  assert_int_equal(tutti_network_parse(other, json, &again), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(other), "there is no op \"acme-gate\""));
  assert_int_equal(tutti_network_copy(other, network, &copy), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_plugin_register(other, &backend_plugin), TUTTI_OK);
  assert_int_equal(tutti_network_parse(other, json, &again), TUTTI_OK);
  assert_int_equal(tutti_network_copy(other, network, &copy), TUTTI_OK);
  tutti_network_destroy(network);
  assert_int_equal(tutti_network_print(other, again, &json_again), TUTTI_OK);
  assert_string_equal(json_again, json);
  tutti_free(json_again);
  assert_int_equal(tutti_network_print(other, copy, &json_again), TUTTI_OK);
  assert_string_equal(json_again, json);
  assert_int_equal(tutti_network_parameters(again), tutti_network_parameters(copy));
  tutti_network_destroy(again);
  tutti_network_destroy(copy);
  tutti_context_destroy(other);
  tutti_free(json), tutti_free(json_again);
}

/* --- backends --- */

struct trainer {
  struct tutti_task task;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_backend *backend;
};

static void open_backend(struct trainer *trainer, const char *name) {
  trainer->task = (struct tutti_task){.size = sizeof trainer->task,
                                      .kind = TUTTI_TASK_REGRESSION,
                                      .input = {1, 1, 4},
                                      .outputs = 1,
                                      .train_rows = 10,
                                      .head = TUTTI_OP_HEAD_LINEAR};
  trainer->facts = (struct tutti_host_facts){.size = sizeof trainer->facts, .task = &trainer->task};
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &trainer->task};
  OK(tutti_host_create(context, &trainer->facts, &trainer->host));
  OK(tutti_host_put(context, trainer->host, "backend", TUTTI_KIND_BACKEND, name));
  OK(tutti_backend_create(context, trainer->host, "backend", &setup, &trainer->backend));
}

static void close_backend(struct trainer *trainer) {
  tutti_backend_destroy(trainer->backend);
  tutti_host_destroy(trainer->host);
}

/* NULL: it must be taken. */
static void check(const struct trainer *trainer, tutti_network *network, const char *refusal) {
  tutti_config *config;
  OK(tutti_backend_configure(context, trainer->backend, NULL, NULL, &config));
  struct tutti_job job = {
      .size = sizeof job, .task = &trainer->task, .network = network, .config = tutti_config_values(config)};
  enum tutti_status status = tutti_backend_check(context, trainer->backend, &job);
  if (!refusal)
    OK(status);
  else
    must_fail(status, TUTTI_ERROR_USAGE, refusal);
  tutti_config_destroy(config);
  tutti_network_destroy(network);
}

static void backends_take_the_layers_that_they_know(void **state) {
  (void)state;
  struct trainer trainer;
  OK(tutti_plugin_register(context, &space_plugin));
  OK(tutti_plugin_register(context, &backend_plugin));
  open_backend(&trainer, "cpu");
  check(&trainer, gated(TUTTI_ATTRIBUTES({"width", 5})),
        "a layer that backend cpu does not have: layer 3 'g', op acme-gate; choose another [backend] or [space]");
  close_backend(&trainer);
  open_backend(&trainer, "acme");
  check(&trainer, gated(TUTTI_ATTRIBUTES({"width", 5}, {"mode", 1})), NULL);
  check(&trainer, gated(TUTTI_ATTRIBUTES({"width", 5}, {"mode", 1}, {"slope", 0.5})),
        "backend acme does not have: layer 3 'g', op acme-gate with slope = 0.5;");
  tutti_network *network;
  OK(tutti_network_create(context, trainer.task.input, &network));
  OK(tutti_network_add_dense(context, network, "h", 0, 3, TUTTI_ACTIVATION_TANH, NULL));
  check(&trainer, network, "backend acme does not have: layer 2 'h-activation', op activation with activation = tanh;");
  OK(tutti_network_create(context, trainer.task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_DROPOUT, NULL, 1, (const uint32_t[]){0}, NULL, NULL));
  check(&trainer, network, "layer 1 'dropout1', op dropout; choose");
  close_backend(&trainer);
}

/* It might compute something else than was asked for, and nobody would notice. */
static void a_backend_that_does_not_say_gets_plain_layers(void **state) {
  (void)state;
  struct trainer trainer;
  tutti_network *network;
  OK(tutti_plugin_register(context, &space_plugin));
  OK(tutti_plugin_register(context, &old_plugin));
  open_backend(&trainer, "old");
  OK(tutti_network_create(context, trainer.task.input, &network));
  OK(tutti_network_add_dense(context, network, "h", 0, 3, TUTTI_ACTIVATION_RELU, NULL));
  check(&trainer, network, NULL);
  OK(tutti_network_create(context, trainer.task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_DENSE, "h", 1, (const uint32_t[]){0},
                       TUTTI_ATTRIBUTES({"units", 3}, {"bias", false}), NULL));
  check(&trainer, network, "backend old does not have: layer 1 'h', op dense with bias = false;");
  check(&trainer, gated(TUTTI_ATTRIBUTES({"width", 5})), "layer 3 'g', op acme-gate;");
  close_backend(&trainer);
}

/* A host of a later version gave a built-in op an attribute, and the activations a name. */
static void backend_cpu_refuses_what_a_later_host_adds(void **state) {
  (void)state;
  static const char *const names[] = {"linear", "elu",        "gelu",     "hard-sigmoid", "relu",
                                      "selu",   "sigmoid",    "softplus", "softsign",     "swish",
                                      "tanh",   "leaky-relu", "crelu",    "mish",         NULL};
  static const struct tutti_attribute_definition attributes[] = {
      {.name = "activation", .type = TUTTI_ATTRIBUTE_CHOICE, .choices = names, .doc = "The function."},
      {.name = "slope", .type = TUTTI_ATTRIBUTE_REAL, .preset = 1, .doc = "Of it."}};
  struct tutti_op_definition later = *tutti_op_find(context, "activation");
  later.attributes = (struct tutti_attribute_definitions)TUTTI_ATTRIBUTE_TABLE(attributes);
  static const struct {
    const struct tutti_attribute given[3];
    const char *refusal;
  } cases[] = {
      {{{"activation", TUTTI_ACTIVATION_TANH}}, NULL},
      {{{"activation", TUTTI_ACTIVATION_COUNT}}, "layer 1 'a', op activation with activation = mish;"},
      {{{"activation", TUTTI_ACTIVATION_TANH}, {"slope", 2}}, "layer 1 'a', op activation with slope = 2;"},
      {{{"activation", TUTTI_ACTIVATION_COUNT}, {"slope", 2}}, "with attributes as it does not take;"},
  };
  struct trainer trainer;
  open_backend(&trainer, "cpu");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_network *network;
    uint32_t layer;
    OK(tutti_network_create(context, trainer.task.input, &network));
    OK(tutti_network_add_defined(context, network, TUTTI_OP_ACTIVATION, &later, "a", 1, (const uint32_t[]){0},
                                 cases[i].given, &layer));
    OK(tutti_network_add_head(context, network, layer, &trainer.task));
    check(&trainer, network, cases[i].refusal);
  }
  close_backend(&trainer);
}

/* --- definitions --- */

static void two_plugins_agree_on_an_op_or_are_refused(void **state) {
  (void)state;
  static const struct tutti_op_definition first = {
      .size = sizeof first, .name = "acme-first", .min_inputs = 1, .max_inputs = 1, .infer = infer_gate};
  struct tutti_attribute_definition attributes[5];
  struct tutti_op_definition differs = gate;
  struct tutti_descriptor other = backend_plugin;
  const struct tutti_op_definition *const list[] = {&first, &differs, NULL};
  other.name = "other";
  other.defines = list;
  memcpy(attributes, gate_attributes, sizeof attributes);
  differs.attributes.table = attributes;
  OK(tutti_plugin_register(context, &space_plugin));
  attributes[1].preset = 2;
  must_fail(tutti_plugin_register(context, &other), TUTTI_ERROR_PLUGIN,
            "op \"acme-gate\" is defined by space acme and, differently, by backend other: they disagree on slope;");
  /* Nothing is left of the plugin that was refused. */
  assert_null(tutti_op_find(context, "acme-first"));
  attributes[1].preset = 1;
  attributes[1].doc = "In other words.";
  differs.max_inputs = 3;
  must_fail(tutti_plugin_register(context, &other), TUTTI_ERROR_PLUGIN, "they disagree on the number of inputs;");
  differs.max_inputs = 2;
  differs.attributes.count = 4;
  must_fail(tutti_plugin_register(context, &other), TUTTI_ERROR_PLUGIN, "they disagree on the number of attributes;");
  differs.attributes.count = 5;
  differs.head = true;
  must_fail(tutti_plugin_register(context, &other), TUTTI_ERROR_PLUGIN, "they disagree on whether it is a head;");
  differs.head = false;
  attributes[2].choices = (const char *const[]){"soft", NULL};
  must_fail(tutti_plugin_register(context, &other), TUTTI_ERROR_PLUGIN, "they disagree on mode;");
  attributes[2].choices = (const char *const[]){"soft", "hard", NULL};
  OK(tutti_plugin_register(context, &other));
  assert_non_null(tutti_op_find(context, "acme-first"));
  assert_string_equal(tutti_op_find(context, "acme-gate")->attributes.table[1].doc, "Of the gate.");
}

static void bad_definitions_are_refused(void **state) {
  (void)state;
#define OP(text, least, rule, ...)                                                                                     \
  {                                                                                                                    \
    .size = sizeof(struct tutti_op_definition), .name = (text), .min_inputs = (least), .max_inputs = 1,                \
    .infer = (rule), __VA_ARGS__                                                                                       \
  }
#define TABLE(...) OP("acme-bad", 1, infer_gate, .attributes = {__VA_ARGS__})
#define ENTRY(text, about, ...)                                                                                        \
  TABLE(&(const struct tutti_attribute_definition){.name = (text), .doc = (about), __VA_ARGS__}, 1,                    \
        sizeof(struct tutti_attribute_definition))
#define SOUND(...) ENTRY("a", "It.", __VA_ARGS__)
  static const char *const choices[] = {"one", "two", NULL}, *const no_choices[] = {NULL}, *const odd[] = {"\"", NULL};
  const struct tutti_attribute_definition twice[] = {{.name = "a", .doc = "It."}, {.name = "a", .doc = "It."}};
  const struct {
    struct tutti_op_definition op;
    const char *part;
  } cases[] = {
      {{.size = offsetof(struct tutti_op_definition, infer)}, "bytes"},
      {{.size = offsetof(struct tutti_op_definition, attributes) + sizeof(void *),
        .name = "acme-bad",
        .infer = infer_gate},
       "end within its attributes"},
      {OP(NULL, 1, infer_gate, .doc = ""), "found \"(null)\""},
      {OP("Acme", 1, infer_gate, .doc = ""), "found \"Acme\""},
      {OP("dense", 1, infer_gate, .doc = ""), "op \"dense\" is built in; give yours another name"},
      {OP("acme-bad", 1, NULL, .doc = ""), "op \"acme-bad\" has no function `infer`"},
      {OP("acme-bad", 0, infer_gate, .doc = ""), "takes 0 to 1 inputs"},
      {OP("acme-bad", 2, infer_gate, .doc = ""), "takes 2 to 1 inputs"},
      {TABLE(NULL, 1, sizeof twice[0]), "the table of attributes is NULL, but counts 1"},
      {TABLE(twice, 1, 8), "the stride of the table of attributes is 8"},
      {TABLE(twice, 1, sizeof twice[0] + 1), "the stride of the table of attributes is"},
      {TABLE(twice, 2, sizeof twice[0]), "attribute \"a\" stands twice"},
      {ENTRY(NULL, "It.", .min = 0), "attribute number 0: its name \"(null)\""},
      {ENTRY("A", "It.", .min = 0), "its name \"A\""},
      {ENTRY("inputs", "It.", .min = 0), "attribute \"inputs\": that is a word of the JSON form"},
      {ENTRY("a", NULL, .min = 0), "it has no doc"},
      {SOUND(.type = (enum tutti_attribute_type)9), "its type is unknown"},
      {SOUND(.flags = 8), "it has a flag that this version does not know"},
      {SOUND(.flags = TUTTI_ATTRIBUTE_OPTIONAL), "only a real that is not required can be optional"},
      {SOUND(.min = 2, .max = 1), "its min is above its max"},
      {SOUND(.min = NAN, .max = 1), "its min is above its max"},
      {SOUND(.min = 1, .max = 5), "the default of an attribute: a must be in [1, 5], not 0"},
      {SOUND(.preset = 0.5), "a must be a whole number in"},
      {SOUND(.type = TUTTI_ATTRIBUTE_REAL, .preset = NAN), "a must be in"},
      {SOUND(.type = TUTTI_ATTRIBUTE_REAL, .preset = INFINITY), "a must be in"},
      {SOUND(.type = TUTTI_ATTRIBUTE_FLAG, .preset = 2), "a must be 0 or 1, not 2"},
      {SOUND(.type = TUTTI_ATTRIBUTE_CHOICE), "it has no choices"},
      {SOUND(.type = TUTTI_ATTRIBUTE_CHOICE, .choices = no_choices), "it has no choices"},
      {SOUND(.type = TUTTI_ATTRIBUTE_CHOICE, .choices = odd), "a choice is of letters"},
      {SOUND(.type = TUTTI_ATTRIBUTE_CHOICE, .choices = choices, .preset = 2), "unknown a: number 2 of 0 to 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct tutti_op_definition *const list[] = {&cases[i].op, NULL};
    struct tutti_descriptor plugin = backend_plugin;
    plugin.defines = list;
    enum tutti_status status = tutti_plugin_register(context, &plugin);
    if (status != TUTTI_ERROR_PLUGIN || !strstr(tutti_error_message(context), cases[i].part) ||
        !strstr(tutti_error_message(context), "linked-in plugin: "))
      fail_msg("case %zu: expected \"%s\" in: %s", i, cases[i].part,
               status ? tutti_error_message(context) : "(it was taken)");
    assert_null(tutti_op_find(context, "acme-bad"));
  }
}

/* An op of a plugin built against newer headers, and one against older headers. */
static void newer_and_older_definitions_are_read(void **state) {
  (void)state;
  static const struct {
    struct tutti_attribute_definition known;
    double more[2];
  } wide[] = {{{.name = "first", .preset = 3, .doc = "One."}, {-1, -1}},
              {{.name = "second", .type = TUTTI_ATTRIBUTE_REAL, .preset = 0.5, .doc = "Two."}, {-1, -1}}};
  static const struct {
    struct tutti_op_definition known;
    double more[2];
  } newer = {{.size = sizeof newer,
              .name = "acme-newer",
              .min_inputs = 1,
              .max_inputs = TUTTI_ANY_NUMBER,
              .infer = infer_gate,
              .attributes = {&wide[0].known, 2, sizeof wide[0]}},
             {-1, -1}};
  /* It ends before its table and `head`, whatever stands there. */
  static const struct tutti_op_definition older = {.size = offsetof(struct tutti_op_definition, attributes),
                                                   .name = "acme-older",
                                                   .min_inputs = 1,
                                                   .max_inputs = 1,
                                                   .infer = infer_gate,
                                                   .attributes = {NULL, 7, 1},
                                                   .head = true};
  static const struct tutti_op_definition *const both[] = {&newer.known, &older, NULL};
  static const struct tutti_descriptor plugin = PLUGIN(TUTTI_KIND_SPACE, "of-all-times", &space_ops, both);
  static struct tutti_descriptor before = PLUGIN(TUTTI_KIND_SPACE, "before", &space_ops, NULL);
  before.size = offsetof(struct tutti_descriptor, defines);
  before.defines = (const struct tutti_op_definition *const *)(uintptr_t)8;
  OK(tutti_plugin_register(context, &before));
  OK(tutti_plugin_register(context, &plugin));
  const struct tutti_op_definition *found = tutti_op_find(context, "acme-newer");
  assert_int_equal(found->size, sizeof *found);
  assert_int_equal(found->attributes.stride, sizeof(struct tutti_attribute_definition));
  assert_int_equal(found->attributes.count, 2);
  assert_string_equal(tutti_attribute_at(&found->attributes, 1)->name, "second");
  tutti_network *network = two_layers();
  uint32_t layer;
  OK(tutti_network_add_op(context, network, "acme-newer", NULL, 2, (const uint32_t[]){1, 2}, NULL, &layer));
  assert_int_equal(tutti_layer_integer(tutti_network_layer(network, layer), "first", 0), 3);
  assert_true(tutti_layer_real(tutti_network_layer(network, layer), "second", 0) == 0.5);
  found = tutti_op_find(context, "acme-older");
  assert_int_equal(found->attributes.count, 0);
  assert_false(found->head);
  tutti_network_destroy(network);
}

/* The entries of the table are larger than a definition: behind this one, nothing may be read. */
static void a_definition_that_nobody_registered_is_no_entry(void **state) {
  (void)state;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  struct tutti_op_definition *last = (void *)(pages + page - sizeof *last);
  *last = gate;
  last->name = "acme-last";
  tutti_network *network = two_layers();
  for (int registered = 0; registered < 2; registered++) { /* without a table of ops, and with one */
    uint32_t layer;
    OK(tutti_network_add_defined(context, network, TUTTI_OP_OTHER, last, NULL, 2, (const uint32_t[]){1, 2},
                                 TUTTI_ATTRIBUTES({"width", 3}, {"mode", 1}), &layer));
    must_fail(tutti_network_add_defined(context, network, TUTTI_OP_OTHER, last, NULL, 2, (const uint32_t[]){1, 2},
                                        TUTTI_ATTRIBUTES({"width", 3}, {"mode", 1}, {"slope", 15}), &layer),
              TUTTI_ERROR_USAGE, "nobody runs");
    if (!registered)
      OK(tutti_plugin_register(context, &space_plugin));
  }
  tutti_network_destroy(network);
  assert_int_equal(munmap(pages, 2 * page), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_op_is_known_once_its_plugin_is_loaded, set_up, tear_down),
      cmocka_unit_test_setup_teardown(errors_of_an_op_name_the_layer, set_up, tear_down),
      cmocka_unit_test_setup_teardown(json_has_the_op, set_up, tear_down),
      cmocka_unit_test_setup_teardown(backends_take_the_layers_that_they_know, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_backend_that_does_not_say_gets_plain_layers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(backend_cpu_refuses_what_a_later_host_adds, set_up, tear_down),
      cmocka_unit_test_setup_teardown(two_plugins_agree_on_an_op_or_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bad_definitions_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(newer_and_older_definitions_are_read, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_definition_that_nobody_registered_is_no_entry, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
