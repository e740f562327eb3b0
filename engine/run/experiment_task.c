/* experiment_task.c - the task of a candidate: the run's, but that its network ends in the head that the candidate's
   hyperparameters say (head.kind, head.pi_exp, ...). So one pool may have members of several families. */
#include "core/plugin/config_point_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "experiment_impl.h"

#include <string.h>

static bool is_of_head(const struct tutti_dimension *dimension) {
  return strncmp(dimension->name, RECIPE_HEAD_PREFIX, strlen(RECIPE_HEAD_PREFIX)) == 0;
}

static bool searches_head(const tutti_domain *domain) {
  for (size_t i = 0; domain && i < tutti_domain_count(domain); i++)
    if (is_of_head(tutti_domain_at(domain, i)))
      return true;
  return false;
}

enum tutti_status tutti_experiment_task(tutti_context *context, const struct tutti_experiment *experiment,
                                        const tutti_candidate *candidate, struct tutti_headed_task *out) {
  const tutti_domain *domain = tutti_scope_hyperparameters(experiment->scope);
  tutti_config *head;
  out->task = experiment->task;
  if (!experiment->dataset || !searches_head(domain))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_config_copy(context, tutti_recipe_head(experiment->recipe), &head));
  enum tutti_status status =
      tutti_config_set_point(context, head, RECIPE_HEAD_SECTION, domain, tutti_candidate_hyperparameters(candidate));
  if (status == TUTTI_OK)
    status = tutti_head_set(context, tutti_config_values(head), out);
  tutti_config_destroy(head);
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

/* One of the heads that may be chosen: does it fit the data, and what it predicts the other heads? */
static enum tutti_status check_choice(tutti_context *context, const struct tutti_experiment *experiment,
                                      const char *choice) {
  struct tutti_headed_task task = {.task = experiment->task};
  tutti_config *head;
  TUTTI_TRY(context, tutti_config_copy(context, tutti_recipe_head(experiment->recipe), &head));
  enum tutti_status status = tutti_config_set(context, head, "kind", choice);
  if (status == TUTTI_OK)
    status = tutti_head_set(context, tutti_config_values(head), &task);
  tutti_config_destroy(head);
  TUTTI_TRY(context, status);
  if (tutti_loss_fits(TUTTI_LOSS_NLL, &task.task) == tutti_loss_fits(TUTTI_LOSS_NLL, &experiment->task))
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "head.kind: members with a linear head have no variance, and cannot be in one pool with others, which "
      "have one; leave %s out, or set kind = linear in [head]",
      choice);
}

enum tutti_status tutti_experiment_check_heads(tutti_context *context, const struct tutti_experiment *experiment) {
  const tutti_domain *domain = tutti_scope_hyperparameters(experiment->scope);
  size_t index = domain ? tutti_domain_find(domain, RECIPE_HEAD_PREFIX "kind") : SIZE_MAX;
  if (!experiment->dataset || index == SIZE_MAX)
    return TUTTI_OK;
  const struct tutti_dimension *kinds = tutti_domain_at(domain, index);
  for (size_t i = 0; i < kinds->choice_count; i++) {
    enum tutti_status status = check_choice(context, experiment, kinds->choices[i]);
    if (status == TUTTI_OK)
      continue;
    (void)tutti_error_prefix(context, status, "hyperparameters.");
    return tutti_recipe_place(context, experiment->recipe, status);
  }
  return TUTTI_OK;
}
