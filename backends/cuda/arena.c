/* arena.c - memory of the device, or of the host as the device sees it, that is given out and taken back while kernels
   run: cudaFree and cudaFreeHost would wait for these. What is taken back is used again; all goes back at the end, or,
   where no kernel waits for the host, when the runtime has no more. */
#include "cuda_impl.h"

enum { PART = 256 };

static size_t parts(size_t bytes) { return (bytes + PART) / PART * PART; }

static struct cuda_region *new_region(tutti_context *context, struct cuda_region of) {
  struct cuda_region *region = NULL;
  if (tutti_alloc(context, 1, sizeof *region, &region) != TUTTI_OK)
    return NULL;
  *region = of;
  return region;
}

/* Keep the first `bytes` of a region that is free, and leave the rest for others. */
static enum tutti_status cut(tutti_context *context, struct cuda_region *region, size_t bytes) {
  if (region->bytes > bytes) {
    struct cuda_region *rest = new_region(context, (struct cuda_region){.next = region->next,
                                                                        .at = region->at + bytes,
                                                                        .device = region->device + bytes,
                                                                        .bytes = region->bytes - bytes});
    if (!rest)
      return TUTTI_ERROR_MEMORY;
    region->next = rest;
    region->bytes = bytes;
  }
  region->used = true;
  return TUTTI_OK;
}

static cudaError_t allocate(const struct cuda_arena *arena, size_t bytes, void **at, void **device) {
  cudaError_t error = arena->mapped ? cudaHostAlloc(at, bytes, cudaHostAllocMapped) : cudaMalloc(at, bytes);
  *device = *at;
  if (error == cudaSuccess && arena->mapped)
    error = cudaHostGetDevicePointer(device, *at, 0);
  return error;
}

/* What is asked for beside what is needed: little where there is little. */
static size_t piece_of(const struct cuda_arena *arena) {
  const size_t piece = arena->piece > 0 ? arena->piece : CUDA_ARENA_PIECE;
  size_t room, total;
  if (arena->mapped || cudaMemGetInfo(&room, &total) != cudaSuccess || room / 16 > piece)
    return piece;
  return parts(room / 16);
}

static void free_piece(const struct cuda_arena *arena, void *at) {
  (void)(arena->mapped ? cudaFreeHost(at) : cudaFree(at));
}

static bool is_free_piece(const struct cuda_region *region) {
  return region->begins && !region->used && (!region->next || region->next->begins);
}

/* Give back the pieces that nobody uses; false: that would not make room for so many bytes. */
static bool give_back(struct cuda_arena *arena, size_t bytes) {
  size_t room = 0, total;
  if (!arena->mapped && cudaMemGetInfo(&room, &total) != cudaSuccess)
    return false;
  for (const struct cuda_region *region = arena->regions; region; region = region->next)
    room += is_free_piece(region) ? region->bytes : 0;
  if (room < bytes)
    return false;
  for (struct cuda_region **place = &arena->regions; *place;) {
    struct cuda_region *region = *place;
    if (!is_free_piece(region)) {
      place = &region->next;
      continue;
    }
    *place = region->next;
    free_piece(arena, region->at);
    tutti_free(region);
  }
  return true;
}

/* More memory: a large piece, or, where that is not to be had, as little as will do. */
static enum tutti_status grow(tutti_context *context, struct cuda_arena *arena, size_t bytes) {
  size_t piece = piece_of(arena), sizes[] = {bytes < piece ? piece : bytes, bytes};
  void *at = NULL, *device = NULL;
  cudaError_t error = cudaErrorMemoryAllocation;
  size_t got = 0;
  for (size_t i = 0; i < 2 && error == cudaErrorMemoryAllocation; i++) {
    got = sizes[i];
    error = allocate(arena, got, &at, &device);
  }
  if (error == cudaErrorMemoryAllocation && arena->gives_back && give_back(arena, got))
    error = allocate(arena, got, &at, &device);
  (void)cudaGetLastError(); /* it was looked at */
  TUTTI_TRY(context, backend_cuda_status(context, error, arena->mapped ? "cudaHostAlloc" : "cudaMalloc"));
  struct cuda_region *region = new_region(
      context, (struct cuda_region){.next = arena->regions, .at = at, .device = device, .bytes = got, .begins = true});
  if (!region) {
    free_piece(arena, at);
    return TUTTI_ERROR_MEMORY;
  }
  arena->regions = region;
  return TUTTI_OK;
}

/* The smallest free region of so many bytes at least. */
static struct cuda_region *smallest(const struct cuda_arena *arena, size_t bytes) {
  struct cuda_region *best = NULL;
  for (struct cuda_region *region = arena->regions; region; region = region->next)
    if (!region->used && region->bytes >= bytes && (!best || region->bytes < best->bytes))
      best = region;
  return best;
}

enum tutti_status backend_cuda_arena_take(tutti_context *context, struct cuda_arena *arena, size_t bytes,
                                          struct cuda_region **out) {
  size_t wanted = parts(bytes);
  *out = NULL;
  for (int tries = 0; tries < 2; tries++) {
    struct cuda_region *best = smallest(arena, wanted);
    if (best) {
      TUTTI_TRY(context, cut(context, best, wanted));
      *out = best;
      return TUTTI_OK;
    }
    TUTTI_TRY(context, grow(context, arena, wanted));
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "memory that the device gave is not there");
}

enum tutti_status backend_cuda_arena_prepare(tutti_context *context, struct cuda_arena *arena) {
  enum tutti_status status = grow(context, arena, parts(1));
  if (status != TUTTI_ERROR_MEMORY)
    return status;
  tutti_error_clear(context);
  return TUTTI_OK;
}

static void join_next(struct cuda_region *region) {
  struct cuda_region *next = region->next;
  if (!next || next->used || next->begins || region->used)
    return;
  region->bytes += next->bytes;
  region->next = next->next;
  tutti_free(next);
}

void backend_cuda_arena_give(struct cuda_arena *arena, struct cuda_region *region) {
  if (!region)
    return;
  region->used = false;
  join_next(region);
  for (struct cuda_region *before = arena->regions; before; before = before->next)
    if (before->next == region) {
      if (!region->begins)
        join_next(before);
      break;
    }
}

size_t backend_cuda_arena_unused(const struct cuda_arena *arena) {
  size_t bytes = 0;
  for (const struct cuda_region *region = arena->regions; region; region = region->next)
    bytes += region->used ? 0 : region->bytes;
  return bytes;
}

void backend_cuda_arena_release(struct cuda_arena *arena) {
  for (struct cuda_region *region = arena->regions, *next; region; region = next) {
    next = region->next;
    if (region->begins)
      free_piece(arena, region->at);
    tutti_free(region);
  }
  arena->regions = NULL;
}
