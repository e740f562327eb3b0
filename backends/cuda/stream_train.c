/* stream_train.c - networks of images, many at once. Each has a stream of its own, on which the host puts some steps
   ahead; when the stream has done them, the host reads what they came to and puts the next. What changes from step to
   step is in the device's memory (struct stream_state), so the host waits for nothing within an epoch. As many networks
   train at once as there are lanes and the device's memory has room for; when one ends, the next begins. */
#include "stream_host_impl.h"

#include "backends/cpu/schedule_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tutti/clock.h>
#include <tutti/sized.h>

enum { STREAM_LANES = 16, STEPS_AHEAD = 8 };

enum phase { PHASE_EPOCH, PHASE_STEPS, PHASE_VALIDATION };

/* Launches that are put on the stream again and again, for the same number of rows: the first time one by one, so that
   the libraries load what they need; from the second on as a graph, which is one launch. */
struct series {
  cudaGraphExec_t graph;
  uint32_t times; /* that they were put without a graph */
};
enum series_kind { SERIES_STEP, SERIES_EVALUATION, SERIES_KINDS };

/* A network that trains. */
struct trial {
  size_t index; /* among the caller's */
  struct tutti_job job;
  struct tutti_outcome *outcome;
  const struct cpu_config *config;
  struct stream_program program;
  struct stream_run run;
  struct stream_batch train, validation;
  struct tutti_augmentation augmentation;
  bool augments;
  /* In the host's memory, pinned. */
  uint32_t *order;
  float *staged; /* [STEPS_AHEAD][batch][features] */
  struct stream_state *report;
  float *back; /* [2][floats]: what the weights have come to, and those to keep */
  size_t batch, evaluated;
  struct series series[SERIES_KINDS][2]; /* of full batches, and of the last one */
  enum phase phase;
  size_t at; /* rows of this pass that were put on the stream */
  struct cpu_watch watch;
  struct tutti_epoch epoch;
  double began;
};

/* A stream with its handles. */
struct lane {
  cudaStream_t stream;
  struct stream_library *library;
  struct trial *trial; /* NULL: free */
};

struct trials {
  tutti_context *context;
  const struct cuda_device *device;
  size_t count, next; /* jobs, and the next to begin */
  const struct tutti_job *const *jobs;
  struct tutti_outcome *const *outcomes;
  void (*done)(void *argument, size_t index);
  void *argument;
  struct lane lanes[STREAM_LANES];
  struct cuda_data data;
};

static size_t rows_in(const tutti_split *split) { return split ? tutti_split_rows(split) : 0; }

/* --- a program --- */

struct stream_place backend_cuda_stream_place(const struct cuda_device *device, cudaStream_t stream) {
  return (struct stream_place){.stream = stream, .blocks = device->stream_blocks, .threads = device->most_workers};
}

enum tutti_status backend_cuda_stream_load_program(struct stream_run *run, const struct tutti_job *job) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  cudaStream_t stream = run->stream;
  tutti_context *context = run->context;
  size_t floats = plan->floats * sizeof(float);
  const struct {
    size_t place, bytes;
    const void *from;
  } copies[] = {
      {program->weights, floats, plan->weights},
      {program->config, sizeof(struct cpu_config), job->config},
      {program->class_weights, job->class_weights ? plan->outputs * sizeof(double) : 0, job->class_weights},
      {program->pieces_at, program->piece_count * sizeof *program->pieces, program->pieces},
      {program->starts_at, program->training ? (program->segment_count + 1) * sizeof(uint32_t) : 0, program->starts}};
  for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
    if (copies[i].bytes > 0)
      CUDA_TRY(context, cudaMemcpyAsync(run->memory + copies[i].place, copies[i].from, copies[i].bytes,
                                        cudaMemcpyHostToDevice, stream));
  CUDA_TRY(context, cudaMemsetAsync(run->memory + program->state, 0, sizeof(struct stream_state), stream));
  if (program->training) {
    CUDA_TRY(context, cudaMemsetAsync(run->memory + program->gradients, 0, floats, stream));
    CUDA_TRY(context, cudaMemsetAsync(run->memory + program->first, 0, floats, stream));
    backend_cuda_stream_start(&run->place, (const struct cpu_config *)(void *)(run->memory + program->config),
                              run->memory + program->second, (uint32_t)plan->floats);
  }
  CUDA_TRY(context, cudaGetLastError());
  CUDA_TRY(context, cudaStreamSynchronize(stream));
  return TUTTI_OK;
}

