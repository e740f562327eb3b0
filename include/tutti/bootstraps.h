/* bootstraps.h - bootstraps of a split's rows, and what a model's losses come to on each: the samples from a posterior over
   models of agnostic Bayes (Lacoste, Marchand, Laviolette, Larochelle, "Agnostic Bayesian learning of ensembles", ICML
   2014), and the objectives of sequential model-based ensembles (Lacoste et al., UAI 2014). */
#ifndef TUTTI_BOOTSTRAPS_H
#define TUTTI_BOOTSTRAPS_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_bootstraps tutti_bootstraps;

/* `count` bootstraps, each of `draws` rows out of rows 0 .. rows - 1 with replacement; bootstrap k is drawn from the stream
   (seed, "bootstrap", k). TUTTI_ERROR_USAGE: no rows, draws or bootstraps. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bootstraps_create(tutti_context *context, size_t count, size_t rows,
                                                                    size_t draws, uint64_t seed,
                                                                    tutti_bootstraps **bootstraps);
/* Bootstraps that are given by how often each row is in them, times[count][rows], copied. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bootstraps_from(tutti_context *context, size_t count, size_t rows,
                                                                  const uint32_t *times, tutti_bootstraps **bootstraps);
TUTTI_API void tutti_bootstraps_destroy(tutti_bootstraps *bootstraps);
TUTTI_API size_t tutti_bootstraps_count(const tutti_bootstraps *bootstraps);
TUTTI_API size_t tutti_bootstraps_rows(const tutti_bootstraps *bootstraps);
/* Mean loss on each bootstrap: risks[count] of losses[rows]. Sums of whole numbers, as of zero-one losses, are exact, so
   that ties are ties. NaN where a row of it is NaN. */
TUTTI_API void tutti_bootstraps_risks(const tutti_bootstraps *bootstraps, const double *losses, double *risks);

TUTTI_END_DECLS
#endif
