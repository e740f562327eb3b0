/* plot.h - charts, drawn by gnuplot as SVG. A plot is a script of gnuplot's in the making. Its commands are written by
   whoever makes a chart; what comes from a run or a file goes in only as numbers of tables, and as texts through
   tutti_plot_text and its like, which leave nothing that gnuplot would read as more than a text. */
#ifndef TUTTI_PLOT_H
#define TUTTI_PLOT_H

#include "table.h"

/* What a series is drawn with; the page says what colours these are, in light and dark. */
enum tutti_ink {
  TUTTI_INK_FIRST, /* eight colours that are told apart */
  TUTTI_INK_LAST = 7,
  TUTTI_INK_TEXT,  /* as text */
  TUTTI_INK_FAINT, /* grounds and bands that stay behind */
  TUTTI_INK_QUIET, /* points that stay behind, and are seen */
  TUTTI_INK_SCALE  /* by the last column of `using_`, from dark blue to yellow */
};

/* What stands below the x axis: as many numbers as have room, only whole ones, or what the chart itself says, such as
   the texts of tutti_plot_tick or the powers of ten of a logarithm. */
enum tutti_ticks { TUTTI_TICKS_NUMBERS, TUTTI_TICKS_WHOLE, TUTTI_TICKS_OWN };

struct tutti_plot {
  struct tutti_text head, series;
  const char *name; /* static; what screen readers say */
  int width, height;
  enum tutti_ticks ticks; /* numbers, unless it is set */
  bool crossed;           /* lines run through its texts, which therefore need a ground */
};

/* Begin a chart of that size; end it with tutti_plot_end. Failures stick in its texts. */
struct tutti_plot tutti_plot_begin(tutti_context *context, const char *name, int width, int height);
void tutti_plot_end(struct tutti_plot *plot);
/* One more command of gnuplot, as in "set logscale x"; nothing that comes from a run may be in it but numbers. */
void tutti_plot_set(struct tutti_plot *plot, const char *format, ...) TUTTI_PRINTF(2, 3);
/* "set WHAT 'text'", as in "xlabel". */
void tutti_plot_text(struct tutti_plot *plot, const char *what, const char *text);
/* A tick with a text instead of a number; `axis` is 'x' or 'y'. */
void tutti_plot_tick(struct tutti_plot *plot, char axis, double at, const char *text);
/* A text at a place; `how` is gnuplot's, as in "center offset 0,1". */
void tutti_plot_note(struct tutti_plot *plot, double x, double y, const char *text, const char *how);
/* One more series of a table: gnuplot's `using` and `with`. Columns count from 1; a cell with a text has no number.
   `key` is its text in the key, NULL: it has none. */
void tutti_plot_series(struct tutti_plot *plot, size_t table, const char *columns, const char *with, enum tutti_ink ink,
                       const char *key);
/* The same with a curve of gnuplot's own, as in "x". */
void tutti_plot_function(struct tutti_plot *plot, const char *function, const char *with, enum tutti_ink ink,
                         const char *key);

/* A chart and the tables that its series count. */
struct tutti_plot_job {
  const struct tutti_plot *plot;
  size_t tables;
  const struct tutti_table *table; /* [tables] */
  char *svg;                       /* out: an element of XML, without a head, or NULL; free with tutti_free */
};
/* Draw them all in one go. A chart that gnuplot cannot draw has no picture. TUTTI_ERROR_UNSUPPORTED: gnuplot is not
   there. */
TUTTI_NODISCARD enum tutti_status tutti_plots_draw(tutti_context *context, size_t count, struct tutti_plot_job *jobs);
/* What all the pictures on a page refer to, once a page. Static. */
const char *tutti_plot_symbols(void);

#endif
