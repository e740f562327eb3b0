/* backend.h - kind `backend`: trains one candidate, or many at once, and predicts with the result. */
#ifndef TUTTI_BACKEND_H
#define TUTTI_BACKEND_H

#include <tutti/candidate.h>
#include <tutti/dataset.h>
#include <tutti/descriptor.h>
#include <tutti/formula.h>
#include <tutti/host.h>
#include <tutti/tensors.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_backend tutti_backend;

struct tutti_backend_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

/* One epoch done. */
struct tutti_epoch {
  size_t size;            /* sizeof(struct tutti_epoch) */
  uint32_t epoch;         /* from 1 */
  uint64_t steps;         /* so far */
  double learning_rate;   /* of its last step */
  double train_loss;      /* mean over its mini-batches, with the loss that is trained (no L2) */
  double validation_loss; /* mean, in standardised units; NaN when not evaluated */
  double seconds;         /* since training began */
};

/* What to train. Everything is borrowed until the call returns. */
struct tutti_job {
  size_t size;
  uint64_t trial;
  uint64_t run_seed; /* keys draws that all trials share */
  uint64_t seed;     /* the candidate's: keys draws of its own */
  const struct tutti_task *task;
  const tutti_network *network;          /* NULL for a backend that takes none */
  const tutti_candidate *candidate;      /* may be NULL */
  const void *config;                    /* the backend's config struct, with the candidate's hyperparameters in it */
  const tutti_split *train, *validation; /* NULL for TUTTI_TASK_VALUE; validation may be NULL elsewhere */
  const tutti_tensors *initial;          /* weights to start from; NULL: draw them */
  /* Called after each epoch; may be NULL. False: stop, and keep the best weights so far (state pruned). */
  bool (*progress)(void *argument, const struct tutti_epoch *epoch);
  void *progress_argument;
  /* Called in `train` for each finite number that people should see beside the loss, such as a test accuracy from a
     table; `name` is borrowed until return. It may be NULL. Nothing is chosen by these numbers. */
  void (*measure)(void *argument, const char *name, double value);
  void *measure_argument;
  /* The next ones only for backends that honour them (tutti_backend_honours); others refuse the job. */
  const char *const *frozen; /* labels, ended by NULL, of layers that keep the weights they start with; NULL: none */
  const float *box; /* [2][features], low then high: where head-nomu draws its artificial points, in the units of the
                       inputs. Training rows may lie outside it. NULL: their range, widened by the head's margin */
  /* [outputs]: what a training row counts for in the loss that is trained, by its class; their mean over the training
     rows is 1. NULL: all count the same. Nothing else is weighted: no validation loss, no choice of an epoch. */
  const double *class_weights;
  /* A warm start: `initial` is of another network. A layer of which it has all weights, under the layer's label and in
     the layer's shapes, starts with them; the others start with the weights that they would have without `initial`.
     False: it is of this network, and has all. */
  bool warm;
};

/* Members of a job that change what is trained, and that not every backend looks at. */
enum { TUTTI_JOB_FROZEN = 1, TUTTI_JOB_BOX = 2, TUTTI_JOB_CLASS_WEIGHTS = 4, TUTTI_JOB_WARM = 8 };

enum tutti_state {
  TUTTI_STATE_FINISHED,
  TUTTI_STATE_FAILED, /* diverged, ran out of memory, crashed or took too long: an ordinary result */
  TUTTI_STATE_PRUNED  /* stopped early on request; may have weights */
};
/* "finished", "failed" or "pruned"; NULL for other numbers. Static. */
TUTTI_API const char *tutti_state_name(enum tutti_state state);
/* Set *state to the state of that name. False, with *state unchanged, if there is none. */
TUTTI_API bool tutti_state_parse(const char *name, enum tutti_state *state);

/* The result of training a job. The caller zeroes it, sets size, and destroys `weights`. */
struct tutti_outcome {
  size_t size;
  enum tutti_state state;
  char failure[256];      /* why, when failed */
  tutti_tensors *weights; /* NULL when failed and for TUTTI_TASK_VALUE */
  double value;           /* TUTTI_TASK_VALUE: what to minimise */
  uint32_t epochs, best_epoch;
  uint64_t steps;
};

/* What an open predictor is asked. Everything is borrowed until the call returns. */
struct tutti_query {
  size_t size; /* sizeof(struct tutti_query) */
  size_t rows;
  const float *inputs; /* [rows][features], in the units of a split's inputs */
  /* Keep dropout on, as in training, but with masks that are a function of (seed, draw, layer, unit) and never of the
     row: a draw is one function. */
  bool drop;
  uint64_t seed, draw;
  /* [rows][tutti_epistemic_width]: where to write what of the uncertainty is the model's own (predictions.h); NULL: it
     is not asked for. Only of models of which the op `tells_epistemic` says yes. */
  float *epistemic;
};

