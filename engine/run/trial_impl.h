/* trial_impl.h - the life of one trial in a worker: request, training, artefacts, reply. */
#ifndef TUTTI_TRIAL_IMPL_H
#define TUTTI_TRIAL_IMPL_H

#include "experiment_impl.h"
#include "run_files.h"

#include <jansson.h>

struct tutti_training;
/* What differs between the trials of a search with data (trial_model.c), of one without, and the repeats of a fit
   (trial_fit.c). */
struct tutti_trial_kind {
  /* Make the job of a candidate; NULL: it has none. */
  enum tutti_status (*prepare)(tutti_context *context, const struct tutti_experiment *experiment,
                               struct tutti_training *training);
  enum tutti_status (*train)(tutti_context *context, const struct tutti_experiment *experiment,
                             struct tutti_training *training);
  /* Write what came of it into the trial's folder, and set *loss. NULL: there is nothing to write, and the loss is the
     outcome's value. */
  enum tutti_status (*write)(tutti_context *context, const struct tutti_experiment *experiment, const char *folder,
                             struct tutti_training *training, json_t *files, json_t *metrics, double *loss);
  bool has_weights;   /* without them there is nothing to write */
  const char *number; /* what the loss is, for messages */
};
extern const struct tutti_trial_kind tutti_trial_model, tutti_trial_value, tutti_trial_fit;

/* A trial being trained. */
struct tutti_training {
  const struct tutti_trial_kind *kind;
  uint64_t number;
  tutti_candidate *candidate;
  tutti_network *network;
  tutti_tensors *initial;       /* the weights of its parent, to start from; NULL: it draws its own */
  const tutti_backend *learner; /* what trains it */
  tutti_config *config;
  struct tutti_headed_task task; /* that of its candidate */
  struct tutti_job job;
  struct tutti_outcome outcome;
  struct tutti_fold_training *folds; /* [folds], of those that were begun; NULL: none (trial_folds_impl.h) */
  size_t fold_count;
  struct tutti_epoch *curve; /* [epochs] */
  size_t epochs, room;
  json_t *measures;       /* object: numbers beside the loss, by name; NULL: none */
  tutti_dataset *dataset; /* of a repeat of a fit: its data, and what came of it */
  struct tutti_fit_result fit;
  double *class_weights; /* of its job; NULL: none */
  size_t unread;         /* so many inputs its network leaves out, which count for nothing */
  size_t parameters;     /* of its network, as it computes; 0: it has none */
  double flops;          /* of a prediction of one row, of all its models; 0: not known */
  bool timed;            /* what that takes is to be measured, too */
  double microseconds;   /* ... and is, of a processor; 0: not known */
  double started;        /* seconds of the monotonic clock */
  tutti_context *context;
  /* What its pruner asks of it; NULL: nothing. losses: those of the curve. most_epochs: for so many it trains at most;
     0: its backend reports none. */
  tutti_rule *rule;
  double *losses;          /* [epochs]: on the validation rows */
  double *training_losses; /* [epochs] */
  uint32_t most_epochs;
  /* To stop before its end, whatever its rule says: what the manager says of it, {"why", "keep"} as JSON (NULL:
     nothing), and the epoch with which it stops at the earliest. stopped: it has. */
  json_t *stop;
  uint32_t stop_after;
  bool stopped;
  /* Called after each epoch, to tell the manager; NULL: nobody wants to know. */
  void (*report)(void *argument, const struct tutti_training *training);
  void *report_argument;
};

