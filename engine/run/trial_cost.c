/* trial_cost.c - what a prediction of one row costs, by all models of a trial: operations, which are counted, and time,
   which is measured. Times differ from one run to the next, so they are measured once and recorded; whatever chooses by
   them reads the record. They are taken before anything is written, of the models one after the other. */
#include "trial_folds_impl.h"

#include "engine/data/folds_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

/* Predicted in one batch are so many rows at most. It is done again until so many seconds have been spent, and so often
   at most; the least time counts. So a model takes a hundredth of a second, or one batch if that takes longer. */
enum { MOST_ROWS = 1024, MOST_REPEATS = 20 };
static const double enough = 0.01;

struct costing {
  const struct tutti_experiment *experiment;
  const struct tutti_training *training;
  const tutti_split *rows; /* to predict */
};

typedef enum tutti_status cost_of_model(tutti_context *context, const struct costing *costing,
                                        const tutti_tensors *weights, double *cost);

static enum tutti_status sum_models(tutti_context *context, const struct costing *costing, cost_of_model *cost_of,
                                    double *sum) {
  const tutti_tensors *weights = costing->training->outcome.weights;
  size_t folds = tutti_folds_count(weights);
  *sum = 0;
  if (!folds)
    return cost_of(context, costing, weights, sum);
  for (size_t f = 0; f < folds; f++) {
    tutti_tensors *one;
    double cost = 0;
    TUTTI_TRY(context, tutti_folds_take(context, weights, f, &one));
    enum tutti_status status = cost_of(context, costing, one, &cost);
    tutti_tensors_destroy(one);
    TUTTI_TRY(context, status);
    *sum += cost;
  }
  return TUTTI_OK;
}

/* --- operations --- */

static enum tutti_status flops_of_model(tutti_context *context, const struct costing *costing,
                                        const tutti_tensors *weights, double *flops) {
  return tutti_backend_flops(context, costing->training->learner, &costing->training->job, weights, flops);
}

enum tutti_status tutti_training_count_network(tutti_context *context, struct tutti_training *training) {
  tutti_network *computed;
  if (!training->network)
    return TUTTI_OK;
  training->unread = tutti_backend_unread(training->learner, &training->job);
  TUTTI_TRY(context, tutti_network_narrow(context, training->network, training->unread, &computed));
  training->parameters = tutti_network_parameters(computed);
  training->flops = tutti_network_flops(computed);
  tutti_network_destroy(computed);
  return TUTTI_OK;
}

size_t tutti_training_unread_bytes(const struct tutti_training *training) {
  const tutti_tensors *weights = training->outcome.weights;
  if (!weights || training->unread == 0)
    return 0;
  size_t folds = tutti_folds_count(weights), zeros = tutti_network_parameters(training->network) - training->parameters;
  return (folds ? folds : 1) * zeros * sizeof(float);
}

/* --- time --- */

/* Seconds that this thread has kept a processor busy: other processes, which may keep it waiting, do not count. Whoever
   trains has one thread. The clock of all threads of a process is coarse where its processor time is limited (ulimit
   -t): it goes on by ticks of milliseconds. */
static double processor_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum tutti_status time_model(tutti_context *context, const struct costing *costing, const tutti_tensors *weights,
                                    double *microseconds) {
  double best = INFINITY, spent = 0;
  for (int i = 0; i == 0 || (i < MOST_REPEATS && spent < enough); i++) {
    float *values, *epistemic;
    double begin = processor_clock();
    TUTTI_TRY(context, tutti_experiment_predict(context, costing->experiment, costing->training->learner,
                                                &costing->training->job, weights, costing->rows, &values, &epistemic));
    double took = processor_clock() - begin;
    tutti_free(values);
    tutti_free(epistemic);
    best = fmin(best, took);
    spent += took;
  }
  *microseconds = 1e6 * best / (double)tutti_split_rows(costing->rows);
  return TUTTI_OK;
}

/* Rows at even distances among the validation rows: the same for all trials. */
static enum tutti_status take_sample(tutti_context *context, const tutti_split *from, tutti_split **sample) {
  size_t all = tutti_split_rows(from), count = all < MOST_ROWS ? all : MOST_ROWS;
  uint32_t *rows;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *rows, &rows));
  for (size_t i = 0; i < count; i++)
    rows[i] = (uint32_t)(i * all / count);
  enum tutti_status status = tutti_split_take(context, from, TUTTI_SPLIT_VALIDATION, count, rows, sample);
  tutti_free(rows);
  return status;
}

static enum tutti_status time_models(tutti_context *context, struct costing *costing, double *microseconds) {
  const tutti_split *validation = tutti_dataset_find(costing->experiment->dataset, TUTTI_SPLIT_VALIDATION);
  tutti_split *sample;
  if (!validation || tutti_split_rows(validation) == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, take_sample(context, validation, &sample));
  costing->rows = sample;
  enum tutti_status status = sum_models(context, costing, time_model, microseconds);
  tutti_split_destroy(sample);
  return status;
}

/* --- both --- */

/* What a trained trial costs may stay unknown: the trial is good all the same. */
static void settle(tutti_context *context, const struct tutti_training *training, enum tutti_status status,
                   double *cost) {
  if (status == TUTTI_OK)
    return;
  *cost = 0;
  tutti_log(context, TUTTI_LOG_WARNING, "trial %" PRIu64 ": what a prediction costs is not known: %s",
            training->job.trial, tutti_error_message(context));
  tutti_error_clear(context);
}

void tutti_training_count_flops(tutti_context *context, const struct tutti_experiment *experiment,
                                struct tutti_training *training) {
  const struct costing costing = {.experiment = experiment, .training = training};
  if (training->outcome.weights)
    settle(context, training, sum_models(context, &costing, flops_of_model, &training->flops), &training->flops);
}

void tutti_training_time(tutti_context *context, const struct tutti_experiment *experiment,
                         struct tutti_training *training) {
  struct costing costing = {.experiment = experiment, .training = training};
  if (training->outcome.weights)
    settle(context, training, time_models(context, &costing, &training->microseconds), &training->microseconds);
}
