/* kit.h - what the authors of selectors, builders, surrogates and maximisers may build on, beside plugin.h: all of it in libtutti.

   growth.h         selectors that grow an ensemble: parameters, picks, trace
   ensemble_loss.h  the loss of an ensemble that grows
   bootstraps.h     bootstraps of a split's rows, and risks on them
   diversity.h      how different candidates are
   bayesian.h       a whole builder with a model; design.h, propose.h: its two halves
   population.h     the queue of aging evolution
   evolution.h      parents drawn by fitness
   candidate_set.h  never the same candidate twice */
#ifndef TUTTI_KIT_H
#define TUTTI_KIT_H

#include <tutti/bayesian.h>
#include <tutti/bootstraps.h>
#include <tutti/candidate_set.h>
#include <tutti/design.h>
#include <tutti/diversity.h>
#include <tutti/ensemble_loss.h>
#include <tutti/evolution.h>
#include <tutti/growth.h>
#include <tutti/plugin.h>
#include <tutti/population.h>
#include <tutti/propose.h>

#endif
