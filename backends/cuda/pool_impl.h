/* pool_impl.h - the jobs of a pool and the blocks that are at them: grids.c, pool.c, answer.c. */
#ifndef BACKEND_CUDA_POOL_IMPL_H
#define BACKEND_CUDA_POOL_IMPL_H

#include "cuda_impl.h"

struct cuda_work;

/* --- grids.c --- */

/* A kernel that runs. Each of its blocks is given one job after the other. */
struct cuda_grid {
  struct cuda_grid *next;
  struct cuda_fit fit;
  cudaStream_t stream;
  struct cuda_region *mail; /* struct cuda_mail [blocks] */
  struct cuda_seat {
    struct cuda_work *work; /* NULL: it waits for one */
    uint32_t given;
    bool ended; /* it was told to end */
  } * seats;    /* [blocks] */
  uint32_t blocks, live;
  double share; /* of the device, that a block takes */
};

struct cuda_grids {
  const struct cuda_device *device;
  struct cuda_arena *host; /* mapped */
  struct cuda_grid *first;
};

/* Start a grid of blocks like these: of `wanted`, as many as the device has room for besides those that are there, one
   at least if there are none. *grid: NULL, if there is no room. */
enum tutti_status backend_cuda_grid_start(tutti_context *context, struct cuda_grids *grids, const struct cuda_fit *fit,
                                          uint32_t wanted, struct cuda_grid **grid);
/* A block that waits for a job, of those like `fit` or (NULL) of any; false: there is none. */
bool backend_cuda_grid_idle(const struct cuda_grids *grids, const struct cuda_fit *fit, struct cuda_grid **grid,
                            uint32_t *seat);
/* Give it a job of so many bytes, staged in the host's memory as the device sees it; or (bytes = 0) its end. */
void backend_cuda_grid_give(struct cuda_grid *grid, uint32_t seat, struct cuda_work *work, const char *staged,
                            char *memory, size_t bytes);
/* End all blocks that wait. */
void backend_cuda_grids_end_idle(struct cuda_grids *grids);
/* Forget grids that are over. Nothing runs any more: all of them. */
void backend_cuda_grids_clear(struct cuda_grids *grids, bool all);

/* --- pool.c --- */

/* A job on its way. */
struct cuda_work {
  struct cuda_work *next; /* among those that wait, or that are at work */
  size_t number;          /* the queue's */
  struct tutti_job job;
  struct tutti_outcome *outcome;
  struct cuda_program program;
  struct cuda_layout layout;
  enum cuda_task task;
  double cost; /* multiply-adds of the longest training */
  struct cuda_region *memory, *staged;
  struct cuda_held *train, *validation;
  struct cuda_report *report;
  struct cuda_answer *answer;
  uint32_t seen; /* of its reports */
  double began;
  bool ended;
};

struct cuda_pool {
  tutti_context *context;
  const struct tutti_job_queue *queue;
  enum tutti_status (*check)(void *self, tutti_context *context, const struct tutti_job *job); /* or NULL */
  void *self;
  enum cuda_task task; /* of all its jobs */
  bool ends_process;   /* an error is returned once the device is lost */
  bool changed;        /* some job came, or left */
  bool tidy;           /* memory was given back since a job got some */
  double asked;        /* the clock when the queue was asked last */
  struct cuda_arena memory, host;
  struct cuda_shelf data;
  struct cuda_grids grids;
  struct cuda_work *waiting; /* the longest first */
  struct cuda_work *working;
  cudaStream_t copies;
  bool cancelled;
  char lost[256]; /* why the device is lost; empty: it is not */
};

/* Give the jobs at work the answers that they wait for. */
void backend_cuda_pool_answer(struct cuda_pool *pool);
/* Find out whether kernels have failed: their jobs have ended then, and leave later. */
void backend_cuda_pool_look(struct cuda_pool *pool);
/* Let the device go on for a little while. */
void backend_cuda_wait(void);

#endif
