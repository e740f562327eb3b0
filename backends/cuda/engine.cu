/* engine.cu - the block engine: one thread block trains one network, from its first epoch to its last. The host gives
   each block one job after the other, so a grid trains networks of all shapes, batch sizes and optimisers at once, and
   none waits for another.
   The last warp of a block shuffles the rows of the next epoch while the others train. See docs/backend-cuda.md. */
#include "engine_impl.h"

#include "head.cuh"
#include "step.cuh"

static_assert(sizeof(struct state) <= CUDA_STATE_FLOATS * sizeof(float), "the state has its place");

/* The number of steps between two looks at the cancel flag, which lies in the host's memory. */
enum { CANCEL_STEPS = 100 };
/* Nanoseconds between two looks at the host's memory by a block that has nothing to do: a device's longest sleep is a
   millisecond. */
enum { LONGEST_PAUSE = 256000 };

/* --- talking to the host --- */

/* Tell what an epoch came to, and wait for the answer, if somebody wants to know; or what the job came to. By one
   thread. */
CUDA_PHASE uint32_t tell(const struct cuda_job &job, const struct cuda_report &what) {
  volatile struct cuda_report *report = job.report;
  volatile struct cuda_answer *answer = job.answer;
  const uint32_t number = report->number + 1;
  if (what.end == CUDA_GOES_ON && !job.asks)
    return CUDA_GO_ON;
  report->end = what.end;
  report->epoch = what.epoch;
  report->best_epoch = what.best_epoch;
  report->steps = what.steps;
  report->learning_rate = what.learning_rate;
  report->train_loss = what.train_loss;
  report->validation_loss = what.validation_loss;
  report->value = what.value;
  __threadfence_system();
  report->number = number;
  if (what.end != CUDA_GOES_ON)
    return CUDA_GO_ON;
  while (answer->number != number)
    __nanosleep(500);
  __threadfence_system();
  return answer->command;
}

/* --- an epoch --- */

CUDA_PHASE void copy_numbers(const float *from, uint32_t count, float *to) {
  each_with<8>(
      count, [=](uint32_t i) { return from[i]; }, [=](uint32_t i, float x) { to[i] = x; });
}

CUDA_PHASE bool keeps_measured(const struct cuda_job &job) {
  return backend_cpu_keeps_measured(&job.config, job.train.rows, job.batch, job.validation.rows > 0);
}

struct epoch {
  uint32_t number;
  const uint32_t *order;
  double rate;
};

/* Train on all rows once. The mean loss, or NaN once a step's was not finite (s->end says so, s->value what it was). */
CUDA_PHASE double run_epoch(const struct block &b, const struct cuda_job &job, const struct epoch &epoch) {
  struct state *s = b.state;
  struct pass pass = {true, true, false, job.drop_key, 0, (double)(epoch.number - 1) / (double)job.config.epochs};
  double total = 0;
  for (uint32_t begin = 0, step = 0; begin < job.train.rows; begin += job.batch, step++) {
    const uint32_t rows = job.train.rows - begin < job.batch ? job.train.rows - begin : job.batch;
    pass.step = s->steps;
    if (step % CANCEL_STEPS == 0) {
      if (threadIdx.x == 0 && ((volatile struct cuda_answer *)job.answer)->cancel)
        s->end = CUDA_CANCELLED;
      meet();
      if (s->end != CUDA_GOES_ON)
        return 0;
    }
    gather(b, job.train, epoch.order, begin, rows);
    if (b.artificial > 0)
      set_artificial(b, job, rows, pass.step);
    forward(b, job.node_count, rows + b.artificial, pass);
    const double loss = loss_of(b, job.node_count, job.train, epoch.order, begin, rows, true);
    if (!isfinite(loss)) {
      if (threadIdx.x == 0) {
        s->end = CUDA_LOSS_DIVERGED;
        s->value = loss;
      }
      meet();
      return 0;
    }
    total += loss * (double)rows;
    if (keeps_measured(job) && total / (double)job.train.rows < s->watch.best_loss)
      copy_numbers(b.weights, job.floats, job.kept);
    backward(b, job.node_count, rows + b.artificial);
    step_on(b, job, epoch.rate);
  }
  return total / (double)job.train.rows;
}

