/* space pyramid: fully connected networks whose layers halve in width: base, base / 2, base / 4, ...

   A point space, the usual kind: a genotype is a point in a domain of named dimensions, from which sampling, mutation,
   neighbours, vectors for surrogates, printing and parsing follow. To write one:
     1. copy this file to src/space-NAME.c, and put its two lines into Makefile.am;
     2. make the domain in `create`, and give it by `domain`;
     3. write `decode`: from a point to a network for the task;
     4. spaces of graphs have no domain: space.h says what they write in its place. */
#include <tutti/plugin.h>

struct pyramid_config {
  int64_t max_depth, max_width;
};

static const struct tutti_param pyramid_params[] = {
    TUTTI_INTEGER(struct pyramid_config, max_depth, "4", 1, 16, "Most hidden layers."),
    TUTTI_INTEGER(struct pyramid_config, max_width, "128", 8, 4096, "Most units of the first hidden layer."),
};

struct pyramid {
  tutti_domain *domain; /* depth, base, activation */
};

static void space_destroy_pyramid(void *self) {
  struct pyramid *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

static enum tutti_status space_create_pyramid(tutti_context *context, const void *config_, const void *setup,
                                              void **self) {
  const struct pyramid_config *config = config_;
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
  struct pyramid *space = NULL;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++)
    TUTTI_TRY_OUT(context, tutti_domain_add(context, space->domain, &dimensions[i]));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_pyramid(space);
  return status;
}

static const tutti_domain *space_domain_pyramid(void *self) { return ((struct pyramid *)self)->domain; }

static enum tutti_status space_decode_pyramid(void *self, tutti_context *context, const tutti_genotype *genotype,
                                              const struct tutti_task *task, tutti_network **network) {
  const double *point = tutti_genotype_point(genotype);
  int depth = (int)point[0], width = (int)point[1];
  enum tutti_activation activation;
  enum tutti_status status = TUTTI_OK;
  uint32_t layer = 0;
  const struct tutti_dimension *names = tutti_domain_at(space_domain_pyramid(self), 2);
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

static const struct tutti_space_ops pyramid_ops = {
    .size = sizeof pyramid_ops,
    .decode = space_decode_pyramid,
    .domain = space_domain_pyramid,
};

static const struct tutti_descriptor pyramid_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "pyramid"),
    .version = "1.0",
    .summary = "fully connected networks whose layers halve in width",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(pyramid_params, struct pyramid_config),
    .create = space_create_pyramid,
    .destroy = space_destroy_pyramid,
    .ops = &pyramid_ops,
};

TUTTI_PLUGIN(pyramid_descriptor)
