/* run_times.h - what predictions take, as the reports of trials tell: measured once, where a trial was trained, and
   kept from then on, so that whatever chooses by it chooses the same again. */
#ifndef TUTTI_RUN_TIMES_H
#define TUTTI_RUN_TIMES_H

#include "manager_impl.h"

/* Give the report of a trial that was trained again the time that its report `before` tells, if there is one; *report
   is replaced. */
TUTTI_NODISCARD enum tutti_status tutti_run_times_keep(tutti_context *context, const char *before, char **report);
/* Measure the models whose weights are there and whose time is not known, one after the other, and record that. Of a
   run that measures no times, none. */
TUTTI_NODISCARD enum tutti_status tutti_run_times_measure(struct tutti_manager *manager);

#endif
