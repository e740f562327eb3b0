/* recipe_fit.c - recipes for `tutti fit`: the parameter table of [fit], and the sections that only `tutti run` has. */
#include <string.h>

#include "recipe_impl.h"

static const char *const drawn[] = {[TUTTI_FIT_POINTS] = "points", [TUTTI_FIT_LINE] = "line", NULL};

static const char *const outside[] = {[TUTTI_FIT_REFUSE] = "refuse", [TUTTI_FIT_KEEP] = "keep", NULL};

static const struct tutti_param table[] = {
    TUTTI_REALS(
        struct tutti_fit_config, box, "", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT,
        "The inputs' box: two ends for all inputs, or two for each, in the units of data.standardise. Surrogates "
        "see it as [0, 1]. Empty: the range in each input of the rows that are fitted.",
        .flags = TUTTI_PARAM_AFTER_SIZE),
    TUTTI_CHOICE(struct tutti_fit_config, outside, "refuse", outside,
                 "Rows to fit that the box does not hold: refuse them, or keep them, so that surrogates see them "
                 "outside [0, 1]. NOMU's artificial points are drawn in the box either way."),
    TUTTI_REAL(struct tutti_fit_config, c, "0", 0, TUTTI_NO_LIMIT,
               "Factor of the deviations for nll, coverage, width and pictures. 0: the one whose NLL is least on the "
               "validation rows, or 1 without any."),
    TUTTI_BOOL(struct tutti_fit_config, refit, "no",
               "Fit again to training and validation rows, after c was found on the latter."),
    TUTTI_BOOL(struct tutti_fit_config, gaps, "no",
               "Test on gaps: repeat k tests on the rows that are in the middle third of the input k, counted round, "
               "and splits the rest into training and validation rows (Foong et al., 2019)."),
    TUTTI_PATH(
        struct tutti_fit_config, test_rows, "",
        "Files of the numbers of test rows, a pattern such as splits/test_*.txt: the first repeat tests on the "
        "rows of the first by name, and so on. Training and validation share the rest. The pattern is the last part of "
        "the path; all files that there are belong to the data, also those of repeats that are not asked for."),
    TUTTI_REALS(struct tutti_fit_config, levels, "0.5 0.9 0.95", 0, 1,
                "Levels of central intervals whose coverage and width are measured.", .min_open = true,
                .max_open = true),
    TUTTI_INTEGER(struct tutti_fit_config, grid, "0", 0, 10000,
                  "Points along each side of the grid that pictures are drawn of; 0: 201 for one input, 41 for two."),
    TUTTI_INTEGER(struct tutti_fit_config, pictures, "1", 0, TUTTI_NO_LIMIT,
                  "The first so many repeats leave a grid and a picture, if there are one or two inputs."),
    TUTTI_CHOICE(struct tutti_fit_config, drawn, "points", drawn,
                 "How the test rows of one input are drawn: as points, or as a line, which is the true function where "
                 "they are many and without noise."),
};

static const struct tutti_params params = TUTTI_PARAMS(table, struct tutti_fit_config);

const struct tutti_params *tutti_fit_params(void) { return &params; }

const struct tutti_fit_config *tutti_recipe_fit(const tutti_recipe *recipe) {
  return recipe->fit ? tutti_config_values(recipe->fit) : NULL;
}

enum tutti_status tutti_recipe_check_fit(tutti_context *context, const tutti_recipe *recipe) {
  static const char *const of_run[] = {"space",    "hyperparameters", "backend",    "builder", "pruner",
                                       "selector", "calibrator",      "evaluation", "head"};
  bool data = false;
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    data = data || strcmp(entry->section, RECIPE_SOURCE_SECTION) == 0;
    for (size_t k = 0; k < sizeof of_run / sizeof of_run[0]; k++)
      if (strcmp(entry->section, of_run[k]) == 0)
        return tutti_recipe_blame_line(
            context, entry,
            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                       "[%s] is for tutti run, which searches networks and makes an ensemble of them; a recipe with "
                       "[%s] is for tutti fit, which fits one surrogate: it has [run], [data], [%s], [surrogate] and "
                       "the sections that the surrogate names, such as [trainer]",
                       entry->section, RECIPE_FIT_SECTION, RECIPE_FIT_SECTION));
  }
  if (data)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: [%s] fits a surrogate to data, and there is no [data]",
                    tutti_recipe_path(recipe), RECIPE_FIT_SECTION);
}
