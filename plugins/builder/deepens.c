/* deepens.c - deep ensembles: one configuration is trained from different initialisations, as many as the budget has
   networks (Lakshminarayanan, Pritzel, Blundell, "Simple and scalable predictive uncertainty estimation using deep
   ensembles", NeurIPS 2017). With the best of a random pool as the configuration it is DeepEns(RS) of Zaidi et al.,
   NeurIPS 2021. If the recipe leaves only one configuration, that is the one; if it leaves several, one is drawn. It
   may also come from elsewhere (`from`): the best trial of another run on the same rows, or a file; with `severity` the
   best on validation rows of that shift, which is how DeepEns(RS) chooses for shifted test rows. Initial weights and
   mini-batches differ from trial to trial, and from those of the other run. Selector `all` makes the ensemble of
   everything that was trained. Deviation: the paper also trains on adversarial examples; this builder, like the later
   literature, does not. */
#include "plugins/shared/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/plugin.h>

struct deepens_config {
  const char *from;
  int64_t trial, severity;
};

static const struct tutti_param deepens_params[] = {
    TUTTI_PATH(
        struct deepens_config, from, "",
        "Where the configuration comes from: a run directory, whose space, searched hyperparameters and rows for "
        "training, validation and testing are those of this recipe, or a JSON file {\"architecture\": ..., "
        "\"hyperparameters\": {...}}. Empty: one that "
        "the recipe "
        "leaves is drawn, the only one where it fixes all."),
    TUTTI_INTEGER(struct deepens_config, trial, "-1", -1, 1000000000,
                  "Trial of that run; -1: the one of the least loss."),
    TUTTI_INTEGER(struct deepens_config, severity, "0", 0, 5,
                  "The least loss on validation rows of that shift (data.shift); 0: on those as they are."),
};

struct deepens {
  const struct deepens_config *config;
  const tutti_host *host;
  const tutti_scope *scope;
  uint64_t seed;
  tutti_candidate *configuration;
};

/* --- the configuration -------------------------------------------------------------------------------------------- */

static enum tutti_status read_run_deepens(const struct deepens *self, tutti_context *context, char **candidate) {
  const struct deepens_config *config = self->config;
  struct tutti_other_trial wanted = {.size = sizeof wanted,
                                     .run = config->from,
                                     .trial = config->trial < 0 ? TUTTI_BEST_TRIAL : (uint64_t)config->trial};
  char split[32];
  if (config->severity > 0) {
    (void)snprintf(split, sizeof split, "validation-%lld", (long long)config->severity);
    wanted.split = split;
  }
  enum tutti_status status = tutti_host_other_run(context, self->host, &wanted, candidate);
  if (status != TUTTI_ERROR_USAGE)
    return status;
  return config->severity > 0
             ? tutti_error_prefix(
                   context, status,
                   "[builder] from, severity %lld (data.shift makes shifted rows, which have to be the same): ",
                   (long long)config->severity)
             : tutti_error_prefix(context, status, "[builder] from: ");
}

/* A file may omit the seed: each trial has its own. */
static enum tutti_status read_file_deepens(const struct deepens *self, tutti_context *context, char **candidate) {
  json_error_t error = {.text = ""};
  json_t *root = json_load_file(self->config->from, JSON_REJECT_DUPLICATES, &error);
  if (!root && error.line < 0) /* not even read */
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[builder] from: expected a run directory or a candidate as JSON; %s cannot be read: %s",
                      self->config->from, strerror(errno));
  if (!root)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[builder] from: expected a run directory or a candidate as JSON; %s, line %d: %s",
                      self->config->from, error.line, error.text);
  if (json_is_object(root) && !json_object_get(root, "seed"))
    json_object_set_new(root, "seed", json_string("0"));
  return shared_json_print(context, root, JSON_COMPACT | JSON_REAL_PRECISION(17), self->config->from, candidate);
}

/* A severity says which trial of a run is the best, and has no meaning for anything else. */
static enum tutti_status check_severity_deepens(const struct deepens *self, tutti_context *context, bool of_run) {
  const struct deepens_config *config = self->config;
  if (config->severity == 0 || (of_run && config->trial < 0))
    return TUTTI_OK;
  if (of_run)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[builder] severity: %lld chooses a trial, and trial = %lld names one; leave one of them out",
                      (long long)config->severity, (long long)config->trial);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "[builder] severity: %lld chooses a trial of a run, and from = %s is none; leave it out",
                    (long long)config->severity, *config->from ? config->from : "(nothing)");
}

