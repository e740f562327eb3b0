/* run_params.c - the parameter table of section [run]. */
#include <tutti/metrics.h>
#include <tutti/recipe.h>

static const char *const orders[] = {"trial", "completion", NULL};
static const char *const objectives[] = {"kept", "last-epoch", NULL};
/* "auto", then the losses in their order. */
static const char *const losses[] = {"auto", "nll", "error", "brier", "mse", "rmse", "value", NULL};
_Static_assert(sizeof losses / sizeof losses[0] == TUTTI_LOSS_COUNT + 2, "a loss is missing");

#define FIELD(name) offsetof(struct tutti_run_config, name)

static const struct tutti_param table[] = {
    {.name = "name",
     .type = TUTTI_PARAM_STRING,
     .offset = FIELD(name),
     .preset = "",
     .doc = "Name of the run, and of its directory under runs/; empty: the recipe file's name without .ini."},
    {.name = "seed",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(seed),
     .preset = "1",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .doc = "Key of everything random; the same seed gives the same bits."},
    {.name = "budget",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(budget),
     .preset = "60",
     .min = 1,
     .max = 100e6,
     .doc = "Networks to train."},
    {.name = "window",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(window),
     .preset = "8",
     .min = 1,
     .max = 65536,
     .doc =
         "Trials that may be outstanding at once. It shapes the search (a builder does not know the results of as many "
         "trials), so it is a constant and not the number of workers; more workers than that have nothing to do."},
    {.name = "workers",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(workers),
     .preset = "0",
     .min = 0,
     .max = 4096,
     .doc = "Worker processes; 0: one a core. Never changes the result of order = trial."},
    {.name = "order",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(order),
     .preset = "trial",
     .choices = orders,
     .doc = "In which order results are told to the builder: by trial number (repeatable bit for bit), or as they come "
            "(the "
            "papers' asynchronous mode)."},
    {.name = "loss",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(loss),
     .preset = "auto",
     .choices = losses,
     .doc = "What builders minimise, on the validation rows; auto: nll, or mse for heads without a variance."},
    {.name = "objective",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(objective),
     .preset = "kept",
     .choices = objectives,
     .doc = "Whose loss builders minimise: that of the weights that are kept, which predict later, or the last epoch's "
            "training loss on the validation rows, as AutoDEUQ's code does. Selectors judge what is kept, always."},
    {.name = "trial_timeout",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(trial_timeout),
     .preset = "inf",
     .min = 0,
     .min_open = true,
     .max = TUTTI_NO_LIMIT,
     .unit = "s",
     .doc = "A trial that takes longer is a failed trial."},
    {.name = "retries",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(retries),
     .preset = "1",
     .min = 0,
     .max = 1000,
     .doc = "How often a trial is tried again whose worker crashed or was killed, before it counts as failed: a lost "
            "worker is "
            "often not the candidate's fault. A trial that took too long is not tried again."},
    {.name = "memory_limit",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(memory_limit),
     .preset = "0",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .unit = "MiB",
     .doc = "Address space of a worker; 0: no limit. A trial that needs more is a failed trial."},
    {.name = "keep_weights",
     .type = TUTTI_PARAM_BOOL,
     .offset = FIELD(keep_weights),
     .preset = "yes",
     .doc = "Keep the weights of every trial; predicting new rows needs those of the ensemble's members."},
    {.name = "plugin_path",
     .type = TUTTI_PARAM_STRING,
     .offset = FIELD(plugin_path),
     .preset = "",
     .doc = "Folders with more plugins, colon-separated, relative to the recipe; searched first."},
};

static const struct tutti_params params = TUTTI_PARAMS(table, struct tutti_run_config);

const struct tutti_params *tutti_run_params(void) { return &params; }
