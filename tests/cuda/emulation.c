/* emulation.c - the calls of CUDA's runtime on a host without a GPU. A stream is a thread that does what it is given in
   order; device memory is the host's, counted against a limit. */
#include "emulation.h"

#include "races.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long setting(const char *name, long preset) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : preset;
}

/* --- devices --- */

/* Of a device that failed: all that is asked after it. */
static int failed_for_good;

static cudaError_t state_of_device(void) { return __atomic_load_n(&failed_for_good, __ATOMIC_ACQUIRE); }

/* The device that is called `number`, of those that are visible; -1: there is none. */
static long visible(long number, long devices) {
  const char *text = getenv("CUDA_VISIBLE_DEVICES");
  if (!text)
    return number < devices ? number : -1;
  for (char *end; *text; text = *end ? end + 1 : end) {
    long device = strtol(text, &end, 10);
    if (end == text || device < 0 || device >= devices)
      return -1;
    if (number-- == 0)
      return device;
  }
  return -1;
}

static void log_device(long device) {
  static int logged;
  const char *path = getenv("TUTTI_EMULATED_LOG");
  if (!path || __atomic_exchange_n(&logged, 1, __ATOMIC_SEQ_CST))
    return;
  FILE *file = fopen(path, "a");
  if (!file)
    return;
  (void)fprintf(file, "%ld %ld\n", device, (long)getpid());
  (void)fclose(file);
}

void emulated_begin(void) { log_device(visible(0, setting("TUTTI_EMULATED_DEVICES", 1))); }

cudaError_t cudaGetDeviceCount(int *count) {
  long all = setting("TUTTI_EMULATED_DEVICES", 1), devices = 0;
  while (all > 0 && visible(devices, all) >= 0)
    devices++;
  devices = all < 0 ? all : devices;
  *count = devices > 0 ? (int)devices : 0;
  return devices < 0 ? cudaErrorInsufficientDriver : devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  int count;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && device < count)
    log_device(visible(device, setting("TUTTI_EMULATED_DEVICES", 1)));
  return error != cudaSuccess ? error : device < count ? state_of_device() : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  (void)device;
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = 2;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = (int)setting("TUTTI_EMULATED_MAJOR", 9);
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = (int)setting("TUTTI_EMULATED_SHARED", 228) << 10;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)(setting("TUTTI_EMULATED_SHARED", 228) - 1) << 10;
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = 1 << 10;
    break;
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    *value = (int)setting("TUTTI_EMULATED_BLOCKS", 2);
    break;
  case cudaDevAttrMaxThreadsPerBlock: /* few, so that tests are quick */
    *value = (int)setting("TUTTI_EMULATED_THREADS", 64);
    break;
  }
  return cudaSuccess;
}

static size_t total_memory(void) { return (size_t)setting("TUTTI_EMULATED_MEMORY", 1024) << 20; }

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  (void)device;
  properties->totalGlobalMem = total_memory();
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
  (void)function;
  int most = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? 227 << 10 : 100;
  return value <= most ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t shared) {
  (void)function;
  int by_threads = 2048 / threads, by_shared = (int)((228 << 10) / (shared + (1 << 10)));
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*blocks > 2)
    *blocks = 2;
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "no error";
  case cudaErrorMemoryAllocation:
    return "out of memory";
  case cudaErrorInsufficientDriver:
    return "CUDA driver version is insufficient for CUDA runtime version";
  case cudaErrorNoDevice:
    return "no CUDA-capable device is detected";
  case cudaErrorNotReady:
    return "device not ready";
  case cudaErrorLaunchFailure:
    return "unspecified launch failure";
  default:
    return "invalid argument";
  }
}

/* --- memory --- */

static size_t allocated;

/* What other programs have of it. */
static size_t taken_memory(void) { return (size_t)setting("TUTTI_EMULATED_TAKEN", 0) << 20; }

/* The block before what is handed out says how large it is. */
enum { BEFORE = 64 };

/* Kernels that run, of this process. */
static long kernels;

