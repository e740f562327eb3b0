/* profile_json.c - the columns of a table for people: what they hold, what becomes of them, and what is worth a
   warning. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tutti/names.h>

#include "cells_impl.h"
#include "loading_impl.h"
#include "profile_impl.h"
#include "core/base/json_impl.h"
#include "core/base/utf8_impl.h"

/* --- a column --- */

static const char *role_name(enum tutti_role role) {
  return role == ROLE_TARGET ? "target" : role == ROLE_IGNORED ? "ignored" : role == ROLE_GROUPS ? "groups" : "input";
}

static const char *content_name(enum tutti_content content) {
  static const char *const names[] = {
      [TUTTI_CONTENT_NUMBERS] = "numbers",       [TUTTI_CONTENT_TEXTS] = "texts",
      [TUTTI_CONTENT_DATES] = "dates",           [TUTTI_CONTENT_MIXED] = "numbers and texts",
      [TUTTI_CONTENT_CATEGORIES] = "categories", [TUTTI_CONTENT_NOTHING] = "nothing"};
  return names[content];
}

static json_t *describe(const struct tutti_profile_column *column) {
  json_t *most = json_array();
  for (size_t i = 0; i < TUTTI_PROFILE_SHOWN && column->most[i].rows; i++) {
    json_t *text = json_string(column->most[i].text);
    json_array_append_new(most, json_pack("{s:o, s:I}", "value", text ? text : json_string("(not UTF-8)"), "rows",
                                          (json_int_t)column->most[i].rows));
  }
  json_t *name = json_string(column->name);
  return json_pack("{s:o, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "name",
                   name ? name : json_string("(not UTF-8)"), "role", role_name(column->role), "content",
                   content_name(column->content), "missing", (json_int_t)column->missing, "levels",
                   (json_int_t)column->levels, "min", tutti_json_number(column->low), "max",
                   tutti_json_number(column->high), "mean", tutti_json_number(column->mean), "deviation",
                   tutti_json_number(column->deviation), "most", most);
}

/* --- warnings --- */

static void warn(json_t *warnings, const struct tutti_profile_column *column, const char *format, ...)
    TUTTI_PRINTF(3, 4);
static void warn(json_t *warnings, const struct tutti_profile_column *column, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tutti_text_mend(text);
  json_t *name = json_string(column->name);
  json_array_append_new(warnings,
                        json_pack("{s:o, s:s}", "column", name ? name : json_string("(not UTF-8)"), "text", text));
}

static bool has_no_mean(const struct tutti_profile_column *column) {
  return column->content == TUTTI_CONTENT_TEXTS || column->content == TUTTI_CONTENT_CATEGORIES;
}

static void warn_of_missing(const struct tutti_data_config *config, const struct tutti_profile_column *column,
                            json_t *warnings) {
  if (column->missing == 0 || column->content == TUTTI_CONTENT_NOTHING)
    return;
  bool target = column->role == ROLE_TARGET;
  if (target && config->missing_target == TUTTI_MISSING_TARGET_ERROR && config->missing != TUTTI_MISSING_DROP)
    warn(warnings, column,
         "%zu of its values %s missing, which is an error; data.missing_target = drop leaves such rows out",
         column->missing, tutti_plural(column->missing, "is", "are"));
  else if (target || config->missing == TUTTI_MISSING_DROP)
    warn(warnings, column, "%zu of its values %s missing; such rows are left out", column->missing,
         tutti_plural(column->missing, "is", "are"));
  else if (config->missing == TUTTI_MISSING_ERROR)
    warn(warnings, column,
         "%zu of its values %s missing, which is an error; data.missing = indicator fills them in and says where, "
         "%sdrop "
         "leaves these rows out",
         column->missing, tutti_plural(column->missing, "is", "are"),
         has_no_mean(column) ? "" : "mean fills them in, ");
}

