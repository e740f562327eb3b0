/* source ledger: records in a text file. A record is lines "name: value" and ends with an empty line; the first record
   names the columns, and later ones may lack some. A value in quotes is a text, everything else a number times
   `factor`:

     height: 12.5
     colour: "red"

   A source fills rows, a table or images; splits, scaling and roles of columns are not its business. To write one:
     1. copy this file to src/source-NAME.c, and put its two lines into Makefile.am;
     2. say in `reads` whether it needs a path, and in `endings` which files are its own: then recipes need not name it;
     3. write `read`: add columns, then cells (rows.h), and the lines where rows start, which messages about cells name;
     4. parameters stand in [data], so none may have the name of one of its keys (`tutti inspect data`). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/plugin.h>

struct ledger_config {
  double factor;
  bool classes;
};

enum { MOST = 32 };

/* The record that is being read. */
struct record {
  char *values[MOST]; /* NULL: there is none */
  uint32_t line;      /* where it starts; 0: it has not yet */
};

struct reading {
  tutti_context *context;
  const char *path;
  tutti_rows *rows;
  double factor;
  uint32_t line;
  bool first; /* are we in the first record? */
  struct record record;
};

static enum tutti_status add_value(struct reading *reading, size_t column, char *value) {
  size_t length = value ? strlen(value) : 0;
  char *end;
  if (!value)
    return tutti_rows_add_text(reading->context, reading->rows, column, NULL);
  if (value[0] == '"' && length > 1 && value[length - 1] == '"') {
    value[length - 1] = '\0';
    return tutti_rows_add_text(reading->context, reading->rows, column, value + 1);
  }
  double number = strtod(value, &end) * reading->factor;
  if (end == value || *end)
    return TUTTI_FAIL(reading->context, TUTTI_ERROR_USAGE, "%s:%u: expected a number, or a text in quotes, found '%s'",
                      reading->path, reading->line, value);
  return tutti_rows_add_numbers(reading->context, reading->rows, column, 1, &number);
}

static void clear_record(struct reading *reading) {
  for (size_t c = 0; c < MOST; c++)
    tutti_free(reading->record.values[c]);
  reading->record = (struct record){0};
}

static enum tutti_status end_record(struct reading *reading) {
  enum tutti_status status = TUTTI_OK;
  struct record *record = &reading->record;
  size_t columns = tutti_rows_columns(reading->rows);
  for (size_t c = 0; record->line && c < columns && status == TUTTI_OK; c++)
    status = add_value(reading, c, record->values[c]);
  if (record->line && status == TUTTI_OK)
    status = tutti_rows_add_lines(reading->context, reading->rows, 1, &record->line);
  reading->first = reading->first && !record->line;
  clear_record(reading);
  return status;
}

static enum tutti_status find_column(struct reading *reading, const char *name, size_t *column) {
  size_t columns = tutti_rows_columns(reading->rows);
  for (*column = 0; *column < columns; ++*column)
    if (strcmp(tutti_rows_names(reading->rows)[*column], name) == 0)
      return TUTTI_OK;
  if (!reading->first || columns == MOST)
    return TUTTI_FAIL(reading->context, TUTTI_ERROR_USAGE, "%s:%u: '%s' is not in the first record", reading->path,
                      reading->line, name);
  return tutti_rows_add_column(reading->context, reading->rows, name);
}

static enum tutti_status take_line(struct reading *reading, char *line, size_t length) {
  char *colon;
  size_t column;
  reading->line++;
  if (strlen(line) < length)
    return TUTTI_FAIL(reading->context, TUTTI_ERROR_USAGE, "%s:%u: expected text, found a byte 0", reading->path,
                      reading->line);
  line[strcspn(line, "\r\n")] = '\0';
  colon = strchr(line, ':');
  if (!*line)
    return end_record(reading);
  if (!colon || colon[1] != ' ')
    return TUTTI_FAIL(reading->context, TUTTI_ERROR_USAGE, "%s:%u: expected 'name: value', found '%.40s'",
                      reading->path, reading->line, line);
  *colon = '\0';
  TUTTI_TRY(reading->context, find_column(reading, line, &column));
  if (!reading->record.line)
    reading->record.line = reading->line;
  tutti_free(reading->record.values[column]);
  reading->record.values[column] = NULL;
  return tutti_strdup(reading->context, colon + 2, &reading->record.values[column]);
}

/* Lines may be of any length. */
static enum tutti_status take_lines(struct reading *reading, FILE *file) {
  enum tutti_status status = TUTTI_OK;
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  while (status == TUTTI_OK && (length = getline(&line, &room, file)) >= 0)
    status = take_line(reading, line, (size_t)length);
  if (status == TUTTI_OK && !feof(file)) /* an error ended it: ferror, or no memory */
    status = TUTTI_FAIL(reading->context, TUTTI_ERROR_USAGE, "%s: cannot read: %s", reading->path, strerror(errno));
  free(line);
  return status;
}

static enum tutti_status source_read_ledger(void *self, tutti_context *context,
                                            const struct tutti_source_request *request, tutti_rows *rows) {
  const struct ledger_config *config = self;
  struct reading reading = {
      .context = context, .path = request->path, .rows = rows, .factor = config->factor, .first = true};
  FILE *file = fopen(request->path, "r");
  if (!file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot open: %s", request->path, strerror(errno));
  enum tutti_status status = take_lines(&reading, file);
  (void)fclose(file);
  if (status == TUTTI_OK)
    status = end_record(&reading);
  clear_record(&reading);
  if (status == TUTTI_OK && tutti_rows_columns(rows) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected records, found none", request->path);
  if (config->classes)
    tutti_rows_set_task(rows, TUTTI_TASK_CLASSIFICATION);
  return status;
}

static const struct tutti_param ledger_params[] = {
    TUTTI_REAL(struct ledger_config, factor, "1", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT, "What numbers are multiplied by."),
    TUTTI_BOOL(struct ledger_config, classes, "no", "Whether the target is a class, even if it is a number."),
};

static const char *const endings[] = {".ledger", ".ledger.csv", NULL};

static const struct tutti_source_ops ledger_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = TUTTI_SOURCE_PATH,
    .endings = endings,
    .read = source_read_ledger,
};

static const struct tutti_descriptor ledger_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "ledger"),
    .version = "0.1",
    .summary = "records of names and values",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(ledger_params, struct ledger_config),
    .ops = &ledger_ops,
};

TUTTI_PLUGIN(ledger_descriptor)
