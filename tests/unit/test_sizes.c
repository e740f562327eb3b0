/* test_sizes.c - structs that callers let us fill: of other versions, and without their size. */
#include "toy.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/sized.h>

/* The fallible functions that fill a struct of the caller refuse one whose size was forgotten, or never written. */
static void refused(struct toy *toy, enum tutti_status status, const char *type) {
  assert_int_equal(status, TUTTI_ERROR_INTERNAL);
  if (!strstr(tutti_error_message(toy->context), type) || !strstr(tutti_error_message(toy->context), "found "))
    fail_msg("expected '%s' in '%s'", type, tutti_error_message(toy->context));
  tutti_error_clear(toy->context);
}
static const size_t wrong_sizes[] = {0, sizeof(size_t), (size_t)1 << 21, SIZE_MAX};
enum { WRONG_SIZES = sizeof wrong_sizes / sizeof wrong_sizes[0] };

static void test_ask(void **state) {
  struct toy toy;
  tutti_builder *builder;
  (void)state;
  toy_create(&toy, 3, 1, 5, "x = uniform 0 1");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "nes-rs");
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = toy.host};
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  struct tutti_proposal proposal = {.parent = 77};
  for (size_t i = 0; i < WRONG_SIZES; i++) {
    proposal.size = wrong_sizes[i];
    refused(&toy, tutti_builder_ask(toy.context, builder, 0, &proposal), "struct tutti_proposal");
    assert_true(proposal.parent == 77 && !proposal.candidate);
  }
  proposal.size = sizeof proposal;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 0, &proposal));
  assert_non_null(proposal.candidate);
  tutti_candidate_unref(proposal.candidate);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* A caller of a newer version has members that we do not know: they become zero. */
static void test_newer_callers(void **state) {
  struct newer {
    struct tutti_proposal known;
    unsigned char more[64];
  } newer = {.known.size = sizeof newer};
  struct toy toy;
  tutti_builder *builder;
  (void)state;
  memset(newer.more, 0xa5, sizeof newer.more);
  toy_create(&toy, 3, 1, 5, "x = uniform 0 1");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "nes-rs");
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = toy.host};
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 0, &newer.known));
  assert_int_equal(newer.known.size, sizeof newer);
  for (size_t i = 0; i < sizeof newer.more; i++)
    assert_int_equal(newer.more[i], 0);
  tutti_candidate_unref(newer.known.candidate);
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

static void test_pool(void **state) {
  static const uint64_t trials[] = {1, 2, 3};
  struct tutti_pool pool = {.models = 77};
  struct toy toy;
  (void)state;
  toy_create(&toy, 3, 1, 5, "x = uniform 0 1");
  toy.facts.pool = give_pool;
  toy.facts.pool_release = release_pool;
  tutti_host_set_facts(toy.host, &toy.facts);
  for (size_t i = 0; i < WRONG_SIZES; i++) {
    pool.size = wrong_sizes[i];
    refused(&toy, tutti_host_pool(toy.context, toy.host, "validation", 3, trials, &pool), "struct tutti_pool");
    assert_int_equal(pool.models, 77);
  }
  pool.size = sizeof pool;
  TOY_OK(&toy, tutti_host_pool(toy.context, toy.host, "validation", 3, trials, &pool));
  assert_int_equal(pool.models, 3);
  tutti_host_pool_release(toy.host, &pool);
  assert_int_equal(pool.models, 0);
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
      cmocka_unit_test(test_ask),
      cmocka_unit_test(test_newer_callers),
      cmocka_unit_test(test_pool),
      cmocka_unit_test(test_take_and_give),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
