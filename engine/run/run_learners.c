/* run_learners.c - a backend that delegates chooses by a hyperparameter: each of its choices is tried. */
#include "run_learners.h"

/* Where every number that is searched is at its upper end, and every choice the `choice`-th, or the last. */
static void fill_point(const tutti_domain *domain, size_t choice, double *point) {
  for (size_t i = 0; domain && i < tutti_domain_count(domain); i++) {
    const struct tutti_dimension *dimension = tutti_domain_at(domain, i);
    size_t last = dimension->choice_count - 1;
    point[i] =
        dimension->type == TUTTI_DIMENSION_CATEGORICAL ? (double)(choice < last ? choice : last) : dimension->high;
  }
}

static size_t most_choices(const tutti_domain *domain) {
  size_t most = 1;
  for (size_t i = 0; domain && i < tutti_domain_count(domain); i++)
    if (tutti_domain_at(domain, i)->choice_count > most)
      most = tutti_domain_at(domain, i)->choice_count;
  return most;
}

enum tutti_status tutti_run_visit_learners(tutti_context *context, const struct tutti_experiment *experiment,
                                           tutti_visit_learner *visit, void *visitor) {
  const tutti_domain *domain = tutti_scope_hyperparameters(experiment->scope);
  size_t count = domain ? tutti_domain_count(domain) : 0;
  enum tutti_status status = TUTTI_OK;
  double *point;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *point, &point));
  for (size_t choice = 0; choice < most_choices(domain); choice++) {
    const tutti_backend *learner;
    tutti_config *config;
    fill_point(domain, choice, point);
    TUTTI_TRY_OUT(context, tutti_backend_choose(context, experiment->backend, domain, point, &learner, &config));
    status = visit(visitor, context, learner, config);
    tutti_config_destroy(config);
    TUTTI_TRY_OUT(context, status);
  }
out:
  tutti_free(point);
  return status;
}
