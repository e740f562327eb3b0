/* nomu.c - what a step of Bayesian optimisation with NOMU costs: nomu [EPOCHS [STOP_GRADIENT [THREADS [DIMENSION]]]].
   It fits surrogate nomu to 72 points in DIMENSION (5) dimensions (networks of 3 x 1024 units, 500 artificial points,
   1024 epochs unless EPOCHS says otherwise) on so many threads (1), then predicts 5,000 points, at once, one by one,
   and as maximiser direct asks for them; takes gradients; and maximises by sobol-lbfgs with them and, for a ratio,
   without. With EPOCHS negative it only fits. Seconds are the processor's, of all threads together; of the fit those of
   the wall clock are printed, too. FLOPs of a step: 2 a weight and row forward; 4 backward in the uncertainty's
   network, and in that of the mean, which the artificial points do not reach unless the gradient goes through
   (stop_gradient = none). The peak is that of multiply-adds in registers. Plugins come from TUTTI_PLUGIN_PATH. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/hosting.h>
#include <tutti/plugin.h>

#include "bench.h"

enum { POINTS = 72, MOST_DIMENSIONS = 20, QUESTIONS = 5000, ARTIFICIAL = 500, UNITS = 1024 };

struct work {
  tutti_host *host;
  tutti_domain *domain;
  tutti_scope *scope;
  tutti_surrogate *surrogate;
  tutti_maximiser *maximiser, *refiner;
  size_t dimension, asked, climbed; /* points, and gradients */
  double x[QUESTIONS * MOST_DIMENSIONS], y[POINTS], mean[QUESTIONS], deviation[QUESTIONS];
};

static double step_flops(size_t dimension, bool through) {
  double f = (double)dimension * UNITS + 2.0 * UNITS * UNITS + UNITS, r = f + UNITS, all = POINTS + ARTIFICIAL;
  return 2 * (f + r) * all + 4 * r * all + 4 * f * (through ? all : POINTS);
}

static enum tutti_status make(tutti_context *context, const char *epochs, const char *stop, struct work *work) {
  struct tutti_host_facts facts = {.size = sizeof facts, .seed = 1, .budget = POINTS, .window = 1};
  struct tutti_random random;
  TUTTI_TRY(context, tutti_host_create(context, &facts, &work->host));
  TUTTI_TRY(context, tutti_host_put(context, work->host, "surrogate", TUTTI_KIND_SURROGATE, "nomu"));
  TUTTI_TRY(context, tutti_host_set(context, work->host, "surrogate", "stop_gradient", stop));
  TUTTI_TRY(context, tutti_host_set(context, work->host, "trainer", "epochs", epochs));
  TUTTI_TRY(context, tutti_host_put(context, work->host, "maximiser", TUTTI_KIND_MAXIMISER, "direct"));
  TUTTI_TRY(context, tutti_host_set(context, work->host, "maximiser", "evaluations", "5000"));
  TUTTI_TRY(context, tutti_host_set(context, work->host, "maximiser", "local", "no"));
  TUTTI_TRY(context, tutti_host_put(context, work->host, "refiner", TUTTI_KIND_MAXIMISER, "sobol-lbfgs"));
  TUTTI_TRY(context, tutti_domain_create(context, &work->domain));
  for (size_t i = 0; i < work->dimension; i++)
    TUTTI_TRY(context,
              tutti_domain_add_text(context, work->domain, (char[]){'x', (char)('a' + i), '\0'}, "uniform 0 1"));
  TUTTI_TRY(context, tutti_scope_create(context, NULL, work->domain, &work->scope));
  struct tutti_maximiser_setup maximiser = {.size = sizeof maximiser, .host = work->host, .scope = work->scope};
  TUTTI_TRY(context, tutti_maximiser_create(context, work->host, "maximiser", &maximiser, &work->maximiser));
  TUTTI_TRY(context, tutti_maximiser_create(context, work->host, "refiner", &maximiser, &work->refiner));
  struct tutti_surrogate_setup setup = {
      .size = sizeof setup, .host = work->host, .dimension = work->dimension, .domain = tutti_scope_joint(work->scope)};
  tutti_random_init(&random, 1, "bench nomu", 0);
  for (size_t i = 0; i < QUESTIONS * work->dimension; i++)
    work->x[i] = tutti_random_uniform(&random);
  for (size_t i = 0; i < POINTS; i++)
    work->y[i] = sin(6 * work->x[i * work->dimension]) * work->x[i * work->dimension + 1];
  return tutti_surrogate_create(context, work->host, "surrogate", &setup, &work->surrogate);
}

/* An upper bound of what is asked. */
static enum tutti_status evaluate(void *argument, tutti_context *context, const struct tutti_points *points,
                                  double *worth) {
  struct work *work = argument;
  TUTTI_TRY(context, tutti_surrogate_predict(context, work->surrogate, points, worth, work->deviation));
  for (size_t i = 0; i < points->count; i++)
    worth[i] = work->deviation[i] - worth[i];
  work->asked += points->count;
  return TUTTI_OK;
}

static enum tutti_status climb(void *argument, tutti_context *context, const double *vector, double *worth,
                               double *gradient) {
  struct work *work = argument;
  double mean, deviation, by_mean[MOST_DIMENSIONS];
  TUTTI_TRY(context, tutti_surrogate_gradient(context, work->surrogate, vector, &mean, &deviation, by_mean, gradient));
  for (size_t i = 0; i < work->dimension; i++)
    gradient[i] -= by_mean[i];
  *worth = deviation - mean;
  work->climbed++;
  return TUTTI_OK;
}

