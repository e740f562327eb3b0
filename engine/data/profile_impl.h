/* profile_impl.h - what a table holds, before anything is made of it: for people who want to know what a recipe would
   do with it, and why it is refused; for engine/ alone. */
#ifndef TUTTI_PROFILE_IMPL_H
#define TUTTI_PROFILE_IMPL_H

#include <tutti/data.h>

#include "engine/data/dates_impl.h"
#include "engine/data/levels_impl.h"
#include "engine/data/roles_impl.h"

/* What a column holds. */
enum tutti_content {
  TUTTI_CONTENT_NUMBERS,
  TUTTI_CONTENT_TEXTS,
  TUTTI_CONTENT_DATES,
  TUTTI_CONTENT_MIXED,
  TUTTI_CONTENT_CATEGORIES, /* the recipe names it as such: numbers are texts like others */
  TUTTI_CONTENT_NOTHING
};

/* Some texts of a column that are dates of one form. */
struct tutti_date_form {
  const char *format; /* in words of strptime; "": as in 2026-01-31. Borrowed of the recipe, or static */
  size_t rows, first; /* how many, and the row of the first */
};
/* The forms in which the texts of a column are dates: that which reads the most of them, then that which reads the most
   of the others, ... */
enum { TUTTI_DATE_FORMS = 3, TUTTI_DATE_FORMS_ROOM = 384 };
struct tutti_date_forms {
  size_t count; /* 0: more than a tenth of the texts are no dates */
  struct tutti_date_form form[TUTTI_DATE_FORMS];
  size_t others, first_other; /* texts that are no dates, and the row of the first */
};

enum { TUTTI_PROFILE_SHOWN = 5 }; /* so many of the most frequent values are named */

struct tutti_profile_column {
  const char *name; /* borrowed of the table */
  enum tutti_role role;
  enum tutti_content content;
  enum tutti_useless useless;
  size_t numbers, texts, dates, missing, infinite; /* dates are texts or numbers, too */
  size_t zeros;                                    /* numbers with zeros before them, as codes have */
  size_t first_text, first_other;                  /* the row of the first text, and of the first that is no date */
  size_t first_zero;                               /* and of the first number with zeros */
  struct tutti_date_forms forms;                   /* of texts of a column that the recipe could take for dates */
  double low, high, mean, deviation;               /* of numbers, or of the days of dates; NaN without */
  bool whole;                                      /* all numbers are whole */
  size_t placeholders;                             /* of numbers: rows with the next one */
  double placeholder;                              /* -999 or the like, far from all others */
  const char *spellings[2];                        /* of texts: two that differ in capitals alone, or NULL */
  const char *same_code;                           /* of categories: 007 where 7 is another one's text, or NULL */
  double code;                                     /* the number that it is */
  size_t levels;                                   /* different values: of texts, or of numbers */
  size_t rarest;                                   /* rows of the value that is rarest */
  double alike;                                    /* the share of all pairs of rows that have the same value */
  size_t kept, kept_rows;                          /* of texts: the levels that stay categories, and their rows */
  struct tutti_level most[TUTTI_PROFILE_SHOWN];    /* of texts: the most frequent ones, borrowed of the table */
  char (*printed)[32];                             /* the numbers among categories; the caller frees it */
};

/* A sign that all texts of a column have before or behind what is otherwise a number, as $ or %, and whether one of the
   numbers has a decimal comma; and the text that all its texts are. Letters before whole numbers, as in user 17, are
   names and no signs. Written to a text of so many bytes; false: there is none (profile_marks.c). */
enum { TUTTI_MARK_ROOM = 64 };
bool tutti_profile_sign(const tutti_rows *table, size_t column, char sign[TUTTI_MARK_ROOM], bool *comma);
/* Is it a minus sign, of whatever kind and length? Without it a number would be another one. */
bool tutti_profile_is_minus(const char *mark);
/* Has a column at most 20 different texts? */
bool tutti_profile_has_few(const tutti_rows *table, size_t column);
/* Few different texts that have the same sign, as 1A to 4A or #1 to #3, are names, whatever their numbers; but not if
   that is a currency or a percent sign. */
bool tutti_profile_is_name(const tutti_rows *table, size_t column, const char *sign);
bool tutti_profile_mark(const tutti_rows *table, size_t column, char mark[TUTTI_MARK_ROOM]);
/* The ways to write a date, in words of strptime, in which each text of a column is one, as "%d/%m/%Y or %m/%d/%Y";
   false: there is none among the usual ones (profile_dates.c). */
bool tutti_profile_date_formats(const tutti_rows *table, size_t column, char formats[TUTTI_DATE_FORMAT_ROOM]);

/* Is each text of a column a date, in this format or as in 2026-01-31? */
bool tutti_profile_dates(const tutti_rows *table, size_t column, const char *format);

/* Find the forms of a column's dates. */
TUTTI_NODISCARD enum tutti_status tutti_profile_date_forms(tutti_context *context,
                                                           const struct tutti_data_config *config,
                                                           const tutti_rows *table, size_t column,
                                                           struct tutti_date_forms *forms);
/* Print them with their first texts: "2 as '2026-01-31' (line 2, %Y-%m-%d), 1 as '1.2.26' (line 4, %d.%m.%y); 1 is no
   date: 'soon' (line 5)". */
void tutti_profile_print_forms(const tutti_rows *table, size_t column, const struct tutti_date_forms *forms,
                               char text[TUTTI_DATE_FORMS_ROOM]);
/* Is each text of a column a number with a decimal comma? */
bool tutti_profile_decimal_commas(const tutti_rows *table, size_t column);
/* Find two codes that are the same number, of a column whose numbers were counted (profile_codes.c). */
TUTTI_NODISCARD enum tutti_status tutti_profile_codes(tutti_context *context, const tutti_rows *table, size_t column,
                                                      struct tutti_profile_column *profile);
/* How many rows are exact copies of earlier ones, in the inputs and targets among the columns: roles[columns]. Rows are
   told apart by 64 bits, which two of a million share once in 10^7 tables (profile_copies.c). */
TUTTI_NODISCARD enum tutti_status tutti_profile_copies(tutti_context *context, const tutti_rows *table,
                                                       const uint8_t *roles, size_t *copies);
/* Look at a column of a table, whose rows are taught[rows], or not (roles_impl.h). */
TUTTI_NODISCARD enum tutti_status tutti_profile_column(tutti_context *context, const struct tutti_data_config *config,
                                                       const tutti_rows *table, const bool *taught, size_t column,
                                                       struct tutti_profile_column *profile);
/* Read the data of a recipe, and describe its columns and what is worth knowing of them as JSON: rows, columns, and
   warnings, each of which says what to do; of images, their number and shape. Free *json with tutti_free
   (profile_json.c). TUTTI_ERROR_USAGE: the data cannot be read, or [data] names a column that is not there. */
TUTTI_NODISCARD enum tutti_status tutti_profile_print(tutti_context *context, const tutti_config *data,
                                                      tutti_source *source, const char *folder, uint64_t seed,
                                                      char **json);

#endif
