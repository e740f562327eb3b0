/* clock.h - a clock that measures how long something takes. */
#ifndef TUTTI_CLOCK_H
#define TUTTI_CLOCK_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* Seconds since some instant in the past. The clock is never set back and runs on while a process waits, so that the
   difference of two readings is how long something took. Executors and backends measure with it what they report: hosts
   may compare that with times of their own. Safe on any thread. */
TUTTI_API double tutti_clock(void);

TUTTI_END_DECLS
#endif
