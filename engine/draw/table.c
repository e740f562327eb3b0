/* table.c - the numbers of a figure. */
#include "table.h"

#include <math.h>
#include <string.h>

struct tutti_table tutti_table_begin(tutti_context *context, const char *name) {
  return (struct tutti_table){.context = context, .name = name};
}

void tutti_table_end(struct tutti_table *table) {
  for (size_t i = 0; i < table->columns; i++)
    tutti_free(table->heads[i]);
  for (size_t i = 0; i < table->count; i++)
    tutti_free(table->cells[i].text);
  tutti_free(table->heads);
  tutti_free(table->cells);
  *table = (struct tutti_table){.name = NULL};
}

void tutti_table_column(struct tutti_table *table, const char *name) {
  if (table->status != TUTTI_OK)
    return;
  table->status = tutti_realloc(table->context, table->columns, table->columns + 1, sizeof(char *), &table->heads);
  if (table->status == TUTTI_OK)
    table->status = tutti_strdup(table->context, name, &table->heads[table->columns]);
  if (table->status == TUTTI_OK)
    table->columns++;
}

void tutti_table_add_columns(struct tutti_table *table, const char *const *names) {
  for (; *names; names++)
    tutti_table_column(table, *names);
}

static struct tutti_table_cell *next_cell(struct tutti_table *table) {
  if (table->status == TUTTI_OK && table->count == table->room) {
    size_t room = table->room * 2 + 64;
    table->status = tutti_realloc(table->context, table->count, room, sizeof *table->cells, &table->cells);
    if (table->status == TUTTI_OK)
      table->room = room;
  }
  return table->status == TUTTI_OK ? &table->cells[table->count++] : NULL;
}

void tutti_table_put(struct tutti_table *table, double number) {
  struct tutti_table_cell *cell = next_cell(table);
  if (cell)
    *cell = (struct tutti_table_cell){.number = number};
}

void tutti_table_put_text(struct tutti_table *table, const char *text) {
  struct tutti_table_cell *cell = next_cell(table);
  if (!cell)
    return;
  *cell = (struct tutti_table_cell){.number = (double)NAN};
  table->status = tutti_strdup(table->context, text, &cell->text);
}

void tutti_table_put_all(struct tutti_table *table, size_t count, const double *numbers) {
  for (size_t i = 0; i < count; i++)
    tutti_table_put(table, numbers[i]);
}

size_t tutti_table_rows(const struct tutti_table *table) { return table->columns ? table->count / table->columns : 0; }

const struct tutti_table_cell *tutti_table_cell(const struct tutti_table *table, size_t row, size_t column) {
  return &table->cells[row * table->columns + column];
}

static void add_csv_text(struct tutti_text *out, const char *text) {
  if (*text && strchr("=+-@\t\r", *text))
    tutti_text_add(out, "'");
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted)
    tutti_text_add(out, "\"");
  for (; *text; text++)
    tutti_text_add(out, *text == '"' ? "\"\"" : "%c", *text);
  if (quoted)
    tutti_text_add(out, "\"");
}

void tutti_table_csv(const struct tutti_table *table, struct tutti_text *out) {
  for (size_t i = 0; i < table->columns; i++) {
    tutti_text_add(out, i ? "," : "");
    add_csv_text(out, table->heads[i]);
  }
  tutti_text_add(out, "\r\n");
  for (size_t i = 0; i < tutti_table_rows(table) * table->columns; i++) {
    const struct tutti_table_cell *cell = &table->cells[i];
    tutti_text_add(out, i % table->columns ? "," : "");
    if (cell->text)
      add_csv_text(out, cell->text);
    else if (!isnan(cell->number))
      tutti_text_add_number(out, cell->number);
    if (i % table->columns == table->columns - 1)
      tutti_text_add(out, "\r\n");
  }
}
