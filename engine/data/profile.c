/* profile.c - what a column holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tutti/metrics.h>

#include "cells_impl.h"
#include "columns_impl.h"
#include "dates_impl.h"
#include "profile_impl.h"

/* The numbers of a column, or the days of its dates, and its texts. */
struct content {
  double *numbers;
  const char **texts;
};

static void release(struct content *content) {
  tutti_free(content->numbers);
  tutti_free(content->texts);
}

static void count_cell(const char *date_format, bool named, const tutti_rows *table, size_t row, size_t column,
                       struct content *content, struct tutti_profile_column *profile) {
  double days;
  bool time;
  switch (tutti_rows_cell(table, row, column)) {
  case TUTTI_CELL_NUMBER:
    content->numbers[profile->numbers] = tutti_rows_number(table, row, column);
    if (named && tutti_date_read_cell(date_format, table, row, column, &days, &time)) {
      content->numbers[profile->numbers] = days;
      profile->dates++;
    }
    profile->numbers++;
    if (*tutti_rows_text(table, row, column)) {
      profile->first_zero = profile->zeros ? profile->first_zero : row;
      profile->zeros++;
    }
    break;
  case TUTTI_CELL_TEXT:
    profile->first_text = profile->texts ? profile->first_text : row;
    content->texts[profile->texts] = tutti_rows_text(table, row, column);
    if (tutti_date_read_cell(date_format, table, row, column, &days, &time))
      profile->dates++;
    else if (profile->dates == profile->texts)
      profile->first_other = row;
    profile->texts++;
    break;
  case TUTTI_CELL_INFINITE:
    profile->infinite++;
    break;
  default:
    profile->missing++;
  }
}

static enum tutti_content content_of(const struct tutti_data_config *config,
                                     const struct tutti_profile_column *profile) {
  if (profile->role == ROLE_CATEGORIES && profile->numbers + profile->texts + profile->infinite > 0)
    return TUTTI_CONTENT_CATEGORIES;
  if (profile->dates > 0 && profile->dates == profile->numbers + profile->texts && config->dates != TUTTI_DATES_TEXTS)
    return TUTTI_CONTENT_DATES;
  if (profile->numbers > 0)
    return profile->texts > 0 ? TUTTI_CONTENT_MIXED : TUTTI_CONTENT_NUMBERS;
  if (profile->texts == 0)
    return TUTTI_CONTENT_NOTHING;
  return TUTTI_CONTENT_TEXTS;
}

/* --- numbers --- */

/* Is it 99, 999, -9999 or so on? */
static bool is_nines(double number) {
  double nines = 99;
  while (nines < fabs(number))
    nines = 10 * nines + 9;
  return fabs(number) == nines;
}

/* The lowest or highest of sorted numbers, if it is all nines, stands in several rows, and is farther from the others
   than they are from each other: it may say that the value is missing. */
static void find_placeholder(size_t count, const double *numbers, struct tutti_profile_column *profile) {
  for (int end = 0; end < 2 && profile->placeholders == 0; end++) {
    double number = numbers[end ? count - 1 : 0];
    size_t same = 0;
    while (same < count && numbers[end ? count - 1 - same : same] == number)
      same++;
    if (same < 2 || same == count || !is_nines(number))
      continue;
    double low = numbers[end ? 0 : same], high = numbers[end ? count - 1 - same : count - 1];
    if (low == high || fmin(fabs(number - low), fabs(number - high)) <= high - low)
      continue; /* one other value says nothing about what is far */
    profile->placeholder = number;
    profile->placeholders = same;
  }
}

static void measure(size_t count, double *numbers, struct tutti_profile_column *profile) {
  double sum = 0, squares = 0;
  size_t same = 0;
  tutti_sort_numbers(count, numbers);
  profile->whole = true;
  for (size_t i = 0; i < count; i++) {
    sum += numbers[i];
    profile->whole = profile->whole && numbers[i] == floor(numbers[i]);
    bool last = i + 1 == count || numbers[i + 1] != numbers[i];
    same++;
    if (!last)
      continue;
    profile->rarest = profile->levels == 0 || same < profile->rarest ? same : profile->rarest;
    profile->alike += (double)same * (double)same;
    profile->levels++;
    same = 0;
  }
  profile->mean = sum / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (numbers[i] - profile->mean) * (numbers[i] - profile->mean);
  profile->deviation = sqrt(squares / (double)count);
  find_placeholder(count, numbers, profile);
  profile->low = numbers[0];
  profile->high = numbers[count - 1];
}

/* --- texts --- */

static int compare_letters(const void *left, const void *right) {
  const struct tutti_level *one = left, *other = right;
  int order = strcasecmp(one->text, other->text);
  return order ? order : strcmp(one->text, other->text);
}

