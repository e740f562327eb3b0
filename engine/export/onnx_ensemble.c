/* onnx_ensemble.c - the members' predictions mixed, as engine/evaluation does it, and the graph's outputs. */
#include "onnx_impl.h"

#include <float.h>
#include <math.h>

const char *const onnx_outputs[] = {"mean",
                                    "aleatoric",
                                    "epistemic",
                                    "total",
                                    "epistemic_between",
                                    "epistemic_within",
                                    "lower",
                                    "upper",
                                    "label",
                                    "probabilities",
                                    "entropy",
                                    "expected_entropy",
                                    "mutual_information",
                                    "mutual_information_between",
                                    "mutual_information_within",
                                    NULL};

/* The ensemble, its members' predictions, and room for a value of each. */
struct mixing {
  struct onnx_graph *graph;
  const struct tutti_model *model;
  const struct onnx_prediction *members;
  double *weights;    /* [model->count] */
  onnx_value *values; /* [model->count] */
  onnx_value nothing; /* as high and wide as what members tell of their own */
  double level;       /* of intervals */
};

static double weight_of(const struct tutti_model *model, size_t member) {
  double weight = 0;
  for (size_t i = 0; i < tutti_ensemble_size(model->ensemble); i++)
    if (tutti_ensemble_trial(model->ensemble, i) == model->trials[member])
      weight += tutti_ensemble_weight(model->ensemble, i);
  return weight;
}

/* sum_k weights[k] values[k] */
static onnx_value weighted(const struct mixing *m) {
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = ONNX(m->graph, "Mul", m->values[k], onnx_double(m->graph, m->weights[k]));
  return onnx_node(m->graph, "Sum", NULL, m->model->count, m->values);
}

static onnx_value square(struct onnx_graph *graph, onnx_value x) { return ONNX(graph, "Mul", x, x); }
static onnx_value positive(struct onnx_graph *graph, onnx_value x) {
  return ONNX(graph, "Max", x, onnx_double(graph, 0));
}

/* --- regression --- */

/* What the variance of the members' means is divided by (evaluation.epistemic). */
static double epistemic_divisor(const struct mixing *m) {
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(m->model->view->experiment->recipe);
  uint64_t picks = tutti_ensemble_picks(m->model->ensemble);
  double squares = 0;
  for (size_t k = 0; k < m->model->count; k++)
    squares += m->weights[k] * m->weights[k];
  if (options->epistemic == TUTTI_EPISTEMIC_POPULATION || m->model->count < 2)
    return 1;
  return 1 - (options->epistemic == TUTTI_EPISTEMIC_PICKS && picks > 1 ? 1 / (double)picks : squares);
}

/* A member's variance, not below the least that counts; NaN of one that gives none. */
static onnx_value variance_of(const struct mixing *m, size_t k) {
  onnx_value variance = m->members[k].variance;
  return variance ? ONNX(m->graph, "Max", variance, onnx_double(m->graph, (double)FLT_MIN))
                  : ONNX(m->graph, "Mul", m->members[k].mean, onnx_double(m->graph, (double)NAN));
}

/* The part of a member's variance that is its own, which one without a variance may have, too. */
static onnx_value own_of(const struct mixing *m, size_t k) {
  const struct onnx_prediction *member = &m->members[k];
  return member->own && member->variance ? ONNX(m->graph, "Min", member->own, variance_of(m, k)) : member->own;
}

/* Does any member tell what of its uncertainty is its own? */
static bool tells(const struct mixing *m) {
  for (size_t k = 0; k < m->model->count; k++)
    if (m->members[k].own)
      return true;
  return false;
}

/* The weighted mean of what the members tell of their own; those that do not tell have none. */
static onnx_value within_of(const struct mixing *m, onnx_value (*own_of_member)(const struct mixing *m, size_t k)) {
  for (size_t k = 0; k < m->model->count; k++) {
    onnx_value own = own_of_member(m, k);
    m->values[k] = own ? own : ONNX(m->graph, "Mul", m->nothing, onnx_double(m->graph, 0));
  }
  return weighted(m);
}

