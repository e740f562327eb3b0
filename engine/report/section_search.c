/* section_search.c - the trials of a search, or of a fit, one after the other, and who worked when. */
#include "compute.h"
#include "report_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

static const char *state_of(const struct tutti_record *record) {
  return record->done ? tutti_state_name(record->state) : "asked";
}

/* A loss that stretches over powers of ten is drawn in the logarithm; those above the frame are not looked at. */
static bool needs_logarithm(const struct report_facts *facts, double frame) {
  double least = INFINITY, most = -INFINITY;
  for (uint64_t i = 0; i < facts->history->asked; i++)
    if (facts->losses[i] <= frame) {
      least = fmin(least, facts->losses[i]);
      most = fmax(most, facts->losses[i]);
    }
  return least > 0 && most > 50 * least;
}

/* --- history ------------------------------------------------------------------------------------------------------ */

/* The chart of the losses, in table 0 by the trial, without its points. Those beyond `most` are above its frame. */
static struct tutti_plot *plot_losses(const struct report_facts *facts, struct report_figure *figure, double most) {
  struct tutti_plot *plot = tutti_figure_plot(figure, 900, 360);
  plot->ticks = TUTTI_TICKS_WHOLE;
  if (needs_logarithm(facts, most))
    tutti_plot_set(plot, "set logscale y");
  if (isfinite(most))
    tutti_plot_set(plot, "set yrange [*:%.9g]", most);
  return plot;
}

static enum tutti_status note_beyond(const struct report_facts *facts, struct report_figure *figure, double most,
                                     const char *trials) {
  uint64_t shown = 0, beyond = 0;
  for (uint64_t i = 0; i < facts->history->asked; i++) {
    shown += !isnan(facts->losses[i]);
    beyond += facts->losses[i] > most;
  }
  return beyond > 0 ? tutti_figure_note(figure, "%" PRIu64 " of %" PRIu64 " %s %s above the frame.", beyond, shown,
                                        trials, tutti_plural((size_t)beyond, "is", "are"))
                    : TUTTI_OK;
}

static bool knows_loss(const struct report_facts *facts) {
  for (uint64_t i = 0; i < facts->history->asked; i++)
    if (!isnan(facts->losses[i]))
      return true;
  return false;
}

