/* space mlp2: networks with two hidden layers, each with its width, and an L2 weight for each of the three layers of
   weights: five dimensions. A point space: units1, units2; l2_1, l2_2 of the hidden layers and l2_output of the last. A
   value that the recipe fixes is not a dimension. Source: Lacoste, Larochelle, Laviolette, Marchand, "Sequential
   Model-Based Ensemble Optimization" (UAI 2014), section 6.1: its ranges are the defaults. The paper trains by L-BFGS
   on all rows (backend cpu, optimiser = lbfgs). */
#include <stdio.h>
#include <tutti/plugin.h>

enum { HIDDEN = 2, LAYERS = HIDDEN + 1, WIDEST = 65536 };

struct space_mlp2_config {
  struct tutti_integers units;
  struct tutti_reals l2;
  int activation;
};

/* crelu would double the width. */
static const char *const activations[] = {TUTTI_PLAIN_ACTIVATION_CHOICES};

static const struct tutti_param space_mlp2_params[] = {
    TUTTI_INTEGERS(
        struct space_mlp2_config, units, "1 100", 1, WIDEST,
        "Least and greatest width of a hidden layer, every width between them alike; one number: that width.",
        .unit = "units"),
    TUTTI_REALS(struct space_mlp2_config, l2, "1e-5 100", 0, TUTTI_NO_LIMIT,
                "Least and greatest L2 weight of a layer, on a logarithmic scale; one number: that weight."),
    TUTTI_CHOICE(struct space_mlp2_config, activation, "tanh", activations, "Activation of both hidden layers."),
};

/* The layers' labels; tutti_network_add_head uses the last one. */
static const char *const labels_mlp2[LAYERS] = {"hidden1", "hidden2", "output"};
static const char *const l2_names_mlp2[LAYERS] = {"l2_1", "l2_2", "l2_output"};

struct space_mlp2 {
  const struct space_mlp2_config *config;
  tutti_domain *domain;
  size_t units[HIDDEN], l2[LAYERS]; /* dimensions, or SIZE_MAX */
};

static void space_destroy_mlp2(void *self) {
  struct space_mlp2 *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

/* --- the domain -------------------------------------------------------------------------------------------------- */

/* A range is its ends, or one value; the domain checks the rest. */
static enum tutti_status check_count_mlp2(tutti_context *context, const char *name, size_t count) {
  if (count == 1 || count == 2)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "[space] %s: expected the least and the greatest, or one value, found %zu numbers", name, count);
}

/* Add a dimension from `low` to `high`; where they are one, none is needed. */
static enum tutti_status add_dimension_mlp2(tutti_context *context, struct space_mlp2 *space,
                                            struct tutti_dimension dimension, size_t *index) {
  *index = SIZE_MAX;
  if (dimension.low == dimension.high)
    return TUTTI_OK;
  dimension.size = sizeof dimension;
  *index = tutti_domain_count(space->domain);
  return tutti_domain_add(context, space->domain, &dimension);
}

static enum tutti_status add_dimensions_mlp2(tutti_context *context, struct space_mlp2 *space) {
  static const char *const names[HIDDEN] = {"units1", "units2"};
  const struct tutti_integers *units = &space->config->units;
  const struct tutti_reals *l2 = &space->config->l2;
  struct tutti_dimension dimension = {.type = TUTTI_DIMENSION_INTEGER,
                                      .low = (double)units->values[0],
                                      .high = (double)units->values[units->count - 1]};
  for (size_t i = 0; i < HIDDEN; i++) {
    dimension.name = names[i];
    TUTTI_TRY(context, add_dimension_mlp2(context, space, dimension, &space->units[i]));
  }
  dimension = (struct tutti_dimension){
      .type = TUTTI_DIMENSION_REAL, .low = l2->values[0], .high = l2->values[l2->count - 1], .log = true};
  for (size_t i = 0; i < LAYERS; i++) {
    dimension.name = l2_names_mlp2[i];
    TUTTI_TRY(context, add_dimension_mlp2(context, space, dimension, &space->l2[i]));
  }
  return TUTTI_OK;
}

static enum tutti_status space_create_mlp2(tutti_context *context, const void *config_, const void *setup,
                                           void **self) {
  const struct space_mlp2_config *config = config_;
  enum tutti_status status = TUTTI_OK;
  struct space_mlp2 *space = NULL;
  (void)setup;
  TUTTI_TRY(context, check_count_mlp2(context, "units", config->units.count));
  TUTTI_TRY(context, check_count_mlp2(context, "l2", config->l2.count));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  TUTTI_TRY_OUT(context, add_dimensions_mlp2(context, space));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_mlp2(space);
  return status == TUTTI_ERROR_USAGE ? tutti_error_prefix(context, status, "[space] ") : status;
}

static const tutti_domain *space_domain_mlp2(void *self) { return ((struct space_mlp2 *)self)->domain; }

/* --- decode ------------------------------------------------------------------------------------------------------ */

static enum tutti_status space_decode_mlp2(void *self, tutti_context *context, const tutti_genotype *genotype,
                                           const struct tutti_task *task, tutti_network **network) {
  const struct space_mlp2 *space = self;
  const struct space_mlp2_config *config = space->config;
  const double *point = tutti_genotype_point(genotype);
  enum tutti_status status = TUTTI_OK;
  tutti_network *made = NULL;
  uint32_t layer = 0;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &made));
  if (task->input.height > 1 || task->input.width > 1)
    TUTTI_TRY_OUT(context, tutti_network_add(context, made, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  for (size_t i = 0; i < HIDDEN; i++) {
    double units = space->units[i] == SIZE_MAX ? (double)config->units.values[0] : point[space->units[i]];
    TUTTI_TRY_OUT(context, tutti_network_add_dense(context, made, labels_mlp2[i], layer, (int32_t)units,
                                                   (enum tutti_activation)config->activation, &layer));
  }
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, made, layer, task));
  for (size_t i = 0; i < LAYERS; i++) {
    double l2 = space->l2[i] == SIZE_MAX ? config->l2.values[0] : point[space->l2[i]];
    TUTTI_TRY_OUT(context, tutti_network_set_l2(context, made, labels_mlp2[i], l2));
  }
  *network = made;
  made = NULL;
out:
  tutti_network_destroy(made);
  return status;
}

static const struct tutti_space_ops space_mlp2_ops = {
    .size = sizeof space_mlp2_ops,
    .decode = space_decode_mlp2,
    .domain = space_domain_mlp2,
};

static const struct tutti_descriptor space_mlp2_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "mlp2"),
    .version = "1.0",
    .summary = "networks with two hidden layers: the width of each, and an L2 weight of each layer of weights",
    .source = "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, section 6.1",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_mlp2_params, struct space_mlp2_config),
    .create = space_create_mlp2,
    .destroy = space_destroy_mlp2,
    .ops = &space_mlp2_ops,
};

TUTTI_PLUGIN(space_mlp2_descriptor)
