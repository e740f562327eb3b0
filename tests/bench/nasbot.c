/* nasbot.c - a choice of the next network by builder nasbot: nasbot [SPACE] [OBSERVATIONS] [EVALUATIONS] [THREADS].
   Networks are those of the space's initial pool and mutants, losses a function of their text. Prints the processor's
   seconds of one choice with a fit of the model's hyperparameters, of one without, and of the distances in them alone;
   with several threads, the seconds of the wall clock. Plugins are found on TUTTI_PLUGIN_PATH. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tutti/hosting.h>
#include <tutti/cpu.h>
#include <tutti/plugin.h>

static clockid_t its_clock = CLOCK_PROCESS_CPUTIME_ID;

static double seconds(void) {
  struct timespec now;
  clock_gettime(its_clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct bench {
  tutti_context *context;
  struct tutti_task task;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_space *space;
  tutti_scope *scope;
  tutti_builder *builder;
};

static enum tutti_status set_up(struct bench *bench, const char *space, size_t observations, const char *evaluations) {
  tutti_context *context = bench->context;
  bool images = strstr(space, "cnn") != NULL;
  char initial[32], rule[96];
  bench->task = (struct tutti_task){.size = sizeof(bench->task),
                                    .kind = images ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                                    .input = images ? (struct tutti_shape){32, 32, 3} : (struct tutti_shape){1, 1, 16},
                                    .outputs = images ? 10 : 1,
                                    .head = images ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_LINEAR};
  bench->facts = (struct tutti_host_facts){
      .size = sizeof(bench->facts), .seed = 1, .budget = 2 * observations, .window = 1, .task = &bench->task};
  (void)snprintf(initial, sizeof(initial), "%zu", observations);
  (void)snprintf(rule, sizeof(rule), "1 %s %s", evaluations, evaluations);
  TUTTI_TRY(context, tutti_host_create(context, &bench->facts, &bench->host));
  TUTTI_TRY(context, tutti_host_put(context, bench->host, "space", TUTTI_KIND_SPACE, space));
  struct tutti_space_setup setup = {.size = sizeof(setup), .task = &bench->task};
  TUTTI_TRY(context, tutti_space_create(context, bench->host, "space", &setup, &bench->space));
  TUTTI_TRY(context, tutti_scope_create(context, bench->space, NULL, &bench->scope));
  bench->facts.scope = bench->scope;
  tutti_host_set_facts(bench->host, &bench->facts);
  TUTTI_TRY(context, tutti_host_put(context, bench->host, "builder", TUTTI_KIND_BUILDER, "nasbot"));
  TUTTI_TRY(context, tutti_host_set(context, bench->host, "builder", "initial", initial));
  TUTTI_TRY(context, tutti_host_set(context, bench->host, "maximiser", "evaluations", rule));
  TUTTI_TRY(context, tutti_host_set(context, bench->host, "acquisition", "log", "no"));
  struct tutti_builder_setup builder = {.size = sizeof(builder), .host = bench->host};
  return tutti_builder_create(context, bench->host, "builder", &builder, &bench->builder);
}

static void tear_down(struct bench *bench) {
  tutti_builder_destroy(bench->builder);
  tutti_scope_destroy(bench->scope);
  tutti_space_destroy(bench->space);
  tutti_host_destroy(bench->host);
  tutti_context_destroy(bench->context);
}

/* Near alike for networks of like text, and no two the same. */
static double loss_of(const tutti_candidate *candidate) {
  return 1 + 0.1 * sin(0.37 * (double)(tutti_candidate_hash(candidate) % 1000));
}

static enum tutti_status ask(struct bench *bench, uint64_t trial, tutti_candidate **candidate) {
  struct tutti_proposal proposal = {.size = sizeof(proposal)};
  TUTTI_TRY(bench->context, tutti_builder_ask(bench->context, bench->builder, trial, &proposal));
  *candidate = proposal.candidate;
  return TUTTI_OK;
}

