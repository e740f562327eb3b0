/* domain.h - named dimensions with ranges, logs and conditions, and points in them. Spaces with genotypes of fixed length
   and the recipe's hyperparameters are domains; they get sampling, mutation, encoding, printing and parsing from here. */
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
  /* Condition: active only while the earlier categorical or integer dimension `parent` is active and has one of these
     values; NULL: always. */
  const char *parent;
  size_t parent_value_count;
  const double *parent_values;
};

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_create(tutti_context *context, tutti_domain **domain);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_copy(tutti_context *context, const tutti_domain *from,
                                                              tutti_domain **domain);
TUTTI_API void tutti_domain_destroy(tutti_domain *domain);
/* Add a dimension; everything is copied. TUTTI_ERROR_USAGE: name taken or empty, low > high, log with low <= 0, no
   choices, not finite, unknown or later parent. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_add(tutti_context *context, tutti_domain *domain,
                                                             const struct tutti_dimension *dimension);
/* Add a dimension written as in a recipe: "uniform a b", "log-uniform a b", "integer a b", "log-integer a b",
   "choice a b c", each optionally followed by "if NAME = v1 v2 ...". */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_add_text(tutti_context *context, tutti_domain *domain,
                                                                  const char *name, const char *text);
/* A dimension as tutti_domain_add_text reads it, if its choices have no blanks; free with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_text(tutti_context *context, const tutti_domain *domain,
                                                              size_t index, char **text);
/* Does a text begin like such a range? */
TUTTI_API bool tutti_domain_is_range(const char *text);
TUTTI_API size_t tutti_domain_count(const tutti_domain *domain);
/* Borrowed until the next one is added. */
TUTTI_API const struct tutti_dimension *tutti_domain_at(const tutti_domain *domain, size_t index);
/* Number of the dimension of that name, or SIZE_MAX. */
TUTTI_API size_t tutti_domain_find(const tutti_domain *domain, const char *name);
/* How many different points there are; infinity with a real dimension. */
TUTTI_API double tutti_domain_cardinality(const tutti_domain *domain);

/* --- points: double [count] ---------------------------------------------------------------------------------- */

TUTTI_API void tutti_domain_sample(const tutti_domain *domain, struct tutti_random *random, double *point);
/* Give one uniformly chosen active dimension a different value (a fresh draw); dimensions that this makes active are drawn,
   too, and those that it makes inactive become NaN. Leaves the point as it is where no dimension has a second value, and
   returns false. */
TUTTI_API bool tutti_domain_mutate(const tutti_domain *domain, struct tutti_random *random, double *point);
/* Neighbours differ in one active dimension: another choice, an integer +-1 (log: the next of about 20 steps over the
   range), a real +-`step` of its (log) range; all are repaired. Calls visit(argument, point) for each; stops when that
   returns false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_neighbours(tutti_context *context, const tutti_domain *domain,
                                                                    const double *point, double step,
                                                                    bool (*visit)(void *argument, const double *point),
                                                                    void *argument);
/* Clip to the ranges, round integers and choices, set NaN exactly where inactive (a newly active one gets its middle). */
TUTTI_API void tutti_domain_repair(const tutti_domain *domain, double *point);
/* Check a point that came from outside; the error names the dimension, its range and the value found. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_check(tutti_context *context, const tutti_domain *domain,
                                                               const double *point);
TUTTI_API bool tutti_domain_equal(const tutti_domain *domain, const double *a, const double *b);
/* How far apart two points are, from 0 to 1: the mean over the dimensions that either of them has of 0 or 1 for choices that
   are equal or differ, the difference of positions in the (log) range for reals and integers, and 1 where only one has it
   (Gower, "A general coefficient of similarity and some of its properties", Biometrics 1971). Of categories alone it is the
   Hamming distance, normalised. */
TUTTI_API double tutti_domain_distance(const tutti_domain *domain, const double *a, const double *b);

/* The point at unit coordinates u[count] in [0, 1): the inverse distribution function of each dimension. */
TUTTI_API void tutti_domain_from_unit(const tutti_domain *domain, const double *unit, double *point);

/* --- vectors for surrogates ----------------------------------------------------------------------------------- */

/* Encoded columns: reals and integers scaled to [0, 1] in their (log) range, choices one-hot (two choices: one column, 1
   for the second); inactive dimensions give 0.5 in a single column, and zeros in one-hot columns. */

/* What a column is. */
struct tutti_domain_column_facts {
  size_t size; /* sizeof(struct tutti_domain_column_facts) */
  uint32_t dimension;
  enum tutti_dimension_type type;
  uint32_t choice; /* that the column is 1 for */
  double step;     /* spacing of an integer in its column when not log, else 0 */
};
TUTTI_API size_t tutti_domain_width(const tutti_domain *domain);
/* Fill *facts, whose size the caller has set, for a column below the width. */
TUTTI_API void tutti_domain_column(const tutti_domain *domain, size_t column, struct tutti_domain_column_facts *facts);
TUTTI_API void tutti_domain_encode(const tutti_domain *domain, const double *point, double *vector);
/* The point whose encoding is nearest: largest one-hot column, rounded integers, clipped reals; conditions repaired. */
TUTTI_API void tutti_domain_decode(const tutti_domain *domain, const double *vector, double *point);

/* --- text ----------------------------------------------------------------------------------------------------- */

/* A JSON object {"name": value, ...} of the active dimensions; choices as strings, reals so that they round-trip. Parsing
   wants exactly the active dimensions; the error names the one that is missing, unknown, inactive or out of range. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_print(tutti_context *context, const tutti_domain *domain,
                                                               const double *point, char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_parse(tutti_context *context, const tutti_domain *domain,
                                                               const char *json, double *point);
/* The domain itself as a JSON array of dimensions (for inspect and the catalogue). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_domain_describe(tutti_context *context, const tutti_domain *domain,
                                                                  char **json);

/* --- Sobol points ---------------------------------------------------------------------------------------------- */

enum { TUTTI_SOBOL_DIMENSIONS = 128 }; /* as many as the table of direction numbers has */
/* Digitally shifted Sobol sequence in [0, 1)^dimension (Joe & Kuo, "Constructing Sobol sequences with better
   two-dimensional projections", SISC 2008). `shift` NULL: not shifted, the first point is 0. TUTTI_ERROR_USAGE for more
   dimensions than that. */
typedef struct tutti_sobol tutti_sobol;
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_sobol_create(tutti_context *context, size_t dimension,
                                                               struct tutti_random *shift, tutti_sobol **sobol);
TUTTI_API void tutti_sobol_next(tutti_sobol *sobol, double *point);
TUTTI_API void tutti_sobol_destroy(tutti_sobol *sobol);

TUTTI_END_DECLS
#endif
