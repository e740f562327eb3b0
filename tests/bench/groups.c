/* groups.c - convolutions in groups of several channels in backend cpu: groups KERNEL SIZE...

   For each SIZE, the channels of a group in and out: one convolution of KERNEL x KERNEL pixels, of 64 channels, on 16
   images of 28 x 28. A line is the size and the seconds of the processor that an image takes, forward and backward
   (gradients of weights and of inputs), each the best of some tries; the last line is the core's peak in GFLOP/s.
   groups_torch.py sets PyTorch beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/hosting.h>

#include "backends/cpu/cpu_impl.h"
#include "bench.h"

enum { IMAGES = 16, SIDE = 28, CHANNELS = 64, TRIES = 5 };

static const struct tutti_task task = {.size = sizeof task,
                                       .kind = TUTTI_TASK_CLASSIFICATION,
                                       .input = {SIDE, SIDE, CHANNELS},
                                       .outputs = 10,
                                       .train_rows = IMAGES,
                                       .head = TUTTI_OP_HEAD_SOFTMAX};

/* A convolution before the one in groups, so that this one's input wants its gradient. */
static enum tutti_status build(tutti_context *context, int kernel, int size, tutti_network **made) {
  tutti_network *network;
  const int groups = CHANNELS / size;
  uint32_t layer = 0;
  TUTTI_TRY(context, tutti_network_create(context, task.input, &network));
  *made = network;
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &layer,
                                       TUTTI_ATTRIBUTES({"units", CHANNELS}, {"bias", false}), &layer));
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &layer,
                                       TUTTI_ATTRIBUTES({"units", CHANNELS}, {"kernel_height", kernel},
                                                        {"kernel_width", kernel}, {"groups", groups}, {"bias", false}),
                                       &layer));
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  return tutti_network_add_head(context, network, layer, &task);
}

typedef void pass(struct cpu_plan *plan, size_t index);

static void forward(struct cpu_plan *plan, size_t index) {
  static const struct cpu_draws draws = {.drop = true};
  backend_cpu_forward_node(plan, index, IMAGES, &draws);
}

static void backward(struct cpu_plan *plan, size_t index) { backend_cpu_backward_node(plan, index, IMAGES); }

/* Seconds of a pass over an image. */
static double seconds_of(struct cpu_plan *plan, size_t index, pass *once) {
  static const double least = 0.05;
  double best = 1e9;
  for (int t = 0; t < TRIES; t++) {
    double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), passed;
    size_t times = 0;
    do {
      once(plan, index);
      times++;
      passed = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    } while (passed < least);
    passed /= (double)times * IMAGES;
    best = passed < best ? passed : best;
  }
  return best;
}

static enum tutti_status run(tutti_context *context, int kernel, int size) {
  enum { INDEX = 2 }; /* after the input and the first convolution */
  struct cpu_config config = {.initialiser = CPU_HE_UNIFORM};
  struct cpu_plan *plan = NULL;
  tutti_network *network = NULL;
  struct tutti_random random;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, build(context, kernel, size, &network));
  TUTTI_TRY_OUT(context, backend_cpu_plan_create(context, backend_cpu_kernels(tutti_cpu_detect()), network, &task,
                                                 IMAGES, true, &plan));
  backend_cpu_weights_draw(plan, &config, 1);
  tutti_random_init(&random, 1, "bench groups", 0);
  tutti_random_fill_uniform(&random, (size_t)IMAGES * SIDE * SIDE * CHANNELS, -1, 1, plan->nodes[0].value);
  backend_cpu_forward(plan, IMAGES, &(struct cpu_draws){.drop = true});
  (void)backend_cpu_loss(plan, IMAGES, true);
  backend_cpu_backward(plan, IMAGES);
  double there = seconds_of(plan, INDEX, forward);
  printf("%d %.9f %.9f\n", size, there, seconds_of(plan, INDEX, backward));
out:
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
  return status;
}

int main(int count, char **arguments) {
  tutti_context *context;
  enum tutti_status status = TUTTI_OK;
  if (count < 3) {
    (void)fputs("groups: expected KERNEL SIZE...\n", stderr);
    return 1;
  }
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  for (int i = 2; i < count && status == TUTTI_OK; i++)
    status = run(context, atoi(arguments[1]), atoi(arguments[i]));
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "groups: %s\n", tutti_error_message(context));
  printf("peak %.1f\n", bench_peak(CLOCK_PROCESS_CPUTIME_ID));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
