/* evaluate_ood.c - an ensemble of classifiers on out-of-distribution inputs: how uncertain it is about them, and how
   well that separates them from ordinary inputs. */
#include <math.h>

#include "evaluate_impl.h"
#include "ranking_impl.h"

/* Scores for being out of distribution: the higher, the more likely. */
enum score { SCORE_ENTROPY, SCORE_MUTUAL_INFORMATION, SCORE_DOUBT };

static double score_of(const struct tutti_uncertainty *row, size_t classes, enum score score) {
  double most = 0;
  if (score != SCORE_DOUBT)
    return score == SCORE_ENTROPY ? row[0].total : row[0].epistemic;
  for (size_t c = 0; c < classes; c++)
    most = fmax(most, row[c].mean);
  return 1 - most;
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

static size_t add_scores(const struct predicted *predicted, enum score score, bool outside, struct tutti_ranked *out) {
  size_t rows = predicted->pool->rows, classes = predicted->pool->outputs;
  for (size_t r = 0; r < rows; r++)
    out[r] = (struct tutti_ranked){score_of(predicted->rows + r * classes, classes, score), outside};
  return rows;
}

/* --- metrics --- */

struct told_apart {
  struct predicted inside, outside;
  struct tutti_ranked *room; /* [rows of both] */
};

/* NaN if any prediction is: the area is then unknown. */
static double auroc(const void *of_, size_t score) {
  const struct told_apart *of = of_;
  size_t count = add_scores(&of->inside, (enum score)score, false, of->room);
  count += add_scores(&of->outside, (enum score)score, true, of->room + count);
  return tutti_ranked_area(count, of->room);
}

static double mean_outside(const void *of, size_t score) {
  const struct predicted *outside = &((const struct told_apart *)of)->outside;
  size_t rows = outside->pool->rows, classes = outside->pool->outputs;
  double sum = 0;
  for (size_t r = 0; r < rows; r++)
    sum += score_of(outside->rows + r * classes, classes, (enum score)score);
  return sum / (double)rows;
}

static double mean_confidence(const void *of, size_t score) { return 1 - mean_outside(of, score); }

static const struct metric_entry ood_metrics[] = {
    METRIC("entropy", "nats", HIGHER, "mean of H(p) over these rows", mean_outside, SCORE_ENTROPY),
    METRIC("mutual-information", "nats", NEITHER, "mean over these rows of what it is above", mean_outside,
           SCORE_MUTUAL_INFORMATION),
    METRIC("confidence", "fraction", LOWER, "mean of max p", mean_confidence, SCORE_DOUBT),
    METRIC("auroc-entropy", "", HIGHER,
           "probability that such a row has a higher entropy than a test row, ties counting half: the area under the "
           "curve of true against false positives",
           auroc, SCORE_ENTROPY),
    METRIC("auroc-mutual-information", "", HIGHER, "likewise for a higher mutual information", auroc,
           SCORE_MUTUAL_INFORMATION),
    METRIC("auroc-confidence", "", HIGHER, "likewise for a higher 1 - max p", auroc, SCORE_DOUBT),
};
const struct metric_table metrics_of_ood = METRIC_TABLE(ood_metrics);

enum tutti_status tutti_evaluate_ood(tutti_context *context, const struct tutti_pool *inside,
                                     const struct tutti_pool *outside, const tutti_ensemble *ensemble,
                                     tutti_evaluation **evaluation) {
  enum tutti_status status = TUTTI_OK;
  struct told_apart of = {.room = NULL};
  *evaluation = NULL;
  TUTTI_TRY_OUT(context, predict(context, inside, ensemble, &of.inside));
  TUTTI_TRY_OUT(context, predict(context, outside, ensemble, &of.outside));
  TUTTI_TRY_OUT(context, tutti_alloc(context, inside->rows + outside->rows, sizeof *of.room, &of.room));
  TUTTI_TRY_OUT(context, tutti_evaluation_create(context, &metrics_of_ood, &of, evaluation));
out:
  tutti_free(of.inside.rows);
  tutti_free(of.outside.rows);
  tutti_free(of.room);
  return status;
}