CUDA_PHASE double validate(const struct block &b, const struct cuda_job &job) {
  const struct pass pass = {false, false, false, 0, 0, 1};
  double total = 0;
  for (uint32_t begin = 0; begin < job.validation.rows; begin += job.most) {
    const uint32_t rows = job.validation.rows - begin < job.most ? job.validation.rows - begin : job.most;
    gather(b, job.validation, NULL, begin, rows);
    forward(b, job.node_count, rows, pass);
    total += loss_of(b, job.node_count, job.validation, NULL, begin, rows, false) * (double)rows;
  }
  return total / (double)job.validation.rows;
}

/* Take the weights into their average over `count` epochs, and measure batch norms with that over all rows
   (backends/cpu/average.c). mean: the block with the average for its weights, which are read after the next meeting. */
CUDA_PHASE void take_average(const struct block &b, const struct block &mean, const struct cuda_job &job,
                             uint32_t count) {
  const float share = 1 / (float)count;
  each(count == 1 ? job.floats : job.trained, [&](uint32_t i) {
    const float now = b.weights[i], before = mean.weights[i];
    mean.weights[i] = count == 1 ? now : before + share * (now - before);
  });
  for (uint32_t begin = 0; job.measures && begin < job.train.rows; begin += job.batch) {
    const uint32_t rows = job.train.rows - begin < job.batch ? job.train.rows - begin : job.batch;
    gather(mean, job.train, NULL, begin, rows);
    forward(mean, job.node_count, rows, {true, false, false, 0, 0, 1, (float)rows / (float)(begin + rows)});
  }
}

/* The end of an epoch: which weights to keep, and whether to go on. By one thread. */
CUDA_PHASE void judge(const struct cuda_job &job, struct state *s, struct cuda_report &report) {
  const bool validates = job.validation.rows > 0;
  const double watched = validates ? report.validation_loss : report.train_loss;
  s->keep = 0;
  if (!isfinite(watched)) {
    s->end = CUDA_EPOCH_DIVERGED;
    s->value = watched;
    return;
  }
  bool keep;
  const bool go_on = backend_cpu_watch(&job.config, &s->watch, report.epoch, watched, &keep);
  s->keep = keep;
  report.best_epoch = s->watch.best_epoch;
  const uint32_t command = tell(job, report);
  s->end = command == CUDA_STOP                                    ? CUDA_STOPPED
           : command == CUDA_CANCEL                                ? CUDA_CANCELLED
           : !go_on || report.epoch == (uint32_t)job.config.epochs ? CUDA_FINISHED
                                                                   : CUDA_GOES_ON;
}

/* --- a job --- */

/* What it writes is read after the next meeting. */
CUDA_PHASE void begin_job(const struct block &b, const struct cuda_job &job) {
  float *first = at(b, job.first), *second = at(b, job.second);
  const float start = start_of(job.config);
  const float *kept = job.kept;
  float *weights = b.weights, *gradients = b.gradients;
  each_with<8>(
      job.floats, [=](uint32_t i) { return kept[i]; },
      [=](uint32_t i, float weight) {
        weights[i] = weight;
        gradients[i] = 0;
        first[i] = 0;
        second[i] = start;
      });
  if (threadIdx.x == 0) {
    struct state *s = b.state;
    s->watch = backend_cpu_watch_begin(&job.config);
    s->steps = 0;
    for (int i = 0; i < CPU_OWN; i++)
      s->own[i] = 0;
    s->end = CUDA_GOES_ON;
    s->stop[0] = s->stop[1] = 0;
  }
}

/* The gradient of all rows, without dropout. */
CUDA_PHASE void differentiate(const struct block &b, const struct cuda_job &job) {
  const struct pass pass = {true, false, false, 0, 0, 1};
  const uint32_t all = job.train.rows + b.artificial;
  begin_job(b, job);
  gather(b, job.train, NULL, 0, job.train.rows);
  if (b.artificial > 0)
    set_artificial(b, job, job.train.rows, 0);
  forward(b, job.node_count, all, pass);
  const double loss = loss_of(b, job.node_count, job.train, NULL, 0, job.train.rows, true);
  backward(b, job.node_count, all);
  copy_numbers(b.gradients, job.floats, job.result);
  if (threadIdx.x == 0)
    b.state->loss = loss;
  __threadfence_system();
  meet();
  if (threadIdx.x == 0)
    tell(job, {0, 0, CUDA_FINISHED, 1, 1, 0, 0, loss, 0, 0});
}

