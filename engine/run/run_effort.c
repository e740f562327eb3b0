/* run_effort.c - tells what a manager's work has cost. */
#include "manager_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* The seconds that the processor has worked for this process. */
static double processor(void) {
  struct timespec time = {0};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tutti_effort_begin_step(struct tutti_effort *effort) {
  effort->began = tutti_clock();
  effort->began_processor = processor();
  memcpy(effort->began_parts, effort->seconds, sizeof effort->seconds);
}

void tutti_effort_end_step(struct tutti_effort *effort) {
  double took = tutti_clock() - effort->began;
  if (effort->began == 0)
    return;
  effort->busiest = fmax(effort->busiest, processor() - effort->began_processor);
  if (took <= effort->longest)
    return;
  effort->longest = took;
  for (int i = 0; i < TUTTI_EFFORT_PARTS; i++)
    effort->longest_parts[i] = effort->seconds[i] - effort->began_parts[i];
}

void tutti_effort_log(const struct tutti_manager *manager) {
  const struct tutti_effort *effort = &manager->effort;
  const double *seconds = effort->seconds;
  const uint64_t *times = effort->times;
  tutti_context *context = manager->context;
  struct rusage usage = {0};
  char *said = NULL;
  (void)getrusage(RUSAGE_SELF, &usage);
  tutti_log(
      context, TUTTI_LOG_INFO,
      "manager: %" PRIu64 " asks in %.4g s (%.4g ms each), %" PRIu64 " results told in %.4g s, %" PRIu64
      " commits in %.4g s, %" PRIu64
      " replies in %.4g s, status in %.4g s, waited for %.4g s; the longest step took %.4g s (asks %.4g, results %.4g, "
      "commits %.4g, replies %.4g, status %.4g), none more than %.4g s of the processor; memory %.4g MiB",
      times[TUTTI_EFFORT_ASK], seconds[TUTTI_EFFORT_ASK],
      times[TUTTI_EFFORT_ASK] ? 1e3 * seconds[TUTTI_EFFORT_ASK] / (double)times[TUTTI_EFFORT_ASK] : 0,
      times[TUTTI_EFFORT_TELL], seconds[TUTTI_EFFORT_TELL], times[TUTTI_EFFORT_RECORD], seconds[TUTTI_EFFORT_RECORD],
      times[TUTTI_EFFORT_REPLY], seconds[TUTTI_EFFORT_REPLY], seconds[TUTTI_EFFORT_STATUS], seconds[TUTTI_EFFORT_WAIT],
      effort->longest, effort->longest_parts[TUTTI_EFFORT_ASK], effort->longest_parts[TUTTI_EFFORT_TELL],
      effort->longest_parts[TUTTI_EFFORT_RECORD], effort->longest_parts[TUTTI_EFFORT_REPLY],
      effort->longest_parts[TUTTI_EFFORT_STATUS], effort->busiest, (double)usage.ru_maxrss / 1024);
  if (!manager->executor)
    return;
  if (tutti_executor_describe(context, manager->executor, &said) != TUTTI_OK)
    tutti_error_clear(context);
  if (said)
    tutti_log(context, TUTTI_LOG_INFO, "executor %s: %s", tutti_executor_descriptor(manager->executor)->name, said);
  tutti_free(said);
}
