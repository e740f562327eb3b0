/* page.c - writes the page: well-formed as XML, so that any parser reads it, without scripts, and with a policy that
   lets browsers load nothing. */
#include "report_impl.h"

#include "engine/draw/xml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/names.h>

enum { MOST_ROWS_SHOWN = 200, LONG_TEXT = 40 };

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void add_number(struct tutti_text *out, double number) {
  if (isnan(number))
    tutti_text_add(out, "<td></td>");
  else if (fabs(number) < 1e15 && (number == floor(number) || fabs(number) >= 1e5))
    tutti_text_add(out, "<td>%.0f</td>", number);
  else
    tutti_text_add(out, "<td>%.5g</td>", number);
}

/* A column of texts stands at the left. */
static bool is_text(const struct tutti_table *table, size_t column) {
  return tutti_table_rows(table) > 0 && tutti_table_cell(table, 0, column)->text;
}

/* A column with long texts would make the table wider than the page: they stand below their rows. */
static bool is_long(const struct tutti_table *table, size_t column) {
  for (size_t row = 0; row < tutti_table_rows(table); row++) {
    const char *text = tutti_table_cell(table, row, column)->text;
    if (text && strlen(text) > LONG_TEXT)
      return true;
  }
  return false;
}

static void add_cell(struct tutti_text *out, const struct tutti_table_cell *cell) {
  if (!cell->text) {
    add_number(out, cell->number);
    return;
  }
  tutti_text_add(out, "<td class=\"t\">");
  tutti_xml_add(out, cell->text);
  tutti_text_add(out, "</td>");
}

/* A text on a line of its own, as wide as `columns` columns; nothing without a text. */
static void add_long(struct tutti_text *out, const char *head, const char *text, size_t columns) {
  if (!text || !*text)
    return;
  tutti_text_add(out, "<tr class=\"l\"><td colspan=\"%zu\"><div>", columns);
  tutti_xml_add(out, head);
  tutti_text_add(out, ": ");
  tutti_xml_add(out, text);
  tutti_text_add(out, "</div></td></tr>\n");
}

/* Each row as a table of its own: its first text, and a line for each number that is known. */
static void add_stacks(struct tutti_text *out, const struct tutti_table *table, size_t rows) {
  tutti_text_add(out, "<div class=\"stacks\">\n");
  for (size_t row = 0; row < rows; row++) {
    tutti_text_add(out, "<table><caption>");
    tutti_xml_add(out, tutti_table_cell(table, row, 0)->text);
    tutti_text_add(out, "</caption><tbody>");
    for (size_t i = 1; i < table->columns; i++) {
      const struct tutti_table_cell *cell = tutti_table_cell(table, row, i);
      if (cell->text || isnan(cell->number))
        continue;
      tutti_text_add(out, "<tr><th scope=\"row\">");
      tutti_xml_add(out, table->heads[i]);
      tutti_text_add(out, "</th>");
      add_number(out, cell->number);
      tutti_text_add(out, "</tr>");
    }
    tutti_text_add(out, "</tbody></table>\n");
  }
  tutti_text_add(out, "</div>\n");
}

/* Where a column's cells are: in the table, below their rows, or in stacks before the table, which keeps the texts. */
enum place { BESIDE, BELOW, STACKED };
static enum place place_of(const struct tutti_table *table, size_t column) {
  if (table->stacked && !is_text(table, column))
    return STACKED;
  return is_long(table, column) ? BELOW : BESIDE;
}

