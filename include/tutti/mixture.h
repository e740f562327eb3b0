/* mixture.h - what an ensemble predicts for a number: a mixture of its members' Gaussians. Variances below the smallest
   normal float32 count as that. */
#ifndef TUTTI_MIXTURE_H
#define TUTTI_MIXTURE_H

#include <tutti/metrics.h>

TUTTI_BEGIN_DECLS

/* The law of total variance: variance = aleatoric + epistemic. Never grows. */
struct tutti_moments {
  double mean, aleatoric, epistemic, variance;
};
/* The mean of a mixture and the parts of its variance. */
TUTTI_API struct tutti_moments tutti_mixture_moments(const struct tutti_mixture *mixture,
                                                     enum tutti_epistemic epistemic);
/* -log of the mixture's density at `value`, in nats. */
TUTTI_API double tutti_mixture_nll(const struct tutti_mixture *mixture, double value);
/* The continuous ranked probability score of a mixture for `value`, in the target's unit, in closed form (Grimit et al.
   2006). Takes O(members^2) steps. */
TUTTI_API double tutti_mixture_crps(const struct tutti_mixture *mixture, double value);

/* The continuous ranked probability score of N(mean, variance) for `value`, in the target's unit. */
TUTTI_API double tutti_gaussian_crps(double mean, double variance, double value);

TUTTI_END_DECLS
#endif
