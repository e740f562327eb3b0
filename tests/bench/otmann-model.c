/* otmann-model.c - how well surrogate gp-otmann foretells the losses of finished runs over layer-graph-mlp:
   otmann-model "KEY=VALUE ..." ... -- RUN ... Each first argument is a set of its parameters ("" for its own defaults).
   Over all trials after the first 24 of each run, each predicted from those before it, prints for each set the root
   mean squared error in standard deviations of the run's losses, the mean of squared errors in predicted deviations
   with the fitted noise, and how far its means are from those of the first set. Plugins are found on
   TUTTI_PLUGIN_PATH. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tutti/hosting.h>
#include <tutti/plugin.h>
#include <tutti/tutti.h>

enum { MOST = 1000, FIRST = 24, SETS_MOST = 16 };

struct bench {
  tutti_context *context;
  struct tutti_task task;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_space *space;
  tutti_scope *scope;
  size_t count;
  const tutti_candidate *candidates[MOST];
  double losses[MOST], means[MOST];
};

struct score {
  double squares, calibration, moved;
  size_t count;
};

static enum tutti_status set_up(struct bench *bench) {
  tutti_context *context = bench->context;
  bench->task = (struct tutti_task){.size = sizeof(bench->task),
                                    .kind = TUTTI_TASK_REGRESSION,
                                    .input = {1, 1, 16},
                                    .outputs = 1,
                                    .head = TUTTI_OP_HEAD_LINEAR};
  bench->facts = (struct tutti_host_facts){
      .size = sizeof(bench->facts), .seed = 1, .budget = MOST, .window = 1, .task = &bench->task};
  TUTTI_TRY(context, tutti_host_create(context, &bench->facts, &bench->host));
  TUTTI_TRY(context, tutti_host_put(context, bench->host, "space", TUTTI_KIND_SPACE, "layer-graph-mlp"));
  struct tutti_space_setup setup = {.size = sizeof(setup), .task = &bench->task};
  TUTTI_TRY(context, tutti_space_create(context, bench->host, "space", &setup, &bench->space));
  TUTTI_TRY(context, tutti_scope_create(context, bench->space, NULL, &bench->scope));
  bench->facts.scope = bench->scope;
  tutti_host_set_facts(bench->host, &bench->facts);
  return TUTTI_OK;
}

static enum tutti_status visit(void *argument, const struct tutti_trial *trial) {
  struct bench *bench = argument;
  tutti_candidate *candidate;
  if (!trial->done || trial->state != TUTTI_STATE_FINISHED || bench->count == MOST)
    return TUTTI_OK;
  TUTTI_TRY(bench->context, tutti_scope_parse(bench->context, bench->scope, trial->candidate, &candidate));
  bench->losses[bench->count] = trial->loss;
  bench->candidates[bench->count++] = candidate;
  return TUTTI_OK;
}

static enum tutti_status read_run(struct bench *bench, const char *run) {
  char path[4096];
  tutti_catalogue *catalogue;
  (void)snprintf(path, sizeof(path), "%s/catalogue.sqlite", run);
  TUTTI_TRY(bench->context, tutti_catalogue_open(bench->context, path, false, &catalogue));
  enum tutti_status status = tutti_catalogue_visit(bench->context, catalogue, visit, bench);
  tutti_catalogue_close(catalogue);
  return status;
}

static void forget(struct bench *bench) {
  while (bench->count > 0)
    tutti_candidate_unref((tutti_candidate *)(uintptr_t)bench->candidates[--bench->count]);
}

/* Make the surrogate with the settings "key=value key=value". */
static enum tutti_status make(struct bench *bench, const char *settings, tutti_surrogate **surrogate) {
  char copy[512], *cursor = copy, *setting;
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .host = bench->host, .seed = 1, .scope = bench->scope};
  (void)snprintf(copy, sizeof(copy), "%s", settings);
  TUTTI_TRY(bench->context,
            tutti_host_put(bench->context, bench->host, "surrogate", TUTTI_KIND_SURROGATE, "gp-otmann"));
  while ((setting = strsep(&cursor, " "))) {
    char *value = strchr(setting, '=');
    if (!value)
      continue;
    *value++ = '\0';
    TUTTI_TRY(bench->context, tutti_host_set(bench->context, bench->host, "surrogate", setting, value));
  }
  return tutti_surrogate_create(bench->context, bench->host, "surrogate", &setup, surrogate);
}

