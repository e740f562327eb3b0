/* space dense-skip: dense networks with skip connections, the search space of AutoDEUQ (Egele, Maulik, Raghavan, Lusch,
   Guyon, Balaprakash, "AutoDEUQ: Automated Deep Ensemble with Uncertainty Quantification", ICPR 2022, section III-A;
   from Egele et al., "AgEBO-Tabular", SC 2021).

   A point space: all variables are categories. Each of `nodes` variable nodes has these variables, in this order:
   node<i>, the identity or one of widths x activations (177 choices by default), then skip<i>_<j> = no, yes for each
   output j among the last `skips` before it, the oldest first. Output 0 is the input, output j the merge after node j.
   So 3 nodes have 9 variables and 5 nodes 17.

   A merge adds its active skips to its node's output and applies an activation to the sum. If the widths differ, a skip
   goes through a linear projection with bias. Without an active skip, the merge is the node's output as it is, without
   another activation.

   The paper leaves some points open; these follow the authors' code: the order of the choices (identity first, widths
   outside, activations inside); the previous output counts as one of the skips; a merge has its activation only if a
   skip is active (`merge = always` gives the other reading). */
#include <stdio.h>
#include <string.h>
#include <tutti/plugin.h>

enum { MOST_NODES = 32, MOST_SKIPS = 8, WIDEST = 65536, MOST_CHOICES = 4096 };
enum { MERGE_SKIPS, MERGE_ALWAYS };

struct space_dense_skip_config {
  int64_t nodes, skips;
  struct tutti_integers widths;
  struct tutti_choices activations;
  bool identity;
  int merge_activation, merge;
};

/* crelu would double the width that a choice names. */
static const char *const activations[] = {TUTTI_PLAIN_ACTIVATION_CHOICES};
static const char *const merges[] = {"skips", "always", NULL};

static const struct tutti_param space_dense_skip_params[] = {
    TUTTI_INTEGER(
        struct space_dense_skip_config, nodes, "3", 1, MOST_NODES,
        "Variable nodes, one behind the other; the paper searches 5 in its benchmarks and 3 for its toy example."),
    TUTTI_INTEGER(
        struct space_dense_skip_config, skips, "3", 0, MOST_SKIPS,
        "Earlier outputs (the input included) that a merge may take a skip connection from; the paper has 3."),
    TUTTI_INTEGERS(struct space_dense_skip_config, widths, "16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256",
                   1, WIDEST, "Widths of a node; the paper's.", .unit = "units"),
    TUTTI_CHOICES(struct space_dense_skip_config, activations,
                  "elu gelu hard-sigmoid linear relu selu sigmoid softplus softsign swish tanh", activations,
                  "Activations of a node; the paper's."),
    TUTTI_BOOL(struct space_dense_skip_config, identity, "yes",
               "A node may be the identity, so that a network has fewer layers than nodes."),
    TUTTI_CHOICE(struct space_dense_skip_config, merge_activation, "relu", activations,
                 "Activation behind a sum; relu in the authors' code, the paper has none."),
    TUTTI_CHOICE(
        struct space_dense_skip_config, merge, "skips", merges,
        "Where merges have their activation: behind sums that have an active skip, as in the authors' code, or "
        "always."),
};

struct space_dense_skip {
  const struct space_dense_skip_config *config;
  tutti_domain *domain;
};

/* --- the domain -------------------------------------------------------------------------------------------------- */

/* Choices of a node, "identity" or "<width>-<activation>". */
struct node_choices {
  size_t count;
  char (*texts)[40];
  const char **names;
};

static size_t choice_count_dense_skip(const struct space_dense_skip_config *config) {
  return (config->identity ? 1 : 0) + config->widths.count * config->activations.count;
}

static enum tutti_status check_config_dense_skip(tutti_context *context, const struct space_dense_skip_config *config) {
  size_t count = choice_count_dense_skip(config);
  if (count < 2 && config->skips == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] dense-skip: one width, one activation, identity = no and skips = 0 leave a single "
                      "network and nothing to choose: give more widths or activations, or take plugin = fixed");
  if (count > MOST_CHOICES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] widths, activations: %zu choices a node, expected at most %d", count, MOST_CHOICES);
  for (size_t i = 0; i < config->widths.count; i++)
    for (size_t j = 0; j < i; j++)
      if (config->widths.values[i] == config->widths.values[j])
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] widths: %lld stands there twice",
                          (long long)config->widths.values[i]);
  for (size_t i = 0; i < config->activations.count; i++)
    for (size_t j = 0; j < i; j++)
      if (config->activations.values[i] == config->activations.values[j])
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] activations: %s stands there twice",
                          activations[config->activations.values[i]]);
  return TUTTI_OK;
}