/* Of what the gradient in the inputs is wanted: for each row, the sum of the numbers that are answered, each times its
   weight. Everything is borrowed until the call returns. */
struct tutti_slope {
  size_t size;               /* sizeof(struct tutti_slope) */
  const float *by_out;       /* [rows][width]; 0 where the answer is NaN */
  const float *by_epistemic; /* [rows][tutti_epistemic_width] of query->epistemic; NULL: 0 */
  float *gradient;           /* [rows][features]: where to write it, in units of `out` per unit of the inputs */
};

/* Jobs that come while others train. Everything is borrowed: a job and its outcome until it is done. */
struct tutti_job_queue {
  size_t size; /* sizeof(struct tutti_job_queue) */
  void *argument;
  /* The next job that waits, where its outcome belongs, and the number that `done` is told. False: none waits now. */
  bool (*next)(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number);
  /* It is done, and its outcome is filled. May ask the backend for predictions. */
  void (*done)(void *argument, size_t number);
};

/* The terms of a formula (formula.h) that stand for a model's predictions: probabilities [rows][outputs], or means and
   variances [rows][outputs], in standardised units. */
struct tutti_predicted_terms {
  size_t size;          /* sizeof(struct tutti_predicted_terms) */
  tutti_term inputs;    /* given: [rows][features], in the units of a split's inputs */
  tutti_term mean;      /* to be set: probabilities or means */
  tutti_term variance;  /* TUTTI_NO_TERM: none */
  tutti_term epistemic; /* the part of the variance that is the model's own; TUTTI_NO_TERM: none is told */
};

struct tutti_backend_ops {
  size_t size; /* sizeof(struct tutti_backend_ops) */

  /* REQUIRED. Does it have this built-in op? MUST answer false to ops that it does not know, those of later versions
     too. A backend that takes no networks answers false to all. Not asked about TUTTI_OP_OTHER. */
  bool (*supports)(void *self, enum tutti_op op);
  /* REQUIRED. Train one candidate. MUST be a function of the job alone (same job, same bits), whatever ran before. A
     status other than TUTTI_OK counts as a failed trial with the context's message; divergence SHOULD be TUTTI_OK with
     TUTTI_STATE_FAILED. MUST look at tutti_cancelled at least once an epoch. */
  enum tutti_status (*train)(void *self, tutti_context *context, const struct tutti_job *job,
                             struct tutti_outcome *outcome);
  /* REQUIRED but for backends of TUTTI_TASK_VALUE. Predict all rows of a split: out[rows][width] (predictions.h) in
     standardised units. `job` gives network, task and config; of its data only `task` may be used. Of a trial,
     TUTTI_ERROR_IO counts as its failure, with the context's message: a device that was lost, say. */
  enum tutti_status (*predict)(void *self, tutti_context *context, const struct tutti_job *job,
                               const tutti_tensors *weights, const tutti_split *split, float *out);

  /* OPTIONAL; default: nothing more is asked. Refuses a job before it is run; if memory is short, the message says need
     and limit. */
  enum tutti_status (*check)(void *self, tutti_context *context, const struct tutti_job *job);
  /* OPTIONAL, without default. The loss (mean over all rows of job->train, without dropout, with the layers' L2) and
     its gradient in every weight, as tensors named like the weights. Used by tests over all backends. */
  enum tutti_status (*gradient)(void *self, tutti_context *context, const struct tutti_job *job,
                                const tutti_tensors *weights, double *loss, tutti_tensors **gradient);
  /* OPTIONAL, both or neither; default: 1, and one `train` after the other. `capacity`: how many jobs are best trained
     at once. `train_many`: train them, and call done(argument, index) as each ends, in any order, with its outcome
     filled. Outcomes MUST NOT depend on which jobs run together. */
  size_t (*capacity)(void *self);
  enum tutti_status (*train_many)(void *self, tutti_context *context, size_t count, const struct tutti_job *const *jobs,
                                  struct tutti_outcome *const *outcomes, void (*done)(void *argument, size_t index),
                                  void *argument);

  /* OPTIONAL. Can it compute this very layer? Asked about every layer of a network whose built-in op `supports` has, or
     whose op a plugin defines (TUTTI_OP_OTHER; layer->op_name says which). MUST answer false to an attribute that it
     does not know and that is not at its default (tutti_layer_unknown), and to a value that it does not know, such as
     an activation of a later version: otherwise it would train another network than was asked for. Default: true only
     for built-in ops, and only if every attribute that has a default is at it. */
  bool (*supports_layer)(void *self, const struct tutti_layer *layer);

