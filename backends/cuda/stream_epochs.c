/* stream_epochs.c - the steps of a network of images, as launches on its stream. The host puts some steps ahead;
   when the stream has done them, it reads what they came to and puts the next. What changes from step to step is in the
   device's memory (struct stream_state), so that the host waits for nothing within an epoch. */
#include "stream_trials_impl.h"

#include <math.h>
#include <tutti/clock.h>

/* --- putting work on the stream --- */

static enum tutti_status put_step(struct stream_trial *trial, uint32_t rows) {
  struct stream_run *run = &trial->run;
  const struct stream_program *program = &trial->program;
  const struct stream_pass pass = {.rows = rows, .training = true, .drop = true};
  const bool clips = trial->config->gradient_clip > 0;
  const struct stream_update update = {.state = trial->train.state,
                                       .config = (const struct cpu_config *)(void *)(run->memory + program->config),
                                       .pieces =
                                           (const struct stream_piece *)(void *)(run->memory + program->pieces_at),
                                       .starts = (const uint32_t *)(void *)(run->memory + program->starts_at),
                                       .weights = run->memory + program->weights,
                                       .gradients = run->memory + program->gradients,
                                       .first = run->memory + program->first,
                                       .second = run->memory + program->second,
                                       .squares = clips ? (double *)(void *)(run->memory + program->squares) : NULL,
                                       .scales = run->memory + program->scales,
                                       .count = program->piece_count,
                                       .segments = program->segment_count,
                                       .each = trial->config->gradient_clip_by == CPU_CLIP_VARIABLE};
  backend_cuda_stream_load(run, &trial->train, rows);
  TUTTI_TRY(run->context, backend_cuda_stream_forward(run, &pass));
  backend_cuda_stream_judge(run, &trial->train, rows, true, true);
  TUTTI_TRY(run->context, backend_cuda_stream_backward(run, &pass));
  backend_cuda_stream_update(&run->place, &update);
  return TUTTI_OK;
}

static enum tutti_status put_evaluation(struct stream_trial *trial, uint32_t rows) {
  const struct stream_pass pass = {.rows = rows};
  backend_cuda_stream_load(&trial->run, &trial->validation, rows);
  TUTTI_TRY(trial->run.context, backend_cuda_stream_forward(&trial->run, &pass));
  backend_cuda_stream_judge(&trial->run, &trial->validation, rows, false, false);
  return TUTTI_OK;
}

static enum tutti_status put_now(struct stream_trial *trial, enum stream_series_kind kind, uint32_t rows) {
  return kind == STREAM_STEP ? put_step(trial, rows) : put_evaluation(trial, rows);
}

