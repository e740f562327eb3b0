/* run_params.c - the parameter table of section [run]. */
#include "recipe_impl.h"

#include <string.h>
#include <tutti/metrics.h>

static const char *const orders[] = {[TUTTI_ORDER_TRIAL] = "trial", [TUTTI_ORDER_COMPLETION] = "completion", NULL};
static const char *const unfinished[] = {[TUTTI_UNFINISHED_LEAVE] = "leave", [TUTTI_UNFINISHED_STOP] = "stop", NULL};
static const char *const weights_of[] = {[TUTTI_WEIGHTS_OF_ALL] = "all", [TUTTI_WEIGHTS_OF_MEMBERS] = "members", NULL};
static const char *const objectives[] = {"kept", "last-epoch", NULL};
/* "auto", then the losses by their numbers. */
#define CHOICE(constant, number, name) [1 + (number)] = name,
static const char *const losses[TUTTI_LOSS_COUNT + 2] = {"auto",
                                                         TUTTI_ENSEMBLE_LOSSES(CHOICE) TUTTI_OTHER_LOSSES(CHOICE)};

static const struct tutti_param table[] = {
    TUTTI_STRING(struct tutti_run_config, name, "",
                 "Name of the run, and of its directory under runs/; empty: the recipe file's name without .ini.",
                 .flags = TUTTI_PARAM_AFTER_SIZE),
    TUTTI_INTEGER(struct tutti_run_config, seed, "1", 0, TUTTI_NO_LIMIT,
                  "Key of everything random; the same seed gives the same bits."),
    TUTTI_INTEGER(struct tutti_run_config, budget, "60", 0, 100e6,
                  "Networks to train; 0, the default with a time: as many as there is time for."),
    TUTTI_REAL(
        struct tutti_run_config, time, "inf", 0, TUTTI_NO_LIMIT,
        "What the run may take, over all its sessions: 90 (seconds), 45m, 2h, 1d. Networks are begun only as long as "
        "they will probably end in time, and the ensemble is selected and evaluated within it. What comes of it then "
        "depends on the machine.",
        .unit = "s", .min_open = true),
    TUTTI_INTEGER(
        struct tutti_run_config, window, "8", 1, 65536,
        "Trials that may be outstanding at once. It shapes the search (a builder does not know the results of as many "
        "trials), so it is a constant and not the number of workers; more workers than that have nothing to do."),
    TUTTI_INTEGER(
        struct tutti_run_config, batch, "1", 1, 65536,
        "Results that are told before the builder is asked for as many trials at once; at most window. 1: each "
        "result is told, and one trial is asked for. window: one generation after the other.",
        .unit = "trials"),
    TUTTI_INTEGER(struct tutti_run_config, workers, "0", 0, 65536,
                  "Worker processes; 0: one a core. Never changes the result of order = trial."),
    TUTTI_CHOICE(
        struct tutti_run_config, order, "trial", orders,
        "In which order results are told to the builder: by trial number (repeatable bit for bit), or as they come "
        "(the "
        "papers' asynchronous mode)."),
    TUTTI_CHOICE(struct tutti_run_config, loss, "auto", losses,
                 "What builders minimise, on the validation rows; auto: nll, or mse for heads without a variance."),
    TUTTI_CHOICE(
        struct tutti_run_config, objective, "kept", objectives,
        "Whose loss builders minimise: that of the weights that are kept, which predict later, or the loss on the "
        "validation rows after the last epoch, as AutoDEUQ's code does. Selectors judge what is kept, always."),
    TUTTI_REAL(struct tutti_run_config, trial_timeout, "inf", 0, TUTTI_NO_LIMIT,
               "A trial that takes longer is a failed trial.", .unit = "s", .min_open = true),
    TUTTI_REAL(struct tutti_run_config, plugin_timeout, "3600", 0, TUTTI_NO_LIMIT,
               "A plugin that does not return within this time ends the run, which can be resumed.", .unit = "s",
               .min_open = true),
    TUTTI_INTEGER(
        struct tutti_run_config, retries, "1", 0, 1000,
        "How often a trial is tried again whose worker crashed or was killed, before it counts as failed: a lost "
        "worker is "
        "often not the candidate's fault. A trial that took too long is not tried again."),
    TUTTI_REAL(struct tutti_run_config, memory_limit, "0", 0, TUTTI_NO_LIMIT,
               "Address space of a worker, at least 10; 0: no limit. A trial that needs more is a failed trial.",
               .unit = "MiB"),
    TUTTI_BOOL(struct tutti_run_config, keep_weights, "yes",
               "Keep the weights of every trial; predicting new rows needs those of the ensemble's members."),
    TUTTI_CHOICE(
        struct tutti_run_config, weights_of, "all", weights_of,
        "Whose weights stay when the run has ended. members: those of the ensemble's members alone, which predicting "
        "needs; the others are removed, and a model that a longer run takes in later is trained again."),
    TUTTI_BOOL(struct tutti_run_config, keep_pruned, "no",
               "Let pruned trials predict, and keep their predictions (and weights), so that selectors may take them. "
               "Refused with data.folds."),
    TUTTI_CHOICE(
        struct tutti_run_config, unfinished, "leave", unfinished,
        "What becomes of trainings that are under way when run.time is over. leave: they have no result, and a longer "
        "time goes on with them; stop: they end with the epoch that they are at and count as pruned, but predict and "
        "are kept, so that selectors may take them. Not with backends that report no epochs; refused with data.folds."),
    TUTTI_REAL(
        struct tutti_run_config, map_inputs, "16", 0, TUTTI_NO_LIMIT,
        "From so much on, the inputs of a table are written into the run's directory once they are read, for as long "
        "as the run is at work, and workers map them, instead of each reading the data again. 0: always.",
        .unit = "MiB"),
    TUTTI_BOOL(struct tutti_run_config, time_predictions, "no",
               "Measure once, after training, what a prediction of each trial takes of a processor, so that ensembles "
               "can be limited by it (selector within-cost, tutti curve --costs microseconds). A selector that chooses "
               "by it has it measured in any case."),
    TUTTI_STRING(struct tutti_run_config, plugin_path, "",
                 "Folders with more plugins, colon-separated, relative to the recipe; searched first."),
};

/* Those that change where and how a run is made, but not what comes of it: it can be resumed with others. */
static const char *const circumstances[] = {"name",       "workers",      "trial_timeout", "plugin_timeout",
                                            "retries",    "memory_limit", "map_inputs",    "time_predictions",
                                            "weights_of", "plugin_path"};

bool tutti_run_is_circumstance(const char *key) {
  for (size_t i = 0; i < sizeof circumstances / sizeof circumstances[0]; i++)
    if (strcmp(key, circumstances[i]) == 0)
      return true;
  return false;
}

static const struct tutti_params params = TUTTI_PARAMS(table, struct tutti_run_config);

const struct tutti_params *tutti_run_params(void) { return &params; }
