/* rectangles.h - DIRECT: the least value on the unit cube by dividing rectangles (Jones, Perttunen, Stuckman,
   "Lipschitzian optimization without the Lipschitz constant", JOTA 79, 1993), also in its locally biased form
   (Gablonsky, Kelley, "A locally-biased form of the DIRECT algorithm", Journal of Global Optimization 21, 2001). All
   points of a round are asked for together. */
#ifndef TUTTI_MAXIMISER_RECTANGLES_H
#define TUTTI_MAXIMISER_RECTANGLES_H

#include <tutti/plugin.h>

struct rectangles_task {
  size_t dimensions;  /* >= 1 */
  size_t evaluations; /* at most; >= 1 */
  bool local;
  /* Write values[count], which are finite, at points[count][dimensions]. */
  enum tutti_status (*evaluate)(void *argument, tutti_context *context, size_t count, const double *points,
                                double *values);
  void *argument;
};

/* Divide until the evaluations are spent. It draws nothing: the same values give the same points. Errors are those of
   `evaluate`; TUTTI_ERROR_CANCELLED. */
TUTTI_NODISCARD enum tutti_status rectangles_divide(tutti_context *context, const struct rectangles_task *task);

#endif
