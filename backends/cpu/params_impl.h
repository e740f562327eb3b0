/* params_impl.h - the parameters of trainings, those of backend cuda, too. A file that includes it makes a backend's
   table: it defines the table's name, CPU_PARAMS_TABLE, and what differs: CPU_PRECISIONS, the
   list of the names of its precisions, in the order of enum cpu_precision, and the text on them, CPU_PRECISION_TEXT. */
#ifndef BACKEND_CPU_PARAMS_IMPL_H
#define BACKEND_CPU_PARAMS_IMPL_H

#include "plan_impl.h"

#define OPTIMISER_NAME(id, name) #name,
static const char *const cpu_optimiser_names[] = {CPU_OPTIMISER_LIST(OPTIMISER_NAME) "lbfgs", NULL};
static const char *const cpu_epsilon_names[] = {"keras", "paper", NULL};
static const char *const cpu_clip_names[] = {"global", "variable", NULL};
static const char *const cpu_schedule_names[] = {"constant", "cosine", "step", "plateau", NULL};
static const char *const cpu_keep_names[] = {"best", "last", "measured", NULL};
static const char *const cpu_initialiser_names[] = {"glorot-uniform", "glorot-normal", "he-uniform",
                                                    "he-normal",      "lecun-uniform", "lecun-normal",
                                                    "uniform",        "pytorch",       NULL};
static const char *const cpu_storage_names[] = {"float", "half", NULL};
static const char *const cpu_precision_names[] = CPU_PRECISIONS;
static const char *const cpu_shuffle_names[] = {"trial", "run", NULL};

