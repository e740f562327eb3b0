/* calibrator isotonic: for each class against the rest, a step-wise linear, never falling function of its probability,
   fitted by pool adjacent violators; the results are divided by their sum.

   Source: Zadrozny & Elkan, "Transforming classifier scores into accurate multiclass probability estimates" (KDD 2002).
   Deviations: between two blocks it is linear, as in scikit-learn, so that few rows are tied; values stay 1 / (n + 2)
   away from 0 and 1, since n rows cannot show that a class is impossible. */
#include <math.h>
#include <stdlib.h>

#include "text.h"

struct isotonic_config {
  int64_t rows_per_class;
};

static const struct tutti_param isotonic_params[] = {
    TUTTI_INTEGER(struct isotonic_config, rows_per_class, "50", 2, TUTTI_NO_LIMIT,
                  "With fewer rows to fit to than that times the classes, nothing is fitted."),
};

/* A function that rises through its knots, constant before the first and after the last. */
struct rise {
  size_t knots;
  double *at, *value; /* [knots] */
};

struct isotonic {
  const struct isotonic_config *config;
  size_t classes;
  struct rise *rises; /* [classes] */
};

static void release_rises(struct isotonic *isotonic) {
  for (size_t c = 0; isotonic->rises && c < isotonic->classes; c++) {
    tutti_free(isotonic->rises[c].at);
    tutti_free(isotonic->rises[c].value);
  }
  tutti_free(isotonic->rises);
  isotonic->rises = NULL;
}

static enum tutti_status calibrator_create_isotonic(tutti_context *context, const void *config, const void *setup,
                                                    void **self) {
  struct isotonic *isotonic;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *isotonic, &isotonic));
  isotonic->config = config;
  isotonic->classes = ((const struct tutti_calibrator_setup *)setup)->task->outputs;
  *self = isotonic;
  return TUTTI_OK;
}

static void calibrator_destroy_isotonic(void *self) {
  release_rises(self);
  tutti_free(self);
}

static size_t calibrator_least_rows_isotonic(void *self, size_t outputs) {
  return outputs * (size_t)((struct isotonic *)self)->config->rows_per_class;
}

/* --- pool adjacent violators --- */

/* Rows whose probability is from `low` to `high`, of which `right` are of the class. */
struct block {
  double low, high, right, rows;
};

static double value_of(const struct block *block) { return block->right / block->rows; }

static int by_low(const void *a, const void *b) {
  double x = ((const struct block *)a)->low, y = ((const struct block *)b)->low;
  return x < y ? -1 : x > y;
}

/* Join a block to the one before it. */
static void join(struct block *before, const struct block *block) {
  before->high = block->high;
  before->right += block->right;
  before->rows += block->rows;
}

/* Rows in the order of their probability become blocks whose values rise; the number of blocks. */
static size_t pool_violators(size_t count, struct block *blocks) {
  size_t kept = 0;
  qsort(blocks, count, sizeof *blocks, by_low);
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && blocks[i].low <= blocks[kept - 1].low) /* ties are one */
      join(&blocks[kept - 1], &blocks[i]);
    else
      blocks[kept++] = blocks[i];
  }
  count = kept;
  kept = 0;
  for (size_t i = 0; i < count; i++) {
    blocks[kept++] = blocks[i];
    while (kept > 1 && value_of(&blocks[kept - 1]) <= value_of(&blocks[kept - 2])) {
      kept--;
      join(&blocks[kept - 1], &blocks[kept]);
    }
  }
  return kept;
}

