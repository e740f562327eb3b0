/* space mlp: fully connected networks, a chain of layers, each with its own width and activation. A point space.
   Dimensions: depth; then width<i>, activation<i> and dropout<i> of each hidden layer i, which are active only if the
   network is that deep. A value that the recipe fixes is not a dimension. Dropout comes after a layer's activation; a
   rate of 0 adds no layer. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/plugin.h>

enum { DEEPEST = 32, WIDEST = 65536 };
enum { WIDTHS_LISTED, WIDTHS_LINEAR, WIDTHS_LOG };

struct space_mlp_config {
  int64_t min_depth, max_depth;
  struct tutti_integers widths;
  int width_range;
  struct tutti_choices activations;
  struct tutti_reals dropout;
};

static const char *const width_ranges[] = {"list", "linear", "log", NULL};

/* crelu doubles the width; it is left to spaces that ask for it by name. */
static const char *const activations[] = {TUTTI_PLAIN_ACTIVATION_CHOICES};

static const struct tutti_param space_mlp_params[] = {
    TUTTI_INTEGER(struct space_mlp_config, min_depth, "1", 1, DEEPEST, "Fewest hidden layers."),
    TUTTI_INTEGER(struct space_mlp_config, max_depth, "3", 1, DEEPEST, "Most hidden layers."),
    TUTTI_INTEGERS(struct space_mlp_config, widths, "16 32 64 96", 1, WIDEST,
                   "Widths of hidden layers; with a width_range, the least and the greatest.", .unit = "units"),
    TUTTI_CHOICE(struct space_mlp_config, width_range, "list", width_ranges,
                 "list: the widths as they stand; linear, log: every width between two, drawn evenly on that scale."),
    TUTTI_CHOICES(struct space_mlp_config, activations, "relu tanh swish", activations,
                  "Activations that a layer may have."),
    TUTTI_REALS(struct space_mlp_config, dropout, "0", 0, 1, "Dropout rates that may stand behind a layer; 0: none.",
                .max_open = true),
};

/* Dimensions of one hidden layer; SIZE_MAX if there is only one value. */
struct layer_dimensions {
  size_t width, activation, dropout;
};

struct space_mlp {
  const struct space_mlp_config *config;
  tutti_domain *domain;
  size_t depth; /* dimension, or SIZE_MAX */
  struct layer_dimensions layers[DEEPEST];
};

static void space_destroy_mlp(void *self) {
  struct space_mlp *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

/* --- the domain -------------------------------------------------------------------------------------------------- */

static enum tutti_status check_config_mlp(tutti_context *context, const struct space_mlp_config *config) {
  if (config->min_depth > config->max_depth)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] min_depth: %lld is more than max_depth, %lld",
                      (long long)config->min_depth, (long long)config->max_depth);
  if (config->widths.count == 0 || config->activations.count == 0 || config->dropout.count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] widths, activations and dropout need at least one value each");
  if (config->width_range == WIDTHS_LISTED)
    return TUTTI_OK;
  if (config->widths.count != 2)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] widths: with width_range = %s, expected the least and the greatest, found %zu numbers",
                      width_ranges[config->width_range], config->widths.count);
  return TUTTI_OK;
}

/* Add a dimension of hidden layer `layer`, which is active only if the network is that deep. */
static enum tutti_status add_layer_dimension_mlp(tutti_context *context, struct space_mlp *space, int layer,
                                                 struct tutti_dimension dimension, size_t *index) {
  double deep[DEEPEST];
  dimension.size = sizeof dimension;
  if (space->depth != SIZE_MAX && layer >= space->config->min_depth) {
    dimension.parent = "depth";
    dimension.parent_values = deep;
    for (int64_t depth = layer + 1; depth <= space->config->max_depth; depth++)
      deep[dimension.parent_value_count++] = (double)depth;
  }
  *index = tutti_domain_count(space->domain);
  return tutti_domain_add(context, space->domain, &dimension);
}

/* Add a dimension of `count` choices, which are written in texts[count]; a single one needs no dimension. */
static enum tutti_status add_choices_mlp(tutti_context *context, struct space_mlp *space, int layer, const char *what,
                                         size_t count, const char *const *texts, size_t *index) {
  char name[32];
  (void)snprintf(name, sizeof name, "%s%d", what, layer + 1);
  struct tutti_dimension dimension = {
      .name = name, .type = TUTTI_DIMENSION_CATEGORICAL, .choice_count = count, .choices = texts};
  *index = SIZE_MAX;
  return count < 2 ? TUTTI_OK : add_layer_dimension_mlp(context, space, layer, dimension, index);
}

static enum tutti_status add_width_mlp(tutti_context *context, struct space_mlp *space, int layer, char (*texts)[32],
                                       const char **choices) {
  const struct space_mlp_config *config = space->config;
  char name[32];
  if (config->width_range == WIDTHS_LISTED) {
    for (size_t i = 0; i < config->widths.count; i++) {
      (void)snprintf(texts[i], sizeof texts[i], "%lld", (long long)config->widths.values[i]);
      choices[i] = texts[i];
    }
    return add_choices_mlp(context, space, layer, "width", config->widths.count, choices, &space->layers[layer].width);
  }
  (void)snprintf(name, sizeof name, "width%d", layer + 1);
  struct tutti_dimension dimension = {.name = name,
                                      .type = TUTTI_DIMENSION_INTEGER,
                                      .low = (double)config->widths.values[0],
                                      .high = (double)config->widths.values[1],
                                      .log = config->width_range == WIDTHS_LOG};
  return add_layer_dimension_mlp(context, space, layer, dimension, &space->layers[layer].width);
}