  /* OPTIONAL; default 0. TUTTI_JOB_*: the members of jobs that `train` and `gradient` look at. Jobs with others set are
     refused. A frozen layer gets a gradient of 0, and its L2 does not count. */
  unsigned honours;

  /* OPTIONAL, all three or none; default: `predict` for each question, without dropout. open: prepare trained weights
     for many questions, most of them of at most `rows` rows. Job (network, task, config) and weights are borrowed until
     close. ask: answer as `predict` does, out[query->rows][width]; MUST allocate nothing, and MUST NOT let a row's
     numbers depend on the rows beside it. One thread at a time. */
  enum tutti_status (*open)(void *self, tutti_context *context, const struct tutti_job *job,
                            const tutti_tensors *weights, size_t rows, void **predictor);
  enum tutti_status (*ask)(void *self, tutti_context *context, void *predictor, const struct tutti_query *query,
                           float *out);
  void (*close)(void *self, void *predictor);

  /* OPTIONAL, both or neither; default: no model does. tells_epistemic: does a model that this job trains (network,
     task and config) know which part of its uncertainty is its own? predict_parts: predict with such a model as
     `predict` does, and write that part into epistemic[rows][tutti_epistemic_width] (predictions.h), in standardised
     units. It MUST be neither negative nor more than the variance, or the entropy of the probabilities. The op `ask` of
     such a backend looks at query->epistemic. */
  bool (*tells_epistemic)(void *self, const struct tutti_job *job);
  enum tutti_status (*predict_parts)(void *self, tutti_context *context, const struct tutti_job *job,
                                     const tutti_tensors *weights, const tutti_split *split, float *out,
                                     float *epistemic);

  /* OPTIONAL, only with `open`, without default. Answer as `ask` does, and write the gradient in the inputs that
     `slope` wants: of the function that predicts, with dropout as the query has it, through layers that end the
     gradients of a training (detach), too. Where there is none, as at the kink of a ReLU, one from either side. May
     allocate at its first call alone. */
  enum tutti_status (*ask_slope)(void *self, tutti_context *context, void *predictor, const struct tutti_query *query,
                                 const struct tutti_slope *slope, float *out);

  /* OPTIONAL; default: 0. For how many epochs a job with this config struct trains at most. A backend that answers more
     than 0 calls job->progress after each of them, from 1 on without gaps, on the thread that called `train` or
     `train_many`, and ends the job where that says so. 0: it reports no epochs, and its trials cannot be pruned. */
  uint32_t (*epochs)(void *self, const void *config);

  /* OPTIONAL, without default; only of a backend that trains nothing itself, and then the only op that it needs. The
     name of the backend that gets the jobs with this config struct: the value of one of its searchable parameters of
     type TUTTI_PARAM_PLUGIN and kind backend, whose plugin stands in the section of its own name. */
  const char *(*delegate)(void *self, const void *config);

  /* OPTIONAL, without default; for backends that take no networks, since a network says itself what it computes. Write
     down what `predict` computes with these weights, but for roundings: add it to the formula, and set the terms. For a
     formula that only counts (tutti_formula_counts) constants may go without values, and need not be computed. */
  enum tutti_status (*formula)(void *self, tutti_context *context, const struct tutti_job *job,
                               const tutti_tensors *weights, tutti_formula *formula,
                               struct tutti_predicted_terms *terms);

  /* OPTIONAL; default: false. Do its models hold rows of the training data, which whoever has the model can read? */
  bool keeps_rows;

  /* OPTIONAL, only with `train_many`; default: the jobs that wait are trained together as train_many does, and more are
     asked for when all are done. Train jobs until none waits and all are done. MUST ask for more as one ends, and as
     long as it has room; calls back on the thread that called. A job that it refuses fails by itself. An error status:
     no more can be trained in this process, as when a device is lost; jobs that are not done by then are lost with
     it. */
  enum tutti_status (*train_queue)(void *self, tutti_context *context, const struct tutti_job_queue *queue);

  /* OPTIONAL; default: 0. How many inputs, the last ones of a row, does the network of a job (network, task and config)
     leave out? The float32 weights that it has for them are 0, and count neither as parameters nor as operations. */
  size_t (*unread)(void *self, const struct tutti_job *job);
};

/* --- the host's side --- */

