/* space fixed: one architecture, a fully connected network written in the recipe or any network in a file. A point
   space whose domain has no dimensions: sampling always gives the same genotype, and only hyperparameters and seeds
   differ (deep ensembles; HyperEns). A network from a file is used as it is; its input and head must fit the task. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tutti/plugin.h>

enum { WIDEST = 65536, LARGEST_FILE = 64 << 20 };

struct space_fixed_config {
  struct tutti_integers widths;
  struct tutti_choices activation;
  struct tutti_reals dropout;
  const char *network;
};

static const char *const activations[] = {TUTTI_ACTIVATION_CHOICES};

static const struct tutti_param space_fixed_params[] = {
    TUTTI_INTEGERS(struct space_fixed_config, widths, "64 64", 1, WIDEST, "Width of each hidden layer.",
                   .unit = "units"),
    TUTTI_CHOICES(struct space_fixed_config, activation, "relu", activations,
                  "Activation of the hidden layers: one for all, or one for each."),
    TUTTI_REALS(struct space_fixed_config, dropout, "0", 0, 1,
                "Dropout rate behind the hidden layers: one for all, or one for each; 0: none.", .max_open = true),
    TUTTI_PATH(struct space_fixed_config, network, "",
               "A network.json to use instead, head included, as Tutti writes them for every trial."),
};

struct space_fixed {
  const struct space_fixed_config *config;
  tutti_domain *domain;   /* without dimensions */
  tutti_network *network; /* of the file, or NULL */
};

static void space_destroy_fixed(void *self) {
  struct space_fixed *space = self;
  tutti_domain_destroy(space->domain);
  tutti_network_destroy(space->network);
  tutti_free(space);
}

/* --- create ------------------------------------------------------------------------------------------------------ */

static enum tutti_status check_list_fixed(tutti_context *context, const char *name, size_t count, size_t layers) {
  if (count == 1 || count == layers)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] %s: expected one value, or %zu as in widths, found %zu", name,
                    layers, count);
}

static enum tutti_status read_file_fixed(tutti_context *context, const char *path, char **text) {
  enum tutti_status status = TUTTI_OK;
  FILE *file = fopen(path, "rb");
  *text = NULL;
  if (!file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] network: cannot read %s: %s", path, strerror(errno));
  size_t length = 0, room = 0, got = 1;
  while (got && length < LARGEST_FILE) {
    if (length + 1 >= room) {
      room = 2 * room + 65536;
      TUTTI_TRY_OUT(context, tutti_realloc(context, length, room, 1, text));
    }
    got = fread(*text + length, 1, room - length - 1, file);
    length += got;
  }
  if (ferror(file) || length >= LARGEST_FILE || memchr(*text, '\0', length))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] network: %s is no network in JSON", path);
out:
  (void)fclose(file);
  if (status != TUTTI_OK) {
    tutti_free(*text);
    *text = NULL;
  }
  return status;
}

static enum tutti_status load_network_fixed(tutti_context *context, struct space_fixed *space, const char *path) {
  char *text;
  TUTTI_TRY(context, read_file_fixed(context, path, &text));
  enum tutti_status status = tutti_network_parse(context, text, &space->network);
  if (status == TUTTI_OK)
    status = tutti_network_check(context, space->network);
  tutti_free(text);
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_prefix(context, TUTTI_ERROR_USAGE, "[space] network: %s: ", path);
}

static enum tutti_status space_create_fixed(tutti_context *context, const void *config_, const void *setup,
                                            void **self) {
  const struct space_fixed_config *config = config_;
  enum tutti_status status = TUTTI_OK;
  struct space_fixed *space = NULL;
  (void)setup;
  TUTTI_TRY(context, check_list_fixed(context, "activation", config->activation.count, config->widths.count));
  TUTTI_TRY(context, check_list_fixed(context, "dropout", config->dropout.count, config->widths.count));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  if (*config->network)
    TUTTI_TRY_OUT(context, load_network_fixed(context, space, config->network));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_fixed(space);
  return status;
}

static const tutti_domain *space_domain_fixed(void *self) { return ((struct space_fixed *)self)->domain; }

/* --- decode ------------------------------------------------------------------------------------------------------ */

/* The task determines the inputs and what goes into the head. */
static enum tutti_status check_fit_fixed(tutti_context *context, const struct space_fixed *space,
                                         const struct tutti_task *task) {
  const char *path = space->config->network;
  size_t count = tutti_network_layers(space->network);
  struct tutti_shape in = tutti_network_layer(space->network, 0)->shape;
  const struct tutti_layer *head = tutti_network_layer(space->network, count - 1);
  const struct tutti_layer *last = tutti_network_layer(space->network, head->inputs[0]);
  if (in.height != task->input.height || in.width != task->input.width || in.channels != task->input.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] network: %s takes inputs of %d x %d x %d, and the data have %d x %d x %d", path,
                      in.height, in.width, in.channels, task->input.height, task->input.width, task->input.channels);
  if (head->op != task->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] network: %s ends in %s, and the task asks for %s", path,
                      head->op_name, tutti_op_name(task->head));
  if ((size_t)last->shape.channels != tutti_task_head_width(task))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] network: %s gives its head %d numbers, and the task needs %zu", path,
                      last->shape.channels, tutti_task_head_width(task));
  return TUTTI_OK;
}

static enum tutti_status build_fixed(tutti_context *context, const struct space_fixed_config *config,
                                     const struct tutti_task *task, tutti_network *network) {
  uint32_t layer = 0;
  if (task->input.height > 1 || task->input.width > 1)
    TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  for (size_t i = 0; i < config->widths.count; i++) {
    int activation = config->activation.values[config->activation.count > 1 ? i : 0];
    double rate = config->dropout.values[config->dropout.count > 1 ? i : 0];
    TUTTI_TRY(context, tutti_network_add_dense(context, network, NULL, layer, (int32_t)config->widths.values[i],
                                               (enum tutti_activation)activation, &layer));
    if (rate > 0)
      TUTTI_TRY(context, tutti_network_add_dropout(context, network, NULL, layer, rate, &layer));
  }
  return tutti_network_add_head(context, network, layer, task);
}

static enum tutti_status space_decode_fixed(void *self, tutti_context *context, const tutti_genotype *genotype,
                                            const struct tutti_task *task, tutti_network **network) {
  const struct space_fixed *space = self;
  (void)genotype;
  if (space->network) {
    TUTTI_TRY(context, check_fit_fixed(context, space, task));
    return tutti_network_copy(context, space->network, network);
  }
  TUTTI_TRY(context, tutti_network_create(context, task->input, network));
  enum tutti_status status = build_fixed(context, space->config, task, *network);
  if (status != TUTTI_OK) {
    tutti_network_destroy(*network);
    *network = NULL;
  }
  return status;
}

static bool space_known_fixed(void *self, size_t index, const char **name, const char **json) {
  (void)self;
  *name = "fixed";
  *json = "{}";
  return index == 0;
}

static const struct tutti_space_ops space_fixed_ops = {
    .size = sizeof space_fixed_ops,
    .decode = space_decode_fixed,
    .domain = space_domain_fixed,
    .known = space_known_fixed,
};

static const struct tutti_descriptor space_fixed_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "fixed"),
    .version = "1.0",
    .summary = "one architecture: a fully connected network, or a network.json",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_fixed_params, struct space_fixed_config),
    .create = space_create_fixed,
    .destroy = space_destroy_fixed,
    .ops = &space_fixed_ops,
};

TUTTI_PLUGIN(space_fixed_descriptor)
