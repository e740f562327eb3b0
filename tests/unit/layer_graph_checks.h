/* layer_graph_checks.h - conditions that hold for every graph that modifiers make, in both spaces of layer graphs.
   Include it after the space and space_fixture.h. */
#ifndef LAYER_GRAPH_CHECKS_H
#define LAYER_GRAPH_CHECKS_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { MEASURES = 8, RESERVOIR = 64 };

static inline tutti_genotype *parsed(const char *json) {
  tutti_genotype *genotype;
  must(tutti_space_parse(context, space, json, &genotype));
  return genotype;
}

static inline void must_refuse(const char *json, const char *message) {
  tutti_genotype *genotype;
  must_fail(tutti_space_parse(context, space, json, &genotype), TUTTI_ERROR_USAGE, message);
}

static inline void measure(const tutti_genotype *a, const tutti_genotype *b, double out[MEASURES]) {
  must(tutti_space_distances(context, a, 1, &b, out));
}

/* The same graph with its layers numbered at random. */
static inline char *renumbered(const char *json, struct tutti_random *random) {
  json_t *root = json_loads(json, 0, NULL), *layers = json_array(), *edge;
  const json_t *old = json_object_get(root, "layers");
  uint32_t numbers[64], places[64];
  size_t count = json_array_size(old), i;
  for (i = 0; i < count; i++)
    numbers[i] = (uint32_t)i;
  tutti_random_shuffle(random, count, numbers);
  for (i = 0; i < count; i++) {
    (void)json_array_append(layers, json_array_get(old, numbers[i]));
    places[numbers[i]] = (uint32_t)i;
  }
  (void)json_object_set_new(root, "layers", layers);
  json_array_foreach(json_object_get(root, "edges"), i, edge) for (size_t end = 0; end < 2; end++)(void)
      json_array_set_new(edge, end, json_integer(places[json_integer_value(json_array_get(edge, end))]));
  char *text = json_dumps(root, 0);
  json_decref(root);
  return text;
}

/* Printed and read back, however numbered, it is the same; it decodes. */
static inline void check_text_and_network(const tutti_genotype *genotype, struct tutti_random *random) {
  char *text, *again;
  tutti_network *network;
  must(tutti_space_print(context, genotype, &text));
  char *shuffled = renumbered(text, random);
  tutti_genotype *back = parsed(shuffled);
  must(tutti_space_print(context, back, &again));
  assert_string_equal(text, again);
  must(tutti_space_decode(context, genotype, &task, &network));
  tutti_network_destroy(network);
  tutti_genotype_unref(back);
  free(shuffled);
  tutti_free(text);
  tutti_free(again);
}

/* A pseudo-metric on three graphs; d / mass is symmetric, and at most 1. */
static inline void check_metric(const tutti_genotype *a, const tutti_genotype *b, const tutti_genotype *c) {
  double ab[MEASURES], ba[MEASURES], bc[MEASURES], ac[MEASURES], aa[MEASURES];
  measure(a, b, ab);
  measure(b, a, ba);
  measure(b, c, bc);
  measure(a, c, ac);
  measure(a, a, aa);
  for (size_t k = 0; k < MEASURES; k++) {
    assert_true(aa[k] == 0);
    assert_true(fabs(ab[k] - ba[k]) <= 1e-12 * ab[k]);
    assert_true(k >= MEASURES / 2 || ac[k] <= (ab[k] + bc[k]) * (1 + 1e-12));
    assert_true(k < MEASURES / 2 || ab[k] <= 1 + 1e-12);
    assert_true(k % 4 == 0 || ab[k - 1] <= ab[k] * (1 + 1e-12));
  }
}

/* `count` graphs, in lineages from the initial pool: all valid (they are read back), each unlike its parent; of every
   fifth, at distances that are distances. */
static inline void check_lineages(int count) {
  tutti_genotype *reservoir[RESERVOIR] = {NULL};
  must(create());
  for (int i = 0; i < count; i++) {
    struct tutti_random random;
    tutti_genotype **slot = &reservoir[i % RESERVOIR], *mutant;
    tutti_random_init(&random, 7, "lineage", (uint64_t)i);
    if (i < RESERVOIR || i % 10 == 0) {
      tutti_genotype_unref(*slot);
      must(tutti_space_sample(context, space, &random, slot));
    }
    must(tutti_space_mutate(context, space, &random, *slot, &mutant));
    assert_false(tutti_genotype_equal(mutant, *slot));
    check_text_and_network(mutant, &random);
    if (i >= RESERVOIR && i % 5 == 0)
      check_metric(mutant, *slot, reservoir[tutti_random_below(&random, RESERVOIR)]);
    tutti_genotype_unref(*slot);
    *slot = mutant;
  }
  for (int i = 0; i < RESERVOIR; i++)
    tutti_genotype_unref(reservoir[i]);
}

#endif
