/* run_rule.h - what a pruner asks of a trial, as text that travels with its request, and the curve that comes back. */
#ifndef TUTTI_RUN_RULE_H
#define TUTTI_RUN_RULE_H

#include "run_impl.h"

#include <tutti/hosting.h>

/* Members of a report: validation and training losses after each epoch, and why it was pruned. */
#define TUTTI_REPORT_CURVE "curve"
#define TUTTI_REPORT_TRAINING "training_curve"
#define TUTTI_REPORT_PRUNED "pruned"

/* The rule of a trial as JSON, "[[epoch, measure, "threshold", of training losses], ...]"; free *text with
   tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_rule_print(tutti_context *context, tutti_pruner *pruner, uint64_t trial,
                                                       char **text);
/* The same back; the caller destroys *rule. TUTTI_ERROR_CORRUPT: it is no rule. */
TUTTI_NODISCARD enum tutti_status tutti_run_rule_parse(tutti_context *context, const json_t *array, tutti_rule **rule);
/* The losses of a curve for a report: an array, with null where there is none. */
json_t *tutti_run_curve_print(size_t epochs, const double *losses);
/* For the report of a pruned trial, by its curve: {"epoch", "losses", "measure", "reached", "at_most"} of the rung at
   which it ended; NULL: at none. */
json_t *tutti_run_pruned_print(const tutti_rule *rule, const struct tutti_curve *curve);
/* Log the same, as a report says it. */
void tutti_run_pruned_log(tutti_context *context, uint64_t trial, const char *report);
/* Tell a pruner how a trial went, by the curve in its report; without one, that it had no epochs. */
TUTTI_NODISCARD enum tutti_status tutti_run_tell_pruner(tutti_context *context, tutti_pruner *pruner, uint64_t trial,
                                                        const struct tutti_record *record);
/* Make the pruner of an experiment (NULL: one that prunes nothing, which need not be told anything); the caller
   destroys it. `known`: so many trials are told, at most, before the last one is asked for; 0: nobody is to be warned.
   TUTTI_ERROR_USAGE: the backend reports no epochs, or the pruner refuses its parameters. */
TUTTI_NODISCARD enum tutti_status tutti_run_make_pruner(tutti_context *context,
                                                        const struct tutti_experiment *experiment, uint64_t known,
                                                        tutti_pruner **pruner);

#endif
