/* cuda_coming.h - many jobs of backend cuda, handed over at once or one after the other: each has the bits that it
   has alone; and what little memory does to them. */
#ifndef TESTS_UNIT_CUDA_COMING_H
#define TESTS_UNIT_CUDA_COMING_H

#include "cuda_sides.h"

enum { COMING_MOST = 40, COMING_NUMBERS = 512 };

/* Jobs of backend cuda, all at once, or three at first and one more for each that is done. */
struct coming {
  struct tutti_job jobs[COMING_MOST];
  struct tutti_outcome outcomes[COMING_MOST];
  struct side sides[COMING_MOST]; /* who is told of epochs */
  float predictions[COMING_MOST][COMING_NUMBERS];
  size_t count, numbers; /* jobs, and numbers of a prediction of the validation rows, once they were made */
  size_t given, done;
  size_t most, training;                              /* most: that were there at once */
  size_t refilled;                                    /* times that one was asked for while others trained */
  void (*each)(struct coming *coming, size_t number); /* when one is done, or NULL */
  bool loses;                                         /* the device is lost some time: predictions may fail */
};
/* Take the job, and its network, with a copy of its parameters. */
void coming_add(struct coming *coming, struct tutti_job job);
/* Train them all as they come; each that finishes predicts while others train. */
enum tutti_status coming_train(struct coming *coming);
/* Hand them all over at once. Each ends, once. */
void coming_train_at_once(struct coming *coming);
void coming_require_finished(const struct coming *coming);
/* Each has finished, and has the weights that it has alone, and the predictions, if they were made. */
void coming_require_alone(struct coming *coming);
void coming_release(struct coming *coming);

/* Train them on a device of so many MiB. The first that is done predicts a split there, while the others train and
   again when they do not: these predictions have the bits that they have on a device with more memory. */
void coming_require_parts(struct coming *coming, const char *memory, const tutti_split *many);
/* Train two of them. When the first is done, which is at once, a network like the second, with these weights, is asked
   for predictions: they find memory only when the second has come to its last epoch. */
void coming_require_wait(struct coming *coming, const char *memory, const tutti_tensors *weights);
/* A job whose predictions of the validation rows find no memory on a device of 1 MiB says so, with need and limit. */
void require_no_memory_to_predict(const struct tutti_job *job, const tutti_tensors *weights);

#endif