static enum tutti_status add_layer_mlp(tutti_context *context, struct space_mlp *space, int layer, char (*texts)[32],
                                       const char **choices) {
  const struct space_mlp_config *config = space->config;
  TUTTI_TRY(context, add_width_mlp(context, space, layer, texts, choices));
  for (size_t i = 0; i < config->activations.count; i++)
    choices[i] = activations[config->activations.values[i]];
  TUTTI_TRY(context, add_choices_mlp(context, space, layer, "activation", config->activations.count, choices,
                                     &space->layers[layer].activation));
  for (size_t i = 0; i < config->dropout.count; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "%.15g", config->dropout.values[i]);
    choices[i] = texts[i];
  }
  return add_choices_mlp(context, space, layer, "dropout", config->dropout.count, choices,
                         &space->layers[layer].dropout);
}

static enum tutti_status add_dimensions_mlp(tutti_context *context, struct space_mlp *space) {
  const struct space_mlp_config *config = space->config;
  enum tutti_status status = TUTTI_OK;
  size_t most = config->widths.count + config->activations.count + config->dropout.count;
  char(*texts)[32] = NULL;
  const char **choices = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *texts, &texts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *choices, &choices));
  space->depth = SIZE_MAX;
  if (config->min_depth < config->max_depth) {
    struct tutti_dimension depth = {.size = sizeof depth,
                                    .name = "depth",
                                    .type = TUTTI_DIMENSION_INTEGER,
                                    .low = (double)config->min_depth,
                                    .high = (double)config->max_depth};
    space->depth = 0;
    TUTTI_TRY_OUT(context, tutti_domain_add(context, space->domain, &depth));
  }
  for (int layer = 0; layer < config->max_depth; layer++)
    TUTTI_TRY_OUT(context, add_layer_mlp(context, space, layer, texts, choices));
out:
  tutti_free(texts);
  tutti_free(choices);
  return status;
}

static enum tutti_status space_create_mlp(tutti_context *context, const void *config, const void *setup, void **self) {
  enum tutti_status status = TUTTI_OK;
  struct space_mlp *space = NULL;
  (void)setup;
  TUTTI_TRY(context, check_config_mlp(context, config));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  TUTTI_TRY_OUT(context, add_dimensions_mlp(context, space));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_mlp(space);
  return status;
}

static const tutti_domain *space_domain_mlp(void *self) { return ((struct space_mlp *)self)->domain; }

/* --- decode ------------------------------------------------------------------------------------------------------ */

/* The number of a choice at a point; 0, the only choice, if there is no dimension. */
static size_t choice_mlp(const double *point, size_t dimension) {
  return dimension == SIZE_MAX ? 0 : (size_t)point[dimension];
}

static enum tutti_status decode_layer_mlp(tutti_context *context, const struct space_mlp *space, const double *point,
                                          int index, tutti_network *network, uint32_t *layer) {
  const struct space_mlp_config *config = space->config;
  const struct layer_dimensions *dimensions = &space->layers[index];
  int64_t units = config->width_range == WIDTHS_LISTED ? config->widths.values[choice_mlp(point, dimensions->width)]
                                                       : (int64_t)point[dimensions->width];
  enum tutti_activation activation =
      (enum tutti_activation)config->activations.values[choice_mlp(point, dimensions->activation)];
  double rate = config->dropout.values[choice_mlp(point, dimensions->dropout)];
  TUTTI_TRY(context, tutti_network_add_dense(context, network, NULL, *layer, (int32_t)units, activation, layer));
  return rate > 0 ? tutti_network_add_dropout(context, network, NULL, *layer, rate, layer) : TUTTI_OK;
}

static enum tutti_status space_decode_mlp(void *self, tutti_context *context, const tutti_genotype *genotype,
                                          const struct tutti_task *task, tutti_network **network) {
  const struct space_mlp *space = self;
  const double *point = tutti_genotype_point(genotype);
  int depth = space->depth == SIZE_MAX ? (int)space->config->max_depth : (int)point[space->depth];
  enum tutti_status status = TUTTI_OK;
  tutti_network *made = NULL;
  uint32_t layer = 0;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &made));
  if (task->input.height > 1 || task->input.width > 1)
    TUTTI_TRY_OUT(context, tutti_network_add(context, made, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  for (int i = 0; i < depth; i++)
    TUTTI_TRY_OUT(context, decode_layer_mlp(context, space, point, i, made, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, made, layer, task));
  *network = made;
  made = NULL;
out:
  tutti_network_destroy(made);
  return status;
}

static const struct tutti_space_ops space_mlp_ops = {
    .size = sizeof space_mlp_ops,
    .decode = space_decode_mlp,
    .domain = space_domain_mlp,
};

static const struct tutti_descriptor space_mlp_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "mlp"),
    .version = "1.0",
    .summary = "fully connected networks: depth, and width, activation and dropout of each layer",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_mlp_params, struct space_mlp_config),
    .create = space_create_mlp,
    .destroy = space_destroy_mlp,
    .ops = &space_mlp_ops,
};

TUTTI_PLUGIN(space_mlp_descriptor)
