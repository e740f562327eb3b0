/* space nasbench201: the 15,625 cells of NAS-Bench-201 in its macro architecture. Dong, Yang, "NAS-Bench-201: Extending
   the scope of reproducible neural architecture search", ICLR 2020.

   A point space: one dimension for the operation on each of a cell's six edges. A mutant differs in one edge, as Zaidi
   et al., "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift" (NeurIPS 2021), have it. Genotypes are
   written as the benchmark writes them, "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|", and read as such strings, as
   the benchmark's index, a number from 0 to 15624, or by a name (cells/cell_named.c). With `cell` the space has that
   one cell, for deep ensembles and searches of hyperparameters.

   Deviations: what has no way to the cell's output is left out of the network, so that it has no parameters there,
   which the benchmark counts; padding is that of tutti/network.h, which stands strided windows a pixel lower and
   further right. */
#include "cells/blocks.h"
#include "cells/cell_code.h"
#include "plugins/shared/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SIZE = 96 };

struct space_nasbench201_config {
  const char *cell;
  int64_t cells, channels, stages;
  bool affine;
};

static const struct tutti_param space_nasbench201_params[] = {
    TUTTI_STRING(struct space_nasbench201_config, cell, "",
                 "The only cell: its string, its index in the benchmark, or the name of a published one, such as gdas; "
                 "empty: all cells."),
    TUTTI_INTEGER(struct space_nasbench201_config, cells, "5", 1, 100, "Cells of a stage."),
    TUTTI_INTEGER(struct space_nasbench201_config, channels, "16", 1, 4096,
                  "Channels of the first stage; each later one has twice as many and half the height and width."),
    TUTTI_INTEGER(struct space_nasbench201_config, stages, "3", 1, 8,
                  "Stages, between which residual blocks halve the image."),
    TUTTI_BOOL(struct space_nasbench201_config, affine, "yes", "Normalisations scale and shift by trained numbers."),
};

struct space_nasbench201 {
  const struct space_nasbench201_config *config;
  tutti_domain *domain;
  bool fixed; /* there is only one cell: */
  struct code_cell cell;
  uint16_t order[CODE_CELLS]; /* the benchmark's: number of the cell with each index */
};

