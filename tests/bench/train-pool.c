/* train-pool.c - a pool of networks trained at once by a backend.

   train-pool [--backend NAME] [--plugins FOLDER] [--seed S] [--networks N] [--alike] [--epochs E] [--batch N] [--count
   N]
              [--features N] [--rows FILE] [--set NAME=VALUE]... [--describe]
   train-pool --images [--cells N] [--channels N] [--size N] ... [GENOTYPE]...

   Networks of tables are AutoDEUQ's: architectures drawn from space dense-skip, training from the ranges of
   ini/autodeuq/uci.ini (batch size 1 to 256, learning rate 1e-4 to 1e-1, seven optimisers). --alike: the
   architecture of the first for all, Adam, one batch size (--batch), as a pool for one vmap has to be; learning
   rates differ. --rows: float32 [count][features + 1], the target last; else [count][features] synthetic rows.
   --images: networks of DARTS cells (darts.h; without genotypes, they are drawn), SGD with momentum, batches of
   --batch synthetic images. --set: a parameter of the backend, for all. --describe: print the networks and their
   training instead, as JSON; a peer builds the same.

   All networks are given to the backend at once. The first pool, of one network for one epoch, warms up and does not
   count. Prints one line of JSON: networks, how many finished and which failed, the steps of those that finished,
   seconds by the wall clock, their mean training loss of the last epoch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "darts.h"

enum { MOST_SETS = 8 };

struct setting {
  const char *backend, *plugins, *rows;
  long seed, networks, epochs, batch, count, features, cells, channels, size;
  bool alike, images, describe;
  char **genotypes, *sets[MOST_SETS];
  size_t set_count;
};

struct member {
  tutti_network *network;
  tutti_config *config;
  struct tutti_job job;
  struct tutti_outcome outcome;
  double loss;
  const char *optimiser;
  double rate;
  long batch;
};

struct pool {
  tutti_context *context;
  tutti_host *host;
  tutti_backend *backend;
  tutti_space *space;
  struct tutti_task task;
  tutti_split *split;
  struct member *members;
  size_t count;
};

/* --- rows --- */

static enum tutti_status read_rows(tutti_context *context, const char *path, size_t count, size_t features, float *x,
                                   float *y) {
  FILE *file = fopen(path, "rb");
  size_t got = 0;
  while (file && got < count && fread(x + got * features, sizeof *x, features, file) == features &&
         fread(y + got, sizeof *y, 1, file) == 1)
    got++;
  if (file)
    (void)fclose(file);
  if (got < count)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected %zu rows of %zu numbers in float32, found %zu", path,
                      count, features + 1, got);
  return TUTTI_OK;
}

static enum tutti_status make_rows(struct pool *pool, const struct setting *s) {
  tutti_context *context = pool->context;
  size_t count = (size_t)s->count, features = (size_t)(s->images ? s->size * s->size * 3 : s->features);
  float *x = NULL, *y = NULL;
  int32_t *labels = NULL;
  enum tutti_status status;
  struct tutti_random random;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count * features, sizeof *x, &x));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *y, &y));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *labels, &labels));
  tutti_random_init(&random, 0, "rows", 0);
  if (s->rows) {
    TUTTI_TRY_OUT(context, read_rows(context, s->rows, count, features, x, y));
  } else {
    tutti_random_fill_normal(&random, count * features, 0, 1, x);
    for (size_t r = 0; r < count; r++) {
      labels[r] = (int32_t)tutti_random_below(&random, 10);
      y[r] = sinf(x[r * features]) + 0.1f * (float)tutti_random_normal(&random);
    }
  }
  TUTTI_TRY_OUT(context, tutti_split_create(context, "train", count, pool->task.input, pool->task.outputs, x,
                                            s->images ? NULL : y, s->images ? labels : NULL, &pool->split));
out:
  tutti_free(x);
  tutti_free(y);
  tutti_free(labels);
  return status;
}

/* --- networks --- */

static enum tutti_status draw_network(struct pool *pool, const struct setting *s, uint64_t index,
                                      tutti_network **network) {
  tutti_context *context = pool->context;
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_random_init(&random, (uint64_t)s->seed, "architectures", index);
  TUTTI_TRY(context, tutti_space_sample(context, pool->space, &random, &genotype));
  enum tutti_status status = tutti_space_decode(context, genotype, &pool->task, network);
  tutti_genotype_unref(genotype);
  return status;
}

