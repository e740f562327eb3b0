/* calibrated.c - an ensemble after its calibrator: as a pool, so that all metrics and quantiles are made as of any
   other ensemble. */
#include "calibrate_impl.h"
#include "evaluate_impl.h"

/* --- classification: one model --- */

static enum tutti_status make_classes(tutti_context *context, const struct tutti_pool *pool,
                                      const tutti_ensemble *ensemble, struct tutti_calibrated *calibrated) {
  size_t count = pool->rows * pool->outputs;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *calibrated->trials, &calibrated->trials));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(float), &calibrated->predictions[0]));
  for (size_t i = 0; i < count; i++)
    calibrated->predictions[0][i] = (float)calibrated->after.values[i];
  calibrated->trials[0] = tutti_ensemble_trial(ensemble, 0);
  calibrated->pool.models = 1;
  return tutti_ensemble_add(context, calibrated->ensemble, calibrated->trials[0], 1);
}

/* --- regression: the members, scaled --- */

static double ratio(double after, double before) { return before > 0 ? after / before : 1; }

struct tutti_scaled tutti_calibrated_member(const double *before, const double *after, double mean, double variance,
                                            double within) {
  double spread = ratio(after[TUTTI_COMBINED_EPISTEMIC], before[TUTTI_COMBINED_EPISTEMIC]);
  double noise = ratio(after[TUTTI_COMBINED_ALEATORIC], before[TUTTI_COMBINED_ALEATORIC]);
  within = within > variance ? variance : within;
  return (struct tutti_scaled){spread == 1
                                   ? mean + (after[TUTTI_COMBINED_MEAN] - before[TUTTI_COMBINED_MEAN])
                                   : after[TUTTI_COMBINED_MEAN] + sqrt(spread) * (mean - before[TUTTI_COMBINED_MEAN]),
                               noise * (variance - within) + spread * within, spread * within};
}

/* One number of a member, in float32 as members have it. */
static void scale_member(const double *before, const double *after, const float *from, float *own, float *to) {
  const struct tutti_scaled scaled =
      tutti_calibrated_member(before, after, (double)from[0], (double)from[1], own ? (double)*own : 0);
  to[0] = (float)scaled.mean;
  to[1] = (float)scaled.variance;
  if (own)
    *own = (float)scaled.within;
}

static enum tutti_status make_member(tutti_context *context, const struct tutti_pool *pool, size_t model,
                                     struct tutti_calibrated *calibrated) {
  size_t cells = pool->rows * pool->outputs;
  const float *own = pool->epistemic ? pool->epistemic[model] : NULL;
  TUTTI_TRY(context, tutti_alloc(context, cells, 2 * sizeof(float), &calibrated->predictions[model]));
  if (own)
    TUTTI_TRY(context, tutti_alloc(context, cells, sizeof(float), &calibrated->epistemic[model]));
  for (size_t i = 0; i < cells; i++) {
    size_t at = i * TUTTI_COMBINED_PARTS;
    if (own)
      calibrated->epistemic[model][i] = own[i];
    scale_member(calibrated->before.values + at, calibrated->after.values + at, pool->predictions[model] + 2 * i,
                 own ? &calibrated->epistemic[model][i] : NULL, &calibrated->predictions[model][2 * i]);
  }
  return TUTTI_OK;
}

static enum tutti_status make_members(tutti_context *context, const struct tutti_pool *pool,
                                      const tutti_ensemble *ensemble, struct tutti_calibrated *calibrated) {
  double picks = (double)tutti_ensemble_picks(ensemble);
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *calibrated->trials, &calibrated->trials));
  for (size_t m = 0; m < pool->models; m++) {
    calibrated->trials[m] = pool->trials[m];
    TUTTI_TRY(context, make_member(context, pool, m, calibrated));
  }
  for (size_t k = 0; k < tutti_ensemble_size(ensemble); k++) {
    double weight = tutti_ensemble_weight(ensemble, k);
    TUTTI_TRY(context, tutti_ensemble_add(context, calibrated->ensemble, tutti_ensemble_trial(ensemble, k),
                                          picks > 0 ? round(weight * picks) : weight));
  }
  tutti_ensemble_combine(calibrated->ensemble, tutti_ensemble_combination(ensemble));
  return TUTTI_OK;
}