static enum tutti_status add_rows(tutti_context *context, struct tutti_text *out, const struct tutti_table *table) {
  size_t rows = tutti_table_rows(table), shown = rows > MOST_ROWS_SHOWN ? MOST_ROWS_SHOWN : rows, beside = 0;
  enum place *places;
  TUTTI_TRY(context, tutti_alloc(context, table->columns, sizeof *places, &places));
  if (table->stacked)
    add_stacks(out, table, shown);
  tutti_text_add(out, "<div class=\"scroll\"><table><thead><tr>");
  for (size_t i = 0; i < table->columns; i++) {
    places[i] = place_of(table, i);
    if (places[i] != BESIDE)
      continue;
    beside++;
    tutti_text_add(out, is_text(table, i) ? "<th class=\"t\">" : "<th>");
    tutti_xml_add(out, table->heads[i]);
    tutti_text_add(out, "</th>");
  }
  tutti_text_add(out, "</tr></thead><tbody>\n");
  for (size_t row = 0; row < shown; row++) {
    tutti_text_add(out, "<tr>");
    for (size_t i = 0; i < table->columns; i++)
      if (places[i] == BESIDE)
        add_cell(out, tutti_table_cell(table, row, i));
    tutti_text_add(out, "</tr>\n");
    for (size_t i = 0; i < table->columns; i++)
      if (places[i] == BELOW)
        add_long(out, table->heads[i], tutti_table_cell(table, row, i)->text, beside);
  }
  tutti_text_add(out, "</tbody></table></div>\n");
  tutti_free(places);
  return TUTTI_OK;
}

static enum tutti_status add_download(tutti_context *context, struct tutti_text *out, const struct tutti_table *table,
                                      const char *run, size_t number) {
  struct tutti_text csv = tutti_text_begin(context);
  char *text;
  tutti_table_csv(table, &csv);
  TUTTI_TRY(context, tutti_text_take(&csv, &text));
  tutti_text_add(out, "<a class=\"download\" download=\"");
  tutti_xml_add(out, run);
  tutti_text_add(out, "-%s", table->name);
  if (number)
    tutti_text_add(out, "-%zu", number + 1);
  tutti_text_add(out, ".csv\" href=\"data:text/csv;charset=utf-8;base64,");
  tutti_base64_add(out, text, strlen(text));
  tutti_text_add(out, "\">CSV</a>");
  tutti_free(text);
  return TUTTI_OK;
}

