/* backend mixed: each candidate is trained by another backend, which a hyperparameter names, so that one search goes
   over networks, trees, machines and whatever else there is, and one ensemble may have members of each:

     [backend]
     plugin = mixed
     [hyperparameters]
     learner = choice cpu trees svm
     cpu.learning_rate = log-uniform 1e-4 1e-1
     trees.max_depth = integer 2 12

   A hyperparameter PLUGIN.NAME is the parameter NAME of backend PLUGIN, and counts only where that one is the learner.
   What is not searched stands in [cpu], [trees], [svm]. The losses of members are comparable, since all predict the
   same rows in the same units. */
#include <tutti/plugin.h>

struct mixed_config {
  const char *learner;
};

static const struct tutti_param mixed_params[] = {
    TUTTI_SUBPLUGIN(
        struct mixed_config, learner, "cpu", TUTTI_KIND_BACKEND,
        "The backend that trains a candidate; in [hyperparameters] several, as in choice cpu trees svm. The "
        "parameters of each stand in the section of its name, or in [hyperparameters] as NAME.PARAMETER.",
        .flags = TUTTI_PARAM_SEARCHABLE),
};

static const char *backend_delegate_mixed(void *instance, const void *config) {
  (void)instance;
  return ((const struct mixed_config *)config)->learner;
}

static const struct tutti_backend_ops mixed_ops = {.size = sizeof(struct tutti_backend_ops),
                                                   .delegate = backend_delegate_mixed};

static const struct tutti_descriptor mixed_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "mixed"),
    .version = "1.0",
    .summary = "networks, trees, machines in one search: a hyperparameter names the backend of each candidate",
    .source = "Thornton, Hutter, Hoos & Leyton-Brown, Auto-WEKA: combined selection and hyperparameter optimization of "
              "classification algorithms, 2013",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(mixed_params, struct mixed_config),
    .ops = &mixed_ops,
};

TUTTI_PLUGIN(mixed_descriptor)
