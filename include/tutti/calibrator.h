/* calibrator.h - kind `calibrator`: corrects what an ensemble says: probabilities, variances or intervals. It is fitted
   to the ensemble's predictions for rows that no member was trained on, after averaging, since calibrated members do
   not make a calibrated ensemble (Rahaman & Thiery, 2021), and then applied to the ensemble's predictions for other
   rows. */
#ifndef TUTTI_CALIBRATOR_H
#define TUTTI_CALIBRATOR_H

#include <tutti/descriptor.h>
#include <tutti/formula.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_calibrator tutti_calibrator;
struct tutti_mixture; /* metrics.h */

/* What an ensemble says of rows once its members are averaged. Classification: probabilities [rows][outputs].
   Regression: [rows][outputs][3]: the mean, counted from the target's origin (dataset.h), the aleatoric variance, NaN
   if the members give none, and the epistemic variance. */
struct tutti_combined {
  size_t size; /* sizeof(struct tutti_combined) */
  enum tutti_task_kind kind;
  size_t rows, outputs;
  const double *values;
  /* Regression, for `fit`: [rows][outputs], the members' Gaussians, of which these are the moments. NULL: not known. A
     calibrated ensemble is this mixture, drawn together or apart and with wider or narrower members, so that it has the
     calibrated moments. */
  const struct tutti_mixture *mixtures;
};
enum tutti_combined_part {
  TUTTI_COMBINED_MEAN,
  TUTTI_COMBINED_ALEATORIC,
  TUTTI_COMBINED_EPISTEMIC,
  TUTTI_COMBINED_PARTS
};
/* How many numbers a row has, here [width]: 3 * outputs for regression, else outputs. */
TUTTI_API size_t tutti_combined_width(enum tutti_task_kind kind, size_t outputs);

/* The terms of a formula (formula.h) that stand for the same, [rows][outputs] each; the others are TUTTI_NO_TERM. */
struct tutti_combined_terms {
  size_t size;                     /* sizeof(struct tutti_combined_terms) */
  tutti_term mean;                 /* probabilities of a classification */
  tutti_term aleatoric, epistemic; /* variances, of a regression */
  double level;                    /* of the intervals, in (0, 1) */
  tutti_term lower, upper;         /* their ends, of a calibrator that gives intervals */
};

/* --- the plugin's side ------------------------------------------------------------------------------------------ */

struct tutti_calibrator_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

/* What a calibrator gives, and so whom it serves. */
enum {
  TUTTI_GIVES_PROBABILITIES = 1, /* classification: other probabilities */
  TUTTI_GIVES_MOMENTS = 2,       /* regression: other means and variances */
  TUTTI_GIVES_INTERVALS = 4      /* regression: central intervals at any level, which no moments stand behind */
};

struct tutti_calibrator_ops {
  size_t size;    /* sizeof(struct tutti_calibrator_ops) */
  unsigned gives; /* REQUIRED: TUTTI_GIVES_..., added up; of moments and intervals at most one */

  /* REQUIRED. Fit to predictions and targets of the same rows (>= 1), and forget any earlier fit. MUST be a function of
     these and the seed. All predictions are finite, save aleatoric variances of NaN. MUST fail with TUTTI_ERROR_NUMERIC
     where these rows do not determine a fit, or with TUTTI_ERROR_USAGE where it needs variances and there are none; the
     message says why, and the ensemble then stays as it is. */
  enum tutti_status (*fit)(void *self, tutti_context *context, const struct tutti_combined *combined,
                           const struct tutti_targets *targets);
  /* REQUIRED, both. `print` gives the fit as a JSON object (free with tutti_free), and `parse` reads it back. The text
     MUST hold all that `apply` and `intervals` need: an instance with other parameters that has parsed it gives the
     same bits. `parse` checks everything and says what is wrong, for the text may come from a file. */
  enum tutti_status (*print)(void *self, tutti_context *context, char **json);
  enum tutti_status (*parse)(void *self, tutti_context *context, const char *json);