/* Make an instance of the backend plugin in `section` of the host; the caller destroys *backend. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_USAGE also if the task has data and
   the backend does not predict. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_create(tutti_context *context, const tutti_host *host,
                                                                 const char *section,
                                                                 const struct tutti_backend_setup *setup,
                                                                 tutti_backend **backend);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_backend_destroy(tutti_backend *backend);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_backend_descriptor(const tutti_backend *backend);
/* Make a copy of the backend's parameters, with the hyperparameters at point[count of `domain`] set in it, for
   tutti_job.config (tutti_config_values). Inactive ones (NaN) keep the backend's value; `domain` NULL: nothing is set.
   Those called SECTION.NAME are of other sections, and passed over; see also tutti_backend_choose. The caller destroys
   *config. TUTTI_ERROR_USAGE names a hyperparameter that the backend lacks, or whose value it refuses. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_configure(tutti_context *context,
                                                                    const tutti_backend *backend,
                                                                    const tutti_domain *domain, const double *point,
                                                                    tutti_config **config);
/* Does it hand its jobs to other backends? It then trains and predicts only by those that tutti_backend_choose
   gives. */
TUTTI_API bool tutti_backend_delegates(const tutti_backend *backend);
/* Which backend trains the candidate with the hyperparameters at point[count of `domain`], and with which parameters?
   *chosen is `backend` itself or, if it delegates, another, of whose parameters the hyperparameters called PLUGIN.NAME
   are; it lives as long as `backend`. *config is for jobs of *chosen, and the caller destroys it. Errors as of
   tutti_backend_configure; one thread at a time. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_choose(tutti_context *context, const tutti_backend *backend,
                                                                 const tutti_domain *domain, const double *point,
                                                                 const tutti_backend **chosen, tutti_config **config);
/* Does it support any built-in op? Others train candidates without a network. */
TUTTI_API bool tutti_backend_takes_networks(const tutti_backend *backend);
/* Does it support this built-in op? */
TUTTI_API bool tutti_backend_supports(const tutti_backend *backend, enum tutti_op op);
/* Does it look at all these members of a job (TUTTI_JOB_*)? */
TUTTI_API bool tutti_backend_honours(const tutti_backend *backend, unsigned members);
/* Check that the backend takes every layer of job->network (NULL: none), that it honours what the job sets, and that
   its own check passes. TUTTI_ERROR_USAGE names the layer, its op, the attribute with its value, and the backend. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_check(tutti_context *context, const tutti_backend *backend,
                                                                const struct tutti_job *job);
/* Train one job. The caller has zeroed *outcome, set its size, and destroys its weights. An error status is a failed
   trial too. TUTTI_ERROR_USAGE: the job sets a member that the backend does not honour, or freezes a layer that is not
   there; TUTTI_ERROR_PLUGIN: the outcome has no such state, or finished without weights. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_train(tutti_context *context, const tutti_backend *backend,
                                                                const struct tutti_job *job,
                                                                struct tutti_outcome *outcome);
/* Predict all rows of a split with trained weights: out[rows][width] (predictions.h), in standardised units. Of the
   job, only network, task and config are used. TUTTI_ERROR_UNSUPPORTED: the backend does not predict;
   TUTTI_ERROR_NUMERIC: what it gave are no predictions: not finite, a negative variance, or probabilities that are
   negative or do not sum to one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_predict(tutti_context *context, const tutti_backend *backend,
                                                                  const struct tutti_job *job,
                                                                  const tutti_tensors *weights,
                                                                  const tutti_split *split, float *out);
/* Write down what tutti_backend_predict computes (formula.h): add it to a formula that has terms->inputs. Of the job,
   only task and config are used. TUTTI_ERROR_UNSUPPORTED: the backend cannot say it; TUTTI_ERROR_PLUGIN: it set no
   terms, or their columns are not as many as the task's outputs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_formula(tutti_context *context, const tutti_backend *backend,
                                                                  const struct tutti_job *job,
                                                                  const tutti_tensors *weights, tutti_formula *formula,
                                                                  struct tutti_predicted_terms *terms);
/* How many inputs, the last ones of a row, the job's network leaves out; 0 without a network. Of the job, only network,
   task and config are used. What the network computes is that of tutti_network_narrow. */
TUTTI_API size_t tutti_backend_unread(const tutti_backend *backend, const struct tutti_job *job);
/* How many floating-point operations a prediction of one row costs: of a network, its layers', without inputs that it
   leaves out; of others, what they write down as a formula. 0: it cannot be said. Of the job, only network, task and
   config are used. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_flops(tutti_context *context, const tutti_backend *backend,
                                                                const struct tutti_job *job,
                                                                const tutti_tensors *weights, double *flops);
/* Do its models hold rows of the training data? */
TUTTI_API bool tutti_backend_keeps_rows(const tutti_backend *backend);
/* Does a model that this job trains know which part of its uncertainty is its own? Of the job, only network, task and
   config are used. */
