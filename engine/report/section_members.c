/* section_members.c - the members: their networks, how differently they predict, how they learnt. */
#include "compute.h"
#include "report_impl.h"

#include "core/base/file_impl.h"
#include "engine/draw/graph.h"
#include "engine/draw/thin.h"
#include "engine/run/record_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

enum { MOST_NETWORKS = 12, MANY_BOXES = 60, MOST_BOXES = 200, MOST_MODELS = 200, MOST_ROWS = 1000, MOST_CURVES = 8 };

static const char no_members[] = "There is no ensemble yet.";

/* --- architectures ------------------------------------------------------------------------------------------------ */

/* Layers that belong to the box of the one before them. */
static bool is_small(const struct tutti_layer *layer) {
  static const enum tutti_op small[] = {TUTTI_OP_BATCH_NORM, TUTTI_OP_ACTIVATION, TUTTI_OP_IDENTITY, TUTTI_OP_DROPOUT,
                                        TUTTI_OP_DROP_PATH,  TUTTI_OP_DETACH,     TUTTI_OP_FLATTEN};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++)
    if (layer->op == small[i])
      return layer->input_count == 1;
  return false;
}

/* What a box says of a layer: its op with what makes it this one. */
static void describe(struct tutti_text *out, const struct tutti_layer *layer) {
  int kernel = tutti_layer_integer(layer, "kernel_height", 0), stride = tutti_layer_integer(layer, "stride", 1);
  if (layer->op == TUTTI_OP_ACTIVATION)
    tutti_text_add(out, "%s",
                   tutti_activation_name((enum tutti_activation)tutti_layer_integer(layer, "activation", 0)));
  else if (layer->op == TUTTI_OP_DENSE)
    tutti_text_add(out, "dense %d", tutti_layer_integer(layer, "units", layer->shape.channels));
  else {
    tutti_text_add(out, "%s", layer->op_name);
    if (kernel > 0)
      tutti_text_add(out, " %dx%d", kernel, tutti_layer_integer(layer, "kernel_width", kernel));
    if (stride > 1)
      tutti_text_add(out, " /%d", stride);
  }
  if (layer->op == TUTTI_OP_INPUT || layer->op == TUTTI_OP_CONV2D) {
    if (layer->shape.height > 1 || layer->shape.width > 1)
      tutti_text_add(out, " %dx%dx%d", layer->shape.height, layer->shape.width, layer->shape.channels);
    else
      tutti_text_add(out, " %d", layer->shape.channels);
  }
}

static enum tutti_status add_box(tutti_context *context, struct tutti_text *graph, struct tutti_text *label,
                                 size_t number, bool strong) {
  char *text;
  TUTTI_TRY(context, tutti_text_take(label, &text));
  tutti_graph_box(graph, number, text, strong);
  tutti_free(text);
  return TUTTI_OK;
}

/* Does a layer share the box of its only input, which nothing else reads? In a brief picture, whole chains do. */
static bool joins_input(const tutti_network *network, size_t number, const size_t *readers, bool brief) {
  const struct tutti_layer *layer = tutti_network_layer(network, number);
  bool end = number + 1 == tutti_network_layers(network);
  return layer->input_count == 1 && readers[layer->inputs[0]] == 1 &&
         (is_small(layer) || (brief && !end && tutti_network_layer(network, layer->inputs[0])->op != TUTTI_OP_INPUT));
}

/* Which box each layer is in; returns how many there are. */
static size_t share_boxes(const tutti_network *network, const size_t *readers, bool brief, size_t *box) {
  size_t boxes = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    box[i] = joins_input(network, i, readers, brief) ? box[tutti_network_layer(network, i)->inputs[0]] : boxes++;
  return boxes;
}

/* Boxes of the layers; brief ones if there would be too many. */
static enum tutti_status draw_network(tutti_context *context, const tutti_network *network, struct tutti_text *graph,
                                      size_t *boxes) {
  enum tutti_status status = TUTTI_OK;
  size_t layers = tutti_network_layers(network), *box = NULL, *readers = NULL;
  struct tutti_text *labels = NULL;
  *boxes = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *box, &box));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *readers, &readers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *labels, &labels));
  for (size_t i = 0; i < layers; i++)
    for (size_t k = 0; k < tutti_network_layer(network, i)->input_count; k++)
      readers[tutti_network_layer(network, i)->inputs[k]]++;
  bool brief = share_boxes(network, readers, false, box) > MANY_BOXES;
  *boxes = share_boxes(network, readers, brief, box);
  for (size_t b = 0; b < *boxes; b++)
    labels[b] = tutti_text_begin(context);
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    struct tutti_text *label = &labels[box[i]];
    bool joins = joins_input(network, i, readers, brief);
    for (size_t k = 0; k < layer->input_count && !joins; k++)
      tutti_graph_arrow(graph, box[layer->inputs[k]], box[i]);
    if (brief && joins && is_small(layer))
      continue;
    if (joins)
      tutti_text_add(label, "\n");
    describe(label, layer);
  }
  for (size_t b = 0; b < *boxes; b++)
    TUTTI_TRY_OUT(context, add_box(context, graph, &labels[b], b, b == 0 || b == *boxes - 1));
