/* roles.c - which columns of a table are inputs and targets, and whether they are numbers or categories. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

#include "cells_impl.h"
#include "encoding_impl.h"
#include "partition_impl.h"
#include "levels_impl.h"
#include "profile_impl.h"
#include "roles_impl.h"

/* --- lists of columns --- */

static size_t find_column(const tutti_rows *table, const char *word) {
  char *end;
  size_t named = tutti_rows_find(table, word);
  if (named != SIZE_MAX)
    return named;
  long number = strtol(word, &end, 10);
  if (end == word || *end != '\0')
    return SIZE_MAX;
  if (number < 0)
    number += (long)tutti_rows_columns(table);
  return number >= 0 && (size_t)number < tutti_rows_columns(table) ? (size_t)number : SIZE_MAX;
}

/* Of a list with a word that is no column: the list, if it is nearly the name of a column with blanks, or the word. */
static const char *wrong_name(const tutti_rows *table, const char *list, const char *word) {
  return !tutti_list_find(list, ",") && *list != '"' &&
                 tutti_closest_name(list, tutti_rows_columns(table), tutti_rows_names(table))
             ? list
             : word;
}

static enum tutti_status give_role(tutti_context *context, const tutti_rows *table, const char *parameter,
                                   const char *list, const char *word, enum tutti_role role, uint8_t *roles) {
  size_t column = find_column(table, word);
  if (column == SIZE_MAX)
    return tutti_missing_column(context, table, parameter, wrong_name(table, list, word));
  if (roles[column] != ROLE_INPUT)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%s: column '%s' is named twice, here or in another parameter",
                      parameter, tutti_rows_names(table)[column]);
  roles[column] = (uint8_t)role;
  return TUTTI_OK;
}

/* A list is separated by commas. Without a comma it is one name if there is such a column, otherwise names separated by
   blanks. A name in quotes may have either in it. */
static enum tutti_status give_roles(tutti_context *context, const tutti_rows *table, const char *parameter,
                                    const char *list, enum tutti_role role, uint8_t *roles) {
  enum tutti_status status = TUTTI_OK;
  const char *rest = list, *item, *separators = tutti_list_find(list, ",") ? "," : " \t";
  char *word = NULL;
  size_t length;
  if (separators[0] != ',' && find_column(table, list) != SIZE_MAX)
    return give_role(context, table, parameter, list, list, role, roles);
  TUTTI_TRY_OUT(context, tutti_alloc(context, strlen(list) + 1, 1, &word));
  while (tutti_list_next(&rest, separators, &item, &length)) {
    memcpy(word, item, length);
    word[length] = '\0';
    TUTTI_TRY_OUT(context, give_role(context, table, parameter, list, word, role, roles));
  }
out:
  tutti_free(word);
  return status;
}

enum tutti_status tutti_roles_find(tutti_context *context, const struct tutti_data_config *config,
                                   const tutti_rows *table, uint8_t *roles) {
  if (tutti_rows_targets(table) && config->target[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.target: the targets come from data.target_path; give one of the two");
  for (size_t i = tutti_rows_columns(table) - tutti_rows_targets(table); i < tutti_rows_columns(table); i++)
    roles[i] = ROLE_TARGET;
  if (!tutti_rows_targets(table))
    TUTTI_TRY(context,
              give_roles(context, table, "target", config->target[0] ? config->target : "-1", ROLE_TARGET, roles));
  TUTTI_TRY(context, give_roles(context, table, "ignore", config->ignore, ROLE_IGNORED, roles));
  TUTTI_TRY(context, give_roles(context, table, "groups", config->groups, ROLE_GROUPS, roles));
  TUTTI_TRY(context, give_roles(context, table, "categorical", config->categorical, ROLE_CATEGORIES, roles));
  return tutti_date_formats_check(context, config, table, roles);
}

/* --- cells --- */

static bool is_empty(const tutti_rows *table, size_t column) {
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_MISSING)
      return false;
  return true;
}

/* A column without a value in any row. */
static enum tutti_status refuse_empty(tutti_context *context, const tutti_rows *table, size_t column, bool target) {
  const char *name = tutti_rows_names(table)[column];
  char room[TUTTI_QUOTED_ROOM];
  size_t rows = tutti_rows_count(table);
  if (target)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the target '%s' has no value in any of the %zu %s; if lines end with a delimiter, the last "
                      "column is empty: name the target in data.target, or count from there (-2)",
                      tutti_rows_origin(table), name, rows, tutti_plural(rows, "row", "rows"));
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: column '%s' has no value in any of the %zu %s; data.ignore = %s leaves it out, data.useless = "
                    "ignore all such columns",
                    tutti_rows_origin(table), name, rows, tutti_plural(rows, "row", "rows"),
                    tutti_quoted(name, ",", room));
}