/* The mean and the two variances; *between and *within: what the epistemic one is made of, NULL if no member tells. */
static struct onnx_combined mix_values(struct mixing *m, onnx_value *between, onnx_value *within) {
  struct onnx_graph *graph = m->graph;
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = m->members[k].mean;
  onnx_value mean = weighted(m);
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = square(graph, ONNX(graph, "Sub", m->members[k].mean, mean));
  onnx_value epistemic = ONNX(graph, "Div", weighted(m), onnx_double(graph, epistemic_divisor(m)));
  for (size_t k = 0; k < m->model->count; k++) {
    onnx_value own = own_of(m, k), variance = variance_of(m, k);
    m->values[k] = own ? ONNX(graph, "Sub", variance, own) : variance;
  }
  onnx_value aleatoric = weighted(m);
  *between = *within = NULL;
  if (tells(m)) {
    *between = epistemic;
    m->nothing = mean;
    *within = within_of(m, own_of);
    epistemic = ONNX(graph, "Add", *between, *within);
  }
  return (struct onnx_combined){mean, aleatoric, epistemic, NULL, NULL};
}

/* What a calibrator multiplies a variance by; 1 where there was none. */
static onnx_value ratio(struct onnx_graph *graph, onnx_value after, onnx_value before) {
  onnx_value some = ONNX(graph, "Greater", before, onnx_double(graph, 0)), one = onnx_double(graph, 1);
  return ONNX(graph, "Where", some, ONNX(graph, "Div", after, ONNX(graph, "Where", some, before, one)), one);
}

/* The members of one kind of value, along a third axis. */
static onnx_value along(const struct mixing *m) {
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = ONNX(m->graph, "Unsqueeze", m->values[k], onnx_integers(m->graph, 1, &(int64_t){2}));
  return onnx_node(m->graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 2)), m->model->count, m->values);
}

/* A member's deviation after the calibrator, which has a factor for its own variance and one for the rest. */
static onnx_value deviation_of(const struct mixing *m, size_t k, onnx_value spread, onnx_value noise) {
  struct onnx_graph *graph = m->graph;
  onnx_value own = own_of(m, k), variance = variance_of(m, k), least = onnx_double(graph, (double)FLT_MIN);
  onnx_value rest = own ? ONNX(graph, "Sub", variance, own) : variance;
  onnx_value scaled = ONNX(graph, "Mul", rest, noise);
  if (own)
    scaled = ONNX(graph, "Add", scaled, ONNX(graph, "Mul", own, spread));
  return ONNX(graph, "Sqrt", ONNX(graph, "Where", ONNX(graph, "Less", scaled, least), least, scaled));
}

/* The central interval of the mixture of the members as the calibrator leaves them: their means move with the spread,
   their variances in both parts (engine/evaluation/calibrated.c). */
static void find_interval(const struct mixing *m, const struct onnx_combined *before, struct onnx_combined *after) {
  struct onnx_graph *graph = m->graph;
  const int64_t count = (int64_t)m->model->count;
  onnx_value spread = ratio(graph, after->epistemic, before->epistemic), wider = ONNX(graph, "Sqrt", spread);
  onnx_value noise = ratio(graph, after->aleatoric, before->aleatoric);
  struct onnx_mixture mixture = {.outputs = m->model->view->experiment->dataset->encoding->targets,
                                 .weights = onnx_doubles(graph, 1, &count, m->weights)};
  for (size_t k = 0; k < m->model->count; k++) {
    onnx_value distance = ONNX(graph, "Sub", m->members[k].mean, before->mean);
    m->values[k] = ONNX(graph, "Add", after->mean, ONNX(graph, "Mul", wider, distance));
  }
  mixture.means = along(m);
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = deviation_of(m, k, spread, noise);
  mixture.deviations = along(m);
  after->lower = onnx_quantile(graph, &mixture, 0.5 - m->level / 2);
  after->upper = onnx_quantile(graph, &mixture, 0.5 + m->level / 2);
}

