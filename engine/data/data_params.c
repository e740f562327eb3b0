/* data_params.c - the parameter tables of [data] and [head]. */
#include "engine/data/shift/corruption_impl.h"
#include "data_impl.h"

#include <stddef.h>

const char *const tutti_format_names[] = {"auto",
                                          "csv",
                                          "npy",
                                          "idx",
                                          "cifar",
                                          "cifar100",
                                          "cifar100-coarse",
                                          "toy-sine",
                                          "nomu-abs",
                                          "nomu-step",
                                          "nomu-kink",
                                          "nomu-square",
                                          "nomu-cubic",
                                          "nomu-sine1",
                                          "nomu-sine2",
                                          "nomu-sine3",
                                          "nomu-forrester",
                                          "nomu-levy",
                                          "nomu-sphere2d",
                                          "nomu-levy2d",
                                          "nomu-g2d",
                                          "nomu-goldstein2d",
                                          "nomu-styblinski2d",
                                          "nomu-perm2d",
                                          "nomu-branin2d",
                                          "nomu-beale2d",
                                          "nomu-rosenbrock2d",
                                          "nomu-camel2d",
                                          "nomu-bukin2d",
                                          NULL};
static const char *const task_names[] = {"auto", "regression", "classification", NULL};
static const char *const header_names[] = {"auto", "yes", "no", NULL};
static const char *const delimiter_names[] = {"auto", "comma", "semicolon", "tab", "space", NULL};
static const char *const missing_names[] = {"error", "mean", "drop", NULL};
static const char *const split_order_names[] = {"random", "file", NULL};
static const char *const stratify_names[] = {"auto", "yes", "no", NULL};

#define FIELD(field) offsetof(struct tutti_data_config, field)

