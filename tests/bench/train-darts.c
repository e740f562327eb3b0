/* train-darts.c - a training step of networks of DARTS cells in backend cpu.

   train-darts [--cells N] [--channels N] [--size N] [--inputs N] [--batch N] [--seconds S] [--half] [--bfloat16]
               [--wall] [--breakdown] [GENOTYPE]...

   A genotype is 16 edges "input:op", separated by commas: 8 of the normal cell, two for each of its four nodes, then 8
   of the reduction cell; ops are max3, avg3, skip, sep3, sep5, dil3, dil5. Without any, four are drawn. The networks
   are those of train_darts_torch.py: a stem of 3 x channels, reductions at a third and two thirds, a mean over all
   pixels, 10 classes; SGD with momentum and weight decay, cross-entropy. One line a genotype: its number, parameters,
   MiB of the step's memory, milliseconds a step, and the share of the core's peak of multiply-adds; then the losses of
   the first and the last step. --half: values between layers in 16 bits (storage = half). --bfloat16: products of
   numbers rounded to bfloat16 (precision = bfloat16). --breakdown: time by op, each with the arithmetic and the traffic
   that it cannot do without, as shares of what the core can do
   (breakdown.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_impl.h"
#include "breakdown.h"
#include "darts.h"

/* --- settings --- */

struct setting {
  int cells, channels, size, inputs, batch;
  double seconds;
  bool half, bfloat, wall, breakdown;
};

/* --- steps --- */

static double step(struct cpu_plan *plan, struct cpu_stepper *stepper, struct cpu_draws *draws, size_t rows,
                   struct breakdown *breakdown) {
  for (size_t i = 0; i < plan->node_count; i++) {
    breakdown_begin(breakdown);
    backend_cpu_forward_node(plan, i, rows, draws);
    breakdown_end(breakdown, plan, i, rows, false);
  }
  double loss = backend_cpu_loss(plan, rows, true);
  for (size_t i = plan->node_count; i-- > 0;) {
    breakdown_begin(breakdown);
    backend_cpu_backward_node(plan, i, rows);
    breakdown_end(breakdown, plan, i, rows, true);
  }
  breakdown_begin(breakdown);
  backend_cpu_step(stepper, 0.025, plan->weights);
  breakdown_end_step(breakdown, plan);
  draws->step = stepper->steps;
  return loss;
}

static enum tutti_status run(tutti_context *context, const struct setting *s, const struct tutti_task *task,
                             const tutti_split *split, const struct darts_genotype *genotype, size_t index) {
  const struct cpu_config config = {.optimiser = CPU_SGD,
                                    .learning_rate = 0.025,
                                    .momentum = 0.9,
                                    .l2 = 1.5e-4,
                                    .storage = s->half ? CPU_STORAGE_HALF : CPU_STORAGE_FLOAT,
                                    .precision = s->bfloat ? CPU_BFLOAT16 : CPU_FLOAT32};
  clockid_t clock = s->wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
  struct breakdown *breakdown = NULL;
  tutti_network *network = NULL;
  struct cpu_plan *plan = NULL;
  struct cpu_stepper *stepper = NULL;
  uint32_t *rows = NULL;
  enum tutti_status status;
  unsigned kept = backend_cpu_enter();
  size_t batch = (size_t)s->batch, steps = 0;
  TUTTI_TRY_OUT(context, darts_network(context, s->cells, s->channels, task, genotype, &network));
  const struct tutti_job job = {.size = sizeof job, .task = task, .network = network, .config = &config};
  TUTTI_TRY_OUT(context,
                backend_cpu_plan_create_job(context, backend_cpu_kernels(tutti_cpu_detect()), &job, batch, &plan));
  backend_cpu_weights_draw(plan, &config, index);
  backend_cpu_decays(plan, &config);
  TUTTI_TRY_OUT(context, backend_cpu_stepper_create(context, plan, &config, &stepper));
  TUTTI_TRY_OUT(context, tutti_alloc(context, batch, sizeof *rows, &rows));
  for (size_t i = 0; i < batch; i++)
    rows[i] = (uint32_t)i;
  if (s->breakdown)
    TUTTI_TRY_OUT(context, breakdown_create(context, &breakdown));
  struct cpu_draws draws = {.drop = true};
  double peak = bench_peak(clock);
  backend_cpu_gather(plan, split, batch, rows, NULL, true);
  double first = step(plan, stepper, &draws, batch, NULL), last = first, begin = bench_seconds(clock), end;
  do {
    backend_cpu_gather(plan, split, batch, rows, NULL, true);
    last = step(plan, stepper, &draws, batch, breakdown);
    steps++;
    end = bench_seconds(clock);
  } while (end - begin < s->seconds);
  double took = (end - begin) / (double)steps, flops = 3 * tutti_network_flops(network) * (double)batch;
  printf("%zu %zu %zu %.1f %.2f %.3f %.3f\n", index, tutti_network_parameters(network), plan->bytes >> 20, 1e3 * took,
         1e-9 * flops / took / peak, first, last);
  if (breakdown)
    breakdown_print(breakdown, steps, peak);
  (void)fflush(stdout);
out:
  breakdown_destroy(breakdown);
  tutti_free(rows);
  backend_cpu_stepper_destroy(stepper);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
  backend_cpu_leave(kept);
  return status;
}

