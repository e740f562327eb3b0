/* config_impl.h - the parameters of [data] that are not the source's, and those of [head]; for engine/ alone. */
#ifndef TUTTI_DATA_CONFIG_IMPL_H
#define TUTTI_DATA_CONFIG_IMPL_H

#include <tutti/param.h>

enum tutti_missing { TUTTI_MISSING_ERROR, TUTTI_MISSING_MEAN, TUTTI_MISSING_DROP, TUTTI_MISSING_INDICATOR };
enum tutti_unseen { TUTTI_UNSEEN_ERROR, TUTTI_UNSEEN_OTHER };
enum { TUTTI_DATES_CYCLES, TUTTI_DATES_NUMBERS, TUTTI_DATES_TEXTS };
enum { TUTTI_USELESS_KEEP, TUTTI_USELESS_IGNORE };
enum { TUTTI_MISSING_TARGET_ERROR, TUTTI_MISSING_TARGET_DROP };
enum tutti_scaling {
  TUTTI_SCALING_STANDARD,
  TUTTI_SCALING_ROBUST,
  TUTTI_SCALING_QUANTILE_NORMAL,
  TUTTI_SCALING_QUANTILE_UNIFORM
};
enum tutti_stratify { TUTTI_STRATIFY_AUTO, TUTTI_STRATIFY_YES, TUTTI_STRATIFY_NO };
enum tutti_split_order { TUTTI_SPLIT_RANDOM, TUTTI_SPLIT_FILE };
enum { TUTTI_TASK_AUTO, TUTTI_TASK_AS_REGRESSION, TUTTI_TASK_AS_CLASSIFICATION };

struct tutti_data_config {
  int task, missing, missing_target, unseen, dates, useless, stratify, split_order;
  const char *path, *target, *target_path, *test_path, *test_target_path, *ignore, *categorical;
  struct tutti_reals split, pixel_mean, pixel_deviation;
  struct tutti_integers limit, shift;
  struct tutti_choices shift_validation, shift_test;
  const char *shift_path, *cache, *ood_path;
  int64_t ood_noise;
  int64_t channels;
  const char *train_rows, *validation_rows, *test_rows;
  int64_t split_seed;
  bool standardise;
  int64_t gap, rare, most_categories;
  const char *date_format, *date_formats;
  double calibration;
  int64_t folds, folds_below;
  const char *groups, *class_weights;
  int scaling;
  int64_t quantiles, bins;
};

enum { TUTTI_HEAD_AUTO, TUTTI_HEAD_SOFTMAX, TUTTI_HEAD_GAUSSIAN, TUTTI_HEAD_LINEAR, TUTTI_HEAD_NOMU };
enum { TUTTI_STOP_CONNECTION, TUTTI_STOP_NONE };
struct tutti_head_config {
  int kind, parametrisation;
  double scale, floor;
  double pi_sqr, pi_exp, c_exp, margin, l_min, l_max, uncertainty_l2, known_noise;
  int64_t artificial;
  bool stable;
  int stop_gradient, noise, bounds, readout;
};

#endif
