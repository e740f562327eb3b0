/* ascent.h - bounded L-BFGS that keeps the best point met, for plugins that maximise a likelihood. */
#ifndef TUTTI_SHARED_ASCENT_H
#define TUTTI_SHARED_ASCENT_H

#include <tutti/plugin.h>

/* A function of theta[count] and, unless NULL, its gradient. A failure counts as minus infinity at that point; only
   TUTTI_ERROR_CANCELLED ends the ascent. */
typedef enum tutti_status ascent_function(void *argument, tutti_context *context, const double *theta, double *value,
                                          double *gradient);

struct ascent {
  tutti_context *context;
  ascent_function *function;
  void *argument;
  size_t count;
  const double (*bounds)[2]; /* [count]; a number with equal ends is fixed */

  size_t unknowns;
  size_t *free;                         /* [unknowns]: which numbers are searched */
  double *at, *theta, *gradient, *best; /* [count] */
  double value;                         /* at `best`; -infinity if none was met */
  double last;                          /* at the point evaluated last; -infinity if it failed there */
  void *optimiser;
  enum tutti_status status; /* of the function's last failure */
};

/* The caller sets the first five fields. */
enum tutti_status ascent_init(struct ascent *ascent);
void ascent_clear(struct ascent *ascent);
/* Evaluate the function at theta; the best point so far is kept. */
enum tutti_status ascent_try(struct ascent *ascent, const double *theta);
/* Climb from theta (which may be ascent->best). */
enum tutti_status ascent_climb(struct ascent *ascent, const double *theta, size_t evaluations);

#endif
