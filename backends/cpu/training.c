/* training.c - a job that is being trained: its set-up, the gradient of its rows, and the end of an epoch. Mini-batches
   (train.c) and L-BFGS (lbfgs.c) share it. */
#include "train_impl.h"

#include "nomu_impl.h"
#include "plan_impl.h"
#include "team_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/clock.h>

/* --- setting up --- */

void backend_cpu_training_destroy(struct training *t) {
  backend_cpu_stepper_destroy(t->stepper);
  backend_cpu_team_destroy(t->plan ? t->plan->team : NULL);
  backend_cpu_plan_destroy(t->plan);
  tutti_free(t->order);
  tutti_free(t->low);
  tutti_free(t->average);
}

/* Rows per mini-batch. For L-BFGS, whose batch is all rows, as many rows at a time as stay in cache. */
static size_t rows_at_once(const struct tutti_job *job, bool optimise) {
  const struct cpu_config *config = job->config;
  size_t rows = tutti_split_rows(job->train), wanted = optimise ? (size_t)config->batch_size : 0;
  if (optimise && config->optimiser == CPU_LBFGS)
    wanted = backend_cpu_evaluation_rows(job->network);
  return wanted == 0 || wanted > rows ? rows : wanted;
}

enum tutti_status backend_cpu_training_create(tutti_context *context, const struct cpu_kernels *kernels,
                                              const struct tutti_job *job, bool optimise, struct training *t) {
  const struct cpu_config *config = job->config;
  size_t rows = tutti_split_rows(job->train), artificial = backend_cpu_artificial(job->network);
  memset(t, 0, sizeof *t);
  t->job = job;
  t->config = config;
  t->batch = rows_at_once(job, optimise);
  size_t most = t->batch + artificial, evaluated = backend_cpu_evaluation_rows(job->network);
  if (config->storage == CPU_STORAGE_HALF) /* predictions use floats, in the same places */
    evaluated *= sizeof(float) / sizeof(uint16_t);
  if (job->validation && most < evaluated)
    most = evaluated;
  TUTTI_TRY(context, backend_cpu_plan_create_job(context, kernels, job, most, &t->plan));
  t->plan->artificial = artificial;
  t->plan->batch = t->batch + artificial;
  backend_cpu_decays(t->plan, config);
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *t->order, &t->order));
  if (artificial) {
    size_t features = t->plan->nodes[0].width * t->plan->nodes[0].pixels;
    TUTTI_TRY(context, tutti_alloc(context, 2 * features, sizeof *t->low, &t->low));
    t->high = t->low + features;
    TUTTI_TRY(context, backend_cpu_box(context, job, t->low));
    tutti_random_init(&t->box, job->seed, "artificial points", 0);
  }
  if (!optimise)
    return TUTTI_OK;
  if (config->optimiser != CPU_LBFGS)
    TUTTI_TRY(context, backend_cpu_stepper_create(context, t->plan, config, &t->stepper));
  if (tutti_threads(context) > 1 && t->plan->scratch.pack)
    TUTTI_TRY(context, backend_cpu_team_create(context, tutti_threads(context), &t->plan->team));
  if (config->average > 0)
    TUTTI_TRY(context, tutti_alloc(context, t->plan->floats, sizeof *t->average, &t->average));
  struct tutti_random dropout;
  tutti_random_init(&dropout, job->seed, "dropout", 0);
  t->draws.drop = true;
  t->draws.key = tutti_random_u64(&dropout);
  t->augment = backend_cpu_augments(config) != NULL;
  t->augmentation = backend_cpu_augmentation(config, job);
  t->watch = backend_cpu_watch_begin(config);
  t->keeps_measured =
      t->stepper &&
      backend_cpu_keeps_measured(config, rows, t->batch, job->validation && tutti_split_rows(job->validation) > 0);
  TUTTI_TRY(context, backend_cpu_weights_begin(context, t->plan, job));
  memcpy(t->plan->other, t->plan->weights, t->plan->floats * sizeof(float));
  t->began = tutti_clock();
  return TUTTI_OK;
}

/* --- the gradient of rows --- */

static void rows_in_order(struct training *t) {
  size_t rows = tutti_split_rows(t->job->train);
  for (size_t i = 0; i < rows; i++)
    t->order[i] = (uint32_t)i;
}

void backend_cpu_shuffle_rows(struct training *t, uint32_t epoch) {
  size_t rows = tutti_split_rows(t->job->train);
  rows_in_order(t);
  if (t->batch == rows)
    return; /* all rows in one batch: their order does not matter */
  struct tutti_random random;
  tutti_random_init(&random, backend_cpu_shared_seed(t->config, t->job), "mini-batches", epoch);
  tutti_random_shuffle(&random, rows, t->order);
}

/* Points of a network of one input. */
static void set_grid(const struct training *t, float *points) {
  for (uint32_t i = 0; i < (uint32_t)t->plan->artificial; i++)
    points[i * t->plan->nodes[0].ld] = nomu_grid_point(t->low[0], t->high[0], i, (uint32_t)t->plan->artificial);
}

static void set_artificial(struct training *t, size_t rows) {
  const struct cpu_node *input = &t->plan->nodes[0];
  if (t->plan->artificial > 0 && backend_cpu_plan_head(t->plan)->attributes->points == TUTTI_NOMU_POINTS_GRID) {
    set_grid(t, input->value + rows * input->ld);
    return;
  }
  for (size_t r = rows; r < rows + t->plan->artificial; r++)
    for (size_t f = 0; f < input->width * input->pixels; f++)
      tutti_random_fill_uniform(&t->box, 1, t->low[f], t->high[f],
                                input->value + (r * input->pixels + f / input->width) * input->ld + f % input->width);
}