static enum tutti_status refuse_missing_target(tutti_context *context, const tutti_rows *table, size_t row,
                                               size_t column) {
  return tutti_cell_fail(context, table, row, column,
                         "the target is missing or NaN; data.missing_target = drop leaves such rows out");
}

static enum tutti_status refuse_missing_input(tutti_context *context, const tutti_rows *table, size_t row,
                                              size_t column) {
  return tutti_cell_fail(
      context, table, row, column,
      "the value is missing; data.missing = mean fills in the training rows' mean, indicator says so "
      "in an input of its own, too, drop leaves such rows out");
}

static enum tutti_status refuse_infinite(tutti_context *context, const tutti_rows *table, size_t row, size_t column,
                                         bool target) {
  const char *what = target ? "target" : "number", *text = tutti_rows_text(table, row, column);
  if (!*text)
    return tutti_cell_fail(context, table, row, column, "expected a finite %s, found infinity", what);
  return tutti_cell_fail(
      context, table, row, column,
      "expected a finite %s, found '%.60s'; mend it, or, if it says that the value is missing, name it "
      "in data.missing_marks",
      what, text);
}

/* Drop the row with a missing cell, as the recipe wants it, or refuse a missing target, and a missing input unless
   something can stand for it. */
static enum tutti_status look_at_cell(tutti_context *context, const struct tutti_data_config *config,
                                      const tutti_rows *table, size_t row, size_t column, bool target, uint8_t *split) {
  enum tutti_cell cell = tutti_rows_cell(table, row, column);
  if (cell == TUTTI_CELL_INFINITE)
    return refuse_infinite(context, table, row, column, target);
  if (cell != TUTTI_CELL_MISSING)
    return TUTTI_OK;
  if (config->missing == TUTTI_MISSING_DROP || (target && config->missing_target == TUTTI_MISSING_TARGET_DROP))
    split[row] = TUTTI_UNUSED;
  else if (target)
    return refuse_missing_target(context, table, row, column);
  else if (config->missing == TUTTI_MISSING_ERROR)
    return refuse_missing_input(context, table, row, column);
  return TUTTI_OK;
}

/* Drop a row that belongs to no group, where such rows are dropped. */
static void look_at_group(const struct tutti_data_config *config, const tutti_rows *table, size_t row, size_t column,
                          uint8_t *split) {
  if (config->missing == TUTTI_MISSING_DROP && tutti_rows_cell(table, row, column) == TUTTI_CELL_MISSING)
    split[row] = TUTTI_UNUSED;
}

/* Targets come first: of a row that is dropped for its target, the inputs do not matter. */
static enum tutti_status find_missing(tutti_context *context, const struct tutti_data_config *config,
                                      const tutti_rows *table, const uint8_t *roles, uint8_t *split) {
  for (int target = 1; target >= 0; target--)
    for (size_t c = 0; c < tutti_rows_columns(table); c++)
      if (roles[c] == (target ? ROLE_TARGET : ROLE_INPUT) && is_empty(table, c))
        return refuse_empty(context, table, c, target);
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    for (int target = 1; target >= 0; target--)
      for (size_t c = 0; c < tutti_rows_columns(table) && split[r] != TUTTI_UNUSED; c++)
        if (roles[c] < ROLE_IGNORED && (roles[c] == ROLE_TARGET) == target)
          TUTTI_TRY(context, look_at_cell(context, config, table, r, c, target, split));
        else if (roles[c] == ROLE_GROUPS)
          look_at_group(config, table, r, c, split);
  return TUTTI_OK;
}