static const struct tutti_param data_table[] = {
    {.name = "format",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(format),
     .preset = "auto",
     .choices = tutti_format_names,
     .doc = "Format of the file at path, or the name of a generator; auto: npy for a name that ends in .npy, else csv. "
            "idx "
            "is that of MNIST and its successors; cifar (one label), cifar100 (the fine label) and cifar100-coarse are "
            "the "
            "binary versions. An npy of three or four sizes holds images, too."},
    {.name = "path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(path),
     .preset = "",
     .doc = "The file: csv, idx or cifar, maybe gzipped, or npy with shape [rows], [rows][columns], "
            "[rows][height][width] or [rows][height][width][channels]. Of idx and cifar also the folder with the "
            "published files, test files included. Generators have none."},
    {.name = "target",
     .type = TUTTI_PARAM_STRING,
     .offset = FIELD(target),
     .preset = "",
     .doc = "Target columns: names, or numbers from 0 (-1 is the last), separated by commas or blanks; several "
            "keep the file's order. Empty: the last column."},
    {.name = "target_path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(target_path),
     .preset = "",
     .doc = "For npy: a second file with the targets, [rows] or [rows][targets]; empty: they are columns of path. For "
            "images in idx or npy: the file with the labels."},
    {.name = "test_path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(test_path),
     .preset = "",
     .doc = "A second file of images, like path, all of which are test rows: split then shares out those of path."},
    {.name = "test_target_path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(test_target_path),
     .preset = "",
     .doc = "The labels of test_path."},
    {.name = "ignore",
     .type = TUTTI_PARAM_STRING,
     .offset = FIELD(ignore),
     .preset = "",
     .doc = "Columns to leave out, written like target."},
    {.name = "categorical",
     .type = TUTTI_PARAM_STRING,
     .offset = FIELD(categorical),
     .preset = "",
     .doc = "Columns to code one-hot although they hold numbers, written like target; columns of text always are."},
    {.name = "task",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(task),
     .preset = "auto",
     .choices = task_names,
     .doc = "What is predicted; auto: classification for a target of text, else regression."},
    {.name = "header",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(header),
     .preset = "auto",
     .choices = header_names,
     .doc = "Whether the first row of a csv names the columns; auto: yes if none of its cells is a number and not all "
            "are empty."},
    {.name = "delimiter",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(delimiter),
     .preset = "auto",
     .choices = delimiter_names,
     .doc = "What separates the cells of a csv; auto: comma, semicolon or tab, whichever the first line has most of."},
    {.name = "missing",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(missing),
     .preset = "error",
     .choices = missing_names,
     .doc =
         "What an empty cell, NA, nan or ? means: an error; for numeric inputs the mean of the training rows (missing "
         "targets stay errors); or that its row is dropped."},
    {.name = "split",
     .type = TUTTI_PARAM_REALS,
     .offset = FIELD(split),
     .preset = "0.8 0.1 0.1",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .doc = "Shares of training, validation and test rows, relative to their sum."},
    {.name = "train_rows",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(train_rows),
     .preset = "",
     .doc =
         "File of the numbers of the training rows, one a line, from 0 without the header; splits without such a file "
         "share the rows that no file names."},
    {.name = "validation_rows",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(validation_rows),
     .preset = "",
     .doc = "File of the numbers of the validation rows, likewise."},
    {.name = "test_rows",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(test_rows),
     .preset = "",
     .doc = "File of the numbers of the test rows, likewise; alone, training and validation share the rest as split "
            "says."},
    {.name = "split_order",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(split_order),
     .preset = "random",
     .choices = split_order_names,
     .doc = "Rows are shared out at random, or in their order in the file: training rows first, then validation, then "
            "test."},
    {.name = "limit",
     .type = TUTTI_PARAM_INTEGERS,
     .offset = FIELD(limit),
     .preset = "",
     .min = 0,
     .max = 1e9,
     .doc = "Most rows of training, validation and test, for small runs; 0: all. What is over is left out, drawn like "
            "split."},
    {.name = "stratify",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(stratify),
     .preset = "auto",
     .choices = stratify_names,
     .doc = "Give each split its share of every class; auto: yes for classification, unless rows are shared out in "
            "their order."},
    {.name = "split_seed",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(split_seed),
     .preset = "-1",
     .min = -1,
     .max = TUTTI_NO_LIMIT,
     .doc = "Seed of splits and generators; -1: the run's."},
    {.name = "standardise",
     .type = TUTTI_PARAM_BOOL,
     .offset = FIELD(standardise),
     .preset = "true",
     .doc = "Scale numeric inputs and targets to mean 0 and standard deviation 1 over the training rows; categories "
            "stay 0 "
            "and 1. Predictions and metrics are in the target's own units either way."},
    {.name = "channels",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(channels),
     .preset = "0",
     .min = 0,
     .max = TUTTI_MAX_CHANNELS,
     .doc = "Channels of images as networks see them: 3 repeats grey ones; 0: as in the file."},
    {.name = "pixel_mean",
     .type = TUTTI_PARAM_REALS,
     .offset = FIELD(pixel_mean),
     .preset = "",
     .min = -TUTTI_NO_LIMIT,
     .max = TUTTI_NO_LIMIT,
     .doc =
         "What is taken from the pixels of images before they are divided by pixel_deviation, one number or one a "
         "channel; bytes count from 0 to 1. Empty: the training rows' mean of each channel (0 without standardise)."},
    {.name = "pixel_deviation",
     .type = TUTTI_PARAM_REALS,
     .offset = FIELD(pixel_deviation),
     .preset = "",
     .min = 0,
     .min_open = true,
     .max = TUTTI_NO_LIMIT,
     .doc = "What pixels are divided by, likewise. Empty: the training rows' standard deviation (1 without "
            "standardise)."},
    {.name = "shift",
     .type = TUTTI_PARAM_INTEGERS,
     .offset = FIELD(shift),
     .preset = "",
     .min = 0,
     .max = TUTTI_SEVERITIES,
     .doc = "Severities at which validation and test images are corrupted, as in 1 2 3 4 5: each gives the splits "
            "validation-SEVERITY and test-SEVERITY. 0 is no shift."},
    {.name = "shift_validation",
     .type = TUTTI_PARAM_CHOICES,
     .offset = FIELD(shift_validation),
     .preset = "speckle-noise gaussian-blur spatter saturate",
     .choices = tutti_corruption_names,
     .doc = "Corruptions of the validation images (Hendrycks & Dietterich, 2019), of which each image gets one at "
            "random."},
    {.name = "shift_test",
     .type = TUTTI_PARAM_CHOICES,
     .offset = FIELD(shift_test),
     .preset = "gaussian-noise shot-noise impulse-noise defocus-blur glass-blur motion-blur zoom-blur snow frost fog "
               "brightness contrast elastic pixelate jpeg",
     .choices = tutti_corruption_names,
     .doc = "Corruptions of the test images, likewise; others than those of the validation images, so that selection "
            "does not know them."},
    {.name = "shift_path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(shift_path),
     .preset = "",
     .doc = "Folder with ready-made shifted images instead, validation-SEVERITY.npy and test-SEVERITY.npy, row by row "
            "those of the split (or of the whole test file); or the folder of CIFAR-10-C or CIFAR-100-C."},
    {.name = "cache",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(cache),
     .preset = "",
     .doc = "Folder where corrupted images are kept, so that they are made once; empty: tutti in XDG_CACHE_HOME, or "
            ".cache/tutti in HOME."},
    {.name = "ood_path",
     .type = TUTTI_PARAM_PATH,
     .offset = FIELD(ood_path),
     .preset = "",
     .doc = "A file of images out of distribution, of the same shape and kind as those of path: the split ood, whose "
            "labels are not looked at. How unsure ensembles are of them is measured."},
    {.name = "ood_noise",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(ood_noise),
     .preset = "0",
     .min = 0,
     .max = 1e7,
     .doc = "So many images of Gaussian noise, likewise: the split ood-noise."},
    {.name = "rows",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(rows),
     .preset = "0",
     .min = 0,
     .max = 1e8,
     .doc =
         "Rows of a generator for training and validation; 0: 400 of toy-sine, 8 of a function of one variable, 16 of "
         "two."},
    {.name = "test_points",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(test_points),
     .preset = "200",
     .min = 0,
     .max = 1e8,
     .doc = "Test rows of a generator: on an even grid, without noise; for two variables the next smaller square."},
    {.name = "noise",
     .type = TUTTI_PARAM_REALS,
     .offset = FIELD(noise),
     .preset = "",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .doc = "Variance of a generator's noise; toy-sine takes two, of its left and right region. Empty: 0.25 and 1 for "
            "toy-sine, 0 for functions."},
    {.name = "box",
     .type = TUTTI_PARAM_REALS,
     .offset = FIELD(box),
     .preset = "",
     .min = -TUTTI_NO_LIMIT,
     .max = TUTTI_NO_LIMIT,
     .doc =
         "Lower and upper end of the inputs; of toy-sine's test points only, whose training regions are [-30, -20] and "
         "[20, 30]. Empty: -40 and 40 for toy-sine, -1 and 1 for functions."},
};