/* The threads that compute. Between two meetings of the whole block they use one order of the rows, and the last warp
   makes the next. */
CUDA_PHASE void train(const struct block &b, const struct cuda_job &job) {
  struct state *s = b.state;
  const uint32_t averaged = backend_cpu_first_averaged(&job.config);
  struct cuda_report report = {};
  const struct block &mean = s->mean;
  if (threadIdx.x == 0) {
    s->mean = b;
    s->mean.weights = job.average;
    s->mean.weights_shared = false;
  }
  begin_job(b, job);
  do {
    report.epoch++;
    __syncthreads();
    const struct epoch epoch = {report.epoch, job.order + (size_t)(report.epoch % 2) * job.train.rows,
                                backend_cpu_epoch_rate(&job.config, s->watch.rate, report.epoch)};
    report.learning_rate = epoch.rate;
    report.train_loss = run_epoch(b, job, epoch);
    if (s->end == CUDA_GOES_ON) {
      const struct block &told = report.epoch < averaged ? b : mean;
      if (report.epoch >= averaged)
        take_average(b, mean, job, report.epoch - averaged + 1);
      report.validation_loss = job.validation.rows > 0 ? validate(told, job) : (double)__int_as_float(0x7fc00000);
      report.steps = s->steps;
      meet();
      if (threadIdx.x == 0)
        judge(job, s, report);
      meet();
      if (s->keep && !keeps_measured(job))
        copy_numbers(told.weights, job.floats, job.kept);
    }
    report.steps = s->steps;
  } while (s->end == CUDA_GOES_ON);
  report.end = s->end;
  report.best_epoch = s->watch.best_epoch;
  report.value = s->value;
  meet();
  if (report.end == CUDA_FINISHED || report.end == CUDA_STOPPED) {
    const double squares =
        sum_over(b, job.floats, [&](uint32_t i) { return (double)b.weights[i] * (double)b.weights[i]; });
    if (!isfinite(squares)) {
      report.end = CUDA_WEIGHTS_DIVERGED;
      report.value = squares;
    }
  }
  if (report.end == CUDA_FINISHED || report.end == CUDA_STOPPED)
    copy_numbers(job.kept, job.floats, job.result);
  if (threadIdx.x == 0)
    s->stop[(report.epoch + 1) % 2] = 1;
  __threadfence_system();
  __syncthreads(); /* the meeting at which the last warp finds this, and ends */
  if (threadIdx.x == 0)
    tell(job, report);
}

/* The last warp: rows in the order of backends/cpu/training.c, one epoch ahead. */
CUDA_PHASE void draw_orders(const struct block &b, const struct cuda_job &job) {
  for (uint32_t epoch = 1;; epoch++) { /* which is also the number of the meeting */
    uint32_t *order = job.order + (size_t)(epoch % 2) * job.train.rows;
    if (threadIdx.x == CUDA_WORKERS && epoch <= (uint32_t)job.config.epochs) {
      for (uint32_t i = 0; i < job.train.rows; i++)
        order[i] = i;
      struct tutti_random random = {};
      random.key[0] = job.order_key[0];
      random.key[1] = job.order_key[1];
      random.counter[2] = epoch;
      random.used = 4;
      if (job.batch < job.train.rows)
        random_shuffle(&random, job.train.rows, order);
    }
    __syncthreads();
    if (b.state->stop[epoch % 2])
      return;
  }
}

/* --- kernels --- */

/* The block of this kernel, by one thread. */
CPU_INLINE struct block *begin_block(float4 *shared, float *memory, uint32_t outputs) {
  struct state *s = (struct state *)shared;
  s->block = {};
  s->block.state = s;
  s->block.shared = (float *)shared + CUDA_STATE_FLOATS;
  s->block.memory = memory;
  s->block.outputs = outputs;
  return &s->block;
}

/* A place of the block's shared memory, from its beginning. */
CPU_INLINE uint32_t within_shared(struct cuda_place place) {
  return place.at == CUDA_NOWHERE ? CUDA_NOWHERE : CUDA_STATE_FLOATS + place.at;
}