/* The number of rows with a number, with a text and with nothing in a column, and the first row with a text. */
struct census {
  size_t numbers, texts, missing, first_text;
};

static struct census count_cells(const tutti_rows *table, const uint8_t *split, size_t column) {
  struct census census = {0};
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (split[r] == TUTTI_UNUSED)
      continue;
    enum tutti_cell cell = tutti_rows_cell(table, r, column);
    census.numbers += cell == TUTTI_CELL_NUMBER;
    census.missing += cell == TUTTI_CELL_MISSING;
    if (cell == TUTTI_CELL_TEXT && census.texts++ == 0)
      census.first_text = r;
  }
  return census;
}

/* Categories have no mean: a missing cell is an error, unless it is a category of its own. */
static enum tutti_status check_none_missing(tutti_context *context, const tutti_rows *table, const uint8_t *split,
                                            bool allowed, const struct tutti_data_column *column) {
  for (size_t r = 0; r < tutti_rows_count(table) && !allowed; r++)
    if (split[r] != TUTTI_UNUSED && tutti_rows_cell(table, r, column->position) == TUTTI_CELL_MISSING)
      return tutti_cell_fail(context, table, r, column->position,
                             "the value is missing, and categories have no mean; data.missing = indicator makes it a "
                             "category, drop leaves such rows out");
  return TUTTI_OK;
}

static enum tutti_status check_utf8(tutti_context *context, const tutti_rows *table, size_t position) {
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    TUTTI_TRY(context, tutti_cell_check_utf8(context, table, r, position));
  return TUTTI_OK;
}

/* Add the categories of a column, of which missing cells may be one. */
static enum tutti_status collect_categories(tutti_context *context, const tutti_rows *table, const uint8_t *split,
                                            struct tutti_data_column *column) {
  char buffer[32];
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    bool none = tutti_rows_cell(table, r, column->position) == TUTTI_CELL_MISSING;
    const char *category = none ? TUTTI_CATEGORY_MISSING : tutti_category_of(table, r, column->position, buffer);
    if (split[r] != TUTTI_UNUSED)
      TUTTI_TRY(context, tutti_category_add(context, column, category));
  }
  return TUTTI_OK;
}

/* Add the categories of sorted texts: the frequent ones. The others become one. */
static enum tutti_status add_frequent(tutti_context *context, const struct tutti_data_config *config, size_t count,
                                      const char *const *sorted, struct tutti_data_column *column) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_level *levels = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *levels, &levels));
  const size_t found = tutti_levels_count(count, sorted, levels), kept = tutti_levels_kept(config, found, levels);
  for (size_t l = 0; l < kept; l++)
    TUTTI_TRY_OUT(context, tutti_category_add(context, column, levels[l].text));
  if (kept < found)
    TUTTI_TRY_OUT(context, tutti_category_add(context, column, TUTTI_CATEGORY_OTHER));
out:
  tutti_free(levels);
  return status;
}

/* The categories of a column, rare ones together. They are counted first, since there may be more than a column may
   have. */
static enum tutti_status collect_frequent(tutti_context *context, const struct tutti_data_config *config,
                                          const tutti_rows *table, const uint8_t *split,
                                          struct tutti_data_column *column) {
  enum tutti_status status = TUTTI_OK;
  size_t rows = tutti_rows_count(table), count = 0;
  bool missing = false;
  char **texts = NULL, buffer[32];
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *texts, &texts));
  for (size_t r = 0; r < rows; r++) {
    if (split[r] == TUTTI_UNUSED)
      continue;
    if (tutti_rows_cell(table, r, column->position) == TUTTI_CELL_MISSING)
      missing = true;
    else
      TUTTI_TRY_OUT(context,
                    tutti_strdup(context, tutti_category_of(table, r, column->position, buffer), &texts[count++]));
  }
  qsort(texts, count, sizeof *texts, tutti_compare_texts);
  TUTTI_TRY_OUT(context, add_frequent(context, config, count, (const char *const *)texts, column));
  if (missing)
    TUTTI_TRY_OUT(context, tutti_category_add(context, column, TUTTI_CATEGORY_MISSING));
