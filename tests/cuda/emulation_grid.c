/* emulation_grid.c - a launch: all threads of a grid as fibers of one thread of the host. */
#include "emulation.h"

#include "fiber.h"
#include "races.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

enum { BARRIERS = 32, WARP = 32, MOST_WARPS = 32, MOST_GIVEN = 6 };
/* Rounds between two looks whether the kernel is to fail. */
enum { LOOK_ROUNDS = 500 };

struct barrier {
  unsigned waiting, wanted;
};

struct grid_block {
  float *shared;
  struct barrier barriers[BARRIERS + MOST_WARPS];
  double lanes[MOST_WARPS][WARP];
  float given[MOST_WARPS][WARP * MOST_GIVEN];
};

struct grid_thread {
  struct emulated_thread self;
  struct fiber fiber;
  struct grid_block *block;
  int barrier; /* at which it waits; -1: it can go on */
};

struct grid {
  const struct emulated_launch *launch;
  struct grid_thread *threads;
  struct grid_block *blocks;
  unsigned thread_count, *order, *met; /* met: scratch, of those at a barrier */
  uint64_t random;
  bool slept;
  unsigned rounds, asked; /* asked: rounds in which it only asked the host, one after the other */
};

static __thread struct grid_thread *running;
static __thread struct grid *its_grid;

struct emulated_thread *emulated_self(void) {
  return running ? &running->self : NULL;
}

void *emulated_shared(void) { return running->block->shared; }

/* All have come: they can go on. */
static void open_barrier(const struct grid_thread *last, unsigned id) {
  unsigned count = 0;
  for (unsigned i = 0; i < its_grid->thread_count; i++) {
    struct grid_thread *thread = &its_grid->threads[i];
    if (thread != last && (thread->block != last->block || thread->barrier != (int)id))
      continue;
    thread->barrier = -1;
    its_grid->met[count++] = i;
  }
  if (id < BARRIERS) /* a shuffle orders nothing */
    races_meet(its_grid->met, count);
}

static void wait_at(unsigned id, unsigned wanted) {
  struct grid_thread *self = running;
  struct barrier *barrier = &self->block->barriers[id];
  barrier->wanted = wanted;
  if (++barrier->waiting < wanted) {
    self->barrier = (int)id;
    fiber_leave(&self->fiber);
    return;
  }
  barrier->waiting = 0;
  open_barrier(self, id);
  fiber_leave(&self->fiber); /* the last to come is not the first to go */
}

void emulated_barrier(unsigned id, unsigned threads) { wait_at(id, threads); }

void emulated_fence(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  races_fence((unsigned)(running - its_grid->threads));
}

void emulated_sleep(void) {
  its_grid->slept = true;
  fiber_leave(&running->fiber);
}

double emulated_shuffle(double value, unsigned lane) {
  unsigned warp = running->self.thread.x / WARP;
  double *lanes = running->block->lanes[warp];
  lanes[running->self.thread.x % WARP] = value;
  wait_at(BARRIERS + warp, WARP);
  double other = running->block->lanes[warp][lane];
  wait_at(BARRIERS + warp, WARP);
  return other;
}

void emulated_exchange(const float *mine, unsigned count, float *all) {
  unsigned warp = running->self.thread.x / WARP, lane = running->self.thread.x % WARP;
  float *given = running->block->given[warp];
  memcpy(given + (size_t)lane * count, mine, count * sizeof *mine);
  wait_at(BARRIERS + warp, WARP);
  memcpy(all, given, (size_t)WARP * count * sizeof *all);
  wait_at(BARRIERS + warp, WARP);
}

static uint64_t next_random(struct grid *grid) {
  grid->random ^= grid->random << 13;
  grid->random ^= grid->random >> 7;
  grid->random ^= grid->random << 17;
  return grid->random;
}

static void shuffle(struct grid *grid) {
  for (unsigned i = grid->thread_count; i > 1; i--) {
    unsigned j = (unsigned)(next_random(grid) % i), kept = grid->order[i - 1];
    grid->order[i - 1] = grid->order[j];
    grid->order[j] = kept;
  }
}

/* Let every thread that can go on go on, once, in a new order. The number of those that did; *left: not at
   their end. */
static unsigned run_round(struct grid *grid, unsigned *left) {
  unsigned went = 0;
  *left = 0;
  shuffle(grid);
  for (unsigned i = 0; i < grid->thread_count; i++) {
    struct grid_thread *thread = &grid->threads[grid->order[i]];
    if (thread->fiber.ended)
      continue;
    ++*left;
    if (thread->barrier >= 0)
      continue;
    running = thread;
    went++;
    fiber_enter(&thread->fiber);
  }
  return went;
}

/* Grids whose threads do something, and not only ask the host for an answer, again and again. */
static long busy;
enum { QUIET_ROUNDS = 100 };

