/* calibrate.c - fits a calibrator to an ensemble's predictions, and refuses it where cross-validation over the same
   rows shows no gain: a fit to few rows can do more harm than good. */
#include "calibrate_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/deal.h>
#include <tutti/names.h>
#include <tutti/random.h>

/* --- parts of the rows --- */

/* Some of the rows, copied. */
struct part {
  struct tutti_combined combined;
  struct tutti_targets targets;
  double *values, *truths;
  int32_t *labels;
  struct tutti_mixture *mixtures;
};

static void release_part(struct part *part) {
  tutti_free(part->values);
  tutti_free(part->truths);
  tutti_free(part->labels);
  tutti_free(part->mixtures);
  *part = (struct part){0};
}

/* The rows whose fold is `fold`, or whose fold is not. */
static enum tutti_status take_part(tutti_context *context, const struct tutti_calibrating *of, const uint32_t *folds,
                                   size_t fold, bool inside, struct part *part) {
  size_t rows = of->combined->rows, outputs = of->combined->outputs, count = 0;
  size_t width = tutti_combined_width(of->combined->kind, outputs);
  const double *truths = of->targets->values;
  const int32_t *labels = of->targets->labels;
  const struct tutti_mixture *mixtures = of->combined->mixtures;
  *part = (struct part){.combined = *of->combined, .targets = *of->targets};
  TUTTI_TRY(context, tutti_alloc(context, rows, width * sizeof(double), &part->values));
  if (truths)
    TUTTI_TRY(context, tutti_alloc(context, rows, outputs * sizeof *truths, &part->truths));
  if (labels)
    TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *labels, &part->labels));
  if (mixtures)
    TUTTI_TRY(context, tutti_alloc(context, rows * outputs, sizeof *mixtures, &part->mixtures));
  for (size_t r = 0; r < rows; r++) {
    if ((folds[r] == fold) != inside)
      continue;
    memcpy(part->values + count * width, of->combined->values + r * width, width * sizeof(double));
    if (truths)
      memcpy(part->truths + count * outputs, truths + r * outputs, outputs * sizeof *truths);
    if (labels)
      part->labels[count] = labels[r];
    if (mixtures)
      memcpy(part->mixtures + count * outputs, mixtures + r * outputs, outputs * sizeof *mixtures);
    count++;
  }
  part->combined.rows = part->targets.rows = count;
  part->combined.values = part->values;
  part->combined.mixtures = part->mixtures;
  part->targets.values = part->truths;
  part->targets.labels = part->labels;
  return TUTTI_OK;
}

/* Deal the rows to the folds: in random order, and of classes one class after the other, so that each fold has its
   share; but whole groups, if there are any. */
static enum tutti_status deal(tutti_context *context, const struct tutti_calibrating *of, uint32_t *folds,
                              struct tutti_verdict *verdict) {
  enum tutti_status status = TUTTI_OK;
  size_t rows = of->combined->rows, dealt = 0, classes = of->targets->labels ? of->combined->outputs : 1, groups = 0;
  struct tutti_random random;
  uint32_t *order;
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *order, &order));
  for (size_t r = 0; r < rows; r++)
    order[r] = (uint32_t)r;
  tutti_random_init(&random, of->seed, "calibration", 0);
  tutti_random_shuffle(&random, rows, order);
  if (of->group)
    TUTTI_TRY_OUT(context, tutti_deal_groups(context, rows, of->group, order, (size_t)of->folds, folds, &groups));
  if (of->group && groups < (size_t)of->folds)
    (void)snprintf(verdict->refused, sizeof verdict->refused,
                   "it is judged by %lld folds of whole groups, and its %zu rows are of %zu %s; "
                   "give more of them, or fewer evaluation.folds",
                   (long long)of->folds, rows, groups, tutti_plural(groups, "group", "groups"));
  for (size_t c = 0; c < classes && !of->group; c++)
    for (size_t i = 0; i < rows; i++)
      if (!of->targets->labels || (size_t)of->targets->labels[order[i]] == c)
        folds[order[i]] = (uint32_t)(dealt++ % (size_t)of->folds);