/* What an API that waits for the device does. */
static void wait_for_kernels(void) {
  enum { LONGEST = 20000 }; /* ms */
  const struct timespec pause = {.tv_nsec = 1000 * 1000};
  for (int i = 0; __atomic_load_n(&kernels, __ATOMIC_ACQUIRE) > 0; i++) {
    (void)nanosleep(&pause, NULL);
    if (i == LONGEST) {
      (void)fprintf(stderr, "emulated device: memory is given back while a kernel runs that does not end\n");
      abort();
    }
  }
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = NULL;
  if (state_of_device() != cudaSuccess)
    return state_of_device();
  if (__atomic_add_fetch(&allocated, bytes, __ATOMIC_SEQ_CST) + taken_memory() > total_memory()) {
    (void)__atomic_sub_fetch(&allocated, bytes, __ATOMIC_SEQ_CST);
    return cudaErrorMemoryAllocation;
  }
  void *place;
  if (posix_memalign(&place, BEFORE, bytes + BEFORE) != 0)
    return cudaErrorMemoryAllocation;
  char *block = place;
  memcpy(block, &bytes, sizeof bytes);
  memset(block + BEFORE, 0xff, bytes);
  *memory = block + BEFORE;
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
  size_t bytes;
  if (!memory)
    return cudaSuccess;
  wait_for_kernels();
  memcpy(&bytes, (char *)memory - BEFORE, sizeof bytes);
  (void)__atomic_sub_fetch(&allocated, bytes, __ATOMIC_SEQ_CST);
  free((char *)memory - BEFORE);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
  *total = total_memory();
  size_t used = __atomic_load_n(&allocated, __ATOMIC_SEQ_CST) + taken_memory();
  *free_bytes = used < *total ? *total - used : 0;
  return state_of_device();
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  *memory = calloc(1, bytes);
  if (*memory)
    races_share(*memory, bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory) {
  wait_for_kernels();
  races_share(memory, 0);
  free(memory);
  return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  (void)flags;
  *device = host;
  return cudaSuccess;
}

/* --- streams --- */

enum work_kind { WORK_COPY, WORK_FILL, WORK_LAUNCH, WORK_CALL, WORK_END };

struct work {
  struct work *next;
  enum work_kind kind;
  void *to;
  const void *from;
  size_t bytes;
  int value;
  bool again; /* of a graph, which has the argument */
  struct emulated_launch launch;
};

struct emulated_stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t news;
  struct work *first, *last;       /* what is to be done; the first is being done */
  cudaError_t error;               /* of a launch: nothing more is done */
  struct emulated_graph *captured; /* takes what the stream is given; or NULL */
};

struct emulated_graph {
  struct work *works;
  size_t count, room;
};

struct emulated_graph_run {
  struct emulated_graph graph;
};

bool emulated_fault(void) {
  const char *fault = getenv("TUTTI_EMULATED_FAULT");
  return fault && fault[0] == '/' && unlink(fault) == 0;
}

static cudaError_t run_kernel(const struct emulated_launch *launch) {
  const char *fault = getenv("TUTTI_EMULATED_FAULT");
  cudaError_t error = cudaErrorLaunchFailure;
  (void)__atomic_add_fetch(&kernels, 1, __ATOMIC_SEQ_CST);
  if (!fault || (fault[0] == '/' && !emulated_fault()))
    error = emulated_run_grid(launch, (uint64_t)setting("TUTTI_EMULATED_SEED", 1));
  (void)__atomic_sub_fetch(&kernels, 1, __ATOMIC_SEQ_CST);
  if (error != cudaSuccess && fault && fault[0] == '/')
    __atomic_store_n(&failed_for_good, error, __ATOMIC_RELEASE);
  return error;
}

static cudaError_t do_work(struct work *work) {
  switch (work->kind) {
  case WORK_COPY:
    memcpy(work->to, work->from, work->bytes);
    return cudaSuccess;
  case WORK_FILL:
    memset(work->to, work->value, work->bytes);
    return cudaSuccess;
  case WORK_LAUNCH:
    return run_kernel(&work->launch);
  case WORK_CALL:
    work->launch.run(work->launch.argument);
    return cudaSuccess;
  case WORK_END:
    break;
  }
  return cudaSuccess;
}

static void *run_stream(void *argument) {
  struct emulated_stream *stream = argument;
  bool ended = false;
  (void)pthread_mutex_lock(&stream->lock);
  while (!ended) {
    while (!stream->first)
      (void)pthread_cond_wait(&stream->news, &stream->lock);
    struct work *work = stream->first;
    cudaError_t error = stream->error;
    (void)pthread_mutex_unlock(&stream->lock);
    if (error == cudaSuccess)
      error = state_of_device();
    if (error == cudaSuccess)
      error = do_work(work);
    ended = work->kind == WORK_END;
    (void)pthread_mutex_lock(&stream->lock);
    stream->error = error;
    stream->first = work->next;
    if (!stream->first)
      stream->last = NULL;
    (void)pthread_cond_broadcast(&stream->news);
    if (!work->again)
      free(work->launch.argument);
    free(work);
  }
  (void)pthread_mutex_unlock(&stream->lock);
  emulated_forget();
  return NULL;
}

static cudaError_t capture(struct emulated_graph *graph, struct work what) {
  if (graph->count == graph->room) {
    size_t room = 2 * graph->room + 16;
    struct work *works = realloc(graph->works, room * sizeof *works);
    if (!works) {
      free(what.launch.argument);
      return cudaErrorMemoryAllocation;
    }
    graph->works = works;
    graph->room = room;
  }
  what.again = true;
  graph->works[graph->count++] = what;
  return cudaSuccess;
}

