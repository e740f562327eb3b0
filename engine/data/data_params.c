/* data_params.c - the parameter tables of [data] and [head]. */
#include "engine/data/shift/corruption_impl.h"
#include "config_impl.h"

#include <tutti/data.h>
#include <tutti/task.h>

#define NAME(constant, number, name) [TUTTI_TASK_AS_##constant] = name,
static const char *const task_names[] = {[TUTTI_TASK_AUTO] = "auto", TUTTI_TASKS_WITH_DATA(NAME) NULL};
static const char *const missing_names[] = {"error", "mean", "drop", "indicator", NULL};
static const char *const missing_target_names[] = {"error", "drop", NULL};
static const char *const unseen_names[] = {"error", "other", NULL};
static const char *const dates_names[] = {"cycles", "numbers", "texts", NULL};
static const char *const useless_names[] = {"keep", "ignore", NULL};
static const char *const split_order_names[] = {"random", "file", NULL};
static const char *const scaling_names[] = {"standard", "robust", "quantile-normal", "quantile-uniform", NULL};
static const char *const stratify_names[] = {"auto", "yes", "no", NULL};

static const struct tutti_param data_table[] = {
    TUTTI_PATH(struct tutti_data_config, path, "",
               "The file that the source reads; without a plugin, the ending of its name says which source that is. Of "
               "idx and cifar also the folder with the published files, test files included. Generators have none."),
    TUTTI_STRING(struct tutti_data_config, target, "",
                 "Target columns: names, or numbers from 0 (-1 is the last), separated by commas or blanks, a name "
                 "with commas in \"...\"; several keep the file's order. Empty: the last column."),
    TUTTI_PATH(struct tutti_data_config, target_path, "",
               "Where the source reads one, as npy does: a second file with the targets; empty: they are columns of "
               "path. For images in idx or npy: the file with the labels."),
    TUTTI_PATH(struct tutti_data_config, test_path, "",
               "A second file of images, like path, all of which are test rows: split then shares out those of path."),
    TUTTI_PATH(struct tutti_data_config, test_target_path, "", "The labels of test_path."),
    TUTTI_STRING(struct tutti_data_config, ignore, "", "Columns to leave out, written like target."),
    TUTTI_STRING(
        struct tutti_data_config, categorical, "",
        "Columns to code one-hot although they hold numbers, written like target; columns of text always are."),
    TUTTI_CHOICE(struct tutti_data_config, task, "auto", task_names,
                 "What is predicted; auto: classification for a target of text, else regression."),
    TUTTI_CHOICE(
        struct tutti_data_config, missing, "error", missing_names,
        "What an empty cell, NA, nan or ? means: an error; for numbers the mean of the training rows; that its "
        "row is dropped; or, indicator: the mean, with one more input that says where values are missing, and "
        "for categories one of its own."),
    TUTTI_CHOICE(struct tutti_data_config, missing_target, "error", missing_target_names,
                 "What a missing target means: an error, or that its row is dropped; missing = drop drops it, too."),
    TUTTI_CHOICE(struct tutti_data_config, unseen, "error", unseen_names,
                 "What a category means that new rows have and the data had not: an error, or other: the category of "
                 "the rare ones, or none of the categories if none was rare."),
    TUTTI_INTEGER(struct tutti_data_config, rare, "0", 0, 1000000,
                  "Categories of fewer rows than this are one, (other).", .unit = "rows"),
    TUTTI_INTEGER(struct tutti_data_config, most_categories, "0", 0, 4096,
                  "A column has at most so many categories, the most frequent ones; all others are one, (other). 0: no "
                  "limit but 4096, beyond which a column is an error."),
    TUTTI_CHOICE(struct tutti_data_config, dates, "cycles", dates_names,
                 "What a column of dates becomes: the number of days since 1970 with sine and cosine of the year, the "
                 "week and, if there are times, the day; the number alone; or texts, that is categories."),
    TUTTI_STRING(struct tutti_data_config, date_format, "",
                 "How dates are written, as in %d.%m.%Y (strptime); empty: as in 2026-01-31 or 2026-01-31T12:30:00."),
    TUTTI_STRING(
        struct tutti_data_config, date_formats, "",
        "How the dates of some columns are written, as in sold = %m/%d/%Y, built = %Y; the others as date_format "
        "says."),
    TUTTI_CHOICE(struct tutti_data_config, useless, "keep", useless_names,
                 "Inputs that say nothing: columns of one value, texts that all differ, numbers of rows. They stay, or "
                 "are left out."),
    TUTTI_REALS(struct tutti_data_config, split, "0.8 0.1 0.1", 0, TUTTI_NO_LIMIT,
                "Shares of training, validation and test rows, relative to their sum."),
    TUTTI_PATH(struct tutti_data_config, train_rows, "",
               "File of the numbers of the training rows, one a line, from 0 without the header; splits without such a "
               "file share the rows that no file names."),
    TUTTI_PATH(struct tutti_data_config, validation_rows, "", "File of the numbers of the validation rows, likewise."),
    TUTTI_PATH(
        struct tutti_data_config, test_rows, "",
        "File of the numbers of the test rows, likewise; alone, training and validation share the rest as split says."),
    TUTTI_CHOICE(struct tutti_data_config, split_order, "random", split_order_names,
                 "Rows are shared out at random, or in their order in the file: training rows first, then validation, "
                 "then test."),
    TUTTI_INTEGERS(struct tutti_data_config, limit, "", 0, 1e9,
                   "Most rows of training, validation and test, for small runs; 0: all. What is over is left out, "
                   "drawn like split."),
    TUTTI_CHOICE(struct tutti_data_config, stratify, "auto", stratify_names,
                 "Give each split its share of every class; auto: yes for classification, unless rows are shared out "
                 "in their order."),
    TUTTI_INTEGER(struct tutti_data_config, split_seed, "-1", -1, TUTTI_NO_LIMIT,
                  "Seed of splits and of what the source draws; -1: the run's."),
    TUTTI_INTEGER(
        struct tutti_data_config, gap, "-1", -1, TUTTI_NO_LIMIT,
        "The test rows are a gap in this numeric input, counted from 0 and round: the middle third of the rows "
        "that no file names, in the order of its values. Training and validation share the rest. -1: no gap."),
    TUTTI_REAL(struct tutti_data_config, calibration, "0", 0, 0.9,
               "Share of the rows of training that are kept apart, as the split calibration, for [calibrator] alone; "
               "whole groups if there are groups. Validation and test rows are the same with it and without it."),
    TUTTI_INTEGER(
        struct tutti_data_config, folds, "0", 0, 1000,
        "Cross-validation, for small tables: training and validation rows are one pool of so many folds, a model is "
        "trained without each, and what it predicts for that fold counts as validation; new rows are predicted by all, "
        "as a mixture. 0: one model, of the training rows."),
    TUTTI_INTEGER(struct tutti_data_config, folds_below, "1000000000", 1, TUTTI_NO_LIMIT,
                  "Only where there are fewer rows of training and validation than this; else folds counts as 0.",
                  .unit = "rows"),
    TUTTI_STRING(
        struct tutti_data_config, groups, "",
        "A column that is no input, but says which rows belong together, such as those of one patient: they go "
        "to one split, and to one fold."),
    TUTTI_STRING(struct tutti_data_config, class_weights, "none",
                 "What training rows count for, by their class: none: all the same; balanced: each class as much as "
                 "any other; or weights by name, as in ill: 5, well: 1, where classes without one have 1. Metrics are "
                 "not weighted."),
    TUTTI_BOOL(struct tutti_data_config, standardise, "true",
               "Scale numeric inputs and targets to mean 0 and standard deviation 1 over the training rows; categories "
               "stay 0 and 1. Predictions and metrics are in the target's own units either way."),
    TUTTI_CHOICE(
        struct tutti_data_config, scaling, "standard", scaling_names,
        "How numeric inputs are scaled, by the training rows: standard: mean 0 and standard deviation 1; robust: by "
        "median and quartiles, then smoothly into (-3, 3); quantile-normal, quantile-uniform: what matters is the "
        "share of rows below, as a normal or uniform number. Targets are standardised either way."),
    TUTTI_INTEGER(struct tutti_data_config, quantiles, "256", 2, 100000,
                  "scaling by quantiles: at most so many points of a column, straight lines between; fewer are "
                  "smoother.",
                  .unit = "points"),
    TUTTI_INTEGER(
        struct tutti_data_config, bins, "0", 0, 1000,
        "Piecewise-linear encoding of numbers for networks: beside each, so many more inputs, one for each bin between "
        "its quantiles in the training rows: 0 below the bin, 1 above it, rising within. Equal edges are one. 0: "
        "none."),
    TUTTI_INTEGER(struct tutti_data_config, channels, "0", 0, TUTTI_ROWS_MAX_CHANNELS,
                  "Channels of images as networks see them: 3 repeats grey ones; 0: as in the file."),
    TUTTI_REALS(
        struct tutti_data_config, pixel_mean, "", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT,
        "What is taken from the pixels of images before they are divided by pixel_deviation, one number or one a "
        "channel; bytes count from 0 to 1. Empty: the training rows' mean of each channel (0 without standardise)."),
    TUTTI_REALS(
        struct tutti_data_config, pixel_deviation, "", 0, TUTTI_NO_LIMIT,
        "What pixels are divided by, likewise. Empty: the training rows' standard deviation (1 without standardise).",
        .min_open = true),
    TUTTI_INTEGERS(struct tutti_data_config, shift, "", 0, TUTTI_SEVERITIES,
                   "Severities at which validation and test images are corrupted, as in 1 2 3 4 5: each gives the "
                   "splits validation-SEVERITY and test-SEVERITY. 0 is no shift."),
    TUTTI_CHOICES(
        struct tutti_data_config, shift_validation, "speckle-noise gaussian-blur spatter saturate",
        tutti_corruption_names,
        "Corruptions of the validation images (Hendrycks & Dietterich, 2019), of which each image gets one at random."),
    TUTTI_CHOICES(struct tutti_data_config, shift_test,
                  "gaussian-noise shot-noise impulse-noise defocus-blur glass-blur motion-blur zoom-blur snow frost "
                  "fog brightness contrast elastic pixelate jpeg",
                  tutti_corruption_names,
                  "Corruptions of the test images, likewise; others than those of the validation images, so that "
                  "selection does not know them."),
    TUTTI_PATH(struct tutti_data_config, shift_path, "",
               "Folder with ready-made shifted images instead, validation-SEVERITY.npy and test-SEVERITY.npy, row by "
               "row those of the split (or of the whole test file); or the folder of CIFAR-10-C or CIFAR-100-C."),
    TUTTI_PATH(struct tutti_data_config, cache, "",
               "Folder where corrupted images are kept, so that they are made once; empty: tutti in XDG_CACHE_HOME, or "
               ".cache/tutti in HOME.",
               .flags = TUTTI_PARAM_MADE),
    TUTTI_PATH(struct tutti_data_config, ood_path, "",
               "A file of images out of distribution, of the same shape and kind as those of path: the split ood, "
               "whose labels are not looked at. How unsure ensembles are of them is measured."),
    TUTTI_INTEGER(struct tutti_data_config, ood_noise, "0", 0, 1e7,
                  "So many images of Gaussian noise, likewise: the split ood-noise."),
};

