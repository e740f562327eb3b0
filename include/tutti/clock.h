/* clock.h - time that passes. */
#ifndef TUTTI_CLOCK_H
#define TUTTI_CLOCK_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* Seconds since some instant of the past, by a clock that is never set back and goes on while a process waits: a difference
   of two is how long something took. Executors and backends measure with it what they report, so that hosts may compare it
   with times of their own. Safe on any thread. */
TUTTI_API double tutti_clock(void);

TUTTI_END_DECLS
#endif
