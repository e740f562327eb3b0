/* csv.c - source csv: comma-separated values, as plugins/shared/reading/csv_table.h reads them. */
#include "plugins/shared/reading/csv_table.h"

#include <string.h>

/* New rows have a header if the data set has one; otherwise the file itself decides. */
static int header_of(const struct reading_csv_options *config, const struct tutti_source_request *request) {
  return !request->new_rows ? config->header : request->named ? READING_HEADER_YES : READING_HEADER_AUTO;
}

/* New rows are read by the decimal sign of the recipe, as the data set is; if it has none, by the one that the data
   set's file has shown. */
static int decimal_of(const struct reading_csv_options *config, const struct tutti_source_request *request) {
  int decimal = config->decimal;
  const char *const *settled = request->settled;
  for (size_t i = 0; settled && settled[i] && decimal == READING_DECIMAL_AUTO; i += 2)
    for (int d = READING_DECIMAL_POINT; strcmp(settled[i], "decimal") == 0 && reading_csv_decimals[d]; d++)
      decimal = strcmp(settled[i + 1], reading_csv_decimals[d]) == 0 ? reading_csv_decimal_first(d) : decimal;
  return decimal;
}

static enum tutti_status source_read_csv(void *self, tutti_context *context, const struct tutti_source_request *request,
                                         tutti_rows *rows) {
  const struct reading_csv_options *config = self;
  struct reading_csv_options options = *config;
  options.header = header_of(config, request);
  options.decimal = decimal_of(config, request);
  options.tolerant = request->tolerant;
  options.columns = request->columns;
  return reading_csv(context, request->path, &options, rows);
}

static bool source_reword_csv(const void *self, const char *word, char *meaning) {
  return reading_csv_word(self, word, meaning);
}

static const struct tutti_param csv_params[] = {
    TUTTI_CHOICE(struct reading_csv_options, header, "auto", reading_csv_headers,
                 "Whether the first row names the columns; auto: yes if none of its cells is a number and not all are "
                 "empty."),
    TUTTI_CHOICE(
        struct reading_csv_options, delimiter, "auto", reading_csv_delimiters,
        "What separates cells; auto: comma, semicolon, tab or |, whichever the first line has most of, or what a "
        "first line sep=; says; space or blanks if it has none of them and all lines are as many words, with numbers "
        "among them. blanks: any number of blanks and tabs; those before and behind a row are none."),
    TUTTI_CHOICE(
        struct reading_csv_options, decimal, "auto", reading_csv_decimals,
        "How numbers are written: with a point, as in 1,234.5, or a comma, as in 1.234,5; blanks and apostrophes "
        "may group digits, too. auto: with a point, and where cells are not separated by commas, 3,5 and 1.234,5 "
        "are numbers, too."),
    TUTTI_STRING(
        struct reading_csv_options, missing_marks, "",
        "What stands in cells whose value is missing, besides the usual marks, separated by blanks, texts with blanks "
        "in quotes: - -999 \"not known\"."),
    TUTTI_STRING(struct reading_csv_options, strip, "",
                 "Signs that are dropped where they stand before or behind a number, separated by blanks: $ % kg."),
    TUTTI_INTEGER(struct reading_csv_options, skip_lines, "0", 0, 1000,
                  "Lines above the table that are left out: a title, comments."),
};

static bool source_mark_csv(const void *self, size_t index, double *number) {
  return reading_csv_mark(self, index, number);
}

/* csv comes last: a file with any other ending is read as csv. */
static const char *const endings[] = {".csv", ".csv.gz", ".tsv", ".tsv.gz", "", NULL};

static const struct tutti_source_ops csv_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = TUTTI_SOURCE_PATH,
    .endings = endings,
    .read = source_read_csv,
    .reword = source_reword_csv,
    .mark = source_mark_csv,
};

static const struct tutti_descriptor csv_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "csv"),
    .version = "1.0",
    .summary = "comma-separated values, maybe gzipped",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(csv_params, struct reading_csv_options),
    .ops = &csv_ops,
};

TUTTI_PLUGIN(csv_descriptor)