/* Two texts that differ in capitals alone. Sorts the levels anew. */
static void find_spellings(size_t count, struct tutti_level *levels, struct tutti_profile_column *profile) {
  qsort(levels, count, sizeof *levels, compare_letters);
  for (size_t l = 1; l < count && !profile->spellings[0]; l++)
    if (strcasecmp(levels[l - 1].text, levels[l].text) == 0) {
      profile->spellings[0] = levels[l - 1].text;
      profile->spellings[1] = levels[l].text;
    }
}

static enum tutti_status count_texts(tutti_context *context, const struct tutti_data_config *config, size_t count,
                                     const char **texts, struct tutti_profile_column *profile) {
  struct tutti_level *levels;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *levels, &levels));
  qsort(texts, count, sizeof *texts, tutti_compare_texts);
  profile->levels = tutti_levels_count(count, texts, levels);
  profile->rarest = levels[profile->levels - 1].rows;
  profile->kept = tutti_levels_kept(config, profile->levels, levels);
  for (size_t l = 0; l < profile->levels; l++) {
    profile->kept_rows += l < profile->kept ? levels[l].rows : 0;
    profile->alike += (double)levels[l].rows * (double)levels[l].rows;
    if (l < TUTTI_PROFILE_SHOWN)
      profile->most[l] = levels[l];
  }
  find_spellings(profile->levels, levels, profile);
  tutti_free(levels);
  return TUTTI_OK;
}

/* The values of a column of categories, as texts. */
static enum tutti_status count_categories(tutti_context *context, const struct tutti_data_config *config,
                                          const tutti_rows *table, size_t column, const char **texts,
                                          struct tutti_profile_column *profile) {
  size_t count = 0, printed = 0;
  TUTTI_TRY(context,
            tutti_alloc(context, profile->numbers + profile->infinite, sizeof *profile->printed, &profile->printed));
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    const enum tutti_cell cell = tutti_rows_cell(table, r, column);
    if (cell == TUTTI_CELL_MISSING)
      continue;
    texts[count++] = tutti_category_of(table, r, column, profile->printed[printed]);
    printed += cell != TUTTI_CELL_TEXT;
  }
  TUTTI_TRY(context, tutti_profile_codes(context, table, column, profile));
  return count_texts(context, config, count, texts, profile);
}

/* The days of dates, as numbers. */
static void take_days(const char *date_format, size_t count, const char *const *texts, double *days) {
  bool time;
  for (size_t i = 0; i < count; i++)
    if (!tutti_date_read(date_format, texts[i], &days[i], &time))
      (void)tutti_date_read("", texts[i], &days[i], &time);
}

/* --- a column --- */

enum tutti_status tutti_profile_column(tutti_context *context, const struct tutti_data_config *config,
                                       const tutti_rows *table, const bool *taught, size_t column,
                                       struct tutti_profile_column *profile) {
  enum tutti_status status = TUTTI_OK;
  size_t rows = tutti_rows_count(table);
  struct content content = {0};
  char room[TUTTI_DATE_FORMAT_ROOM];
  bool named;
  const char *date_format = tutti_date_format_of(config, tutti_rows_names(table)[column], room, &named);
  profile->name = tutti_rows_names(table)[column];
  profile->low = profile->high = profile->mean = profile->deviation = NAN;
  TUTTI_TRY_OUT(context, tutti_useless_find(context, config, table, taught, column, &profile->useless));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *content.numbers, &content.numbers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof(const char *), &content.texts));
  for (size_t r = 0; r < rows; r++)
    count_cell(date_format, named && config->dates != TUTTI_DATES_TEXTS, table, r, column, &content, profile);
  profile->content = content_of(config, profile);
  if (profile->content == TUTTI_CONTENT_TEXTS && !named && config->dates != TUTTI_DATES_TEXTS)
    TUTTI_TRY_OUT(context, tutti_profile_date_forms(context, config, table, column, &profile->forms));
  if (profile->content == TUTTI_CONTENT_DATES)
    take_days(date_format, profile->texts, content.texts, content.numbers + profile->numbers);
  if (profile->content == TUTTI_CONTENT_CATEGORIES)
    TUTTI_TRY_OUT(context, count_categories(context, config, table, column, content.texts, profile));
  else if (profile->content == TUTTI_CONTENT_DATES)
    measure(profile->dates, content.numbers, profile);
  else if (profile->numbers > 0)
    measure(profile->numbers, content.numbers, profile);
  else if (profile->texts > 0)
    TUTTI_TRY_OUT(context, count_texts(context, config, profile->texts, content.texts, profile));
  profile->alike +=
      (double)profile->missing * (double)profile->missing; /* of pairs in either order, a row with itself */
  profile->alike =
      rows > 0 && profile->content != TUTTI_CONTENT_MIXED ? profile->alike / ((double)rows * (double)rows) : 1;
out:
  release(&content);
  return status;
}
