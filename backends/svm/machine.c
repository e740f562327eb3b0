/* machine.c - support vector machines: fitted by libsvm, stored as tensors, rebuilt from them. */
#include "machine_impl.h"

#include <math.h>
#include <string.h>

bool backend_available_svm(char *why, size_t size) {
  (void)why, (void)size;
  return true;
}

static struct svm_parameter parameter_of(const struct machine_config *config, const struct tutti_task *task) {
  return (struct svm_parameter){.svm_type = task->kind == TUTTI_TASK_CLASSIFICATION ? C_SVC : EPSILON_SVR,
                                .kernel_type = RBF,
                                .gamma = config->gamma,
                                .cache_size = (double)config->cache,
                                .eps = config->tolerance,
                                .C = config->c,
                                .p = config->epsilon,
                                .shrinking = 1};
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static size_t pairs_of(size_t classes) { return classes * (classes - 1) / 2; }

/* Add a tensor and copy its data. */
static enum tutti_status add(tutti_context *context, tutti_tensors *tensors, size_t output, const char *part,
                             enum tutti_element element, size_t rank, const size_t *shape, size_t bytes,
                             const void *data) {
  void *place;
  TUTTI_TRY(context, learner_add(context, tensors, output, part, element, rank, shape, &place));
  memcpy(place, data, bytes);
  return TUTTI_OK;
}

/* The support vectors are rows of the training, in the order of the coefficients. */
static enum tutti_status keep_vectors(tutti_context *context, const struct svm_model *model,
                                      const struct learner_rows *rows, size_t output, tutti_tensors *tensors) {
  float *vectors;
  double *coefficients;
  size_t l = (size_t)model->l, sets = (size_t)model->nr_class - 1;
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "vectors", TUTTI_F32, 2, (size_t[]){l, rows->features}, &vectors));
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "coefficients", TUTTI_F64, 2, (size_t[]){sets, l}, &coefficients));
  for (size_t i = 0; i < l; i++) {
    size_t row = (size_t)model->sv_indices[i] - 1;
    memcpy(vectors + i * rows->features, rows->inputs + row * rows->features, rows->features * sizeof *vectors);
    for (size_t s = 0; s < sets; s++)
      coefficients[s * l + i] = model->sv_coef[s][i];
  }
  return TUTTI_OK;
}

static enum tutti_status keep(tutti_context *context, const struct svm_model *model, const struct learner_rows *rows,
                              size_t output, tutti_tensors *tensors) {
  size_t classes = (size_t)model->nr_class, pairs = pairs_of(classes);
  TUTTI_TRY(context, keep_vectors(context, model, rows, output, tensors));
  TUTTI_TRY(context,
            add(context, tensors, output, "rho", TUTTI_F64, 1, &pairs, pairs * sizeof *model->rho, model->rho));
  TUTTI_TRY(context, add(context, tensors, output, "gamma", TUTTI_F64, 0, NULL, sizeof(double), &model->param.gamma));
  if (model->param.svm_type != C_SVC)
    return TUTTI_OK;
  TUTTI_TRY(context,
            add(context, tensors, output, "classes", TUTTI_I32, 1, &classes, classes * sizeof(int), model->label));
  return add(context, tensors, output, "counts", TUTTI_I32, 1, &classes, classes * sizeof(int), model->nSV);
}

/* Rows of one class have nothing that a machine could tell apart. It is stored as one of all classes without support
   vectors, whose sigmoids give the constant probabilities of Laplace's rule, as Platt's targets do: of k classes, n + 1
   of n + k for that of the n rows, and one for each other. */
