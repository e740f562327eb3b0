/* pruner.c - kind pruner: checks around its ops. */
#include <tutti/sized.h>
#include "core/plugin/instance_impl.h"

#include <tutti/hosting.h>

struct tutti_pruner {
  struct tutti_instance instance;
  struct tutti_pruner_ops ops;
};

TUTTI_DEFINE_KIND(PRUNER, pruner, .has_none = true,
                  .required = {TUTTI_REQUIRED_OP(pruner, tell), TUTTI_REQUIRED_OP(pruner, rule)})

enum tutti_status tutti_pruner_tell(tutti_context *context, tutti_pruner *pruner, const struct tutti_curve *curve) {
  struct tutti_curve whole;
  TUTTI_TAKE(&whole, curve);
  TUTTI_CALL(context, pruner, pruner->ops.tell(pruner->instance.self, context, &whole));
  return TUTTI_OK;
}

bool tutti_pruner_idle(const tutti_pruner *pruner) {
  bool answer = false;
  if (pruner->ops.idle)
    TUTTI_ASK(TUTTI_CONTEXT_OF(pruner), pruner, answer = pruner->ops.idle(pruner->instance.self));
  return answer;
}

enum tutti_status tutti_pruner_rule(tutti_context *context, tutti_pruner *pruner, uint64_t trial, tutti_rule **rule) {
  TUTTI_TRY(context, tutti_rule_create(context, rule));
  enum tutti_status status;
  TUTTI_ASK(context, pruner, status = pruner->ops.rule(pruner->instance.self, context, trial, *rule));
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_rule_destroy(*rule);
  *rule = NULL;
  return tutti_error_trace(context, tutti_instance_blame(context, &pruner->instance, status), __FILE__, __LINE__,
                           __func__);
}