/* --- setting up --- */

static void add_rows(uint32_t *counts, uint32_t *count, size_t rows) {
  for (uint32_t i = 0; i < *count; i++)
    if (counts[i] == rows)
      return;
  if (rows > 0)
    counts[(*count)++] = (uint32_t)rows;
}

/* The program of a training. */
static enum tutti_status lower_trial(tutti_context *context, struct stream_library *library, struct trial *trial) {
  const struct cpu_config *config = trial->config;
  struct tutti_shape shape = tutti_split_input(trial->job.train);
  size_t rows = rows_in(trial->job.train), validated = rows_in(trial->job.validation);
  uint32_t counts[STREAM_ROW_COUNTS] = {0}, count = 0;
  trial->batch = config->batch_size == 0 || (size_t)config->batch_size > rows ? rows : (size_t)config->batch_size;
  if (trial->batch == 0)
    trial->batch = 1; /* a check may come before the rows */
  trial->evaluated = validated < CPU_EVALUATION_IMAGES ? validated : CPU_EVALUATION_IMAGES;
  if (trial->evaluated < trial->batch)
    trial->evaluated = trial->batch;
  trial->augments = backend_cpu_augments(config) != NULL;
  add_rows(counts, &count, trial->evaluated);
  add_rows(counts, &count, trial->batch);
  add_rows(counts, &count, rows % trial->batch);
  add_rows(counts, &count, validated % trial->evaluated);
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  const struct stream_purpose purpose = {.training = true,
                                         .row_counts = counts,
                                         .row_count_count = count,
                                         .order = rows,
                                         .staging = trial->augments ? trial->batch * features : 0};
  return backend_cuda_stream_lower(context, library, &trial->job, &purpose, &trial->program);
}

static size_t trial_need(const struct trials *pool, const struct trial *trial) {
  const tutti_split *const splits[] = {trial->job.train, rows_in(trial->job.validation) ? trial->job.validation : NULL};
  size_t need = trial->program.bytes + 4096;
  for (size_t k = 0; k < 2; k++) {
    bool there = !splits[k];
    for (size_t i = 0; i < pool->data.count; i++)
      there = there || pool->data.splits[i].split == splits[k];
    if (!there)
      need += backend_cuda_split_bytes(splits[k], true);
  }
  return need;
}

static enum tutti_status pinned(tutti_context *context, size_t count, size_t size, void *to) {
  void *memory;
  CUDA_TRY(context, cudaHostAlloc(&memory, count * size + 1, 0));
  *(void **)to = memory;
  return TUTTI_OK;
}

static void set_draws(struct trial *trial) {
  const struct cpu_config *config = trial->config;
  struct tutti_random dropout;
  tutti_random_init(&dropout, trial->job.seed, "dropout", 0);
  trial->run.drop_key = tutti_random_u64(&dropout);
  trial->augmentation =
      (struct tutti_augmentation){.size = sizeof trial->augmentation,
                                  .padding = (uint32_t)config->augment_padding,
                                  .flip = config->augment_flip,
                                  .crop = config->augment_crop,
                                  .brightness = config->augment_brightness,
                                  .contrast = config->augment_contrast,
                                  .saturation = config->augment_saturation,
                                  .hue = config->augment_hue,
                                  .seed = config->shuffle == CPU_SHUFFLE_RUN ? trial->job.run_seed : trial->job.seed};
}