static enum tutti_status say_values(struct mixing *m, tutti_calibrator *calibrator) {
  struct onnx_graph *graph = m->graph;
  const struct tutti_encoding *encoding = m->model->view->experiment->dataset->encoding;
  const int64_t outputs = (int64_t)encoding->targets;
  onnx_value between, within;
  struct onnx_combined before = mix_values(m, &between, &within), after = before;
  if (calibrator)
    TUTTI_TRY(onnx_graph_context(graph), onnx_calibrate(graph, calibrator, encoding->targets, m->level, &after));
  if (!after.lower)
    find_interval(m, &before, &after);
  if (between) { /* a calibrator that multiplies the epistemic variance multiplies both of its parts alike */
    onnx_value factor = ratio(graph, after.epistemic, before.epistemic);
    between = ONNX(graph, "Mul", between, factor);
    within = ONNX(graph, "Mul", within, factor);
    onnx_output(graph, "epistemic_between", ONNX(graph, "Sqrt", between), ONNX_DOUBLE, 1, &outputs);
    onnx_output(graph, "epistemic_within", ONNX(graph, "Sqrt", within), ONNX_DOUBLE, 1, &outputs);
  }
  onnx_value origin = onnx_doubles(graph, 1, &outputs, encoding->target_origin);
  onnx_value total = ONNX(graph, "Add", after.aleatoric, after.epistemic);
  onnx_output(graph, "mean", ONNX(graph, "Add", after.mean, origin), ONNX_DOUBLE, 1, &outputs);
  onnx_output(graph, "aleatoric", ONNX(graph, "Sqrt", after.aleatoric), ONNX_DOUBLE, 1, &outputs);
  onnx_output(graph, "epistemic", ONNX(graph, "Sqrt", after.epistemic), ONNX_DOUBLE, 1, &outputs);
  onnx_output(graph, "total", ONNX(graph, "Sqrt", total), ONNX_DOUBLE, 1, &outputs);
  onnx_output(graph, "lower", ONNX(graph, "Add", after.lower, origin), ONNX_DOUBLE, 1, &outputs);
  onnx_output(graph, "upper", ONNX(graph, "Add", after.upper, origin), ONNX_DOUBLE, 1, &outputs);
  return TUTTI_OK;
}

/* --- classification --- */

/* 0 log 0 = 0 */
onnx_value onnx_entropy(struct onnx_graph *graph, onnx_value p) {
  onnx_value log = ONNX(graph, "Log", ONNX(graph, "Max", p, onnx_double(graph, DBL_MIN)));
  onnx_value sum = ONNX(graph, "ReduceSum", ONNX(graph, "Mul", p, log), onnx_integers(graph, 1, &(int64_t){1}));
  return ONNX(graph, "Neg", sum);
}

static onnx_value most_probable(struct onnx_graph *graph, onnx_value p, int64_t keep) {
  return ONNX_NODE(graph, "ArgMax", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1), ONNX_INTEGER("keepdims", keep)), p);
}

/* A member's vote: 1 for its most probable class, 0 for the others. */
static onnx_value vote(const struct mixing *m, onnx_value p, onnx_value classes) {
  return onnx_cast(m->graph, ONNX(m->graph, "Equal", most_probable(m->graph, p, 1), classes), ONNX_DOUBLE);
}

/* The numbers of the classes, 0 ... count - 1. */
static onnx_value class_numbers(struct onnx_graph *graph, size_t count) {
  int64_t *numbers;
  if (onnx_graph_failed(graph))
    return NULL;
  onnx_graph_fail(graph, tutti_alloc(onnx_graph_context(graph), count, sizeof *numbers, &numbers));
  if (onnx_graph_failed(graph))
    return NULL;
  for (size_t i = 0; i < count; i++)
    numbers[i] = (int64_t)i;
  onnx_value made = onnx_integers(graph, count, numbers);
  tutti_free(numbers);
  return made;
}

static onnx_value own_entropy(const struct mixing *m, size_t k) { return m->members[k].own; }

static void say_parts(const struct mixing *m, onnx_value between, onnx_value within) {
  static const int64_t one[] = {1};
  onnx_output(m->graph, "mutual_information_between", positive(m->graph, between), ONNX_DOUBLE, 1, one);
  onnx_output(m->graph, "mutual_information_within", within, ONNX_DOUBLE, 1, one);
}

