/* onnx_member.c - what one member predicts: of a network, its layers; of others, the formula that their backend writes
   down; of a member with a model for each fold, the mixture of these (engine/run/trial_folds.c). */
#include "onnx_impl.h"

#include "engine/run/trial_folds_impl.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

static enum tutti_status refuse(tutti_context *context, uint64_t trial, const char *what) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "trial %" PRIu64 ": %s", trial, what);
}

/* Does a member predict by more than one pass through its network? It then tells an epistemic part that its head does
   not, or a parameter of its backend says so. */
static enum tutti_status predicts_by_draws(tutti_context *context, const struct tutti_member *member, bool *draws) {
  static const char key[] = "prediction_draws";
  const struct tutti_params *params = tutti_config_params(member->config);
  const struct tutti_layer *head = tutti_network_layer(member->network, tutti_network_layers(member->network) - 1);
  bool has = false;
  char *text;
  *draws = tutti_backend_tells_epistemic(member->learner, &member->job) && head->op != TUTTI_OP_HEAD_NOMU;
  for (size_t i = 0; i < params->count; i++)
    has = has || strcmp(tutti_params_at(params, i)->name, key) == 0;
  if (!has)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_config_get(context, member->config, key, &text));
  *draws = *draws || strcmp(text, "0") != 0;
  tutti_free(text);
  return TUTTI_OK;
}

/* As a float32, as which `predict` has it, but kept in a double: rows then tie where they tie there. */
static onnx_value rounded(struct onnx_graph *graph, onnx_value x) {
  return onnx_cast(graph, onnx_cast(graph, x, ONNX_FLOAT), ONNX_DOUBLE);
}

/* --- one model --- */

/* [rows, features], with an image's numbers as backends have them: rows, columns, channels. */
static onnx_value flat(struct onnx_graph *graph, struct tutti_shape shape, onnx_value rows) {
  static const int64_t channels_last[] = {0, 2, 3, 1};
  if (shape.height * shape.width <= 1)
    return rows;
  rows = ONNX_NODE(graph, "Transpose", ONNX_ATTRIBUTES(ONNX_INTEGERS("perm", 4, channels_last)), rows);
  return ONNX_NODE(graph, "Flatten", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), rows);
}

/* What a backend writes down. */
static enum tutti_status add_formula(struct onnx_graph *graph, const struct tutti_member *member,
                                     const tutti_tensors *weights, onnx_value rows, struct onnx_prediction *made) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  const struct tutti_shape shape = member->job.task->input;
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  struct tutti_predicted_terms terms = {.size = sizeof terms};
  tutti_formula *formula = NULL;
  onnx_value *values = NULL;
  TUTTI_TRY_OUT(context, tutti_formula_create(context, &formula));
  terms.inputs = tutti_formula_input(formula, features);
  TUTTI_TRY_OUT(context, tutti_backend_formula(context, member->learner, &member->job, weights, formula, &terms));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_formula_count(formula), sizeof *values, &values));
  rows = onnx_cast(graph, flat(graph, shape, rows), ONNX_DOUBLE);
  onnx_formula(graph, formula, &rows, values);
  made->mean = onnx_of_each(graph, rounded(graph, values[terms.mean]), rows);
  if (terms.variance != TUTTI_NO_TERM)
    made->variance = onnx_of_each(graph, rounded(graph, values[terms.variance]), made->mean);
  if (terms.epistemic != TUTTI_NO_TERM)
    made->own = onnx_of_each(graph, rounded(graph, values[terms.epistemic]), made->mean);
out:
  tutti_formula_destroy(formula);
  tutti_free(values);
  return status;
}

static enum tutti_status add_model(struct onnx_graph *graph, const struct tutti_member *member,
                                   const tutti_tensors *weights, onnx_value rows, struct onnx_prediction *made) {
  *made = (struct onnx_prediction){NULL, NULL, NULL};
  if (!member->network)
    return add_formula(graph, member, weights, rows, made);
  *made = onnx_network(graph, member->network, weights, member->job.task, rows);
  return TUTTI_OK;
}

