/* plot.c - charts as scripts of gnuplot's. */
#include "plot.h"
#include "picture.h"
#include "tool.h"
#include "xml.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- scripts ------------------------------------------------------------------------------------------------------ */

struct tutti_plot tutti_plot_begin(tutti_context *context, const char *name, int width, int height) {
  return (struct tutti_plot){.head = tutti_text_begin(context),
                             .series = tutti_text_begin(context),
                             .name = name,
                             .width = width,
                             .height = height};
}

void tutti_plot_end(struct tutti_plot *plot) {
  tutti_text_discard(&plot->head);
  tutti_text_discard(&plot->series);
}

void tutti_plot_set(struct tutti_plot *plot, const char *format, ...) {
  char command[512];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(command, sizeof command, format, values);
  va_end(values);
  tutti_text_add(&plot->head, "%s\n", command);
}

/* In single quotes, gnuplot takes everything as it is but the quote, which is doubled. Line ends would end the command,
   and backquotes and backslashes mean something in other quotes: none of them stays. */
static void add_quoted(struct tutti_text *out, const char *text) {
  tutti_text_add(out, "'");
  while (*text) {
    size_t length = tutti_xml_character(text);
    if (length == 0 || (unsigned char)*text < 0x20)
      tutti_text_add(out, "?");
    else if (*text == '\'')
      tutti_text_add(out, "''");
    else if (*text == '`' || *text == '\\')
      tutti_text_add(out, "/");
    else
      tutti_text_add(out, "%.*s", (int)length, text);
    text += length ? length : 1;
  }
  tutti_text_add(out, "'");
}

void tutti_plot_text(struct tutti_plot *plot, const char *what, const char *text) {
  tutti_text_add(&plot->head, "set %s ", what);
  add_quoted(&plot->head, text);
  tutti_text_add(&plot->head, "\n");
}

void tutti_plot_tick(struct tutti_plot *plot, char axis, double at, const char *text) {
  if (axis == 'x')
    plot->ticks = TUTTI_TICKS_OWN;
  tutti_text_add(&plot->head, "set %ctics add (", axis);
  add_quoted(&plot->head, text);
  tutti_text_add(&plot->head, " %.9g)\n", at);
}

void tutti_plot_note(struct tutti_plot *plot, double x, double y, const char *text, const char *how) {
  tutti_text_add(&plot->head, "set label ");
  add_quoted(&plot->head, text);
  tutti_text_add(&plot->head, " at %.9g,%.9g %s\n", x, y, how);
}

/* Colours that stand for inks: the picture has the names of the page's in their place. */
static void add_style(struct tutti_plot *plot, const char *with, enum tutti_ink ink, const char *key) {
  tutti_text_add(&plot->series, " with %s", with);
  if (ink == TUTTI_INK_SCALE)
    tutti_text_add(&plot->series, " lc palette");
  else
    tutti_text_add(&plot->series, " lc rgb '#aa00%02x'", (unsigned)ink);
  if (!key) {
    tutti_text_add(&plot->series, " notitle");
    return;
  }
  tutti_text_add(&plot->series, " title ");
  add_quoted(&plot->series, key);
}

void tutti_plot_series(struct tutti_plot *plot, size_t table, const char *columns, const char *with, enum tutti_ink ink,
                       const char *key) {
  tutti_text_add(&plot->series, "%s$T%zu using %s", plot->series.length ? ", " : "plot ", table, columns);
  add_style(plot, with, ink, key);
}