/* Rows [begin, begin + rows), by this pass. */
CUDA_PHASE void predict_as(const struct block &b, const struct cuda_prediction &p, const struct pass &pass,
                           uint32_t begin, uint32_t rows, float *out, float *epistemic) {
  gather(b, p.rows, NULL, begin, rows);
  forward(b, p.node_count, rows, pass);
  predict_rows(b, p, rows, out + (size_t)begin * p.width, epistemic + (size_t)begin * p.parts);
  meet();
}

/* The mixture of draws of dropout. */
CUDA_PHASE void predict_mixture(const struct block &b, const struct cuda_prediction &p, uint32_t begin, uint32_t rows) {
  each(rows * p.outputs, [&](uint32_t i) { p.mixed[(size_t)begin * p.outputs + i] = {0, 0, 0, 0}; });
  for (uint32_t draw = 0; draw < p.draws; draw++) {
    predict_as(b, p, {false, true, true, p.keys[draw], 0, 1}, begin, rows, p.one, p.part);
    mix_rows(p, draw, begin, rows);
    meet();
  }
  end_mixture(p, begin, rows);
  meet();
}

/* By one thread. */
CUDA_PHASE void begin_prediction(float4 *shared, const struct cuda_prediction &p, float *memory) {
  struct block *b = begin_block(shared, memory, p.outputs);
  b->nodes = p.nodes;
  b->edges = p.edges;
  b->stage = within_shared(p.stage);
  b->weights = p.weights;
  b->thin = false; /* any block may predict, with a stage or without one, and the bits are the same */
  b->head = &p.head;
}

/* By one thread. */
CUDA_PHASE void begin_training(float4 *shared, const struct cuda_job &job) {
  struct block *b = begin_block(shared, job.memory, job.outputs);
  b->nodes = job.nodes;
  b->edges = job.edges;
  b->stage = within_shared(job.stage);
  b->weights = at(*b, job.weights);
  b->weights_shared = job.weights.shared;
  b->thin = true;
  b->gradients = at(*b, job.gradients);
  b->head = &job.head;
  b->artificial = job.artificial;
  b->class_weights = job.class_weights;
  b->label_smoothing = (float)job.config.label_smoothing;
  b->tensor = job.config.precision == CPU_TF32; /* predictions come without parameters: float32 */
}

/* All rows, some of them by this block, which is one of p.blocks. */
CUDA_PHASE void predict_all(const struct block &b, const struct cuda_prediction &p, uint32_t number) {
  for (uint32_t begin = number * p.most; begin < p.rows.rows; begin += p.blocks * p.most) {
    const uint32_t rows = p.rows.rows - begin < p.most ? p.rows.rows - begin : p.most;
    if (p.draws > 0)
      predict_mixture(b, p, begin, rows);
    else
      predict_as(b, p, {false, false, false, 0, 0, 1}, begin, rows, p.out, p.epistemic);
  }
}

template <typename T> CPU_INLINE T *moved(T *what, const void *from, void *to) {
  return (T *)((char *)to + ((const char *)what - (const char *)from));
}

/* A job that has a place in shared memory, with its nodes, edges and segments. */
CUDA_PHASE const struct cuda_job *bring_program(const struct cuda_job *job, float4 *shared) {
  if (job->program.at == CUDA_NOWHERE)
    return job;
  float4 *to = shared + within_shared(job->program) / 4;
  const float4 *from = (const float4 *)job;
  for (uint32_t i = threadIdx.x; i < job->program_bytes / sizeof *to; i += blockDim.x)
    to[i] = from[i];
  __syncthreads();
  struct cuda_job *here = (struct cuda_job *)to;
  if (threadIdx.x == 0) {
    here->nodes = moved(here->nodes, job, to);
    here->edges = moved(here->edges, job, to);
    here->segments = moved(here->segments, job, to);
  }
  __syncthreads();
  return here;
}

/* Wait for what the host gives, and copy it from its memory. NULL: the end. Who waits for long looks more seldom: many
   blocks that look into the host's memory slow down those that work. */
