/* stream_trials_impl.h - networks of images that train, and the streams that they have.

   stream_trial.c   one network: its memory, what is put there, and what it leaves
   stream_epochs.c  its steps, as launches on its stream, and the ends of its epochs
   stream_trials.c  many of them, from a queue */
#ifndef BACKEND_CUDA_STREAM_TRIALS_IMPL_H
#define BACKEND_CUDA_STREAM_TRIALS_IMPL_H

#include "backends/cpu/schedule_impl.h"
#include "stream_host_impl.h"

/* Steps that are put on a stream before the host looks again. */
enum { STREAM_STEPS_AHEAD = 8 };

enum stream_phase { STREAM_BEGINS, STREAM_STEPS, STREAM_VALIDATION, STREAM_ENDED };

/* Launches that are put on the stream again and again, for the same number of rows: the first time one by one, so that
   the libraries load what they need; from the second on as a graph, which is one launch. */
struct stream_series {
  cudaGraphExec_t graph;
  uint32_t times; /* that they were put without a graph */
};
enum stream_series_kind { STREAM_STEP, STREAM_EVALUATION, STREAM_SERIES };

/* A network that trains. */
struct stream_trial {
  size_t number; /* the queue's */
  struct tutti_job job;
  struct tutti_outcome *outcome;
  const struct cpu_config *config;
  struct stream_program program;
  struct stream_run run;
  struct stream_batch train, validation;
  struct cuda_region *memory, *staged; /* the device's; the host's, that is copied from and to */
  struct cuda_held *train_rows, *validation_rows;
  struct tutti_augmentation augmentation;
  bool augments;
  /* In `staged`. */
  uint32_t *order;
  struct stream_state *report;
  float *back;   /* [2][floats]: what the weights have come to, and those to keep */
  float *images; /* [STREAM_STEPS_AHEAD][batch][features], or NULL */
  size_t batch, evaluated;
  struct stream_series series[STREAM_SERIES][2]; /* of full batches, and of the last one */
  enum stream_phase phase;
  size_t at; /* rows of this pass that were put on the stream */
  struct cpu_watch watch;
  struct tutti_epoch epoch;
  double began;
};

/* A stream with its handles. */
struct stream_lane {
  cudaStream_t stream;
  struct stream_library *library;
  struct stream_trial *trial; /* NULL: free */
};

/* --- stream_trial.c --- */

/* Make its program. */
enum tutti_status backend_cuda_trial_lower(tutti_context *context, struct stream_library *library,
                                           struct stream_trial *trial);
/* Bytes of the device's memory that it takes, with those of its rows that are not there. */
size_t backend_cuda_trial_need(const struct cuda_shelf *data, const struct stream_trial *trial);
/* Give it memory, and put it on a lane. TUTTI_ERROR_MEMORY: there is not so much. After an error: unload it. */
enum tutti_status backend_cuda_trial_load(tutti_context *context, const struct cuda_device *device,
                                          struct stream_memory *memory, const struct stream_lane *lane,
                                          struct stream_trial *trial);
/* Give back what it has there; its stream has nothing to do. */
void backend_cuda_trial_unload(struct stream_memory *memory, struct stream_trial *trial);
void backend_cuda_trial_destroy(struct stream_trial *trial);
/* It has ended, and failed for this reason. */
void backend_cuda_trial_fail(struct stream_trial *trial, const char *text);
/* It has ended so, with the weights that were kept. */
enum tutti_status backend_cuda_trial_finish(struct stream_trial *trial, enum tutti_state state);
/* This is not finite: it has failed. */
void backend_cuda_trial_diverge(struct stream_trial *trial, const char *what, double value);

/* --- stream_epochs.c --- */

/* The stream has done what it was given: put more there, or end (trial->phase). */
enum tutti_status backend_cuda_trial_go_on(struct stream_trial *trial);

/* --- stream_trials.c --- */

/* What trains there. */
struct stream_trials;
/* The memory that its trials share, and a lane for questions meanwhile. */
struct stream_memory *backend_cuda_stream_memory(struct stream_trials *pool);
struct stream_lane *backend_cuda_stream_question_lane(struct stream_trials *pool);
/* Give a lane its stream and handles, unless it has them; and take them from it. */
enum tutti_status backend_cuda_lane_open(tutti_context *context, struct stream_lane *lane);
void backend_cuda_lane_close(struct stream_lane *lane);

#endif
