/* test_races.c - the emulation's search for races finds those of small kernels, in every order of the threads, and
   none where barriers or fences order what they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>

#include "tests/cuda/faulty.h"
#include "tests/watched.h"

enum { BLOCKS = 2, THREADS = 64, ORDERS = 8 };

static const struct {
  enum faulty kind;
  const char *name;
  cudaError_t result;
} kernels[] = {
    {FAULTY_MEETING, "a barrier each time", cudaSuccess},
    {FAULTY_READ, "no barrier before reading", cudaErrorLaunchFailure},
    {FAULTY_WRITE, "no barrier before writing", cudaErrorLaunchFailure},
    {FAULTY_BOTH, "all write one number", cudaErrorLaunchFailure},
    {FAULTY_SHUFFLE, "a shuffle for a barrier", cudaErrorLaunchFailure},
    {FAULTY_SOME, "those meet that need it", cudaSuccess},
    {FAULTY_OTHERS, "one reads that did not meet", cudaErrorLaunchFailure},
    {FAULTY_BLOCKS, "another block reads", cudaErrorLaunchFailure},
    {FAULTY_HOST, "by way of the host", cudaSuccess},
    {FAULTY_UNFENCED, "by way of the host, without the first fence", cudaErrorLaunchFailure},
    {FAULTY_DEAF, "by way of the host, without the second fence", cudaErrorLaunchFailure},
    {FAULTY_RESULTS, "results for the host that nobody waits for", cudaErrorLaunchFailure},
};

static void test_kernels(void **state) {
  (void)state;
  assert_int_equal(setenv("TUTTI_EMULATED_RACES", "fail", 1), 0);
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
    for (unsigned order = 1; order <= ORDERS; order++) {
      char seed[16];
      float *memory;
      unsigned *flag;
      cudaStream_t stream;
      (void)snprintf(seed, sizeof seed, "%u", order);
      assert_int_equal(setenv("TUTTI_EMULATED_SEED", seed, 1), 0);
      assert_int_equal(cudaMalloc((void **)&memory, BLOCKS * THREADS * sizeof *memory), cudaSuccess);
      assert_int_equal(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
      assert_int_equal(cudaHostAlloc((void **)&flag, (1 + BLOCKS * THREADS) * sizeof *flag, cudaHostAllocMapped),
                       cudaSuccess);
      faulty_launch(stream, kernels[k].kind, BLOCKS, THREADS, memory, flag);
      cudaError_t result = cudaStreamSynchronize(stream);
      if (result != kernels[k].result)
        fail_msg("%s, order %u: %s", kernels[k].name, order, cudaGetErrorString(result));
      assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
      assert_int_equal(cudaFree(memory), cudaSuccess);
      assert_int_equal(cudaFreeHost(flag), cudaSuccess);
    }
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