static enum tutti_status fit_rise(tutti_context *context, const struct tutti_combined *combined, const int32_t *labels,
                                  size_t class, struct rise *rise) {
  struct block *blocks;
  size_t rows = combined->rows;
  const double least = 1 / ((double)rows + 2);
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *blocks, &blocks));
  for (size_t r = 0; r < rows; r++) {
    double p = combined->values[r * combined->outputs + class];
    blocks[r] = (struct block){p, p, (size_t)labels[r] == class, 1};
  }
  size_t kept = pool_violators(rows, blocks);
  enum tutti_status status = tutti_alloc(context, 2 * kept, sizeof(double), &rise->at);
  if (status == TUTTI_OK)
    status = tutti_alloc(context, 2 * kept, sizeof(double), &rise->value);
  for (size_t b = 0; status == TUTTI_OK && b < kept; b++)
    for (size_t end = 0; end < (blocks[b].high > blocks[b].low ? 2u : 1u); end++) {
      rise->at[rise->knots] = end ? blocks[b].high : blocks[b].low;
      rise->value[rise->knots++] = fmin(fmax(value_of(&blocks[b]), least), 1 - least);
    }
  tutti_free(blocks);
  return status;
}

static enum tutti_status calibrator_fit_isotonic(void *self, tutti_context *context,
                                                 const struct tutti_combined *combined,
                                                 const struct tutti_targets *targets) {
  struct isotonic *isotonic = self;
  size_t first = 0;
  while (first < targets->rows && targets->labels[first] == targets->labels[0])
    first++;
  if (first == targets->rows)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "all %zu rows to calibrate on are of one class", targets->rows);
  release_rises(isotonic);
  TUTTI_TRY(context, tutti_alloc(context, isotonic->classes, sizeof *isotonic->rises, &isotonic->rises));
  for (size_t c = 0; c < isotonic->classes; c++)
    TUTTI_TRY(context, fit_rise(context, combined, targets->labels, c, &isotonic->rises[c]));
  return TUTTI_OK;
}

/* --- use --- */

static double value_at(const struct rise *rise, double p) {
  size_t low = 0, high = rise->knots - 1;
  if (p <= rise->at[low])
    return rise->value[low];
  if (p >= rise->at[high])
    return rise->value[high];
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (rise->at[middle] <= p)
      low = middle;
    else
      high = middle;
  }
  double share = (p - rise->at[low]) / (rise->at[high] - rise->at[low]);
  return rise->value[low] + share * (rise->value[high] - rise->value[low]);
}

static enum tutti_status calibrator_apply_isotonic(void *self, tutti_context *context,
                                                   const struct tutti_combined *combined, double *out) {
  const struct isotonic *isotonic = self;
  size_t classes = combined->outputs;
  (void)context;
  for (size_t r = 0; r < combined->rows; r++) {
    double sum = 0;
    for (size_t c = 0; c < classes; c++)
      sum += out[r * classes + c] = value_at(&isotonic->rises[c], combined->values[r * classes + c]);
    for (size_t c = 0; c < classes; c++)
      out[r * classes + c] /= sum;
  }
  return TUTTI_OK;
}

/* The value at the first knot, plus for each step between two knots its slope times how far into it p is. */
static enum tutti_status value_term(tutti_context *context, const struct rise *rise, tutti_formula *formula,
                                    tutti_term p, tutti_term *value) {
  size_t steps = rise->knots - 1;
  double *slopes;
  *value = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, tutti_formula_number(formula, rise->value[0]),
                         TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, p, p));
  if (steps == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, steps, sizeof *slopes, &slopes));
  for (size_t k = 0; k < steps; k++)
    slopes[k] = (rise->value[k + 1] - rise->value[k]) / (rise->at[k + 1] - rise->at[k]);
  tutti_term low = tutti_formula_constant(formula, 1, steps, rise->at);
  tutti_term high = tutti_formula_constant(formula, 1, steps, rise->at + 1);
  tutti_term slope = tutti_formula_constant(formula, steps, 1, slopes);
  tutti_free(slopes);
  tutti_term within =
      TUTTI_FORMULA(formula, TUTTI_FORMULA_LEAST, high, TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, low, p));
  within = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, within, low);
  within = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, within, slope);
  *value = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, *value, within);
  return TUTTI_OK;
}