out:
  for (size_t i = 0; labels && i < *boxes; i++)
    tutti_text_discard(&labels[i]);
  tutti_free(labels);
  tutti_free(readers);
  tutti_free(box);
  return status;
}

static enum tutti_status add_network(const struct report_facts *facts, struct report_figure *figure,
                                     struct tutti_table *table, uint64_t trial) {
  tutti_context *context = facts->context;
  tutti_network *network = NULL;
  struct tutti_text graph = tutti_text_begin(context);
  char caption[160];
  size_t boxes = 0;
  TUTTI_TRY(context, tutti_run_computed_network(context, &facts->view->pool, trial, &network));
  tutti_graph_begin(&graph);
  enum tutti_status status = draw_network(context, network, &graph, &boxes);
  tutti_graph_finish(&graph);
  const double numbers[] = {(double)trial, (double)tutti_network_layers(network),
                            (double)tutti_network_parameters(network), tutti_network_flops(network)};
  tutti_table_put_all(table, 4, numbers);
  const size_t parameters = tutti_network_parameters(network);
  (void)snprintf(caption, sizeof caption, "trial %" PRIu64 ": %zu %s", trial, parameters,
                 tutti_plural(parameters, "parameter", "parameters"));
  tutti_network_destroy(network);
  if (status != TUTTI_OK || boxes > MOST_BOXES || figure->graph_count >= MOST_NETWORKS) {
    tutti_text_discard(&graph);
    return status;
  }
  return tutti_figure_graph(figure, caption, &graph);
}

static enum tutti_status draw_architectures(const struct report_facts *facts, struct report_figure *figure) {
  struct tutti_table *table = tutti_figure_table(figure, "trial", "layers", "parameters", "flops", NULL);
  size_t networks = 0;
  if (facts->members == 0)
    return tutti_figure_missing(figure, no_members);
  for (size_t i = 0; i < facts->members; i++)
    if (facts->history->records[facts->trials[i]].report &&
        tutti_record_has(facts->history->records[facts->trials[i]].report, "network.json")) {
      networks++;
      TUTTI_TRY(facts->context, add_network(facts, figure, table, facts->trials[i]));
    }
  if (networks == 0)
    return tutti_figure_missing(figure, "The members are no networks (backend %s).",
                                tutti_host_plugin(facts->experiment->host, "backend"));
  TUTTI_TRY(facts->context, tutti_report_note_folds(facts, figure, "one of them, as it is drawn"));
  size_t others = facts->members - networks;
  char rest[96] = "";
  if (others > 0)
    (void)snprintf(rest, sizeof rest, "%zu of the %zu members %s no %s (see the candidates above).", others,
                   facts->members, tutti_plural(others, "is", "are"), tutti_plural(others, "network", "networks"));
  if (figure->graph_count < networks)
    return tutti_figure_note(figure, "%zu of %zu networks are drawn: at most %d, of at most %d boxes.%s%s",
                             figure->graph_count, networks, (int)MOST_NETWORKS, (int)MOST_BOXES, others ? " " : "",
                             rest);
  if (others > 0)
    return tutti_figure_note(figure, "%s", rest);
  return TUTTI_OK;
}

/* --- distances of predictions ------------------------------------------------------------------------------------- */

/* The root of the mean squared difference of what two models predict, over an even selection of rows: of means, or of
   probabilities. */
static double distance(const struct tutti_pool *pool, size_t one, size_t other) {
  size_t width = tutti_predictions_width(pool->kind, pool->outputs), rows = tutti_thin_count(pool->rows, MOST_ROWS);
  size_t step = pool->kind == TUTTI_TASK_REGRESSION ? 2 : 1;
  double sum = 0;
  for (size_t i = 0; i < rows; i++) {
    size_t at = tutti_thin_at(pool->rows, MOST_ROWS, i) * width;
    for (size_t k = 0; k < width; k += step) {
      double difference = (double)pool->predictions[one][at + k] - (double)pool->predictions[other][at + k];
      sum += difference * difference;
    }
  }
  return sqrt(sum / (double)rows / (step == 2 ? (double)pool->outputs : 1));
}

