/* random.c - a candidate's worth is a uniform random number. With it, builder nasbot is the baseline RAND of Kandasamy,
   Neiswanger, Schneider, Poczos, Xing, "Neural Architecture Search with Bayesian Optimisation and Optimal Transport",
   NeurIPS 2018, section 5: candidates are searched for in the same way, but no model guides the search. Numbers differ
   between proposals; within one, a candidate keeps its number. */
#include <tutti/plugin.h>

struct chance {
  uint64_t seed;
};

static enum tutti_status acquisition_create_random(tutti_context *context, const void *config, const void *setup,
                                                   void **instance) {
  struct chance *self = NULL;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->seed = ((const struct tutti_acquisition_setup *)setup)->seed;
  *instance = self;
  return TUTTI_OK;
}

static void acquisition_destroy_random(void *instance) { tutti_free(instance); }

/* FNV-1a over the bytes of a vector. */
static uint64_t hash_of_vector(size_t count, const double *vector) {
  const unsigned char *bytes = (const unsigned char *)vector;
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (size_t i = 0; i < count * sizeof(double); i++)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
  return hash;
}

static enum tutti_status acquisition_evaluate_random(void *instance, tutti_context *context,
                                                     const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                                     const struct tutti_points *points, double *worth) {
  struct tutti_random random;
  (void)context, (void)surrogate;
  tutti_random_init(&random, ((const struct chance *)instance)->seed, "random acquisition", standing->step);
  uint64_t seed = tutti_random_u64(&random);
  for (size_t i = 0; i < points->count; i++) {
    uint64_t hash = points->candidates ? tutti_candidate_hash(points->candidates[i])
                                       : hash_of_vector(points->dimension, points->vectors + i * points->dimension);
    tutti_random_init(&random, seed, "worth", hash);
    worth[i] = tutti_random_uniform(&random);
  }
  return TUTTI_OK;
}

static bool acquisition_blind_random(void *instance) {
  (void)instance;
  return true;
}

static const struct tutti_acquisition_ops random_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .evaluate = acquisition_evaluate_random,
    .blind = acquisition_blind_random,
};

static const struct tutti_descriptor random_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "random"),
    .version = "1.0",
    .summary = "a uniform random number, whatever the model says",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .create = acquisition_create_random,
    .destroy = acquisition_destroy_random,
    .ops = &random_ops,
};

TUTTI_PLUGIN(random_descriptor)
