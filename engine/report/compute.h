/* compute.h - what charts compute: curves, fronts, shares, maps. Plain functions of arrays. */
#ifndef TUTTI_REPORT_COMPUTE_H
#define TUTTI_REPORT_COMPUTE_H

#include <stdint.h>
#include <tutti/context.h>

/* The mean loss of the n rows with the least scores, risk[n - 1], for n = 1 ... count; rows that tie share their losses
   (Geifman et al., 2019). TUTTI_ERROR_MEMORY. */
TUTTI_NODISCARD enum tutti_status tutti_report_risk(tutti_context *context, size_t count, const double *scores,
                                                    const double *losses, double *risk);
/* Which points no other point beats: front[i] is true if none has a cost and a loss that are both at most as high, and
   one of them lower. Of points that are equal, all are in front. NaN never is. */
void tutti_report_front(size_t count, const double *costs, const double *losses, bool *front);
/* Ranks from 1, ties share the mean of theirs. TUTTI_ERROR_MEMORY. */
TUTTI_NODISCARD enum tutti_status tutti_report_ranks(tutti_context *context, size_t count, const double *values,
                                                     double *ranks);
/* How much of the variance of values[count] groups explain, where group[i] < groups: epsilon squared, 1 - (mean square
   within groups) / (mean square of all), not below 0 (Kelley, "An unbiased correlation ratio measure", 1935). 0 if
   there are fewer than two groups that have values, or no more values than groups. NaN without variance. */
double tutti_report_explained(size_t count, const double *values, const size_t *group, size_t groups);
/* Put numbers into at most `most` groups of as equal counts as ties allow; NaN gets a group of its own, the last.
   Returns the number of groups, each of which has a value. TUTTI_ERROR_MEMORY. */
TUTTI_NODISCARD enum tutti_status tutti_report_group(tutti_context *context, size_t count, const double *values,
                                                     size_t most, size_t *group, size_t *groups);
/* How high a picture of losses[count] reaches, so that a few wild ones do not flatten the others: a little above the
   highest that is at most `times` the square of the mean root of what they are above the least; those beyond it do not
   count, and so on until none is beyond. NaN and infinity count for nothing. INFINITY: it shows all. */
double tutti_report_frame(size_t count, const double *losses, double times);
/* Classical scaling (Torgerson, 1952): places[count][2] whose distances are as near as two dimensions allow to
   distances[count][count], which are Euclidean in some space. shares[2]: of all squared distances from the centre, what
   each direction shows. Signs are such that each direction's largest place is positive. TUTTI_ERROR_MEMORY. */
TUTTI_NODISCARD enum tutti_status tutti_report_scale(tutti_context *context, size_t count, const double *distances,
                                                     double *places, double *shares);

/* A training on the line of its worker. */
struct report_bar {
  uint32_t worker;
  double at, seconds; /* the second of the run's work at which its result came, and how long it took */
  double begin, end;  /* found: seconds of the run's work */
  size_t place;       /* found: < *places */
};
/* When each of bars[count] was, at the latest, if each worker has *places >= 1 that train one after the other and sends
   its results in the order of their ends. A worker that cannot have done in them what it did since second 0 gets more;
   *places is then the most that one has. TUTTI_ERROR_MEMORY. */
TUTTI_NODISCARD enum tutti_status tutti_report_timeline(tutti_context *context, size_t count, struct report_bar *bars,
                                                        size_t *places);

#endif
