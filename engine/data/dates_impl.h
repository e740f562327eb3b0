/* dates_impl.h - dates and times in cells; for engine/data/ alone. */
#ifndef TUTTI_DATES_IMPL_H
#define TUTTI_DATES_IMPL_H

#include <stdbool.h>

/* The cycles of a date, in the order of their features: each a sine and a cosine. */
enum tutti_cycle { TUTTI_CYCLE_YEAR, TUTTI_CYCLE_WEEK, TUTTI_CYCLE_DAY, TUTTI_CYCLES };
/* "year", "week", "day". */
extern const char *const tutti_cycle_names[TUTTI_CYCLES];
/* Days in one turn. */
extern const double tutti_cycle_days[TUTTI_CYCLES];

/* Read a date, in a format of strptime or, if that is empty, as in 2026-01-31 with or without a time of day: T12:30,
   12:30:00, 12:30:00.5, maybe with Z or an offset as in +01:00. Sets *days, the days since the beginning of 1970 (UTC,
   unless an offset is given), and *time: whether it has a time of day. False: it is no date. */
bool tutti_date_read(const char *format, const char *text, double *days, bool *time);

#endif
