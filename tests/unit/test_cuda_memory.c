/* test_cuda_memory.c - backend cuda on an emulated GPU with little memory: what is refused, what waits for others to
   end, and what goes in parts. Both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/tutti.h>

#include "cuda_coming.h"
#include "cuda_images.h"
#include "cuda_tables.h"
#include "tests/watched.h"

static struct coming coming;

/* --- a network that does not fit by itself --- */

static void require_refusal(tutti_network *network, const char *memory) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  char text[128];
  configure("epochs=1");
  struct tutti_job job = side_job(&cuda, network, 1);
  emulate("TUTTI_EMULATED_MEMORY", memory);
  make_cuda_again("little");
  (void)snprintf(text, sizeof text, "MiB, and the device has %s MiB: lower batch_size, or take backend cpu", memory);
  enum tutti_status status = tutti_backend_check(context, cuda.backend, &job);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  must_fail(status, text);
  must_fail(tutti_backend_train(context, cuda.backend, &job, &outcome), text);
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  tutti_network_destroy(network);
}

static void test_tables_refused(void **state) {
  (void)state;
  needs_emulation();
  require_refusal(tables_network(60000), "1");
}

static void test_images_refused(void **state) {
  (void)state;
  needs_emulation();
  require_refusal(images_network(400), "9");
}

/* --- predictions that do not fit by themselves --- */

