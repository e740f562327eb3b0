/* pruner none: every trial is trained to its end. */
#include <tutti/plugin.h>

static enum tutti_status pruner_tell_none(void *self, tutti_context *context, const struct tutti_curve *curve) {
  (void)self, (void)context, (void)curve;
  return TUTTI_OK;
}

static enum tutti_status pruner_rule_none(void *self, tutti_context *context, uint64_t trial, tutti_rule *rule) {
  (void)self, (void)context, (void)trial, (void)rule;
  return TUTTI_OK;
}

static bool pruner_idle_none(void *self) {
  (void)self;
  return true;
}

static const struct tutti_pruner_ops none_ops = {
    .size = sizeof none_ops,
    .tell = pruner_tell_none,
    .rule = pruner_rule_none,
    .idle = pruner_idle_none,
};

static const struct tutti_descriptor none_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_PRUNER, "none"),
    .version = "1.0",
    .summary = "every trial is trained to its end",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &none_ops,
};

TUTTI_PLUGIN(none_descriptor)