out:
  tutti_free(order);
  return status;
}

/* --- the measure --- */

/* Sums over the rows of all folds. */
struct sums {
  double before, after;
  double *saved[TUTTI_FIXED_LEVELS]; /* [rows]: by the calibrator, summed over outputs; of NLL the first alone */
  double widest[TUTTI_FIXED_LEVELS]; /* of intervals: infinite where a fold is too small for the level */
  double scores[2][TUTTI_FIXED_LEVELS], inside[TUTTI_FIXED_LEVELS];
};

/* Is the mean that is saved[rows] above its standard error? What is smaller may well be luck, and a loss on other rows.
   Rows of a group are alike, so that what groups save is what chance moves: the deviations of their rows from the mean
   count together. room[rows]. */
static bool is_gain(size_t rows, const double *saved, const uint32_t *group, double *room) {
  double mean = 0, squares = 0, groups = 0;
  memset(room, 0, rows * sizeof *room);
  for (size_t r = 0; r < rows; r++)
    mean += saved[r] / (double)rows;
  for (size_t r = 0; r < rows; r++)
    room[group ? group[r] : r] += saved[r] - mean;
  for (size_t r = 0; r < rows; r++) {
    squares += room[r] * room[r];
    groups += !group || group[r] == r;
  }
  return mean > sqrt(groups / (groups - 1) * squares) / (double)rows;
}

/* Add to nll[members] what a target costs each of them, moved and scaled so that their mixture has the moments
   `after`. */
static void add_members(const struct part *part, bool parts, size_t cell, const double *after, double *nll) {
  const double *before = part->values + cell * TUTTI_COMBINED_PARTS;
  const struct tutti_mixture *plain = &part->mixtures[cell];
  for (size_t k = 0; k < plain->members; k++) {
    const double within = parts ? plain->variances[plain->members + k] : 0;
    const struct tutti_scaled scaled =
        tutti_calibrated_member(before, after, plain->means[k], plain->variances[k], within);
    nll[k] += tutti_gaussian_nll(scaled.mean, scaled.variance, part->truths[cell]);
  }
}

/* Of a row whose predictions are values[rows][width]: of all its targets together, as the metric nll has it. */
static double likelihood_of(const struct part *part, bool parts, const double *values, size_t row, double *room) {
  size_t outputs = part->combined.outputs, first = row * outputs;
  double nll = 0;
  if (part->combined.kind == TUTTI_TASK_CLASSIFICATION)
    return tutti_probability_nll(values[first + (size_t)part->labels[row]]);
  for (size_t k = 0; part->mixtures && k < part->mixtures[first].members; k++)
    room[k] = 0;
  for (size_t cell = first; cell < first + outputs; cell++) {
    const double *after = values + cell * TUTTI_COMBINED_PARTS;
    if (part->mixtures)
      add_members(part, parts, cell, after, room);
    else
      nll += tutti_gaussian_nll(after[TUTTI_COMBINED_MEAN],
                                after[TUTTI_COMBINED_ALEATORIC] + after[TUTTI_COMBINED_EPISTEMIC], part->truths[cell]);
  }
  return part->mixtures ? tutti_joint_nll(part->mixtures[first].members, part->mixtures[first].weights, room) : nll;
}

/* Of the rows of a fold, which `part` has. */
static enum tutti_status add_likelihoods(tutti_context *context, const struct tutti_calibrating *of,
                                         const uint32_t *folds, size_t fold, const struct part *part,
                                         const double *after, struct sums *sums) {
  size_t members = part->mixtures ? part->mixtures[0].members : 0, taken = 0;
  double *room;
  TUTTI_TRY(context, tutti_alloc(context, members, sizeof *room, &room));
  for (size_t r = 0; r < of->combined->rows; r++) {
    if (folds[r] != fold)
      continue;
    double plain = likelihood_of(part, of->parts, part->values, taken, room);
    double corrected = likelihood_of(part, of->parts, after, taken++, room);
    sums->before += plain;
    sums->after += corrected;
    sums->saved[0][r] = plain - corrected;
  }
  tutti_free(room);
  return TUTTI_OK;
}