/* Put this on a stream, which takes its argument. */
static cudaError_t give(struct emulated_stream *stream, struct work what) {
  if (stream->captured)
    return capture(stream->captured, what);
  struct work *work = malloc(sizeof *work);
  if (!work) {
    if (!what.again)
      free(what.launch.argument);
    return cudaErrorMemoryAllocation;
  }
  *work = what;
  (void)pthread_mutex_lock(&stream->lock);
  cudaError_t error = stream->error;
  if (stream->last)
    stream->last->next = work;
  else
    stream->first = work;
  stream->last = work;
  (void)pthread_cond_broadcast(&stream->news);
  (void)pthread_mutex_unlock(&stream->lock);
  return error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *made, unsigned flags) {
  (void)flags;
  struct emulated_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    return cudaErrorMemoryAllocation;
  (void)pthread_mutex_init(&stream->lock, NULL);
  (void)pthread_cond_init(&stream->news, NULL);
  if (pthread_create(&stream->thread, NULL, run_stream, stream) != 0) {
    free(stream);
    return cudaErrorMemoryAllocation;
  }
  *made = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream)
    return cudaErrorInvalidValue;
  (void)give(stream, (struct work){.kind = WORK_END});
  (void)pthread_join(stream->thread, NULL);
  (void)pthread_cond_destroy(&stream->news);
  (void)pthread_mutex_destroy(&stream->lock);
  free(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream->captured)
    return cudaErrorStreamCaptureUnsupported;
  (void)pthread_mutex_lock(&stream->lock);
  while (stream->first)
    (void)pthread_cond_wait(&stream->news, &stream->lock);
  cudaError_t error = stream->error;
  (void)pthread_mutex_unlock(&stream->lock);
  return error == cudaSuccess ? state_of_device() : error;
}

/* The kernels run on until they wait for the host, and fail before the question is answered. */
static void come_late(void) {
  static long questions;
  const char *fault = getenv("TUTTI_EMULATED_FAULT");
  long late = setting("TUTTI_EMULATED_LATE", 0);
  if (!fault || late == 0 || __atomic_load_n(&kernels, __ATOMIC_ACQUIRE) == 0 || ++questions != late)
    return;
  while (!emulated_is_quiet())
    (void)sched_yield();
  (void)close(open(fault, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  while (__atomic_load_n(&kernels, __ATOMIC_ACQUIRE) > 0)
    (void)sched_yield();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (stream->captured)
    return cudaErrorStreamCaptureUnsupported;
  come_late();
  (void)pthread_mutex_lock(&stream->lock);
  cudaError_t error = stream->first ? cudaErrorNotReady : stream->error;
  (void)pthread_mutex_unlock(&stream->lock);
  return error == cudaSuccess ? state_of_device() : error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind;
  return give(stream, (struct work){.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes});
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  return give(stream, (struct work){.kind = WORK_FILL, .to = memory, .value = value, .bytes = bytes});
}

/* --- graphs --- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  (void)mode;
  stream->captured = calloc(1, sizeof *stream->captured);
  return stream->captured ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  for (size_t i = 0; graph && i < graph->count; i++)
    free(graph->works[i].launch.argument);
  if (graph)
    free(graph->works);
  free(graph);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  *graph = stream->captured;
  stream->captured = NULL;
  if (setting("TUTTI_EMULATED_GRAPHS", 1))
    return cudaSuccess;
  (void)cudaGraphDestroy(*graph);
  *graph = NULL;
  return cudaErrorStreamCaptureUnsupported;
}

/* The graph's works become the run's. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  struct emulated_graph_run *run = calloc(1, sizeof *run);
  if (!run)
    return cudaErrorMemoryAllocation;
  run->graph = *graph;
  *graph = (struct emulated_graph){0};
  *made = run;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; error == cudaSuccess && i < run->graph.count; i++)
    error = give(stream, run->graph.works[i]);
  return error;
}

/* No launch of it may be under way. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run) {
  for (size_t i = 0; i < run->graph.count; i++)
    free(run->graph.works[i].launch.argument);
  free(run->graph.works);
  free(run);
  return cudaSuccess;
}

static __thread cudaError_t last_error;

cudaError_t cudaGetLastError(void) {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

void emulated_start(const char *kernel, unsigned blocks, unsigned threads, size_t shared, cudaStream_t stream,
                    void (*run)(void *argument), void *argument) {
  last_error = give(stream, (struct work){.kind = WORK_LAUNCH,
                                          .launch = {.kernel = kernel,
                                                     .blocks = blocks,
                                                     .threads = threads,
                                                     .shared = shared,
                                                     .run = run,
                                                     .argument = argument}});
}

cudaError_t emulated_call(cudaStream_t stream, void (*run)(void *argument), const void *argument, size_t size) {
  if (stream->captured && setting("TUTTI_EMULATED_GRAPHS", 1) < 0)
    return cudaErrorStreamCaptureUnsupported;
  void *copy = malloc(size);
  if (!copy)
    return cudaErrorMemoryAllocation;
  memcpy(copy, argument, size);
  return give(stream, (struct work){.kind = WORK_CALL, .launch = {.run = run, .argument = copy}});
}
