/* train-mlp.c - training throughput of backend cpu:
   train-mlp [--wall] [--bfloat16] [--seconds S] [WIDTH LAYERS BATCH]...

   The work is that of train_mlp_torch.py: Gaussian negative log-likelihood with a variance by softplus, Adam 1e-3,
   [36000][9] synthetic rows, shuffled mini-batches, float32 or, with --bfloat16, precision = bfloat16. One line a
   configuration: width layers batch steps/s samples/s GFLOP/s share-of-peak. FLOPs are counted as 6 a weight and row
   (forward, and twice that backward); the peak is that of a loop of fused multiply-adds in registers, measured around
   each configuration. Seconds are the processor's, which a busy machine does not stretch; with --wall, the wall
   clock's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_impl.h"
#include "bench.h"

/* --- the work --- */

enum { ROWS = 36000, FEATURES = 9 };

struct watch {
  clockid_t clock;
  double limit, begin, end; /* seconds; from the end of the first epoch to that of the last */
  uint64_t begin_steps, steps;
};

static bool watch_epoch(void *argument, const struct tutti_epoch *epoch) {
  struct watch *watch = argument;
  watch->end = bench_seconds(watch->clock);
  watch->steps = epoch->steps;
  if (epoch->epoch == 1) {
    watch->begin = watch->end;
    watch->begin_steps = watch->steps;
  }
  return epoch->epoch < 2 || watch->end - watch->begin < watch->limit;
}

static enum tutti_status make_rows(tutti_context *context, const struct tutti_task *task, tutti_split **split) {
  float *x = NULL, *y = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, ROWS * FEATURES, sizeof *x, &x));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ROWS, sizeof *y, &y));
  struct tutti_random random;
  tutti_random_init(&random, 0, "rows", 0);
  tutti_random_fill_normal(&random, ROWS * FEATURES, 0, 1, x);
  for (size_t r = 0; r < ROWS; r++) {
    float sum = 0;
    for (size_t f = 0; f < FEATURES; f++)
      sum += x[r * FEATURES + f];
    y[r] = sinf(sum) + 0.1f * (float)tutti_random_normal(&random);
  }
  TUTTI_TRY_OUT(context, tutti_split_create(context, "train", ROWS, task->input, 1, x, y, NULL, split));
out:
  tutti_free(x);
  tutti_free(y);
  return status;
}

static enum tutti_status run(tutti_context *context, const struct tutti_task *task, const tutti_split *rows,
                             const int work[3], clockid_t clock, int precision, double seconds) {
  const struct cpu_config config = {.epochs = 1000000,
                                    .batch_size = work[2],
                                    .optimiser = CPU_ADAM,
                                    .learning_rate = 1e-3,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-7,
                                    .precision = precision};
  struct watch watch = {.clock = clock, .limit = seconds};
  struct tutti_outcome outcome = {.size = sizeof outcome};
  tutti_network *network = NULL;
  uint32_t layer = 0;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &network));
  for (int l = 0; l < work[1]; l++)
    TUTTI_TRY_OUT(context,
                  tutti_network_add_dense(context, network, NULL, layer, work[0], TUTTI_ACTIVATION_RELU, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, network, layer, task));
  struct tutti_job job = {.size = sizeof job,
                          .run_seed = 1,
                          .seed = 1,
                          .task = task,
                          .network = network,
                          .config = &config,
                          .train = rows,
                          .progress = watch_epoch,
                          .progress_argument = &watch};
  double peak = bench_peak(clock);
  TUTTI_TRY_OUT(context, backend_cpu_train(context, backend_cpu_kernels(tutti_cpu_detect()), &job, &outcome));
  double after = bench_peak(clock);
  peak = after > peak ? after : peak;
  double steps = (double)(watch.steps - watch.begin_steps) / (watch.end - watch.begin);
  double rate = steps * 3e-9 * tutti_network_flops(network) * work[2];
  printf("%d %d %d %.0f %.0f %.1f %.2f\n", work[0], work[1], work[2], steps, steps * work[2], rate, rate / peak);
  (void)fflush(stdout);
out:
  tutti_tensors_destroy(outcome.weights);
  tutti_network_destroy(network);
  return status;
}

int main(int count, char **arguments) {
  static const int standard[][3] = {{50, 1, 100}, {64, 3, 32}, {128, 5, 100}, {256, 5, 256}, {96, 5, 8}};
  clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
  int precision = CPU_FLOAT32;
  double seconds = 1;
  int at = 1;
  if (at < count && strcmp(arguments[at], "--wall") == 0) {
    clock = CLOCK_MONOTONIC;
    at++;
  }
  if (at < count && strcmp(arguments[at], "--bfloat16") == 0) {
    precision = CPU_BFLOAT16;
    at++;
  }
  if (at + 1 < count && strcmp(arguments[at], "--seconds") == 0) {
    seconds = atof(arguments[at + 1]);
    at += 2;
  }
  tutti_context *context;
  tutti_split *rows = NULL;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  struct tutti_task task = {.size = sizeof task,
                            .kind = TUTTI_TASK_REGRESSION,
                            .input = {1, 1, FEATURES},
                            .outputs = 1,
                            .train_rows = ROWS,
                            .head = TUTTI_OP_HEAD_GAUSSIAN,
                            .head_attributes = TUTTI_ATTRIBUTES({"scale", 1}, {"floor", 1e-6}, {"variance", true})};
  enum tutti_status status = make_rows(context, &task, &rows);
  if (at + 2 < count)
    for (; status == TUTTI_OK && at + 2 < count; at += 3)
      status = run(context, &task, rows,
                   (const int[3]){atoi(arguments[at]), atoi(arguments[at + 1]), atoi(arguments[at + 2])}, clock,
                   precision, seconds);
  else
    for (size_t i = 0; status == TUTTI_OK && i < sizeof standard / sizeof *standard; i++)
      status = run(context, &task, rows, standard[i], clock, precision, seconds);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_split_destroy(rows);
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
