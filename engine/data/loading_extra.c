/* loading_extra.c - splits besides training, validation and test: shifted ones, and out-of-distribution inputs. */
#include "loading_impl.h"
#include "engine/data/shift/shift_impl.h"

static enum tutti_status make_shifted(struct tutti_loading *loading, const char *ready, const char *cache,
                                      tutti_dataset *dataset) {
  const struct tutti_data_config *config = loading->config;
  for (size_t i = 0; i < config->shift.count; i++)
    for (size_t s = TUTTI_VALIDATION; s <= TUTTI_TEST && config->shift.values[i] > 0; s++) {
      const struct tutti_choices *list = s == TUTTI_TEST ? &config->shift_test : &config->shift_validation;
      struct tutti_shift shift = {.encoding = dataset->encoding,
                                  .clean = dataset->splits[s],
                                  .ready = ready,
                                  .cache = cache,
                                  .corruptions = list->values,
                                  .count = list->count,
                                  .test_rows = tutti_rows_test_rows(loading->rows),
                                  .all = tutti_rows_count(loading->rows),
                                  .severity = (int)config->shift.values[i]};
      TUTTI_TRY(loading->context, tutti_shift_split(loading->context, &shift, &dataset->splits[dataset->split_count]));
      dataset->split_count++;
    }
  return TUTTI_OK;
}

enum tutti_status tutti_loading_add_shifted(struct tutti_loading *loading, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  char *ready = NULL, *cache = NULL;
  if (loading->config->shift.count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_loading_file(loading, "shift_path", loading->config->shift_path, &ready));
  TUTTI_TRY_OUT(context, tutti_shift_check(context, loading->config, dataset->encoding, ready));
  TUTTI_TRY_OUT(context, tutti_cache_folder(context, loading->config->cache, &cache));
  TUTTI_TRY_OUT(context, make_shifted(loading, ready, cache, dataset));
out:
  tutti_free(ready);
  tutti_free(cache);
  return status;
}

/* --- out of distribution --- */

enum tutti_status tutti_loading_add_ood(struct tutti_loading *loading, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  const struct tutti_data_config *config = loading->config;
  char *path = NULL;
  if (!loading->images && (config->ood_path[0] || config->ood_noise))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.%s: inputs out of distribution are images, and these are rows of a table",
                      config->ood_path[0] ? "ood_path" : "ood_noise");
  TUTTI_TRY_OUT(context, tutti_loading_file(loading, "ood_path", config->ood_path, &path));
  if (path) {
    TUTTI_TRY_OUT(context, tutti_images_apply(context, dataset->encoding, path, "ood", false,
                                              &dataset->splits[dataset->split_count]));
    dataset->split_count++;
  }
  if (config->ood_noise) {
    TUTTI_TRY_OUT(context, tutti_noise_split(context, dataset->encoding, "ood-noise", (size_t)config->ood_noise,
                                             &dataset->splits[dataset->split_count]));
    dataset->split_count++;
  }
out:
  tutti_free(path);
  return status;
}
