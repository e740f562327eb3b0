/* world_spaces.c - small spaces to try plugins in: points of all sorts, three points only, and graphs with distances.
 */
#include "conform.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* --- points --- */

struct points_space {
  tutti_domain *domain;
};

static void destroy_points(void *self) {
  tutti_domain_destroy(((struct points_space *)self)->domain);
  tutti_free(self);
}

static enum tutti_status create_from(tutti_context *context, size_t count, const char *const (*dimensions)[2],
                                     void **self) {
  enum tutti_status status = TUTTI_OK;
  struct points_space *space = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *space, &space));
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, tutti_domain_add_text(context, space->domain, dimensions[i][0], dimensions[i][1]));
  *self = space;
  return TUTTI_OK;
out:
  if (space)
    destroy_points(space);
  return status;
}

static enum tutti_status create_points(tutti_context *context, const void *config, const void *setup, void **self) {
  static const char *const dimensions[][2] = {{"units", "log-integer 4 64"},
                                              {"kind", "choice plain wide deep"},
                                              {"depth", "integer 1 4 if kind = deep"},
                                              {"slope", "uniform -1 1"}};
  (void)config, (void)setup;
  return create_from(context, 4, dimensions, self);
}

static enum tutti_status create_few(tutti_context *context, const void *config, const void *setup, void **self) {
  static const char *const dimensions[][2] = {{"width", "integer 0 2"}};
  (void)config, (void)setup;
  return create_from(context, 1, dimensions, self);
}

static const tutti_domain *domain_points(void *self) { return ((struct points_space *)self)->domain; }

/* One hidden layer; its width is the first coordinate's whole part. */
static enum tutti_status decode_width(tutti_context *context, int32_t width, const struct tutti_task *task,
                                      tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  uint32_t layer;
  *network = NULL;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, network));
  TUTTI_TRY_OUT(context, tutti_network_add_dense(context, *network, NULL, 0, width, TUTTI_ACTIVATION_TANH, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, *network, layer, task));
  return TUTTI_OK;
out:
  tutti_network_destroy(*network);
  *network = NULL;
  return status;
}

static enum tutti_status decode_points(void *self, tutti_context *context, const tutti_genotype *genotype,
                                       const struct tutti_task *task, tutti_network **network) {
  (void)self;
  return decode_width(context, (int32_t)tutti_genotype_point(genotype)[0] + 1, task, network);
}

static const struct tutti_space_ops points_ops = {
    .size = sizeof points_ops, .decode = decode_points, .domain = domain_points};

/* --- graphs: sequences of 1 to 6 labels, 0 to 4 each --- */

enum { GRAPH_MOST = 6, GRAPH_LABELS = 5 };
struct graph {
  size_t count;
  uint32_t labels[GRAPH_MOST];
};

static enum tutti_status create_graphs(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

static void destroy_graphs(void *self) { tutti_free(self); }

static enum tutti_status sample_graph(void *self, tutti_context *context, struct tutti_random *random, void **out) {
  struct graph *graph;
  (void)self;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *graph, &graph));
  graph->count = 1 + tutti_random_below(random, GRAPH_MOST);
  for (size_t i = 0; i < graph->count; i++)
    graph->labels[i] = (uint32_t)tutti_random_below(random, GRAPH_LABELS);
  *out = graph;
  return TUTTI_OK;
}

static enum tutti_status mutate_graph(void *self, tutti_context *context, struct tutti_random *random, const void *from,
                                      void **out) {
  struct graph *graph;
  (void)self;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *graph, &graph));
  *graph = *(const struct graph *)from;
  size_t place = tutti_random_below(random, graph->count);
  graph->labels[place] =
      (graph->labels[place] + 1 + (uint32_t)tutti_random_below(random, GRAPH_LABELS - 1)) % GRAPH_LABELS;
  *out = graph;
  return TUTTI_OK;
}

static enum tutti_status print_graph(void *self, tutti_context *context, const void *graph_, char **json) {
  const struct graph *graph = graph_;
  char text[4 * GRAPH_MOST + 2] = "[";
  (void)self;
  for (size_t i = 0; i < graph->count; i++)
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i ? "," : "", graph->labels[i]);
  return tutti_format(context, json, "%s]", text);
}

static enum tutti_status parse_graph(void *self, tutti_context *context, const char *json, void **out) {
  json_t *root = json_loads(json, 0, NULL);
  size_t count = json_array_size(root);
  struct graph *graph = NULL;
  enum tutti_status status = TUTTI_OK;
  (void)self;
  if (count < 1 || count > GRAPH_MOST)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected an array of 1 to 6 labels, found %s", json);
  else
    status = tutti_alloc(context, 1, sizeof *graph, &graph);
  for (size_t i = 0; status == TUTTI_OK && i < count; i++) {
    json_int_t label = json_is_integer(json_array_get(root, i)) ? json_integer_value(json_array_get(root, i)) : -1;
    if (label < 0 || label >= GRAPH_LABELS)
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "label %zu: expected an integer in [0, 4]", i);
    else
      graph->labels[graph->count++] = (uint32_t)label;
  }
  json_decref(root);
  if (status != TUTTI_OK)
    tutti_free(graph);
  *out = status == TUTTI_OK ? graph : NULL;
  return status;
}

static void free_graph(void *self, void *graph) {
  (void)self;
  tutti_free(graph);
}

static enum tutti_status decode_graphs(void *self, tutti_context *context, const tutti_genotype *genotype,
                                       const struct tutti_task *task, tutti_network **network) {
  const struct graph *graph = tutti_genotype_graph(genotype);
  (void)self;
  return decode_width(context, (int32_t)(4 * graph->count + graph->labels[0]), task, network);
}

static size_t measures_graphs(void *self) {
  (void)self;
  return 2;
}

/* Difference in length, and in labels. */
static enum tutti_status distances_graphs(void *self, tutti_context *context, const tutti_genotype *from, size_t count,
                                          const tutti_genotype *const *to, double *out) {
  const struct graph *a = tutti_genotype_graph(from);
  (void)self, (void)context;
  for (size_t i = 0; i < count; i++) {
    const struct graph *b = tutti_genotype_graph(to[i]);
    out[2 * i] = fabs((double)a->count - (double)b->count);
    out[2 * i + 1] = 0;
    for (size_t k = 0; k < GRAPH_MOST; k++)
      out[2 * i + 1] += fabs((double)a->labels[k] - (double)b->labels[k]);
  }
  return TUTTI_OK;
}

static const struct tutti_space_ops graph_ops = {.size = sizeof graph_ops,
                                                 .decode = decode_graphs,
                                                 .graph_sample = sample_graph,
                                                 .graph_mutate = mutate_graph,
                                                 .graph_print = print_graph,
                                                 .graph_parse = parse_graph,
                                                 .graph_free = free_graph,
                                                 .measures = measures_graphs,
                                                 .distances = distances_graphs};

#define WORLD_SPACE(text)                                                                                              \
  TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, text), .version = "1", .summary = "a space to try plugins in", .source = "", \
                                                 .licence = "Apache-2.0", .params = TUTTI_NO_PARAMS

const struct tutti_descriptor world_space_points = {WORLD_SPACE("conform-points"), .create = create_points,
                                                    .destroy = destroy_points, .ops = &points_ops};
const struct tutti_descriptor world_space_few = {WORLD_SPACE("conform-few"), .create = create_few,
                                                 .destroy = destroy_points, .ops = &points_ops};
const struct tutti_descriptor world_space_graphs = {WORLD_SPACE("conform-graphs"), .create = create_graphs,
                                                    .destroy = destroy_graphs, .ops = &graph_ops};
