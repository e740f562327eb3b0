/* test_cuda_golden.c - backend cuda gives the golden numbers of backend cpu: losses, gradients and trajectories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cuda_sides.h"
#include "golden_training.h"
#include "tests/watched.h"

/* Golden numbers come with tasks and rows of their own; backends are opened for one like them. */
static void make_task(enum tutti_op head) {
  task = golden_nomu_task();
  task.head = head;
}

static int begin(void **state) {
  (void)state;
  open_sides(make_task, TUTTI_OP_HEAD_NOMU);
  configure("epochs=1");
  return 0;
}

static int end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

static enum tutti_status gradient_by(const struct golden_backend *backend, const struct tutti_job *job,
                                     const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  return tutti_backend_gradient(backend->context, backend->self, job, weights, loss, gradient);
}

static enum tutti_status train_by(const struct golden_backend *backend, const struct tutti_job *job,
                                  struct tutti_outcome *outcome) {
  return tutti_backend_train(backend->context, backend->self, job, outcome);
}

static struct golden_backend golden_cuda(void) {
  const struct cpu_config *config = tutti_config_values(cuda.config);
  return (struct golden_backend){context, *config, cuda.backend, gradient_by, train_by};
}

static void test_gaussian(void **state) {
  (void)state;
  const struct golden_backend backend = golden_cuda();
  golden_gaussian(&backend);
}

static void test_gaussian_adam(void **state) {
  (void)state;
  const struct golden_backend backend = golden_cuda();
  golden_gaussian_adam(&backend);
}

static void test_nomu(void **state) {
  (void)state;
  const struct golden_backend backend = golden_cuda();
  golden_nomu(&backend);
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_gaussian, begin, end),
      cmocka_unit_test_setup_teardown(test_gaussian_adam, begin, end),
      cmocka_unit_test_setup_teardown(test_nomu, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