static enum tutti_status propose(tutti_context *context, struct work *work, tutti_maximiser *maximiser, bool gradients,
                                 double *seconds) {
  struct tutti_objective objective = {
      .size = sizeof objective, .argument = work, .evaluate = evaluate, .gradient = gradients ? climb : NULL};
  tutti_candidate *candidate;
  double worth, begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  work->asked = work->climbed = 0;
  TUTTI_TRY(context, tutti_maximiser_maximise(context, maximiser, &objective, &candidate, &worth));
  tutti_candidate_unref(candidate);
  *seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  printf("a proposal by %s: %zu points, %zu gradients, %.3f s, worth %.6f\n",
         tutti_maximiser_descriptor(maximiser)->name, work->asked, work->climbed, *seconds, worth);
  return TUTTI_OK;
}

static enum tutti_status take_gradients(tutti_context *context, struct work *work, double alone) {
  enum { TIMES = 500 };
  double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), worth, gradient[MOST_DIMENSIONS];
  for (size_t i = 0; i < TIMES; i++)
    TUTTI_TRY(context, climb(work, context, work->x + i * work->dimension, &worth, gradient));
  double each = (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / TIMES;
  printf("a gradient: %.3f ms, %.2f of the %zu predictions of differences\n", 1e3 * each,
         each / alone / (2 * (double)work->dimension), 2 * work->dimension);
  return TUTTI_OK;
}

static enum tutti_status run(tutti_context *context, const char *epochs, const char *stop, struct work *work) {
  bool only = *epochs == '-';
  epochs += only;
  clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
  TUTTI_TRY(context, make(context, epochs, stop, work));
  struct tutti_points seen = {.size = sizeof seen, .count = POINTS, .dimension = work->dimension, .vectors = work->x},
                      asked = seen, one = seen;
  asked.count = QUESTIONS;
  one.count = 1;
  double peak = bench_peak(clock), begin = bench_seconds(clock), began = bench_seconds(CLOCK_MONOTONIC);
  TUTTI_TRY(context, tutti_surrogate_fit(context, work->surrogate, &seen, work->y, NULL));
  TUTTI_TRY(context, tutti_surrogate_predict(context, work->surrogate, &one, work->mean, work->deviation));
  double wall = bench_seconds(CLOCK_MONOTONIC) - began;
  double fit = bench_seconds(clock) - begin,
         flops = step_flops(work->dimension, strcmp(stop, "none") == 0) * atof(epochs);
  double after = bench_peak(clock);
  peak = after > peak ? after : peak;
  printf("fit: %.2f s (%.2f s by the wall clock, %u threads) for %.3g GFLOP: %.1f GFLOP/s, %.2f of the peak of %.1f\n",
         fit, wall, tutti_threads(context), flops * 1e-9, flops * 1e-9 / fit, flops * 1e-9 / fit / peak, peak);
  printf("mean %.9g, deviation %.9g\n", work->mean[0], work->deviation[0]);
  if (only)
    return TUTTI_OK;
  begin = bench_seconds(clock);
  TUTTI_TRY(context, tutti_surrogate_predict(context, work->surrogate, &asked, work->mean, work->deviation));
  double together = bench_seconds(clock) - begin,
         weights = 2.0 * ((double)work->dimension * UNITS + 2.0 * UNITS * UNITS + UNITS);
  printf("%d points at once: %.3f s, %.1f GFLOP/s\n", QUESTIONS, together, 2e-9 * weights * QUESTIONS / together);
  begin = bench_seconds(clock);
  for (size_t i = 0; i < QUESTIONS; i++) {
    one.vectors = work->x + i * work->dimension;
    TUTTI_TRY(context, tutti_surrogate_predict(context, work->surrogate, &one, work->mean + i, work->deviation + i));
  }
  double alone = bench_seconds(clock) - begin;
  printf("one by one: %.3f s, %.3f ms each, %.1f GB/s of weights\n", alone, 1e3 * alone / QUESTIONS,
         4e-9 * weights * QUESTIONS / alone);
  double direct, with, without;
  TUTTI_TRY(context, take_gradients(context, work, alone / QUESTIONS));
  TUTTI_TRY(context, propose(context, work, work->maximiser, false, &direct));
  TUTTI_TRY(context, propose(context, work, work->refiner, true, &with));
  TUTTI_TRY(context, propose(context, work, work->refiner, false, &without));
  printf("without gradients / with: %.2f\n", without / with);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  static struct work work;
  tutti_context *context;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  work.dimension = count > 4 ? (size_t)atoi(arguments[4]) : 5;
  if (work.dimension < 2 || work.dimension > MOST_DIMENSIONS)
    return 1;
  tutti_threads_set(context, count > 3 ? (unsigned)atoi(arguments[3]) : 1);
  enum tutti_status status =
      run(context, count > 1 ? arguments[1] : "1024", count > 2 ? arguments[2] : "connection", &work);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_maximiser_destroy(work.maximiser);
  tutti_maximiser_destroy(work.refiner);
  tutti_surrogate_destroy(work.surrogate);
  tutti_scope_destroy(work.scope);
  tutti_domain_destroy(work.domain);
  tutti_host_destroy(work.host);
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