/* Of the rows of a fold. */
static void add_intervals(const struct tutti_calibrating *of, const uint32_t *folds, size_t fold, size_t level,
                          const double *after, struct sums *sums) {
  const struct tutti_evaluation_options none = TUTTI_EVALUATION_DEFAULTS;
  size_t outputs = of->combined->outputs, cells = of->combined->rows * outputs, taken = 0;
  double at = tutti_level_at(&none, level);
  for (size_t i = 0; i < cells; i++) {
    if (folds[i / outputs] != fold)
      continue;
    const double *plain = of->plain + 2 * (level * cells + i), *ends = after + 2 * taken++;
    double value = of->targets->values[i];
    double without = tutti_interval_score(plain, at, value), with = tutti_interval_score(ends, at, value);
    sums->scores[0][level] += without;
    sums->scores[1][level] += with;
    sums->saved[level][i / outputs] += without - with;
    sums->inside[level] += plain[0] <= value && value <= plain[1];
    sums->widest[level] = fmax(sums->widest[level], ends[1] - ends[0]);
  }
}

static enum tutti_status judge_fold(tutti_context *context, tutti_calibrator *calibrator,
                                    const struct tutti_calibrating *of, const uint32_t *folds, size_t fold,
                                    struct sums *sums) {
  const struct tutti_evaluation_options none = TUTTI_EVALUATION_DEFAULTS;
  enum tutti_status status;
  struct part rest = {0}, part = {0};
  double *after = NULL;
  TUTTI_TRY_OUT(context, take_part(context, of, folds, fold, false, &rest));
  TUTTI_TRY_OUT(context, take_part(context, of, folds, fold, true, &part));
  TUTTI_TRY_OUT(context, tutti_calibrator_fit(context, calibrator, &rest.combined, &rest.targets));
  size_t width = tutti_combined_width(part.combined.kind, part.combined.outputs);
  TUTTI_TRY_OUT(context, tutti_alloc(context, part.combined.rows, width * sizeof *after, &after));
  if (!(tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS)) {
    TUTTI_TRY_OUT(context, tutti_calibrator_apply(context, calibrator, &part.combined, after));
    TUTTI_TRY_OUT(context, add_likelihoods(context, of, folds, fold, &part, after, sums));
    goto out;
  }
  for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
    TUTTI_TRY_OUT(context,
                  tutti_calibrator_intervals(context, calibrator, &part.combined, tutti_level_at(&none, l), after));
    add_intervals(of, folds, fold, l, after, sums);
  }
out:
  release_part(&rest);
  release_part(&part);
  tutti_free(after);
  return status;
}

/* How many rows are not of this fold, if these are all of one class and some of the fold are of another; else 0. */
static size_t rest_of_one_class(const struct tutti_calibrating *of, const uint32_t *folds, size_t fold) {
  size_t rest = 0, first = 0;
  bool alone = true, all = true;
  for (size_t r = 0; of->targets->labels && r < of->combined->rows; r++)
    if (folds[r] != fold && rest++ == 0)
      first = r;
  for (size_t r = 0; rest > 0 && r < of->combined->rows; r++) {
    bool same = of->targets->labels[r] == of->targets->labels[first];
    alone = alone && (folds[r] == fold || same);
    all = all && same;
  }
  return alone && !all ? rest : 0;
}