static enum tutti_status read_configuration_deepens(struct deepens *self, tutti_context *context) {
  struct stat facts;
  bool folder = stat(self->config->from, &facts) == 0 && S_ISDIR(facts.st_mode);
  enum tutti_status status;
  char *candidate = NULL;
  TUTTI_TRY_OUT(context, check_severity_deepens(self, context, folder));
  TUTTI_TRY_OUT(context,
                folder ? read_run_deepens(self, context, &candidate) : read_file_deepens(self, context, &candidate));
  status = tutti_scope_parse(context, self->scope, candidate, &self->configuration);
  if (status != TUTTI_OK)
    status = tutti_error_prefix(context, status,
                                "[builder] from: the configuration of %s is none of this recipe (space and searched "
                                "hyperparameters have to be the same): ",
                                self->config->from);
out:
  tutti_free(candidate);
  return status;
}

/* The only configuration that the recipe leaves; if there are several, one drawn at random. */
static enum tutti_status draw_configuration_deepens(struct deepens *self, tutti_context *context) {
  const tutti_domain *joint = tutti_scope_joint(self->scope);
  struct tutti_random random;
  TUTTI_TRY(context, check_severity_deepens(self, context, false));
  if (!joint || tutti_domain_cardinality(joint) > 1)
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "[builder] from: the recipe leaves more than one configuration, and one was drawn at random; name the run or "
        "the file that has the one to train");
  tutti_random_init(&random, self->seed, "deepens", 0);
  return tutti_scope_sample(context, self->scope, &random, 0, &self->configuration);
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static void builder_destroy_deepens(void *instance) {
  struct deepens *self = instance;
  tutti_candidate_unref(self->configuration);
  tutti_free(self);
}

static enum tutti_status builder_create_deepens(tutti_context *context, const void *config, const void *setup_,
                                                void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  enum tutti_status status;
  struct deepens *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->host = setup->host;
  self->scope = tutti_host_scope(setup->host);
  self->seed = tutti_host_seed(setup->host);
  TUTTI_TRY_OUT(context, *self->config->from ? read_configuration_deepens(self, context)
                                             : draw_configuration_deepens(self, context));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_deepens(self);
  return status;
}

/* --- ask and tell ------------------------------------------------------------------------------------------------- */

static enum tutti_status builder_ask_deepens(void *instance, tutti_context *context, uint64_t trial,
                                             struct tutti_proposal *proposal) {
  struct deepens *self = instance;
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "deepens seed", trial);
  proposal->parent = TUTTI_NO_TRIAL;
  snprintf(proposal->origin, sizeof(proposal->origin), "initialisation %llu", (unsigned long long)trial);
  return tutti_scope_candidate(context, self->scope, tutti_candidate_genotype(self->configuration),
                               tutti_candidate_hyperparameters(self->configuration), tutti_random_u64(&random),
                               &proposal->candidate);
}

/* A resumed run keeps its configuration, even if the other run has found a better one since. */
static enum tutti_status builder_adopt_deepens(void *instance, tutti_context *context, uint64_t trial,
                                               const struct tutti_proposal *proposal) {
  struct deepens *self = instance;
  (void)context, (void)trial;
  tutti_candidate_unref(self->configuration);
  self->configuration = tutti_candidate_ref(proposal->candidate);
  return TUTTI_OK;
}

/* Nothing is learnt from results. */
static enum tutti_status builder_tell_deepens(void *instance, tutti_context *context,
                                              const struct tutti_result *result) {
  (void)instance, (void)context, (void)result;
  return TUTTI_OK;
}

static const struct tutti_builder_ops deepens_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_deepens,
    .tell = builder_tell_deepens,
    .adopt = builder_adopt_deepens,
};

static const struct tutti_descriptor deepens_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "deepens"),
    .version = "1.0",
    .summary = "deep ensembles: one configuration, many initialisations",
    .source = "Lakshminarayanan, Pritzel, Blundell, Simple and scalable predictive uncertainty estimation using deep "
              "ensembles, NeurIPS 2017",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(deepens_params, struct deepens_config),
    .create = builder_create_deepens,
    .destroy = builder_destroy_deepens,
    .ops = &deepens_ops,
};

TUTTI_PLUGIN(deepens_descriptor)