static void name_choices_dense_skip(const struct space_dense_skip_config *config, struct node_choices *choices) {
  size_t place = 0;
  if (config->identity)
    (void)snprintf(choices->texts[place++], sizeof *choices->texts, "identity");
  for (size_t w = 0; w < config->widths.count; w++)
    for (size_t a = 0; a < config->activations.count; a++)
      (void)snprintf(choices->texts[place++], sizeof *choices->texts, "%lld-%s", (long long)config->widths.values[w],
                     activations[config->activations.values[a]]);
  for (size_t i = 0; i < choices->count; i++)
    choices->names[i] = choices->texts[i];
}

/* The oldest output that the merge of node `node` (from 1) may take a skip from; the newest is node - 1. */
static int64_t oldest_dense_skip(const struct space_dense_skip_config *config, int64_t node) {
  return node > config->skips ? node - config->skips : 0;
}

static enum tutti_status add_node_dense_skip(tutti_context *context, struct space_dense_skip *space, int64_t node,
                                             const struct node_choices *choices) {
  static const char *const answers[] = {"no", "yes"};
  char name[48];
  struct tutti_dimension variable = {.size = sizeof variable, .name = name, .type = TUTTI_DIMENSION_CATEGORICAL};
  (void)snprintf(name, sizeof name, "node%lld", (long long)node);
  variable.choice_count = choices->count;
  variable.choices = choices->names;
  TUTTI_TRY(context, tutti_domain_add(context, space->domain, &variable));
  variable.choice_count = 2;
  variable.choices = answers;
  for (int64_t from = oldest_dense_skip(space->config, node); from < node; from++) {
    (void)snprintf(name, sizeof name, "skip%lld_%lld", (long long)node, (long long)from);
    TUTTI_TRY(context, tutti_domain_add(context, space->domain, &variable));
  }
  return TUTTI_OK;
}

static enum tutti_status add_nodes_dense_skip(tutti_context *context, struct space_dense_skip *space) {
  enum tutti_status status;
  struct node_choices choices = {.count = choice_count_dense_skip(space->config)};
  TUTTI_TRY_OUT(context, tutti_alloc(context, choices.count, sizeof *choices.texts, &choices.texts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, choices.count, sizeof *choices.names, &choices.names));
  name_choices_dense_skip(space->config, &choices);
  for (int64_t node = 1; node <= space->config->nodes; node++)
    TUTTI_TRY_OUT(context, add_node_dense_skip(context, space, node, &choices));
out:
  tutti_free(choices.texts);
  tutti_free(choices.names);
  return status;
}