out:
  for (size_t i = 0; texts && i < count; i++)
    tutti_free(texts[i]);
  tutti_free(texts);
  return status;
}

static enum tutti_status take_categories(tutti_context *context, const struct tutti_data_config *config,
                                         const tutti_rows *table, const uint8_t *split,
                                         struct tutti_data_column *column) {
  TUTTI_TRY(context, check_utf8(context, table, column->position));
  TUTTI_TRY(context, check_none_missing(context, table, split, config->missing == TUTTI_MISSING_INDICATOR, column));
  return config->rare > 0 || config->most_categories > 0 ? collect_frequent(context, config, table, split, column)
                                                         : collect_categories(context, table, split, column);
}

/* Are the cells of a column dates? Then it is a column of dates; one among them that is none is a mistake, unless dates
   are the exception. In a column that is `named` as one of dates it always is. */
static enum tutti_status take_dates(tutti_context *context, const struct tutti_data_config *config,
                                    const tutti_rows *table, const uint8_t *split, const char *format, bool named,
                                    struct tutti_data_column *column) {
  bool times = false, time;
  size_t dates = 0, others = 0, first = 0;
  double days;
  char buffer[32];
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (split[r] == TUTTI_UNUSED || tutti_rows_cell(table, r, column->position) == TUTTI_CELL_MISSING)
      continue;
    if (tutti_date_read_cell(format, table, r, column->position, &days, &time)) {
      times = times || time;
      dates++;
    } else if (others++ == 0) {
      first = r;
    }
  }
  if (named && others > 0)
    return tutti_cell_fail(context, table, first, column->position,
                           "expected a date, written as %s (data.date_formats), found '%.60s'", format,
                           tutti_category_of(table, first, column->position, buffer));
  if (dates <= others)
    return TUTTI_OK;
  if (others > 0)
    return tutti_cell_fail(context, table, first, column->position,
                           "expected a date as in %zu other %s, found '%.60s'; mend it, or set data.dates = texts",
                           dates, tutti_plural(dates, "row", "rows"), tutti_rows_text(table, first, column->position));
  column->cycles = config->dates == TUTTI_DATES_NUMBERS ? 0 : times ? TUTTI_CYCLES : TUTTI_CYCLE_DAY;
  return tutti_strdup(context, format, &column->date_format);
}

static enum tutti_status start_column(tutti_context *context, const tutti_rows *table, size_t position,
                                      struct tutti_data_column *column) {
  column->position = position;
  TUTTI_TRY(context, tutti_name_check_utf8(context, table, position));
  return tutti_strdup(context, tutti_rows_names(table)[position], &column->name);
}

static enum tutti_status take_input(tutti_context *context, const struct tutti_data_config *config,
                                    const tutti_rows *table, const uint8_t *split, size_t position, bool categories,
                                    struct tutti_data_column *column) {
  struct census census = count_cells(table, split, position);
  bool texts = census.texts > 0 && census.numbers == 0;
  bool named;
  char room[TUTTI_DATE_FORMAT_ROOM], quoted[TUTTI_QUOTED_ROOM];
  TUTTI_TRY(context, start_column(context, table, position, column));
  const char *format = tutti_date_format_of(config, tutti_rows_names(table)[position], room, &named);
  if ((texts || named) && !categories && config->dates != TUTTI_DATES_TEXTS)
    TUTTI_TRY(context, take_dates(context, config, table, split, format, named, column));
  if (categories || (texts && !column->date_format))
    return take_categories(context, config, table, split, column);
  column->marks_missing = census.missing > 0 && config->missing == TUTTI_MISSING_INDICATOR;
  if (census.texts > 0 && !column->date_format)
    return tutti_cell_fail(
        context, table, census.first_text, position,
        "expected a number as in %zu other %s, found '%.60s'; if numbers are written otherwise, set data.decimal; if "
        "the column holds categories, name it in data.categorical; if it says that the value is missing, set "
        "data.missing_marks = %.64s",
        census.numbers, tutti_plural(census.numbers, "row", "rows"),
        tutti_rows_text(table, census.first_text, position),
        tutti_quoted(tutti_rows_text(table, census.first_text, position), " \t", quoted));
  return census.numbers + census.texts > 0 ? TUTTI_OK : refuse_empty(context, table, position, false);
}

