/* space pyramid: fully connected networks whose layers halve in width: base, base / 2, base / 4, ...

   A point space, the usual kind: a genotype is a point in a domain of named dimensions, from which sampling, mutation,
   neighbours, vectors for surrogates, printing and parsing follow. All that is left to write is `decode`. */
#include <tutti/plugin.h>

/* 1. The config struct, and the table that fills it from a recipe. */
struct space_pyramid_config {
  int64_t max_depth, max_width;
};

static const struct tutti_param space_pyramid_params[] = {
    TUTTI_INTEGER(struct space_pyramid_config, max_depth, "4", 1, 16, "Most hidden layers."),
    TUTTI_INTEGER(struct space_pyramid_config, max_width, "128", 8, 4096, "Most units of the first hidden layer."),
};

struct space_pyramid {
  tutti_domain *domain; /* depth, base, activation */
};

static void space_pyramid_destroy(void *self) {
  struct space_pyramid *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

/* 2. Make an instance: here, the domain. */
static enum tutti_status space_pyramid_create(tutti_context *context, const void *config_, const void *setup,
                                              void **self) {
  const struct space_pyramid_config *config = config_;
  static const char *const activations[] = {"relu", "tanh", "swish"};
  const struct tutti_dimension dimensions[] = {
      {.size = sizeof dimensions[0],
       .name = "depth",
       .type = TUTTI_DIMENSION_INTEGER,
       .low = 1,
       .high = (double)config->max_depth},
      {.size = sizeof dimensions[0],
       .name = "base",
       .type = TUTTI_DIMENSION_INTEGER,
       .low = 8,
       .high = (double)config->max_width,
       .log = true},
      {.size = sizeof dimensions[0],
       .name = "activation",
       .type = TUTTI_DIMENSION_CATEGORICAL,
       .choices = activations,
       .choice_count = 3},
  };
  enum tutti_status status = TUTTI_OK;
  struct space_pyramid *space = NULL;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++)
    TUTTI_TRY_OUT(context, tutti_domain_add(context, space->domain, &dimensions[i]));
  *self = space;
  return TUTTI_OK;
out:
  space_pyramid_destroy(space);
  return status;
}

static const tutti_domain *space_pyramid_domain(void *self) { return ((struct space_pyramid *)self)->domain; }

/* 3. From a genotype to a network. */
static enum tutti_status space_pyramid_decode(void *self, tutti_context *context, const tutti_genotype *genotype,
                                              const struct tutti_task *task, tutti_network **network) {
  const double *point = tutti_genotype_point(genotype);
  int depth = (int)point[0], width = (int)point[1];
  enum tutti_activation activation;
  enum tutti_status status = TUTTI_OK;
  uint32_t layer = 0;
  const struct tutti_dimension *names = tutti_domain_at(space_pyramid_domain(self), 2);
  *network = NULL;
  TUTTI_TRY_OUT(context, tutti_activation_parse(context, names->choices[(size_t)point[2]], &activation));
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, network));
  for (int i = 0; i < depth; i++) {
    int units = width >> i;
    TUTTI_TRY_OUT(context,
                  tutti_network_add_dense(context, *network, NULL, layer, units > 1 ? units : 1, activation, &layer));
  }
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, *network, layer, task));
  return TUTTI_OK;
out:
  tutti_network_destroy(*network);
  *network = NULL;
  return status;
}

static const struct tutti_space_ops space_pyramid_ops = {
    .size = sizeof space_pyramid_ops,
    .decode = space_pyramid_decode,
    .domain = space_pyramid_domain,
};

/* 4. The descriptor, and the one exported function. */
static const struct tutti_descriptor space_pyramid_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "pyramid"),
    .version = "1.0",
    .summary = "fully connected networks whose layers halve in width",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_pyramid_params, struct space_pyramid_config),
    .create = space_pyramid_create,
    .destroy = space_pyramid_destroy,
    .ops = &space_pyramid_ops,
};

TUTTI_PLUGIN(space_pyramid_descriptor)