/* Texts that would be dates, or numbers, if the recipe said how they are written. */
static bool warn_of_writing(const tutti_rows *table, size_t index, const struct tutti_profile_column *column,
                            json_t *warnings) {
  char formats[TUTTI_DATE_FORMAT_ROOM], room[TUTTI_QUOTED_ROOM];
  if (column->content != TUTTI_CONTENT_TEXTS && column->content != TUTTI_CONTENT_MIXED)
    return false;
  if (tutti_profile_decimal_commas(table, index)) {
    warn(warnings, column,
         "its texts are numbers with decimal commas, as '%.60s'; data.decimal = comma reads them as such",
         tutti_rows_text(table, column->first_text, index));
    return true;
  }
  if (!tutti_profile_date_formats(table, index, formats))
    return false;
  if (column->role == ROLE_TARGET)
    warn(warnings, column,
         "its values look like dates, as '%.60s', and are taken for classes; a date cannot be a target",
         tutti_rows_text(table, column->first_text, index));
  else
    warn(warnings, column, "its texts look like dates, as '%.60s'; data.date_formats = %s = %s reads them as such",
         tutti_rows_text(table, column->first_text, index), tutti_quoted(column->name, ",=", room), formats);
  return true;
}

/* Texts that are dates, but not all of one form, or not all. Those of the recipe's own form with others among them are
   told of as mistakes. */
static bool warn_of_forms(const tutti_rows *table, size_t index, const struct tutti_profile_column *column,
                          json_t *warnings) {
  const struct tutti_date_forms *forms = &column->forms;
  char said[TUTTI_DATE_FORMS_ROOM];
  if (forms->count == 0 || (forms->count == 1 && (forms->others == 0 || column->dates == forms->form[0].rows)))
    return false;
  tutti_profile_print_forms(table, index, forms, said);
  warn(warnings, column, "its texts are dates, but not all of one form: %s; %swrite all as 2026-01-31%s", said,
       column->role == ROLE_IGNORED                    ? ""
       : column->role == ROLE_TARGET                   ? "they are taken for classes, since a date cannot be a target; "
       : column->dates > column->texts - column->dates ? "that is an error; "
                                                       : "they are taken as categories; ",
       column->role == ROLE_INPUT ? ", or set data.dates = texts if they are categories" : "");
  return true;
}

/* Texts that would be numbers, or missing cells, if the recipe said so. */
static bool warn_of_marks(const tutti_rows *table, size_t index, const struct tutti_profile_column *column,
                          json_t *warnings) {
  char mark[TUTTI_MARK_ROOM], room[TUTTI_QUOTED_ROOM];
  bool mixed = column->content == TUTTI_CONTENT_MIXED, comma;
  if (mixed && column->texts > 1 && tutti_profile_mark(table, index, mark)) {
    warn(warnings, column,
         "%zu of %zu values %s '%s', the first in row %zu, and the others are numbers; if that says that the value "
         "is missing, set data.missing_marks = %s; otherwise mend them; or if they are %s",
         column->texts, column->texts + column->numbers, tutti_plural(column->texts, "is", "are"), mark,
         column->first_text, tutti_quoted(mark, " \t", room),
         column->role == ROLE_TARGET ? "the texts of classes: data.task = classification"
                                     : "categories: data.categorical");
    return true;
  }
  if ((!mixed && column->content != TUTTI_CONTENT_TEXTS) || !tutti_profile_sign(table, index, mark, &comma) ||
      (!mixed && tutti_profile_is_name(table, index, mark)))
    return false;
  if (tutti_profile_is_minus(mark)) {
    warn(warnings, column,
         "%zu of %zu values %s but for '%s', the first in row %zu; if it is a minus sign, write it as '-' before the "
         "digits, as in -1.5",
         column->texts, column->texts + column->numbers, tutti_plural(column->texts, "is a number", "are numbers"),
         mark, column->first_text);
    return true;
  }
  warn(warnings, column, "%zu of %zu values %s but for '%s'; data.strip = %s reads them as such%s%s", column->texts,
       column->texts + column->numbers, tutti_plural(column->texts, "is a number", "are numbers"), mark, mark,
       comma ? " (and data.decimal = comma, if commas separate the cells)" : "",
       column->numbers > 0 ? "; is it the same unit as that of the numbers without it?" : "");
  return true;
}