static enum tutti_status make_image_network(struct pool *pool, const struct setting *s, size_t index,
                                            tutti_network **network) {
  struct darts_genotype genotype = darts_draw(index);
  if (s->genotypes[0] && !darts_parse(s->genotypes[index], &genotype))
    return TUTTI_FAIL(pool->context, TUTTI_ERROR_USAGE, "not a genotype of 16 edges \"input:op\": %s",
                      s->genotypes[index]);
  return darts_network(pool->context, (int)s->cells, (int)s->channels, &pool->task, &genotype, network);
}

/* The ranges of ini/autodeuq/uci.ini. */
static void draw_training(const struct setting *s, struct member *member, uint64_t index) {
  static const char *const optimisers[] = {"sgd", "rmsprop", "adagrad", "adam", "adadelta", "adamax", "nadam"};
  struct tutti_random random;
  tutti_random_init(&random, (uint64_t)s->seed, "training", index);
  double rate = pow(10, -4 + 3 * tutti_random_uniform(&random)), batch = pow(256, tutti_random_uniform(&random));
  const char *optimiser = optimisers[tutti_random_below(&random, sizeof optimisers / sizeof *optimisers)];
  member->rate = s->images ? 0.025 : s->alike ? rate / 10 : rate;
  member->batch = s->images || s->alike ? s->batch : (long)(batch + 0.5);
  member->optimiser = s->images ? "sgd" : s->alike ? "adam" : optimiser;
}

static enum tutti_status set(struct pool *pool, struct member *member, const char *name, const char *format,
                             double value) {
  char text[64];
  (void)snprintf(text, sizeof text, format, value);
  return tutti_config_set(pool->context, member->config, name, text);
}

static bool watch(void *argument, const struct tutti_epoch *epoch) {
  ((struct member *)argument)->loss = epoch->train_loss;
  return true;
}

static enum tutti_status make_member(struct pool *pool, const struct setting *s, size_t index, long epochs) {
  tutti_context *context = pool->context;
  struct member *member = &pool->members[index];
  TUTTI_TRY(context, s->images ? make_image_network(pool, s, index, &member->network)
                               : draw_network(pool, s, s->alike ? 0 : index, &member->network));
  draw_training(s, member, index);
  TUTTI_TRY(context, tutti_config_create(context, &tutti_backend_descriptor(pool->backend)->params, &member->config));
  TUTTI_TRY(context, set(pool, member, "epochs", "%.0f", (double)epochs));
  TUTTI_TRY(context, set(pool, member, "batch_size", "%.0f", (double)member->batch));
  TUTTI_TRY(context, set(pool, member, "learning_rate", "%.17g", member->rate));
  TUTTI_TRY(context, set(pool, member, "momentum", "%g", s->images ? 0.9 : 0));
  TUTTI_TRY(context, tutti_config_set(context, member->config, "optimiser", member->optimiser));
  for (size_t i = 0; i < s->set_count; i++) {
    char name[64];
    const char *value = strchr(s->sets[i], '=');
    (void)snprintf(name, sizeof name, "%.*s", (int)(value ? value - s->sets[i] : 0), s->sets[i]);
    TUTTI_TRY(context, tutti_config_set(context, member->config, name, value ? value + 1 : ""));
  }
  member->outcome.size = sizeof member->outcome;
  member->job = (struct tutti_job){.size = sizeof member->job,
                                   .run_seed = 1,
                                   .seed = index + 1,
                                   .task = &pool->task,
                                   .network = member->network,
                                   .config = tutti_config_values(member->config),
                                   .train = pool->split,
                                   .progress = watch,
                                   .progress_argument = member};
  return TUTTI_OK;
}

static void destroy_members(struct pool *pool) {
  for (size_t i = 0; i < pool->count; i++) {
    tutti_tensors_destroy(pool->members[i].outcome.weights);
    tutti_config_destroy(pool->members[i].config);
    tutti_network_destroy(pool->members[i].network);
  }
  tutti_free(pool->members);
  pool->members = NULL;
  pool->count = 0;
}

