/* class_weights.c - data.class_weights: what training rows count for, by their class. */
#include "core/base/text_impl.h"
#include "engine/data/config_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "experiment_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/names.h>

static enum tutti_status refuse(tutti_context *context, const char *what, const char *found) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.class_weights: %s; found '%s'", what, found);
}

static enum tutti_status refuse_class(tutti_context *context, const tutti_dataset *dataset, size_t classes,
                                      const char *name) {
  const char **names;
  TUTTI_TRY(context, tutti_alloc(context, classes, sizeof *names, &names));
  for (size_t c = 0; c < classes; c++)
    names[c] = tutti_dataset_class(dataset, c);
  const char *closest = tutti_closest_name(name, classes, names);
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.class_weights: the data have no class '%s'; %s '%s'%s", name,
                 closest ? "did you mean" : "the first is", closest ? closest : names[0], closest ? "?" : "");
  tutti_free(names);
  return status;
}

static enum tutti_status find_class(tutti_context *context, const tutti_dataset *dataset, size_t classes,
                                    const char *name, size_t *found) {
  for (*found = 0; *found < classes; ++*found)
    if (strcmp(tutti_dataset_class(dataset, *found), name) == 0)
      return TUTTI_OK;
  return refuse_class(context, dataset, classes, name);
}

static const char expected[] = "expected none, balanced, or weights by name, as in ill: 5, well: 1";

/* One of "ill: 5, well: 1". The class may have commas or colons in its name. */
static enum tutti_status read_weight(tutti_context *context, const tutti_dataset *dataset, size_t classes, char *item,
                                     bool *named, double *weights) {
  char *colon = strrchr(item, ':');
  size_t class;
  double weight;
  if (!colon)
    return refuse(context, expected, tutti_text_trim(item));
  *colon = '\0';
  const char *name = tutti_text_trim(item), *number = tutti_text_trim(colon + 1);
  if (tutti_cell_read(number, &weight) != TUTTI_CELL_NUMBER || !(weight > 0))
    return refuse(context, "expected a weight above 0 behind the colon", number);
  TUTTI_TRY(context, find_class(context, dataset, classes, name, &class));
  if (named[class])
    return refuse(context, "expected each class once", name);
  named[class] = true;
  weights[class] = weight;
  return TUTTI_OK;
}

/* An item ends at the first comma behind a colon: a class may have commas in its name. */
static char *end_of(char *item) {
  char *colon = strchr(item, ':');
  return colon ? strchr(colon, ',') : NULL;
}

static enum tutti_status read_weights(tutti_context *context, const tutti_dataset *dataset, size_t classes,
                                      const char *given, double *weights) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  bool *named = NULL;
  TUTTI_TRY_OUT(context, tutti_strdup(context, given, &text));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *named, &named));
  if (!given[strspn(given, " ,")])
    status = refuse(context, expected, given);
  for (char *item = text, *end; item && item[strspn(item, " ")] && status == TUTTI_OK; item = end) {
    end = end_of(item);
    if (end)
      *end++ = '\0';
    status = read_weight(context, dataset, classes, item, named, weights);
  }
out:
  tutti_free(text);
  tutti_free(named);
  return status;
}

/* Scale them so that their mean over these rows is 1: learning rates and costs then mean what they mean without. They
   are divided by the greatest first, so that no sum of them overflows. */
static void normalise(const tutti_split *train, size_t classes, double *weights) {
  const int32_t *labels = tutti_split_labels(train);
  size_t rows = tutti_split_rows(train);
  double greatest = 0, sum = 0;
  for (size_t i = 0; i < rows; i++)
    greatest = fmax(greatest, weights[labels[i]]);
  for (size_t c = 0; c < classes; c++) /* greater ones are of classes without rows, and count for nothing */
    weights[c] = fmin(weights[c], greatest) / greatest;
  for (size_t i = 0; i < rows; i++)
    sum += weights[labels[i]];
  for (size_t c = 0; c < classes; c++)
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