/* Judge it on each fold. Where the only rows of a class are in one, nothing can be fitted without that. */
static enum tutti_status judge_folds(tutti_context *context, tutti_calibrator *calibrator,
                                     const struct tutti_calibrating *of, const uint32_t *folds, struct sums *sums,
                                     struct tutti_verdict *verdict) {
  for (size_t f = 0; f < (size_t)of->folds; f++) {
    enum tutti_status status = judge_fold(context, calibrator, of, folds, f, sums);
    size_t rest = status == TUTTI_ERROR_NUMERIC ? rest_of_one_class(of, folds, f) : 0;
    if (rest == 0) {
      TUTTI_TRY(context, status);
      continue;
    }
    tutti_error_clear(context);
    (void)snprintf(verdict->refused, sizeof verdict->refused,
                   "it is judged by %lld folds of the %zu rows, and without one of them the other %zu are of one "
                   "class",
                   (long long)of->folds, of->combined->rows, rest);
    return TUTTI_OK;
  }
  return TUTTI_OK;
}

/* The level whose coverage, without a calibrator, misses its goal by the most standard errors, if by more than two;
   else TUTTI_FIXED_LEVELS. */
static size_t missed_level(const struct sums *sums, double cells) {
  const struct tutti_evaluation_options none = TUTTI_EVALUATION_DEFAULTS;
  size_t missed = TUTTI_FIXED_LEVELS;
  double most = 2;
  for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
    const double level = tutti_level_at(&none, l);
    const double errors = fabs(sums->inside[l] / cells - level) / sqrt(level * (1 - level) / cells);
    if (errors > most) {
      missed = l;
      most = errors;
    }
  }
  return missed;
}

/* Does it help? Of intervals, at most of the levels at which they are finite. */
static bool helps(const struct tutti_calibrating *of, const struct sums *sums, bool intervals, double *room) {
  size_t judged = 0, better = 0;
  for (size_t l = 0; l < (intervals ? TUTTI_FIXED_LEVELS : 1u); l++)
    if (!intervals || isfinite(sums->widest[l])) {
      judged++;
      better += is_gain(of->combined->rows, sums->saved[l], of->group, room);
    }
  return 2 * better > judged;
}

/* Why intervals are taken whose score is not better by more than chance may be; nothing, if they are not. */
static void say_promise(const struct tutti_calibrating *of, const struct sums *sums, double cells,
                        struct tutti_verdict *verdict) {
  const struct tutti_evaluation_options none = TUTTI_EVALUATION_DEFAULTS;
  const size_t missed = missed_level(sums, cells);
  static const char taken[] = "taken for what its intervals cover";
  char groups[64] = "";
  if (of->group)
    (void)snprintf(groups, sizeof groups, "; the rows are of %zu groups",
                   tutti_groups_count(of->combined->rows, of->group));
  if (isnan(sums->scores[0][0]))
    (void)snprintf(verdict->taken, sizeof verdict->taken, "%s: the ensemble has none of its own%s", taken, groups);
  else if (missed < TUTTI_FIXED_LEVELS)
    (void)snprintf(verdict->taken, sizeof verdict->taken,
                   "%s: the ensemble's own of %g %% cover %.3g %% of these rows%s", taken,
                   100 * tutti_level_at(&none, missed), 100 * sums->inside[missed] / cells, groups);
  else if (of->own_rows && !of->group)
    (void)snprintf(verdict->taken, sizeof verdict->taken,
                   "%s: the rows that it is fitted to chose nothing, so that these hold what they promise", taken);
  else if (of->own_rows)
    (void)snprintf(verdict->taken, sizeof verdict->taken,
                   "%s: the rows that it is fitted to chose nothing; they are of %zu groups: the more there are, the "
                   "better these hold what they promise",
                   taken, tutti_groups_count(of->combined->rows, of->group));
}

/* Intervals are judged by their score at the levels at which they are finite in every fold. */
static void sum_scores(struct sums *sums) {
  double levels = 0;
  for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++)
    if (isfinite(sums->widest[l])) {
      sums->before += sums->scores[0][l];
      sums->after += sums->scores[1][l];
      levels++;
    }
  sums->before = levels > 0 ? sums->before / levels : (double)NAN;
  sums->after = levels > 0 ? sums->after / levels : (double)NAN;
}