static enum tutti_status draw_history(const struct report_facts *facts, struct report_figure *figure) {
  if (tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  if (!knows_loss(facts))
    return tutti_figure_missing(figure, "No trial has finished yet.");
  struct tutti_table *table = tutti_figure_table(figure, "trial", "loss", "best so far", "member", "seconds",
                                                 "worker done at s", "state", "origin", "failure", NULL);
  double best = NAN, most = tutti_report_shown_most(facts);
  char label[64];
  for (uint64_t i = 0; i < facts->history->asked; i++) {
    const struct tutti_record *record = &facts->history->records[i];
    const double loss = facts->losses[i];
    if (!(best <= loss) && !isnan(loss))
      best = loss;
    tutti_table_put(table, (double)i);
    tutti_table_put(table, loss);
    tutti_table_put(table, best);
    tutti_table_put(table, tutti_report_is_member(facts, i) ? 1 : 0);
    tutti_table_put(table, record->done ? record->seconds : (double)NAN);
    tutti_table_put(table, record->at);
    tutti_table_put_text(table, state_of(record));
    tutti_table_put_text(table, record->origin);
    tutti_table_put_text(table, record->failure ? record->failure : "");
  }
  struct tutti_plot *plot = plot_losses(facts, figure, most);
  tutti_plot_text(plot, "xlabel", "trial");
  (void)snprintf(label, sizeof label, "%s%s", tutti_loss_names()[facts->experiment->loss],
                 facts->experiment->dataset ? ", validation rows" : "");
  tutti_plot_text(plot, "ylabel", label);
  tutti_plot_series(plot, 0, "1:2", "points pt 6 ps 0.5", TUTTI_INK_QUIET, "a trial");
  if (facts->members > 0)
    tutti_plot_series(plot, 0, "1:($4>0?$2:NaN)", "points pt 6 ps 0.9", 1, "a member of the ensemble");
  tutti_plot_series(plot, 0, "1:3", "steps lw 2", 0, "best so far");
  return note_beyond(facts, figure, most, "trials");
}

/* --- repeats of a fit --------------------------------------------------------------------------------------------- */

static enum tutti_status draw_losses(const struct report_facts *facts, struct report_figure *figure) {
  if (!tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  if (!knows_loss(facts))
    return tutti_figure_missing(figure, "No repeat has finished yet.");
  const double most = tutti_report_shown_most(facts);
  char label[64];
  (void)snprintf(label, sizeof label, "%s, test rows", tutti_loss_names()[facts->experiment->loss]);
  struct tutti_table *table =
      tutti_figure_table(figure, "repeat", label, "seconds", "worker done at s", "state", "failure", NULL);
  for (uint64_t i = 0; i < facts->history->asked; i++) {
    const struct tutti_record *record = &facts->history->records[i];
    tutti_table_put(table, (double)i);
    tutti_table_put(table, facts->losses[i]);
    tutti_table_put(table, record->done ? record->seconds : (double)NAN);
    tutti_table_put(table, record->at);
    tutti_table_put_text(table, state_of(record));
    tutti_table_put_text(table, record->failure ? record->failure : "");
  }
  struct tutti_plot *plot = plot_losses(facts, figure, most);
  tutti_plot_text(plot, "xlabel", "repeat");
  tutti_plot_text(plot, "ylabel", label);
  tutti_plot_series(plot, 0, "1:2", "points pt 6 ps 0.6", 0, "a repeat");
  return note_beyond(facts, figure, most, "repeats");
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

/* The trainings of which it is known when their results came. */
struct timeline {
  const struct tutti_history *history;
  struct report_bar *bars; /* [count] */
  uint64_t *trials;        /* [count] */
  size_t count;            /* <= history->asked */
};

static enum tutti_status add_bar(void *argument, const struct tutti_trial *trial) {
  struct timeline *timeline = argument;
  if (!trial->done || !isfinite(trial->at) || timeline->count == timeline->history->asked)
    return TUTTI_OK;
  timeline->trials[timeline->count] = trial->number;
  timeline->bars[timeline->count++] =
      (struct report_bar){.worker = trial->worker, .at = trial->at, .seconds = fmax(0, trial->seconds)};
  return TUTTI_OK;
}

/* How many trainings a worker had at once. */
static enum tutti_status read_places(const struct report_facts *facts, size_t count, size_t *places) {
  char *capacity;
  TUTTI_TRY(facts->context,
            tutti_catalogue_get(facts->context, facts->view->catalogue, TUTTI_FACT_CAPACITY, &capacity));
  unsigned long said = capacity ? strtoul(capacity, NULL, 10) : 1;
  tutti_free(capacity);
  *places = said < 1 ? 1 : said < count ? said : count;
  return TUTTI_OK;
}

/* Bars from the begin of a training to its end, one line for each worker, and in it one for each of its places. */
static void plot_workers(struct report_figure *figure, uint32_t most, size_t places) {
  enum { MOST_LINES = 40 };
  char good[128], bad[128];
  size_t lines = ((size_t)most + 1) * (places < 4 ? places : 4);
  struct tutti_plot *plot = tutti_figure_plot(figure, 900, 110 + 22 * (int)(lines < MOST_LINES ? lines : MOST_LINES));
  tutti_plot_text(plot, "xlabel", "seconds of the run's work");
  tutti_plot_text(plot, "ylabel", "worker");
  tutti_plot_set(plot, "set yrange [-0.6:%g]", most + 0.6);
  tutti_plot_set(plot, "set ytics %u", most / 10 + 1);
  tutti_plot_set(plot, "set style fill solid 0.5 border");
  tutti_plot_set(plot, "low(worker, place) = worker - 0.35 + 0.7 * place / %zu", places);
  (void)snprintf(good, sizeof good, "(($4+$5)/2):($6>0?$2:NaN):4:5:(low($2,$3)):(low($2,$3+1))");
  (void)snprintf(bad, sizeof bad, "(($4+$5)/2):($6>0?NaN:$2):4:5:(low($2,$3)):(low($2,$3+1))");
  tutti_plot_series(plot, 0, good, "boxxyerror", 0, "finished");
  tutti_plot_series(plot, 0, bad, "boxxyerror", 1, "failed, or ended early");
}

static enum tutti_status draw_workers(const struct report_facts *facts, struct report_figure *figure) {
  tutti_context *context = facts->context;
  enum tutti_status status;
  struct timeline timeline = {.history = facts->history};
  size_t places;
  uint32_t most = 0;
  if (facts->history->parts)
    return tutti_figure_missing(figure, "The models are of several runs, each with its own time.");
  TUTTI_TRY_OUT(context, tutti_alloc(context, facts->history->asked, sizeof *timeline.bars, &timeline.bars));
  TUTTI_TRY_OUT(context, tutti_alloc(context, facts->history->asked, sizeof *timeline.trials, &timeline.trials));
  TUTTI_TRY_OUT(context, tutti_catalogue_visit(context, facts->view->catalogue, add_bar, &timeline));
  if (timeline.count == 0) {
    status = tutti_figure_missing(figure, "The times of the trials were not recorded.");
    goto out;
  }
  TUTTI_TRY_OUT(context, read_places(facts, timeline.count, &places));
  TUTTI_TRY_OUT(context, tutti_report_timeline(context, timeline.count, timeline.bars, &places));
  struct tutti_table *table =
      tutti_figure_table(figure, "trial", "worker", "place", "begin (s)", "end (s)", "finished", NULL);
  for (size_t i = 0; i < timeline.count; i++) {
    const struct report_bar *bar = &timeline.bars[i];
    bool finished = facts->history->records[timeline.trials[i]].state == TUTTI_STATE_FINISHED;
    const double numbers[] = {
        (double)timeline.trials[i], bar->worker, (double)bar->place, bar->begin, bar->end, finished};
    tutti_table_put_all(table, 6, numbers);
    most = bar->worker > most ? bar->worker : most;
  }
  plot_workers(figure, most, places);
out:
  tutti_free(timeline.bars);
  tutti_free(timeline.trials);
  return status;
}

static const struct report_chart charts[] = {
    {.name = "history",
     .title = "The search, trial by trial",
     .text = "Each ring is a trial with its loss; the line is the best loss until then. "
             "Where it still falls at the right end, more trials may help.",
     .brief = true,
     .draw = draw_history},
    {.name = "losses",
     .title = "Repeat by repeat",
     .text = "Each ring is a repeat of the fit, with a seed of its own, and its loss. How far they lie apart is what "
             "chance does; more repeats make their mean more certain.",
     .brief = true,
     .draw = draw_losses},
    {.name = "workers",
     .title = "Who worked when",
     .text =
         "Each bar is the training of one trial, on the line of its worker: as long as the worker says, and as late "
         "as its result and the next training allow. Gaps are times in which a worker had nothing to do, wrote "
         "files, or waited for the manager.",
     .draw = draw_workers},
    {.name = NULL},
};
const struct report_section report_section_search = {.title = "The trials", .charts = charts};
