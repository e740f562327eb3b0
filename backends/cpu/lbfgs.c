/* lbfgs.c - trains on all rows at once by L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale
   optimization", Mathematical Programming 45, 1989).

   The objective is a function of the weights alone: the mean loss over all training rows plus the layers' L2, l2 |W|^2
   each. Rows go through the network a few hundred at a time. Losses and gradients are added in double precision; the
   minimiser's weights are doubles, which the network sees as floats.

   The minimiser is liblbfgs. NLopt, which other parts use, calls back once per evaluation, not once per iteration; but
   a validation, a point of the learning curve and a chance to stop belong to an iteration.

   A step that overflows is not a failure: the line search halves the step when the loss is infinite. When floats cannot
   resolve a better point, it ends and keeps what it has reached. */
#include "train_impl.h"

#include <lbfgs.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { LINE_SEARCH_STEPS = 30 };

struct minimiser {
  tutti_context *context;
  struct training *training;
  struct tutti_outcome *outcome;
  struct tutti_epoch epoch; /* its number is that of the last finished iteration */
  double loss;              /* of the last evaluation, without L2 */
  enum tutti_status status;
  bool stopped;
};

/* --- what can be minimised --- */

enum tutti_status backend_cpu_lbfgs_check(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->optimiser != CPU_LBFGS)
    return TUTTI_OK;
  if (backend_cpu_augments(config))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.optimiser: lbfgs wants the same images in each epoch; leave out %s, or take another "
                      "optimiser",
                      backend_cpu_augments(config));
  if (config->average > 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "backend.average: iterations of lbfgs go down to one point, and are not averaged; leave it out, or "
        "take another optimiser");
  for (size_t i = 0; i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    bool drops =
        (layer->op == TUTTI_OP_DROPOUT || layer->op == TUTTI_OP_DROP_PATH) && tutti_layer_real(layer, "rate", 0) > 0;
    if (drops || layer->op == TUTTI_OP_HEAD_NOMU || layer->op == TUTTI_OP_BATCH_NORM)
      return TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "backend.optimiser: lbfgs minimises the sum of the rows' losses, and layer %s (%s) makes it %s; "
          "take another optimiser",
          layer->label, tutti_op_name(layer->op),
          layer->op == TUTTI_OP_BATCH_NORM ? "depend on which rows come together" : "random");
  }
  return TUTTI_OK;
}

/* --- liblbfgs's side --- */

/* The objective at x[count] and its gradient; infinity if either is not finite. At the start, that ends the
   training. */
static double objective_lbfgs(struct minimiser *m, const double *x, double *gradient, int count) {
  struct training *t = m->training;
  double penalty;
  for (int i = 0; i < count; i++)
    t->plan->weights[i] = (float)x[i];
  m->loss = backend_cpu_full_gradient(t, gradient, &penalty);
  m->epoch.steps++;
  double sum = m->loss + penalty;
  for (int i = 0; i < count; i++)
    sum += gradient[i];
  if (isfinite(sum))
    return m->loss + penalty;
  if (m->epoch.steps == 1) {
    m->epoch.epoch = 1;
    m->stopped = true;
    backend_cpu_diverged(t, &m->epoch, "the loss, or its gradient,", sum, m->outcome);
  }
  return HUGE_VAL;
}

/* The same, as liblbfgs calls it. After the end it returns no gradient: that stops liblbfgs at once at the start, and
   in a line search soon. */
static lbfgsfloatval_t evaluate_lbfgs(void *instance, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient,
                                      const int count, const lbfgsfloatval_t step) {
  struct minimiser *m = instance;
  (void)step;
  if (!m->stopped && tutti_cancelled(m->context)) {
    m->stopped = true;
    m->status = TUTTI_FAIL(m->context, TUTTI_ERROR_CANCELLED, "training was cancelled in epoch %u", m->epoch.epoch + 1);
  }
  double objective = m->stopped ? HUGE_VAL : objective_lbfgs(m, x, gradient, count);
  if (m->stopped)
    memset(gradient, 0, (size_t)count * sizeof *gradient);
  return objective;
}

/* An iteration has finished, and the network has its weights. A result other than 0 stops. */
static int progress_lbfgs(void *instance, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient,
                          const lbfgsfloatval_t objective, const lbfgsfloatval_t weight_norm,
                          const lbfgsfloatval_t gradient_norm, const lbfgsfloatval_t step, int count, int iteration,
                          int evaluations) {
  struct minimiser *m = instance;
  (void)x, (void)gradient, (void)objective, (void)weight_norm, (void)gradient_norm, (void)count, (void)evaluations;
  m->epoch.epoch = (uint32_t)iteration;
  m->epoch.learning_rate = step;
  m->epoch.train_loss = m->loss;
  m->stopped = !backend_cpu_epoch_done(m->training, &m->epoch, m->outcome);
  return m->stopped;
}

/* --- training --- */

static lbfgs_parameter_t parameters_lbfgs(const struct cpu_config *config) {
  lbfgs_parameter_t p;
  lbfgs_parameter_init(&p);
  p.m = (int)config->lbfgs_history;
  p.epsilon = config->lbfgs_tolerance;
  p.max_iterations = (int)config->epochs;
  p.max_linesearch = LINE_SEARCH_STEPS;
  p.linesearch = LBFGS_LINESEARCH_BACKTRACKING_WOLFE;
  p.min_step = 0; /* the first step has length 1, however steep the loss is there */
  return p;
}

enum tutti_status backend_cpu_minimise(tutti_context *context, struct training *t, struct tutti_outcome *outcome) {
  const struct cpu_plan *plan = t->plan;
  struct minimiser m = {.context = context, .training = t, .epoch = {.size = sizeof m.epoch}, .outcome = outcome};
  lbfgs_parameter_t parameters = parameters_lbfgs(t->config);
  double *x = NULL;
  if (plan->trained > INT_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "lbfgs: the network has %zu weights, and at most %d can be",
                      plan->trained, INT_MAX);
  TUTTI_TRY(context, tutti_alloc(context, plan->trained, sizeof *x, &x));
  for (size_t i = 0; i < plan->trained; i++)
    x[i] = (double)plan->weights[i];
  backend_cpu_keep(t); /* if no iteration is needed */
  int result = lbfgs((int)plan->trained, x, NULL, evaluate_lbfgs, progress_lbfgs, &m, &parameters);
  tutti_free(x);
  if (result == LBFGSERR_OUTOFMEMORY)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory for %lld iterations' gradients of %zu weights",
                      (long long)t->config->lbfgs_history, plan->trained);
  if (result < LBFGSERR_OUTOFINTERVAL) /* smaller codes are refusals, not ends of a line search */
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "liblbfgs takes no such minimisation: its code is %d", result);
  return m.status;
}
