/* roles_impl.h - what columns are for; for engine/data/ alone. */
#ifndef TUTTI_ROLES_IMPL_H
#define TUTTI_ROLES_IMPL_H

#include <tutti/rows.h>

#include "engine/data/config_impl.h"

enum tutti_role { ROLE_INPUT, ROLE_CATEGORIES, ROLE_TARGET, ROLE_IGNORED, ROLE_GROUPS };

/* What each column is for, by the lists of the recipe: roles[columns], zero at first (roles.c). */
TUTTI_NODISCARD enum tutti_status tutti_roles_find(tutti_context *context, const struct tutti_data_config *config,
                                                   const tutti_rows *table, uint8_t *roles);

/* TUTTI_ERROR_USAGE: the table has no column that this parameter of [data] names; with the closest name, or all
   (missing_column.c). */
TUTTI_NODISCARD enum tutti_status tutti_missing_column(tutti_context *context, const tutti_rows *table,
                                                       const char *parameter, const char *word);

/* Why a column says nothing about any row. */
enum tutti_useless {
  TUTTI_USEFUL,
  TUTTI_CONSTANT,
  TUTTI_CONSTANT_OR_NONE, /* some of its cells are missing; likewise below */
  TUTTI_ALL_DIFFERENT,
  TUTTI_DIFFERENT_OR_NONE,
  TUTTI_ROW_NUMBERS,
  TUTTI_EMPTY
};
/* Of each row, whether it has all targets: from others nothing is learnt. Free *taught with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_useless_taught(tutti_context *context, const tutti_rows *table,
                                                       const uint8_t *roles, bool **taught);
/* Look at a column: does it have one value alone, texts that all differ, or whole numbers that go up by 1 from row to
   row, and are neither years nor called time? A table of few rows says too little for the last two. Missing cells are
   passed over; but where the recipe makes them an input of their own, a column says at least whether its value is
   there: then one value is of use, and so are texts that all differ, if the recipe joins rare categories. Rows that
   are not taught[rows] do not count for that. */
TUTTI_NODISCARD enum tutti_status tutti_useless_find(tutti_context *context, const struct tutti_data_config *config,
                                                     const tutti_rows *table, const bool *taught, size_t column,
                                                     enum tutti_useless *useless);
/* "has one value", ... */
const char *tutti_useless_text(enum tutti_useless useless);
/* What to set to have the column as an input, with "; " before it; "": nothing is better. */
const char *tutti_useless_advice(const struct tutti_data_config *config, enum tutti_useless useless);
/* Ignore the inputs that are useless, and say so in the log; but row numbers stay where there is no other input.
   roles[columns]. */
TUTTI_NODISCARD enum tutti_status tutti_useless_ignore(tutti_context *context, const struct tutti_data_config *config,
                                                       const tutti_rows *table, uint8_t *roles);

#endif
