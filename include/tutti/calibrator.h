/* calibrator.h - kind `calibrator`: corrects predicted probabilities and intervals. It is fitted to an ensemble's
   predictions for rows that no member was trained on, and then applied to the ensemble's predictions for other rows. */
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

/* Predictions and targets are laid out as predictions.h says, in the target's own units. A calibrator that needs
   variances MUST refuse predictions without them (TUTTI_ERROR_USAGE). */
struct tutti_calibrator_ops {
  size_t size;    /* sizeof(struct tutti_calibrator_ops) */
  unsigned tasks; /* REQUIRED: TUTTI_CALIBRATES_..., added up */

  /* REQUIRED. Fit to predictions and targets of the same rows (>= 1), and forget any earlier fit. MUST be a function of
     these and the seed. */
  enum tutti_status (*fit)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                           const struct tutti_targets *targets);
  /* REQUIRED. Called once fitted. Write the calibrated predictions of any number of rows into out[rows][width], which
     may be predictions->values itself. Each row's result MUST depend on that row alone. */
  enum tutti_status (*apply)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                             float *out);
  /* REQUIRED, both. `print` gives the fit as JSON (free with tutti_free), and `parse` reads it back: what is applied
     after `parse` MUST have the same bits. `parse` checks everything and says what is wrong, for the text may come from
     a file. */
  enum tutti_status (*print)(void *self, tutti_context *context, char **json);
  enum tutti_status (*parse)(void *self, tutti_context *context, const char *json);

  /* OPTIONAL, for regression; default: quantiles of normals with the calibrated mean and variance. Given uncalibrated
     predictions, write the calibrated quantiles at levels[count], ascending in (0, 1), into out[rows][outputs][count].
     They MUST ascend with the level. */
  enum tutti_status (*quantiles)(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                                 size_t count, const double *levels, double *out);
};

/* --- the host's side --- */

/* Make an instance of the calibrator plugin in `section` of the host; the caller destroys *calibrator. What is copied
   or borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_USAGE also if setup or host has
   no task with data, or one that the calibrator does not serve. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_create(tutti_context *context, const tutti_host *host,
                                                                    const char *section,
                                                                    const struct tutti_calibrator_setup *setup,
                                                                    tutti_calibrator **calibrator);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_calibrator_destroy(tutti_calibrator *calibrator);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_calibrator_descriptor(const tutti_calibrator *calibrator);
/* Fit to predictions and targets of the same rows; both are borrowed until return. An earlier fit is lost, even on
   failure. TUTTI_ERROR_INTERNAL: no rows, or rows or outputs that differ. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_fit(tutti_context *context, tutti_calibrator *calibrator,
                                                                 const struct tutti_predictions *predictions,
                                                                 const struct tutti_targets *targets);
/* Write the calibrated predictions into out[rows][width] (predictions.h), which may be predictions->values itself.
   TUTTI_ERROR_INTERNAL: neither fitted nor parsed; TUTTI_ERROR_PLUGIN: a probability outside [0, 1], a mean that is not
   finite, or a negative variance. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_apply(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const struct tutti_predictions *predictions,
                                                                   float *out);
/* Write the calibrated quantiles of uncalibrated predictions at levels[count], ascending in (0, 1), into
   out[rows][outputs][count]. TUTTI_ERROR_INTERNAL: neither fitted nor parsed; TUTTI_ERROR_UNSUPPORTED: classification;
   TUTTI_ERROR_USAGE: a level is wrong; TUTTI_ERROR_PLUGIN: quantiles do not ascend. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_quantiles(tutti_context *context,
                                                                       tutti_calibrator *calibrator,
                                                                       const struct tutti_predictions *predictions,
                                                                       size_t count, const double *levels, double *out);
/* The fit as JSON; free *json with tutti_free. TUTTI_ERROR_INTERNAL: neither fitted nor parsed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_print(tutti_context *context, tutti_calibrator *calibrator,
                                                                   char **json);
/* Take over a fit that tutti_calibrator_print gave. An earlier fit is lost, even on failure. The error says what is
   wrong with the text. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_parse(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const char *json);

TUTTI_END_DECLS
#endif
