/* dates_impl.h - dates and times in cells; for engine/data/ alone. */
#ifndef TUTTI_DATES_IMPL_H
#define TUTTI_DATES_IMPL_H

#include "config_impl.h"

#include <stdbool.h>
#include <tutti/rows.h>

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

/* Read the date in a cell, in the format or, since that cannot be misread, as in 2026-01-31: so programs write dates. A
   number such as 20240131 is one if the format is given and writes that date in the same digits; leading zeros are lost
   in a number, which then could be read as another date. */
bool tutti_date_read_cell(const char *format, const tutti_rows *table, size_t row, size_t column, double *days,
                          bool *time);

enum { TUTTI_DATE_FORMAT_ROOM = 128 };
/* How dates of a column are written: what data.date_formats says of it (*named), which is copied to `room`, else
   data.date_format. */
const char *tutti_date_format_of(const struct tutti_data_config *config, const char *column,
                                 char room[TUTTI_DATE_FORMAT_ROOM], bool *named);
/* TUTTI_ERROR_USAGE: data.date_formats is no list of columns with formats, or names a column twice, or one that the
   table lacks, or that is neither an input nor ignored by its role: roles[columns]. */
TUTTI_NODISCARD enum tutti_status tutti_date_formats_check(tutti_context *context,
                                                           const struct tutti_data_config *config,
                                                           const tutti_rows *table, const uint8_t *roles);

#endif