/* Make a graph of a series; false: it cannot be one. */
static enum tutti_status capture_series(struct stream_trial *trial, enum stream_series_kind kind, uint32_t rows,
                                        struct stream_series *series, bool *made) {
  cudaStream_t stream = trial->run.stream;
  cudaGraph_t graph = NULL;
  CUDA_TRY(trial->run.context, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enum tutti_status status = put_now(trial, kind, rows);
  cudaError_t error = cudaStreamEndCapture(stream, &graph);
  if (status == TUTTI_OK && error == cudaSuccess)
    error = cudaGraphInstantiate(&series->graph, graph, 0);
  if (graph)
    (void)cudaGraphDestroy(graph);
  *made = status == TUTTI_OK && error == cudaSuccess;
  if (!*made)
    series->graph = NULL;
  (void)cudaGetLastError(); /* of a capture that failed */
  tutti_error_clear(trial->run.context);
  return TUTTI_OK;
}

static enum tutti_status put_series(struct stream_trial *trial, enum stream_series_kind kind, size_t rows) {
  size_t full = kind == STREAM_STEP ? trial->batch : trial->evaluated;
  struct stream_series *series = &trial->series[kind][rows < full];
  bool graph = series->graph != NULL;
  if (!graph && series->times++ == 1)
    TUTTI_TRY(trial->run.context, capture_series(trial, kind, (uint32_t)rows, series, &graph));
  if (!graph)
    return put_now(trial, kind, (uint32_t)rows);
  CUDA_TRY(trial->run.context, cudaGraphLaunch(series->graph, trial->run.stream));
  return TUTTI_OK;
}

/* Images that are varied are made by the host, as backend cpu makes them. */
static enum tutti_status put_images(struct stream_trial *trial, size_t place, size_t rows) {
  size_t features = trial->train.rows.features;
  float *staged = trial->images + place * trial->batch * features;
  if (!trial->augments)
    return TUTTI_OK;
  tutti_split_gather_augmented(trial->job.train, &trial->augmentation, rows, trial->order + trial->at, staged);
  CUDA_TRY(trial->run.context,
           cudaMemcpyAsync(trial->run.memory + trial->program.staging, staged, rows * features * sizeof(float),
                           cudaMemcpyHostToDevice, trial->run.stream));
  return TUTTI_OK;
}

static enum tutti_status put_report(struct stream_trial *trial) {
  CUDA_TRY(trial->run.context, cudaMemcpyAsync(trial->report, trial->train.state, sizeof *trial->report,
                                               cudaMemcpyDeviceToHost, trial->run.stream));
  CUDA_TRY(trial->run.context, cudaGetLastError());
  return TUTTI_OK;
}

static enum tutti_status put_steps(struct stream_trial *trial) {
  size_t rows = trial->train.rows.rows;
  for (size_t k = 0; k < STREAM_STEPS_AHEAD && trial->at < rows; k++) {
    size_t here = rows - trial->at < trial->batch ? rows - trial->at : trial->batch;
    TUTTI_TRY(trial->run.context, put_images(trial, k, here));
    TUTTI_TRY(trial->run.context, put_series(trial, STREAM_STEP, here));
    trial->at += here;
  }
  trial->phase = STREAM_STEPS;
  return put_report(trial);
}

/* Mean and variance of batch norms over all training rows, with the weights that are there. */
static enum tutti_status put_measures(struct stream_trial *trial) {
  const struct stream_run *run = &trial->run;
  size_t rows = trial->train.rows.rows;
  for (size_t begin = 0; begin < rows; begin += trial->batch) {
    size_t count = rows - begin < trial->batch ? rows - begin : trial->batch;
    struct stream_batch batch = {.rows = trial->train.rows};
    const struct stream_pass pass = {
        .rows = (uint32_t)count, .training = true, .share = (double)count / (double)(begin + count)};
    batch.rows.inputs += begin * batch.rows.features;
    backend_cuda_stream_load(run, &batch, (uint32_t)count);
    TUTTI_TRY(run->context, backend_cuda_stream_forward(run, &pass));
  }
  return TUTTI_OK;
}

static bool is_averaged(const struct stream_trial *trial) {
  return trial->epoch.epoch >= backend_cpu_first_averaged(trial->config);
}

/* Until the epoch has ended, the average so far stands for the weights (backends/cpu/average.c). */
static enum tutti_status put_average(struct stream_trial *trial) {
  const struct stream_program *program = &trial->program;
  const struct cpu_plan *plan = program->plan;
  float *memory = trial->run.memory;
  const struct stream_average average = {
      .weights = memory + program->weights,
      .average = memory + program->average,
      .own = memory + program->own,
      .floats = (uint32_t)plan->floats,
      .trained = (uint32_t)plan->trained,
      .share = 1 / (float)(trial->epoch.epoch - backend_cpu_first_averaged(trial->config) + 1)};
  backend_cuda_stream_average(&trial->run.place, &average);
  return backend_cpu_has_norm(plan) ? put_measures(trial) : TUTTI_OK;
}

/* An array of weights into the place of another. */
static enum tutti_status put_weights(struct stream_trial *trial, size_t to, size_t from) {
  float *memory = trial->run.memory;
  CUDA_TRY(trial->run.context, cudaMemcpyAsync(memory + to, memory + from, trial->program.plan->floats * sizeof(float),
                                               cudaMemcpyDeviceToDevice, trial->run.stream));
  return TUTTI_OK;
}

static enum tutti_status put_validation(struct stream_trial *trial) {
  size_t rows = trial->validation.rows.rows;
  backend_cuda_stream_begin(&trial->run.place, trial->train.state, 0, 1);
  for (size_t at = 0; at < rows; at += trial->evaluated)
    TUTTI_TRY(trial->run.context,
              put_series(trial, STREAM_EVALUATION, rows - at < trial->evaluated ? rows - at : trial->evaluated));
  trial->phase = STREAM_VALIDATION;
  return put_report(trial);
}

/* Rows in the order of backends/cpu/training.c. */
static void shuffle_trial(struct stream_trial *trial) {
  struct tutti_random random;
  size_t rows = trial->train.rows.rows;
  for (size_t i = 0; i < rows; i++)
    trial->order[i] = (uint32_t)i;
  if (trial->batch == rows)
    return;
  tutti_random_init(&random, trial->augmentation.seed, "mini-batches", trial->epoch.epoch);
  tutti_random_shuffle(&random, rows, trial->order);
}

static enum tutti_status begin_epoch(struct stream_trial *trial) {
  struct tutti_epoch *epoch = &trial->epoch;
  const struct cpu_config *config = trial->config;
  epoch->epoch++;
  epoch->learning_rate = backend_cpu_epoch_rate(config, trial->watch.rate, epoch->epoch);
  trial->augmentation.epoch = epoch->epoch;
  trial->at = 0;
  shuffle_trial(trial);
  CUDA_TRY(trial->run.context,
           cudaMemcpyAsync(trial->run.memory + trial->program.order, trial->order,
                           trial->train.rows.rows * sizeof *trial->order, cudaMemcpyHostToDevice, trial->run.stream));
  backend_cuda_stream_begin(&trial->run.place, trial->train.state, epoch->learning_rate,
                            (double)(epoch->epoch - 1) / (double)config->epochs);
  return put_steps(trial);
}

/* --- the ends of epochs --- */

/* The epoch's losses are known: keep its weights, report, go on or end. */
static enum tutti_status end_epoch(struct stream_trial *trial) {
  struct tutti_epoch *epoch = &trial->epoch;
  bool validates = trial->validation.rows.rows > 0, keep;
  double watched = validates ? epoch->validation_loss : epoch->train_loss;
  if (!isfinite(watched)) {
    backend_cuda_trial_diverge(trial, validates ? "the validation loss" : "the loss", watched);
    return TUTTI_OK;
  }
  bool go_on = backend_cpu_watch(trial->config, &trial->watch, epoch->epoch, watched, &keep);
  if (keep)
    TUTTI_TRY(trial->run.context, put_weights(trial, trial->program.kept, trial->program.weights));
  if (is_averaged(trial))
    TUTTI_TRY(trial->run.context, put_weights(trial, trial->program.weights, trial->program.own));
  epoch->seconds = tutti_clock() - trial->began;
  if (trial->job.progress && !trial->job.progress(trial->job.progress_argument, epoch))
    return backend_cuda_trial_finish(trial, TUTTI_STATE_PRUNED);
  if (!go_on || epoch->epoch == (uint32_t)trial->config->epochs)
    return backend_cuda_trial_finish(trial, TUTTI_STATE_FINISHED);
  return begin_epoch(trial);
}

enum tutti_status backend_cuda_trial_go_on(struct stream_trial *trial) {
  struct tutti_epoch *epoch = &trial->epoch;
  const struct stream_state *report = trial->report;
  if (trial->phase == STREAM_BEGINS)
    return begin_epoch(trial);
  if (trial->phase == STREAM_VALIDATION) {
    epoch->validation_loss = report->total / (double)trial->validation.rows.rows;
    return end_epoch(trial);
  }
  epoch->steps = trial->outcome->steps = report->steps;
  trial->outcome->epochs = epoch->epoch;
  if (report->diverged) {
    backend_cuda_trial_diverge(trial, "the loss", report->value);
    return TUTTI_OK;
  }
  if (trial->at < trial->train.rows.rows)
    return put_steps(trial);
  epoch->train_loss = report->total / (double)trial->train.rows.rows;
  epoch->validation_loss = (double)NAN;
  if (is_averaged(trial))
    TUTTI_TRY(trial->run.context, put_average(trial));
  return trial->validation.rows.rows > 0 ? put_validation(trial) : end_epoch(trial);
}