static enum tutti_status make_members(struct pool *pool, const struct setting *s, size_t count, long epochs) {
  TUTTI_TRY(pool->context, tutti_alloc(pool->context, count, sizeof *pool->members, &pool->members));
  pool->count = count;
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(pool->context, make_member(pool, s, i, epochs));
  return TUTTI_OK;
}

/* --- training --- */

static void nobody(void *argument, size_t index) { (void)argument, (void)index; }

static enum tutti_status train(struct pool *pool, double *seconds) {
  tutti_context *context = pool->context;
  const struct tutti_job **jobs = NULL;
  struct tutti_outcome **outcomes = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->count, sizeof *jobs, &jobs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->count, sizeof *outcomes, &outcomes));
  for (size_t i = 0; i < pool->count; i++) {
    jobs[i] = &pool->members[i].job;
    outcomes[i] = &pool->members[i].outcome;
  }
  double begin = bench_seconds(CLOCK_MONOTONIC);
  TUTTI_TRY_OUT(context, tutti_backend_train_many(context, pool->backend, pool->count, jobs, outcomes, nobody, NULL));
  *seconds = bench_seconds(CLOCK_MONOTONIC) - begin;
out:
  tutti_free(jobs);
  tutti_free(outcomes);
  return status;
}

static enum tutti_status describe(struct pool *pool, long epochs) {
  for (size_t i = 0; i < pool->count; i++) {
    const struct member *member = &pool->members[i];
    char *json;
    TUTTI_TRY(pool->context, tutti_network_print(pool->context, member->network, &json));
    printf("%s{\"epochs\": %ld, \"batch_size\": %ld, \"learning_rate\": %.17g, \"optimiser\": \"%s\", \"parameters\": "
           "%zu, "
           "\"network\": %s}%s\n",
           i == 0 ? "[" : "", epochs, member->batch, member->rate, member->optimiser,
           tutti_network_parameters(member->network), json, i + 1 < pool->count ? "," : "]");
    tutti_free(json);
  }
  return TUTTI_OK;
}

static enum tutti_status measure(struct pool *pool, const struct setting *s) {
  double seconds = 0, loss = 0;
  uint64_t steps = 0;
  size_t finished = 0;
  TUTTI_TRY(pool->context, make_members(pool, s, 1, 1));
  TUTTI_TRY(pool->context, train(pool, &seconds));
  destroy_members(pool);
  TUTTI_TRY(pool->context, make_members(pool, s, (size_t)s->networks, s->epochs));
  TUTTI_TRY(pool->context, train(pool, &seconds));
  for (size_t i = 0; i < pool->count; i++) {
    const struct member *member = &pool->members[i];
    if (member->outcome.state != TUTTI_STATE_FINISHED) {
      (void)fprintf(stderr, "network %zu: %s\n", i, member->outcome.failure);
      continue;
    }
    finished++;
    steps += member->outcome.steps;
    loss += member->loss;
  }
  printf("{\"networks\": %zu, \"finished\": %zu, \"failed\": [", pool->count, finished);
  for (size_t i = 0, failed = 0; i < pool->count; i++)
    if (pool->members[i].outcome.state != TUTTI_STATE_FINISHED)
      printf("%s%zu", failed++ > 0 ? ", " : "", i);
  printf("], \"steps\": %llu, \"seconds\": %.6f, \"loss\": %.6f}\n", (unsigned long long)steps, seconds,
         finished ? loss / (double)finished : 0);
  return TUTTI_OK;
}

/* --- the setting --- */