static bool warn_of_hidden(const tutti_rows *table, size_t index, const struct tutti_profile_column *column,
                           json_t *warnings) {
  return warn_of_writing(table, index, column, warnings) || warn_of_forms(table, index, column, warnings) ||
         warn_of_marks(table, index, column, warnings);
}

static void warn_of_values(const struct tutti_profile_column *column, json_t *warnings) {
  if (column->content == TUTTI_CONTENT_NUMBERS && column->placeholders > 0)
    warn(warnings, column,
         "%zu of %zu values are %.15g, far from all others; if that says that the value is missing, set "
         "data.missing_marks = %.15g",
         column->placeholders, column->numbers, column->placeholder, column->placeholder);
  if (has_no_mean(column) && column->spellings[0])
    warn(warnings, column,
         "'%.40s' and '%.40s' differ in capitals alone, and are two %s: write them alike if they are one",
         column->spellings[0], column->spellings[1], column->role == ROLE_TARGET ? "classes" : "categories");
  if (column->same_code)
    warn(warnings, column,
         "%.40s is the number %.15g, as others are that are written otherwise, and so they are one category: write a "
         "letter before such codes if they are several",
         column->same_code, column->code);
}

/* Texts that have the name that missing cells, or rare values, get as a category. */
static void warn_of_own_name(const struct tutti_data_config *config, const tutti_rows *table, size_t index,
                             const struct tutti_profile_column *column, json_t *warnings) {
  size_t missing = 0, other = 0;
  if (column->role == ROLE_TARGET || !has_no_mean(column))
    return;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    missing += strcmp(tutti_rows_text(table, r, index), TUTTI_CATEGORY_MISSING) == 0;
    other += strcmp(tutti_rows_text(table, r, index), TUTTI_CATEGORY_OTHER) == 0;
  }
  if (missing > 0 && config->missing == TUTTI_MISSING_INDICATOR)
    warn(warnings, column,
         "%zu of its texts %s '" TUTTI_CATEGORY_MISSING "', the category of missing cells, and count as missing, too: "
         "write them otherwise, or set data.missing_marks = " TUTTI_CATEGORY_MISSING,
         missing, tutti_plural(missing, "is", "are"));
  if (other > 0 && (config->rare > 0 || config->most_categories > 0))
    warn(warnings, column,
         "%zu of its texts %s '" TUTTI_CATEGORY_OTHER "', the category of rare values, and count as such, too: write "
         "them otherwise if they are not",
         other, tutti_plural(other, "is", "are"));
}

static void warn_of_content(const tutti_rows *table, size_t index, const struct tutti_profile_column *column,
                            json_t *warnings) {
  bool marked = warn_of_hidden(table, index, column, warnings);
  if (column->content == TUTTI_CONTENT_MIXED && !marked)
    warn(warnings, column,
         "%zu of %zu values %s, the first in row %zu: '%.60s'; mend %s; or if numbers are written "
         "otherwise, set data.decimal; or if they are %s",
         column->texts, column->texts + column->numbers, tutti_plural(column->texts, "is no number", "are no numbers"),
         column->first_text, tutti_rows_text(table, column->first_text, index),
         tutti_plural(column->texts, "it", "them"),
         column->role == ROLE_TARGET ? "the texts of classes: data.task = classification"
                                     : "categories: data.categorical");
  if (column->content == TUTTI_CONTENT_TEXTS && !marked && column->dates > column->texts - column->dates)
    warn(warnings, column,
         "%zu of %zu texts are dates, which is a mistake: the first that is none is in row %zu: '%.60s'", column->dates,
         column->texts, column->first_other, tutti_rows_text(table, column->first_other, index));
  if (column->infinite > 0 && column->content != TUTTI_CONTENT_CATEGORIES)
    warn(warnings, column, "%zu %s infinite, which is an error", column->infinite,
         tutti_plural(column->infinite, "value is", "values are"));
}

