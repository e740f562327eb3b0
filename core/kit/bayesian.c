/* bayesian.c - the operations of builders with one model over the whole scope. */
#include <tutti/bayesian.h>

#include "core/base/json_impl.h"
#include <tutti/sized.h>

#include <math.h>
#include <stdio.h>

struct tutti_bayesian {
  struct tutti_design design;
  tutti_proposer *proposer;
  bool exhausted;
};

void tutti_bayesian_destroy(void *self) {
  tutti_bayesian *bayesian = self;
  if (!bayesian)
    return;
  tutti_proposer_destroy(bayesian->proposer);
  tutti_free(bayesian);
}

enum tutti_status tutti_bayesian_create(tutti_context *context, const struct tutti_design *design,
                                        const struct tutti_proposer_setup *proposer, tutti_bayesian **bayesian) {
  enum tutti_status status;
  struct tutti_proposer_setup setup;
  tutti_bayesian *made = NULL;
  *bayesian = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TAKE(&made->design, design);
  TUTTI_TRY_OUT(context, tutti_design_check(context, &made->design));
  TUTTI_TAKE(&setup, proposer);
  if (setup.calibrate == 0)
    setup.calibrate = (size_t)made->design.initial;
  TUTTI_TRY_OUT(context, tutti_proposer_create(context, &setup, &made->proposer));
  *bayesian = made;
  return TUTTI_OK;
out:
  tutti_bayesian_destroy(made);
  return status;
}

tutti_proposer *tutti_bayesian_proposer(const tutti_bayesian *bayesian) { return bayesian->proposer; }

enum tutti_status tutti_bayesian_adopt(void *self, tutti_context *context, uint64_t trial,
                                       const struct tutti_proposal *proposal) {
  return tutti_proposer_asked(context, ((tutti_bayesian *)self)->proposer, trial, proposal->candidate);
}

enum tutti_status tutti_bayesian_ask(void *self, tutti_context *context, uint64_t trial,
                                     struct tutti_proposal *proposal) {
  tutti_bayesian *bayesian = self;
  tutti_proposer *proposer = bayesian->proposer;
  const char *name = tutti_acquisition_descriptor(tutti_proposer_acquisition(proposer))->name;
  bool design = trial < bayesian->design.initial;
  double worth = NAN;
  if (design)
    TUTTI_TRY(context, tutti_design_candidate(context, &bayesian->design, trial, tutti_proposer_known(proposer),
                                              &proposal->candidate));
  bool drawn = design && !proposal->candidate;
  if (drawn)
    TUTTI_TRY(context, tutti_proposer_draw(context, proposer, trial, &proposal->candidate));
  else if (!design)
    TUTTI_TRY(context, tutti_proposer_propose(context, proposer, trial, &proposal->candidate, &worth));
  proposal->parent = TUTTI_NO_TRIAL;
  if (isnan(worth))
    (void)snprintf(proposal->origin, sizeof proposal->origin, "%s", design && !drawn ? "design" : "random");
  else
    (void)snprintf(proposal->origin, sizeof proposal->origin, "%s %.4g", name, worth);
  bayesian->exhausted = !proposal->candidate;
  return proposal->candidate ? tutti_bayesian_adopt(self, context, trial, proposal) : TUTTI_OK;
}

enum tutti_status tutti_bayesian_tell(void *self, tutti_context *context, const struct tutti_result *result) {
  double loss = result->state == TUTTI_STATE_FINISHED ? result->loss : NAN;
  return tutti_proposer_told(context, ((tutti_bayesian *)self)->proposer, result->trial, result->candidate, loss);
}

bool tutti_bayesian_exhausted(void *self) { return ((const tutti_bayesian *)self)->exhausted; }

enum tutti_status tutti_bayesian_describe(void *self, tutti_context *context, char **json) {
  tutti_proposer *proposer = ((tutti_bayesian *)self)->proposer;
  char *state;
  TUTTI_TRY(context,
            tutti_json_line(context,
                            json_pack("{s:I, s:I, s:I, s:o}", "asked", (json_int_t)tutti_proposer_asked_count(proposer),
                                      "observed", (json_int_t)tutti_proposer_observed_count(proposer), "pending",
                                      (json_int_t)tutti_proposer_pending_count(proposer), "best",
                                      tutti_json_number(tutti_proposer_best(proposer))),
                            &state));
  enum tutti_status status = tutti_proposer_describe_in(context, proposer, state, json);
  tutti_free(state);
  return status;
}