static enum tutti_status keep_one_class(tutti_context *context, const struct machine_config *config,
                                        const struct tutti_task *task, const struct learner_rows *rows, size_t output,
                                        tutti_tensors *tensors) {
  float *vectors;
  double *numbers, *sigmoids, *gamma;
  int32_t *classes, *counts, alone = rows->labels[0];
  size_t k = task->outputs, pairs = pairs_of(k);
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "vectors", TUTTI_F32, 2, (size_t[]){0, rows->features}, &vectors));
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "coefficients", TUTTI_F64, 2, (size_t[]){k - 1, 0}, &numbers));
  TUTTI_TRY(context, learner_add(context, tensors, output, "rho", TUTTI_F64, 1, &pairs, &numbers));
  TUTTI_TRY(context, learner_add(context, tensors, output, "gamma", TUTTI_F64, 0, NULL, &gamma));
  TUTTI_TRY(context, learner_add(context, tensors, output, "classes", TUTTI_I32, 1, &k, &classes));
  TUTTI_TRY(context, learner_add(context, tensors, output, "counts", TUTTI_I32, 1, &k, &counts));
  TUTTI_TRY(context, learner_add(context, tensors, output, "sigmoids", TUTTI_F64, 2, (size_t[]){2, pairs}, &sigmoids));
  *gamma = config->gamma;
  for (int32_t c = 0; c < (int32_t)k; c++)
    classes[c == alone ? 0 : c < alone ? c + 1 : c] = c;
  for (size_t pair = 0; pair + 1 < k; pair++) /* its own pairs are the first; those of the others are even */
    sigmoids[pairs + pair] = -log((double)rows->count + 1);
  return TUTTI_OK;
}

/* --- fitting ----------------------------------------------------------------------------------------------------- */

static enum tutti_status keep_sigmoids(tutti_context *context, const struct svm_problem *problem,
                                       const struct svm_model *model, const double *class_weights, const uint32_t *fold,
                                       size_t folds, size_t output, tutti_tensors *tensors) {
  double *sigmoids;
  size_t pairs = pairs_of((size_t)model->nr_class);
  TUTTI_TRY(context, learner_add(context, tensors, output, "sigmoids", TUTTI_F64, 2, (size_t[]){2, pairs}, &sigmoids));
  return machine_calibrate(context, problem, &model->param, model, class_weights, fold, folds, sigmoids,
                           sigmoids + pairs);
}

/* Add the probabilities, or the variance that a Gaussian head asks for. */
static enum tutti_status fit_left_out(tutti_context *context, const struct machine_config *config,
                                      const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                                      const struct svm_problem *problem, const struct svm_model *model, size_t output,
                                      tutti_tensors *tensors) {
  enum tutti_status status = TUTTI_OK;
  size_t folds = (size_t)config->folds;
  uint32_t *fold = NULL;
  double variance;
  if (folds == 0 || task->head == TUTTI_OP_HEAD_LINEAR)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *fold, &fold));
  TUTTI_TRY_OUT(context, learner_folds(context, seed, rows, folds, fold));
  if (task->kind == TUTTI_TASK_CLASSIFICATION) {
    TUTTI_TRY_OUT(context, keep_sigmoids(context, problem, model, rows->class_weights, fold, folds, output, tensors));
  } else {
    TUTTI_TRY_OUT(context, machine_residual_variance(context, problem, &model->param, fold, folds, &variance));
    TUTTI_TRY_OUT(context, learner_keep_variance(context, tensors, output, variance));
  }
out:
  tutti_free(fold);
  return status;
}

/* The weights of the classes that are there: libsvm complains of others. The caller frees weight and weight_label. */
static enum tutti_status weigh_classes(tutti_context *context, const struct learner_rows *rows, size_t classes,
                                       struct svm_parameter *parameter) {
  if (!rows->class_weights)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, classes, sizeof *parameter->weight, &parameter->weight));
  TUTTI_TRY(context, tutti_alloc(context, classes, sizeof *parameter->weight_label, &parameter->weight_label));
  for (size_t c = 0; c < classes; c++)
    for (size_t i = 0; i < rows->count; i++)
      if ((size_t)rows->labels[i] == c) {
        parameter->weight_label[parameter->nr_weight] = (int)c;
        parameter->weight[parameter->nr_weight++] = rows->class_weights[c];
        break;
      }
  return TUTTI_OK;
}

