/* domain.h - named dimensions with ranges, logs and conditions, and points in them. Hyperparameters form a domain, and
   so does a space whose genotypes have fixed length. Sampling, mutation, encoding, printing and parsing are here. */
#ifndef TUTTI_DOMAIN_H
#define TUTTI_DOMAIN_H

#include <tutti/context.h>
#include <tutti/random.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_domain tutti_domain;

enum tutti_dimension_type { TUTTI_DIMENSION_REAL, TUTTI_DIMENSION_INTEGER, TUTTI_DIMENSION_CATEGORICAL };

/* One dimension. A point holds one double for each: a real, an integer (exact below 2^53), the number of a choice, or
   NaN where the dimension's condition does not hold. */
struct tutti_dimension {
  size_t size; /* sizeof(struct tutti_dimension) */
  const char *name;
  enum tutti_dimension_type type;
  double low, high; /* inclusive; real and integer */
  bool log;         /* uniform in the logarithm; low > 0. An integer k has the share log((k + 1) / k) */
  size_t choice_count;
  const char *const *choices; /* categorical */
  /* Condition: the dimension is active only while `parent`, an earlier categorical or integer dimension, is active and
     has one of these values. NULL: always active. */
  const char *parent;
  size_t parent_value_count;
  const double *parent_values;
};

/* Make a domain without dimensions; the caller destroys *domain. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_create(tutti_context *context, tutti_domain **domain);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_domain_destroy(tutti_domain *domain);
/* Add a dimension; everything is copied. TUTTI_ERROR_USAGE if it is not sound:
   - its size is not set, or its name is empty or taken;
   - low > high, log with low <= 0, or a limit that is not finite, or not whole or exact where it has to be;
   - no choices, or two that are equal;
   - a parent that is unknown, comes later, or is real. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_add(tutti_context *context, tutti_domain *domain,
                                                             const struct tutti_dimension *dimension);
/* Add a dimension written as in a recipe: "uniform a b", "log-uniform a b", "integer a b", "log-integer a b" or "choice
   a b c", each optionally followed by "if NAME = v1 v2 ...". TUTTI_ERROR_USAGE as for tutti_domain_add. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_add_text(tutti_context *context, tutti_domain *domain,
                                                                  const char *name, const char *text);
/* Dimension number `index` as tutti_domain_add_text reads it, if its choices have no blanks; free *text with
   tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_text(tutti_context *context, const tutti_domain *domain,
                                                              size_t index, char **text);
/* Does the text begin with one of these words ("uniform", ..., "choice")? */
TUTTI_API bool tutti_domain_is_range(const char *text);
/* The number of dimensions, here [count]. */
TUTTI_API size_t tutti_domain_count(const tutti_domain *domain);
/* Dimension number `index` (< count); borrowed until the next one is added. */
TUTTI_API const struct tutti_dimension *tutti_domain_at(const tutti_domain *domain, size_t index);
/* The number of the dimension of that name; SIZE_MAX if there is none. */
TUTTI_API size_t tutti_domain_find(const tutti_domain *domain, const char *name);
/* The number of different points, as a double; infinity if a real dimension varies. */
TUTTI_API double tutti_domain_cardinality(const tutti_domain *domain);

/* --- points: double [count] ---------------------------------------------------------------------------------- */

/* Draw a point[count]: each active dimension from its own distribution, NaN for the others. */
TUTTI_API void tutti_domain_sample(const tutti_domain *domain, struct tutti_random *random, double *point);
/* Change point[count]: one active dimension that has a second value, chosen evenly, gets a different one, freshly
   drawn. Dimensions that become active are drawn; those that become inactive get NaN. False, with the point unchanged,
   if no active dimension has a second value. */
TUTTI_API bool tutti_domain_mutate(const tutti_domain *domain, struct tutti_random *random, double *point);
/* Call visit(argument, point) for each neighbour of point[count], until it returns false. A neighbour differs in one
   active dimension and is repaired: another choice, an integer one more or less (in a log range the next of about 20
   steps), a real +-`step` of its (log) range. TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_neighbours(tutti_context *context, const tutti_domain *domain,
                                                                    const double *point, double step,
                                                                    bool (*visit)(void *argument, const double *point),
                                                                    void *argument);
/* Make point[count] valid: clip to the ranges, round integers and choices, and set NaN exactly where a dimension is
   inactive. One that becomes active gets its middle. */
