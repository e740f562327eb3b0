/* grids.c - kernels that run, and what their blocks are given. Blocks that can be on the device together are started
   together; one that has nothing to do waits, and ends when others want its place. */
#include "pool_impl.h"

static bool alike(const struct cuda_fit *one, const struct cuda_fit *other) {
  return one->workers == other->workers && one->shared == other->shared;
}

static double used(const struct cuda_grids *grids) {
  double sum = 0;
  for (const struct cuda_grid *grid = grids->first; grid; grid = grid->next)
    sum += grid->live * grid->share;
  return sum;
}

static enum tutti_status share_of(tutti_context *context, const struct cuda_grids *grids, const struct cuda_fit *fit,
                                  double *share) {
  int blocks = 0;
  CUDA_TRY(context, (cudaError_t)backend_cuda_blocks(fit->workers, fit->shared, &blocks));
  *share = 1 / ((double)(blocks > 0 ? blocks : 1) * grids->device->multiprocessors);
  return TUTTI_OK;
}

static void release(struct cuda_grids *grids, struct cuda_grid *grid) {
  if (grid->stream)
    (void)cudaStreamDestroy(grid->stream);
  backend_cuda_arena_give(grids->host, grid->mail);
  tutti_free(grid->seats);
  tutti_free(grid);
}

static enum tutti_status start(tutti_context *context, struct cuda_grids *grids, struct cuda_grid *grid) {
  TUTTI_TRY(context, tutti_alloc(context, grid->blocks, sizeof *grid->seats, &grid->seats));
  TUTTI_TRY(context,
            backend_cuda_arena_take(context, grids->host, grid->blocks * sizeof(struct cuda_mail), &grid->mail));
  struct cuda_mail *mail = (struct cuda_mail *)(void *)grid->mail->at;
  for (uint32_t i = 0; i < grid->blocks; i++)
    mail[i] = (struct cuda_mail){.number = 0};
  CUDA_TRY(context, cudaStreamCreateWithFlags(&grid->stream, cudaStreamNonBlocking));
  backend_cuda_launch_train(grid->stream, grid->blocks, grid->fit.workers, grid->fit.shared,
                            (struct cuda_mail *)(void *)grid->mail->device);
  CUDA_TRY(context, cudaGetLastError());
  return TUTTI_OK;
}

enum tutti_status backend_cuda_grid_start(tutti_context *context, struct cuda_grids *grids, const struct cuda_fit *fit,
                                          uint32_t wanted, struct cuda_grid **out) {
  struct cuda_grid *grid;
  double share;
  *out = NULL;
  TUTTI_TRY(context, share_of(context, grids, fit, &share));
  double taken = used(grids), room = (1 - taken) / share + 1e-6;
  uint32_t blocks = room < wanted ? (uint32_t)(room > 0 ? room : 0) : wanted;
  if (blocks == 0 && taken > 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *grid, &grid));
  grid->fit = *fit;
  grid->share = share;
  grid->blocks = grid->live = blocks > 0 ? blocks : 1;
  enum tutti_status status = start(context, grids, grid);
  if (status != TUTTI_OK) {
    release(grids, grid);
    return status;
  }
  grid->next = grids->first;
  grids->first = *out = grid;
  return TUTTI_OK;
}

bool backend_cuda_grid_idle(const struct cuda_grids *grids, const struct cuda_fit *fit, struct cuda_grid **out,
                            uint32_t *seat) {
  for (struct cuda_grid *grid = grids->first; grid; grid = grid->next)
    for (uint32_t i = 0; i < grid->blocks && (!fit || alike(fit, &grid->fit)); i++)
      if (!grid->seats[i].work && !grid->seats[i].ended) {
        *out = grid;
        *seat = i;
        return true;
      }
  return false;
}

void backend_cuda_grid_give(struct cuda_grid *grid, uint32_t seat, struct cuda_work *work, const char *staged,
                            char *memory, size_t bytes) {
  struct cuda_mail *mail = (struct cuda_mail *)(void *)grid->mail->at + seat;
  struct cuda_seat *of = &grid->seats[seat];
  of->work = work;
  if (bytes == 0) {
    of->ended = true;
    grid->live--;
  }
  mail->bytes = (uint32_t)bytes;
  mail->staged = staged;
  mail->memory = memory;
  __atomic_store_n(&mail->number, ++of->given, __ATOMIC_RELEASE);
}

void backend_cuda_grids_end_idle(struct cuda_grids *grids) {
  struct cuda_grid *grid;
  uint32_t seat;
  while (backend_cuda_grid_idle(grids, NULL, &grid, &seat))
    backend_cuda_grid_give(grid, seat, NULL, NULL, NULL, 0);
}

void backend_cuda_grids_clear(struct cuda_grids *grids, bool all) {
  for (struct cuda_grid **place = &grids->first; *place;) {
    struct cuda_grid *grid = *place;
    if (!all && (grid->live > 0 || cudaStreamQuery(grid->stream) == cudaErrorNotReady)) {
      place = &grid->next;
      continue;
    }
    *place = grid->next;
    release(grids, grid);
  }
}