CUDA_PHASE const struct cuda_job *next_job(struct state *s, struct cuda_mail *mail, uint32_t number) {
  if (threadIdx.x == 0) {
    const volatile struct cuda_mail *box = mail;
    for (uint32_t pause = 2000; box->number != number; pause = pause < LONGEST_PAUSE ? 2 * pause : pause)
      __nanosleep(pause);
    __threadfence_system();
    s->mail = *mail;
  }
  __syncthreads();
  const struct cuda_mail given = s->mail;
  if (given.bytes == 0)
    return NULL;
  float4 *to = (float4 *)given.memory;
  for (uint32_t i = threadIdx.x; i < given.bytes / sizeof *to; i += blockDim.x)
    to[i] = ((const float4 *)given.staged)[i];
  __syncthreads();
  const struct cuda_job *job = (const struct cuda_job *)given.memory;
  if (threadIdx.x == 0)
    ((volatile struct cuda_report *)job->report)->begun = 1;
  return bring_program(job, (float4 *)s);
}

/* By the threads that compute. */
CUDA_PHASE void predict_job(const struct block &b, const struct cuda_job &job) {
  predict_all(b, job.prediction, 0);
  __threadfence_system();
  meet();
  if (threadIdx.x == 0)
    tell(job, {0, 0, CUDA_FINISHED, 0, 0, 0, 0, 0, 0, 0});
}

static __global__ void __launch_bounds__(CUDA_MOST_WORKERS + CUDA_WARP, 2) train_jobs(struct cuda_mail *mail) {
  CUDA_SHARED(shared);
  for (uint32_t number = 1;; number++) {
    struct state *s = (struct state *)shared;
    const struct cuda_job *given = next_job(s, mail + blockIdx.x, number);
    if (!given)
      return;
    const struct cuda_job &job = *given;
    const struct block &b = s->block;
    const auto task = job.task;
    if (threadIdx.x == 0 && task == CUDA_PREDICT)
      begin_prediction(shared, job.prediction, job.prediction.memory);
    else if (threadIdx.x == 0)
      begin_training(shared, job);
    __syncthreads(); /* whoever ends the job first gives its memory away */
    if (task == CUDA_GRADIENT && threadIdx.x < CUDA_WORKERS)
      differentiate(b, job);
    else if (task == CUDA_PREDICT && threadIdx.x < CUDA_WORKERS)
      predict_job(b, job);
    else if (task == CUDA_TRAIN && threadIdx.x < CUDA_WORKERS)
      train(b, job);
    else if (task == CUDA_TRAIN)
      draw_orders(b, job);
    __syncthreads();
  }
}

static __global__ void __launch_bounds__(CUDA_MOST_WORKERS + CUDA_WARP, 2) predict_network(struct cuda_prediction p) {
  CUDA_SHARED(shared);
  if (threadIdx.x == 0)
    begin_prediction(shared, p, p.memory + (size_t)blockIdx.x * p.block_floats);
  __syncthreads();
  if (threadIdx.x < CUDA_WORKERS)
    predict_all(((struct state *)shared)->block, p, blockIdx.x);
}

/* --- launchers --- */

void backend_cuda_launch_train(void *stream, uint32_t blocks, uint32_t workers, uint32_t shared,
                               struct cuda_mail *mail) {
  CUDA_LAUNCH(train_jobs, blocks, workers + CUDA_WARP, shared, stream, mail);
}

void backend_cuda_launch_predict(void *stream, uint32_t blocks, uint32_t workers, uint32_t shared,
                                 const struct cuda_prediction *prediction) {
  const struct cuda_prediction p = *prediction;
  CUDA_LAUNCH(predict_network, blocks, workers + CUDA_WARP, shared, stream, p);
}

/* All grids split a multiprocessor's memory into shared memory and cache alike: a grid that wants another split could
   not begin beside one that is there. */
static cudaError_t allow_shared(const void *kernel, uint32_t bytes) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 (int)cudaSharedmemCarveoutMaxShared);
  return error;
}

int backend_cuda_allow_shared(uint32_t bytes) {
  cudaError_t error = allow_shared((const void *)train_jobs, bytes);
  return (int)(error == cudaSuccess ? allow_shared((const void *)predict_network, bytes) : error);
}

int backend_cuda_blocks(uint32_t workers, uint32_t shared, int *blocks) {
  return (int)cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)train_jobs,
                                                            (int)(workers + CUDA_WARP), shared);
}