/* Distances of `evaluations` mutants to the observed ones. */
static enum tutti_status distances(struct bench *bench, size_t observations, tutti_candidate *const *candidates,
                                   size_t evaluations, double *spent) {
  tutti_context *context = bench->context;
  size_t measures = tutti_space_measures(bench->space);
  const tutti_genotype **seen = calloc(observations, sizeof(*seen));
  double *out = calloc(observations * measures, sizeof(*out));
  struct tutti_random random;
  tutti_random_init(&random, 2, "bench", 0);
  for (size_t i = 0; i < observations; i++)
    seen[i] = tutti_candidate_genotype(candidates[i]);
  for (size_t i = 0; i < evaluations; i++) {
    tutti_genotype *mutant;
    TUTTI_TRY(context, tutti_space_mutate(context, bench->space, &random, seen[i % observations], &mutant));
    double start = seconds();
    TUTTI_TRY(context, tutti_space_distances(context, mutant, observations, seen, out));
    *spent += seconds() - start;
    tutti_genotype_unref(mutant);
  }
  free(seen);
  free(out);
  return TUTTI_OK;
}

static enum tutti_status run(struct bench *bench, size_t observations, size_t evaluations) {
  tutti_candidate **candidates = calloc(observations + 2, sizeof(*candidates));
  double first, second, distance = 0;
  for (size_t i = 0; i < observations; i++) {
    TUTTI_TRY(bench->context, ask(bench, i, &candidates[i]));
    struct tutti_result result = {.size = sizeof(result),
                                  .trial = i,
                                  .candidate = candidates[i],
                                  .state = TUTTI_STATE_FINISHED,
                                  .loss = loss_of(candidates[i]),
                                  .failure = ""};
    TUTTI_TRY(bench->context, tutti_builder_tell(bench->context, bench->builder, &result));
  }
  double start = seconds();
  /* The model is fitted, and the distances between the observed ones are measured: in a run, a row for each. */
  char *description;
  TUTTI_TRY(bench->context, tutti_builder_describe(bench->context, bench->builder, &description));
  tutti_free(description);
  double fit = seconds() - start;
  start = seconds();
  TUTTI_TRY(bench->context, ask(bench, observations, &candidates[observations]));
  first = seconds() - start;
  start = seconds();
  TUTTI_TRY(bench->context, ask(bench, observations + 1, &candidates[observations + 1]));
  second = seconds() - start;
  TUTTI_TRY(bench->context, distances(bench, observations, candidates, evaluations, &distance));
  printf(
      "%zu observations, %zu evaluations: %.3f s the distances between the observations and a fit, %.3f s the choice, "
      "%.3f s the next choice with one outstanding, of which distances %.3f s (%.1f us a pair); chosen: %016" PRIx64
      " %016" PRIx64 "\n",
      observations, evaluations, fit, first, second, distance,
      1e6 * distance / (double)observations / (double)evaluations, tutti_candidate_hash(candidates[observations]),
      tutti_candidate_hash(candidates[observations + 1]));
  for (size_t i = 0; i < observations + 2; i++)
    tutti_candidate_unref(candidates[i]);
  free(candidates);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  const char *space = count > 1 ? arguments[1] : "layer-graph-mlp", *evaluations = count > 3 ? arguments[3] : "500";
  int observations = count > 2 ? atoi(arguments[2]) : 100, threads = count > 4 ? atoi(arguments[4]) : 1;
  struct bench bench = {0};
  const char *coretype = tutti_cpu_blas_coretype();
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 0); /* as `tutti run` has it, before a plugin loads OpenBLAS */
  if (coretype)
    (void)setenv("OPENBLAS_CORETYPE", coretype, 0);
  if (observations < 1 || atoi(evaluations) < 1 || threads < 1 || tutti_context_create(&bench.context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s [SPACE] [OBSERVATIONS] [EVALUATIONS] [THREADS]\n", arguments[0]);
    return 2;
  }
  tutti_threads_set(bench.context, (unsigned)threads);
  if (threads > 1)
    its_clock = CLOCK_MONOTONIC;
  enum tutti_status status = set_up(&bench, space, (size_t)observations, evaluations);
  if (status == TUTTI_OK)
    status = run(&bench, (size_t)observations, (size_t)atoi(evaluations));
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(bench.context));
  tear_down(&bench);
  return status != TUTTI_OK;
}