/* Put a trial that was lowered on a lane. */
static enum tutti_status begin_trial(struct trials *pool, struct lane *lane, struct trial *trial) {
  tutti_context *context = pool->context;
  struct stream_program *program = &trial->program;
  size_t rows = rows_in(trial->job.train), features = 0;
  void *memory;
  trial->began = tutti_clock();
  trial->epoch.size = sizeof trial->epoch;
  trial->watch = backend_cpu_watch_begin(trial->config);
  TUTTI_TRY(context, backend_cpu_weights_begin(context, program->plan, &trial->job));
  trial->run = (struct stream_run){.context = context,
                                   .program = program,
                                   .library = lane->library,
                                   .place = backend_cuda_stream_place(pool->device, lane->stream),
                                   .stream = lane->stream};
  set_draws(trial);
  TUTTI_TRY(context,
            backend_cuda_data_add(context, &pool->data, trial->job.train, true, lane->stream, &trial->train.rows));
  if (rows_in(trial->job.validation) > 0)
    TUTTI_TRY(context, backend_cuda_data_add(context, &pool->data, trial->job.validation, true, lane->stream,
                                             &trial->validation.rows));
  features = trial->train.rows.features;
  CUDA_TRY(context, cudaMalloc(&memory, program->bytes));
  trial->run.memory = memory;
  TUTTI_TRY(context, pinned(context, rows, sizeof *trial->order, &trial->order));
  TUTTI_TRY(context, pinned(context, 1, sizeof *trial->report, &trial->report));
  TUTTI_TRY(context, pinned(context, 2 * program->plan->floats, sizeof(float), &trial->back));
  if (trial->augments)
    TUTTI_TRY(context, pinned(context, STEPS_AHEAD * trial->batch, features * sizeof *trial->staged, &trial->staged));
  TUTTI_TRY(context, backend_cuda_library_lend(context, lane->library, trial->run.memory + program->products,
                                               STREAM_PRODUCT_BYTES, trial->run.memory + program->convolutions,
                                               program->convolution_bytes));
  trial->train.order = (const uint32_t *)(void *)(trial->run.memory + program->order);
  trial->train.state = trial->validation.state = (struct stream_state *)(void *)(trial->run.memory + program->state);
  trial->train.gathered = trial->augments;
  if (trial->job.class_weights)
    trial->train.class_weights = (const double *)(void *)(trial->run.memory + program->class_weights);
  return backend_cuda_stream_load_program(&trial->run, &trial->job);
}

static void release_trial(struct trial *trial) {
  if (!trial)
    return;
  for (size_t i = 0; i < (size_t)SERIES_KINDS * 2; i++)
    if (trial->series[i / 2][i % 2].graph)
      (void)cudaGraphExecDestroy(trial->series[i / 2][i % 2].graph);
  (void)cudaFree(trial->run.memory);
  void *const there[] = {trial->order, trial->report, trial->back, trial->staged};
  for (size_t i = 0; i < sizeof there / sizeof there[0]; i++)
    if (there[i])
      (void)cudaFreeHost(there[i]);
  backend_cuda_stream_release(&trial->program);
  tutti_free(trial);
}

/* --- putting work on the stream --- */

