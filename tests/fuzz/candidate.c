/* candidate.c - fuzz target: candidates in JSON, of every space. The first byte chooses the space. What is read is
   printed, read again, and is the same; its network is decoded. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

const char fuzz_name[] = "candidate";

static const char *const names[] = {"mlp",         "mlp2",        "dense-skip",      "fixed",          "darts",
                                    "nasbench201", "depth-width", "layer-graph-mlp", "layer-graph-cnn"};
enum { SPACES = sizeof names / sizeof names[0] };

static struct world {
  struct tutti_task task;
  tutti_host *host;
  tutti_space *space;
  tutti_domain *domain;
  tutti_scope *scope;
} worlds[SPACES];

static void end_worlds(void) {
  for (size_t i = 0; i < SPACES; i++) {
    tutti_scope_destroy(worlds[i].scope);
    tutti_space_destroy(worlds[i].space);
    tutti_domain_destroy(worlds[i].domain);
    tutti_host_destroy(worlds[i].host);
  }
}

static bool takes_images(const char *name) {
  return strcmp(name, "darts") == 0 || strcmp(name, "nasbench201") == 0 || strcmp(name, "depth-width") == 0 ||
         strcmp(name, "layer-graph-cnn") == 0;
}

static void make_world(struct world *world, const char *name) {
  tutti_context *context = fuzz_context();
  bool images = takes_images(name);
  world->task = (struct tutti_task){.size = sizeof world->task,
                                    .kind = images ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                                    .input = {images ? 8 : 1, images ? 8 : 1, images ? 3 : 5},
                                    .outputs = images ? 4 : 2,
                                    .train_rows = 100,
                                    .head = images ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_GAUSSIAN};
  struct tutti_host_facts facts = {.size = sizeof facts, .task = &world->task};
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &world->task};
  FUZZ_REQUIRE(tutti_host_create(context, &facts, &world->host) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_host_put(context, world->host, "space", TUTTI_KIND_SPACE, name) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_space_create(context, world->host, "space", &setup, &world->space) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_domain_create(context, &world->domain) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_domain_add_text(context, world->domain, "rate", "log-uniform 1e-4 1") == TUTTI_OK);
  FUZZ_REQUIRE(tutti_scope_create(context, world->space, world->domain, &world->scope) == TUTTI_OK);
}

static void try_candidate(tutti_context *context, const struct world *world, const tutti_candidate *candidate) {
  char *first = NULL, *second = NULL;
  tutti_candidate *again = NULL;
  tutti_network *network = NULL;
  FUZZ_REQUIRE(tutti_scope_print(context, world->scope, candidate, &first) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_scope_parse(context, world->scope, first, &again) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_scope_print(context, world->scope, again, &second) == TUTTI_OK);
  FUZZ_REQUIRE(strcmp(first, second) == 0);
  if (tutti_space_decode(context, tutti_candidate_genotype(again), &world->task, &network) != TUTTI_OK)
    fuzz_refused(network);
  tutti_network_destroy(network);
  tutti_candidate_unref(again);
  tutti_free(first);
  tutti_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  if (size == 0)
    return 0;
  struct world *world = &worlds[data[0] % SPACES];
  if (!worlds[0].scope) {
    for (size_t i = 0; i < SPACES; i++)
      make_world(&worlds[i], names[i]);
    (void)atexit(end_worlds);
  }
  tutti_candidate *candidate = NULL;
  char *text = fuzz_text(data + 1, size - 1);
  if (tutti_scope_parse(context, world->scope, text, &candidate) == TUTTI_OK)
    try_candidate(context, world, candidate);
  else
    fuzz_refused(candidate);
  tutti_candidate_unref(candidate);
  free(text);
  return 0;
}
