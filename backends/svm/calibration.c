/* calibration.c - turns a machine's decision values into probabilities or a variance, using rows that were left out of
   its training. */
#include "machine_impl.h"

#include <math.h>

/* --- Platt's sigmoid --------------------------------------------------------------------------------------------- */

/* Targets lie slightly inside 0 and 1: Platt's prior derives them from the counts. */
struct sigmoid {
  size_t count;
  const double *f, *y, *weights;
  double high, low;
};

static double weight_of(const struct sigmoid *fit, size_t i) { return fit->weights[fit->y[i] > 0]; }

static double target_of(const struct sigmoid *fit, size_t i) { return fit->y[i] > 0 ? fit->high : fit->low; }

/* The cross-entropy; both branches are exact where the other would overflow or cancel. */
static double cross_entropy(const struct sigmoid *fit, double a, double b) {
  double sum = 0;
  for (size_t i = 0; i < fit->count; i++) {
    double z = a * fit->f[i] + b;
    double loss = z >= 0 ? target_of(fit, i) * z + log1p(exp(-z)) : (target_of(fit, i) - 1) * z + log1p(exp(z));
    sum += weight_of(fit, i) * loss;
  }
  return sum;
}

/* Gradient and Hessian in (a, b); the ridge keeps the Hessian regular. */
struct slopes {
  double ga, gb, haa, hab, hbb;
};

static struct slopes slopes_at(const struct sigmoid *fit, double a, double b) {
  static const double ridge = 1e-12;
  struct slopes s = {.haa = ridge, .hbb = ridge};
  for (size_t i = 0; i < fit->count; i++) {
    double z = a * fit->f[i] + b, e = exp(-fabs(z));
    double p = z >= 0 ? e / (1 + e) : 1 / (1 + e), weight = weight_of(fit, i);
    double curvature = weight * e / ((1 + e) * (1 + e)), d = weight * (target_of(fit, i) - p);
    s.ga += fit->f[i] * d;
    s.gb += d;
    s.haa += fit->f[i] * fit->f[i] * curvature;
    s.hab += fit->f[i] * curvature;
    s.hbb += curvature;
  }
  return s;
}

/* Newton's method with backtracking. */
void machine_fit_sigmoid(size_t count, const double *f, const double *y, const double weights[2], double *a,
                         double *b) {
  enum { ITERATIONS = 100 };
  static const double flat = 1e-5, least_step = 1e-10, decrease = 1e-4;
  double positive = 0, negative = 0;
  for (size_t i = 0; i < count; i++)
    *(y[i] > 0 ? &positive : &negative) += weights[y[i] > 0];
  struct sigmoid fit = {count, f, y, weights, (positive + 1) / (positive + 2), 1 / (negative + 2)};
  *a = 0;
  *b = log((negative + 1) / (positive + 1));
  double value = cross_entropy(&fit, *a, *b);
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    struct slopes s = slopes_at(&fit, *a, *b);
    if (fabs(s.ga) < flat && fabs(s.gb) < flat)
      return;
    double determinant = s.haa * s.hbb - s.hab * s.hab;
    double da = -(s.hbb * s.ga - s.hab * s.gb) / determinant, db = -(s.haa * s.gb - s.hab * s.ga) / determinant;
    double slope = s.ga * da + s.gb * db, step = 1, next = cross_entropy(&fit, *a + da, *b + db);
    while (!(next < value + decrease * step * slope) && step >= least_step) {
      step /= 2;
      next = cross_entropy(&fit, *a + step * da, *b + step * db);
    }
    if (step < least_step)
      return;
    *a += step * da;
    *b += step * db;
    value = next;
  }
}

/* --- rows that were left out ------------------------------------------------------------------------------------- */

/* Some of a problem's rows: room for all of them. */
static enum tutti_status create_part(tutti_context *context, int rows, struct svm_problem *part) {
  TUTTI_TRY(context, tutti_alloc(context, (size_t)rows, sizeof *part->x, &part->x));
  return tutti_alloc(context, (size_t)rows, sizeof *part->y, &part->y);
}

static void release_part(struct svm_problem *part) {
  tutti_free(part->x);
  tutti_free(part->y);
}

/* All rows except those of a fold; false if they are all of one class, since nothing can be told apart then. */
static bool leave_out(const struct svm_problem *problem, const uint32_t *fold, uint32_t left_out,
                      struct svm_problem *rest) {
  bool differ = false;
  rest->l = 0;
  for (int i = 0; i < problem->l; i++)
    if (fold[i] != left_out) {
      rest->x[rest->l] = problem->x[i];
      rest->y[rest->l] = problem->y[i];
      differ = differ || rest->y[rest->l] != rest->y[0];
      rest->l++;
    }
  return differ;
}