/* Is the name id, or does it end with a word that is: customer_id, CustomerID? */
static bool is_called_id(const char *name) {
  size_t length = strlen(name);
  if (length < 2)
    return false;
  const char *end = name + length - 2;
  bool lower = strcmp(end, "id") == 0, upper = strcmp(end, "ID") == 0, mixed = strcmp(end, "Id") == 0;
  if (length == 2)
    return lower || upper || mixed;
  bool small = end[-1] >= 'a' && end[-1] <= 'z', large = end[-1] >= 'A' && end[-1] <= 'Z';
  return (mixed && !large) || (upper && !large) || (lower && !small && !large);
}

/* All that the column tells models is whether it has a value. */
static bool warn_of_there(const struct tutti_data_config *config, const struct tutti_profile_column *column,
                          json_t *warnings) {
  bool differ = has_no_mean(column) && column->kept == 0 && column->levels == column->texts && column->levels > 1;
  if (column->missing == 0 || column->useless != TUTTI_USEFUL || config->missing != TUTTI_MISSING_INDICATOR ||
      (!differ && column->levels != 1) || column->content == TUTTI_CONTENT_MIXED)
    return false;
  warn(warnings, column, "it has %s, or none: what it tells models is whether there is one, as in %zu of %zu rows",
       differ ? "another text in every row" : "one value", column->numbers + column->texts + column->infinite,
       column->numbers + column->texts + column->infinite + column->missing);
  return true;
}

static void warn_of_input(const struct tutti_data_config *config, const tutti_rows *table, size_t index,
                          const struct tutti_profile_column *column, json_t *warnings) {
  enum { MANY = 50, FAR = 20, MOST = 5 }; /* MOST: a fifth of the rows is much to be told by one category */
  char room[TUTTI_QUOTED_ROOM];
  bool texts = has_no_mean(column) && column->useless == TUTTI_USEFUL;
  size_t rows = tutti_rows_count(table);
  size_t values = column->texts + column->numbers + column->infinite;
  bool named = column->content == TUTTI_CONTENT_NUMBERS && column->useless == TUTTI_USEFUL && column->whole &&
               column->levels == values && is_called_id(column->name);
  if (column->useless != TUTTI_USEFUL)
    warn(warnings, column, "it %s; %s", tutti_useless_text(column->useless),
         config->useless == TUTTI_USELESS_IGNORE ? "it is kept, since no other column is left as an input"
                                                 : "data.useless = ignore leaves such columns out");
  if (warn_of_there(config, column, warnings))
    return;
  if (values >= MANY && (named || (texts && column->levels > values - values / 10)))
    warn(warnings, column,
         "%zu different values in %zu rows: if it names or numbers them, data.ignore = %s leaves it out; nothing is "
         "read from the words of texts",
         column->levels, rows, tutti_quoted(column->name, ",", room));
  else if (texts && column->levels > MANY && config->rare == 0 && config->most_categories == 0)
    warn(warnings, column, "%zu different %s in %zu rows become as many inputs; data.rare = 10 joins the rare ones",
         column->levels, content_name(column->content), rows);
  else if (texts && MOST * (values - column->kept_rows) > values)
    warn(warnings, column,
         "%zu of %zu different %s are kept, in %.2g %% of its rows; the others are one, (other), of which models "
         "learn "
         "next to nothing: a larger data.most_categories, or a smaller data.rare, keeps more",
         column->kept, column->levels, content_name(column->content),
         100.0 * (double)column->kept_rows / (double)values);
  if (column->content == TUTTI_CONTENT_NUMBERS && column->zeros > 0 && column->whole)
    warn(warnings, column,
         "zeros before its numbers, as in %.40s (%zu of them), are those of codes, such as postcodes, and it is taken "
         "as numbers; data.categorical = %s takes it as categories",
         tutti_rows_text(table, column->first_zero, index), column->zeros, tutti_quoted(column->name, ",", room));
  double far = fmax(column->high - column->mean, column->mean - column->low) / column->deviation;
  if (column->content == TUTTI_CONTENT_NUMBERS && column->deviation > 0 && far > FAR)
    warn(warnings, column, "its values go from %g to %g with a standard deviation of %g: is the farthest a mistake?",
         column->low, column->high, column->deviation);
}