static const char *const head_names[] = {"auto", "softmax", "gaussian", "linear", NULL};
static const char *const parametrisation_names[] = {"std", "variance", NULL};

static const struct tutti_param head_table[] = {
    {.name = "kind",
     .type = TUTTI_PARAM_CHOICE,
     .offset = offsetof(struct tutti_head_config, kind),
     .preset = "auto",
     .choices = head_names,
     .doc = "What networks end in; auto: softmax for classification, gaussian (mean and spread) for regression."},
    {.name = "parametrisation",
     .type = TUTTI_PARAM_CHOICE,
     .offset = offsetof(struct tutti_head_config, parametrisation),
     .preset = "std",
     .choices = parametrisation_names,
     .doc = "What floor + softplus(scale t) of a gaussian head is, t being the network's output: the standard "
            "deviation or "
            "the variance of the standardised target."},
    {.name = "scale",
     .type = TUTTI_PARAM_REAL,
     .offset = offsetof(struct tutti_head_config, scale),
     .preset = "1",
     .min = 0,
     .min_open = true,
     .max = TUTTI_NO_LIMIT,
     .doc = "Scale of t in a gaussian head. AutoDEUQ has 0.05, with which the spread moves twenty times slower; its "
            "recipes "
            "say so."},
    {.name = "floor",
     .type = TUTTI_PARAM_REAL,
     .offset = offsetof(struct tutti_head_config, floor),
     .preset = "1e-3",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .doc = "The least standard deviation (or variance) of a gaussian head, in units of the standardised target."},
};

const struct tutti_params *tutti_data_params(void) {
  static const struct tutti_params params = TUTTI_PARAMS(data_table, struct tutti_data_config);
  return &params;
}

const struct tutti_params *tutti_head_params(void) {
  static const struct tutti_params params = TUTTI_PARAMS(head_table, struct tutti_head_config);
  return &params;
}
