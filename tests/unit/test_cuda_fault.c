/* test_cuda_fault.c - a kernel of the emulated GPU fails when its blocks have just told of an epoch that the host has
   not looked at: their jobs end, as failed ones, and nobody waits for an answer. A device that has failed is of no more
   use to its process, so this is a program of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <tutti/tutti.h>

#include "cuda_coming.h"

enum { JOBS = 4, FEATURES = 3, ROWS = 24, SECONDS = 60 };

static tutti_split *make_split(const char *name) {
  float inputs[ROWS * FEATURES], targets[ROWS];
  tutti_split *split;
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t f = 0; f < FEATURES; f++)
      inputs[r * FEATURES + f] = (float)((r * 7 + f * 5) % 11) / 11;
    targets[r] = inputs[r * FEATURES] - inputs[r * FEATURES + 1];
  }
  OK(tutti_split_create(context, name, ROWS, task.input, task.outputs, inputs, targets, NULL, &split));
  return split;
}

static void make_task(enum tutti_op head) {
  task = (struct tutti_task){.size = sizeof task,
                             .kind = TUTTI_TASK_REGRESSION,
                             .input = {1, 1, FEATURES},
                             .outputs = 1,
                             .train_rows = ROWS,
                             .head = head};
  train = make_split("train");
  validation = make_split("validation");
}

static void a_kernel_that_fails_just_after_its_blocks_have_told(void **state) {
  static struct coming coming;
  char fault[64];
  (void)state;
  needs_emulation();
  open_sides(make_task, TUTTI_OP_HEAD_GAUSSIAN);
  configure("epochs=100000 batch_size=4");
  (void)snprintf(fault, sizeof fault, "/tmp/tutti-fault-%ld", (long)getpid());
  emulate("TUTTI_EMULATED_FAULT", fault);
  emulate("TUTTI_EMULATED_LATE", "5");
  for (size_t i = 0; i < JOBS; i++) {
    tutti_network *network;
    uint32_t layer;
    OK(tutti_network_create(context, task.input, &network));
    OK(tutti_network_add_dense(context, network, NULL, 0, 5, TUTTI_ACTIVATION_RELU, &layer));
    OK(tutti_network_add_head(context, network, layer, &task));
    coming_add(&coming, side_job(&cuda, network, i));
  }
  (void)alarm(SECONDS);
  coming_train_at_once(&coming);
  (void)alarm(0);
  for (size_t i = 0; i < JOBS; i++) {
    assert_int_equal(coming.outcomes[i].state, TUTTI_STATE_FAILED);
    assert_non_null(strstr(coming.outcomes[i].failure, "the training kernel failed"));
  }
  coming_release(&coming);
  close_sides();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_that_fails_just_after_its_blocks_have_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
