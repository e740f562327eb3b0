/* test_emulation.c - the emulated GPU shows what small kernels do wrong: numbers that nobody wrote are NaN, a
   barrier that some thread never reaches fails the launch, and AddressSanitizer finds what lies beyond a block's
   shared memory and beyond the device's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <stdio.h>

#include "tests/cuda/faulty.h"
#include "tests/watched.h"

enum { THREADS = 64 };

static cudaError_t run(enum faulty kind, float *out) {
  float *memory;
  cudaStream_t stream;
  unsigned flag = 0;
  assert_int_equal(cudaMalloc((void **)&memory, THREADS * sizeof *memory), cudaSuccess);
  assert_int_equal(cudaStreamCreateWithFlags(&stream, 0), cudaSuccess);
  for (size_t i = 0; i < THREADS; i++)
    memory[i] = (float)i;
  faulty_launch(stream, kind, 1, THREADS, memory, &flag);
  cudaError_t result = cudaStreamSynchronize(stream);
  memcpy(out, memory, THREADS * sizeof *out);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  assert_int_equal(cudaFree(memory), cudaSuccess);
  return result;
}

static void test_right(void **state) {
  float out[THREADS];
  (void)state;
  assert_int_equal(run(FAULTY_MEETING, out), cudaSuccess);
  for (size_t i = 0; i < THREADS; i++)
    assert_float_equal(out[i], (float)((i + 1) % THREADS + (i + 2) % THREADS), 0);
}

static void test_unwritten(void **state) {
  float out[THREADS];
  (void)state;
  assert_int_equal(run(FAULTY_UNWRITTEN, out), cudaSuccess);
  for (size_t i = 0; i < THREADS; i++)
    assert_true(isnan(out[i]));
}

static void test_hangs(void **state) {
  float out[THREADS];
  (void)state;
  assert_int_equal(run(FAULTY_HANGS, out), cudaErrorLaunchFailure);
}

/* What a process of its own says that runs the kernel. */
static void say_of(enum faulty kind, char *text, size_t size) {
  int ends[2], status;
  float out[THREADS];
  size_t got = 0;
  ssize_t some;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)dup2(ends[1], STDERR_FILENO);
    (void)run(kind, out);
    _exit(0);
  }
  (void)close(ends[1]);
  while (got + 1 < size && (some = read(ends[0], text + got, size - 1 - got)) > 0)
    got += (size_t)some;
  text[got] = '\0';
  (void)close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_beyond(void **state) {
  char text[1 << 14];
  (void)state;
#if defined(__SANITIZE_ADDRESS__)
  say_of(FAULTY_BEYOND, text, sizeof text);
  if (!strstr(text, "heap-buffer-overflow") || !strstr(text, "WRITE of size 4"))
    fail_msg("%s", text);
  say_of(FAULTY_BEYOND_MEMORY, text, sizeof text);
  if (!strstr(text, "heap-buffer-overflow") || !strstr(text, "READ of size 4"))
    fail_msg("%s", text);
#else
  (void)text, (void)say_of;
  print_message("not shown here: --enable-sanitizers\n");
  skip();
#endif
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right), cmocka_unit_test(test_unwritten),
                                     cmocka_unit_test(test_hangs), cmocka_unit_test(test_beyond)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