/* Many values of a row, and few weights: layers side by side, of `units` each, whose sum is the head's. */
static tutti_network *broad(int32_t units, bool images) {
  enum { SIDE_BY_SIDE = 8 };
  uint32_t layers[SIDE_BY_SIDE], layer;
  tutti_network *network;
  OK(tutti_network_create(context, task.input, &network));
  for (size_t i = 0; i < SIDE_BY_SIDE; i++)
    if (images)
      OK(tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &(uint32_t){0},
                           TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", 1}, {"kernel_width", 1}), &layers[i]));
    else
      OK(tutti_network_add_dense(context, network, NULL, 0, units, TUTTI_ACTIVATION_LINEAR, &layers[i]));
  OK(tutti_network_add(context, network, TUTTI_OP_ADD, NULL, SIDE_BY_SIDE, layers, NULL, &layer));
  if (images)
    OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* Steps of one row fit where predictions do not: that is refused before anything trains. Where they fit, beside what
   libraries take, all goes well. */
static void require_prediction_refusal(tutti_network *network, const char *predictions) {
  enum { LIBRARIES = 16 };
  float out[COMING_NUMBERS];
  char text[128], memory[16];
  enum tutti_status status = TUTTI_ERROR_MEMORY;
  size_t refusals = 0;
  int size = 0;
  configure("epochs=1 batch_size=1 learning_rate=1e-6");
  struct tutti_job job = side_job(&cuda, network, 1);
  while (status == TUTTI_ERROR_MEMORY) {
    (void)snprintf(memory, sizeof memory, "%d", ++size);
    emulate("TUTTI_EMULATED_MEMORY", memory);
    status = tutti_backend_check(context, cuda.backend, &job);
    if (status == TUTTI_OK || !strstr(tutti_error_message(context), predictions))
      continue;
    (void)snprintf(text, sizeof text, " MiB, and the device has %d MiB: take backend cpu", size);
    must_fail(status, text);
    refusals++;
  }
  OK(status);
  assert_in_range(refusals, 1, size);
  (void)snprintf(memory, sizeof memory, "%d", size + LIBRARIES);
  emulate("TUTTI_EMULATED_MEMORY", memory);
  struct tutti_outcome outcome = side_train(&cuda, job);
  if (outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("%s", outcome.failure);
  OK(tutti_backend_predict(context, cuda.backend, &job, outcome.weights, validation, out));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  tutti_tensors_destroy(outcome.weights);
  tutti_network_destroy(network);
}

/* Few rows are validated at once, but blocks predict 64 at once, whether they are there or not. */
static void test_predictions_of_tables_refused(void **state) {
  (void)state;
  needs_emulation();
  require_prediction_refusal(broad(6000, false), "predictions of 19 rows at once need ");
}

/* Sixteen images are validated at once. */
static void test_predictions_of_images_refused(void **state) {
  (void)state;
  needs_emulation();
  tutti_split_destroy(validation);
  validation = images_split("validation", 80, 1);
  require_prediction_refusal(broad(100, true), "predictions of 64 rows at once need ");
}

/* --- networks that have no room at once --- */

/* They wait for others to end. */
static void wait_for_room(tutti_network *(*make)(int32_t), int32_t width, const char *name, const char *value) {
  configure("epochs=1 batch_size=0");
  for (size_t i = 0; i < 3; i++)
    coming_add(&coming, side_job(&cuda, make(width), i));
  emulate(name, value);
  coming_train_at_once(&coming);
  emulate(name, NULL);
  coming_require_finished(&coming);
  coming_release(&coming);
}

static void test_tables_wait(void **state) {
  (void)state;
  needs_emulation();
  wait_for_room(tables_network, 3000, "TUTTI_EMULATED_MEMORY", "8");
}

static void test_images_wait(void **state) {
  (void)state;
  needs_emulation();
  wait_for_room(images_network, 6, "TUTTI_EMULATED_MEMORY", "20"); /* cuBLAS alone has 8 for each */
}

/* cuBLAS, which takes memory of its own, says that it found none. */
static void test_library_memory(void **state) {
  (void)state;
  needs_emulation();
  wait_for_room(images_network, 6, "TUTTI_EMULATED_HANDLES", "1");
}

/* Memory that other programs take in the middle: a network that finds none waits for others to end, and fails with
   need and limit where nobody will. */
static void take_memory(struct coming *taken, size_t number) {
  (void)number;
  if (taken->done == 1)
    emulate("TUTTI_EMULATED_TAKEN", "1020");
}

static void test_taken_memory(void **state) {
  (void)state;
  needs_emulation();
  for (size_t i = 0; i < 3; i++) {
    configure(i == 0 ? "epochs=24 batch_size=8" : "epochs=1 batch_size=8");
    coming_add(&coming, side_job(&cuda, images_network(3 + (int32_t)i), i));
  }
  configure("epochs=1 batch_size=0");
  coming_add(&coming, side_job(&cuda, images_network(120), 4));
  coming.each = take_memory;
  OK(coming_train(&coming));
  emulate("TUTTI_EMULATED_TAKEN", NULL);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(coming.outcomes[i].state, TUTTI_STATE_FINISHED);
  assert_int_equal(coming.outcomes[3].state, TUTTI_STATE_FAILED);
  if (!strstr(coming.outcomes[3].failure, "out of memory on the device: the network and its rows need ") ||
      !strstr(coming.outcomes[3].failure, " MiB, and 4 of 1024 MiB are free; lower batch_size, or take backend cpu"))
    fail_msg("%s", coming.outcomes[3].failure);
  coming_release(&coming);
}

/* --- predictions --- */

/* Those of more rows than the device has memory for go in parts, with the bits of all rows at once. */
static void predict_in_parts(tutti_network *(*make)(int32_t), tutti_split *many, const char *memory) {
  for (size_t i = 0; i < 3; i++) {
    configure(i == 0 ? "epochs=1 batch_size=16" : "epochs=3 batch_size=16");
    coming_add(&coming, side_job(&cuda, make(3), i));
  }
  coming_require_parts(&coming, memory, many);
  coming_release(&coming);
  tutti_split_destroy(many);
}

static void test_tables_in_parts(void **state) {
  (void)state;
  needs_emulation();
  predict_in_parts(tables_network, tables_split("many", 60000, 2), "1");
}

static void test_images_in_parts(void **state) {
  (void)state;
  needs_emulation();
  predict_in_parts(images_network, images_split("many", 3000, 2), "11");
}

/* Where not even the fewest rows find memory, they wait for trainings to end; where none is left, they fail. */
static void wait_to_predict(tutti_network *(*make)(int32_t), int32_t width, const char *memory) {
  configure("epochs=1 batch_size=0");
  coming_add(&coming, side_job(&cuda, make(3), 0));
  configure("epochs=12 batch_size=0");
  coming_add(&coming, side_job(&cuda, make(width), 1));
  configure("epochs=1");
  struct tutti_outcome like_second = side_train(&cpu, coming.jobs[1]);
  coming_require_wait(&coming, memory, like_second.weights);
  require_no_memory_to_predict(&coming.jobs[1], like_second.weights);
  tutti_tensors_destroy(like_second.weights);
  coming_release(&coming);
}

static void test_tables_wait_to_predict(void **state) {
  (void)state;
  needs_emulation();
  wait_to_predict(tables_network, 3000, "5");
}

static void test_images_wait_to_predict(void **state) {
  (void)state;
  needs_emulation();
  wait_to_predict(images_network, 600, "42");
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tables_refused, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_images_refused, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_predictions_of_tables_refused, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_predictions_of_images_refused, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_tables_wait, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_images_wait, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_library_memory, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_taken_memory, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_tables_in_parts, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_images_in_parts, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_tables_wait_to_predict, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_images_wait_to_predict, images_begin, images_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