/* The task: as the recipe says, else as the source says, else as the target implies. */
static bool is_classification(const struct tutti_data_config *config, const tutti_rows *table,
                              const struct census *census) {
  enum tutti_task_kind task;
  if (config->task != TUTTI_TASK_AUTO)
    return config->task == TUTTI_TASK_AS_CLASSIFICATION;
  if (tutti_rows_task(table, &task))
    return task == TUTTI_TASK_CLASSIFICATION;
  return census->texts > 0 && census->numbers == 0;
}

/* One value in all rows is nothing to learn, and every model would be perfect. Numbers so large that they may differ in
   the file and be read alike are told of when they are measured. */
static enum tutti_status check_varies(tutti_context *context, const tutti_rows *table, const uint8_t *split,
                                      size_t position) {
  static const double exact = 0x1p53;
  size_t rows = 0;
  double first = NAN;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    double number = tutti_rows_number(table, r, position);
    if (split[r] == TUTTI_UNUSED)
      continue;
    first = rows == 0 ? number : first;
    if (number != first)
      return TUTTI_OK;
    rows++;
  }
  if (rows < 2 || fabs(first) > exact)
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "%s: the target '%s' is %g in all %zu rows; expected two values or more: name another column in data.target",
      tutti_rows_origin(table), tutti_rows_names(table)[position], first, rows);
}

/* Prices as $1,200 are texts, as dates are, and texts are classes; but nobody wants a class for each price. */
static enum tutti_status check_are_classes(tutti_context *context, const struct tutti_data_config *config,
                                           const tutti_rows *table, size_t position) {
  const char *origin = tutti_rows_origin(table), *name = tutti_rows_names(table)[position];
  bool few = tutti_profile_has_few(table, position);
  char sign[TUTTI_MARK_ROOM];
  bool comma;
  if (!few && tutti_profile_decimal_commas(table, position))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the values of the target '%s' are numbers with decimal commas; data.decimal = comma reads "
                      "them as such; if they are classes, set data.task = classification",
                      origin, name);
  if (!few && tutti_profile_dates(table, position, config->date_format))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s: the values of the target '%s' are dates, which cannot be a target; write numbers, as of days; "
        "if they are classes, set data.task = classification",
        origin, name);
  if (!tutti_profile_sign(table, position, sign, &comma) || tutti_profile_is_name(table, position, sign))
    return TUTTI_OK;
  if (tutti_profile_is_minus(sign))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the values of the target '%s' are numbers but for '%s'; if it is a minus sign, write it as "
                      "'-' before the digits; if they are classes, set data.task = classification",
                      origin, name, sign);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: the values of the target '%s' are numbers but for '%s'; data.strip = %s reads them as such%s; "
                    "if they are classes, set data.task = classification",
                    origin, name, sign, sign, comma ? " (and data.decimal = comma, if commas separate the cells)" : "");
}

