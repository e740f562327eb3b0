/* builder.c - kind builder: checks and defaults around its ops. */
#include "core/base/sized_impl.h"
#include "instance_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tutti/builder.h>

struct tutti_builder {
  struct tutti_instance instance;
  struct tutti_builder_ops ops;
  uint64_t asked, told; /* counted to see whether anything is outstanding */
};

TUTTI_DEFINE_KIND(BUILDER, builder, .required = {TUTTI_REQUIRED_OP(builder, ask), TUTTI_REQUIRED_OP(builder, tell)})

enum tutti_status tutti_builder_ask(tutti_context *context, tutti_builder *builder, uint64_t trial,
                                    struct tutti_proposal *proposal) {
  struct tutti_proposal own = {.size = sizeof own, .parent = TUTTI_NO_TRIAL};
  const struct tutti_proposal none = own;
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_proposal, proposal, origin));
  TUTTI_GIVE(proposal, &none);
  TUTTI_CALL(context, builder, builder->ops.ask(builder->instance.self, context, trial, &own));
  own.origin[sizeof own.origin - 1] = '\0';
  TUTTI_GIVE(proposal, &own);
  if (own.candidate)
    builder->asked++;
  else if (builder->asked == builder->told && !tutti_builder_exhausted(builder))
    return TUTTI_BREACH(context, &builder->instance,
                        "ask proposed nothing for trial %" PRIu64 " while no trial is outstanding", trial);
  return TUTTI_OK;
}

enum tutti_status tutti_builder_tell(tutti_context *context, tutti_builder *builder,
                                     const struct tutti_result *result) {
  builder->told++;
  TUTTI_CALL(context, builder, builder->ops.tell(builder->instance.self, context, result));
  return TUTTI_OK;
}

/* The default: ask again, and check that the answer is the recorded one. */
static enum tutti_status ask_again(tutti_context *context, tutti_builder *builder, uint64_t trial,
                                   const struct tutti_proposal *proposal) {
  struct tutti_proposal asked = {.size = sizeof asked};
  TUTTI_TRY(context, tutti_builder_ask(context, builder, trial, &asked));
  bool same = asked.candidate && tutti_candidate_equal(asked.candidate, proposal->candidate) &&
              tutti_candidate_seed(asked.candidate) == tutti_candidate_seed(proposal->candidate);
  tutti_candidate_unref(asked.candidate);
  if (!same)
    return TUTTI_BREACH(context, &builder->instance,
                        "asked again for trial %" PRIu64
                        ", it proposes another candidate than the one recorded; it is not "
                        "a function of what was asked and told, or another version made the record",
                        trial);
  return TUTTI_OK;
}

enum tutti_status tutti_builder_adopt(tutti_context *context, tutti_builder *builder, uint64_t trial,
                                      const struct tutti_proposal *proposal) {
  if (!builder->ops.adopt)
    return ask_again(context, builder, trial, proposal);
  builder->asked++;
  TUTTI_CALL(context, builder, builder->ops.adopt(builder->instance.self, context, trial, proposal));
  return TUTTI_OK;
}

bool tutti_builder_exhausted(const tutti_builder *builder) {
  bool answer = false;
  if (builder->ops.exhausted)
    TUTTI_ASK(TUTTI_CONTEXT_OF(builder), builder, answer = builder->ops.exhausted(builder->instance.self));
  return answer;
}

uint64_t tutti_builder_members_from(const tutti_builder *builder) {
  uint64_t answer = 0;
  if (builder->ops.members_from)
    TUTTI_ASK(TUTTI_CONTEXT_OF(builder), builder, answer = builder->ops.members_from(builder->instance.self));
  return answer;
}

bool tutti_builder_warm(const tutti_builder *builder) {
  bool answer = false;
  if (builder->ops.warm)
    TUTTI_ASK(TUTTI_CONTEXT_OF(builder), builder, answer = builder->ops.warm(builder->instance.self));
  return answer;
}

enum tutti_status tutti_builder_describe(tutti_context *context, tutti_builder *builder, char **json) {
  *json = NULL;
  if (builder->ops.describe)
    TUTTI_CALL(context, builder, builder->ops.describe(builder->instance.self, context, json));
  return TUTTI_OK;
}

uint64_t tutti_trial_seed(uint64_t run_seed, uint64_t trial) {
  struct tutti_random random;
  tutti_random_init(&random, run_seed, "trial", trial);
  return tutti_random_u64(&random);
}