/* Probabilities are the calibrator's, and total is their entropy, of which both parts keep their shares: the factor. */
static enum tutti_status correct(const struct mixing *m, tutti_calibrator *calibrator, size_t classes, onnx_value *mean,
                                 onnx_value *total, onnx_value *factor) {
  struct onnx_graph *graph = m->graph;
  onnx_value before = *total, none = onnx_double(graph, 0), one = onnx_double(graph, 1);
  struct onnx_combined combined = {ONNX(graph, "Min", *mean, one), NULL, NULL, NULL, NULL};
  TUTTI_TRY(onnx_graph_context(graph), onnx_calibrate(graph, calibrator, classes, m->level, &combined));
  onnx_value some = ONNX(graph, "Greater", before, none);
  *mean = combined.mean;
  *total = onnx_entropy(graph, *mean);
  *factor = ONNX(graph, "Div", *total, ONNX(graph, "Where", some, before, one));
  *factor = ONNX(graph, "Where", some, *factor, none);
  return TUTTI_OK;
}

static enum tutti_status say_classes(struct mixing *m, tutti_calibrator *calibrator) {
  struct onnx_graph *graph = m->graph;
  const struct tutti_data_column *target = &m->model->view->experiment->dataset->encoding->target[0];
  const int64_t classes = (int64_t)target->categories;
  bool votes = tutti_ensemble_combination(m->model->ensemble) == TUTTI_COMBINATION_VOTE;
  onnx_value numbers = votes ? class_numbers(graph, target->categories) : NULL;
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = votes ? vote(m, m->members[k].mean, numbers) : m->members[k].mean;
  onnx_value mean = weighted(m), total = onnx_entropy(graph, mean), factor = NULL, within = NULL;
  onnx_value nothing = ONNX(graph, "Mul", total, onnx_double(graph, 0));
  m->nothing = nothing;
  for (size_t k = 0; k < m->model->count; k++)
    m->values[k] = onnx_entropy(graph, m->members[k].mean);
  onnx_value aleatoric = votes ? nothing : weighted(m), between = ONNX(graph, "Sub", total, aleatoric);
  if (tells(m)) {
    within = votes ? nothing : within_of(m, own_entropy);
    aleatoric = ONNX(graph, "Sub", aleatoric, within);
  }
  aleatoric = positive(graph, aleatoric);
  onnx_value epistemic = positive(graph, ONNX(graph, "Sub", total, aleatoric));
  if (calibrator) {
    TUTTI_TRY(onnx_graph_context(graph), correct(m, calibrator, target->categories, &mean, &total, &factor));
    epistemic = ONNX(graph, "Mul", epistemic, factor);
    aleatoric = ONNX(graph, "Sub", total, epistemic);
    between = ONNX(graph, "Mul", between, factor);
    within = within ? ONNX(graph, "Mul", within, factor) : NULL;
  }
  onnx_value names = onnx_texts(graph, target->categories, (const char *const *)target->category);
  onnx_output(graph, "label", ONNX(graph, "Gather", names, most_probable(graph, mean, 0)), ONNX_STRING, 0, NULL);
  onnx_output(graph, "probabilities", mean, ONNX_DOUBLE, 1, &classes);
  onnx_output(graph, "entropy", total, ONNX_DOUBLE, 1, &(int64_t){1});
  onnx_output(graph, "expected_entropy", aleatoric, ONNX_DOUBLE, 1, &(int64_t){1});
  onnx_output(graph, "mutual_information", epistemic, ONNX_DOUBLE, 1, &(int64_t){1});
  if (within)
    say_parts(m, between, within);
  return TUTTI_OK;
}

/* --- both --- */

enum tutti_status onnx_ensemble(struct onnx_graph *graph, const struct tutti_model *model, tutti_calibrator *calibrator,
                                const struct onnx_prediction *members) {
  static const double usual_level = 0.95;
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct mixing m = {.graph = graph, .model = model, .members = members, .level = usual_level};
  if (onnx_graph_failed(graph))
    return TUTTI_OK; /* onnx_graph_write reports it */
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *m.weights, &m.weights));
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *m.values, &m.values));
  for (size_t k = 0; k < model->count; k++)
    m.weights[k] = weight_of(model, k);
  TUTTI_TRY_OUT(context, tutti_model_kind(model) == TUTTI_TASK_CLASSIFICATION ? say_classes(&m, calibrator)
                                                                              : say_values(&m, calibrator));
out:
  tutti_free(m.weights);
  tutti_free(m.values);
  return status;
}
