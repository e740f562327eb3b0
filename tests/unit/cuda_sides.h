/* cuda_sides.h - backend cuda on an emulated GPU and backend cpu, side by side: what tests of both engines share.
   With TUTTI_TEST_CUDA=device it is the backend of this build on the device of this machine. */
#ifndef TESTS_UNIT_CUDA_SIDES_H
#define TESTS_UNIT_CUDA_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tutti/tutti.h>

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

enum { SIDE_EPOCHS = 200 };

/* One backend, with its parameters. */
struct side {
  tutti_backend *backend;
  tutti_config *config;
  double losses[SIDE_EPOCHS][2]; /* of training and validation rows */
  size_t epochs, stop_after;
};

extern tutti_context *context;
extern tutti_host *host;
extern struct tutti_task task;
extern tutti_split *train, *validation;
extern struct side cpu, twin, cuda; /* twin: cpu again, for what a last bit or two may change */

/* Where backend cuda is taken from, below the build's folder: "tests/cuda" unless a test says another. */
extern const char *emulated_build;
/* Open all three for a task that make_task() has made, and close them. */
void open_sides(void (*make_task)(enum tutti_op head), enum tutti_op head);
void close_sides(void);
void make_side(struct side *side, const char *section, const char *plugin);
/* Another instance of backend cuda, for an emulated machine that has changed. */
void make_cuda_again(const char *section);
/* Whether backend cuda is not emulated. */
bool on_device(void);
/* Skip the test where backend cuda is not emulated: it wants a fault, or a memory of its own size. */
void needs_emulation(void);
/* Set the environment of the emulated machine; NULL: unset it. A device does not look at it. */
void emulate(const char *name, const char *value);

/* Parameters as "name=value ...", the same for all. */
void configure(const char *settings);
/* The progress of a job, whose argument is its side. */
bool watch(void *side, const struct tutti_epoch *epoch);

tutti_space *open_space(const char *plugin, const char *const (*set)[2]);
/* A random network of the space. */
tutti_network *sample(const tutti_space *space, const char *purpose, uint64_t index);

void require_close(const char *what, size_t epoch, const char *which, double a, double b, double most);
bool same_weights(const tutti_tensors *one, const tutti_tensors *other);
void must_fail(enum tutti_status status, const char *text);
/* A `done` that counts the ends of each job: unsigned [jobs]. */
void count_end(void *ends, size_t index);

/* --- a queue --- */

enum { COMING_MOST = 16, COMING_NUMBERS = 512 };

/* Jobs of backend cuda that come while others train: three at first, and one more for each that is done. */
struct coming {
  struct tutti_job jobs[COMING_MOST];
  struct tutti_outcome outcomes[COMING_MOST];
  struct side sides[COMING_MOST]; /* who is told of epochs */
  float predictions[COMING_MOST][COMING_NUMBERS];
  size_t count, numbers; /* jobs, and numbers of a prediction of the validation rows */
  size_t given, done;
  size_t most, training;                              /* most: that were there at once */
  size_t refilled;                                    /* times that one was asked for while others trained */
  void (*each)(struct coming *coming, size_t number); /* when one is done, or NULL */
  bool loses;                                         /* the device is lost some time: predictions may fail */
};
/* Take the job, and its network, with a copy of its parameters. */
void coming_add(struct coming *coming, struct tutti_job job);
/* Train them all; each that finishes predicts while others train. */
enum tutti_status coming_train(struct coming *coming);
/* Each has the weights and the predictions that it has alone. */
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
