/* levels.h - diagrams of a promise over its levels: the share of rows that it held for, beside the diagonal. */
#ifndef TUTTI_REPORT_LEVELS_H
#define TUTTI_REPORT_LEVELS_H

#include "report_impl.h"

/* A promise of regression. */
struct report_levels {
  const char *level_name, *share_name, *error_name; /* columns of the table */
  const char *x, *y, *diagonal;                     /* words of the picture */
  const char *ranges;                               /* of its axes, for gnuplot */
  size_t count;                                     /* of levels */
  double (*level)(size_t index);
  /* Of a split of the evaluation, or of one of its targets; NaN where there is none. */
  double (*share)(const json_t *part, bool calibrated, size_t index);
};

/* A diagram for each target, up to as many as a figure has plots; of more, one of all together. */
TUTTI_NODISCARD enum tutti_status tutti_report_draw_levels(const struct report_facts *facts,
                                                           struct report_figure *figure,
                                                           const struct report_levels *of);

#endif
