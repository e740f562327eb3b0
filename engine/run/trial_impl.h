/* trial_impl.h - the life of one trial in a worker: request, training, artefacts, reply. */
#ifndef TUTTI_TRIAL_IMPL_H
#define TUTTI_TRIAL_IMPL_H

#include "experiment_impl.h"
#include "run_files.h"

/* A trial being trained. */
struct tutti_training {
  uint64_t number;
  tutti_candidate *candidate;
  tutti_network *network;
  tutti_config *config;
  struct tutti_job job;
  struct tutti_outcome outcome;
  struct tutti_epoch *curve; /* [epochs] */
  size_t epochs, room;
  struct json_t *measures; /* object: numbers beside the loss, by name; NULL: none */
  tutti_dataset *dataset;  /* of a repeat of a fit: its data, and what came of it */
  struct tutti_fit_result fit;
  double started; /* seconds of the monotonic clock */
  tutti_context *context;
};

/* {"trial": n, "data": "<fingerprint>", "candidate": {...}}; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_request_print(tutti_context *context, uint64_t trial, uint64_t fingerprint,
                                                      const char *candidate, char **request);

/* Turn a request's text into a job. The caller zeroes *training and ends it with tutti_training_end, also on
   failure. */
TUTTI_NODISCARD enum tutti_status tutti_training_begin(tutti_context *context,
                                                       const struct tutti_experiment *experiment, const char *request,
                                                       struct tutti_training *training);
/* Predict, write the artefacts under DIRECTORY/trials/NUMBER, and make the reply. `result` is the status of the
   training. */
TUTTI_NODISCARD enum tutti_status tutti_training_reply(tutti_context *context,
                                                       const struct tutti_experiment *experiment, const char *directory,
                                                       enum tutti_status result, struct tutti_training *training,
                                                       char **reply);
void tutti_training_end(struct tutti_training *training);

/* The same two steps of a repeat of a fit (trial_fit.c): fit, and write the artefacts into the trial's folder. *loss is
   the NLL on the test rows. */
TUTTI_NODISCARD enum tutti_status tutti_training_fit(tutti_context *context, const struct tutti_experiment *experiment,
                                                     struct tutti_training *training);
TUTTI_NODISCARD enum tutti_status tutti_training_write_fit(tutti_context *context,
                                                           const struct tutti_experiment *experiment,
                                                           const char *folder, struct tutti_training *training,
                                                           struct json_t *files, double *loss);

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
