/* otmann_pairs.c - the distances of one graph from many, which do not depend on each other: threads share them. */
#include "otmann.h"

#include <pthread.h>
#include <stdatomic.h>

/* A thread is worth its start for so many pairs; so many are taken at once. */
enum { PAIRS_FOR_THREAD = 16, PAIRS_AT_ONCE = 4 };

struct pairs {
  const struct otmann_profile *from, *const *to;
  size_t count, width;
  double *out;
  atomic_size_t next;
};

struct helper {
  struct pairs *pairs;
  struct otmann otmann;
  pthread_t thread;
};

static void compute(struct otmann *otmann, struct pairs *pairs) {
  for (size_t i; (i = atomic_fetch_add(&pairs->next, PAIRS_AT_ONCE)) < pairs->count;)
    for (size_t k = i; k < i + PAIRS_AT_ONCE && k < pairs->count; k++)
      otmann_distance(otmann, pairs->from, pairs->to[k], pairs->out + k * pairs->width);
}

static void *help(void *argument) {
  struct helper *helper = argument;
  compute(&helper->otmann, helper->pairs);
  return NULL;
}

enum tutti_status otmann_distances(tutti_context *context, struct otmann *otmann, const struct otmann_profile *from,
                                   size_t count, const struct otmann_profile *const *to, double *out) {
  struct pairs pairs = {.from = from, .to = to, .count = count, .width = 2 * otmann->rules.structure_count, .out = out};
  size_t threads = tutti_threads(context), most = count / PAIRS_FOR_THREAD, started = 0;
  struct helper *helpers = NULL;
  threads = threads < most ? threads : most;
  if (threads > 1)
    TUTTI_TRY(context, tutti_alloc(context, threads - 1, sizeof *helpers, &helpers));
  for (; started + 1 < threads; started++) {
    struct helper *helper = &helpers[started];
    helper->pairs = &pairs;
    otmann_init(&helper->otmann, &otmann->rules);
    if (pthread_create(&helper->thread, NULL, help, helper) != 0)
      break; /* the others do its part */
  }
  compute(otmann, &pairs);
  for (size_t i = 0; i < started; i++)
    (void)pthread_join(helpers[i].thread, NULL);
  tutti_free(helpers);
  return TUTTI_OK;
}
