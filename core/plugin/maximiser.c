/* maximiser.c - kind maximiser: checks around its ops. */
#include "instance_impl.h"

#include <math.h>
#include <tutti/maximiser.h>
#include <tutti/space.h>

struct tutti_maximiser {
  struct tutti_instance instance;
  struct tutti_maximiser_ops ops;
};

static enum tutti_status check_needs(tutti_context *context, const void *object, const void *setup_) {
  const tutti_maximiser *maximiser = object;
  const struct tutti_maximiser_setup *setup = setup_;
  if ((maximiser->ops.needs & TUTTI_NEEDS_VECTORS) && !tutti_scope_joint(setup->scope))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "maximiser %s needs vectors, and space %s has none (its genotypes are graphs); choose another "
                      "maximiser, or another space",
                      maximiser->instance.descriptor->name,
                      tutti_space_descriptor(tutti_scope_space(setup->scope))->name);
  return TUTTI_OK;
}

TUTTI_DEFINE_KIND(MAXIMISER, maximiser, .required = {TUTTI_REQUIRED_OP(maximiser, maximise)}, .check = check_needs)

/* Did it give a candidate, and one that was not tried before? */
static enum tutti_status check_candidate(tutti_context *context, const tutti_maximiser *maximiser,
                                         const struct tutti_objective *objective, const tutti_candidate *candidate,
                                         double worth) {
  if (!candidate)
    return TUTTI_BREACH(context, &maximiser->instance, "maximise gave no candidate");
  if (isnan(worth))
    return TUTTI_BREACH(context, &maximiser->instance, "the worth of what maximise gave is not a number");
  for (size_t i = 0; i < objective->known_count; i++)
    if (tutti_candidate_equal(candidate, objective->known[i]))
      return TUTTI_BREACH(context, &maximiser->instance, "maximise gave a candidate that was tried before");
  return TUTTI_OK;
}

enum tutti_status tutti_maximiser_maximise(tutti_context *context, tutti_maximiser *maximiser,
                                           const struct tutti_objective *objective, tutti_candidate **candidate,
                                           double *worth) {
  *candidate = NULL;
  *worth = NAN;
  TUTTI_CALL(context, maximiser,
             maximiser->ops.maximise(maximiser->instance.self, context, objective, candidate, worth));
  enum tutti_status status = check_candidate(context, maximiser, objective, *candidate, *worth);
  if (status != TUTTI_OK) {
    tutti_candidate_unref(*candidate);
    *candidate = NULL;
  }
  return status;
}