/* values[l]: for each row, the prediction of machines that were trained without it: the decision value for the class +1
   against -1, or the value itself. */
static enum tutti_status predict_left_out(tutti_context *context, const struct svm_problem *problem,
                                          const struct svm_parameter *parameter, const uint32_t *fold, size_t folds,
                                          double *values) {
  enum tutti_status status = TUTTI_OK;
  struct svm_problem rest = {0};
  struct svm_model *model = NULL;
  TUTTI_TRY_OUT(context, create_part(context, problem->l, &rest));
  for (uint32_t k = 0; k < folds; k++) {
    bool classes = parameter->svm_type == C_SVC, differ = leave_out(problem, fold, k, &rest);
    double alone = rest.l > 0 ? rest.y[0] : 0;
    if (differ || (!classes && rest.l > 0))
      TUTTI_TRY_OUT(context, machine_train(context, &rest, parameter, &model));
    for (int i = 0; i < problem->l; i++) {
      if (fold[i] != k)
        continue;
      values[i] = alone;
      if (model)
        (void)svm_predict_values(model, problem->x[i], &values[i]);
      if (model && classes)
        values[i] *= model->label[0]; /* +1 or -1: which class counts as the positive one */
    }
    if (model)
      svm_free_and_destroy_model(&model);
  }
out:
  release_part(&rest);
  return status;
}

enum tutti_status machine_residual_variance(tutti_context *context, const struct svm_problem *problem,
                                            const struct svm_parameter *parameter, const uint32_t *fold, size_t folds,
                                            double *variance) {
  enum tutti_status status = TUTTI_OK;
  double *values = NULL, sum = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)problem->l, sizeof *values, &values));
  TUTTI_TRY_OUT(context, predict_left_out(context, problem, parameter, fold, folds, values));
  for (int i = 0; i < problem->l; i++)
    sum += (values[i] - problem->y[i]) * (values[i] - problem->y[i]);
  *variance = sum / problem->l;
out:
  tutti_free(values);
  return status;
}

/* --- pairs of classes -------------------------------------------------------------------------------------------- */

/* The rows of two classes, and scratch; arrays as long as the whole problem's. */
struct pair {
  struct svm_problem rows;
  uint32_t *fold;
  double *values;
};

static void choose_pair(const struct svm_problem *problem, const uint32_t *fold, int plus, int minus,
                        struct pair *pair) {
  struct svm_problem *rows = &pair->rows;
  rows->l = 0;
  for (int i = 0; i < problem->l; i++)
    if (problem->y[i] == plus || problem->y[i] == minus) {
      rows->x[rows->l] = problem->x[i];
      rows->y[rows->l] = problem->y[i] == plus ? 1 : -1;
      pair->fold[rows->l++] = fold[i];
    }
}

enum tutti_status machine_calibrate(tutti_context *context, const struct svm_problem *problem,
                                    const struct svm_parameter *parameter, const struct svm_model *model,
                                    const double *class_weights, const uint32_t *fold, size_t folds, double *a,
                                    double *b) {
  enum tutti_status status = TUTTI_OK;
  struct pair pair = {0};
  struct svm_parameter own = *parameter;
  static const int signs[2] = {-1, 1};
  double weights[2] = {1, 1};
  size_t p = 0;
  if (class_weights) {
    own.nr_weight = 2;
    own.weight_label = (int *)(uintptr_t)signs;
    own.weight = weights;
  }
  TUTTI_TRY_OUT(context, create_part(context, problem->l, &pair.rows));
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)problem->l, sizeof *pair.fold, &pair.fold));
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)problem->l, sizeof *pair.values, &pair.values));
  for (int i = 0; i < model->nr_class; i++)
    for (int j = i + 1; j < model->nr_class; j++, p++) {
      weights[0] = class_weights ? class_weights[model->label[j]] : 1;
      weights[1] = class_weights ? class_weights[model->label[i]] : 1;
      choose_pair(problem, fold, model->label[i], model->label[j], &pair);
      TUTTI_TRY_OUT(context, predict_left_out(context, &pair.rows, &own, pair.fold, folds, pair.values));
      machine_fit_sigmoid((size_t)pair.rows.l, pair.values, pair.rows.y, weights, &a[p], &b[p]);
    }
out:
  release_part(&pair.rows);
  tutti_free(pair.fold);
  tutti_free(pair.values);
  return status;
}
