/* evolution.h - how parents are drawn where the whole history evolves: the fitter, the likelier, with replacement (Kandasamy,
   Neiswanger, Schneider, Poczos, Xing, "Neural Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS
   2018, section 4). For builders that evolve candidates and maximisers that evolve an acquisition. */
#ifndef TUTTI_EVOLUTION_H
#define TUTTI_EVOLUTION_H

#include <tutti/random.h>

TUTTI_BEGIN_DECLS

/* Shares of a draw: p_i is proportional to exp((fitness_i - mean) / (spread * deviation)), uniform where all are equal; larger
   is fitter. cumulative[count], which may be `fitness` itself, ends in 1. Fitness must be finite, count >= 1 and spread > 0; the paper's spread is 2. */
TUTTI_API void tutti_evolution_shares(size_t count, const double *fitness, double spread, double *cumulative);
/* Draw an index by these shares. */
TUTTI_API size_t tutti_evolution_draw(struct tutti_random *random, size_t count, const double *cumulative);

TUTTI_END_DECLS
#endif
