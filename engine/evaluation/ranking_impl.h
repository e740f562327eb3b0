/* ranking_impl.h - metrics of an order of rows: by a score, or by how sure a prediction is; for engine/ alone. */
#ifndef TUTTI_RANKING_IMPL_H
#define TUTTI_RANKING_IMPL_H

#include <tutti/context.h>

/* A row: its score, and 1 or 0 (of an area), or its loss (of a risk). */
struct tutti_ranked {
  double score, loss;
};

/* The probability that a row with the loss 1 scores higher than one with 0, ties counting half: the area under the
   receiver operating characteristic, from ranks (Mann & Whitney, 1947). NaN without rows of both, or if a score is NaN.
   Sorts the rows. */
double tutti_ranked_area(size_t count, struct tutti_ranked *rows);

/* The area under risk over coverage (Geifman et al., 2019): the mean over n = 1 ... count of the mean loss of the n
   rows with the least scores; rows that tie share their losses. NaN if a score or a loss is. Sorts the rows. */
double tutti_ranked_risk(size_t count, struct tutti_ranked *rows);

#endif