static enum tutti_status calibrator_formula_isotonic(void *self, tutti_context *context, tutti_formula *formula,
                                                     struct tutti_combined_terms *terms) {
  enum tutti_status status = TUTTI_OK;
  const struct isotonic *isotonic = self;
  tutti_term *values;
  TUTTI_TRY(context, tutti_alloc(context, isotonic->classes, sizeof *values, &values));
  for (uint32_t c = 0; c < isotonic->classes && status == TUTTI_OK; c++)
    status = value_term(context, &isotonic->rises[c], formula, tutti_formula_columns(formula, terms->mean, 1, &c),
                        &values[c]);
  tutti_term all = tutti_formula_add(formula, TUTTI_FORMULA_BESIDE, isotonic->classes, values);
  tutti_free(values);
  terms->mean = TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, all, TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, all));
  return status;
}

static enum tutti_status calibrator_print_isotonic(void *self, tutti_context *context, char **json) {
  const struct isotonic *isotonic = self;
  json_t *rises = json_array();
  for (size_t c = 0; c < isotonic->classes; c++)
    json_array_append_new(rises, json_pack("{s:o, s:o}", "at",
                                           text_of_numbers(isotonic->rises[c].knots, isotonic->rises[c].at), "value",
                                           text_of_numbers(isotonic->rises[c].knots, isotonic->rises[c].value)));
  return text_print(context, json_pack("{s:o}", "classes", rises), json);
}

static enum tutti_status parse_rise(tutti_context *context, const json_t *root, struct rise *rise) {
  TUTTI_TRY(context, text_numbers(context, root, "at", 0, 1, &rise->knots, &rise->at));
  TUTTI_TRY(context, text_numbers(context, root, "value", 0, 1, &rise->knots, &rise->value));
  for (size_t k = 0; k < rise->knots; k++)
    if (!(rise->value[k] > 0) || (k > 0 && (rise->at[k] <= rise->at[k - 1] || rise->value[k] < rise->value[k - 1])))
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "expected knots whose places ascend and whose values do not fall");
  return TUTTI_OK;
}

static enum tutti_status calibrator_parse_isotonic(void *self, tutti_context *context, const char *json) {
  enum tutti_status status;
  struct isotonic *isotonic = self;
  json_t *root;
  TUTTI_TRY(context, text_parse(context, json, &root));
  const json_t *classes = json_object_get(root, "classes");
  release_rises(isotonic);
  if (json_array_size(classes) != isotonic->classes)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected knots of %zu classes, found %zu",
                                      isotonic->classes, json_array_size(classes)));
  TUTTI_TRY_OUT(context, tutti_alloc(context, isotonic->classes, sizeof *isotonic->rises, &isotonic->rises));
  for (size_t c = 0; c < isotonic->classes; c++)
    TUTTI_TRY_OUT(context, parse_rise(context, json_array_get(classes, c), &isotonic->rises[c]));
out:
  json_decref(root);
  return status;
}

static const struct tutti_calibrator_ops isotonic_ops = {
    .size = sizeof isotonic_ops,
    .gives = TUTTI_GIVES_PROBABILITIES,
    .fit = calibrator_fit_isotonic,
    .print = calibrator_print_isotonic,
    .parse = calibrator_parse_isotonic,
    .apply = calibrator_apply_isotonic,
    .least_rows = calibrator_least_rows_isotonic,
    .formula = calibrator_formula_isotonic,
};

static const struct tutti_descriptor isotonic_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "isotonic"),
    .version = "1.0",
    .summary = "a rising function of each class's probability",
    .source =
        "Zadrozny & Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD 2002",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(isotonic_params, struct isotonic_config),
    .create = calibrator_create_isotonic,
    .destroy = calibrator_destroy_isotonic,
    .ops = &isotonic_ops,
};

TUTTI_PLUGIN(isotonic_descriptor)
