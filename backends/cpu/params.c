/* params.c - backend cpu's parameters, and what follows from parameters that backend cuda has, too. */
#define CPU_PARAMS_TABLE backend_cpu_params
#define CPU_PRECISIONS                                                                                                 \
  { "float32", "bfloat16", NULL }
#define CPU_PRECISION_TEXT                                                                                             \
  "What layers multiply in trainings: float32, or numbers rounded to bfloat16, with 8 binary digits. Weights, "        \
  "losses and sums stay float32. Backend cuda has tf32, too."
#include "params_impl.h"

const char *backend_cpu_augments(const struct cpu_config *config) {
  const struct {
    bool used;
    const char *name;
  } ways[] = {{config->augment_flip, "augment_flip"},
              {config->augment_padding > 0, "augment_padding"},
              {config->augment_crop > 0 && config->augment_crop < 1, "augment_crop"},
              {config->augment_brightness > 0, "augment_brightness"},
              {config->augment_contrast > 0, "augment_contrast"},
              {config->augment_saturation > 0, "augment_saturation"},
              {config->augment_hue > 0, "augment_hue"}};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
    if (ways[i].used)
      return ways[i].name;
  return NULL;
}

uint64_t backend_cpu_shared_seed(const struct cpu_config *config, const struct tutti_job *job) {
  return config->shuffle == CPU_SHUFFLE_RUN ? job->run_seed : job->seed;
}

struct tutti_augmentation backend_cpu_augmentation(const struct cpu_config *config, const struct tutti_job *job) {
  return (struct tutti_augmentation){.size = sizeof(struct tutti_augmentation),
                                     .padding = (uint32_t)config->augment_padding,
                                     .flip = config->augment_flip,
                                     .crop = config->augment_crop,
                                     .brightness = config->augment_brightness,
                                     .contrast = config->augment_contrast,
                                     .saturation = config->augment_saturation,
                                     .hue = config->augment_hue,
                                     .seed = backend_cpu_shared_seed(config, job)};
}
