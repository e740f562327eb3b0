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

/* A job of these splits; its parameters are those that were configured. */
struct tutti_job side_job(struct side *side, const tutti_network *network, uint64_t seed);
/* Train it by a side, which watches. */
struct tutti_outcome side_train(struct side *side, struct tutti_job job);
/* What a last digit may do to the losses of a job that both sides have just trained: how far backend cpu is from itself
   at most, up to each epoch, when its training rows are changed by `change` of them. [SIDE_EPOCHS][2] The job is
   counted as `sensitive`, and, with TUTTI_TEST_NETWORKS, told. */
void twins_apart(const char *what, struct tutti_job job, double change, double (*apart)[2]);
extern size_t sensitive;

/* Train it by both sides: every epoch's losses agree to `most`, or both diverge in one step with the same words.
   Networks whose losses jump amplify a change of the last bits until nothing agrees any more: these may differ by ten
   times what backend cpu differs from itself on rows that are changed by 1e-6 of them. What cuda has made, to be
   released by the caller; no weights where it diverged. */
struct tutti_outcome compare_sides(const char *what, struct tutti_job job, double most);

/* A space, and what is set of it, up to {NULL, NULL}. */
struct sides_space {
  const char *plugin;
  const char *const (*set)[2];
};
tutti_space *open_space(const char *plugin, const char *const (*set)[2]);
/* A random network of the space. */
tutti_network *sample(const tutti_space *space, const char *purpose, uint64_t index);

void require_close(const char *what, size_t epoch, const char *which, double a, double b, double most);
bool same_weights(const tutti_tensors *one, const tutti_tensors *other);
void must_fail(enum tutti_status status, const char *text);

#endif