static void warn_of_target(const struct tutti_data_config *config, const struct tutti_profile_column *column,
                           json_t *warnings) {
  enum { FEW = 10, CLASSES = 20 };
  bool texts = column->content == TUTTI_CONTENT_TEXTS;
  bool classes = config->task == TUTTI_TASK_AS_CLASSIFICATION || (texts && config->task == TUTTI_TASK_AUTO);
  if (classes && column->levels > 0 && column->rarest < FEW)
    warn(warnings, column, "its rarest class has %zu %s, which is little to learn and to judge by", column->rarest,
         tutti_plural(column->rarest, "row", "rows"));
  if (config->task == TUTTI_TASK_AUTO && column->content == TUTTI_CONTENT_NUMBERS && column->whole &&
      column->levels > 1 && column->levels <= CLASSES)
    warn(warnings, column,
         "its values are %zu whole numbers, and it is taken as a value to be estimated; if they are classes, set "
         "data.task = classification",
         column->levels);
}

static void warn_of(const struct tutti_data_config *config, const tutti_rows *table, size_t index,
                    const struct tutti_profile_column *column, json_t *warnings) {
  if (column->role == ROLE_IGNORED || column->role == ROLE_GROUPS)
    return;
  warn_of_missing(config, column, warnings);
  warn_of_content(table, index, column, warnings);
  warn_of_values(column, warnings);
  warn_of_own_name(config, table, index, column, warnings);
  if (column->role == ROLE_TARGET)
    warn_of_target(config, column, warnings);
  else
    warn_of_input(config, table, index, column, warnings);
}

/* --- all columns --- */

static bool has_dates(const json_t *columns) {
  bool found = false;
  json_t *column;
  size_t i;
  json_array_foreach(columns, i, column) {
    found = found || strcmp(json_string_value(json_object_get(column, "content")), "dates") == 0;
  }
  return found;
}

/* One line for all columns: what stands for their missing values. */
static void warn_of_filled(const struct tutti_data_config *config, size_t columns, json_t *warnings) {
  char text[256];
  bool marks = config->missing == TUTTI_MISSING_INDICATOR;
  (void)snprintf(text, sizeof text, "%zu %s missing values: the mean of the column stands for them%s", columns,
                 tutti_plural(columns, "input has", "inputs have"),
                 marks ? ", one more input says where; of categories they are one, (missing)" : "");
  json_array_append_new(warnings, json_pack("{s:n, s:s}", "column", "text", text));
}

/* What says whether a table has more copies of rows than its columns make by chance. */
struct chance {
  double alike;    /* the share of pairs of rows whose inputs would be the same, were columns independent */
  bool continuous; /* a column has many numbers or dates: rows of few categories are copies by nature */
};

/* A target is a function of the inputs, so that it makes no rows differ whose inputs are the same. */
static void add_chance(const struct tutti_profile_column *column, struct chance *chance) {
  enum { MANY = 20 };
  if (column->role == ROLE_IGNORED || column->role == ROLE_GROUPS)
    return;
  bool numbers = column->content == TUTTI_CONTENT_NUMBERS || column->content == TUTTI_CONTENT_DATES;
  chance->alike *= column->role == ROLE_TARGET ? 1 : column->alike;
  chance->continuous = chance->continuous || (numbers && column->levels > MANY);
}

static enum tutti_status warn_of_copies(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *table, const uint8_t *roles, const struct chance *chance,
                                        json_t *warnings) {
  static const double share = 0.01, times = 10;
  const double rows = (double)tutti_rows_count(table);
  size_t copies;
  char text[384];
  if (!chance->continuous || config->groups[0])
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_profile_copies(context, table, roles, &copies));
  if (copies < 2 || (double)copies <= share * rows || (double)copies <= times * chance->alike * rows * rows / 2)
    return TUTTI_OK;
  (void)snprintf(text, sizeof text,
                 "%zu of %zu rows are exact copies of earlier ones, targets included; copies in training and test rows "
                 "make the test look better than it is: remove them, or give copies one group (data.groups)",
                 copies, tutti_rows_count(table));
  json_array_append_new(warnings, json_pack("{s:n, s:s}", "column", "text", text));
  return TUTTI_OK;
}

