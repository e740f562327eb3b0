/* product.c - backend cpu's large products beside a BLAS: product [cached] [THREADS [ROWS UNITS]...].

   The three products of a dense layer of UNITS inputs and as many units: forward, the weights' gradient and the inputs'
   gradient; the sizes are those of NOMU's networks (72 and 572 rows of 1024) unless others are given. Both sides go
   turn by turn through SETS layers, because the next layer of a network is not in cache either; `cached`: one layer
   alone. They do so often enough that a clock is no part of what it measures. A line gives both
   sides' GFLOP/s, by the processor's seconds of all threads together and by the wall clock, and the ratio of the
   seconds: the median of the rounds, with their range. The peak is that of multiply-adds in registers, of one
   thread. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/hosting.h>
#include <unistd.h>

#include "backends/cpu/team_impl.h"
#include "bench.h"

enum { SETS = 4, ROUNDS = 9 };

/* Only OpenBLAS has it. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

struct layer {
  float *x, *w, *g; /* [rows][ld], [units][ld], [rows][ld] */
};

struct work {
  struct cpu_plan plan;
  size_t rows, units, ld, sets, passes; /* passes: through all sets, between two looks at a clock */
  struct layer layers[SETS];
};

/* --- both sides --- */

enum { FORWARD, WEIGHTS, INPUTS, KINDS };

static const char *const kinds[KINDS] = {"forward", "weights' gradient", "inputs' gradient"};

static void ours(struct work *work, int kind, const struct layer *layer) {
  const size_t rows = work->rows, units = work->units, ld = work->ld;
  if (kind == FORWARD)
    backend_cpu_multiply(&work->plan,
                         &(struct cpu_gemm){.m = rows,
                                            .n = units,
                                            .k = units,
                                            .a = layer->x,
                                            .a_row = ld,
                                            .a_column = 1,
                                            .b = layer->w,
                                            .ldb = ld,
                                            .c = layer->g,
                                            .ldc = ld},
                         false);
  else if (kind == WEIGHTS)
    backend_cpu_product_weights(&work->plan, &(struct cpu_weight_product){.rows = rows,
                                                                          .inputs = units,
                                                                          .ldx = ld,
                                                                          .ldg = ld,
                                                                          .ldw = ld,
                                                                          .columns = units,
                                                                          .x = layer->x,
                                                                          .gradient = layer->g,
                                                                          .to = layer->w});
  else
    backend_cpu_product_inputs(&work->plan, &(struct cpu_input_product){.rows = rows,
                                                                        .inputs = units,
                                                                        .units = units,
                                                                        .ldg = ld,
                                                                        .ldw = ld,
                                                                        .ldt = ld,
                                                                        .gradient = layer->g,
                                                                        .weights = layer->w,
                                                                        .to = layer->x,
                                                                        .columns = units});
}

static void theirs(struct work *work, int kind, const struct layer *layer) {
  const int rows = (int)work->rows, units = (int)work->units, ld = (int)work->ld;
  if (kind == FORWARD)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, units, units, 1, layer->x, ld, layer->w, ld, 0,
                layer->g, ld);
  else if (kind == WEIGHTS)
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, units, units, rows, 1, layer->x, ld, layer->g, ld, 0, layer->w,
                ld);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, units, units, 1, layer->g, ld, layer->w, ld, 0, layer->x,
                ld);
}

/* --- seconds --- */

struct seconds {
  double processor, wall;
};

static struct seconds once(struct work *work, int kind, void (*side)(struct work *, int, const struct layer *)) {
  struct seconds begin = {bench_seconds(CLOCK_PROCESS_CPUTIME_ID), bench_seconds(CLOCK_MONOTONIC)};
  for (size_t i = 0; i < work->passes * work->sets; i++)
    side(work, kind, &work->layers[i % work->sets]);
  return (struct seconds){bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin.processor,
                          bench_seconds(CLOCK_MONOTONIC) - begin.wall};
}

