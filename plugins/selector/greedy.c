/* selector greedy: ensemble selection with replacement. It starts from the model with the lowest validation loss. Each
   step tries every model, including those already taken, and adds the one that makes the ensemble's loss lowest, if
   that lowers the loss. It ends when there are `size` different members or no model improves the ensemble. The weight
   of a model is proportional to how often it was taken.

   Source: Caruana et al., "Ensemble selection from libraries of models" (ICML 2004), as in Algorithm 1 of Egele et al.,
   "AutoDEUQ: automated deep ensemble with uncertainty quantification" (ICPR 2022). Deviations:
   - the paper accepts an addition that leaves the loss as it is (`accept = not-worse`). By default only an improvement
     is accepted: equal losses are a matter of rounding, more of the same model changes only the weights, and if one
     model alone were best, the loop would never end;
   - losses that differ by a relative 1e-13 are equal;
   - the paper's loop, read literally, ends with more than `size` different members; here it ends as soon as there are
     `size`;
   - `max_picks` stops a loop that creeps on with ever smaller improvements;
   - at least `min_size` members are taken if a recipe asks for it: an ensemble of one tells little about uncertainty;
   - the loss is the mixture's, as the paper writes; its code uses one Gaussian with the mixture's moments (`density =
     moments`, `epistemic = population`). */
#include <tutti/kit.h>

struct greedy_config {
  struct tutti_growth_config growth;
  int accept;
  int64_t min_size, max_picks;
};

static const char *const greedy_accepts[] = {"better", "not-worse", NULL};

static const struct tutti_param greedy_params[] = {
    TUTTI_GROWTH_PARAMS(struct greedy_config, growth),
    TUTTI_CHOICE(struct greedy_config, accept, "better", greedy_accepts,
                 "Whether an addition has to lower the loss, or only not to raise it (as the AutoDEUQ paper has it)."),
    TUTTI_INTEGER(
        struct greedy_config, min_size, "1", 1, TUTTI_NO_LIMIT,
        "Members that are taken even where no model improves the ensemble. 1, as in the paper: a model alone can "
        "be the "
        "result, which has no epistemic uncertainty.",
        .unit = "members"),
    TUTTI_INTEGER(struct greedy_config, max_picks, "200", 1, TUTTI_NO_LIMIT,
                  "Picks in all, at most, each 1/max_picks of the weight; where size is larger, that is the limit.",
                  .unit = "picks"),
};

static enum tutti_status selector_select_greedy(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                size_t count, tutti_ensemble *ensemble) {
  const struct greedy_config *config = self;
  struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  options.replace = true;
  options.accept = config->accept ? TUTTI_GROWTH_ACCEPT_NOT_WORSE : TUTTI_GROWTH_ACCEPT_BETTER;
  options.least = (size_t)config->min_size;
  if (options.picks < (size_t)config->max_picks)
    options.picks = (size_t)config->max_picks;
  return tutti_growth_select(context, &options, pool, ensemble);
}

static const struct tutti_selector_ops selector_greedy_ops = {
    .size = sizeof selector_greedy_ops,
    .select = selector_select_greedy,
};

static const struct tutti_descriptor selector_greedy_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "greedy"),
    .version = "1.0",
    .summary = "ensemble selection with replacement, while the ensemble improves: weights are multiplicities",
    .source =
        "Caruana et al., Ensemble selection from libraries of models, ICML 2004; Egele et al., AutoDEUQ: automated "
        "deep ensemble with uncertainty quantification, ICPR 2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(greedy_params, struct greedy_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_greedy_ops,
};

TUTTI_PLUGIN(selector_greedy_descriptor)