static enum tutti_status make_rows(tutti_context *context, const struct setting *s, const struct tutti_task *task,
                                   tutti_split **split) {
  size_t numbers = (size_t)s->size * (size_t)s->size * (size_t)s->inputs, batch = (size_t)s->batch;
  float *x = NULL;
  int32_t *labels = NULL;
  enum tutti_status status;
  struct tutti_random random;
  TUTTI_TRY_OUT(context, tutti_alloc(context, batch * numbers, sizeof *x, &x));
  TUTTI_TRY_OUT(context, tutti_alloc(context, batch, sizeof *labels, &labels));
  tutti_random_init(&random, 0, "rows", 0);
  tutti_random_fill_normal(&random, batch * numbers, 0, 1, x);
  for (size_t r = 0; r < batch; r++)
    labels[r] = (int32_t)tutti_random_below(&random, 10);
  TUTTI_TRY_OUT(context, tutti_split_create(context, "train", batch, task->input, 10, x, NULL, labels, split));
out:
  tutti_free(x);
  tutti_free(labels);
  return status;
}

/* --- the command line --- */

static int parse(int count, char **arguments, struct setting *s) {
  const struct {
    const char *name;
    int *value;
  } numbers[] = {{"--cells", &s->cells},
                 {"--channels", &s->channels},
                 {"--size", &s->size},
                 {"--inputs", &s->inputs},
                 {"--batch", &s->batch}};
  int at = 1;
  for (; at < count && strncmp(arguments[at], "--", 2) == 0; at++) {
    if (strcmp(arguments[at], "--wall") == 0)
      s->wall = true;
    else if (strcmp(arguments[at], "--half") == 0)
      s->half = true;
    else if (strcmp(arguments[at], "--bfloat16") == 0)
      s->bfloat = true;
    else if (strcmp(arguments[at], "--breakdown") == 0)
      s->breakdown = true;
    else if (at + 1 < count && strcmp(arguments[at], "--seconds") == 0)
      s->seconds = atof(arguments[++at]);
    else
      for (size_t i = 0; i < 5; i++)
        if (at + 1 < count && strcmp(arguments[at], numbers[i].name) == 0) {
          *numbers[i].value = atoi(arguments[++at]);
          break;
        }
  }
  return at;
}

int main(int count, char **arguments) {
  struct setting s = {.cells = 5, .channels = 8, .size = 28, .inputs = 1, .batch = 100, .seconds = 1};
  int at = parse(count, arguments, &s), genotypes = count > at ? count - at : 4;
  tutti_context *context;
  tutti_split *split = NULL;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  struct tutti_task task = {.size = sizeof task,
                            .kind = TUTTI_TASK_CLASSIFICATION,
                            .input = {s.size, s.size, s.inputs},
                            .outputs = 10,
                            .train_rows = (size_t)s.batch,
                            .head = TUTTI_OP_HEAD_SOFTMAX};
  enum tutti_status status = make_rows(context, &s, &task, &split);
  for (int i = 0; status == TUTTI_OK && i < genotypes; i++) {
    struct darts_genotype genotype = darts_draw((uint64_t)i);
    if (count > at && !darts_parse(arguments[at + i], &genotype)) {
      (void)fprintf(stderr, "not a genotype of 16 edges \"input:op\": %s\n", arguments[at + i]);
      status = TUTTI_ERROR_USAGE;
    } else {
      status = run(context, &s, &task, split, &genotype, (size_t)i);
    }
  }
  if (status != TUTTI_OK && tutti_error_message(context)[0])
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_split_destroy(split);
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
