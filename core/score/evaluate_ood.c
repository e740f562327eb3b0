/* evaluate_ood.c - an ensemble of classifiers on inputs out of distribution: how unsure it is of them, and how well that
   tells them from inputs that it was made for. */
#include <math.h>
#include <stdlib.h>

#include "evaluate_impl.h"

/* By which a row is held to be out of distribution: the more, the more likely. */
enum score { SCORE_ENTROPY, SCORE_MUTUAL_INFORMATION, SCORE_DOUBT, SCORES };

struct scored {
  double score;
  bool outside;
};

static double score_of(const struct tutti_uncertainty *row, size_t classes, enum score score) {
  double most = 0;
  if (score != SCORE_DOUBT)
    return score == SCORE_ENTROPY ? row[0].total : row[0].epistemic;
  for (size_t c = 0; c < classes; c++)
    most = fmax(most, row[c].mean);
  return 1 - most;
}

static int by_score(const void *a, const void *b) {
  double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
  return x < y ? -1 : x > y;
}

/* The probability that a row from outside scores higher than one from inside, ties counting half: the area under the
   receiver's operating characteristic, from the ranks (Mann & Whitney, 1947). */
static double area(struct scored *rows, size_t count) {
  double pairs = 0, inside = 0, outside = 0;
  qsort(rows, count, sizeof *rows, by_score);
  for (size_t begin = 0, end; begin < count; begin = end) {
    double in = 0, out = 0;
    for (end = begin; end < count && rows[end].score <= rows[begin].score; end++)
      *(rows[end].outside ? &out : &in) += 1;
    pairs += out * (inside + in / 2);
    inside += in;
    outside += out;
  }
  return pairs / (inside * outside);
}

struct predicted {
  const struct tutti_pool *pool;
  struct tutti_uncertainty *rows; /* [rows][classes] */
};

static enum tutti_status predict(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                 struct predicted *predicted) {
  predicted->pool = pool;
  if (pool->kind != TUTTI_TASK_CLASSIFICATION || pool->rows == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "out-of-distribution inputs are told from others by the probabilities of classes, of one row at "
                      "least each");
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, pool->outputs * sizeof *predicted->rows, &predicted->rows));
  return tutti_ensemble_predict(context, pool, ensemble, NULL, predicted->rows);
}

static size_t add_scores(const struct predicted *predicted, enum score score, bool outside, struct scored *out) {
  size_t rows = predicted->pool->rows, classes = predicted->pool->outputs;
  for (size_t r = 0; r < rows; r++)
    out[r] = (struct scored){score_of(predicted->rows + r * classes, classes, score), outside};
  return rows;
}

/* NaN where a prediction is: nothing is known then. */
static double auroc(const struct predicted *inside, const struct predicted *outside, enum score score,
                    struct scored *room) {
  size_t count = add_scores(inside, score, false, room);
  count += add_scores(outside, score, true, room + count);
  for (size_t i = 0; i < count; i++)
    if (isnan(room[i].score))
      return NAN;
  return area(room, count);
}

static double mean_of(const struct predicted *predicted, enum score score) {
  size_t rows = predicted->pool->rows, classes = predicted->pool->outputs;
  double sum = 0;
  for (size_t r = 0; r < rows; r++)
    sum += score_of(predicted->rows + r * classes, classes, score);
  return sum / (double)rows;
}

enum tutti_status tutti_evaluate_ood(tutti_context *context, const struct tutti_pool *inside,
                                     const struct tutti_pool *outside, const tutti_ensemble *ensemble,
                                     struct tutti_evaluation *evaluation) {
  enum tutti_status status = TUTTI_OK;
  struct predicted in = {0}, out = {0};
  struct scored *room = NULL;
  *evaluation = (struct tutti_evaluation){
      .size = sizeof *evaluation, .rows = outside->rows, .members = tutti_ensemble_size(ensemble)};
  TUTTI_TRY_OUT(context, predict(context, inside, ensemble, &in));
  TUTTI_TRY_OUT(context, predict(context, outside, ensemble, &out));
  TUTTI_TRY_OUT(context, tutti_alloc(context, inside->rows + outside->rows, sizeof *room, &room));
  double entropy = mean_of(&out, SCORE_ENTROPY), information = mean_of(&out, SCORE_MUTUAL_INFORMATION);
  tutti_evaluation_add(evaluation, "entropy", "nats", TUTTI_BETTER_HIGHER, entropy);
  tutti_evaluation_add(evaluation, "mutual-information", "nats", TUTTI_BETTER_NEITHER, information);
  tutti_evaluation_add(evaluation, "confidence", "fraction", TUTTI_BETTER_LOWER, 1 - mean_of(&out, SCORE_DOUBT));
  tutti_evaluation_add(evaluation, "auroc-entropy", "", TUTTI_BETTER_HIGHER, auroc(&in, &out, SCORE_ENTROPY, room));
  tutti_evaluation_add(evaluation, "auroc-mutual-information", "", TUTTI_BETTER_HIGHER,
                       auroc(&in, &out, SCORE_MUTUAL_INFORMATION, room));
  tutti_evaluation_add(evaluation, "auroc-confidence", "", TUTTI_BETTER_HIGHER, auroc(&in, &out, SCORE_DOUBT, room));
out:
  tutti_free(in.rows);
  tutti_free(out.rows);
  tutti_free(room);
  return status;
}