static bool are_of_one_class(const struct learner_rows *rows) {
  for (size_t i = 1; rows->labels && i < rows->count; i++)
    if (rows->labels[i] != rows->labels[0])
      return false;
  return rows->labels;
}

enum tutti_status machine_fit(tutti_context *context, const struct machine_config *config,
                              const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                              size_t output, tutti_tensors *tensors) {
  if (are_of_one_class(rows))
    return keep_one_class(context, config, task, rows, output, tensors);
  enum tutti_status status = TUTTI_OK;
  struct svm_parameter parameter = parameter_of(config, task);
  struct machine_nodes nodes = {0};
  struct svm_model *model = NULL;
  struct svm_problem problem = {.l = (int)rows->count};
  TUTTI_TRY_OUT(context, weigh_classes(context, rows, task->outputs, &parameter));
  TUTTI_TRY_OUT(context, machine_nodes_create(context, rows->count, rows->features, rows->inputs, &nodes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *problem.y, &problem.y));
  problem.x = nodes.rows;
  for (size_t i = 0; i < rows->count; i++)
    problem.y[i] = rows->labels ? rows->labels[i] : (double)rows->targets[i * task->outputs + output];
  TUTTI_TRY_OUT(context, machine_train(context, &problem, &parameter, &model));
  TUTTI_TRY_OUT(context, keep(context, model, rows, output, tensors));
  TUTTI_TRY_OUT(context, fit_left_out(context, config, task, seed, rows, &problem, model, output, tensors));
out:
  if (model)
    svm_free_and_destroy_model(&model);
  machine_nodes_destroy(&nodes);
  tutti_free(problem.y);
  tutti_free(parameter.weight);
  tutti_free(parameter.weight_label);
  return status;
}

/* --- the machine again ------------------------------------------------------------------------------------------- */

struct machine {
  struct svm_model model; /* its arrays are those of the tensors and the ones below */
  struct machine_nodes vectors;
  double **coefficients; /* [classes - 1] */
  double variance;       /* NaN: none */
};

static void close_machine(struct machine *machine) {
  machine_nodes_destroy(&machine->vectors);
  tutti_free(machine->coefficients);
}

/* Classes must be among the task's, and each must have as many vectors as its count says. */
static enum tutti_status open_classes(tutti_context *context, const struct tutti_task *task,
                                      const tutti_tensors *tensors, size_t output, size_t vectors,
                                      struct svm_model *model) {
  struct machine_classes classes;
  TUTTI_TRY(context, machine_classes(context, task, tensors, output, vectors, &classes));
  model->nr_class = (int)classes.count;
  model->label = classes.labels;
  model->nSV = classes.counts;
  return TUTTI_OK;
}

static enum tutti_status open_sigmoids(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                       size_t pairs, struct svm_model *model) {
  const struct tutti_tensor *sigmoids;
  if (!learner_has(tensors, output, "sigmoids"))
    return TUTTI_OK;
  TUTTI_TRY(context, learner_find(context, tensors, output, "sigmoids", TUTTI_F64, 2, (size_t[]){2, pairs}, &sigmoids));
  model->probA = sigmoids->data;
  model->probB = model->probA + pairs;
  return TUTTI_OK;
}

