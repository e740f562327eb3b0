/* members.h - what surrogates made of networks share: observations become a training set, specifications become jobs of
   a trainer (a backend), trained networks become members, and members give mean and standard deviation. */
#ifndef TUTTI_MEMBERS_H
#define TUTTI_MEMBERS_H

#include <tutti/backend.h>
#include <tutti/surrogate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_members tutti_members;

/* How values are scaled for training; predictions are scaled back. */
enum tutti_member_values {
  TUTTI_MEMBER_VALUES_RANGE, /* the observed range becomes [-1, 1] */
  TUTTI_MEMBER_VALUES_NONE
};
/* The choices of a parameter, in the order of the enum. */
static const char *const tutti_member_values_names[] = {"range", "none", NULL};

/* Where trainings start: from weights that are drawn, or from those of the fit to one observation less. */
enum tutti_member_start { TUTTI_MEMBER_START_SCRATCH, TUTTI_MEMBER_START_LAST };
static const char *const tutti_member_start_names[] = {"scratch", "last", NULL};

/* The row for int start of a surrogate that fits by tutti_members_settle. */
#define TUTTI_MEMBERS_START_PARAM(config_type)                                                                         \
  TUTTI_CHOICE(                                                                                                        \
      config_type, start, "scratch", tutti_member_start_names,                                                         \
      "Training starts from scratch, or from the weights of the last fit, that to one observation less. Then "         \
      "it starts from scratch only where the number of observations is a power of two: so a resumed search "           \
      "repeats at most half of the fits, to the same bits.")

/* The rows of a surrogate's parameter table for what every surrogate made of networks has: int values and int64_t
   retries of its config. */
#define TUTTI_MEMBERS_PARAMS(config_type)                                                                              \
  TUTTI_CHOICE(config_type, values, "range", tutti_member_values_names,                                                \
               "Values are trained on scaled to [-1, 1] by the range observed, or as they are."),                      \
      TUTTI_INTEGER(config_type, retries, "3", 0, 100, "A training that diverges is repeated from so many seeds.")

struct tutti_members_setup {
  size_t size;
  const struct tutti_surrogate_setup *surrogate; /* as the surrogate's `create` got it; borrowed until return */
  const char *name;                              /* the surrogate's, for messages; borrowed */
  const char *trainer;                           /* section of the host; NULL: "trainer" */
  enum tutti_op head;                            /* that all networks end in */
  unsigned honours;                              /* TUTTI_JOB_*: what jobs will set */
  bool predictor;                                /* predictions with dropout will be asked for */
  enum tutti_member_values values;
  size_t retries; /* trainings that diverge are repeated from so many other seeds */
  enum tutti_member_start start;
};

/* Make one without observations, with a trainer of its own; the caller destroys *members. TUTTI_ERROR_USAGE names the
   trainer and what it lacks. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_members_create(tutti_context *context, const struct tutti_members_setup *setup, tutti_members **members);
/* Destroy it with all members; NULL is allowed. */
TUTTI_API void tutti_members_destroy(tutti_members *members);
/* The trainer; it stays the members'. */
TUTTI_API const tutti_backend *tutti_members_trainer(const tutti_members *members);
/* The task of all jobs: one real output, as many features as vectors have numbers. */
TUTTI_API const struct tutti_task *tutti_members_task(const tutti_members *members);

/* Forget all, and take these observations (count >= 1). Vectors of a domain go from [0, 1] to [-1, 1]; of plain reals,
   the observed range does. TUTTI_ERROR_NUMERIC: a number is not finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_observe(tutti_context *context, tutti_members *members,
                                                                  const struct tutti_points *points,
                                                                  const double *values);
/* The number of observations; while tutti_members_settle fits, of those to fit to. */
TUTTI_API size_t tutti_members_observed(const tutti_members *members);

/* One training. */
struct tutti_member {
  size_t size;
  const tutti_network *network; /* borrowed for as long as it is a member */
  const tutti_config *config;   /* of the trainer (tutti_backend_configure); likewise */
  uint64_t seed;
  const float *box; /* [2][features]; these three as in struct tutti_job */
  const char *const *frozen;
  const tutti_tensors *initial;
  size_t rows;             /* observations to train on; 0: all */
  const uint32_t *indices; /* [rows] */
};

/* Train specs[count] on the observations, together where the trainer can; the caller destroys weights[count]. A
   training that diverges is repeated from another seed. TUTTI_ERROR_NUMERIC: all attempts diverged; the message gives
   the number of observations, and what the trainer said last. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_train(tutti_context *context, tutti_members *members,
                                                                size_t count, const struct tutti_member *specs,
                                                                tutti_tensors **weights);
/* Predict all observations by trained weights: mean[observed], in the units of the training. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_fitted(tutti_context *context, tutti_members *members,
                                                                 const struct tutti_member *spec,
                                                                 const tutti_tensors *weights, double *mean);
/* The observed values [observed] in the units of the training; borrowed until the next observations. */
TUTTI_API const float *tutti_members_targets(const tutti_members *members);
/* Replace the members by these networks; weights[count] are taken over, and set to NULL, even on failure. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_take(tutti_context *context, tutti_members *members,
                                                               size_t count, const struct tutti_member *specs,
                                                               tutti_tensors **weights);
/* Fit to the observations by fit(argument), which trains members on the first tutti_members_observed of them and takes
   them (tutti_members_take). With start = last it is called for one count after the other, up to all; fits that were
   made to the same observations before are not made again. So what members there are is a function of the observations
   alone. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_members_settle(tutti_context *context, tutti_members *members,
                     enum tutti_status (*fit)(void *argument, tutti_context *context), void *argument);
/* While tutti_members_settle fits: the weights of member `index` in the fit before, to start from; NULL: draw them. */
TUTTI_API const tutti_tensors *tutti_members_last(const tutti_members *members, size_t index);

/* How members become moments. */
enum tutti_member_moments {
  TUTTI_MEMBER_OWN, /* of the first member alone: its mean, and the root of its variance, without noise that it tells */
  TUTTI_MEMBER_BETWEEN, /* mean of the members' means, and their standard deviation, with 1 / count */
  TUTTI_MEMBER_DRAWS    /* the same over `draws` draws of dropout of the first member, keyed by `seed` */
};
/* Write mean[points->count] and deviation[points->count] in the units of the observations. Grows its memory only with
   the number of points. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_predict(tutti_context *context, tutti_members *members,
                                                                  const struct tutti_points *points,
                                                                  enum tutti_member_moments moments, size_t draws,
                                                                  uint64_t seed, double *mean, double *deviation);

/* Does the trainer give gradients of predictions in the inputs? */
TUTTI_API bool tutti_members_has_gradient(const tutti_members *members);
/* What tutti_members_predict gives at one vector[dimension], and the gradients [dimension] of both; of a deviation of
   0, zeros. TUTTI_ERROR_UNSUPPORTED: tutti_members_has_gradient is false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_gradient(tutti_context *context, tutti_members *members,
                                                                   const double *vector,
                                                                   enum tutti_member_moments moments, size_t draws,
                                                                   uint64_t seed, double *mean, double *deviation,
                                                                   double *mean_gradient, double *deviation_gradient);

/* Add dense layers "<prefix>1", "<prefix>2", ... of units[count], each with bias, this L2 weight and ReLU, and dropout
   of that rate after each unless it is 0. *layer: the last one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_members_add_hidden(tutti_context *context, tutti_network *network,
                                                                     const char *prefix,
                                                                     const struct tutti_integers *units, double l2,
                                                                     double dropout, uint32_t *layer);

TUTTI_END_DECLS
#endif
