/* evolution.h - draws parents from a whole history, with replacement, the fitter ones more often (Kandasamy,
   Neiswanger, Schneider, Poczos, Xing, "Neural Architecture Search with Bayesian Optimisation and Optimal Transport",
   NeurIPS 2018, section 4). For builders that evolve candidates and maximisers that evolve an acquisition. */
#ifndef TUTTI_EVOLUTION_H
#define TUTTI_EVOLUTION_H

#include <tutti/random.h>

TUTTI_BEGIN_DECLS

/* Turn fitness[count] (finite, larger is fitter) into cumulative shares: p_i is proportional to exp((fitness_i - mean)
   / (spread * deviation)), and uniform if all are equal. cumulative[count] may be `fitness` itself and ends in 1. count
   >= 1, spread > 0; its published program's spread is 2. */
TUTTI_API void tutti_evolution_shares(size_t count, const double *fitness, double spread, double *cumulative);
/* Draw an index < count by cumulative[count]. */
TUTTI_API size_t tutti_evolution_draw(struct tutti_random *random, size_t count, const double *cumulative);

TUTTI_END_DECLS
#endif