void tutti_plot_function(struct tutti_plot *plot, const char *function, const char *with, enum tutti_ink ink,
                         const char *key) {
  tutti_text_add(&plot->series, "%s%s", plot->series.length ? ", " : "plot ", function);
  add_style(plot, with, ink, key);
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static const char preamble[] =
    "reset session\n"
    "set encoding utf8\n"
    "set border 3 lw 1\nset tics out nomirror\nset style fill solid 0.25 noborder\nset datafile missing '?'\n"
    "set key outside top center horizontal Left reverse samplen 1.6 height 0.3\n"
    "set style line 100 lc rgb '#aa0009' lw 0.5 dt solid\nset grid back ls 100\n"
    "set palette defined (0 '#3a66d6', 0.35 '#1f93a8', 0.6 '#4fa23a', 0.8 '#c48a12', 1 '#d6492a')\n"
    "set format '%.9g'\n";

/* gnuplot does not look whether numbers below an axis have room. So a chart is drawn in vain first, and then with the
   least step of 1, 2 or 5 times a power of ten with which they do, at some width for each character and some space in
   between. The axis may be drawn on to the next tick at either end, where half of a number stands out. */
static const char ticks_with_room[] =
    "step(x) = (p = 10.0**floor(log10(x)), x <= p ? p : x <= 2 * p ? 2 * p : x <= 5 * p ? 5 * p : 10 * p)\n"
    "low = GPVAL_X_MIN; high = GPVAL_X_MAX\n"
    "room = GPVAL_TERM_XMAX - GPVAL_TERM_XMIN\n"
    "by = high > low ? step((high - low) / (whole ? 12 : 8)) : 0\n"
    "if (whole && by > 0 && by < 1) { by = 1 }\n"
    "do for [i = 0:20] {\n"
    "  first = by > 0 ? floor(low / by) : 0; last = by > 0 ? ceil(high / by) : 0; widest = 0\n"
    "  do for [k = first:last] {\n"
    "    length = strlen(sprintf('%.9g', k * by))\n"
    "    widest = length > widest ? length : widest\n"
    "  }\n"
    "  if (by > 0 && (last - first) * (7.5 * widest + 8) > room) { by = step(1.5 * by) }\n"
    "}\n"
    "if (by > 0) { set xtics by }\n"
    "if (GPVAL_TERM_XMAX + 3.75 * widest > GPVAL_TERM_XSIZE / GPVAL_TERM_SCALE) { set rmargin 0.55 * widest }\n";

/* Does a row begin a new line of a parted table? */
static bool parts(const struct tutti_table *table, size_t row) {
  return table->parted && row > 0 &&
         tutti_table_cell(table, row, 0)->number != tutti_table_cell(table, row - 1, 0)->number;
}

/* Cells without a number are missing, and so are infinite ones. */
static void add_table(struct tutti_text *script, size_t number, const struct tutti_table *table) {
  tutti_text_add(script, "$T%zu << TUTTI_END\n", number);
  for (size_t row = 0; row < tutti_table_rows(table); row++) {
    if (parts(table, row))
      tutti_text_add(script, "\n");
    for (size_t column = 0; column < table->columns; column++) {
      const struct tutti_table_cell *cell = tutti_table_cell(table, row, column);
      if (!cell->text && isfinite(cell->number))
        tutti_text_add(script, "%.9g ", cell->number);
      else
        tutti_text_add(script, "? ");
    }
    tutti_text_add(script, "\n");
  }
  tutti_text_add(script, "TUTTI_END\n");
}

static enum tutti_status add_job(tutti_context *context, struct tutti_text *script, const struct tutti_plot_job *job) {
  const struct tutti_plot *plot = job->plot;
  TUTTI_TRY(context, plot->head.status);
  TUTTI_TRY(context, plot->series.status);
  tutti_text_add(script, "%s", preamble);
  for (size_t i = 0; i < job->tables; i++)
    add_table(script, i, &job->table[i]);
  tutti_text_add(script, "%sset terminal svg size %d,%d noenhanced font 'sans-serif,12'\n",
                 plot->head.data ? plot->head.data : "", plot->width, plot->height);
  const char *series = plot->series.data ? plot->series.data : "";
  if (plot->ticks != TUTTI_TICKS_OWN)
    tutti_text_add(script, "set output '/dev/null'\n%s\nwhole = %d\n%sset output\n", series,
                   plot->ticks == TUTTI_TICKS_WHOLE, ticks_with_room);
  tutti_text_add(script, "%s\nunset output\n", series);
  return TUTTI_OK;
}

static enum tutti_status draw(tutti_context *context, size_t count, struct tutti_plot_job *jobs) {
  static const char *const command[] = {"gnuplot", "-d", NULL};
  enum tutti_status status = TUTTI_OK;
  struct tutti_text script = tutti_text_begin(context);
  char *text = NULL, *pictures = NULL, **svg = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *svg, &svg));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, add_job(context, &script, &jobs[i]));
  TUTTI_TRY_OUT(context, tutti_text_take(&script, &text));
  TUTTI_TRY_OUT(context, tutti_tool_run(context, command, text, &pictures));
  TUTTI_TRY_OUT(context, tutti_pictures_split(context, "gnuplot", pictures, count, svg));
  for (size_t i = 0; i < count; i++)
    jobs[i].svg = svg[i];
out:
  tutti_text_discard(&script);
  tutti_free(text);
  tutti_free(pictures);
  tutti_free(svg);
  return status;
}

/* One chart that gnuplot cannot draw, such as one without any point, ends the whole script: then each is drawn alone.
   */
enum tutti_status tutti_plots_draw(tutti_context *context, size_t count, struct tutti_plot_job *jobs) {
  enum tutti_status status = count > 0 ? draw(context, count, jobs) : TUTTI_OK;
  if (status != TUTTI_ERROR_IO)
    return status;
  tutti_log(context, TUTTI_LOG_DEBUG, "%s", tutti_error_message(context));
  for (size_t i = 0; i < count; i++) {
    status = draw(context, 1, &jobs[i]);
    if (status == TUTTI_ERROR_IO)
      tutti_log(context, TUTTI_LOG_DEBUG, "%s: %s", jobs[i].plot->name, tutti_error_message(context));
    else
      TUTTI_TRY(context, status);
  }
  tutti_error_clear(context);
  return TUTTI_OK;
}
