/* gate.c - a third party's package: space `gate` or, with -DBACKEND, backend `gate`. Both define the op "acme-gate".
   The backend learns nothing: it predicts mean 0 and variance 1. With -DHEAD=NAME, the space is called NAME, defines
   the head "acme-head", too, and ends its networks in that. */
#include <tutti/plugin.h>

#include <string.h>

static const struct tutti_attribute_definition attributes[] = {
    {.name = "width",
     .type = TUTTI_ATTRIBUTE_INTEGER,
     .flags = TUTTI_ATTRIBUTE_REQUIRED,
     .min = 1,
     .max = 1000,
     .doc = "Channels."},
};

static enum tutti_status infer_gate(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *inferred) {
  int32_t width = tutti_layer_integer(layer, "width", 1);
  (void)context, (void)network;
  inferred->parameters = (size_t)inferred->shape.channels * (size_t)width;
  inferred->shape.channels = width;
  return TUTTI_OK;
}

static const struct tutti_op_definition gate = {.size = sizeof gate,
                                                .name = "acme-gate",
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .infer = infer_gate,
                                                .attributes = TUTTI_ATTRIBUTE_TABLE(attributes),
                                                .doc = "A gated product."};
#ifdef HEAD
static enum tutti_status infer_head(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *inferred) {
  (void)context, (void)network, (void)layer, (void)inferred;
  return TUTTI_OK;
}

static const struct tutti_op_definition head = {.size = sizeof head,
                                                .name = "acme-head",
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .infer = infer_head,
                                                .head = true,
                                                .doc = "A head."};
static const struct tutti_op_definition *const defines[] = {&gate, &head, NULL};
#define NAME HEAD
#else
static const struct tutti_op_definition *const defines[] = {&gate, NULL};
#define NAME "gate"
#endif

#ifdef BACKEND

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op == TUTTI_OP_INPUT || op == TUTTI_OP_DENSE || op == TUTTI_OP_HEAD_GAUSSIAN;
}

static bool supports_layer(void *self, const struct tutti_layer *layer) {
  static const char *const known[] = {"units", "bias", "scale", "floor", "variance", NULL}, *const width[] = {"width",
                                                                                                              NULL};
  (void)self;
  if (layer->op == TUTTI_OP_OTHER)
    return strcmp(layer->op_name, "acme-gate") == 0 && !tutti_layer_unknown(layer, width);
  return !tutti_layer_unknown(layer, known);
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  float *data;
  (void)self;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "mean", TUTTI_F32, 1, &job->task->outputs, &data));
  outcome->state = TUTTI_STATE_FINISHED;
  outcome->epochs = outcome->best_epoch = 1;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)weights;
  for (size_t i = 0; i < tutti_split_rows(split) * job->task->outputs; i++) {
    out[2 * i] = 0;
    out[2 * i + 1] = 1;
  }
  return TUTTI_OK;
}

static const struct tutti_backend_ops ops = {
    .size = sizeof ops, .supports = supports, .train = train, .predict = predict, .supports_layer = supports_layer};
#define KIND TUTTI_KIND_BACKEND
#define DESTROY tutti_free

#else

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  tutti_domain *domain;
  (void)config, (void)setup;
  TUTTI_TRY(context, tutti_domain_create(context, &domain));
  *self = domain;
  return tutti_domain_add_text(context, domain, "width", "integer 1 8");
}

static void destroy(void *self) { tutti_domain_destroy(self); }

static const tutti_domain *domain_of(void *self) { return self; }

static enum tutti_status decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                const struct tutti_task *task, tutti_network **network) {
  uint32_t layer = 0;
  (void)self;
  TUTTI_TRY(context, tutti_network_create(context, task->input, network));
  TUTTI_TRY(context, tutti_network_add_op(context, *network, "acme-gate", "gate", 1, &layer,
                                          TUTTI_ATTRIBUTES({"width", tutti_genotype_point(genotype)[0]}), &layer));
#ifdef HEAD
  return tutti_network_add_op(context, *network, "acme-head", "head", 1, &layer, NULL, &layer);
#else
  return tutti_network_add_head(context, *network, layer, task);
#endif
}

static const struct tutti_space_ops ops = {.size = sizeof ops, .decode = decode, .domain = domain_of};
#define KIND TUTTI_KIND_SPACE
#define DESTROY destroy

#endif

static const struct tutti_descriptor descriptor = {
    TUTTI_DESCRIPTOR_HEAD(KIND, NAME), .version = "1",   .summary = "A test's.", .source = "", .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,         .create = create, .destroy = DESTROY,     .ops = &ops,  .defines = defines};
TUTTI_PLUGIN(descriptor)
