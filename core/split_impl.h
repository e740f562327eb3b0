/* split_impl.h - the inside of a split; for core/ alone. */
#ifndef TUTTI_SPLIT_IMPL_H
#define TUTTI_SPLIT_IMPL_H

#include <tutti/dataset.h>

/* All arrays are the split's own and go with it. */
struct tutti_split {
  char *name;
  size_t rows, outputs;
  struct tutti_shape input;
  float *inputs;         /* [rows][features] */
  float *targets;        /* [rows][outputs], standardised; NULL without */
  double *raw_targets;   /* [rows][outputs], in their own units; NULL without */
  int32_t *labels;       /* [rows]; NULL without */
  double *scale, *shift; /* [outputs]: raw = standardised * scale + shift; NULL for classification */
  uint32_t *source_rows; /* [rows]; NULL for splits of one's own */
};

#endif