static enum tutti_status noise_of(struct bench *bench, tutti_surrogate *surrogate, double *noise) {
  char *text;
  TUTTI_TRY(bench->context, tutti_surrogate_describe(bench->context, surrogate, &text));
  json_t *json = json_loads(text, 0, NULL);
  *noise = json_number_value(json_object_get(json, "noise"));
  json_decref(json);
  tutti_free(text);
  return TUTTI_OK;
}

static double variance(const struct bench *bench) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < bench->count; i++)
    mean += bench->losses[i] / (double)bench->count;
  for (size_t i = 0; i < bench->count; i++)
    squares += (bench->losses[i] - mean) * (bench->losses[i] - mean) / (double)bench->count;
  return squares;
}

static enum tutti_status foretell(struct bench *bench, const char *settings, bool first, struct score *score) {
  double unit = variance(bench);
  tutti_surrogate *surrogate;
  TUTTI_TRY(bench->context, make(bench, settings, &surrogate));
  for (size_t n = FIRST; n < bench->count; n++) {
    struct tutti_points seen = {.size = sizeof(seen), .count = n, .candidates = bench->candidates};
    struct tutti_points next = {.size = sizeof(next), .count = 1, .candidates = bench->candidates + n};
    double mean, deviation, noise;
    TUTTI_TRY(bench->context, tutti_surrogate_fit(bench->context, surrogate, &seen, bench->losses, NULL));
    TUTTI_TRY(bench->context, tutti_surrogate_predict(bench->context, surrogate, &next, &mean, &deviation));
    TUTTI_TRY(bench->context, noise_of(bench, surrogate, &noise));
    double off = mean - bench->losses[n];
    bench->means[n] = first ? mean : bench->means[n];
    score->squares += off * off / unit;
    score->calibration += off * off / (deviation * deviation + noise);
    score->moved += fabs(mean - bench->means[n]) / sqrt(unit);
    score->count++;
  }
  tutti_surrogate_destroy(surrogate);
  return TUTTI_OK;
}

static enum tutti_status run(struct bench *bench, size_t sets, char **settings, size_t runs, char **folders) {
  struct score scores[SETS_MOST] = {0};
  TUTTI_TRY(bench->context, set_up(bench));
  for (size_t r = 0; r < runs; r++) {
    TUTTI_TRY(bench->context, read_run(bench, folders[r]));
    for (size_t s = 0; s < sets; s++)
      TUTTI_TRY(bench->context, foretell(bench, settings[s], s == 0, &scores[s]));
    forget(bench);
  }
  printf("%-50s %8s %12s %12s %12s\n", "settings", "trials", "rms error", "calibration", "means moved");
  for (size_t s = 0; s < sets; s++) {
    double n = (double)scores[s].count;
    printf("%-50s %8zu %12.4f %12.3f %12.5f\n", *settings[s] ? settings[s] : "(defaults)", scores[s].count,
           sqrt(scores[s].squares / n), scores[s].calibration / n, scores[s].moved / n);
  }
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  struct bench bench = {0};
  int border = 1;
  while (border < count && strcmp(arguments[border], "--") != 0)
    border++;
  if (border < 2 || border > SETS_MOST + 1 || border + 1 >= count || tutti_context_create(&bench.context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s \"KEY=VALUE ...\" ... -- RUN ...\n", arguments[0]);
    return 2;
  }
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 0); /* as `tutti run` has it, before a plugin loads OpenBLAS */
  enum tutti_status status =
      run(&bench, (size_t)border - 1, arguments + 1, (size_t)(count - border - 1), arguments + border + 1);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(bench.context));
  forget(&bench);
  tutti_scope_destroy(bench.scope);
  tutti_space_destroy(bench.space);
  tutti_host_destroy(bench.host);
  tutti_context_destroy(bench.context);
  return status != TUTTI_OK;
}