static void space_destroy_dense_skip(void *self) {
  struct space_dense_skip *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

static enum tutti_status space_create_dense_skip(tutti_context *context, const void *config, const void *setup,
                                                 void **self) {
  enum tutti_status status;
  struct space_dense_skip *space = NULL;
  (void)setup;
  TUTTI_TRY(context, check_config_dense_skip(context, config));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  TUTTI_TRY_OUT(context, add_nodes_dense_skip(context, space));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_dense_skip(space);
  return status;
}

static const tutti_domain *space_domain_dense_skip(void *self) { return ((struct space_dense_skip *)self)->domain; }

/* --- decode ------------------------------------------------------------------------------------------------------ */

struct decoding {
  const struct space_dense_skip_config *config;
  const double *variable;           /* the next variable of the point */
  uint32_t outputs[MOST_NODES + 1]; /* layers: 0 the input, j the merge after node j */
  tutti_network *network;
};

static int32_t width_dense_skip(const struct decoding *decoding, uint32_t layer) {
  return tutti_network_layer(decoding->network, layer)->shape.channels;
}

/* Add the node itself: *layer is the previous output before, and the node's output afterwards. */
static enum tutti_status decode_node_dense_skip(tutti_context *context, struct decoding *decoding, int64_t node,
                                                uint32_t *layer) {
  const struct space_dense_skip_config *config = decoding->config;
  size_t choice = (size_t)*decoding->variable++;
  char label[48];
  if (config->identity && choice-- == 0)
    return TUTTI_OK;
  size_t width = choice / config->activations.count, activation = choice % config->activations.count;
  (void)snprintf(label, sizeof label, "node%lld", (long long)node);
  return tutti_network_add_dense(context, decoding->network, label, *layer, (int32_t)config->widths.values[width],
                                 (enum tutti_activation)config->activations.values[activation], layer);
}

/* The outputs that the node's merge adds, the node's own first; all have its width. */
static enum tutti_status decode_skips_dense_skip(tutti_context *context, struct decoding *decoding, int64_t node,
                                                 uint32_t inputs[static MOST_SKIPS + 1], size_t *count) {
  for (int64_t from = oldest_dense_skip(decoding->config, node); from < node; from++) {
    uint32_t layer = decoding->outputs[from];
    int32_t width = width_dense_skip(decoding, inputs[0]);
    char label[48];
    if (*decoding->variable++ == 0)
      continue;
    (void)snprintf(label, sizeof label, "skip%lld_%lld", (long long)node, (long long)from);
    if (width_dense_skip(decoding, layer) != width)
      TUTTI_TRY(context, tutti_network_add_dense(context, decoding->network, label, layer, width,
                                                 TUTTI_ACTIVATION_LINEAR, &layer));
    inputs[(*count)++] = layer;
  }
  return TUTTI_OK;
}

static enum tutti_status decode_merge_dense_skip(tutti_context *context, struct decoding *decoding, int64_t node,
                                                 uint32_t *layer) {
  const struct space_dense_skip_config *config = decoding->config;
  uint32_t inputs[MOST_SKIPS + 1] = {*layer};
  size_t count = 1;
  char label[48];
  TUTTI_TRY(context, decode_skips_dense_skip(context, decoding, node, inputs, &count));
  (void)snprintf(label, sizeof label, "merge%lld", (long long)node);
  if (count > 1)
    TUTTI_TRY(context, tutti_network_add(context, decoding->network, TUTTI_OP_ADD, label, count, inputs, NULL, layer));
  if (config->merge_activation == TUTTI_ACTIVATION_LINEAR || (count == 1 && config->merge == MERGE_SKIPS))
    return TUTTI_OK;
  return tutti_network_add(context, decoding->network, TUTTI_OP_ACTIVATION, NULL, 1, layer,
                           TUTTI_ATTRIBUTES({"activation", config->merge_activation}), layer);
}

static enum tutti_status decode_nodes_dense_skip(tutti_context *context, struct decoding *decoding, uint32_t *layer) {
  decoding->outputs[0] = *layer;
  for (int64_t node = 1; node <= decoding->config->nodes; node++) {
    TUTTI_TRY(context, decode_node_dense_skip(context, decoding, node, layer));
    TUTTI_TRY(context, decode_merge_dense_skip(context, decoding, node, layer));
    decoding->outputs[node] = *layer;
  }
  return TUTTI_OK;
}

static enum tutti_status space_decode_dense_skip(void *self, tutti_context *context, const tutti_genotype *genotype,
                                                 const struct tutti_task *task, tutti_network **network) {
  const struct space_dense_skip *space = self;
  struct decoding decoding = {.config = space->config, .variable = tutti_genotype_point(genotype)};
  enum tutti_status status;
  uint32_t layer = 0;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &decoding.network));
  if (task->input.height > 1 || task->input.width > 1)
    TUTTI_TRY_OUT(context,
                  tutti_network_add(context, decoding.network, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  TUTTI_TRY_OUT(context, decode_nodes_dense_skip(context, &decoding, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, decoding.network, layer, task));
  *network = decoding.network;
  return TUTTI_OK;
out:
  tutti_network_destroy(decoding.network);
  return status;
}

static const struct tutti_space_ops space_dense_skip_ops = {
    .size = sizeof space_dense_skip_ops,
    .decode = space_decode_dense_skip,
    .domain = space_domain_dense_skip,
};

static const struct tutti_descriptor space_dense_skip_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "dense-skip"),
    .version = "1.0",
    .summary = "dense networks with skip connections: width and activation of each node, skips to earlier outputs",
    .source =
        "Egele et al., AutoDEUQ: Automated Deep Ensemble with Uncertainty Quantification, ICPR 2022, section III-A",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_dense_skip_params, struct space_dense_skip_config),
    .create = space_create_dense_skip,
    .destroy = space_destroy_dense_skip,
    .ops = &space_dense_skip_ops,
};

TUTTI_PLUGIN(space_dense_skip_descriptor)