/* Those that metrics are of. */
static enum tutti_status make_intervals(tutti_context *context, tutti_calibrator *calibrator,
                                        const struct tutti_evaluation_options *options,
                                        struct tutti_calibrated *calibrated) {
  size_t cells = calibrated->before.rows * calibrated->before.outputs;
  double p[TUTTI_QUANTILES];
  if (!(tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, cells, 2 * TUTTI_LEVELS * sizeof(double), &calibrated->intervals));
  for (size_t l = 0; l < TUTTI_LEVELS; l++)
    TUTTI_TRY(context, tutti_calibrator_intervals(context, calibrator, &calibrated->before, tutti_level_at(options, l),
                                                  calibrated->intervals + 2 * l * cells));
  for (size_t i = 0; i < TUTTI_QUANTILES; i++)
    p[i] = tutti_quantile_at(i);
  TUTTI_TRY(context, tutti_alloc(context, cells, sizeof p, &calibrated->quantiles));
  return tutti_calibrated_quantiles(context, calibrator, calibrated, TUTTI_QUANTILES, p, calibrated->quantiles);
}

enum tutti_status tutti_calibrated_make(tutti_context *context, tutti_calibrator *calibrator,
                                        const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                        const struct tutti_evaluation_options *options,
                                        struct tutti_calibrated *calibrated) {
  static const struct tutti_evaluation_options defaults = TUTTI_EVALUATION_DEFAULTS;
  double *after;
  options = options ? options : &defaults;
  *calibrated = (struct tutti_calibrated){.pool = *pool};
  TUTTI_TRY(context, tutti_combine(context, pool, ensemble, options, &calibrated->before));
  calibrated->after = calibrated->before;
  calibrated->after.values = NULL;
  size_t width = tutti_combined_width(pool->kind, pool->outputs);
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, width * sizeof *after, &after));
  calibrated->after.values = after;
  TUTTI_TRY(context, tutti_calibrator_apply(context, calibrator, &calibrated->before, after));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(float *), &calibrated->predictions));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(float *), &calibrated->epistemic));
  TUTTI_TRY(context, tutti_ensemble_create(context, &calibrated->ensemble));
  TUTTI_TRY(context, pool->kind == TUTTI_TASK_CLASSIFICATION ? make_classes(context, pool, ensemble, calibrated)
                                                             : make_members(context, pool, ensemble, calibrated));
  if (pool->values)
    TUTTI_TRY(context, make_intervals(context, calibrator, options, calibrated));
  calibrated->pool.predictions = (const float *const *)calibrated->predictions;
  calibrated->pool.epistemic = (const float *const *)calibrated->epistemic;
  calibrated->pool.trials = calibrated->trials;
  calibrated->pool.losses = NULL;
  return TUTTI_OK;
}

void tutti_calibrated_release(struct tutti_calibrated *calibrated) {
  for (size_t m = 0; m < calibrated->pool.models; m++) {
    if (calibrated->predictions)
      tutti_free(calibrated->predictions[m]);
    if (calibrated->epistemic)
      tutti_free(calibrated->epistemic[m]);
  }
  tutti_free(calibrated->predictions);
  tutti_free(calibrated->epistemic);
  tutti_free(calibrated->trials);
  tutti_free(calibrated->intervals);
  tutti_free(calibrated->quantiles);
  tutti_free((double *)(uintptr_t)calibrated->before.values);
  tutti_free((double *)(uintptr_t)calibrated->after.values);
  tutti_ensemble_destroy(calibrated->ensemble);
  *calibrated = (struct tutti_calibrated){.pool = {.models = 0}};
}