/* Trials whose predictions are compared: the members, and an even selection of the better half of the others. Free
   *trials. */
static enum tutti_status models_of(const struct report_facts *facts, size_t most, uint64_t **trials, size_t *count) {
  tutti_context *context = facts->context;
  enum tutti_status status;
  size_t finished, kept = 0, better = 0, seen = 0, room = most > facts->members ? most - facts->members : 0;
  double *losses = NULL, *ranks = NULL;
  TUTTI_TRY_OUT(context, tutti_history_finished(context, facts->history, trials, &finished));
  TUTTI_TRY_OUT(context, tutti_alloc(context, finished, sizeof *losses, &losses));
  TUTTI_TRY_OUT(context, tutti_alloc(context, finished, sizeof *ranks, &ranks));
  for (size_t i = 0; i < finished; i++)
    losses[i] = facts->history->records[(*trials)[i]].loss;
  TUTTI_TRY_OUT(context, tutti_report_ranks(context, finished, losses, ranks));
  for (size_t i = 0; i < finished; i++)
    better += ranks[i] <= (double)finished / 2 && !tutti_report_is_member(facts, (*trials)[i]);
  for (size_t i = 0; i < finished; i++) {
    bool member = tutti_report_is_member(facts, (*trials)[i]), other = !member && ranks[i] <= (double)finished / 2;
    bool taken = better <= room || (seen * room) / better != ((seen + 1) * room) / better;
    seen += other;
    if (member || (other && taken))
      (*trials)[kept++] = (*trials)[i];
  }
  *count = kept;
out:
  tutti_free(losses);
  tutti_free(ranks);
  return status;
}

/* Distances between models [count][count]; free both. */
static enum tutti_status distances_of(const struct report_facts *facts, size_t most, uint64_t **trials, size_t *count,
                                      double **distances) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  struct tutti_pool pool = {.size = sizeof pool};
  *distances = NULL;
  TUTTI_TRY_OUT(context, models_of(facts, most, trials, count));
  TUTTI_TRY_OUT(context, tutti_run_pool_open(&facts->view->pool, context, facts->rows.split, *count, *trials, &pool));
  TUTTI_TRY_OUT(context, tutti_alloc(context, *count, *count * sizeof **distances, distances));
  for (size_t i = 0; i < *count; i++)
    for (size_t k = 0; k < i; k++)
      (*distances)[i * *count + k] = (*distances)[k * *count + i] = distance(&pool, i, k);
out:
  tutti_run_pool_release(&facts->view->pool, &pool);
  return status;
}

static bool are_finite(size_t count, const double *values) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return false;
  return true;
}

static enum tutti_status draw_map(const struct report_facts *facts, struct report_figure *figure) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  uint64_t *trials = NULL;
  double *distances = NULL, *places = NULL, shares[2];
  size_t count = 0;
  char label[64];
  if (!facts->rows.split)
    return tutti_figure_missing(figure, no_members);
  TUTTI_TRY_OUT(context, distances_of(facts, MOST_MODELS, &trials, &count, &distances));
  if (count < 3 || !are_finite(count * count, distances)) {
    status = tutti_figure_missing(figure, "There are too few models for a map.");
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 2 * sizeof *places, &places));
  TUTTI_TRY_OUT(context, tutti_report_scale(context, count, distances, places, shares));
  struct tutti_table *table = tutti_figure_table(figure, "trial", "x", "y", "member", "validation loss", NULL);
  struct tutti_plot *plot = tutti_figure_plot(figure, 600, 460);
  for (size_t i = 0; i < count; i++) {
    const double numbers[] = {(double)trials[i], places[2 * i], places[2 * i + 1],
                              tutti_report_is_member(facts, trials[i]), facts->history->records[trials[i]].loss};
    tutti_table_put_all(table, 5, numbers);
    (void)snprintf(label, sizeof label, "%" PRIu64, trials[i]);
    if (numbers[3] > 0 && facts->members <= 30)
      tutti_plot_note(plot, numbers[1], numbers[2], label, "left offset 0.6,0.4 font ',10'");
  }
  (void)snprintf(label, sizeof label, "first direction (%.0f %% of the spread)", 100 * shares[0]);
  tutti_plot_text(plot, "xlabel", label);
  (void)snprintf(label, sizeof label, "second direction (%.0f %%)", 100 * shares[1]);
  tutti_plot_text(plot, "ylabel", label);
  tutti_plot_set(plot, "set offsets graph 0.05, graph 0.08, graph 0.05, graph 0.05");
  tutti_plot_series(plot, 0, "($4>0?NaN:$2):3", "points pt 6 ps 0.5", TUTTI_INK_QUIET, "another model");
  tutti_plot_series(plot, 0, "($4>0?$2:NaN):3", "points pt 6 ps 0.9", 1, "a member");
