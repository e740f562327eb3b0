/* diversity.c - diversity of the members, from the distances of all pairs of candidates. */
#include <tutti/diversity.h>
#include <tutti/space.h>

#include "evaluate_impl.h"

/* NaN where there is no pair, or a pair has no distance. */
struct diversity {
  double score;                         /* of the vectors of decisions */
  double architecture, hyperparameters; /* mean distances */
};

static double distance_at(const void *of, size_t offset) { return METRIC_FIELD(of, offset); }

static bool has_distance(const void *of, size_t offset) { return !isnan(distance_at(of, offset)); }

static const struct metric_entry diversity_metrics[] = {
    METRIC("architecture-diversity", "", NEITHER,
           "sum over pairs of picks of the Euclidean distances of their vectors of decisions, divided by the norm of "
           "these distances",
           distance_at, offsetof(struct diversity, score), .defined = has_distance),
    METRIC("architecture-distance", "", NEITHER, "mean over pairs of members of the distance of their architectures",
           distance_at, offsetof(struct diversity, architecture), .defined = has_distance),
    METRIC("hyperparameter-distance", "", NEITHER,
           "mean over pairs of members of the distance of their searched hyperparameters", distance_at,
           offsetof(struct diversity, hyperparameters), .defined = has_distance),
};
const struct metric_table metrics_of_diversity = METRIC_TABLE(diversity_metrics);

/* A decision as a whole number: a choice's number, or the integer itself; one less than the least where the member does
   not have the decision. NaN for a real one. */
static double decision_of(const struct tutti_dimension *dimension, double value) {
  bool choice = dimension->type == TUTTI_DIMENSION_CATEGORICAL;
  if (dimension->type == TUTTI_DIMENSION_REAL)
    return NAN;
  return isnan(value) ? (choice ? 0 : dimension->low) - 1 : value;
}

/* The squared Euclidean distance of two architectures as vectors of decisions; NaN if they are none. */
static double squared_distance(const tutti_space *space, const tutti_genotype *a, const tutti_genotype *b) {
  const tutti_domain *domain = tutti_space_domain(space);
  double sum = 0;
  if (!domain || tutti_domain_cardinality(domain) <= 1)
    return NAN;
  for (size_t i = 0; i < tutti_domain_count(domain); i++) {
    const struct tutti_dimension *dimension = tutti_domain_at(domain, i);
    double difference =
        decision_of(dimension, tutti_genotype_point(a)[i]) - decision_of(dimension, tutti_genotype_point(b)[i]);
    sum += difference * difference;
  }
  return sum;
}

/* The distance of two architectures; NaN if their space has no distance. */
static enum tutti_status architecture_distance(tutti_context *context, const tutti_space *space,
                                               const tutti_genotype *a, const tutti_genotype *b, double *measures,
                                               double *distance) {
  const tutti_domain *domain = tutti_space_domain(space);
  *distance = NAN;
  if (domain)
    *distance = tutti_domain_cardinality(domain) > 1
                    ? tutti_domain_distance(domain, tutti_genotype_point(a), tutti_genotype_point(b))
                    : NAN;
  else if (tutti_space_measures(space) > 0) {
    TUTTI_TRY(context, tutti_space_distances(context, a, 1, &b, measures));
    *distance = measures[0];
  }
  return TUTTI_OK;
}

/* Sums over pairs, of which `pairs` have architectures. */
struct sums {
  size_t pairs;
  double architecture, hyperparameters, distances, squares;
};

static enum tutti_status add_architectures(tutti_context *context, const tutti_space *space, const tutti_genotype *a,
                                           const tutti_genotype *b, double times, double *measures, struct sums *sums) {
  double distance = NAN, squared = NAN;
  if (space) {
    TUTTI_TRY(context, architecture_distance(context, space, a, b, measures, &distance));
    squared = squared_distance(space, a, b);
  }
  sums->pairs++;
  sums->architecture += distance;
  sums->distances += times * sqrt(squared);
  sums->squares += times * squared;
  return TUTTI_OK;
}

enum tutti_status tutti_evaluate_diversity_of(tutti_context *context, const tutti_scope *scope, size_t count,
                                              const tutti_candidate *const *candidates, const bool *networks,
                                              const uint64_t *picks, tutti_evaluation **evaluation) {
  const tutti_space *space = tutti_scope_space(scope);
  const tutti_domain *searched = tutti_scope_hyperparameters(scope);
  size_t pairs = count * (count - (count > 0)) / 2;
  struct sums sums = {.pairs = 0};
  double *measures = NULL;
  enum tutti_status status;
  *evaluation = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, space ? tutti_space_measures(space) : 0, sizeof *measures, &measures));
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) {
      double times = picks ? (double)picks[i] * (double)picks[j] : 1;
      if (networks[i] && networks[j])
        TUTTI_TRY_OUT(context, add_architectures(context, space, tutti_candidate_genotype(candidates[i]),
                                                 tutti_candidate_genotype(candidates[j]), times, measures, &sums));
      sums.hyperparameters += searched && tutti_domain_count(searched)
                                  ? tutti_domain_distance(searched, tutti_candidate_hyperparameters(candidates[i]),
                                                          tutti_candidate_hyperparameters(candidates[j]))
                                  : NAN;
    }
  /* Without a pair, means are 0 / 0, that is NaN: unknown. */
  const struct diversity diversity = {.score = sums.pairs == 0    ? NAN
                                               : sums.squares > 0 ? sums.distances / sqrt(sums.squares)
                                                                  : sums.squares,
                                      .architecture = sums.architecture / (double)sums.pairs,
                                      .hyperparameters = sums.hyperparameters / (double)pairs};
  TUTTI_TRY_OUT(context, tutti_evaluation_create(context, &metrics_of_diversity, &diversity, evaluation));
out:
  tutti_free(measures);
  return status;
}

enum tutti_status tutti_evaluate_diversity(tutti_context *context, const tutti_scope *scope, size_t count,
                                           const tutti_candidate *const *candidates, const uint64_t *picks,
                                           tutti_evaluation **evaluation) {
  bool *networks;
  *evaluation = NULL;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *networks, &networks));
  for (size_t i = 0; i < count; i++)
    networks[i] = true;
  enum tutti_status status =
      tutti_evaluate_diversity_of(context, scope, count, candidates, networks, picks, evaluation);
  tutti_free(networks);
  return status;
}