TUTTI_API void tutti_domain_repair(const tutti_domain *domain, double *point);
/* Check a point[count] that came from outside. TUTTI_ERROR_USAGE names the dimension, its range and the value found. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_check(tutti_context *context, const tutti_domain *domain,
                                                               const double *point);
/* Are a[count] and b[count] equal? NaN equals NaN. */
TUTTI_API bool tutti_domain_equal(const tutti_domain *domain, const double *a, const double *b);
/* How far apart a[count] and b[count] are, from 0 to 1 (Gower, "A general coefficient of similarity and some of its
   properties", Biometrics 1971): the mean over the dimensions that are active in either. A choice adds 0 if equal and 1
   if not, a real or integer the difference of the positions in its (log) range, and a dimension that is active in only
   one of them 1. For choices alone this is the normalised Hamming distance. */
TUTTI_API double tutti_domain_distance(const tutti_domain *domain, const double *a, const double *b);

/* The point[count] at the coordinates unit[count], each in [0, 1): the inverse distribution function of each dimension;
   NaN where inactive. */
TUTTI_API void tutti_domain_from_unit(const tutti_domain *domain, const double *unit, double *point);

/* --- vectors for surrogates ----------------------------------------------------------------------------------- */

/* A point is encoded as a vector of columns [width]. A real or integer has one column, its position in the (log) range,
   from 0 to 1. A choice is one-hot; with two choices it has one column, 1 for the second. Where a dimension is
   inactive, a single column is 0.5, and one-hot columns are 0. */

/* What is in a column. */
struct tutti_domain_column_facts {
  size_t size; /* sizeof(struct tutti_domain_column_facts) */
  uint32_t dimension;
  enum tutti_dimension_type type;
  uint32_t choice; /* the choice for which the column is 1 */
  double step;     /* from one integer to the next in the column; 0 for a log range and for other types */
};
/* The number of columns, here [width]. */
TUTTI_API size_t tutti_domain_width(const tutti_domain *domain);
/* Fill *facts for a column (< width). The caller has set facts->size. */
TUTTI_API void tutti_domain_column(const tutti_domain *domain, size_t column, struct tutti_domain_column_facts *facts);
/* Encode point[count] as vector[width]. */
TUTTI_API void tutti_domain_encode(const tutti_domain *domain, const double *point, double *vector);
/* The point[count] whose encoding is nearest to vector[width]: the largest one-hot column, rounded integers, clipped
   reals, NaN where inactive. */
TUTTI_API void tutti_domain_decode(const tutti_domain *domain, const double *vector, double *point);

/* --- text ----------------------------------------------------------------------------------------------------- */

/* The active dimensions of point[count] as a JSON object {"name": value, ...}: choices as strings, reals with as many
   digits as give the same bits back. Free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_print(tutti_context *context, const tutti_domain *domain,
                                                               const double *point, char **json);
/* Read such a text into point[count]. It must have exactly the active dimensions: TUTTI_ERROR_USAGE names the one that
   is missing, unknown, inactive or out of range. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_parse(tutti_context *context, const tutti_domain *domain,
                                                               const char *json, double *point);

/* --- Sobol points ---------------------------------------------------------------------------------------------- */

enum { TUTTI_SOBOL_DIMENSIONS = 128 }; /* as many as the table of direction numbers has */
/* A digitally shifted Sobol sequence in [0, 1)^dimension (Joe & Kuo, "Constructing Sobol sequences with better
   two-dimensional projections", SISC 2008). */
typedef struct tutti_sobol tutti_sobol;
/* Begin a sequence of 1 to TUTTI_SOBOL_DIMENSIONS dimensions, else TUTTI_ERROR_USAGE. The shift is drawn from `shift`;
   NULL: none, and the first point is 0. The caller destroys *sobol. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_sobol_create(tutti_context *context, size_t dimension,
                                                               struct tutti_random *shift, tutti_sobol **sobol);
/* Write the next point to point[dimension]. */
TUTTI_API void tutti_sobol_next(tutti_sobol *sobol, double *point);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_sobol_destroy(tutti_sobol *sobol);

TUTTI_END_DECLS
#endif