  /* REQUIRED of whoever gives probabilities or moments. Called once fitted. Write the calibrated predictions of any
     number of rows into out[rows][width], which may be combined->values itself. Each row's result MUST depend on that
     row alone, and a variance of 0 MUST stay 0. */
  enum tutti_status (*apply)(void *self, tutti_context *context, const struct tutti_combined *combined, double *out);
  /* REQUIRED of whoever gives intervals. Called once fitted. Given uncalibrated predictions, write the lower and upper
     end of the central interval of probability `level`, in (0, 1), into out[rows][outputs][2]. An end may be infinite.
     Intervals MUST grow with the level, and hold the mean. */
  enum tutti_status (*intervals)(void *self, tutti_context *context, const struct tutti_combined *combined,
                                 double level, double *out);
  /* OPTIONAL; default 1. The least number of rows to fit to, for so many outputs. With fewer the host does not fit,
     says so, and leaves the ensemble as it is. */
  size_t (*least_rows)(void *self, size_t outputs);
  /* OPTIONAL, without default. Called once fitted. Write down what `apply` and `intervals` compute, but for roundings:
     add it to the formula. The terms are of uncalibrated predictions; what `apply` changes is replaced by calibrated
     ones, and whoever gives intervals sets `lower` and `upper`. */
  enum tutti_status (*formula)(void *self, tutti_context *context, tutti_formula *formula,
                               struct tutti_combined_terms *terms);
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
/* What it gives: TUTTI_GIVES_..., added up. */
TUTTI_API unsigned tutti_calibrator_gives(const tutti_calibrator *calibrator);
/* The least number of rows to fit it to. */
TUTTI_API size_t tutti_calibrator_least_rows(const tutti_calibrator *calibrator, size_t outputs);
/* Fit to predictions and targets of the same rows; both are borrowed until return. An earlier fit is lost, even on
   failure. TUTTI_ERROR_NUMERIC: these rows do not determine a fit, or a prediction among them is not finite;
   TUTTI_ERROR_USAGE: it needs variances, and there are none. Of these two the message is the reason alone, which does
   not name the plugin. TUTTI_ERROR_INTERNAL: no rows, or rows or outputs that differ. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_fit(tutti_context *context, tutti_calibrator *calibrator,
                                                                 const struct tutti_combined *combined,
                                                                 const struct tutti_targets *targets);
/* Write the calibrated predictions into out[rows][width], which may be combined->values itself; of whoever gives
   intervals alone, they stay as they are. Rows with a NaN stay as they are. TUTTI_ERROR_INTERNAL: neither fitted nor
   parsed; TUTTI_ERROR_PLUGIN: a probability outside [0, 1], a mean that is not finite, or a negative variance. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_apply(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const struct tutti_combined *combined, double *out);
/* Write the ends of the central intervals of uncalibrated predictions at a level in (0, 1) into out[rows][outputs][2].
   TUTTI_ERROR_INTERNAL: neither fitted nor parsed; TUTTI_ERROR_UNSUPPORTED: it gives none; TUTTI_ERROR_USAGE: the level
   is wrong; TUTTI_ERROR_PLUGIN: an interval does not hold its mean. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_intervals(tutti_context *context,
                                                                       tutti_calibrator *calibrator,
                                                                       const struct tutti_combined *combined,
                                                                       double level, double *out);
/* Write down what tutti_calibrator_apply and, if it gives them, tutti_calibrator_intervals compute of such terms: add
   it to the formula, and replace the terms. TUTTI_ERROR_INTERNAL: neither fitted nor parsed; TUTTI_ERROR_UNSUPPORTED:
   it cannot say it; TUTTI_ERROR_PLUGIN: it has taken terms away, or set no ends of the intervals that it gives. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_formula(tutti_context *context,
                                                                     tutti_calibrator *calibrator,
                                                                     tutti_formula *formula,
                                                                     struct tutti_combined_terms *terms);
/* The fit as JSON; free *json with tutti_free. TUTTI_ERROR_INTERNAL: neither fitted nor parsed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_print(tutti_context *context, tutti_calibrator *calibrator,
                                                                   char **json);
/* Take over a fit that tutti_calibrator_print gave. An earlier fit is lost, even on failure. The error says what is
   wrong with the text. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_calibrator_parse(tutti_context *context, tutti_calibrator *calibrator,
                                                                   const char *json);

TUTTI_END_DECLS
#endif