static int compare(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void print(struct work *work, int kind, double peak) {
  double processor[2][ROUNDS], wall[2][ROUNDS], ratio[ROUNDS];
  double flops = 2e-9 * (double)(work->passes * work->sets * work->rows) * (double)work->units * (double)work->units;
  for (size_t r = 0; r < ROUNDS; r++) {
    struct seconds a = once(work, kind, ours), b = once(work, kind, theirs);
    processor[0][r] = a.processor, processor[1][r] = b.processor;
    wall[0][r] = a.wall, wall[1][r] = b.wall;
    ratio[r] = b.processor / a.processor;
  }
  for (size_t i = 0; i < 2; i++) {
    qsort(processor[i], ROUNDS, sizeof **processor, compare);
    qsort(wall[i], ROUNDS, sizeof **wall, compare);
  }
  qsort(ratio, ROUNDS, sizeof *ratio, compare);
  enum { MIDDLE = ROUNDS / 2 };
  printf("%4zu x %zu  %-18s ours %5.1f (%5.1f)  BLAS %5.1f (%5.1f)  ratio %.2f (%.2f to %.2f)  %.2f of the peak\n",
         work->rows, work->units, kinds[kind], flops / processor[0][MIDDLE], flops / wall[0][MIDDLE],
         flops / processor[1][MIDDLE], flops / wall[1][MIDDLE], ratio[MIDDLE], ratio[0], ratio[ROUNDS - 1],
         flops / processor[0][MIDDLE] / peak);
}

/* --- the work --- */

static void destroy(struct work *work) {
  backend_cpu_team_destroy(work->plan.team);
  tutti_free(work->plan.arena);
  tutti_free(work->plan.scratch.transposed);
}

/* All arrays lie in one block, as those of a plan do: so they are in large pages. */
static enum tutti_status place(tutti_context *context, struct work *work) {
  const size_t values = work->rows * work->ld + 16, weights = work->units * work->ld + 16;
  struct tutti_random random;
  float **at = &work->plan.arena, *next;
  TUTTI_TRY(context, tutti_alloc(context, CPU_LARGE_PACK + SETS * (2 * values + weights), sizeof **at, at));
  next = work->plan.scratch.pack = work->plan.arena;
  next += CPU_LARGE_PACK;
  tutti_random_init(&random, 1, "bench product", 0);
  tutti_random_fill_uniform(&random, SETS * (2 * values + weights), -1e-3F, 1e-3F, next);
  for (size_t i = 0; i < SETS; i++, next += 2 * values + weights)
    work->layers[i] = (struct layer){.x = next, .g = next + values, .w = next + 2 * values};
  return TUTTI_OK;
}

static enum tutti_status run(tutti_context *context, size_t sets, size_t threads, size_t rows, size_t units) {
  enum { LEAST = 100000000 }; /* multiply-adds between two looks at a clock */
  struct work work = {.rows = rows, .units = units, .ld = backend_cpu_ld(units), .sets = sets};
  work.passes = LEAST / (sets * rows * units * units) + 1;
  enum tutti_status status;
  work.plan.kernels = backend_cpu_kernels(tutti_cpu_detect());
  TUTTI_TRY_OUT(context, backend_cpu_team_create(context, threads, &work.plan.team));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CPU_GEMM_DEPTH * work.ld, sizeof(float), &work.plan.scratch.transposed));
  TUTTI_TRY_OUT(context, place(context, &work));
  if (openblas_set_num_threads)
    openblas_set_num_threads((int)threads);
  double peak = bench_peak(CLOCK_PROCESS_CPUTIME_ID);
  for (int kind = 0; kind < KINDS; kind++) {
    ours(&work, kind, work.layers); /* once, so that both sides find their memory there */
    theirs(&work, kind, work.layers);
    print(&work, kind, peak);
  }
out:
  destroy(&work);
  return status;
}

/* OpenBLAS's threads turn in a loop for a while after a product, on the cores that our side is measured on. How long is
   read from the environment before main begins. */
static void start_with_idle_blas(char **arguments) {
  if (!getenv("OPENBLAS_THREAD_TIMEOUT") && setenv("OPENBLAS_THREAD_TIMEOUT", "4", 1) == 0)
    (void)execv("/proc/self/exe", arguments);
}

int main(int count, char **arguments) {
  start_with_idle_blas(arguments);
  tutti_context *context;
  const char *usual[] = {"72", "1024", "572", "1024"}, **sizes = usual;
  size_t sets = SETS, threads = 1, size_count = sizeof usual / sizeof *usual;
  if (count > 1 && strcmp(arguments[1], "cached") == 0)
    sets = 1, arguments++, count--;
  if (count > 1)
    threads = (size_t)atoi(arguments[1]);
  if (count > 2)
    sizes = (const char **)arguments + 2, size_count = (size_t)count - 2;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i + 1 < size_count && status == TUTTI_OK; i += 2)
    status = run(context, sets, threads, (size_t)atoi(sizes[i]), (size_t)atoi(sizes[i + 1]));
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
