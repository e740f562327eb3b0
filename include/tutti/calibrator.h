/* calibrator.h - kind `calibrator`: how predicted probabilities and intervals become true ones. It is fitted on an ensemble's own
   predictions for rows that no member was trained on, and then applied to its predictions for other rows. */
#ifndef TUTTI_CALIBRATOR_H
#define TUTTI_CALIBRATOR_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_calibrator tutti_calibrator;

/* --- the plugin's side ------------------------------------------------------------------------------------------ */

struct tutti_calibrator_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

/* Tasks that a calibrator serves. */
enum { TUTTI_CALIBRATES_REGRESSION = 1, TUTTI_CALIBRATES_CLASSIFICATION = 2 };

/* Predictions and targets are laid out as predictions.h says, in the target's own units. A calibrator that needs variances MUST
   refuse to be fitted to predictions without (TUTTI_ERROR_USAGE). */
struct tutti_calibrator_ops {
  size_t size;    /* sizeof(struct tutti_calibrator_ops) */
  unsigned tasks; /* REQUIRED: TUTTI_CALIBRATES_..., added up */

  /* REQUIRED. Fit to predictions and targets of the same rows (>= 1); an earlier fit is forgotten. MUST be a function of
     these and the seed. */
  enum tutti_status (*fit)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                           const struct tutti_targets *targets);
  /* REQUIRED, of a fitted one. Calibrated predictions of any number of rows into out[rows][width], which may be
     predictions->values itself. Each row's MUST depend on that row alone. */
  enum tutti_status (*apply)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                             float *out);
  /* REQUIRED, both. The fit as JSON (free with tutti_free), and back: what is applied after `parse` MUST have the same bits.
     `parse` checks all and says what is wrong: the text may come from a file. */
  enum tutti_status (*print)(void *self, tutti_context *context, char **json);
  enum tutti_status (*parse)(void *self, tutti_context *context, const char *json);

  /* OPTIONAL, regression; default: quantiles of normals with the calibrated mean and variance. Of uncalibrated predictions the calibrated
     quantiles at levels[count] in (0, 1), which ascend, into out[rows][outputs][count]. MUST ascend with the level. */
  enum tutti_status (*quantiles)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                                 size_t count, const double *levels, double *out);
};

/* --- the host's side --- */

/* TUTTI_ERROR_USAGE where it does not serve the task of setup or host. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_create(tutti_context *context, const tutti_host *host,
                                                                    const char *section,
                                                                    const struct tutti_calibrator_setup *setup,
                                                                    tutti_calibrator **calibrator);
TUTTI_API void tutti_calibrator_destroy(tutti_calibrator *calibrator);
TUTTI_API const struct tutti_descriptor *tutti_calibrator_descriptor(const tutti_calibrator *calibrator);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_fit(tutti_context *context, tutti_calibrator *calibrator,
                                                                 const struct tutti_predictions *predictions,
                                                                 const struct tutti_targets *targets);
/* The following three need a calibrator that was fitted or parsed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_apply(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const struct tutti_predictions *predictions,
                                                                   float *out);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_quantiles(tutti_context *context,
                                                                       tutti_calibrator *calibrator,
                                                                       const struct tutti_predictions *predictions,
                                                                       size_t count, const double *levels, double *out);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_print(tutti_context *context, tutti_calibrator *calibrator,
                                                                   char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_parse(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const char *json);

TUTTI_END_DECLS
#endif
