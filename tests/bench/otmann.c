/* otmann.c - times OTMANN distances, four structural weights, over all pairs of the golden networks in turn: otmann
   [REPEATS]. Prints for each set its name, the pairs, the best microseconds a pair and the worst relative difference
   from the golden numbers; otmann_pot.py runs it beside POT. Masses and path lengths are there before the clock
   starts. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spaces/layer-graph/graph_json.h"
#include "spaces/layer-graph/otmann.h"
#include "bench.h"

enum { NETWORKS_MOST = 32, WEIGHTS = 4 };

/* As the published program has them. */
static const double weights[WEIGHTS] = {0.1, 0.25, 0.61, 1.5};
static const struct otmann_rules mlp_rules = {.end_mass = 100,
                                              .group_count = 3,
                                              .groups = {LABELS_ALL, LABELS_RECTIFIER, LABELS_SIGMOID},
                                              .structure_count = WEIGHTS};
static const struct otmann_rules cnn_rules = {.fc_mass = 0.1,
                                              .end_mass = 100,
                                              .pool_mismatch = 0.5,
                                              .conv_mismatch = 0.2,
                                              .group_count = 4,
                                              .groups = {LABELS_ALL, LABELS_CONV, LABELS_POOL, 1u << LABEL_FC},
                                              .structure_count = WEIGHTS};
static const struct graph_rules wide = {.labels = LABELS_ALL,
                                        .layers_most = GRAPH_LAYERS_MOST,
                                        .inputs_most = GRAPH_LAYERS_MOST,
                                        .outputs_most = GRAPH_LAYERS_MOST,
                                        .edges_most = GRAPH_LAYERS_MOST * GRAPH_LAYERS_MOST,
                                        .units_most = INT32_MAX};

static enum tutti_status read_profile(tutti_context *context, const struct otmann_rules *rules, const json_t *network,
                                      struct otmann_profile **profile) {
  struct graph graph;
  struct graph_rules limits = wide;
  if (rules->fc_mass == 0) /* no images are compared */
    limits.labels &= ~LABELS_CONV;
  json_t *own =
      json_pack("{s:O, s:O}", "layers", json_object_get(network, "layers"), "edges", json_object_get(network, "edges"));
  char *text = json_dumps(own, 0);
  enum tutti_status status = graph_from_json(context, &limits, text ? text : "", &graph);
  free(text);
  json_decref(own);
  TUTTI_TRY(context, status);
  return otmann_profile_create(context, rules, &graph, profile);
}

/* The golden distance of networks i > k for one of the weights. */
static double golden_distance(const json_t *set, double weight, size_t i, size_t k) {
  const json_t *by_structure = json_object_get(json_array_get(json_object_get(set, "distances"), 0), "by_structure");
  const json_t *entry;
  size_t index;
  json_array_foreach(by_structure, index, entry) {
    if (json_number_value(json_object_get(entry, "weight")) == weight)
      return json_number_value(json_array_get(json_array_get(json_object_get(entry, "d"), i), k));
  }
  return NAN;
}

static void compare(const json_t *set, size_t i, size_t k, const double *out, double *worst) {
  for (size_t w = 0; w < WEIGHTS; w++) {
    double expected = golden_distance(set, weights[w], i, k);
    *worst = fmax(*worst, fabs(out[w] - expected) / expected);
  }
}

/* All pairs once; microseconds a pair. */
static double time_pairs(struct otmann *otmann, size_t count, struct otmann_profile *const *profiles, double *sink) {
  double begin = bench_seconds(CLOCK_MONOTONIC), out[2 * WEIGHTS];
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++) {
      otmann_distance(otmann, profiles[i], profiles[k], out);
      *sink += out[0];
    }
  return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / (double)(count * (count - 1) / 2);
}

static enum tutti_status run_set(tutti_context *context, const char *name, const json_t *set, struct otmann_rules rules,
                                 int repeats) {
  enum tutti_status status = TUTTI_OK;
  struct otmann_profile *profiles[NETWORKS_MOST] = {NULL};
  struct otmann *otmann = NULL;
  const json_t *networks = json_object_get(set, "networks");
  size_t count = json_array_size(networks);
  double best = INFINITY, worst = 0, out[2 * WEIGHTS], sink = 0;
  memcpy(rules.structures, weights, sizeof weights);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *otmann, &otmann));
  otmann_init(otmann, &rules);
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, read_profile(context, &rules, json_array_get(networks, i), &profiles[i]));
  for (int i = 0; i < repeats; i++)
    best = fmin(best, time_pairs(otmann, count, profiles, &sink));
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++) {
      otmann_distance(otmann, profiles[i], profiles[k], out);
      compare(set, i, k, out, &worst);
    }
  (void)printf("%s %zu %.2f %.1e\n", name, count * (count - 1) / 2, best, sink >= 0 ? worst : NAN);
out:
  for (size_t i = 0; i < count; i++)
    tutti_free(profiles[i]);
  tutti_free(otmann);
  return status;
}

int main(int count, char **arguments) {
  const char *folder = getenv("srcdir");
  char path[4096];
  tutti_context *context;
  int repeats = count > 1 ? atoi(arguments[1]) : 50;
  (void)snprintf(path, sizeof path, "%s/tests/golden/otmann.json", folder ? folder : ".");
  json_t *root = json_load_file(path, 0, NULL), *sets = json_object_get(root, "sets");
  if (!root || repeats < 1 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: [srcdir=SOURCES] %s [REPEATS]; %s is read\n", arguments[0], path);
    return 2;
  }
  enum tutti_status status = run_set(context, "mlp_reg", json_object_get(sets, "mlp_reg"), mlp_rules, repeats);
  if (status == TUTTI_OK)
    status = run_set(context, "cnn", json_object_get(sets, "cnn"), cnn_rules, repeats);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  json_decref(root);
  return status != TUTTI_OK;
}
