/* test_sizes.c - structs of callers who know fewer members: nothing is written behind what they have. */
#include "toy.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/sized.h>

/* A struct of an older caller, and bytes behind it that nobody may touch. */
struct older {
  size_t size;
  unsigned char *memory;
};
enum { BEHIND = 256 };

static struct older begin(size_t size) {
  struct older older = {size, malloc(size + BEHIND)};
  assert_non_null(older.memory);
  memset(older.memory, 0xa5, size + BEHIND);
  memcpy(older.memory, &size, sizeof size);
  return older;
}

static void end(struct older older) {
  size_t size;
  memcpy(&size, older.memory, sizeof size);
  assert_int_equal(size, older.size);
  for (size_t i = 0; i < BEHIND; i++)
    assert_int_equal(older.memory[older.size + i], 0xa5);
  free(older.memory);
}

/* A proposal without its origin. */
static void test_ask_fills_no_more_than_the_caller_has(void **state) {
  struct toy toy;
  tutti_builder *builder;
  (void)state;
  toy_create(&toy, 3, 1, 5, "x = uniform 0 1");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "nes-rs");
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = toy.host};
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  struct older older = begin(offsetof(struct tutti_proposal, origin));
  struct tutti_proposal *proposal = (struct tutti_proposal *)(void *)older.memory;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 0, proposal));
  assert_non_null(proposal->candidate);
  assert_true(proposal->parent == TUTTI_NO_TRIAL);
  tutti_candidate_unref(proposal->candidate);
  end(older);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

static enum tutti_status give_pool(void *argument, tutti_context *context, const char *split, size_t count,
                                   const uint64_t *trials, struct tutti_pool *pool) {
  (void)argument, (void)context, (void)split;
  pool->models = count;
  pool->trials = trials;
  pool->labels = (const int32_t *)(uintptr_t)8;
  return TUTTI_OK;
}

static void release_pool(void *argument, struct tutti_pool *pool) {
  const struct tutti_pool none = {.size = sizeof none};
  (void)argument;
  TUTTI_GIVE(pool, &none);
}

/* A pool without its targets, filled and released. */
static void test_a_pool_is_filled_and_released_as_far_as_the_caller_has_it(void **state) {
  static const uint64_t trials[] = {1, 2, 3};
  struct toy toy;
  (void)state;
  toy_create(&toy, 3, 1, 5, "x = uniform 0 1");
  toy.facts.pool = give_pool;
  toy.facts.pool_release = release_pool;
  tutti_host_set_facts(toy.host, &toy.facts);
  struct older older = begin(offsetof(struct tutti_pool, values));
  struct tutti_pool *pool = (struct tutti_pool *)(void *)older.memory;
  TOY_OK(&toy, tutti_host_pool(toy.context, toy.host, "validation", 3, trials, pool));
  assert_int_equal(pool->models, 3);
  tutti_host_pool_release(toy.host, pool);
  assert_int_equal(pool->models, 0);
  end(older);
  toy_destroy(&toy);
}

/* What comes from a longer or a shorter struct is the members that both have, and zeros. */
static void test_take_and_give(void **state) {
  struct longer {
    size_t size;
    int first, second;
  } longer = {sizeof longer, 1, 2};
  struct shorter {
    size_t size;
    int first;
  } shorter = {offsetof(struct longer, second), 7}, taken;
  struct longer grown;
  (void)state;
  tutti_sized_take(&taken, offsetof(struct longer, second), &longer);
  assert_true(taken.size == offsetof(struct longer, second) && taken.first == 1);
  TUTTI_TAKE(&grown, (struct longer *)(void *)&shorter);
  assert_true(grown.size == sizeof grown && grown.first == 7 && grown.second == 0);
  grown.second = 9;
  TUTTI_GIVE((struct longer *)(void *)&shorter, &grown);
  assert_true(shorter.size == offsetof(struct longer, second) && shorter.first == 7);
  TUTTI_GIVE(&longer, &grown);
  assert_true(longer.size == sizeof longer && longer.first == 7 && longer.second == 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ask_fills_no_more_than_the_caller_has),
      cmocka_unit_test(test_a_pool_is_filled_and_released_as_far_as_the_caller_has_it),
      cmocka_unit_test(test_take_and_give),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
