/* report_impl.h - from a run to a page: facts are gathered (facts.c, rows.c), charts make figures of them
   (section_*.c), figures are drawn (figure.c), and the page is written (page.c). */
#ifndef TUTTI_REPORT_IMPL_H
#define TUTTI_REPORT_IMPL_H

#include "engine/draw/plot.h"
#include "engine/run/run_view_impl.h"

#include <jansson.h>

/* --- facts -------------------------------------------------------------------------------------------------------- */

/* What an ensemble says of the rows of a split, before its calibrator and after. */
struct report_said {
  struct tutti_uncertainty *predicted; /* [rows][outputs]; NULL: there is no calibrator */
  double *intervals;                   /* regression: [rows][outputs][2] at the recipe's level; NaN without variances */
};
struct report_rows {
  const char *split; /* NULL: the run has none; static */
  size_t rows, outputs;
  double level;
  double *values;        /* regression: targets [rows][outputs] */
  int32_t *labels;       /* classification: [rows] */
  uint32_t *source_rows; /* [rows]: numbers in the source, or NULL */
  struct report_said before, after;
};

struct report_facts {
  tutti_context *context;
  const char *directory; /* borrowed */
  const char *name;      /* of the run on this page; borrowed */
  tutti_view *view;
  const struct tutti_experiment *experiment;
  const struct tutti_history *history;
  bool classes;       /* classification */
  json_t *status;     /* as tutti status --json gives it */
  json_t *summary;    /* summary.json; NULL: the run is not finished */
  json_t *evaluation; /* as tutti evaluate --json gives it; NULL: there is none */
  json_t *ensemble;   /* ensemble.json; NULL: there is none */
  json_t *costs;      /* the same for ensembles that cost less and less (tutti_report_cost); NULL: none */
  json_t *sizes;      /* as tutti curve --json gives it for ensembles of other sizes; NULL: there is none */
  json_t **reports;   /* [history->asked]; NULL where there is no result */
  double *losses;     /* [history->asked]; NaN where a trial has none, as it failed, was pruned or has not ended */
  char *no_ensemble;  /* why there is no evaluation; NULL if there is one */
  json_t *data;       /* data.json; NULL: the run has no data */
  char *path;         /* of the data, as the recipe has it; NULL or "": they are of no file */
  char *made_by;      /* the program and its version, as recipe.ini has it; NULL: unknown */
  size_t members;     /* of the ensemble */
  uint64_t *trials;   /* [members], ascending */
  struct report_rows rows;
};
/* Gather what is known of a run. Call release even after a failure. */
TUTTI_NODISCARD enum tutti_status tutti_report_gather(tutti_context *context, const char *directory, const char *name,
                                                      struct report_facts *facts);
void tutti_report_release(struct report_facts *facts);
/* Rows that took part in nothing, or if there are none those of validation (rows.c). */
TUTTI_NODISCARD enum tutti_status tutti_report_gather_rows(struct report_facts *facts);
void tutti_report_release_rows(struct report_rows *rows);

/* A split of the evaluation; NULL if it is not there. */
const json_t *tutti_report_split(const struct report_facts *facts, const char *split);
/* The metrics, on a split of a shift, of the ensemble that was chosen anew on the validation rows of that shift; NULL:
   there is none. *shift, if it is not NULL: the shift as summary.json has it. */
const json_t *tutti_report_anew(const struct report_facts *facts, const char *split, const json_t **shift);
/* A metric's value in an array of metrics; NaN if it is not there. */
double tutti_report_metric(const json_t *metrics, const char *name);
/* The loss of a trial on a split, as its report has it; NaN if it is not there. */
double tutti_report_loss(const struct report_facts *facts, uint64_t trial, const char *split, const char *loss);
double tutti_report_number(const json_t *object, const char *key);
/* Was the ensemble chosen from fewer trials than are done by now? From how many. */
bool tutti_report_is_behind(const struct report_facts *facts, long long *trials);
/* The largest loss of a trial that a chart shows (tutti_report_frame). */
double tutti_report_shown_most(const struct report_facts *facts);
/* What the costs of its models are, as a member of their reports: measured microseconds if there are any, or flops, or
   parameters; NULL: nothing of that is known. */
const char *tutti_report_cost(const struct report_facts *facts);
/* Why intervals of such a level have no end, as the calibrator's fit says; NULL: they have. */
const char *tutti_report_endless(const struct report_facts *facts, double level);
bool tutti_report_is_member(const struct report_facts *facts, uint64_t trial);

/* --- figures ------------------------------------------------------------------------------------------------------ */

enum { REPORT_MOST_TABLES = 6, REPORT_MOST_PLOTS = 6, REPORT_MOST_GRAPHS = 32 };