static void space_destroy_nasbench201(void *self) {
  struct space_nasbench201 *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

/* --- reading cells ----------------------------------------------------------------------------------------------- */

static enum tutti_status cell_of_index(const struct space_nasbench201 *space, tutti_context *context, long long index,
                                       struct code_cell *cell) {
  if (index < 0 || index >= CODE_CELLS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected an index from 0 to %d, found %lld", CODE_CELLS - 1, index);
  *cell = code_of_number(space->order[index]);
  return TUTTI_OK;
}

/* A string of the benchmark, which begins with a bar, or a name. */
static enum tutti_status cell_of_text(const struct space_nasbench201 *space, tutti_context *context, const char *text,
                                      struct code_cell *cell) {
  const char *names[CODE_NAMED];
  if (*text == '|')
    return code_read(context, text, cell);
  for (int i = 0; i < CODE_NAMED; i++) {
    names[i] = code_named[i].name;
    if (strcmp(names[i], text) == 0)
      return cell_of_index(space, context, code_named[i].index, cell);
  }
  const char *closest = tutti_closest_name(text, CODE_NAMED, names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "expected a cell like |none~0|+|none~0|none~1|+|none~0|none~1|none~2|, an index or a name, found "
                    "'%s'%s%s%s",
                    text, closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

/* The recipe's parameter `cell`. */
static enum tutti_status fix_cell(struct space_nasbench201 *space, tutti_context *context) {
  const char *text = space->config->cell;
  char *end;
  long long index = strtoll(text, &end, 10);
  enum tutti_status status = *end == '\0' && end != text ? cell_of_index(space, context, index, &space->cell)
                                                         : cell_of_text(space, context, text, &space->cell);
  space->fixed = true;
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_prefix(context, status, "[space] cell: ");
}

/* --- create ------------------------------------------------------------------------------------------------------ */

static enum tutti_status add_edges(const struct space_nasbench201 *space, tutti_context *context) {
  for (int to = 1; to < CODE_NODES; to++)
    for (int from = 0; from < to; from++) {
      char name[16];
      (void)snprintf(name, sizeof name, "edge%d-%d", from, to);
      struct tutti_dimension dimension = {.size = sizeof dimension,
                                          .name = name,
                                          .type = TUTTI_DIMENSION_CATEGORICAL,
                                          .choice_count = CODE_OPERATIONS,
                                          .choices = code_operation_names};
      TUTTI_TRY(context, tutti_domain_add(context, space->domain, &dimension));
    }
  return TUTTI_OK;
}

static enum tutti_status space_create_nasbench201(tutti_context *context, const void *config, const void *setup_,
                                                  void **self) {
  const struct tutti_space_setup *setup = setup_;
  enum tutti_status status = TUTTI_OK;
  struct space_nasbench201 *space = NULL;
  TUTTI_TRY(context, block_need_image(context, setup->task));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  code_order(space->order);
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  TUTTI_TRY_OUT(context, *space->config->cell ? fix_cell(space, context) : add_edges(space, context));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_nasbench201(space);
  return status;
}

static const tutti_domain *space_domain_nasbench201(void *self) { return ((struct space_nasbench201 *)self)->domain; }

/* --- text -------------------------------------------------------------------------------------------------------- */

static struct code_cell cell_of_point(const double *point) {
  struct code_cell cell;
  for (int edge = 0; edge < CODE_EDGES; edge++)
    cell.operations[edge] = (int)point[edge];
  return cell;
}

static struct code_cell cell_at(const struct space_nasbench201 *space, const double *point) {
  return space->fixed ? space->cell : cell_of_point(point);
}

static enum tutti_status space_print_point_nasbench201(void *self, tutti_context *context, const double *point,
                                                       char **json) {
  struct code_cell cell = cell_at(self, point);
  char text[CODE_TEXT];
  code_write(&cell, text);
  return tutti_format(context, json, "\"%s\"", text);
}

static enum tutti_status read_cell(const struct space_nasbench201 *space, tutti_context *context, const json_t *value,
                                   struct code_cell *cell) {
  if (json_is_string(value))
    return cell_of_text(space, context, json_string_value(value), cell);
  if (!json_is_integer(value))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "expected a cell as a string, \"|none~0|+|none~0|none~1|+|none~0|none~1|none~2|\", or its index");
  return cell_of_index(space, context, json_integer_value(value), cell);
}

static enum tutti_status space_parse_point_nasbench201(void *self, tutti_context *context, const char *json,
                                                       double *point) {
  struct code_cell cell;
  json_t *root;
  TUTTI_TRY(context,
            shared_json_parse(context, json, JSON_DECODE_ANY, "a cell as a JSON string, or its index", NULL, &root));
  enum tutti_status status = read_cell(self, context, root, &cell);
  json_decref(root);
  TUTTI_TRY(context, status);
  const struct space_nasbench201 *space = self;
  if (space->fixed && memcmp(&cell, &space->cell, sizeof cell) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] cell leaves only the cell %s, and this is another",
                      space->config->cell);
  for (int edge = 0; !space->fixed && edge < CODE_EDGES; edge++)
    point[edge] = cell.operations[edge];
  return TUTTI_OK;
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* A cell on its way into a network. */
struct plan {
  const struct blocks *blocks;
  const struct code_cell *cell;
  const char *label;
  bool read[CODE_NODES]; /* leads to the output */
  bool zero[CODE_NODES]; /* nothing comes in */
  uint32_t layers[CODE_NODES];
  uint32_t zeros; /* a layer of zeros, once there is one; else 0 */
};

static int operation_at(const struct plan *plan, int from, int to) {
  return plan->cell->operations[code_edge(from, to)];
}

static void mark_read(struct plan *plan) {
  plan->read[CODE_NODES - 1] = true;
  for (int from = CODE_NODES - 1; from-- > 0;)
    for (int to = from + 1; to < CODE_NODES; to++)
      plan->read[from] = plan->read[from] || (plan->read[to] && operation_at(plan, from, to) != CODE_NONE);
}

/* Does an edge carry anything? Convolutions do even from zeros: the normalisation behind them shifts. */
static bool carries(const struct plan *plan, int from, int to) {
  int operation = operation_at(plan, from, to);
  bool convolution = operation == CODE_NOR_CONV_1X1 || operation == CODE_NOR_CONV_3X3;
  return operation != CODE_NONE && (convolution || !plan->zero[from]);
}

/* The layer of a node; zeros have one only where they are asked for. */
static enum tutti_status node_layer(struct plan *plan, int node, uint32_t *layer) {
  if (plan->zero[node] && !plan->zeros) {
    plan->zeros = plan->layers[0];
    TUTTI_TRY(plan->blocks->context,
              block_layer(plan->blocks, plan->label, "zeros", TUTTI_OP_ZERO, NULL, &plan->zeros));
  }
  *layer = plan->zero[node] ? plan->zeros : plan->layers[node];
  return TUTTI_OK;
}

static enum tutti_status add_edge_nasbench201(struct plan *plan, int from, int to, uint32_t *layer) {
  const struct blocks *blocks = plan->blocks;
  int operation = operation_at(plan, from, to);
  int32_t side = operation == CODE_NOR_CONV_3X3 ? 3 : 1;
  char label[LABEL_SIZE];
  (void)snprintf(label, sizeof label, "%s/edge%d-%d/%s", plan->label, from, to, code_operation_names[operation]);
  TUTTI_TRY(blocks->context, node_layer(plan, from, layer));
  if (operation == CODE_SKIP_CONNECT)
    return TUTTI_OK;
  if (operation == CODE_AVG_POOL_3X3)
    return block_pool(blocks, label, TUTTI_OP_AVERAGE_POOL, 3, 1, layer);
  return block_relu_convolution_norm(blocks, label, block_channels(blocks, *layer), BLOCK_WINDOW(side, 1), layer);
}

static enum tutti_status add_node_nasbench201(struct plan *plan, int node) {
  uint32_t ends[CODE_NODES];
  size_t count = 0;
  char label[LABEL_SIZE];
  for (int from = 0; from < node; from++)
    if (carries(plan, from, node))
      TUTTI_TRY(plan->blocks->context, add_edge_nasbench201(plan, from, node, &ends[count++]));
  plan->zero[node] = count == 0;
  (void)snprintf(label, sizeof label, "%s/node%d", plan->label, node);
  return count == 0 ? TUTTI_OK : block_join(plan->blocks, label, TUTTI_OP_ADD, count, ends, &plan->layers[node]);
}

static enum tutti_status add_cell_nasbench201(const struct blocks *blocks, const struct code_cell *cell,
                                              const char *label, uint32_t *layer) {
  struct plan plan = {.blocks = blocks, .cell = cell, .label = label, .layers = {*layer}};
  mark_read(&plan);
  for (int node = 1; node < CODE_NODES; node++)
    if (plan.read[node])
      TUTTI_TRY(blocks->context, add_node_nasbench201(&plan, node));
  return node_layer(&plan, CODE_NODES - 1, layer);
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

/* Two 3x3 convolutions, the first of which halves the image, beside an average pool and a pointwise convolution. */
static enum tutti_status add_residual(const struct blocks *blocks, const char *stage, int32_t channels,
                                      uint32_t *layer) {
  char first[LABEL_SIZE], second[LABEL_SIZE], shortcut[LABEL_SIZE], sum[LABEL_SIZE];
  uint32_t ends[2] = {*layer, *layer};
  (void)snprintf(first, sizeof first, "%s/residual/first", stage);
  (void)snprintf(second, sizeof second, "%s/residual/second", stage);
  (void)snprintf(shortcut, sizeof shortcut, "%s/residual/shortcut", stage);
  (void)snprintf(sum, sizeof sum, "%s/residual", stage);
  TUTTI_TRY(blocks->context, block_relu_convolution_norm(blocks, first, channels, BLOCK_WINDOW(3, 2), &ends[0]));
  TUTTI_TRY(blocks->context, block_relu_convolution_norm(blocks, second, channels, BLOCK_WINDOW(3, 1), &ends[0]));
  TUTTI_TRY(blocks->context, block_pool(blocks, shortcut, TUTTI_OP_AVERAGE_POOL, 2, 2, &ends[1]));
  TUTTI_TRY(blocks->context, block_convolution(blocks, shortcut, "conv", channels, BLOCK_WINDOW(1, 1), &ends[1]));
  return block_join(blocks, sum, TUTTI_OP_ADD, 2, ends, layer);
}

static enum tutti_status add_stage(const struct space_nasbench201_config *config, const struct blocks *blocks,
                                   const struct code_cell *cell, int stage, uint32_t *layer) {
  char label[LABEL_SIZE / 2];
  (void)snprintf(label, sizeof label, "stage%d", stage);
  if (stage > 0)
    TUTTI_TRY(blocks->context, add_residual(blocks, label, (int32_t)config->channels << stage, layer));
  for (int64_t i = 0; i < config->cells; i++) {
    (void)snprintf(label, sizeof label, "stage%d/cell%d", stage, (int)i);
    TUTTI_TRY(blocks->context, add_cell_nasbench201(blocks, cell, label, layer));
  }
  return TUTTI_OK;
}

static enum tutti_status space_decode_nasbench201(void *self, tutti_context *context, const tutti_genotype *genotype,
                                                  const struct tutti_task *task, tutti_network **network) {
  const struct space_nasbench201_config *config = ((const struct space_nasbench201 *)self)->config;
  struct code_cell cell = cell_at(self, tutti_genotype_point(genotype));
  struct blocks blocks = {.context = context, .affine = config->affine};
  enum tutti_status status = TUTTI_OK;
  uint32_t layer = 0;
  TUTTI_TRY(context, block_need_image(context, task));
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &blocks.network));
  TUTTI_TRY_OUT(context,
                block_convolution(&blocks, "stem", "conv", (int32_t)config->channels, BLOCK_WINDOW(3, 1), &layer));
  TUTTI_TRY_OUT(context, block_norm(&blocks, "stem", "norm", &layer));
  for (int stage = 0; stage < config->stages; stage++)
    TUTTI_TRY_OUT(context, add_stage(config, &blocks, &cell, stage, &layer));
  TUTTI_TRY_OUT(context, block_norm(&blocks, "last", "norm", &layer));
  TUTTI_TRY_OUT(context, block_relu(&blocks, "last", "relu", &layer));
  TUTTI_TRY_OUT(context, block_layer(&blocks, "pool", NULL, TUTTI_OP_GLOBAL_POOL, NULL, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, blocks.network, layer, task));
  *network = blocks.network;
  return TUTTI_OK;
out:
  tutti_network_destroy(blocks.network);
  return status;
}

static const struct tutti_space_ops space_nasbench201_ops = {
    .size = sizeof space_nasbench201_ops,
    .decode = space_decode_nasbench201,
    .domain = space_domain_nasbench201,
    .print_point = space_print_point_nasbench201,
    .parse_point = space_parse_point_nasbench201,
};

static const struct tutti_descriptor space_nasbench201_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "nasbench201"),
    .version = "1.0",
    .summary = "the cells of NAS-Bench-201, by string, index or name",
    .source = "Dong, Yang, NAS-Bench-201: Extending the scope of reproducible neural architecture search, ICLR 2020",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_nasbench201_params, struct space_nasbench201_config),
    .create = space_create_nasbench201,
    .destroy = space_destroy_nasbench201,
    .ops = &space_nasbench201_ops,
};

TUTTI_PLUGIN(space_nasbench201_descriptor)
