/* test_cuda_pool.c - backend cuda on an emulated GPU: networks have the same bits alone and among others, in every
   order of the threads, with grids of other sizes, with and without graphs; all at once, and as they come. Both
   engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/tutti.h>

#include "backends/cpu/cpu_impl.h"
#include "cuda_coming.h"
#include "cuda_images.h"
#include "cuda_tables.h"
#include "tests/watched.h"

static struct coming coming;

/* The jobs train at once; then each alone on another machine: more threads, in another order, and grids of so many
   blocks. */
static void train_at_once_and_alone(const char *blocks) {
  coming_train_at_once(&coming);
  emulate("TUTTI_EMULATED_SEED", "99");
  emulate("TUTTI_EMULATED_THREADS", "128");
  emulate("TUTTI_EMULATED_BLOCKS", blocks);
  make_cuda_again("another");
  coming_require_alone(&coming);
  coming_release(&coming);
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
  emulate("TUTTI_EMULATED_BLOCKS", NULL);
}

/* --- networks of different sizes --- */

/* One of them is too large for shared memory. */
static void test_tables(void **state) {
  static const int32_t widths[] = {5, 40, 3, 300, 17, 8, 64};
  (void)state;
  configure("epochs=4 batch_size=16 gradient_clip=1 early_stopping=3");
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    coming_add(&coming, side_job(&cuda, tables_network(widths[i]), i));
  train_at_once_and_alone(NULL);
}

/* One of them is a table's, which has the other engine. */
static void images_of_sizes(void) {
  static const int32_t units[] = {5, 8, 3, 0, 17};
  configure("epochs=3 batch_size=8 gradient_clip=1 early_stopping=2");
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    coming_add(&coming, side_job(&cuda, units[i] > 0 ? images_network(units[i]) : images_flat(), i));
}

/* Alone without graphs, and where captures fail. */
static void test_images(void **state) {
  static const char *const graphs[] = {"0", "-1"};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    images_of_sizes();
    coming_train_at_once(&coming);
    emulate("TUTTI_EMULATED_GRAPHS", graphs[i]);
    emulate("TUTTI_EMULATED_SEED", "99");
    make_cuda_again(i == 0 ? "no graphs" : "no captures");
    coming_require_alone(&coming);
    coming_release(&coming);
    emulate("TUTTI_EMULATED_GRAPHS", NULL);
    emulate("TUTTI_EMULATED_SEED", NULL);
  }
  images_of_sizes();
  train_at_once_and_alone("3");
}

/* --- many of all spaces --- */

/* With all optimisers, schedules and batch sizes. */
static void train_spaces(const struct sides_space *spaces, size_t space_count, const char *const *trainings,
                         size_t training_count, size_t count, int64_t epochs, const char *blocks) {
  tutti_space *opened[8];
  assert_in_range(space_count, 1, 8);
  for (size_t s = 0; s < space_count; s++)
    opened[s] = open_space(spaces[s].plugin, spaces[s].set);
  for (size_t i = 0; i < count; i++) {
    configure(trainings[(i + i / space_count) % training_count]);
    struct tutti_job job = side_job(&cuda, sample(opened[i % space_count], "networks of test_cuda_pool", i), i);
    struct cpu_config config = *(const struct cpu_config *)job.config;
    config.epochs = epochs + (int64_t)i % 2;
    job.config = &config;
    coming_add(&coming, job);
  }
  train_at_once_and_alone(blocks);
  for (size_t s = 0; s < space_count; s++)
    tutti_space_destroy(opened[s]);
}

static void test_spaces_of_tables(void **state) {
  (void)state;
  train_spaces(tables_spaces, TABLES_SPACES, tables_trainings, TABLES_TRAININGS, COMING_MOST, 2, NULL);
}

static void test_spaces_of_images(void **state) {
  (void)state;
  train_spaces(images_spaces, IMAGES_SPACES, images_trainings, IMAGES_TRAININGS,
               getenv("TUTTI_TEST_NETWORKS") ? COMING_MOST : IMAGES_SPACES, 1, "1");
}

/* --- jobs that come while others train --- */

/* The same weights and predictions, to the bit, as alone, whatever block predicts, with whatever shared memory. */
static void test_queue_of_tables(void **state) {
  static const int32_t widths[] = {40, 5, 200, 3, 17, 64};
  (void)state;
  /* Two more than are predicted at once: products of few rows go their own way in trainings. */
  tutti_split_destroy(validation);
  validation = tables_split("validation", 66, 1);
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    configure(i == 3 ? "epochs=40 batch_size=16" : "epochs=6 batch_size=16");
    coming_add(&coming, side_job(&cuda, tables_network(widths[i]), i));
  }
  OK(coming_train(&coming));
  assert_int_equal(coming.done, coming.count);
  assert_int_equal(coming.most, 3);
  coming_require_alone(&coming);
  coming_release(&coming);
}

/* A new one begins as soon as one ends, while the first still trains; the third has the other engine. */
static void test_queue_of_images(void **state) {
  (void)state;
  for (size_t i = 0; i < 7; i++) {
    configure(i == 0 ? "epochs=24 batch_size=8" : "epochs=1 batch_size=16");
    coming_add(&coming, side_job(&cuda, i == 2 ? images_flat() : images_network(3 + (int32_t)i), i));
  }
  OK(coming_train(&coming));
  assert_int_equal(coming.done, coming.count);
  assert_int_equal(coming.most, 3);
  assert_in_range(coming.refilled, 3, coming.count);
  coming_require_alone(&coming);
  coming_release(&coming);
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tables, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_images, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_spaces_of_tables, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_spaces_of_images, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_queue_of_tables, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_queue_of_images, images_begin, images_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
