/* domain_impl.h - the inside of a domain; for core/domain/ only. */
#ifndef TUTTI_DOMAIN_IMPL_H
#define TUTTI_DOMAIN_IMPL_H

#include <tutti/domain.h>

/* A dimension, and what follows from it. */
struct dimension {
  struct tutti_dimension given; /* its texts and lists belong to the domain */
  size_t parent;                /* number of the parent, or SIZE_MAX */
  size_t column, columns;       /* where its encoded columns begin, and how many there are */
};

struct tutti_domain {
  size_t count, capacity, width;
  struct dimension *dimensions;
};

/* Does the dimension's condition hold, and do those of its parents? Reads only earlier coordinates of the point. */
bool tutti_dimension_active(const tutti_domain *domain, size_t index, const double *point);
/* Can the dimension take this value? Not if it is NaN. */
bool tutti_dimension_holds(const struct tutti_dimension *dimension, double value);
/* Does it have a second value? */
bool tutti_dimension_varies(const struct tutti_dimension *dimension);
/* The least and the greatest value; of a categorical dimension, the numbers of its first and last choice. */
double tutti_dimension_low(const struct tutti_dimension *dimension);
double tutti_dimension_high(const struct tutti_dimension *dimension);
/* The position in [0, 1] of a value in the (log) range of a real or integer dimension, 0.5 if it has only one value;
   and the value, not rounded, at a position. */
double tutti_dimension_position(const struct tutti_dimension *dimension, double value);
double tutti_dimension_at(const struct tutti_dimension *dimension, double position);
/* The nearest value that the dimension can take. */
double tutti_dimension_clip(const struct tutti_dimension *dimension, double value);

#endif