static enum tutti_status open_machine(tutti_context *context, const struct tutti_task *task,
                                      const tutti_tensors *tensors, size_t features, size_t output,
                                      struct machine *machine) {
  const struct tutti_tensor *vectors, *coefficients, *rho, *gamma;
  struct svm_model *model = &machine->model;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  TUTTI_TRY(context, learner_find(context, tensors, output, "vectors", TUTTI_F32, 2, (size_t[]){LEARNER_ANY, features},
                                  &vectors));
  TUTTI_TRY(context, learner_find(context, tensors, output, "gamma", TUTTI_F64, 0, NULL, &gamma));
  size_t l = vectors->shape[0];
  model->param = (struct svm_parameter){
      .svm_type = classes ? C_SVC : EPSILON_SVR, .kernel_type = RBF, .gamma = *(const double *)gamma->data};
  model->nr_class = 2;
  model->l = (int)l;
  if (classes)
    TUTTI_TRY(context, open_classes(context, task, tensors, output, l, model));
  size_t sets = (size_t)model->nr_class - 1, pairs = pairs_of((size_t)model->nr_class);
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "coefficients", TUTTI_F64, 2, (size_t[]){sets, l}, &coefficients));
  TUTTI_TRY(context, learner_find(context, tensors, output, "rho", TUTTI_F64, 1, &pairs, &rho));
  TUTTI_TRY(context, classes ? open_sigmoids(context, tensors, output, pairs, model)
                             : learner_find_variance(context, tensors, task, output, &machine->variance));
  TUTTI_TRY(context, tutti_alloc(context, sets, sizeof *machine->coefficients, &machine->coefficients));
  for (size_t s = 0; s < sets; s++)
    machine->coefficients[s] = (double *)coefficients->data + s * l;
  model->sv_coef = machine->coefficients;
  model->rho = rho->data;
  TUTTI_TRY(context, machine_nodes_create(context, l, features, vectors->data, &machine->vectors));
  model->SV = machine->vectors.rows;
  return TUTTI_OK;
}

/* --- predicting -------------------------------------------------------------------------------------------------- */

/* Shares of votes over all pairs, in the order of the model's classes. */
static void count_votes(const struct svm_model *model, const double *decisions, double *shares) {
  double share = 1 / (double)pairs_of((size_t)model->nr_class);
  for (int i = 0; i < model->nr_class; i++)
    shares[i] = 0;
  for (int i = 0; i < model->nr_class; i++)
    for (int j = i + 1; j < model->nr_class; j++)
      shares[*decisions++ > 0 ? i : j] += share;
}

/* Reorder the probabilities to the classes of the task: shares[outputs] from those of the model's classes. */
static void predict_classes(const struct svm_model *model, const struct tutti_task *task, const struct svm_node *row,
                            double *scratch, double *shares) {
  double *decisions = scratch + model->nr_class;
  if (model->probA) {
    (void)svm_predict_probability(model, row, scratch);
  } else {
    (void)svm_predict_values(model, row, decisions);
    count_votes(model, decisions, scratch);
  }
  for (size_t c = 0; c < task->outputs; c++)
    shares[c] = 0;
  for (int i = 0; i < model->nr_class; i++)
    shares[model->label[i]] = scratch[i];
}

enum tutti_status machine_predict(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  const struct learner_rows *rows, size_t output, float *out) {
  enum tutti_status status = TUTTI_OK;
  struct machine machine = {.variance = NAN};
  struct machine_nodes nodes = {0};
  double *scratch = NULL, *shares = NULL;
  TUTTI_TRY_OUT(context, open_machine(context, task, tensors, rows->features, output, &machine));
  TUTTI_TRY_OUT(context, machine_nodes_create(context, rows->count, rows->features, rows->inputs, &nodes));
  size_t classes = (size_t)machine.model.nr_class;
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes + pairs_of(classes), sizeof *scratch, &scratch));
  TUTTI_TRY_OUT(context, tutti_alloc(context, task->outputs, sizeof *shares, &shares));
  for (size_t i = 0; i < rows->count; i++)
    if (task->kind == TUTTI_TASK_CLASSIFICATION) {
      predict_classes(&machine.model, task, nodes.rows[i], scratch, shares);
      learner_put_classes(task, i, shares, out);
    } else {
      learner_put_value(task, i, output, svm_predict_values(&machine.model, nodes.rows[i], scratch), machine.variance,
                        out);
    }
out:
  tutti_free(scratch);
  tutti_free(shares);
  machine_nodes_destroy(&nodes);
  close_machine(&machine);
  return status;
}