/* --- what it says --- */

static void correct_classes(const struct tutti_calibrated *calibrated, struct tutti_uncertainty *predicted,
                            struct tutti_epistemic_parts *parts) {
  size_t classes = calibrated->pool.outputs;
  for (size_t r = 0; r < calibrated->pool.rows; r++) {
    const double *probabilities = calibrated->after.values + r * classes;
    struct tutti_uncertainty *row = predicted + r * classes;
    double total = tutti_entropy(classes, probabilities), share = row->total > 0 ? row->epistemic / row->total : 0;
    for (size_t c = 0; c < classes; c++) {
      struct tutti_epistemic_parts *part = parts ? &parts[r * classes + c] : NULL;
      double factor = part && row[c].epistemic > 0 ? share * total / row[c].epistemic : 0;
      row[c] = (struct tutti_uncertainty){probabilities[c], (1 - share) * total, share * total, total};
      if (part)
        *part = (struct tutti_epistemic_parts){factor * part->between, factor * part->within};
    }
  }
}

static enum tutti_status correct_values(tutti_context *context, const struct tutti_calibrated *calibrated,
                                        const struct tutti_evaluation_options *options,
                                        struct tutti_uncertainty *predicted, struct tutti_epistemic_parts *parts) {
  bool told;
  for (size_t i = 0; i < calibrated->pool.rows * calibrated->pool.outputs; i++) {
    const double *moments = calibrated->after.values + i * TUTTI_COMBINED_PARTS;
    double aleatoric = moments[TUTTI_COMBINED_ALEATORIC], epistemic = moments[TUTTI_COMBINED_EPISTEMIC];
    predicted[i] = (struct tutti_uncertainty){moments[TUTTI_COMBINED_MEAN], sqrt(aleatoric), sqrt(epistemic),
                                              sqrt(aleatoric + epistemic)};
  }
  if (!parts)
    return TUTTI_OK;
  return tutti_ensemble_epistemic_parts(context, &calibrated->pool, calibrated->ensemble, options, parts, &told);
}

enum tutti_status tutti_calibrated_predict(tutti_context *context, const struct tutti_calibrated *calibrated,
                                           const struct tutti_evaluation_options *options,
                                           struct tutti_uncertainty *predicted, struct tutti_epistemic_parts *parts) {
  if (calibrated->pool.kind != TUTTI_TASK_CLASSIFICATION)
    return correct_values(context, calibrated, options, predicted, parts);
  correct_classes(calibrated, predicted, parts);
  return TUTTI_OK;
}

enum tutti_status tutti_calibrated_quantiles(tutti_context *context, tutti_calibrator *calibrator,
                                             const struct tutti_calibrated *calibrated, size_t count, const double *p,
                                             double *out) {
  const struct tutti_combined *before = &calibrated->before;
  size_t cells = before->rows * before->outputs;
  double *ends;
  if (!(tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS))
    return tutti_combined_quantiles(context, &calibrated->pool, calibrated->ensemble, count, p, out);
  enum tutti_status status = tutti_alloc(context, cells, 2 * sizeof *ends, &ends);
  for (size_t k = 0; k < count && status == TUTTI_OK; k++) {
    /* A quantile is an end of the interval that leaves as much outside on each side. */
    double level = 1 - 2 * fmin(p[k], 1 - p[k]);
    if (level > 0)
      status = tutti_calibrator_intervals(context, calibrator, before, level, ends);
    for (size_t i = 0; i < cells && status == TUTTI_OK; i++)
      out[i * count + k] =
          level > 0 ? ends[2 * i + (p[k] > 0.5)] : before->values[i * TUTTI_COMBINED_PARTS + TUTTI_COMBINED_MEAN];
  }
  tutti_free(ends);
  return status;
}
