/* kit.h - plugin.h, and what selectors, builders, maximisers and surrogates may build on besides. It is in libtutti,
   too.

     growth.h         selectors that grow an ensemble: parameters, picks, trace
     bayesian.h       a whole builder with a model; design.h and propose.h are its two halves
     population.h     the queue of aging evolution
     evolution.h      parents drawn by fitness
     candidate_set.h  never the same candidate twice
     members.h        surrogates made of networks

   They use ensemble_loss.h (the loss of an ensemble that grows) of plugin.h; bootstraps.h (risks on bootstraps of the
   rows) is for the same authors. */
#ifndef TUTTI_KIT_H
#define TUTTI_KIT_H

#include <tutti/bayesian.h>
#include <tutti/candidate_set.h>
#include <tutti/design.h>
#include <tutti/evolution.h>
#include <tutti/growth.h>
#include <tutti/members.h>
#include <tutti/plugin.h>
#include <tutti/population.h>
#include <tutti/propose.h>

#endif