TUTTI_API bool tutti_backend_tells_epistemic(const tutti_backend *backend, const struct tutti_job *job);
/* Predict as tutti_backend_predict does, and write that part into epistemic[rows][tutti_epistemic_width]
   (predictions.h), in standardised units. Errors as there; TUTTI_ERROR_UNSUPPORTED also if the model does not know;
   TUTTI_ERROR_NUMERIC also if a part is negative, not finite, or more than the whole. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_backend_predict_parts(tutti_context *context, const tutti_backend *backend, const struct tutti_job *job,
                            const tutti_tensors *weights, const tutti_split *split, float *out, float *epistemic);
/* Compute the loss of job->train at these weights and its gradient, as tensors named like the weights; the caller
   destroys *gradient. TUTTI_ERROR_UNSUPPORTED: the backend does not give gradients. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_backend_gradient(tutti_context *context, const tutti_backend *backend,
                                                                   const struct tutti_job *job,
                                                                   const tutti_tensors *weights, double *loss,
                                                                   tutti_tensors **gradient);
/* A trained model that is opened once and then asked often; a question costs little more than its arithmetic. */
typedef struct tutti_predictor tutti_predictor;
/* Does it have the op `open`? Without it questions are answered by the op `predict`, and never with dropout. */
TUTTI_API bool tutti_backend_has_predictor(const tutti_backend *backend);
/* Open weights that were trained by this job, for questions of mostly at most `rows` rows. Backend, job and weights,
   and what the job points to, must outlive it; of the job, only network, task and config are used. The caller closes
   *predictor. TUTTI_ERROR_UNSUPPORTED: the backend does not predict. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_predictor_open(tutti_context *context, const tutti_backend *backend,
                                                                 const struct tutti_job *job,
                                                                 const tutti_tensors *weights, size_t rows,
                                                                 tutti_predictor **predictor);
/* Answer: out[query->rows][width] (predictions.h), in standardised units. TUTTI_ERROR_UNSUPPORTED: with dropout, where
   tutti_backend_has_predictor is false; what is the model's own, where tutti_backend_tells_epistemic is. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_predictor_ask(tutti_context *context, tutti_predictor *predictor,
                                                                const struct tutti_query *query, float *out);
/* Do its predictors give gradients in the inputs? */
TUTTI_API bool tutti_backend_has_slopes(const tutti_backend *backend);
/* Answer as tutti_predictor_ask does, and write slope->gradient[query->rows][features]. Errors as there;
   TUTTI_ERROR_UNSUPPORTED also where tutti_backend_has_slopes is false, TUTTI_ERROR_NUMERIC also if the gradient is not
   finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_predictor_slope(tutti_context *context, tutti_predictor *predictor,
                                                                  const struct tutti_query *query,
                                                                  const struct tutti_slope *slope, float *out);
/* Does it tell what of the uncertainty is the model's own (query->epistemic)? */
TUTTI_API bool tutti_predictor_tells_epistemic(const tutti_predictor *predictor);
/* Close it; NULL is allowed. */
TUTTI_API void tutti_predictor_close(tutti_predictor *predictor);
/* For how many epochs a job with these parameters (tutti_backend_configure) trains at most; 0: it reports no epochs. */
TUTTI_API uint32_t tutti_backend_epochs(const tutti_backend *backend, const tutti_config *config);
/* How many jobs are best trained at once, >= 1. */
TUTTI_API size_t tutti_backend_capacity(const tutti_backend *backend);
/* Train jobs[count] into outcomes[count], each prepared as for tutti_backend_train, and call done(argument, index) as
   each ends, in any order, once each. Without the op `train_many` they are trained in order, and the first error ends
   the call. Outcomes are checked as those of tutti_backend_train are; one that breaks the contract is a failed one that
   says so. After an error, jobs for which `done` was not called have no outcome. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_backend_train_many(tutti_context *context, const tutti_backend *backend, size_t count,
                         const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                         void (*done)(void *argument, size_t index), void *argument);
/* Train the jobs of a queue until none waits and all are done (the op train_queue). The sizes of their outcomes are
   set. A job that sets a member which the backend does not honour fails by itself. An error status: jobs that are not
   done are lost, and nothing more can be trained in this process. One thread at a time. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_backend_train_queue(tutti_context *context, const tutti_backend *backend, const struct tutti_job_queue *queue);

TUTTI_END_DECLS
#endif