/* What a request says; texts are JSON, and those that may be NULL leave a member out. */
struct tutti_request {
  uint64_t trial, fingerprint;
  const char *plugins; /* of the manager (run_plugins.h); NULL: nobody compares them */
  const char *candidate;
  const char *rule;   /* NULL: nothing is pruned in this run, and nobody asks for the curve */
  const char *parent; /* whose weights it starts from (run_warm.h); NULL: it starts anew */
  const char *stop;   /* {"why", "keep", "epoch"}: it was stopped there, and is trained again; NULL: it was not */
  bool timed;         /* what its predictions take is measured */
};
/* {"trial": n, "data": "<fingerprint>", "plugins": {...}, "candidate": {...}, "rule": [...], "parent": {...}, "stop":
   {...}, "timed": true}; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_request_print(tutti_context *context, const struct tutti_request *request,
                                                      char **text);

/* Turn a request's text into a job. `directory` is the one that the worker was started with. The caller zeroes
   *training and ends it with tutti_training_end, also on failure. */
TUTTI_NODISCARD enum tutti_status tutti_training_begin(tutti_context *context,
                                                       const struct tutti_experiment *experiment, const char *directory,
                                                       const char *request, struct tutti_training *training);
/* Train it by itself. */
TUTTI_NODISCARD enum tutti_status tutti_training_train(tutti_context *context,
                                                       const struct tutti_experiment *experiment,
                                                       struct tutti_training *training);
/* A reply whose files are not durable yet. A disk takes its time, so the next training may begin before it is sent. */
struct tutti_file_syncing;
struct tutti_unsent {
  uint64_t number;
  char *reply; /* NULL: there is none */
  double seconds;
  struct tutti_file_syncing *syncing;
};
/* Predict, write the artefacts under DIRECTORY/trials/NUMBER, and make the reply. `result` is the status of the
   training. */
TUTTI_NODISCARD enum tutti_status
tutti_training_reply_begin(tutti_context *context, const struct tutti_experiment *experiment, const char *directory,
                           enum tutti_status result, struct tutti_training *training, struct tutti_unsent *unsent);
/* Wait for the files; the caller sends *reply and frees it. */
TUTTI_NODISCARD enum tutti_status tutti_training_reply_end(tutti_context *context, struct tutti_unsent *unsent,
                                                           char **reply);
/* Wait for the files of one that is not sent; one without a reply is fine. */
void tutti_unsent_drop(tutti_context *context, struct tutti_unsent *unsent);
void tutti_training_end(struct tutti_training *training);

/* Let it stop with the next epoch that ends, unless that is its last; text: {"why", "keep"}. */
TUTTI_NODISCARD enum tutti_status tutti_training_stop(tutti_context *context, struct tutti_training *training,
                                                      const char *text);

/* --- trial_cost.c: of a training that has weights; what cannot be found out stays unknown, with a warning --- */

/* Count what the network of its job computes: training->unread, parameters and, of one model, flops. */
TUTTI_NODISCARD enum tutti_status tutti_training_count_network(tutti_context *context, struct tutti_training *training);
/* How many bytes of its weights are zeros, for inputs that it leaves out. */
size_t tutti_training_unread_bytes(const struct tutti_training *training);
/* Count the operations of a prediction: training->flops. */
void tutti_training_count_flops(tutti_context *context, const struct tutti_experiment *experiment,
                                struct tutti_training *training);
/* Measure what a prediction takes: training->microseconds. */
void tutti_training_time(tutti_context *context, const struct tutti_experiment *experiment,
                         struct tutti_training *training);

/* Its curve so far; the losses are the training's own. */
struct tutti_curve tutti_training_curve(const struct tutti_training *training);
/* How far it is, as JSON: {"epoch", "epochs", "loss"}; free *text with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_training_progress(tutti_context *context, const struct tutti_training *training,
                                                          char **text);

/* The contents of a reply, for the manager. */
struct tutti_reply_facts {
  enum tutti_status status; /* not TUTTI_OK: the run must stop, for the reason `failure` */
  enum tutti_state state;
  double loss, seconds;
  char failure[512];
  char *report; /* JSON; free with tutti_free */
};
TUTTI_NODISCARD enum tutti_status tutti_reply_parse(tutti_context *context, const char *reply,
                                                    struct tutti_reply_facts *facts);

#endif