/* A graph, as its text and then as its picture, with what stands below it. */
struct report_graph {
  char *caption, *text, *svg;
};
/* What a chart shows of a run. Plots count its tables. */
struct report_figure {
  tutti_context *context;
  const struct report_chart *chart;
  struct tutti_table tables[REPORT_MOST_TABLES];
  struct tutti_plot plots[REPORT_MOST_PLOTS];
  char *svg[REPORT_MOST_PLOTS];
  struct report_graph graphs[REPORT_MOST_GRAPHS];
  size_t table_count, plot_count, graph_count;
  char *missing; /* why there is nothing to see; NULL: there is */
  bool skipped;  /* it says nothing about runs of this kind */
  char *note;    /* what is said of this run; NULL: nothing */
};

/* A kind of figure. */
struct report_chart {
  const char *name; /* of its CSV files, and in links */
  const char *title;
  const char *text; /* what is seen, and how to read it: one or two sentences */
  bool brief;       /* also shown where many runs are side by side */
  /* Fill the figure, or say with tutti_figure_missing why there is nothing to see. */
  enum tutti_status (*draw)(const struct report_facts *facts, struct report_figure *figure);
};
/* A part of the page: the charts of a file section_NAME.c, in the order of local.mk. */
struct report_section {
  const char *title;
  const struct report_chart *charts; /* the last one has no name */
  bool of_ensembles;                 /* says nothing about fits, which have none */
  bool of_predictions;               /* says nothing about fits and about runs without data */
};

/* One more table, with columns ended by NULL, whose name is that of the chart; the pointer is good as long as the
   figure. */
struct tutti_table *tutti_figure_add_table(struct report_figure *figure, const char *const *columns);
#define tutti_figure_table(figure, ...) tutti_figure_add_table(figure, (const char *const[]){__VA_ARGS__})
struct tutti_plot *tutti_figure_plot(struct report_figure *figure, int width, int height);
/* One more graph, whose text is taken (engine/draw/graph.h). */
TUTTI_NODISCARD enum tutti_status tutti_figure_graph(struct report_figure *figure, const char *caption,
                                                     struct tutti_text *text);
enum tutti_status tutti_figure_missing(struct report_figure *figure, const char *format, ...) TUTTI_PRINTF(2, 3);
/* Leave it out: it says nothing about runs of this kind. */
enum tutti_status tutti_figure_skip(struct report_figure *figure);
/* Say it of this run, behind what was said of it. */
enum tutti_status tutti_figure_note(struct report_figure *figure, const char *format, ...) TUTTI_PRINTF(2, 3);
/* Say that an error is a mean over several targets, if there are some, whose units may be unlike. */
enum tutti_status tutti_report_note_targets(const struct report_facts *facts, struct report_figure *figure,
                                            const char *error);
/* How many models a trial has: one for each fold, or one. */
size_t tutti_report_models(const struct report_facts *facts);
/* Where it has several, say of how many of them parameters and FLOPs are: "one of them", say. */
enum tutti_status tutti_report_note_folds(const struct report_facts *facts, struct report_figure *figure,
                                          const char *counted);
/* Say whether what is shown of the rows is after the calibrator. */
enum tutti_status tutti_report_note_calibrated(const struct report_facts *facts, struct report_figure *figure);
/* Say why intervals of such a level have no end, if they have none. */
enum tutti_status tutti_report_note_endless(const struct report_facts *facts, struct report_figure *figure,
                                            double level);
void tutti_figure_end(struct report_figure *figure);
/* Draw all plots and graphs. *lacking: the programs that are not there, or NULL. */
TUTTI_NODISCARD enum tutti_status tutti_figures_draw(tutti_context *context, size_t count,
                                                     struct report_figure *figures, const char **lacking);

/* --- the page ----------------------------------------------------------------------------------------------------- */

enum { REPORT_MANY_RUNS = 4 }; /* of more runs, the page has only what is brief */

struct report_page {
  size_t runs, sections, charts; /* charts: of all sections */
  size_t waiting;                /* cells of ablations that have not begun */
  const struct report_facts *facts;
  const struct report_section *const *section;
  struct report_figure *figures;  /* [charts][runs] */
  struct report_figure *together; /* over all runs [together_count] */
  size_t together_count;
  const char *lacking;
};
TUTTI_NODISCARD enum tutti_status tutti_page_write(tutti_context *context, const struct report_page *page, char **html);
/* What was asked and what was found, in words (words.c). */
void tutti_report_words(const struct report_facts *facts, struct tutti_text *out);
/* The page's style. Static (style.c). */
const char *tutti_report_style(void);

#endif