bool emulated_is_quiet(void) { return __atomic_load_n(&busy, __ATOMIC_ACQUIRE) == 0; }

static void note_quiet(struct grid *grid, bool asks) {
  bool was = grid->asked >= QUIET_ROUNDS;
  grid->asked = !asks ? 0 : was ? grid->asked : grid->asked + 1;
  if (was != (grid->asked >= QUIET_ROUNDS))
    (void)__atomic_add_fetch(&busy, was ? 1 : -1, __ATOMIC_SEQ_CST);
}

/* The threads of a block wait for each other for ever: on a GPU this hangs. */
static cudaError_t run_all(struct grid *grid) {
  unsigned left;
  do {
    grid->slept = false;
    unsigned went = run_round(grid, &left);
    note_quiet(grid, grid->slept && went <= grid->launch->blocks);
    if (left > 0 && went == 0) {
      (void)fprintf(stderr, "emulated kernel %s: %u threads wait at barriers for others that never come\n",
                    grid->launch->kernel, left);
      return cudaErrorLaunchFailure;
    }
    if (races_found())
      return cudaErrorLaunchFailure;
    if (grid->slept && went <= grid->launch->blocks)
      (void)sched_yield();
    if (++grid->rounds % LOOK_ROUNDS == 0 && emulated_fault())
      return cudaErrorLaunchFailure;
  } while (left > 0);
  return cudaSuccess;
}

/* The stacks of the last launch on this thread of the host, for the next: to map them anew costs more than most
   launches. AddressSanitizer remembers what lay on them, so there they are new each time. */
static __thread char *kept_stacks;
static __thread size_t kept_size;

static void forget_stacks(void) {
  if (kept_stacks)
    (void)munmap(kept_stacks, kept_size);
  kept_stacks = NULL;
  kept_size = 0;
}

void emulated_forget(void) {
  forget_stacks();
  races_forget();
}

static char *stacks_of(size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  forget_stacks();
#endif
  if (kept_size >= size)
    return kept_stacks;
  forget_stacks();
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return NULL;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack, size); /* not every compiler's library forgets what lay there before */
#endif
  kept_stacks = stack;
  kept_size = size;
  return stack;
}

cudaError_t emulated_run_grid(const struct emulated_launch *launch, uint64_t seed) {
  struct grid grid = {.launch = launch, .random = seed + 88172645463325252u};
  grid.thread_count = launch->blocks * launch->threads;
  size_t floats = launch->shared / sizeof(float);
  char *stack = stacks_of((size_t)grid.thread_count * FIBER_STACK);
  if (!stack)
    return cudaErrorMemoryAllocation;
  grid.threads = calloc(grid.thread_count, sizeof *grid.threads);
  grid.blocks = calloc(launch->blocks, sizeof *grid.blocks);
  grid.order = calloc(grid.thread_count, sizeof *grid.order);
  grid.met = calloc(grid.thread_count, sizeof *grid.met);
  for (unsigned b = 0; b < launch->blocks; b++) {
    /* Not a byte more: AddressSanitizer finds what lies beyond. */
    if (posix_memalign((void **)&grid.blocks[b].shared, 64, launch->shared + (launch->shared == 0)) != 0)
      abort();
    for (size_t i = 0; i < floats; i++)
      grid.blocks[b].shared[i] = NAN;
  }
  for (unsigned i = 0; i < grid.thread_count; i++) {
    struct grid_thread *thread = &grid.threads[i];
    unsigned block = i / launch->threads;
    grid.order[i] = i;
    thread->self = (struct emulated_thread){
        {i % launch->threads, 0, 0}, {block, 0, 0}, {launch->threads, 1, 1}, {launch->blocks, 1, 1}};
    thread->block = &grid.blocks[block];
    thread->barrier = -1;
    fiber_begin(&thread->fiber, stack + (size_t)i * FIBER_STACK, launch->run, launch->argument);
  }
  its_grid = &grid;
#if defined(__SSE__)
  unsigned kept = _mm_getcsr();
  _mm_setcsr(kept | 0x8040); /* as the kernels are compiled: -ftz=true */
#endif
  const struct races_launch watched = {launch->kernel, grid.thread_count, launch->threads, stack,
                                       (size_t)grid.thread_count * FIBER_STACK};
  races_begin(&watched);
  (void)__atomic_add_fetch(&busy, 1, __ATOMIC_SEQ_CST);
  cudaError_t error = run_all(&grid);
  note_quiet(&grid, false);
  (void)__atomic_sub_fetch(&busy, 1, __ATOMIC_SEQ_CST);
  races_end();
  running = NULL;
#if defined(__SSE__)
  _mm_setcsr(kept);
#endif
  for (unsigned b = 0; b < launch->blocks; b++)
    free(grid.blocks[b].shared);
  free(grid.threads);
  free(grid.blocks);
  free(grid.order);
  free(grid.met);
  return error;
}