static enum tutti_status put_step(struct trial *trial, uint32_t rows) {
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

static enum tutti_status put_evaluation(struct trial *trial, uint32_t rows) {
  const struct stream_pass pass = {.rows = rows};
  backend_cuda_stream_load(&trial->run, &trial->validation, rows);
  TUTTI_TRY(trial->run.context, backend_cuda_stream_forward(&trial->run, &pass));
  backend_cuda_stream_judge(&trial->run, &trial->validation, rows, false, false);
  return TUTTI_OK;
}

static enum tutti_status put_now(struct trial *trial, enum series_kind kind, uint32_t rows) {
  return kind == SERIES_STEP ? put_step(trial, rows) : put_evaluation(trial, rows);
}

/* Make a graph of a series; false: it cannot be one. */
static enum tutti_status capture_series(struct trial *trial, enum series_kind kind, uint32_t rows,
                                        struct series *series, bool *made) {
  cudaStream_t stream = trial->run.stream;
  cudaGraph_t graph = NULL;
  CUDA_TRY(trial->run.context, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enum tutti_status status = put_now(trial, kind, rows);
  cudaError_t error = cudaStreamEndCapture(stream, &graph);
  if (status == TUTTI_OK && error == cudaSuccess)
    error = cudaGraphInstantiate(&series->graph, graph, 0);
  if (graph)
    (void)cudaGraphDestroy(graph);
  *made = error == cudaSuccess;
  if (!*made)
    series->graph = NULL;
  (void)cudaGetLastError(); /* of a capture that failed */
  return status;
}

static enum tutti_status put_series(struct trial *trial, enum series_kind kind, size_t rows) {
  size_t full = kind == SERIES_STEP ? trial->batch : trial->evaluated;
  struct series *series = &trial->series[kind][rows < full];
  bool graph = series->graph != NULL;
  if (!graph && series->times++ == 1)
    TUTTI_TRY(trial->run.context, capture_series(trial, kind, (uint32_t)rows, series, &graph));
  if (!graph)
    return put_now(trial, kind, (uint32_t)rows);
  CUDA_TRY(trial->run.context, cudaGraphLaunch(series->graph, trial->run.stream));
  return TUTTI_OK;
}

/* Images that are varied are made by the host, as backend cpu makes them. */
static enum tutti_status put_images(struct trial *trial, size_t place, size_t rows) {
  size_t features = trial->train.rows.features;
  float *staged = trial->staged + place * trial->batch * features;
  if (!trial->augments)
    return TUTTI_OK;
  tutti_split_gather_augmented(trial->job.train, &trial->augmentation, rows, trial->order + trial->at, staged);
  CUDA_TRY(trial->run.context,
           cudaMemcpyAsync(trial->run.memory + trial->program.staging, staged, rows * features * sizeof(float),
                           cudaMemcpyHostToDevice, trial->run.stream));
  return TUTTI_OK;
}

static enum tutti_status put_report(struct trial *trial) {
  CUDA_TRY(trial->run.context, cudaMemcpyAsync(trial->report, trial->train.state, sizeof *trial->report,
                                               cudaMemcpyDeviceToHost, trial->run.stream));
  CUDA_TRY(trial->run.context, cudaGetLastError());
  return TUTTI_OK;
}

static enum tutti_status put_steps(struct trial *trial) {
  size_t rows = trial->train.rows.rows;
  for (size_t k = 0; k < STEPS_AHEAD && trial->at < rows; k++) {
    size_t here = rows - trial->at < trial->batch ? rows - trial->at : trial->batch;
    TUTTI_TRY(trial->run.context, put_images(trial, k, here));
    TUTTI_TRY(trial->run.context, put_series(trial, SERIES_STEP, here));
    trial->at += here;
  }
  trial->phase = PHASE_STEPS;
  return put_report(trial);
}

static enum tutti_status put_validation(struct trial *trial) {
  size_t rows = trial->validation.rows.rows;
  backend_cuda_stream_begin(&trial->run.place, trial->train.state, 0, 1);
  for (size_t at = 0; at < rows; at += trial->evaluated)
    TUTTI_TRY(trial->run.context,
              put_series(trial, SERIES_EVALUATION, rows - at < trial->evaluated ? rows - at : trial->evaluated));
  trial->phase = PHASE_VALIDATION;
  return put_report(trial);
}

/* Rows in the order of backends/cpu/training.c. */
static void shuffle_trial(struct trial *trial) {
  struct tutti_random random;
  size_t rows = trial->train.rows.rows;
  for (size_t i = 0; i < rows; i++)
    trial->order[i] = (uint32_t)i;
  if (trial->batch == rows)
    return;
  tutti_random_init(&random, trial->augmentation.seed, "mini-batches", trial->epoch.epoch);
  tutti_random_shuffle(&random, rows, trial->order);
}

static enum tutti_status begin_epoch(struct trial *trial) {
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

/* --- the end of an epoch, and of a trial --- */

static void end_trial(struct trials *pool, struct lane *lane) {
  pool->done(pool->argument, lane->trial->index);
  release_trial(lane->trial);
  lane->trial = NULL;
}

static void fail_trial(struct trials *pool, struct lane *lane, const char *text) {
  struct tutti_outcome *outcome = lane->trial->outcome;
  outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", text);
  end_trial(pool, lane);
}

static void diverge_trial(struct trials *pool, struct lane *lane, const char *what, double value) {
  struct trial *trial = lane->trial;
  backend_cpu_say_diverged(trial->config, &trial->epoch, what, value, trial->outcome);
  trial->outcome->state = TUTTI_STATE_FAILED;
  end_trial(pool, lane);
}

static double sum_of_squares(const float *x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (double)x[i] * (double)x[i];
  return sum;
}

static enum tutti_status finish_trial(struct trials *pool, struct lane *lane, enum tutti_state state) {
  struct trial *trial = lane->trial;
  struct stream_run *run = &trial->run;
  size_t floats = trial->program.plan->floats, bytes = floats * sizeof(float);
  CUDA_TRY(pool->context, cudaMemcpyAsync(trial->back, run->memory + trial->program.weights, bytes,
                                          cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY(pool->context, cudaMemcpyAsync(trial->back + floats, run->memory + trial->program.kept, bytes,
                                          cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY(pool->context, cudaStreamSynchronize(run->stream));
  trial->outcome->best_epoch = trial->watch.best_epoch;
  double squares = sum_of_squares(trial->back, floats); /* a later step's loss would tell */
  if (!isfinite(squares)) {
    diverge_trial(pool, lane, "the sum of squared weights", squares);
    return TUTTI_OK;
  }
  trial->outcome->state = state;
  TUTTI_TRY(pool->context, backend_cpu_weights_write(pool->context, trial->program.plan, trial->back + floats, false,
                                                     &trial->outcome->weights));
  end_trial(pool, lane);
  return TUTTI_OK;
}

/* The epoch's losses are known: keep its weights, report, go on or end. */
static enum tutti_status end_epoch(struct trials *pool, struct lane *lane) {
  struct trial *trial = lane->trial;
  struct tutti_epoch *epoch = &trial->epoch;
  bool validates = trial->validation.rows.rows > 0, keep;
  double watched = validates ? epoch->validation_loss : epoch->train_loss;
  if (!isfinite(watched)) {
    diverge_trial(pool, lane, validates ? "the validation loss" : "the loss", watched);
    return TUTTI_OK;
  }
  bool go_on = backend_cpu_watch(trial->config, &trial->watch, epoch->epoch, watched, &keep);
  if (keep)
    CUDA_TRY(pool->context,
             cudaMemcpyAsync(trial->run.memory + trial->program.kept, trial->run.memory + trial->program.weights,
                             trial->program.plan->floats * sizeof(float), cudaMemcpyDeviceToDevice, trial->run.stream));
  epoch->seconds = tutti_clock() - trial->began;
  if (trial->job.progress && !trial->job.progress(trial->job.progress_argument, epoch))
    return finish_trial(pool, lane, TUTTI_STATE_PRUNED);
  if (!go_on || epoch->epoch == (uint32_t)trial->config->epochs)
    return finish_trial(pool, lane, TUTTI_STATE_FINISHED);
  return begin_epoch(trial);
}

/* The stream has done what it was given. */
static enum tutti_status go_on(struct trials *pool, struct lane *lane) {
  struct trial *trial = lane->trial;
  struct tutti_epoch *epoch = &trial->epoch;
  const struct stream_state *report = trial->report;
  if (trial->phase == PHASE_EPOCH)
    return begin_epoch(trial);
  if (trial->phase == PHASE_VALIDATION) {
    epoch->validation_loss = report->total / (double)trial->validation.rows.rows;
    return end_epoch(pool, lane);
  }
  epoch->steps = trial->outcome->steps = report->steps;
  trial->outcome->epochs = epoch->epoch;
  if (report->diverged) {
    diverge_trial(pool, lane, "the loss", report->value);
    return TUTTI_OK;
  }
  if (trial->at < trial->train.rows.rows)
    return put_steps(trial);
  epoch->train_loss = report->total / (double)trial->train.rows.rows;
  epoch->validation_loss = (double)NAN;
  return trial->validation.rows.rows > 0 ? put_validation(trial) : end_epoch(pool, lane);
}

/* --- lanes --- */

static enum tutti_status open_lane(struct trials *pool, struct lane *lane) {
  if (!lane->stream)
    CUDA_TRY(pool->context, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
  if (!lane->library)
    TUTTI_TRY(pool->context, backend_cuda_library_open(pool->context, lane->stream, &lane->library));
  return TUTTI_OK;
}

static bool any_trial(const struct trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++)
    if (pool->lanes[i].trial)
      return true;
  return false;
}

static enum tutti_status make_trial(struct trials *pool, struct lane *lane, size_t index, struct trial **made) {
  struct trial *trial;
  TUTTI_TRY(pool->context, tutti_alloc(pool->context, 1, sizeof *trial, &trial));
  trial->index = index;
  TUTTI_TAKE(&trial->job, pool->jobs[index]);
  trial->config = trial->job.config;
  trial->outcome = pool->outcomes[index];
  enum tutti_status status = lower_trial(pool->context, lane->library, trial);
  if (status == TUTTI_OK)
    *made = trial;
  else
    release_trial(trial);
  return status;
}

/* The trial cannot begin: its error is its failure, unless it is alone. */
static enum tutti_status fail_to_begin(struct trials *pool, size_t index, enum tutti_status status) {
  struct tutti_outcome *outcome = pool->outcomes[index];
  if (pool->count == 1 || status == TUTTI_ERROR_CANCELLED)
    return status;
  outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", tutti_error_message(pool->context));
  tutti_error_clear(pool->context);
  pool->done(pool->argument, index);
  return TUTTI_OK;
}

/* Begin the next job on this lane, if there is room; *waits: not until another has ended. */
static enum tutti_status begin_next(struct trials *pool, struct lane *lane, bool *waits) {
  size_t index = pool->next, room, total;
  struct trial *trial = NULL;
  TUTTI_TRY(pool->context, open_lane(pool, lane));
  enum tutti_status status = make_trial(pool, lane, index, &trial);
  if (status != TUTTI_OK) {
    pool->next++;
    return fail_to_begin(pool, index, status);
  }
  TUTTI_TRY(pool->context, backend_cuda_device_memory(pool->context, &room, &total));
  size_t need = trial_need(pool, trial);
  if (need > room && any_trial(pool)) {
    release_trial(trial);
    *waits = true;
    return TUTTI_OK;
  }
  pool->next++;
  lane->trial = trial;
  if (need > room) {
    char text[256];
    (void)snprintf(text, sizeof text,
                   "out of memory on the device: the network and its rows need %zu MiB, and %zu of %zu MiB are free; "
                   "lower batch_size, or take backend cpu",
                   (need >> 20) + 1, room >> 20, total >> 20);
    fail_trial(pool, lane, text);
    return TUTTI_OK;
  }
  status = begin_trial(pool, lane, trial);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  lane->trial = NULL;
  (void)cudaStreamSynchronize(lane->stream);
  release_trial(trial);
  return fail_to_begin(pool, index, status);
}

/* Look after a lane; *busy: its stream has work. */
static enum tutti_status attend_lane(struct trials *pool, struct lane *lane, bool *busy) {
  cudaError_t error = cudaStreamQuery(lane->stream);
  *busy = error == cudaErrorNotReady;
  if (*busy)
    return TUTTI_OK;
  if (error != cudaSuccess) {
    char text[256];
    (void)snprintf(text, sizeof text, "CUDA: the training kernel failed: %s (error %d)", cudaGetErrorString(error),
                   (int)error);
    fail_trial(pool, lane, text);
    return TUTTI_OK;
  }
  enum tutti_status status = go_on(pool, lane);
  if (status == TUTTI_OK || status == TUTTI_ERROR_CANCELLED || !lane->trial)
    return status;
  (void)cudaStreamSynchronize(lane->stream);
  fail_trial(pool, lane, tutti_error_message(pool->context));
  tutti_error_clear(pool->context);
  return TUTTI_OK;
}

static uint32_t epoch_of_first(const struct trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++)
    if (pool->lanes[i].trial)
      return pool->lanes[i].trial->epoch.epoch;
  return 1;
}

static enum tutti_status run_lanes(struct trials *pool) {
  const struct timespec pause = {.tv_nsec = 20 * 1000};
  while (pool->next < pool->count || any_trial(pool)) {
    bool idle = true, waits = false;
    if (tutti_cancelled(pool->context))
      return TUTTI_FAIL(pool->context, TUTTI_ERROR_CANCELLED, "training was cancelled in epoch %u",
                        epoch_of_first(pool));
    for (size_t i = 0; i < STREAM_LANES; i++) {
      struct lane *lane = &pool->lanes[i];
      bool busy = true;
      if (lane->trial)
        TUTTI_TRY(pool->context, attend_lane(pool, lane, &busy));
      else if (pool->next < pool->count && !waits)
        TUTTI_TRY(pool->context, begin_next(pool, lane, &waits));
      idle = idle && busy;
    }
    if (idle)
      (void)nanosleep(&pause, NULL);
  }
  return TUTTI_OK;
}

static void close_lanes(struct trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++) {
    struct lane *lane = &pool->lanes[i];
    if (lane->stream)
      (void)cudaStreamSynchronize(lane->stream);
    release_trial(lane->trial);
    backend_cuda_library_close(lane->library);
    if (lane->stream)
      (void)cudaStreamDestroy(lane->stream);
  }
  backend_cuda_data_release(&pool->data);
}

bool backend_cuda_stream_is_built(void) { return true; }

enum tutti_status backend_cuda_images_train_many(tutti_context *context, const struct cuda_device *device, size_t count,
                                                 const struct tutti_job *const *jobs,
                                                 struct tutti_outcome *const *outcomes,
                                                 void (*done)(void *argument, size_t index), void *argument) {
  struct trials *pool = NULL;
  enum tutti_status status;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *pool, &pool));
  *pool = (struct trials){.context = context,
                          .device = device,
                          .count = count,
                          .jobs = jobs,
                          .outcomes = outcomes,
                          .done = done,
                          .argument = argument};
  for (size_t i = 0; i < count; i++) {
    outcomes[i]->weights = NULL;
    outcomes[i]->epochs = outcomes[i]->best_epoch = 0;
    outcomes[i]->steps = 0;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * count, sizeof *pool->data.splits, &pool->data.splits));
  TUTTI_TRY_OUT(context, run_lanes(pool));
out:
  close_lanes(pool);
  tutti_free(pool);
  return status;
}

/* --- what a job needs --- */

enum tutti_status backend_cuda_images_need(tutti_context *context, const struct cuda_device *device,
                                           const struct tutti_job *job, size_t *bytes) {
  struct trials pool = {.context = context, .device = device};
  struct trial trial = {.job = *job, .config = job->config};
  struct stream_library *library = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, backend_cuda_library_open(context, NULL, &library));
  TUTTI_TRY_OUT(context, lower_trial(context, library, &trial));
  *bytes = trial_need(&pool, &trial);
out:
  backend_cuda_library_close(library);
  backend_cuda_stream_release(&trial.program);
  return status;
}
