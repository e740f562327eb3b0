/* gp_sample.c - hyperparameters drawn from their posterior, by slice sampling of one after another with stepping out
   and shrinkage (Neal, "Slice sampling", Annals of Statistics 31, 2003), as in Snoek, Larochelle, Adams, "Practical
   Bayesian optimization of machine learning algorithms", NeurIPS 2012. Priors, in standardised units: log-normal on the
   amplitude's root, horseshoe of scale 0.1 on the noise, uniform on [0, 2] on the length scales; all cut off at the
   bounds. The chain runs over logarithms, so the density of each prior is multiplied by the hyperparameter itself. */
#include "gp_impl.h"

struct chain {
  tutti_context *context;
  const struct gp_problem *problem;
  const struct gp_chain *settings;
  struct gp_workspace workspace;
  size_t count;            /* of theta */
  double *theta;           /* [count] */
  double mean;             /* that goes with the last likelihood */
  double likelihood;       /* at theta */
  double density;          /* logarithm at theta, up to a constant */
  enum tutti_status error; /* error of a likelihood that could not be computed */
};

static double prior(const struct chain *chain) {
  double amplitude = 0.5 * chain->theta[0], noise = chain->theta[chain->count - 1], scale = 0.1;
  double sum = -0.5 * amplitude * amplitude;
  const double *range = gp_bounds_of(&chain->settings->bounds, chain->count, chain->count - 1);
  if (range[0] < range[1])
    sum += log(log1p(scale * scale * exp(-2 * noise))) + noise;
  for (size_t i = 1; i + 1 < chain->count; i++)
    sum += chain->theta[i];
  return sum;
}

/* Evaluate at chain->theta; -infinity if there is no likelihood. */
static enum tutti_status measure(struct chain *chain) {
  if (tutti_cancelled(chain->context))
    return TUTTI_FAIL(chain->context, TUTTI_ERROR_CANCELLED, "Gaussian process: cancelled in its chain");
  chain->error = gp_likelihood(chain->context, chain->problem, &chain->workspace, chain->theta, &chain->mean,
                               &chain->likelihood, NULL);
  chain->density =
      chain->error == TUTTI_OK && isfinite(chain->likelihood) ? chain->likelihood + prior(chain) : -HUGE_VAL;
  return TUTTI_OK;
}

/* One draw of number `index` of theta, given the others. */
static enum tutti_status slice(struct chain *chain, size_t index, const double *range) {
  enum { STEPS_OUT = 16 };
  static const double width = 1;
  struct tutti_random *random = chain->settings->random;
  double lowest = log(range[0]), highest = log(range[1]), at = chain->theta[index];
  double level = chain->density + log(1 - tutti_random_uniform(random));
  double low = at - width * tutti_random_uniform(random), high = low + width;
  for (int end = 0; end < 2; end++) {
    double *edge = end ? &high : &low, limit = end ? highest : lowest;
    for (int step = 0; step < STEPS_OUT && (end ? *edge < limit : *edge > limit); step++) {
      chain->theta[index] = *edge;
      TUTTI_TRY(chain->context, measure(chain));
      if (chain->density <= level)
        break;
      *edge += end ? width : -width;
    }
    *edge = end ? fmin(*edge, limit) : fmax(*edge, limit);
  }
  for (;;) {
    chain->theta[index] = low + (high - low) * tutti_random_uniform(random);
    TUTTI_TRY(chain->context, measure(chain));
    if (chain->density > level)
      return TUTTI_OK;
    *(chain->theta[index] < at ? &low : &high) = chain->theta[index];
    if (!(high - low > 1e-12)) { /* rounding leaves nothing of the slice: stay */
      chain->theta[index] = at;
      return measure(chain);
    }
  }
}

static enum tutti_status run(struct chain *chain, struct gp_hyper *const *hyper) {
  const struct gp_chain *settings = chain->settings;
  gp_usual_start(&settings->bounds, chain->count, chain->theta);
  TUTTI_TRY(chain->context, measure(chain));
  if (chain->density == -HUGE_VAL) /* the last error says why */
    return chain->error != TUTTI_OK
               ? chain->error
               : TUTTI_FAIL(chain->context, TUTTI_ERROR_NUMERIC,
                            "Gaussian process: no finite likelihood at %zu observations", chain->problem->count);
  for (size_t sweep = 0; sweep < settings->burn_in + settings->samples; sweep++) {
    for (size_t i = 0; i < chain->count; i++) {
      const double *range = gp_bounds_of(&settings->bounds, chain->count, i);
      if (range[0] < range[1])
        TUTTI_TRY(chain->context, slice(chain, i, range));
    }
    if (sweep >= settings->burn_in)
      gp_hyper_set(chain->problem, chain->theta, chain->mean, chain->likelihood, hyper[sweep - settings->burn_in]);
  }
  tutti_error_clear(chain->context);
  return TUTTI_OK;
}

enum tutti_status gp_sample(tutti_context *context, const struct gp_problem *problem, const struct gp_chain *settings,
                            struct gp_hyper *const *hyper) {
  enum tutti_status status;
  struct chain chain = {.context = context,
                        .problem = problem,
                        .settings = settings,
                        .count = gp_theta_count(problem),
                        .mean = hyper[0]->mean};
  TUTTI_TRY_OUT(context, gp_workspace_create(context, problem, &chain.workspace));
  TUTTI_TRY_OUT(context, tutti_alloc(context, chain.count, sizeof(double), &chain.theta));
  TUTTI_TRY_OUT(context, run(&chain, hyper));
out:
  gp_workspace_destroy(&chain.workspace);
  tutti_free(chain.theta);
  return status;
}