/* --- models of several folds --- */

/* Sums over the folds. NULL: nothing yet. */
struct sums {
  onnx_value mean, variance, own, second; /* second: of squared means, or of entropies */
};

static void add_to(struct onnx_graph *graph, onnx_value *sum, onnx_value x) {
  *sum = *sum && x ? ONNX(graph, "Add", *sum, x) : *sum ? *sum : x;
}

static void mix_in(struct onnx_graph *graph, bool moments, const struct onnx_prediction *one, struct sums *sums) {
  onnx_value mean = rounded(graph, one->mean);
  add_to(graph, &sums->mean, mean);
  add_to(graph, &sums->second, moments ? ONNX(graph, "Mul", mean, mean) : onnx_entropy(graph, mean));
  add_to(graph, &sums->variance, one->variance);
  add_to(graph, &sums->own, one->own);
}

/* The mixture's moments or probabilities, and the part of its uncertainty that the models do not share. */
static struct onnx_prediction mixture(struct onnx_graph *graph, bool moments, size_t folds, const struct sums *sums) {
  onnx_value n = onnx_double(graph, (double)folds), zero = onnx_double(graph, 0);
  struct onnx_prediction made = {NULL, NULL, NULL};
  onnx_value mean = ONNX(graph, "Div", sums->mean, n), second = ONNX(graph, "Div", sums->second, n);
  made.mean = rounded(graph, mean);
  onnx_value between = moments ? ONNX(graph, "Sub", second, ONNX(graph, "Mul", mean, mean))
                               : ONNX(graph, "Sub", onnx_entropy(graph, made.mean), second);
  between = ONNX(graph, "Max", between, zero);
  made.own = sums->own ? ONNX(graph, "Add", between, ONNX(graph, "Div", sums->own, n)) : between;
  if (moments && sums->variance)
    made.variance = ONNX(graph, "Add", ONNX(graph, "Div", sums->variance, n), between);
  return made;
}

static enum tutti_status add_folds(struct onnx_graph *graph, const struct tutti_member *member, size_t folds,
                                   onnx_value rows, struct onnx_prediction *made) {
  tutti_context *context = onnx_graph_context(graph);
  bool moments = member->job.task->kind == TUTTI_TASK_REGRESSION;
  struct sums sums = {NULL, NULL, NULL, NULL};
  struct onnx_prediction one;
  for (size_t f = 0; f < folds; f++) {
    tutti_tensors *weights;
    TUTTI_TRY(context, tutti_folds_take(context, member->weights, f, &weights));
    enum tutti_status status = add_model(graph, member, weights, rows, &one);
    tutti_tensors_destroy(weights);
    TUTTI_TRY(context, status);
    mix_in(graph, moments, &one, &sums);
  }
  *made = mixture(graph, moments, folds, &sums);
  return TUTTI_OK;
}

/* --- a member --- */

enum tutti_status onnx_member(struct onnx_graph *graph, const struct tutti_member *member, onnx_value rows,
                              struct onnx_prediction *made) {
  tutti_context *context = onnx_graph_context(graph);
  size_t folds = tutti_folds_count(member->weights);
  uint64_t trial = member->trial;
  bool draws = false;
  if (member->network)
    TUTTI_TRY(context, predicts_by_draws(context, member, &draws));
  if (draws)
    return refuse(context, trial,
                  "it predicts by draws of dropout (prediction_draws), which ONNX cannot repeat; select an ensemble of "
                  "members without draws");
  enum tutti_status status =
      folds ? add_folds(graph, member, folds, rows, made) : add_model(graph, member, member->weights, rows, made);
  if (status == TUTTI_OK)
    status = onnx_graph_status(graph); /* here it is known which member it was */
  if (status == TUTTI_ERROR_UNSUPPORTED && !member->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "trial %" PRIu64
                      ": backend %s cannot say what its models compute, as an export needs it; select an ensemble "
                      "without its members, or predict with tutti",
                      trial, tutti_backend_descriptor(member->learner)->name);
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_prefix(context, status, "trial %" PRIu64 ": ", trial);
}
