/* stream_trial.c - one network of images that trains: its memory, what is put there, and what it leaves. */
#include "stream_trials_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>

static size_t rows_in(const tutti_split *split) { return split ? tutti_split_rows(split) : 0; }

/* --- a program --- */

static void add_rows(uint32_t *counts, uint32_t *count, size_t rows) {
  for (uint32_t i = 0; i < *count; i++)
    if (counts[i] == rows)
      return;
  if (rows > 0)
    counts[(*count)++] = (uint32_t)rows;
}

static size_t features_of(const tutti_split *split) {
  struct tutti_shape shape = tutti_split_input(split);
  return (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
}

enum tutti_status backend_cuda_trial_lower(tutti_context *context, struct stream_library *library,
                                           struct stream_trial *trial) {
  const struct cpu_config *config = trial->config;
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
  const struct stream_purpose purpose = {.training = true,
                                         .averages = config->average > 0,
                                         .row_counts = counts,
                                         .row_count_count = count,
                                         .order = rows,
                                         .staging = trial->augments ? trial->batch * features_of(trial->job.train) : 0};
  return backend_cuda_stream_lower(context, library, &trial->job, &purpose, &trial->program);
}

/* --- memory --- */

size_t backend_cuda_trial_need(const struct cuda_shelf *data, const struct stream_trial *trial) {
  const struct cuda_selection train = backend_cuda_whole(trial->job.train),
                              validation = backend_cuda_whole(trial->job.validation);
  return trial->program.bytes + 4096 + backend_cuda_rows_missing(data, &train) +
         backend_cuda_rows_missing(data, &validation);
}

/* The host's part: bytes from its beginning. */
struct staging {
  size_t order, back, images, bytes; /* the report is first */
};

static size_t whole_lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

static struct staging staging_of(const struct stream_trial *trial) {
  size_t images = trial->augments ? STREAM_STEPS_AHEAD * trial->batch * features_of(trial->job.train) : 0;
  struct staging s;
  s.order = whole_lines(sizeof(struct stream_state));
  s.back = s.order + whole_lines(rows_in(trial->job.train) * sizeof(uint32_t));
  s.images = s.back + whole_lines(2 * trial->program.plan->floats * sizeof(float));
  s.bytes = s.images + whole_lines(images * sizeof(float));
  return s;
}

static enum tutti_status take_memory(tutti_context *context, struct stream_memory *memory, cudaStream_t stream,
                                     struct stream_trial *trial) {
  const struct cuda_selection train = backend_cuda_whole(trial->job.train),
                              validation = backend_cuda_whole(trial->job.validation);
  struct staging s = staging_of(trial);
  TUTTI_TRY(context, backend_cuda_arena_take(context, &memory->device, trial->program.bytes, &trial->memory));
  TUTTI_TRY(context,
            backend_cuda_rows_use(context, &memory->data, &memory->device, &train, stream, &trial->train_rows));
  trial->train.rows = trial->train_rows->rows;
  if (validation.span.count > 0) {
    TUTTI_TRY(context, backend_cuda_rows_use(context, &memory->data, &memory->device, &validation, stream,
                                             &trial->validation_rows));
    trial->validation.rows = trial->validation_rows->rows;
  }
  TUTTI_TRY(context, backend_cuda_arena_take(context, &memory->host, s.bytes, &trial->staged));
  char *staged = trial->staged->at;
  trial->run.memory = (float *)(void *)trial->memory->device;
  trial->report = (struct stream_state *)(void *)staged;
  trial->order = (uint32_t *)(void *)(staged + s.order);
  trial->back = (float *)(void *)(staged + s.back);
  trial->images = trial->augments ? (float *)(void *)(staged + s.images) : NULL;
  return TUTTI_OK;
}

void backend_cuda_trial_unload(struct stream_memory *memory, struct stream_trial *trial) {
  for (size_t i = 0; i < (size_t)STREAM_SERIES * 2; i++) {
    struct stream_series *series = &trial->series[i / 2][i % 2];
    if (series->graph)
      (void)cudaGraphExecDestroy(series->graph);
    *series = (struct stream_series){0};
  }
  backend_cuda_rows_leave(&memory->data, &memory->device, trial->train_rows);
  backend_cuda_rows_leave(&memory->data, &memory->device, trial->validation_rows);
  backend_cuda_arena_give(&memory->device, trial->memory);
  backend_cuda_arena_give(&memory->host, trial->staged);
  trial->train_rows = trial->validation_rows = NULL;
  trial->memory = trial->staged = NULL;
}

void backend_cuda_trial_destroy(struct stream_trial *trial) {
  if (!trial)
    return;
  backend_cuda_stream_release(&trial->program);
  tutti_free(trial);
}

/* --- beginning --- */

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

static void set_draws(struct stream_trial *trial) {
  struct tutti_random dropout;
  tutti_random_init(&dropout, trial->job.seed, "dropout", 0);
  trial->run.drop_key = tutti_random_u64(&dropout);
  trial->augmentation = backend_cpu_augmentation(trial->config, &trial->job);
}

enum tutti_status backend_cuda_trial_load(tutti_context *context, const struct cuda_device *device,
                                          struct stream_memory *memory, const struct stream_lane *lane,
                                          struct stream_trial *trial) {
  struct stream_program *program = &trial->program;
  trial->began = tutti_clock();
  trial->phase = STREAM_BEGINS;
  trial->epoch = (struct tutti_epoch){.size = sizeof trial->epoch};
  trial->watch = backend_cpu_watch_begin(trial->config);
  trial->run = (struct stream_run){.context = context,
                                   .program = program,
                                   .library = lane->library,
                                   .place = backend_cuda_stream_place(device, lane->stream),
                                   .stream = lane->stream};
  set_draws(trial);
  TUTTI_TRY(context, take_memory(context, memory, lane->stream, trial));
  TUTTI_TRY(context, backend_cpu_weights_begin(context, program->plan, &trial->job));
  TUTTI_TRY(context, backend_cuda_library_lend(context, lane->library, trial->run.memory + program->products,
                                               STREAM_PRODUCT_BYTES, trial->run.memory + program->convolutions,
                                               program->convolution_bytes));
  trial->train.order = (const uint32_t *)(void *)(trial->run.memory + program->order);
  trial->train.state = trial->validation.state = (struct stream_state *)(void *)(trial->run.memory + program->state);
  trial->train.gathered = trial->augments;
  trial->train.label_smoothing = (float)trial->config->label_smoothing;
  if (trial->job.class_weights)
    trial->train.class_weights = (const double *)(void *)(trial->run.memory + program->class_weights);
  return backend_cuda_stream_load_program(&trial->run, &trial->job);
}

/* --- ends --- */

void backend_cuda_trial_fail(struct stream_trial *trial, const char *text) {
  trial->phase = STREAM_ENDED;
  trial->outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(trial->outcome->failure, sizeof trial->outcome->failure, "%s", text);
}

void backend_cuda_trial_diverge(struct stream_trial *trial, const char *what, double value) {
  trial->phase = STREAM_ENDED;
  backend_cpu_say_diverged(trial->config, &trial->epoch, what, value, trial->outcome);
  trial->outcome->state = TUTTI_STATE_FAILED;
}

static double sum_of_squares(const float *x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (double)x[i] * (double)x[i];
  return sum;
}

enum tutti_status backend_cuda_trial_finish(struct stream_trial *trial, enum tutti_state state) {
  struct stream_run *run = &trial->run;
  tutti_context *context = run->context;
  size_t floats = trial->program.plan->floats, bytes = floats * sizeof(float);
  CUDA_TRY(context, cudaMemcpyAsync(trial->back, run->memory + trial->program.weights, bytes, cudaMemcpyDeviceToHost,
                                    run->stream));
  CUDA_TRY(context, cudaMemcpyAsync(trial->back + floats, run->memory + trial->program.kept, bytes,
                                    cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY(context, cudaStreamSynchronize(run->stream));
  trial->outcome->best_epoch = trial->watch.best_epoch;
  double squares = sum_of_squares(trial->back, floats); /* a later step's loss would tell */
  if (!isfinite(squares)) {
    backend_cuda_trial_diverge(trial, "the sum of squared weights", squares);
    return TUTTI_OK;
  }
  trial->outcome->state = state;
  trial->phase = STREAM_ENDED;
  return backend_cpu_weights_write(context, trial->program.plan, trial->back + floats, false, &trial->outcome->weights);
}
