/* still.c - a trainer that trains nothing. */
#include "still.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/registry.h>

struct still_config {
  double l2;
};

static const struct tutti_param still_params[] = {
    TUTTI_REAL(struct still_config, l2, "0", 0, TUTTI_NO_LIMIT, "Noted."),
};

static struct still still;

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)context, (void)config, (void)setup;
  *self = &still;
  return TUTTI_OK;
}

static void destroy(void *self) { (void)self; }

static bool supports(void *self, enum tutti_op op) {
  (void)self, (void)op;
  return true;
}

static bool supports_layer(void *self, const struct tutti_layer *layer) {
  (void)self, (void)layer;
  return true;
}

/* The job that these weights are of. */
static struct still_job *job_of(const tutti_tensors *weights) {
  return &still.jobs[(size_t)((const float *)tutti_tensors_find(weights, "job")->data)[0]];
}

static void note(const struct tutti_job *job, struct still_job *noted) {
  const struct tutti_shape *shape = &job->task->input;
  size_t features = (size_t)shape->height * (size_t)shape->width * (size_t)shape->channels;
  *noted = (struct still_job){.network = job->network,
                              .seed = job->seed,
                              .l2 = ((const struct still_config *)job->config)->l2,
                              .rows = tutti_split_rows(job->train),
                              .initial = job->initial ? job_of(job->initial) : NULL};
  for (size_t i = 0; i < noted->rows && i < STILL_ROWS; i++) {
    noted->inputs[i] = tutti_split_inputs(job->train)[i * features];
    noted->targets[i] = tutti_split_targets(job->train)[i];
  }
  if (job->box) {
    noted->boxed = true;
    noted->low = job->box[0];
    noted->high = job->box[features];
  }
  for (size_t i = 0; job->frozen && job->frozen[i]; i++) {
    assert_true(i < STILL_LABELS);
    noted->frozen[noted->frozen_count++] = job->frozen[i];
  }
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  size_t one = 1;
  float *data;
  (void)self;
  assert_true(still.count < STILL_JOBS);
  note(job, &still.jobs[still.count]);
  if (still.refused && job->seed == still.refused) {
    still.count++;
    outcome->state = TUTTI_STATE_FAILED;
    (void)strcpy(outcome->failure, "diverged on purpose");
    return TUTTI_OK;
  }
  outcome->state = TUTTI_STATE_FINISHED;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "job", TUTTI_F32, 1, &one, &data));
  data[0] = (float)still.count++;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)job, (void)weights, (void)split, (void)out;
  return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "not asked for here");
}

static enum tutti_status open_one(void *self, tutti_context *context, const struct tutti_job *job,
                                  const tutti_tensors *weights, size_t rows, void **predictor) {
  (void)self, (void)context, (void)job, (void)rows;
  *predictor = job_of(weights);
  return TUTTI_OK;
}

static enum tutti_status ask_one(void *self, tutti_context *context, void *predictor, const struct tutti_query *query,
                                 float *out) {
  const struct still_job *job = predictor;
  (void)self, (void)context;
  still.asked = query->inputs[0];
  for (size_t i = 0; i < query->rows; i++) {
    double mean = still.mean ? still.mean(job, query->inputs[i]) : (double)(job->seed % 1000);
    out[2 * i] = (float)(mean + (query->drop ? 10 * (double)query->draw : 0));
    out[2 * i + 1] = 0.25f;
  }
  return TUTTI_OK;
}

static void close_one(void *self, void *predictor) { (void)self, (void)predictor; }

static const struct tutti_backend_ops still_ops = {.size = sizeof still_ops,
                                                   .honours = TUTTI_JOB_BOX | TUTTI_JOB_FROZEN,
                                                   .supports = supports,
                                                   .train = train,
                                                   .predict = predict,
                                                   .open = open_one,
                                                   .ask = ask_one,
                                                   .close = close_one,
                                                   .supports_layer = supports_layer};
static const struct tutti_descriptor still_descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "still"),
                                                         .version = "1",
                                                         .summary = "A test's.",
                                                         .source = "",
                                                         .licence = "Apache-2.0",
                                                         .params = TUTTI_PARAMS(still_params, struct still_config),
                                                         .create = create,
                                                         .destroy = destroy,
                                                         .ops = &still_ops};

struct still *still_put(struct toy *toy) {
  memset(&still, 0, sizeof still);
  TOY_OK(toy, tutti_plugin_register(toy->context, &still_descriptor));
  toy_put(toy, "trainer", TUTTI_KIND_BACKEND, "still");
  return &still;
}