out:
  tutti_free(trials);
  tutti_free(distances);
  tutti_free(places);
  return status;
}

static enum tutti_status draw_matrix(const struct report_facts *facts, struct report_figure *figure) {
  uint64_t *trials = NULL;
  double *distances = NULL;
  size_t count = 0;
  if (!facts->rows.split)
    return tutti_figure_missing(figure, no_members);
  if (facts->members < 2)
    return tutti_figure_missing(figure, "The ensemble has a single member.");
  enum tutti_status status = distances_of(facts, facts->members, &trials, &count, &distances);
  struct tutti_table *table = tutti_figure_table(figure, "trial", "other trial", "column", "row", "difference", NULL);
  int side = 160 + (int)(count < 4 ? 4 : count < 20 ? count : 20) * 34;
  struct tutti_plot *plot = tutti_figure_plot(figure, side + 60, side);
  for (size_t i = 0; i < count * count && status == TUTTI_OK; i++) {
    size_t row = i / count, column = i % count;
    const double numbers[] = {(double)trials[row], (double)trials[column], (double)row, (double)column, distances[i]};
    tutti_table_put_all(table, 5, numbers);
  }
  tutti_plot_set(plot, "unset key\nunset grid\nset border 0\nset size square\nset style fill solid 1 noborder");
  tutti_plot_set(plot, "set xrange [-0.5:%g]\nset yrange [%g:-0.5]", (double)count - 0.5, (double)count - 0.5);
  tutti_plot_set(plot, "set xtics scale 0 rotate by -60 ()\nset ytics scale 0 ()");
  for (size_t i = 0; i < count && status == TUTTI_OK; i += count / 40 + 1) {
    char name[32];
    (void)snprintf(name, sizeof name, "%" PRIu64, trials[i]);
    tutti_plot_tick(plot, 'x', (double)i, name);
    tutti_plot_tick(plot, 'y', (double)i, name);
  }
  tutti_plot_text(plot, "title", facts->classes ? "difference of probabilities" : "difference, in the target's unit");
  tutti_plot_series(plot, 0, "3:($3==$4?NaN:$4):($3-0.49):($3+0.49):($4-0.49):($4+0.49):5", "boxxyerror",
                    TUTTI_INK_SCALE, NULL);
  tutti_free(trials);
  tutti_free(distances);
  return status;
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* Lines of numbers between commas, after a head; fewer than three are not a line of a curve. */
static void put_curve(struct tutti_table *table, uint64_t trial, const char *text) {
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
    double numbers[5];
    size_t count = 0;
    const char *at = line + 1;
    for (char *end; count < 5; at = end + 1) {
      numbers[count] = strtod(at, &end);
      if (end == at)
        numbers[count] = (double)NAN;
      count++;
      if (*end != ',')
        break;
    }
    if (count < 5 || !isfinite(numbers[0]))
      continue;
    const double row[] = {(double)trial, numbers[0], numbers[3], numbers[4]};
    tutti_table_put_all(table, 4, row);
  }
}

/* Was a model trained in several epochs, so that its losses are a line? */
static bool has_curve(const struct report_facts *facts, uint64_t trial) {
  const char *report = facts->history->records[trial].report;
  return report && tutti_record_has(report, "curve.csv") && tutti_report_number(facts->reports[trial], "epochs") > 1;
}

static enum tutti_status add_curve(const struct report_facts *facts, struct tutti_table *table, uint64_t trial) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  const char *report = facts->history->records[trial].report;
  char *folder = NULL, *path = NULL, *text = NULL;
  size_t bytes;
  uint64_t number = trial;
  const struct tutti_run_pool *own = tutti_run_pool_of(&facts->view->pool, &number);
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, own->directory, number, &folder));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/curve.csv", folder));
  TUTTI_TRY_OUT(context, tutti_record_check_trial(context, own->directory, number, report, path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &text, &bytes));
  put_curve(table, trial, text);
