/* crew.h - worker processes of this machine, for executors. Each is spawned, never forked (because of BLAS threads and
   CUDA contexts), and in its own process group, so that an interrupt at the terminal reaches only the manager. A worker
   that crashes, is killed, or exceeds the run's trial_timeout is replaced, and its trial is reported as lost or timed
   out. One that ends before it is ready is replaced, too; if that happens several times in a row, that is an error,
   since something is wrong with all of them. While trainings are short, a worker holds the request after that which it
   trains (hold_below). No step grows with the number of workers or of waiting requests. */
#ifndef SHARED_CREW_H
#define SHARED_CREW_H

#include <tutti/plugin.h>

/* What the recipe says of worker processes, in the section of every executor that has a crew. */
struct crew_config {
  double startup_timeout;
  int64_t startup_tries;
  int64_t blas_threads;
  double hold_below;
  int bind;
};

/* Values of `bind`. */
enum { CREW_BIND_NO, CREW_BIND_CORES };
extern const char *const crew_bindings[];

/* Lines of a table of parameters, for a config that has the struct above as its member `crew`. */
#define CREW_PARAMS(config)                                                                                            \
  TUTTI_PARAM("startup_timeout", REAL, config, crew.startup_timeout, "300", 0, TUTTI_NO_LIMIT, NULL, TUTTI_KIND_SPACE, \
              "A worker that is not ready (data loaded) by then is replaced.", .unit = "s", .min_open = true),         \
      TUTTI_PARAM("startup_tries", INTEGER, config, crew.startup_tries, "3", 1, 1000, NULL, TUTTI_KIND_SPACE,          \
                  "As many workers in a row that do not get ready end the run with an error."),                        \
      TUTTI_PARAM("blas_threads", INTEGER, config, crew.blas_threads, "1", 1, 1024, NULL, TUTTI_KIND_SPACE,            \
                  "Threads of OpenBLAS in each worker; pools are many small networks, so workers are the better use "  \
                  "of cores."),                                                                                        \
      TUTTI_PARAM("hold_below", REAL, config, crew.hold_below, "1", 0, TUTTI_NO_LIMIT, NULL, TUTTI_KIND_SPACE,         \
                  "While the longest of the last trainings takes less than this, a worker that trains one at a time "  \
                  "holds its next request, too, so that it need not wait for the manager.",                            \
                  .unit = "s"),                                                                                        \
      TUTTI_PARAM("bind", CHOICE, config, crew.bind, "no", 0, 0, crew_bindings, TUTTI_KIND_SPACE,                      \
                  "cores: each worker runs on blas_threads cores of its own, of those that this process may use, and " \
                  "more workers than there are cores for are refused. no: the kernel moves them about.")

struct crew;

/* Make a crew that has no workers yet; destroy *crew. config and what the setup points to are borrowed, the setup is
   copied as far as its size goes. `devices` (NULL: they see all) has a text for each of `device_count` devices: worker
   i gets text i mod device_count as its CUDA_VISIBLE_DEVICES. */
TUTTI_NODISCARD enum tutti_status crew_create(tutti_context *context, const struct crew_config *config,
                                              const struct tutti_executor_setup *setup, size_t device_count,
                                              const char *const *devices, struct crew **crew);
/* The names of devices in a parameter's text, separated by spaces or commas. The caller releases them. */
enum { CREW_DEVICES = 64 };
struct crew_devices {
  char *text;
  const char *names[CREW_DEVICES];
  size_t count;
};
TUTTI_NODISCARD enum tutti_status crew_devices_read(tutti_context *context, const char *text,
                                                    struct crew_devices *devices);
void crew_devices_release(struct crew_devices *devices);
/* End the workers at once, and destroy it; NULL is allowed. */
void crew_destroy(struct crew *crew);
/* How many trials it holds without queueing. */
size_t crew_capacity(const struct crew *crew);
/* Requests that no worker has yet. */
size_t crew_waiting(const struct crew *crew);
/* As the operations of an executor (executor.h). */
TUTTI_NODISCARD enum tutti_status crew_submit(struct crew *crew, tutti_context *context, uint64_t trial,
                                              const char *request);
void crew_stop(struct crew *crew, tutti_context *context, uint64_t trial, const char *text);
TUTTI_NODISCARD enum tutti_status crew_end(struct crew *crew, tutti_context *context, uint64_t trial);
TUTTI_NODISCARD enum tutti_status crew_wait(struct crew *crew, tutti_context *context, double timeout,
                                            struct tutti_reply *reply);

#endif
