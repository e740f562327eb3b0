/* tomorrow.c - space `tomorrow`, built by package.sh against the headers of a later minor version, which have an op, an
   attribute, an activation and a function more. Its parameter says what it uses of them. */
#include <tutti/plugin.h>

enum uses { NOTHING, OP, ATTRIBUTE, ACTIVATION };
static const char *const uses[] = {"nothing", "op", "attribute", "activation", NULL};

struct config {
  int uses;
};

static const struct tutti_param params[] = {
    TUTTI_CHOICE(struct config, uses, "nothing", uses, "What it uses that this version has first."),
};

struct tomorrow {
  const struct config *config;
  tutti_domain *domain;
};

static void destroy(void *self) {
  struct tomorrow *tomorrow = self;
  tutti_domain_destroy(tomorrow->domain);
  tutti_free(tomorrow);
}

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  struct tomorrow *made = NULL;
  enum tutti_status status = TUTTI_OK;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &made->domain));
  TUTTI_TRY_OUT(context, tutti_domain_add_text(context, made->domain, "units", "integer 1 8"));
  *self = made;
  return TUTTI_OK;
out:
  destroy(made);
  return status;
}

static const tutti_domain *domain_of(void *self) { return ((struct tomorrow *)self)->domain; }

static enum tutti_status add_layers(const struct tomorrow *tomorrow, tutti_context *context, double units,
                                    tutti_network *network, uint32_t *layer) {
  int used = tomorrow->config->uses;
  const struct tutti_attribute *dense =
      used == ATTRIBUTE ? TUTTI_ATTRIBUTES({"units", units}, {"of_tomorrow", 1}) : TUTTI_ATTRIBUTES({"units", units});
  enum tutti_activation activation = used == ACTIVATION ? TUTTI_ACTIVATION_OF_TOMORROW : TUTTI_ACTIVATION_TANH;
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DENSE, "hidden", 1, layer, dense, layer));
  if (used == OP)
    TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_OF_TOMORROW, "new", 1, layer, NULL, layer));
  return tutti_network_add(context, network, TUTTI_OP_ACTIVATION, "curve", 1, layer,
                           TUTTI_ATTRIBUTES({"activation", (double)activation}), layer);
}

static enum tutti_status decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                const struct tutti_task *task, tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  uint32_t layer = 0;
  *network = NULL;
#ifdef CALLS
  tutti_of_tomorrow();
#endif
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, network));
  TUTTI_TRY_OUT(context, add_layers(self, context, tutti_genotype_point(genotype)[0], *network, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, *network, layer, task));
  return TUTTI_OK;
out:
  tutti_network_destroy(*network);
  *network = NULL;
  return status;
}

static const struct tutti_space_ops ops = {
    .size = sizeof ops, .decode = decode, .domain = domain_of, .of_tomorrow = abort};

static const struct tutti_descriptor descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "tomorrow"),
                                                   .version = "1",
                                                   .summary = "A test's.",
                                                   .source = "",
                                                   .licence = "Apache-2.0",
                                                   .params = TUTTI_PARAMS(params, struct config),
                                                   .create = create,
                                                   .destroy = destroy,
                                                   .ops = &ops};
TUTTI_PLUGIN(descriptor)
