/* machine_formula.c - a support vector machine as a formula, from the tensors that are kept of it. */
#include "machine_impl.h"

#include <math.h>

/* What the machine's parts are. */
struct parts {
  size_t vectors, features, pairs; /* of values: one pair */
  const float *vector;             /* [vectors][features] */
  const double *coefficients;      /* [of.count - 1][vectors] */
  const double *rho;               /* [pairs] */
  const double *sigmoids;          /* [2][pairs]; NULL: shares of votes */
  struct machine_classes of;       /* of values: 2, without labels and counts */
  double gamma;
};

static enum tutti_status find_parts(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                    size_t features, size_t output, struct parts *parts) {
  const struct tutti_tensor *vectors, *coefficients, *rho, *gamma, *sigmoids;
  *parts = (struct parts){.of.count = 2, .features = features};
  TUTTI_TRY(context, learner_find(context, tensors, output, "vectors", TUTTI_F32, 2, (size_t[]){LEARNER_ANY, features},
                                  &vectors));
  TUTTI_TRY(context, learner_find(context, tensors, output, "gamma", TUTTI_F64, 0, NULL, &gamma));
  parts->vectors = vectors->shape[0];
  parts->vector = vectors->data;
  parts->gamma = *(const double *)gamma->data;
  if (task->kind == TUTTI_TASK_CLASSIFICATION)
    TUTTI_TRY(context, machine_classes(context, task, tensors, output, parts->vectors, &parts->of));
  parts->pairs = parts->of.count * (parts->of.count - 1) / 2;
  TUTTI_TRY(context, learner_find(context, tensors, output, "coefficients", TUTTI_F64, 2,
                                  (size_t[]){parts->of.count - 1, parts->vectors}, &coefficients));
  TUTTI_TRY(context, learner_find(context, tensors, output, "rho", TUTTI_F64, 1, &parts->pairs, &rho));
  parts->coefficients = coefficients->data;
  parts->rho = rho->data;
  if (task->kind != TUTTI_TASK_CLASSIFICATION || !learner_has(tensors, output, "sigmoids"))
    return TUTTI_OK;
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "sigmoids", TUTTI_F64, 2, (size_t[]){2, parts->pairs}, &sigmoids));
  parts->sigmoids = sigmoids->data;
  return TUTTI_OK;
}

/* The vectors as constants: their numbers, one vector a column, and their squared lengths. */
static enum tutti_status vectors_of(tutti_context *context, const struct parts *parts, tutti_formula *formula,
                                    tutti_term *vectors, tutti_term *lengths) {
  double *numbers;
  if (tutti_formula_counts(formula)) {
    *vectors = tutti_formula_constant(formula, parts->features, parts->vectors, NULL);
    *lengths = tutti_formula_constant(formula, 1, parts->vectors, NULL);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_alloc(context, parts->vectors, (parts->features + 1) * sizeof *numbers, &numbers));
  double *squares = numbers + parts->features * parts->vectors;
  for (size_t v = 0; v < parts->vectors; v++)
    for (size_t f = 0; f < parts->features; f++) {
      double x = (double)parts->vector[v * parts->features + f];
      numbers[f * parts->vectors + v] = x;
      squares[v] += x * x;
    }
  *vectors = tutti_formula_constant(formula, parts->features, parts->vectors, numbers);
  *lengths = tutti_formula_constant(formula, 1, parts->vectors, squares);
  tutti_free(numbers);
  return TUTTI_OK;
}

/* exp(-gamma |x - v|^2) of each vector v */
static enum tutti_status kernel_of(tutti_context *context, const struct parts *parts, tutti_formula *formula,
                                   tutti_term x, tutti_term *kernel) {
  tutti_term vectors, lengths;
  TUTTI_TRY(context, vectors_of(context, parts, formula, &vectors, &lengths));
  tutti_term squares = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, x);
  tutti_term product = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, vectors);
  product = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, product, tutti_formula_number(formula, 2));
  tutti_term distance = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, lengths, product);
  distance = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, distance, TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, squares));
  distance = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, distance, tutti_formula_number(formula, 0));
  distance = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, distance, tutti_formula_number(formula, -parts->gamma));
  *kernel = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, distance);
  return TUTTI_OK;
}

/* weights[vectors][pairs]: what each vector counts for in the machine of each pair. A vector's coefficient against the
   class j is in list j - 1 if its own class is before j, else in list j. */
static void weigh(const struct parts *parts, double *weights) {
  size_t first = 0;
  for (size_t own = 0; own < parts->of.count; own++) {
    size_t end = parts->of.counts ? first + (size_t)parts->of.counts[own] : parts->vectors, pair = 0;
    for (size_t i = 0; i < parts->of.count; i++)
      for (size_t j = i + 1; j < parts->of.count; j++, pair++)
        for (size_t v = first; v < end && (own == i || own == j); v++)
          weights[v * parts->pairs + pair] = parts->coefficients[(own == i ? j - 1 : i) * parts->vectors + v];
    first = end;
  }
}

/* The same as a constant. */
static enum tutti_status weights_of(tutti_context *context, const struct parts *parts, tutti_formula *formula,
                                    tutti_term *made) {
  double *weights = NULL;
  if (!tutti_formula_counts(formula)) {
    TUTTI_TRY(context, tutti_alloc(context, parts->vectors, parts->pairs * sizeof *weights, &weights));
    weigh(parts, weights);
  }
  *made = tutti_formula_constant(formula, parts->vectors, parts->pairs, weights);
  tutti_free(weights);
  return TUTTI_OK;
}