const struct tutti_param CPU_PARAMS_TABLE[CPU_PARAMS] = {
    TUTTI_INTEGER(struct cpu_config, epochs, "100", 1, 1e6,
                  "Passes over the training rows; 100 is what AutoDEUQ trains its tables for.",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, batch_size, "32", 0, 1e9,
        "Rows of a mini-batch, at most all; 0 takes all at once. Small batches suit small tables; 32 is the usual "
        "choice.",
        .unit = "rows", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, optimiser, "adam", cpu_optimiser_names,
        "The rule by which weights follow gradients; adam works untuned more often than the others. lbfgs minimises "
        "the loss of all rows, an iteration being an epoch: batch_size, learning_rate, its schedule and "
        "gradient_clip mean nothing to it.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, learning_rate, "0.001", 0, TUTTI_NO_LIMIT,
               "Length of a step at the start; 0.001 is adam's usual rate, sgd wants about ten times more.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct cpu_config, momentum, "0", 0, 1, "Of sgd and rmsprop; 0 as in Keras, 0.9 for image networks.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_BOOL(struct cpu_config, nesterov, "false", "Nesterov's form of sgd's momentum.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, beta1, "0.9", 0, 1,
               "Memory of the mean gradient of adam, adamax and nadam, as in their papers.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, beta2, "0.999", 0, 1,
               "Memory of the squared gradient of adam, adamax and nadam, as in their papers.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, epsilon, "1e-7", 0, 1,
               "Keeps divisions by small gradients in bounds; 1e-7 as in Keras, 1e-8 in the paper of adam.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_CHOICE(
        struct cpu_config, epsilon_placement, "keras", cpu_epsilon_names,
        "Adam's epsilon is added to the root of the squared gradient before (keras) or after (paper) its bias is "
        "corrected.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, rho, "0", 0, 1,
               "Memory of the squared gradient of rmsprop and adadelta; 0 takes Keras's own, 0.9 and 0.95.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, accumulator, "0.1", 0, TUTTI_NO_LIMIT,
               "Where adagrad's sum of squared gradients starts, as in Keras: it tames the first steps.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(
        struct cpu_config, l2, "0", 0, TUTTI_NO_LIMIT,
        "Added to the loss: l2 times the sum of squared weights (half of what others call weight decay). A layer's "
        "own "
        "l2 goes before it. Off, because early stopping regularises already.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct cpu_config, l2_biases, "false",
               "Biases and batch norm's gamma and beta count in l2 too; not in Keras, but in NOMU and in PyTorch's "
               "weight_decay.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, gradient_clip, "0", 0, TUTTI_NO_LIMIT,
               "Gradients of a larger L2 norm are shortened to it; 0 leaves them alone.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, gradient_clip_by, "global", cpu_clip_names,
        "The norm is that of the whole gradient, which keeps its direction, or of each weight array by itself.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, schedule, "constant", cpu_schedule_names,
        "How the learning rate changes from epoch to epoch: not at all, along a half cosine to schedule_minimum, by "
        "schedule_factor every schedule_epochs, or by it when the loss stands still for so long.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, schedule_factor, "0.1", 0, 1,
               "What the learning rate is multiplied with by step and plateau; 0.1 as in Keras's ReduceLROnPlateau.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_INTEGER(struct cpu_config, schedule_epochs, "10", 1, 1e6,
                  "Length of a step; patience of plateau, 10 as in Keras.", .unit = "epochs",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, schedule_minimum, "0", 0, TUTTI_NO_LIMIT, "The learning rate falls no lower.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, plateau_min_delta, "1e-4", 0, TUTTI_NO_LIMIT,
               "A loss that falls by no more stands still, for plateau; 1e-4 as in Keras.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, early_stopping, "0", 0, 1e6,
        "Stop after so many epochs without a better loss on the validation rows (without these, on the training "
        "rows); 0 "
        "never does, so that all trials of a run cost alike.",
        .unit = "epochs", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, keep, "best", cpu_keep_names,
        "Keep the weights of the epoch of the best validation loss (without validation rows, training loss), or "
        "the last. A training loss is measured before a step, and best has the weights behind it; measured has those "
        "before it, where an epoch is one step: with full batches, without validation rows and average.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, average, "0", 0, 1,
               "Share of the epochs, the last ones, whose weights are averaged (Polyak & Juditsky, 1992; Izmailov et "
               "al., 2018): in these, the average so far is validated and kept. 0: none.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, label_smoothing, "0", 0, 1,
               "Of classes: this share of a training row's target is spread evenly over all of them (Szegedy et al., "
               "2016), so that networks are less sure. Validation rows are as they are.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_CHOICE(
        struct cpu_config, initialiser, "glorot-uniform", cpu_initialiser_names,
        "How weights are drawn; glorot-uniform with biases 0 as in Keras. selu is made for lecun-normal, relu for he; "
        "uniform draws weights and biases from +-initialiser_range, pytorch, as PyTorch does if nobody says otherwise, "
        "from +-1 / sqrt(fan_in).",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, initialiser_range, "0.05", 0, TUTTI_NO_LIMIT,
               "Range of the initialiser uniform; 0.05 as in NOMU.", .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_CHOICE(struct cpu_config, shuffle, "trial", cpu_shuffle_names,
                 "Mini-batches are drawn anew for each trial, or are the same in all trials of a run, as in "
                 "the program of NES."),
    TUTTI_INTEGER(
        struct cpu_config, augment_padding, "0", 0, 1024,
        "Training images are random crops: moved by up to so many pixels, with black coming in; 4 is the custom for "
        "CIFAR.",
        .unit = "pixels", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct cpu_config, augment_flip, "false",
               "Training images are mirrored, left and right, every other time.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_crop, "1", 0, 1,
               "Training images are random crops of at least this share of the area, with sides in a ratio of 3/4 to "
               "4/3, scaled back to the image's size; 0.08 is the custom for ImageNet, 1: no such crops.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct cpu_config, augment_brightness, "0", 0, 10,
               "The brightness of training images changes by a factor from 1 - x to 1 + x, drawn for each; 0: not. For "
               "images of bytes, or of floats from 0 to 1; so for the next three, which come in random order.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_contrast, "0", 0, 10, "Likewise, their contrast.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_saturation, "0", 0, 10,
               "Likewise, their saturation; of images of 3 channels.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_hue, "0", 0, 0.5,
               "The hue of training images turns by so much of the colour wheel, at most, either way; of images of 3 "
               "channels.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct cpu_config, lbfgs_history, "10", 1, 1000,
                  "Iterations from which lbfgs knows the curvature; 10 as in SciPy.", .unit = "iterations",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(
        struct cpu_config, lbfgs_tolerance, "1e-5", 0, 1,
        "lbfgs stops when the gradient's norm falls below so many times that of the weights, or 1 where these are "
        "less.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, prediction_draws, "0", 0, 100000,
        "MC dropout (Gal & Ghahramani, 2016): dropout stays on in predictions, which mix so many draws of its "
        "masks; what the draws do not agree on is the network's own epistemic uncertainty. 0: dropout is for "
        "training alone.",
        .unit = "draws", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct cpu_config, storage, "float", cpu_storage_names,
                 "What training keeps of images between layers: floats, or numbers of 16 bits (binary16), which take "
                 "half of the memory and its traffic. Sums, gradients, weights and predictions are floats either way."),
    TUTTI_BOOL(struct cpu_config, encodings, "true",
               "Networks read what data.bins adds to the numbers of a table, beside these.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(struct cpu_config, precision, "float32", cpu_precision_names, CPU_PRECISION_TEXT),
};

#endif