static enum tutti_status describe_table(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *table, json_t *root) {
  enum tutti_status status = TUTTI_OK;
  json_t *columns = json_array(), *warnings = json_array();
  uint8_t *roles = NULL, *kept = NULL;
  bool *taught = NULL;
  size_t lacking = 0; /* inputs that lack values */
  struct chance chance = {.alike = 1};
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_columns(table), sizeof *roles, &roles));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_columns(table), sizeof *kept, &kept));
  TUTTI_TRY_OUT(context, tutti_roles_find(context, config, table, roles));
  TUTTI_TRY_OUT(context, tutti_useless_taught(context, table, roles, &taught));
  memcpy(kept, roles, tutti_rows_columns(table) * sizeof *kept);
  if (config->useless == TUTTI_USELESS_IGNORE)
    TUTTI_TRY_OUT(context, tutti_useless_ignore(context, config, table, kept));
  for (size_t c = 0; c < tutti_rows_columns(table); c++) {
    struct tutti_profile_column column = {.role = (enum tutti_role)kept[c]};
    TUTTI_TRY_OUT(context, tutti_profile_column(context, config, table, taught, c, &column));
    lacking += column.missing > 0 && column.role < ROLE_IGNORED && column.role != ROLE_TARGET;
    if (kept[c] != roles[c]) {
      bool hidden = warn_of_hidden(table, c, &column, warnings); /* then it might say something */
      warn(warnings, &column, hidden ? "as it is read now, it %s, and is left out%s" : "it %s; it is left out%s",
           tutti_useless_text(column.useless), hidden ? "" : tutti_useless_advice(config, column.useless));
    }
    json_array_append_new(columns, describe(&column));
    warn_of(config, table, c, &column, warnings);
    add_chance(&column, &chance);
    tutti_free(column.printed);
  }
  if (lacking > 0 && (config->missing == TUTTI_MISSING_MEAN || config->missing == TUTTI_MISSING_INDICATOR))
    warn_of_filled(config, lacking, warnings);
  TUTTI_TRY_OUT(context, warn_of_copies(context, config, table, kept, &chance, warnings));
  if (config->date_format[0] && !has_dates(columns))
    json_array_append_new(warnings, json_pack("{s:n, s:s}", "column", "text",
                                              "no column holds dates as data.date_format has them (numbers are none)"));
  json_object_set(root, "columns", columns);
  json_object_set(root, "warnings", warnings);
out:
  json_decref(columns);
  json_decref(warnings);
  tutti_free(kept);
  tutti_free(taught);
  tutti_free(roles);
  return status;
}

enum tutti_status tutti_profile_print(tutti_context *context, const tutti_config *data, tutti_source *source,
                                      const char *folder, uint64_t seed, char **json) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_data_config *config = tutti_config_values(data);
  tutti_dataset images = {0};
  struct tutti_loading loading = {.context = context,
                                  .config = config,
                                  .source = source,
                                  .folder = folder,
                                  .seed = config->split_seed >= 0 ? (uint64_t)config->split_seed : seed};
  json_t *root = NULL;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_loading_read(&loading, &images));
  json_t *origin = json_string(tutti_rows_origin(loading.rows));
  root = json_pack("{s:o, s:I}", "origin", origin ? origin : json_string("(not UTF-8)"), "rows",
                   (json_int_t)tutti_rows_count(loading.rows));
  if (loading.images) {
    struct tutti_shape shape = tutti_rows_shape(loading.rows);
    json_object_set_new(root, "images", json_pack("[i, i, i]", shape.height, shape.width, shape.channels));
  } else {
    TUTTI_TRY_OUT(context, describe_table(context, config, loading.rows, root));
  }
  status = tutti_json_document(context, json_incref(root), json);
out:
  json_decref(root);
  tutti_rows_destroy(loading.rows);
  return status;
}