/* The decision values of all pairs, or the value. A machine without vectors always says the same. */
static enum tutti_status decisions_of(tutti_context *context, const struct parts *parts, tutti_formula *formula,
                                      tutti_term x, tutti_term *decisions) {
  tutti_term rho = tutti_formula_constant(formula, 1, parts->pairs, parts->rho), kernel, weight;
  if (parts->vectors == 0) {
    tutti_term zero = tutti_formula_number(formula, 0);
    *decisions = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, zero, rho);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, kernel_of(context, parts, formula, x, &kernel));
  TUTTI_TRY(context, weights_of(context, parts, formula, &weight));
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, kernel, weight);
  *decisions = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, sum, rho);
  return TUTTI_OK;
}

/* Shares of votes over all pairs: each goes to the first class of the pair if the decision value is above 0. */
static enum tutti_status votes_of(tutti_context *context, const struct parts *parts, tutti_formula *formula,
                                  tutti_term decisions, tutti_term *shares) {
  double *gain;
  size_t pair = 0;
  TUTTI_TRY(context, tutti_alloc(context, parts->pairs + 1, parts->of.count * sizeof *gain, &gain));
  double *start = gain + parts->pairs * parts->of.count, share = 1 / (double)parts->pairs;
  for (size_t i = 0; i < parts->of.count; i++)
    for (size_t j = i + 1; j < parts->of.count; j++, pair++) {
      gain[pair * parts->of.count + i] = share;
      gain[pair * parts->of.count + j] = -share;
      start[j] += share; /* without a decision above 0 */
    }
  tutti_term none = tutti_formula_constant(formula, 1, parts->of.count, start);
  tutti_term gains = tutti_formula_constant(formula, parts->pairs, parts->of.count, gain);
  tutti_free(gain);
  tutti_term above = TUTTI_FORMULA(formula, TUTTI_FORMULA_ABOVE, decisions, tutti_formula_number(formula, 0));
  *shares =
      TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, none, TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, above, gains));
  return TUTTI_OK;
}

/* The probabilities of the pairs' first classes, which libsvm keeps from 0 and 1. */
static tutti_term pairs_of(const struct parts *parts, tutti_formula *formula, tutti_term decisions) {
  static const double least = 1e-7;
  tutti_term a = tutti_formula_constant(formula, 1, parts->pairs, parts->sigmoids);
  tutti_term b = tutti_formula_constant(formula, 1, parts->pairs, parts->sigmoids + parts->pairs);
  tutti_term z = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, decisions, a);
  z = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, z, b));
  tutti_term one = tutti_formula_number(formula, 1);
  tutti_term p = TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, one, TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, one, z));
  p = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, p, tutti_formula_number(formula, least));
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_LEAST, p, tutti_formula_number(formula, 1 - least));
}

/* The probabilities of the classes. Those of two are their pair's, but libsvm before 3.24 may iterate for them, too. */
static tutti_term couple(const struct parts *parts, tutti_formula *formula, tutti_term pairs) {
  enum { KNOWN = 324 };
  if (parts->of.count > 2 || libsvm_version < KNOWN)
    return tutti_formula_couple(formula, pairs, parts->of.count);
  tutti_term one = tutti_formula_number(formula, 1);
  tutti_term other = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, one, pairs);
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_BESIDE, pairs, other);
}

/* The shares of the task's classes from those of the model's: classes that it does not know have none. */
static enum tutti_status order_classes(tutti_context *context, const struct parts *parts, size_t outputs,
                                       tutti_formula *formula, tutti_term *shares) {
  double *places;
  TUTTI_TRY(context, tutti_alloc(context, parts->of.count, outputs * sizeof *places, &places));
  for (size_t i = 0; i < parts->of.count; i++)
    places[i * outputs + (size_t)parts->of.labels[i]] = 1;
  tutti_term places_term = tutti_formula_constant(formula, parts->of.count, outputs, places);
  tutti_free(places);
  *shares = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, *shares, places_term);
  return TUTTI_OK;
}

enum tutti_status machine_formula(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  size_t output, tutti_formula *formula, struct tutti_predicted_terms *terms) {
  struct parts parts;
  tutti_term decisions, shares;
  double variance;
  size_t features = tutti_formula_at(formula, terms->inputs)->columns;
  TUTTI_TRY(context, find_parts(context, task, tensors, features, output, &parts));
  TUTTI_TRY(context, decisions_of(context, &parts, formula, terms->inputs, &decisions));
  if (task->kind != TUTTI_TASK_CLASSIFICATION) {
    TUTTI_TRY(context, learner_find_variance(context, tensors, task, output, &variance));
    terms->mean = decisions;
    terms->variance = isnan(variance) ? TUTTI_NO_TERM : tutti_formula_number(formula, variance);
    return TUTTI_OK;
  }
  if (parts.sigmoids)
    shares = couple(&parts, formula, pairs_of(&parts, formula, decisions));
  else
    TUTTI_TRY(context, votes_of(context, &parts, formula, decisions, &shares));
  TUTTI_TRY(context, order_classes(context, &parts, task->outputs, formula, &shares));
  terms->mean = learner_classes_term(formula, shares);
  return TUTTI_OK;
}