double backend_cpu_rows_gradient(struct training *t, size_t count, const uint32_t *rows,
                                 const struct cpu_draws *draws) {
  struct cpu_plan *plan = t->plan;
  backend_cpu_gather(plan, t->job->train, count, rows, t->augment ? &t->augmentation : NULL, true);
  set_artificial(t, count);
  backend_cpu_forward(plan, count + plan->artificial, draws);
  plan->head.class_weights = t->job->class_weights;
  plan->head.label_smoothing = (float)t->config->label_smoothing;
  double loss = backend_cpu_loss(plan, count, true);
  backend_cpu_backward(plan, count + plan->artificial);
  return loss;
}

double backend_cpu_full_gradient(struct training *t, double *gradient, double *penalty) {
  const struct cpu_plan *plan = t->plan;
  size_t rows = tutti_split_rows(t->job->train);
  double loss = 0;
  rows_in_order(t);
  memset(gradient, 0, plan->trained * sizeof *gradient);
  for (size_t begin = 0; begin < rows; begin += t->batch) {
    size_t count = rows - begin < t->batch ? rows - begin : t->batch;
    double share = (double)count / (double)rows;
    loss += share * backend_cpu_rows_gradient(t, count, t->order + begin, &(struct cpu_draws){.drop = false});
    for (size_t i = 0; i < plan->trained; i++)
      gradient[i] += share * (double)plan->gradients[i];
  }
  *penalty = 0;
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    size_t end = segment->offset + segment->rows * segment->ld;
    double decay = (double)segment->decay, squares = 0;
    if (segment->frozen)
      memset(gradient + segment->offset, 0, (end - segment->offset) * sizeof *gradient);
    for (size_t i = segment->offset; i < end && decay > 0; i++) {
      double w = (double)plan->weights[i];
      squares += w * w;
      gradient[i] += decay * w;
    }
    *penalty += 0.5 * decay * squares;
  }
  return loss;
}

/* --- the weights that are kept --- */

/* Weights that the optimiser trains need no copy: the next step leaves them where they are, and writes to the other
   place. L-BFGS writes over them. What the forward pass changes is copied at once: running statistics. */
void backend_cpu_keep(struct training *t) {
  struct cpu_plan *plan = t->plan;
  size_t from = t->stepper ? plan->trained : 0;
  memcpy(plan->other + from, plan->weights + from, (plan->floats - from) * sizeof(float));
  t->here = t->stepper != NULL;
}

/* Between two steps the other place is free, or holds what was kept before. */
static void keep_average(struct training *t) {
  memcpy(t->plan->other, t->average, t->plan->floats * sizeof(float));
  t->here = false;
}

void backend_cpu_step_on(struct training *t, double rate) {
  struct cpu_plan *plan = t->plan;
  const float *from = plan->weights;
  if (t->here) {
    float *kept = plan->weights;
    plan->weights = plan->other;
    plan->other = kept;
    for (size_t i = plan->trained; i < plan->floats; i++) {
      float now = kept[i];
      kept[i] = plan->weights[i];
      plan->weights[i] = now;
    }
    t->here = false;
  }
  backend_cpu_step(t->stepper, rate, from);
}

const float *backend_cpu_kept(const struct training *t) { return t->here ? t->plan->weights : t->plan->other; }

/* --- the end of an epoch --- */

void backend_cpu_diverged(struct training *t, const struct tutti_epoch *epoch, const char *what, double value,
                          struct tutti_outcome *outcome) {
  t->diverged = true;
  backend_cpu_say_diverged(t->config, epoch, what, value, outcome);
}

/* Validate and act on the result; false: stop. */
static bool finish_epoch(struct training *t, struct tutti_epoch *epoch, struct tutti_outcome *outcome) {
  bool validate = t->job->validation && tutti_split_rows(t->job->validation) > 0;
  bool averaged = backend_cpu_average(t, epoch->epoch);
  float *own = t->plan->weights;
  if (averaged)
    t->plan->weights = t->average;
  epoch->validation_loss = validate ? backend_cpu_evaluate(t->plan, t->job->validation) : NAN;
  t->plan->weights = own;
  double watched = validate ? epoch->validation_loss : epoch->train_loss;
  if (!isfinite(watched))
    backend_cpu_diverged(t, epoch, validate ? "the validation loss" : "the loss", watched, outcome);
  if (t->diverged)
    return false;
  bool keep, go_on = backend_cpu_watch(t->config, &t->watch, epoch->epoch, watched, &keep);
  if (keep && averaged)
    keep_average(t);
  else if (keep && !t->keeps_measured)
    backend_cpu_keep(t);
  return go_on;
}

bool backend_cpu_epoch_done(struct training *t, struct tutti_epoch *epoch, struct tutti_outcome *outcome) {
  outcome->epochs = epoch->epoch;
  outcome->steps = epoch->steps;
  bool go_on = !t->diverged && finish_epoch(t, epoch, outcome);
  if (t->diverged)
    return false;
  epoch->seconds = tutti_clock() - t->began;
  if (t->job->progress && !t->job->progress(t->job->progress_argument, epoch)) {
    outcome->state = TUTTI_STATE_PRUNED;
    return false;
  }
  return go_on;
}
