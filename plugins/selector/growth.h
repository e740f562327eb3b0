/* growth.h - what selectors share that grow an ensemble model by model: their parameters, the loss that they minimise, the
   path of picks, and the trace that says why. */
#ifndef TUTTI_SELECTOR_GROWTH_H
#define TUTTI_SELECTOR_GROWTH_H

#include <tutti/ensemble_loss.h>
#include <tutti/plugin.h>

/* --- parameters and instances ------------------------------------------------------------------------------------ */

/* A selector's config struct begins with this, as its field `growth`. */
struct growth_config {
  int64_t size;
  int loss, density, epistemic, keep;
};

extern const char *const growth_losses[], *const growth_densities[], *const growth_epistemic[], *const growth_keeps[];

/* clang-format off */
#define GROWTH_PARAMS(config_type) \
  {.name = "size", .type = TUTTI_PARAM_INTEGER, .offset = offsetof(config_type, growth.size), .preset = "5", .min = 1, \
   .max = TUTTI_NO_LIMIT, .unit = "members", .doc = "Members of the ensemble; fewer where the pool has fewer models."}, \
  {.name = "loss", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, growth.loss), .preset = "auto", \
   .choices = growth_losses, \
   .doc = "What the ensemble minimises on the validation rows; auto: nll, or mse where no model predicts a variance."}, \
  {.name = "density", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, growth.density), \
   .preset = "mixture", .choices = growth_densities, \
   .doc = "Regression's nll is that of the mixture of Gaussians, or of one Gaussian with the mixture's moments."}, \
  {.name = "epistemic", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, growth.epistemic), \
   .preset = "unbiased", .choices = growth_epistemic, \
   .doc = "With density = moments, the variance of the means is divided by K - 1 (unbiased) or K (population)."}, \
  {.name = "keep", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, growth.keep), .preset = "last", \
   .choices = growth_keeps, \
   .doc = "What is kept of the picks: all up to the last, or as many of the first as have the best (lowest) loss."}
/* clang-format on */

/* What a value of the parameter `loss` stands for; TUTTI_LOSS_COUNT for auto. */
enum tutti_loss growth_loss(int choice);
/* TUTTI_ERROR_USAGE if the task does not have that loss. */
enum tutti_status growth_check(tutti_context *context, int choice, enum tutti_task_kind task);
/* `create` and `destroy` of such selectors: an instance is its config. A loss that the task does not have is refused before
   anything trains. */
enum tutti_status growth_create(tutti_context *context, const void *config, const void *setup, void **self);
void growth_destroy(void *self);
const void *growth_config_of(const void *self);
/* The caller's count in place of the parameter `size`. */
size_t growth_size(const void *self, size_t count);

/* --- ranking and leaving out --------------------------------------------------------------------------------------- */

/* Numbers of models by ascending losses[models], the lower number first on ties, NaN last; free with tutti_free. */
enum tutti_status growth_rank(tutti_context *context, size_t models, const double *losses, size_t **order);
/* A step of the trace for each model whose loss is NaN. */
enum tutti_status growth_trace_passed_over(tutti_context *context, const struct tutti_pool *pool, const char *loss,
                                           const double *losses, tutti_ensemble *ensemble);

/* --- growing ------------------------------------------------------------------------------------------------------ */

/* One pick and what the ensemble's loss was after it. */
struct growth_pick {
  size_t model, runner_up; /* of the pool; runner_up: its number of models where there is none */
  double loss, runner_up_loss;
  size_t copies; /* of this model among the picks so far */
  size_t rank;   /* of the model by its own loss, from 1; 0 where models did not come in that order */
  bool needed;   /* taken for `least` alone: no model improved the ensemble */
};

/* An ensemble that grows. */
struct growth {
  const struct growth_config *config;
  const struct tutti_pool *pool;
  tutti_ensemble_loss *loss;
  enum tutti_loss minimised;
  double *own;    /* [models]: losses of the models alone */
  bool *barred;   /* [models]: not to be taken */
  size_t *copies; /* [models]: how often each was taken */
  size_t picks, members, room;
  struct growth_pick *path; /* [picks] */
};

/* Begin an empty ensemble under the loss that is asked for. Models whose loss is NaN are barred. TUTTI_ERROR_NUMERIC if
   all are. Call growth_close whatever happens. */
enum tutti_status growth_open(tutti_context *context, const struct growth_config *config, const struct tutti_pool *pool,
                              struct growth *growth);
void growth_close(struct growth *growth);
/* Take a model: pick->model, runner_up and their losses are set, and rank where it has one. */
enum tutti_status growth_take(tutti_context *context, struct growth *growth, struct growth_pick pick);
/* Members with weights by copies, and the trace: each pick, then the models that were passed over. `end` says why the growth
   ended where that needs saying, else "". */
enum tutti_status growth_finish(tutti_context *context, const struct growth *growth, const char *end,
                                tutti_ensemble *ensemble);

enum growth_accept {
  GROWTH_ACCEPT_ANY,      /* the best addition, even if the loss rises */
  GROWTH_ACCEPT_BETTER,   /* only one that lowers the loss */
  GROWTH_ACCEPT_NOT_WORSE /* one that does not raise it */
};
/* What is equal but for rounding is not better. */
bool growth_accepts(const struct growth *growth, enum growth_accept accept, double loss);
/* Greedy growth: the model with the lowest loss of its own, then always the best addition, until one limit is reached. */
struct growth_rule {
  bool replace; /* a model can be taken again */
  enum growth_accept accept;
  size_t members; /* different models, at most */
  size_t least;   /* different models that are taken even where no addition is accepted */
  size_t picks;   /* picks, at most */
};
enum tutti_status growth_select(tutti_context *context, const struct growth_config *config,
                                const struct growth_rule *rule, const struct tutti_pool *pool,
                                tutti_ensemble *ensemble);

#endif
