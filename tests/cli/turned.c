/* turned.c - a space whose decode differs with the version that it is built as: VERSION 1 has two layers of tanh, 2 of
   relu with the same weights, 3 makes nothing of any genotype. */
#include <tutti/plugin.h>

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  tutti_domain *domain;
  (void)config, (void)setup;
  TUTTI_TRY(context, tutti_domain_create(context, &domain));
  *self = domain;
  return tutti_domain_add_text(context, domain, "width", "integer 4 8");
}

static void destroy(void *self) { tutti_domain_destroy(self); }

static const tutti_domain *domain_of(void *self) { return self; }

static enum tutti_status decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                const struct tutti_task *task, tutti_network **network) {
  uint32_t layer = 0;
  (void)self;
  if (VERSION == 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no genotype makes a network any more");
  TUTTI_TRY(context, tutti_network_create(context, task->input, network));
  TUTTI_TRY(context, tutti_network_add_op(context, *network, "dense", "hidden", 1, &layer,
                                          TUTTI_ATTRIBUTES({"units", tutti_genotype_point(genotype)[0]}), &layer));
  TUTTI_TRY(context, tutti_network_add_op(
                         context, *network, "activation", "bend", 1, &layer,
                         TUTTI_ATTRIBUTES({"activation", VERSION == 1 ? TUTTI_ACTIVATION_TANH : TUTTI_ACTIVATION_RELU}),
                         &layer));
  return tutti_network_add_head(context, *network, layer, task);
}

static const struct tutti_space_ops ops = {.size = sizeof ops, .decode = decode, .domain = domain_of};

static const struct tutti_descriptor descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "turned"),
                                                   .version = "1",
                                                   .summary = "A test's.",
                                                   .source = "",
                                                   .licence = "Apache-2.0",
                                                   .params = TUTTI_NO_PARAMS,
                                                   .create = create,
                                                   .destroy = destroy,
                                                   .ops = &ops};
TUTTI_PLUGIN(descriptor)