static enum tutti_status judge(tutti_context *context, tutti_calibrator *calibrator, const struct tutti_calibrating *of,
                               struct tutti_verdict *verdict) {
  enum tutti_status status;
  struct sums sums = {0};
  uint32_t *folds = NULL;
  double *saved = NULL;
  const size_t rows = of->combined->rows;
  bool intervals = tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS;
  double count = (double)rows * (intervals ? (double)of->combined->outputs : 1);
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *folds, &folds));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, (TUTTI_FIXED_LEVELS + 1) * sizeof *saved, &saved));
  for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++)
    sums.saved[l] = saved + l * rows;
  TUTTI_TRY_OUT(context, deal(context, of, folds, verdict));
  if (*verdict->refused)
    goto out;
  TUTTI_TRY_OUT(context, judge_folds(context, calibrator, of, folds, &sums, verdict));
  if (*verdict->refused)
    goto out;
  if (intervals)
    sum_scores(&sums);
  verdict->measure = intervals ? "interval-score" : "nll";
  verdict->before = sums.before / count;
  verdict->after = sums.after / count;
  const bool better = helps(of, &sums, intervals, saved + TUTTI_FIXED_LEVELS * rows);
  if (!better && intervals)
    say_promise(of, &sums, count, verdict);
  else if (better && !(verdict->after < verdict->before))
    (void)snprintf(verdict->taken, sizeof verdict->taken, "taken since its score is better at most of the levels");
  if (!better && !*verdict->taken)
    (void)snprintf(
        verdict->refused, sizeof verdict->refused,
        "over %lld folds of the rows it does not help by more than chance may: %s %.5g with it, %.5g without%s",
        (long long)of->folds, verdict->measure, verdict->after, verdict->before,
        intervals ? ", and the ensemble's own intervals cover what they should" : "");
out:
  tutti_free(folds);
  tutti_free(saved);
  return status;
}

/* --- fitting --- */

/* Are there enough rows? If not, the verdict says so. */
static bool has_rows(const struct tutti_calibrating *of, size_t least, struct tutti_verdict *verdict) {
  size_t rows = of->combined->rows, folded = of->folds > 1 ? 2 * (size_t)of->folds : 0;
  least = least > folded ? least : folded;
  if (rows >= least)
    return true;
  (void)snprintf(verdict->refused, sizeof verdict->refused, "it needs %zu %s to fit to, and there %s %zu", least,
                 tutti_plural(least, "row", "rows"), tutti_plural(rows, "is", "are"), rows);
  return false;
}

enum tutti_status tutti_calibrate(tutti_context *context, const struct tutti_calibrating *of, tutti_calibrator **out,
                                  struct tutti_verdict *verdict) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_calibrator_setup setup = {.size = sizeof setup, .host = of->host, .seed = of->seed};
  tutti_calibrator *calibrator = NULL;
  *out = NULL;
  *verdict = (struct tutti_verdict){.before = (double)NAN, .after = (double)NAN};
  TUTTI_TRY_OUT(context, tutti_calibrator_create(context, of->host, "calibrator", &setup, &calibrator));
  if (!has_rows(of, tutti_calibrator_least_rows(calibrator, of->combined->outputs), verdict))
    goto out;
  if (of->folds > 1)
    status = judge(context, calibrator, of, verdict);
  if (status == TUTTI_OK && !*verdict->refused)
    status = tutti_calibrator_fit(context, calibrator, of->combined, of->targets);
  if (status == TUTTI_ERROR_NUMERIC || status == TUTTI_ERROR_USAGE) {
    (void)snprintf(verdict->refused, sizeof verdict->refused, "%s", tutti_error_message(context));
    tutti_error_clear(context);
    status = TUTTI_OK;
  }
  if (status == TUTTI_OK && !*verdict->refused) {
    *out = calibrator;
    calibrator = NULL;
  }
out:
  tutti_calibrator_destroy(calibrator);
  return status;
}