static enum tutti_status take_target(tutti_context *context, const struct tutti_data_config *config,
                                     const tutti_rows *table, const uint8_t *split, size_t position,
                                     struct tutti_encoding *encoding, struct tutti_data_column *column) {
  struct census census = count_cells(table, split, position);
  enum tutti_task_kind said;
  bool classes = is_classification(config, table, &census);
  TUTTI_TRY(context, start_column(context, table, position, column));
  if (!classes && census.texts > 0)
    return tutti_cell_fail(context, table, census.first_text, position,
                           "expected a number as target, found '%.60s'; for classes set data.task = classification",
                           tutti_rows_text(table, census.first_text, position));
  encoding->task = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION;
  if (!classes)
    return check_varies(context, table, split, position);
  if (encoding->targets > 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.target: classification takes one column, found %zu",
                      encoding->targets);
  TUTTI_TRY(context, check_utf8(context, table, position));
  if (config->task == TUTTI_TASK_AUTO && !tutti_rows_task(table, &said))
    TUTTI_TRY(context, check_are_classes(context, config, table, position));
  TUTTI_TRY(context, check_none_missing(context, table, split, false, column));
  TUTTI_TRY(context, collect_categories(context, table, split, column));
  if (column->categories < 2)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the target '%s' has %zu %s; expected two or more: name another column in data.target",
                      tutti_rows_origin(table), column->name, column->categories,
                      tutti_plural(column->categories, "class", "classes"));
  return TUTTI_OK;
}

/* --- all of them --- */

/* Every row was left out: for want of a target, or of any value. */
static enum tutti_status refuse_no_rows(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *table) {
  size_t rows = tutti_rows_count(table);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: every one of the %zu %s has a missing %s, so that %s = drop "
                    "leaves none",
                    tutti_rows_origin(table), rows, tutti_plural(rows, "row", "rows"),
                    config->missing == TUTTI_MISSING_DROP ? "value" : "target",
                    config->missing == TUTTI_MISSING_DROP ? "data.missing" : "data.missing_target");
}

static enum tutti_status take_columns(tutti_context *context, const struct tutti_data_config *config,
                                      const tutti_rows *table, const uint8_t *roles, const uint8_t *split,
                                      struct tutti_encoding *encoding) {
  size_t used = 0, inputs = 0, targets = 0;
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    used += split[r] != TUTTI_UNUSED;
  for (size_t c = 0; c < tutti_rows_columns(table); c++) {
    encoding->inputs += roles[c] == ROLE_INPUT || roles[c] == ROLE_CATEGORIES;
    encoding->targets += roles[c] == ROLE_TARGET;
  }
  if (used == 0)
    return refuse_no_rows(context, config, table);
  if (encoding->inputs == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: no column is left as an input: of %zu, %zu %s, and the others were "
                      "left out (data.ignore, data.useless)",
                      tutti_rows_origin(table), tutti_rows_columns(table), encoding->targets,
                      tutti_plural(encoding->targets, "is the target", "are targets"));
  TUTTI_TRY(context, tutti_alloc(context, encoding->inputs, sizeof *encoding->input, &encoding->input));
  TUTTI_TRY(context, tutti_alloc(context, encoding->targets, sizeof *encoding->target, &encoding->target));
  for (size_t c = 0; c < tutti_rows_columns(table); c++)
    if (roles[c] == ROLE_TARGET)
      TUTTI_TRY(context, take_target(context, config, table, split, c, encoding, &encoding->target[targets++]));
    else if (roles[c] < ROLE_IGNORED)
      TUTTI_TRY(context,
                take_input(context, config, table, split, c, roles[c] == ROLE_CATEGORIES, &encoding->input[inputs++]));
  return TUTTI_OK;
}

enum tutti_status tutti_encoding_create(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *table, uint8_t *split, struct tutti_encoding **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_encoding *encoding = NULL;
  uint8_t *roles = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *encoding, &encoding));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_columns(table), sizeof *roles, &roles));
  encoding->named = tutti_rows_named(table);
  encoding->source_columns = tutti_rows_columns(table);
  encoding->missing = (enum tutti_missing)config->missing;
  encoding->unseen = (enum tutti_unseen)config->unseen;
  TUTTI_TRY_OUT(context, tutti_roles_find(context, config, table, roles));
  if (config->useless == TUTTI_USELESS_IGNORE)
    TUTTI_TRY_OUT(context, tutti_useless_ignore(context, config, table, roles));
  TUTTI_TRY_OUT(context, find_missing(context, config, table, roles, split));
  TUTTI_TRY_OUT(context, take_columns(context, config, table, roles, split, encoding));
  *out = encoding;
  encoding = NULL;
out:
  tutti_encoding_destroy(encoding);
  tutti_free(roles);
  return status;
}