static const char *const head_names[] = {"auto", "softmax", "gaussian", "linear", "nomu", NULL};
static const char *const stop_names[] = {"connection", "none", NULL};
static const char *const noise_names[] = {"none", "learnt", "known", NULL};
static const char *const bounds_names[] = {"symmetric", "lower", "upper", "both", NULL};
static const char *const readout_names[] = {"exponential", "linear", NULL};
static const char *const parametrisation_names[] = {"std", "variance", NULL};

static const struct tutti_param head_table[] = {
    TUTTI_CHOICE(struct tutti_head_config, kind, "auto", head_names,
                 "What networks end in; auto: softmax for classification, gaussian (mean and spread) for regression. "
                 "nomu: a mean, and a second network of the same architecture for how uncertain it is.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct tutti_head_config, parametrisation, "std", parametrisation_names,
                 "What floor + softplus(scale t) of a gaussian head is, t being the network's output: the standard "
                 "deviation or the variance of the standardised target.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, scale, "1", 0, TUTTI_NO_LIMIT,
               "Scale of t in a gaussian head. AutoDEUQ has 0.05, with which the spread moves twenty times slower; its "
               "recipes say so.",
               .min_open = true, .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, floor, "1e-3", 0, TUTTI_NO_LIMIT,
               "The least standard deviation (or variance) of a gaussian head, in units of the standardised target; "
               "these three are also those of the noise that nomu learns.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, pi_sqr, "0.1", 0, TUTTI_NO_LIMIT,
               "nomu: weight of the squared uncertainty at training rows; more narrows it there.", .min_open = true,
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, pi_exp, "0.01", 0, TUTTI_NO_LIMIT,
               "nomu: weight of the push upward at artificial points; more widens the uncertainty.", .min_open = true,
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, c_exp, "30", 0, TUTTI_NO_LIMIT,
               "nomu: exponent of that push; more narrows large uncertainties and widens small ones.", .min_open = true,
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct tutti_head_config, artificial, "128", 1, 1000000,
                  "nomu: artificial points, drawn anew at each step from the box of the training inputs.",
                  .unit = "points", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, margin, "0.05", 0, 100,
               "nomu: by this share of its width that box is wider, on each side.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct tutti_head_config, stable, "yes",
               "nomu: Huber's loss and a straight line where the uncertainty's terms grow fast: the same where outputs "
               "stay in a reasonable range.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, l_min, "1e-3", 0, TUTTI_NO_LIMIT,
               "nomu: least uncertainty, nearly, in units of the standardised target.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, l_max, "2", 0, TUTTI_NO_LIMIT,
               "nomu: greatest uncertainty, in the same units.", .min_open = true, .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct tutti_head_config, readout, "exponential", readout_names,
                 "nomu: how the uncertainty goes from l_min to l_max: smoothly, or linear, for searches in discrete "
                 "spaces.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct tutti_head_config, stop_gradient, "connection", stop_names,
                 "nomu: connection lets no gradient through from the uncertainty's network to the mean's; none lets it "
                 "through.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, uncertainty_l2, "0", 0, TUTTI_NO_LIMIT,
               "nomu: L2 weight of the uncertainty's network; 0: as of the mean's.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct tutti_head_config, noise, "none", noise_names,
                 "nomu: noise in the data: none, all uncertainty is the model's; learnt beside it, by likelihood; or "
                 "known.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct tutti_head_config, known_noise, "0.1", 0, TUTTI_NO_LIMIT,
               "nomu: standard deviation of known noise, in units of the standardised target.", .min_open = true,
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct tutti_head_config, bounds, "symmetric", bounds_names,
                 "nomu: what is learnt beside the mean: one uncertainty both ways; or, for hypotheses of which any two "
                 "have one below (above) both, a lower bound, an upper one, or both.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
};

const struct tutti_params *tutti_data_params(void) {
  static const struct tutti_params params = TUTTI_PARAMS(data_table, struct tutti_data_config);
  return &params;
}

const struct tutti_params *tutti_head_params(void) {
  static const struct tutti_params params = TUTTI_PARAMS(head_table, struct tutti_head_config);
  return &params;
}
