/* class_weights.c - data.class_weights: what training rows count for, by their class. */
#include "engine/data/config_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "experiment_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

static enum tutti_status refuse(tutti_context *context, const char *what, const char *found) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.class_weights: %s; found '%s'", what, found);
}

/* A text without the blanks around it, which is changed. */
static char *trimmed(char *text) {
  while (isspace((unsigned char)*text))
    text++;
  for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]); length--)
    text[length - 1] = '\0';
  return text;
}

static enum tutti_status find_class(tutti_context *context, const tutti_dataset *dataset, size_t classes,
                                    const char *name, size_t *found) {
  for (*found = 0; *found < classes; ++*found)
    if (strcmp(tutti_dataset_class(dataset, *found), name) == 0)
      return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.class_weights: the data have no class '%s'; the first is '%s'",
                    name, tutti_dataset_class(dataset, 0));
}

/* One of "ill: 5, well: 1". The class may have colons in its name. */
static enum tutti_status read_weight(tutti_context *context, const tutti_dataset *dataset, size_t classes, char *item,
                                     double *weights) {
  char *colon = strrchr(item, ':'), *end;
  size_t class;
  if (!colon)
    return refuse(context, "expected none, balanced, or weights by name, as in ill: 5, well: 1", trimmed(item));
  *colon = '\0';
  char *number = trimmed(colon + 1);
  double weight = strtod(number, &end);
  if (!*number || *end || !(weight > 0) || !isfinite(weight))
    return refuse(context, "expected a weight above 0 behind the colon", number);
  TUTTI_TRY(context, find_class(context, dataset, classes, trimmed(item), &class));
  weights[class] = weight;
  return TUTTI_OK;
}

static enum tutti_status read_weights(tutti_context *context, const tutti_dataset *dataset, size_t classes,
                                      const char *given, double *weights) {
  enum tutti_status status = TUTTI_OK;
  char *text, *rest;
  TUTTI_TRY(context, tutti_strdup(context, given, &text));
  for (char *item = strtok_r(text, ",", &rest); item && status == TUTTI_OK; item = strtok_r(NULL, ",", &rest))
    status = read_weight(context, dataset, classes, item, weights);
  tutti_free(text);
  return status;
}

/* Scale them so that their mean over these rows is 1: learning rates and costs then mean what they mean without. */
static void normalise(const tutti_split *train, size_t classes, double *weights) {
  const int32_t *labels = tutti_split_labels(train);
  size_t rows = tutti_split_rows(train);
  double sum = 0;
  for (size_t i = 0; i < rows; i++)
    sum += weights[labels[i]];
  for (size_t c = 0; c < classes && sum > 0; c++)
    weights[c] *= (double)rows / sum;
}

/* A class without rows has a weight that nothing meets. */
static void balance(const tutti_split *train, size_t classes, double *weights) {
  const int32_t *labels = tutti_split_labels(train);
  for (size_t c = 0; c < classes; c++)
    weights[c] = 0;
  for (size_t i = 0; i < tutti_split_rows(train); i++)
    weights[labels[i]]++;
  for (size_t c = 0; c < classes; c++)
    weights[c] = weights[c] > 0 ? 1 / weights[c] : 1;
}

enum tutti_status tutti_experiment_class_weights(tutti_context *context, const struct tutti_experiment *experiment,
                                                 const tutti_split *train, double **weights) {
  enum tutti_status status = TUTTI_OK;
  *weights = NULL;
  if (!experiment->dataset)
    return TUTTI_OK;
  const struct tutti_data_config *config = tutti_config_values(tutti_recipe_data(experiment->recipe));
  const char *given = config->class_weights;
  size_t classes = experiment->task.outputs;
  if (strcmp(given, "none") == 0)
    return TUTTI_OK;
  if (experiment->task.kind != TUTTI_TASK_CLASSIFICATION) {
    status = refuse(context, "the target is a number and has no classes; expected none", given);
    return tutti_recipe_place(context, experiment->recipe, status);
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof **weights, weights));
  for (size_t c = 0; c < classes; c++)
    (*weights)[c] = 1;
  if (strcmp(given, "balanced") == 0)
    balance(train, classes, *weights);
  else
    TUTTI_TRY_OUT(context, read_weights(context, experiment->dataset, classes, given, *weights));
  normalise(train, classes, *weights);
out:
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_free(*weights);
  *weights = NULL;
  return tutti_recipe_place(context, experiment->recipe, status);
}