static enum tutti_status open_pool(struct pool *pool, const struct setting *s) {
  tutti_context *context = pool->context;
  struct tutti_host_facts facts = {.size = sizeof facts};
  static const struct tutti_attribute head[] = {{"scale", 1}, {"floor", 1e-6}, {"variance", true}, {NULL, 0}};
  pool->task = (struct tutti_task){.size = sizeof pool->task,
                                   .kind = s->images ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                                   .input = {1, 1, (int32_t)s->features},
                                   .outputs = s->images ? 10 : 1,
                                   .train_rows = (size_t)s->count,
                                   .head = s->images ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_GAUSSIAN,
                                   .head_attributes = s->images ? NULL : head};
  if (s->images)
    pool->task.input = (struct tutti_shape){(int32_t)s->size, (int32_t)s->size, 3};
  const struct tutti_space_setup space = {.size = sizeof space, .task = &pool->task};
  const struct tutti_backend_setup backend = {.size = sizeof backend, .task = &pool->task};
  if (getenv("TUTTI_PROGRAM"))
    TUTTI_TRY(context, tutti_plugin_scan_with(context, getenv("TUTTI_PROGRAM")));
  if (s->plugins)
    TUTTI_TRY(context, tutti_plugin_path_add(context, s->plugins));
  TUTTI_TRY(context, tutti_host_create(context, &facts, &pool->host));
  TUTTI_TRY(context, tutti_host_put(context, pool->host, "space", TUTTI_KIND_SPACE, "dense-skip"));
  TUTTI_TRY(context, tutti_host_set(context, pool->host, "space", "nodes", "5"));
  TUTTI_TRY(context, tutti_host_put(context, pool->host, "backend", TUTTI_KIND_BACKEND, s->backend));
  TUTTI_TRY(context, tutti_space_create(context, pool->host, "space", &space, &pool->space));
  TUTTI_TRY(context, tutti_backend_create(context, pool->host, "backend", &backend, &pool->backend));
  return make_rows(pool, s);
}

static void close_pool(struct pool *pool) {
  destroy_members(pool);
  tutti_split_destroy(pool->split);
  tutti_backend_destroy(pool->backend);
  tutti_space_destroy(pool->space);
  tutti_host_destroy(pool->host);
  tutti_context_destroy(pool->context);
}

static bool parse(int count, char **arguments, struct setting *s) {
  const struct {
    const char *name;
    long *number;
    const char **text;
    bool *flag;
  } options[] = {{"--backend", NULL, &s->backend, NULL},   {"--plugins", NULL, &s->plugins, NULL},
                 {"--rows", NULL, &s->rows, NULL},         {"--seed", &s->seed, NULL, NULL},
                 {"--networks", &s->networks, NULL, NULL}, {"--epochs", &s->epochs, NULL, NULL},
                 {"--batch", &s->batch, NULL, NULL},       {"--count", &s->count, NULL, NULL},
                 {"--features", &s->features, NULL, NULL}, {"--cells", &s->cells, NULL, NULL},
                 {"--channels", &s->channels, NULL, NULL}, {"--size", &s->size, NULL, NULL},
                 {"--alike", NULL, NULL, &s->alike},       {"--images", NULL, NULL, &s->images},
                 {"--describe", NULL, NULL, &s->describe}};
  int at = 1;
  for (; at < count && strncmp(arguments[at], "--", 2) == 0; at++) {
    size_t i = 0, all = sizeof options / sizeof *options;
    if (strcmp(arguments[at], "--set") == 0 && at + 1 < count && s->set_count < MOST_SETS) {
      s->sets[s->set_count++] = arguments[++at];
      continue;
    }
    while (i < all && strcmp(arguments[at], options[i].name) != 0)
      i++;
    if (i == all || (!options[i].flag && at + 1 == count)) {
      (void)fprintf(stderr, "train-pool: %s: no such option, or nothing behind it\n", arguments[at]);
      return false;
    }
    if (options[i].flag)
      *options[i].flag = true;
    else if (options[i].text)
      *options[i].text = arguments[++at];
    else
      *options[i].number = strtol(arguments[++at], NULL, 10);
  }
  s->genotypes = arguments + at;
  if (at < count)
    s->networks = count - at;
  return true;
}

int main(int count, char **arguments) {
  struct setting s = {.backend = "cuda",
                      .networks = 200,
                      .seed = 1,
                      .epochs = 10,
                      .batch = 64,
                      .count = 1024,
                      .features = 9,
                      .cells = 8,
                      .channels = 16,
                      .size = 32};
  struct pool pool = {0};
  if (!parse(count, arguments, &s) || tutti_context_create(&pool.context) != TUTTI_OK)
    return 2;
  enum tutti_status status = open_pool(&pool, &s);
  if (status == TUTTI_OK && s.describe) {
    status = make_members(&pool, &s, (size_t)s.networks, s.epochs);
    if (status == TUTTI_OK)
      status = describe(&pool, s.epochs);
  } else if (status == TUTTI_OK) {
    status = measure(&pool, &s);
  }
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(pool.context));
  close_pool(&pool);
  return status != TUTTI_OK;
}