out:
  tutti_free(folder);
  tutti_free(path);
  tutti_free(text);
  return status;
}

/* Set the frame for the losses of a column, and count those above it. First epochs are high, so that only what is far
   above all of them is left out. */
static enum tutti_status frame_losses(const struct report_facts *facts, const struct tutti_table *table, size_t column,
                                      struct tutti_plot *plot, size_t *beyond) {
  const size_t rows = tutti_table_rows(table);
  double *losses;
  TUTTI_TRY(facts->context, tutti_alloc(facts->context, rows, sizeof *losses, &losses));
  for (size_t r = 0; r < rows; r++)
    losses[r] = tutti_table_cell(table, r, column)->number;
  const double frame = tutti_report_frame(rows, losses, 100);
  for (size_t r = 0; r < rows; r++)
    *beyond += losses[r] > frame;
  if (isfinite(frame))
    tutti_plot_set(plot, "set yrange [*:%.9g]", frame);
  tutti_free(losses);
  return TUTTI_OK;
}

static enum tutti_status draw_learning(const struct report_facts *facts, struct report_figure *figure) {
  struct tutti_table *table = tutti_figure_table(figure, "trial", "epoch", "training loss", "validation loss", NULL);
  uint64_t drawn[MOST_CURVES];
  size_t count = 0, all = 0, beyond = 0;
  if (facts->members == 0)
    return tutti_figure_missing(figure, no_members);
  for (size_t i = 0; i < facts->members; i++) {
    if (!has_curve(facts, facts->trials[i]) || all++ >= MOST_CURVES)
      continue;
    drawn[count++] = facts->trials[i];
    TUTTI_TRY(facts->context, add_curve(facts, table, facts->trials[i]));
  }
  if (all == 0)
    return tutti_figure_missing(figure, "The members were trained in one epoch, or not in epochs at all.");
  table->parted = true;
  for (size_t which = 3; which <= 4; which++) {
    struct tutti_plot *plot = tutti_figure_plot(figure, 520, 340);
    plot->ticks = TUTTI_TICKS_WHOLE;
    tutti_plot_text(plot, "xlabel", "epoch");
    tutti_plot_text(plot, "ylabel", which == 3 ? "training loss" : "validation loss");
    TUTTI_TRY(facts->context, frame_losses(facts, table, which - 1, plot, &beyond));
    for (size_t i = 0; i < count; i++) {
      char columns[64], key[32];
      (void)snprintf(columns, sizeof columns, "($1==%" PRIu64 "?$2:NaN):%zu", drawn[i], which);
      (void)snprintf(key, sizeof key, "%" PRIu64, drawn[i]);
      tutti_plot_series(plot, 0, columns, "linespoints pt 6 ps 0.2 lw 1.4", (enum tutti_ink)(i % 8), key);
    }
  }
  if (beyond > 0)
    TUTTI_TRY(facts->context, tutti_figure_note(figure, "%zu of %zu losses %s above the frame.", beyond,
                                                2 * tutti_table_rows(table), tutti_plural(beyond, "is", "are")));
  return count < all
             ? tutti_figure_note(figure, "The first %zu of %zu members that were trained in epochs.", count, all)
             : TUTTI_OK;
}

static const struct report_chart charts[] = {
    {.name = "architectures",
     .title = "The networks of the members",
     .text =
         "What each member computes, from its input at the top to its output. A box is a layer with what follows it "
         "at once, such as its activation, and of large networks a chain of layers; a number is its width.",
     .draw = draw_architectures},
    {.name = "map",
     .title = "A map of the models, by what they predict",
     .text = "Models that predict alike are near to each other, as far as two dimensions can show it (classical "
             "scaling of the differences of their predictions): the members, and the better half of all others. "
             "Members that lie apart predict differently.",
     .brief = true,
     .draw = draw_map},
    {.name = "matrix",
     .title = "How differently the members predict",
     .text = "For each pair of members, named by their trials, the root of the mean squared difference of their "
             "predictions. Pairs that are alike add little to each other.",
     .draw = draw_matrix},
    {.name = "learning",
     .title = "How the members learnt",
     .text = "Loss by epoch of each member, in standardised units. A validation loss that rises while the "
             "training loss falls is a sign that a member learns its rows by heart.",
     .draw = draw_learning},
    {.name = NULL},
};
const struct report_section report_section_members = {.title = "The members", .charts = charts, .of_ensembles = true};
