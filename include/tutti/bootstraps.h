/* bootstraps.h - bootstraps of a split's rows, and a model's mean loss on each. Agnostic Bayes takes them as samples
   from a posterior over models (Lacoste, Marchand, Laviolette, Larochelle, "Agnostic Bayesian learning of ensembles",
   ICML 2014); sequential model-based ensembles take them as objectives (Lacoste et al., UAI 2014). */
#ifndef TUTTI_BOOTSTRAPS_H
#define TUTTI_BOOTSTRAPS_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_bootstraps tutti_bootstraps;

/* Draw `count` bootstraps, each of `draws` rows out of rows 0 .. rows - 1 with replacement. Bootstrap k is drawn from
   the stream (seed, "bootstrap", k). The caller destroys *bootstraps. TUTTI_ERROR_USAGE: no rows, no draws or no
   bootstraps. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bootstraps_create(tutti_context *context, size_t count, size_t rows,
                                                                    size_t draws, uint64_t seed,
                                                                    tutti_bootstraps **bootstraps);
/* Make bootstraps from how often each row is in each: times[count][rows], copied. TUTTI_ERROR_USAGE: no rows or no
   bootstraps. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bootstraps_from(tutti_context *context, size_t count, size_t rows,
                                                                  const uint32_t *times, tutti_bootstraps **bootstraps);
/* Destroy them; NULL is allowed. */
TUTTI_API void tutti_bootstraps_destroy(tutti_bootstraps *bootstraps);
/* The number of bootstraps. */
TUTTI_API size_t tutti_bootstraps_count(const tutti_bootstraps *bootstraps);
/* Compute risks[count], the mean of losses[rows] over each bootstrap. Sums of whole numbers, such as zero-one losses,
   are exact, so that ties are ties. NaN where the bootstrap has a row whose loss is NaN. */
TUTTI_API void tutti_bootstraps_risks(const tutti_bootstraps *bootstraps, const double *losses, double *risks);

TUTTI_END_DECLS
#endif
