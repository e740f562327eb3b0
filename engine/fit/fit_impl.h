/* fit_impl.h - one fit of a surrogate to a data set: predictions, metrics and files of them. */
#ifndef TUTTI_FIT_IMPL_H
#define TUTTI_FIT_IMPL_H

#include "engine/data/pattern_impl.h"
#include "engine/evaluation/bands_impl.h"

#include <tutti/data.h>
#include <tutti/recipe.h>
#include <tutti/surrogate.h>

/* Points in the units of the data: inputs as surrogates' boxes have them (standardised if the recipe says so), targets
   and predictions in the target's own unit. */
struct tutti_fit_points {
  size_t rows;
  double *inputs;           /* [rows][inputs] */
  double *targets;          /* [rows]; NULL: unknown, as on a grid */
  double *mean, *deviation; /* [rows]; NULL: not predicted. Deviations are the surrogate's own, without the factor c */
};

struct tutti_fit_result {
  size_t inputs;
  double *low, *high; /* [inputs]: the box */
  struct tutti_fit_points train, test,
      grid;                                 /* grid: row-major over the box, the last input fastest; may have no rows */
  size_t side;                              /* points along each side of the grid */
  double c;                                 /* the factor of the deviations */
  struct tutti_bands bands;                 /* of the test rows */
  double rmse, *coverage, *width;           /* [levels] */
  char *fitted;                             /* what the surrogate says of itself, as JSON; may be NULL */
  const char *input_names[2], *target_name; /* of the data set */
};

/* What is fitted, and with what; all borrowed. */
struct tutti_fit {
  const struct tutti_fit_config *config;
  const tutti_host *host; /* the surrogate is in its section "surrogate" */
  const tutti_dataset *dataset;
  uint64_t seed;
  bool picture; /* predict on a grid, too, where there are one or two inputs */
};

/* Can surrogates be fitted to such data at all? TUTTI_ERROR_USAGE: they are classes, images or several targets, are too
   few, have no test rows, or leave the box. Also makes the surrogate once, which checks its parameters. */
TUTTI_NODISCARD enum tutti_status tutti_fit_check(tutti_context *context, const struct tutti_fit *fit);
/* Fit and predict. The caller ends *result with tutti_fit_release, also on failure. TUTTI_ERROR_NUMERIC: the fit
   failed. */
TUTTI_NODISCARD enum tutti_status tutti_fit_run(tutti_context *context, const struct tutti_fit *fit,
                                                struct tutti_fit_result *result);
void tutti_fit_release(struct tutti_fit_result *result);

/* --- splits (fit_splits.c) --- */

struct tutti_fit_splits {
  struct tutti_matches files; /* of test rows, one for each repeat */
  uint64_t contents;          /* a hash of what all of them hold, in this order */
};
/* Find the files that config->test_rows names; a relative name begins in `folder`. The caller releases *splits, also on
   failure. TUTTI_ERROR_USAGE: there is none, or one cannot be read. */
TUTTI_NODISCARD enum tutti_status tutti_fit_splits_find(tutti_context *context, const struct tutti_fit_config *config,
                                                        const char *folder, struct tutti_fit_splits *splits);
void tutti_fit_splits_release(struct tutti_fit_splits *splits);

/* --- files (fit_files.c) --- */

enum { TUTTI_FIT_FILES = 4 };
/* Write the result's files into a folder that is there: train-points.npy, test-points.npy and, with a grid,
   grid-points.npy and picture.svg. names[] are set to those that were written, and NULL. */
TUTTI_NODISCARD enum tutti_status tutti_fit_write(tutti_context *context, const struct tutti_fit *fit,
                                                  const struct tutti_fit_result *result, const char *folder,
                                                  const char *names[TUTTI_FIT_FILES]);

/* --- pictures (fit_picture.c) --- */

/* The SVG of a result with a grid: bands over one input, or two fields over two; free *svg with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_fit_draw(tutti_context *context, const struct tutti_fit *fit,
                                                 const struct tutti_fit_result *result, char **svg);

#endif