/* With a picture, the numbers are folded away. */
static enum tutti_status add_table(tutti_context *context, struct tutti_text *out, const struct report_figure *figure,
                                   size_t number, const char *run, bool drawn) {
  const struct tutti_table *table = &figure->tables[number];
  size_t rows = tutti_table_rows(table);
  if (rows == 0)
    return TUTTI_OK;
  tutti_text_add(out, "<details%s><summary>Numbers: %zu %s%s ", drawn ? "" : " open=\"open\"", rows,
                 tutti_plural(rows, "row", "rows"),
                 rows > MOST_ROWS_SHOWN ? ", of which the first 200 are here and all in the" : "");
  TUTTI_TRY(context, add_download(context, out, table, run, number));
  tutti_text_add(out, "</summary>\n");
  TUTTI_TRY(context, add_rows(context, out, table));
  tutti_text_add(out, "</details>\n");
  return TUTTI_OK;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static void add_paragraph(struct tutti_text *out, const char *class, const char *text) {
  tutti_text_add(out, "<p class=\"%s\">", class);
  tutti_xml_add(out, text);
  tutti_text_add(out, "</p>\n");
}

enum { SMALL_PICTURE = 480 }; /* whose texts can still be read on a telephone, where it has all room that there is */

static enum tutti_status add_content(tutti_context *context, struct tutti_text *out, const struct report_figure *figure,
                                     const char *run, bool without) {
  bool drawn = false;
  if (figure->missing) {
    add_paragraph(out, "quiet", figure->missing);
    return TUTTI_OK;
  }
  tutti_text_add(out, "<div class=\"charts\">");
  for (size_t i = 0; i < figure->plot_count; i++)
    if (figure->svg[i]) {
      tutti_text_add(out, "<div class=\"%s%s\" role=\"img\" aria-label=\"",
                     figure->plots[i].width <= SMALL_PICTURE ? "small" : "large",
                     figure->plots[i].crossed ? " crossed" : "");
      tutti_xml_add(out, figure->plots[i].name);
      tutti_text_add(out, "\">%s</div>\n", figure->svg[i]);
      drawn = true;
    }
  for (size_t i = 0; i < figure->graph_count; i++)
    if (figure->graphs[i].svg) {
      tutti_text_add(out, "<div><div class=\"graph\">%s</div>", figure->graphs[i].svg);
      add_paragraph(out, "quiet", figure->graphs[i].caption);
      tutti_text_add(out, "</div>\n");
      drawn = true;
    }
  tutti_text_add(out, "</div>\n");
  if (!drawn && figure->plot_count > 0 && !without)
    add_paragraph(out, "quiet", "gnuplot could not draw this; the numbers are below.");
  if (figure->note)
    add_paragraph(out, "note", figure->note);
  for (size_t i = 0; i < figure->table_count; i++)
    TUTTI_TRY(context, add_table(context, out, figure, i, run, drawn));
  return TUTTI_OK;
}

/* Tables and wide pictures take a line of the page; others stand beside each other. */
static bool is_wide(const struct report_figure *figure) {
  int width = 0;
  for (size_t i = 0; i < figure->plot_count; i++)
    width += figure->plots[i].width;
  return width == 0 || width > 700;
}

static void begin_figure(struct tutti_text *out, const struct report_chart *chart, bool wide) {
  tutti_text_add(out, "<figure id=\"%s\"%s>\n<h3>", chart->name, wide ? " class=\"wide\"" : "");
  tutti_xml_add(out, chart->title);
  tutti_text_add(out, "</h3>\n");
  add_paragraph(out, "quiet", chart->text);
}

/* A chart of all runs, side by side. */
static enum tutti_status add_chart(tutti_context *context, struct tutti_text *out, const struct report_page *page,
                                   const struct report_figure *figures) {
  begin_figure(out, figures[0].chart, page->runs > 1 || is_wide(&figures[0]));
  if (page->runs > 1)
    tutti_text_add(out, "<div class=\"runs\">\n");
  for (size_t run = 0; run < page->runs; run++) {
    if (page->runs > 1) {
      tutti_text_add(out, "<div><h4>");
      tutti_xml_add(out, page->facts[run].name);
      tutti_text_add(out, "</h4>\n");
    }
    TUTTI_TRY(context, add_content(context, out, &figures[run], page->facts[run].name, page->lacking != NULL));
    if (page->runs > 1)
      tutti_text_add(out, "</div>\n");
  }
  tutti_text_add(out, page->runs > 1 ? "</div></figure>\n" : "</figure>\n");
  return TUTTI_OK;
}

/* --- the page ----------------------------------------------------------------------------------------------------- */

/* Is a chart on the page? Of many runs, only the brief ones are; and it has to say something about one of the runs. */
static bool is_shown(const struct report_page *page, const struct report_figure *figures) {
  bool says = false;
  for (size_t i = 0; i < page->runs; i++)
    says = says || (figures[i].chart && !figures[i].skipped);
  return says;
}

static void add_head(struct tutti_text *out, const struct report_page *page) {
  tutti_text_add(out,
                 "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                 "<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                 "'none'; style-src 'unsafe-inline'; img-src data:\"/>\n<meta name=\"viewport\" "
                 "content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"generator\" content=\"tutti\"/>\n"
                 "<title>");
  tutti_xml_add(out, page->runs == 1 ? page->facts[0].name : "Several runs");
  tutti_text_add(out, "</title>\n<style>%s</style>\n</head>\n<body>\n%s", tutti_report_style(),
                 page->lacking ? "" : tutti_plot_symbols());
}

static void add_links(struct tutti_text *out, const struct report_page *page) {
  const struct report_figure *figures = page->figures;
  tutti_text_add(out, "<nav>");
  for (size_t i = 0; i < page->sections; i++) {
    bool shown = false;
    for (const struct report_chart *chart = page->section[i]->charts; chart->name; chart++, figures += page->runs)
      shown = shown || is_shown(page, figures);
    if (!shown)
      continue;
    tutti_text_add(out, "<a href=\"#part%zu\">", i + 1);
    tutti_xml_add(out, page->section[i]->title);
    tutti_text_add(out, "</a> ");
  }
  tutti_text_add(out, "</nav>\n");
}

/* Of many runs, which say nearly the same, folded away. */
static void add_words(struct tutti_text *out, const struct report_page *page) {
  bool many = page->runs > REPORT_MANY_RUNS;
  if (many)
    tutti_text_add(out, "<details class=\"all\"><summary>Each run in words</summary>\n");
  tutti_text_add(out, page->runs > 1 ? "<div class=\"runs\">\n" : "<div>\n");
  for (size_t run = 0; run < page->runs; run++) {
    tutti_text_add(out, "<section class=\"words\"><h%d>", page->runs == 1 ? 1 : 2);
    tutti_xml_add(out, page->facts[run].name);
    tutti_text_add(out, "</h%d>\n", page->runs == 1 ? 1 : 2);
    tutti_report_words(&page->facts[run], out);
    tutti_text_add(out, "</section>\n");
  }
  tutti_text_add(out, many ? "</div></details>\n" : "</div>\n");
  if (page->lacking)
    tutti_text_add(out,
                   "<p class=\"warn\">Without pictures: not found on this machine: %s. The tables have all "
                   "numbers.</p>\n",
                   page->lacking);
}

/* A section with the charts that say something; without any, nothing. `figures` are those of its first chart, and then
   of the next section's. */
static enum tutti_status add_section(tutti_context *context, struct tutti_text *out, const struct report_page *page,
                                     size_t section, const struct report_figure **figures) {
  bool begun = false;
  for (const struct report_chart *chart = page->section[section]->charts; chart->name;
       chart++, *figures += page->runs) {
    if (!is_shown(page, *figures))
      continue;
    if (!begun) {
      tutti_text_add(out, "<h2 id=\"part%zu\">", section + 1);
      tutti_xml_add(out, page->section[section]->title);
      tutti_text_add(out, "</h2>\n<div class=\"part\">\n");
    }
    begun = true;
    TUTTI_TRY(context, add_chart(context, out, page, *figures));
  }
  if (begun)
    tutti_text_add(out, "</div>\n");
  return TUTTI_OK;
}

enum tutti_status tutti_page_write(tutti_context *context, const struct report_page *page, char **html) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text out = tutti_text_begin(context);
  const struct report_figure *figures = page->figures;
  add_head(&out, page);
  if (page->runs > 1)
    tutti_text_add(&out, "<h1>%zu runs, side by side</h1>\n", page->runs);
  if (page->waiting > 0)
    tutti_text_add(&out, "<p class=\"warn\">%zu more %s not begun.</p>\n", page->waiting,
                   tutti_plural(page->waiting, "run has", "runs have"));
  add_links(&out, page);
  tutti_text_add(&out, "<div class=\"part\">\n");
  for (size_t i = 0; i < page->together_count; i++) {
    if (page->together[i].skipped)
      continue;
    begin_figure(&out, page->together[i].chart, is_wide(&page->together[i]));
    TUTTI_TRY_OUT(context, add_content(context, &out, &page->together[i], "runs", page->lacking != NULL));
    tutti_text_add(&out, "</figure>\n");
  }
  tutti_text_add(&out, "</div>\n");
  add_words(&out, page);
  for (size_t i = 0; i < page->sections; i++)
    TUTTI_TRY_OUT(context, add_section(context, &out, page, i, &figures));
  tutti_text_add(&out, "</body>\n</html>\n");
  return tutti_text_take(&out, html);
out:
  tutti_text_discard(&out);
  return status;
}
