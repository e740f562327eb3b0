/* device.c - the device that the plugin finds, and what it can hold. The runtime is linked into the plugin, and loads
   the driver when it is first asked: without one it says so. */
#include "cuda_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 8 };      /* the first compute capability that the kernels are compiled for */
enum { MOST_BLOCKS = 8 }; /* of 256 threads to a multiprocessor */

enum tutti_status backend_cuda_status(tutti_context *context, cudaError_t error, const char *doing) {
  if (error == cudaSuccess)
    return TUTTI_OK;
  (void)cudaGetLastError(); /* said here, and not again by who asks for it next */
  return TUTTI_FAIL(context, error == cudaErrorMemoryAllocation ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_IO,
                    "CUDA: %s (error %d in %.40s)", cudaGetErrorString(error), (int)error, doing);
}

void backend_cuda_say_full(char *text, size_t size, const char *something, size_t need, size_t unused,
                           const char *advice) {
  size_t room = 0, total = 0;
  if (cudaMemGetInfo(&room, &total) != cudaSuccess)
    (void)cudaGetLastError();
  (void)snprintf(text, size, "out of memory on the device: %s need %zu MiB, and %zu of %zu MiB are free; %s", something,
                 (need >> 20) + 1, (room + unused) >> 20, total >> 20, advice);
}

enum tutti_status backend_cuda_prediction_full(tutti_context *context, size_t rows, size_t need, size_t unused) {
  char something[64], text[256];
  (void)snprintf(something, sizeof something, "predictions of %zu rows at once", rows);
  backend_cuda_say_full(text, sizeof text, something, need, unused, "take backend cpu");
  tutti_error_clear(context); /* of who asked for the memory */
  return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "%s", text);
}

/* With CUDA_LAUNCH_BLOCKING=1 the host waits for each kernel, and kernels wait for the host. */
static bool waits_for_kernels(void) {
  const char *text = getenv("CUDA_LAUNCH_BLOCKING");
  return text && *text && strcmp(text, "0") != 0;
}

/* It may be there, and hidden. */
static void say_no_device(char *why, size_t why_size) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible)
    (void)snprintf(why, why_size, "no CUDA device: CUDA_VISIBLE_DEVICES, which executor.devices sets, is \"%s\"",
                   visible);
  else
    (void)snprintf(why, why_size, "no CUDA device");
}

bool backend_cuda_available(char *why, size_t why_size) {
  int count = 0, major = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    (void)snprintf(why, why_size, "no CUDA driver, or one that is too old: %s", cudaGetErrorString(error));
  } else if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    say_no_device(why, why_size);
  } else if (error != cudaSuccess) {
    (void)snprintf(why, why_size, "CUDA: %s", cudaGetErrorString(error));
  } else if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess || major < OLDEST) {
    (void)snprintf(why, why_size, "the CUDA device has compute capability %d.x, and %d.0 or later is needed", major,
                   OLDEST);
  } else if (waits_for_kernels()) {
    (void)snprintf(why, why_size,
                   "CUDA_LAUNCH_BLOCKING is set: the host would wait for kernels that wait for the host; unset it");
  } else {
    return true;
  }
  return false;
}

static enum tutti_status attribute(tutti_context *context, enum cudaDeviceAttr which, size_t *value) {
  int found = 0;
  CUDA_TRY(context, cudaDeviceGetAttribute(&found, which, 0));
  *value = (size_t)found;
  return TUTTI_OK;
}

enum tutti_status backend_cuda_device_describe(tutti_context *context, struct cuda_device *device) {
  char why[256];
  size_t processors, threads, blocks;
  if (!backend_cuda_available(why, sizeof why))
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "backend cuda: %s", why);
  TUTTI_TRY(context, attribute(context, cudaDevAttrMultiProcessorCount, &processors));
  TUTTI_TRY(context, attribute(context, cudaDevAttrMaxThreadsPerBlock, &threads));
  TUTTI_TRY(context, attribute(context, cudaDevAttrMaxSharedMemoryPerBlockOptin, &device->shared_block));
  TUTTI_TRY(context, attribute(context, cudaDevAttrMaxSharedMemoryPerMultiprocessor, &device->shared_multiprocessor));
  TUTTI_TRY(context, attribute(context, cudaDevAttrReservedSharedMemoryPerBlock, &device->shared_reserved));
  TUTTI_TRY(context, attribute(context, cudaDevAttrMaxBlocksPerMultiprocessor, &blocks));
  device->multiprocessors = (uint32_t)processors;
  device->stream_blocks = (uint32_t)(processors * (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS));
  device->most_workers = threads < CUDA_MOST_WORKERS ? (uint32_t)threads : CUDA_MOST_WORKERS;
  return TUTTI_OK;
}

enum tutti_status backend_cuda_device_total(tutti_context *context, size_t *bytes) {
  struct cudaDeviceProp properties;
  CUDA_TRY(context, cudaGetDeviceProperties(&properties, 0));
  *bytes = properties.totalGlobalMem;
  return TUTTI_OK;
}

enum tutti_status backend_cuda_device_open(tutti_context *context, struct cuda_device *device) {
  if (device->open)
    return TUTTI_OK;
  CUDA_TRY(context, cudaSetDevice(0));
  CUDA_TRY(context, backend_cuda_allow_shared((uint32_t)device->shared_block));
  device->open = true;
  return TUTTI_OK;
}
