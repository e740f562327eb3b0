/* From a section of a host to a plugin at work: setups and tables of other sizes than ours, and plugins without
   create. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

/* --- plugins --- */

/* What create was given last. */
static struct {
  struct tutti_surrogate_setup setup;
  struct tutti_setup head;
  int destroyed;
} seen;

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config;
  memcpy(&seen.setup, setup, ((const struct tutti_setup *)setup)->size);
  memcpy(&seen.head, setup, sizeof seen.head);
  return tutti_alloc(context, 1, 1, self);
}

static void destroy(void *self) {
  seen.destroyed++;
  tutti_free(self);
}

/* An instance that nothing needs to destroy. */
static enum tutti_status create_constant(tutti_context *context, const void *config, const void *setup, void **self) {
  static const int constant;
  (void)context, (void)config, (void)setup;
  *self = (void *)(uintptr_t)&constant;
  return TUTTI_OK;
}

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_points *points,
                             const double *values, const double *noise) {
  (void)self, (void)context, (void)points, (void)values, (void)noise;
  return TUTTI_OK;
}

struct config {
  double mean;
};
static const struct tutti_param params[] = {{.name = "mean",
                                             .type = TUTTI_PARAM_REAL,
                                             .offset = offsetof(struct config, mean),
                                             .preset = "1",
                                             .doc = "A mean."}};

/* The instance of a plugin without create is its config. */
static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_points *points, double *mean,
                                 double *deviation) {
  (void)context;
  for (size_t i = 0; i < points->count; i++) {
    mean[i] = ((const struct config *)self)->mean;
    deviation[i] = 0;
  }
  return TUTTI_OK;
}

/* A later version of the table, longer than ours. */
struct longer_ops {
  struct tutti_surrogate_ops ours;
  void (*extra[40])(void);
};
static const struct longer_ops ops = {.ours = {.size = sizeof(struct longer_ops), .fit = fit, .predict = predict},
                                      .extra = {(void (*)(void))(uintptr_t)1}};

#define PLUGIN(name_, params_, create_, destroy_)                                                                      \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, name_), .version = "1", .summary = "a test's", .source = "",           \
                                                        .licence = "Apache-2.0", .params = params_, .create = create_, \
                                                        .destroy = destroy_, .ops = &ops                               \
  }
static const struct tutti_descriptor plugins[] = {
    PLUGIN("recorder", TUTTI_NO_PARAMS, create, destroy),
    PLUGIN("bare", TUTTI_PARAMS(params, struct config), NULL, NULL),
    PLUGIN("constant", TUTTI_NO_PARAMS, create_constant, NULL),
};
static const struct tutti_descriptor destroys_its_config =
    PLUGIN("wrong", TUTTI_PARAMS(params, struct config), NULL, destroy);

/* --- fixture --- */

static struct {
  tutti_context *context;
  struct tutti_task task;
  tutti_host *host;
} world;

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(world.context));
}

static int setup(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts, .seed = 3, .task = &world.task};
  (void)state;
  memset(&seen, 0, sizeof seen);
  must(tutti_context_create(&world.context));
  must(tutti_host_create(world.context, &facts, &world.host));
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    must(tutti_plugin_register(world.context, &plugins[i]));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tutti_host_destroy(world.host);
  tutti_context_destroy(world.context);
  return 0;
}

static enum tutti_status make(const char *plugin, const struct tutti_surrogate_setup *of, tutti_surrogate **surrogate) {
  must(tutti_host_put(world.context, world.host, "surrogate", TUTTI_KIND_SURROGATE, plugin));
  return tutti_surrogate_create(world.context, world.host, "surrogate", of, surrogate);
}

static void make_and_end(const struct tutti_surrogate_setup *of) {
  tutti_surrogate *surrogate;
  must(make("recorder", of, &surrogate));
  tutti_surrogate_destroy(surrogate);
}

/* --- setups --- */

static void test_facts_are_filled_in(void **state) {
  struct tutti_surrogate_setup of = {.size = sizeof of, .seed = 5};
  (void)state;
  make_and_end(&of);
  assert_int_equal(seen.head.size, sizeof of);
  assert_ptr_equal(seen.head.host, world.host);
  assert_ptr_equal(seen.head.task, &world.task);
  assert_int_equal(seen.head.seed, 5);
  assert_int_equal(seen.destroyed, 1);
}

static void test_task_of_the_caller(void **state) {
  struct tutti_task another = {.size = sizeof another};
  struct tutti_surrogate_setup of = {.size = sizeof of, .task = &another};
  (void)state;
  make_and_end(&of);
  assert_ptr_equal(seen.head.task, &another);
}

/* Built when the setup ended before `dimension`: the memory after it does not belong to the setup. */
static void test_shorter_setup(void **state) {
  struct tutti_surrogate_setup of = {.size = offsetof(struct tutti_surrogate_setup, dimension), .dimension = 99};
  of.scope = (const tutti_scope *)(uintptr_t)1;
  (void)state;
  make_and_end(&of);
  assert_int_equal(seen.setup.size, sizeof of);
  assert_int_equal(seen.setup.dimension, 0);
  assert_null(seen.setup.scope);
}

/* Built when the setup was longer: the plugin learns how much this host knows. */
static void test_longer_setup(void **state) {
  struct {
    struct tutti_surrogate_setup ours;
    uint64_t later[8];
  } of = {.ours = {.size = sizeof of, .dimension = 4}, .later = {1, 2, 3}};
  (void)state;
  make_and_end(&of.ours);
  assert_int_equal(seen.setup.size, sizeof of.ours);
  assert_int_equal(seen.setup.dimension, 4);
}

static void test_setup_without_size(void **state) {
  struct tutti_surrogate_setup of = {.dimension = 1};
  tutti_surrogate *surrogate;
  (void)state;
  assert_int_equal(make("recorder", &of, &surrogate), TUTTI_ERROR_INTERNAL);
  assert_string_equal(tutti_error_message(world.context),
                      "the size in the setup of a surrogate is 0, expected 32 at least");
  assert_null(surrogate);
}

/* --- plugins without create or destroy --- */

static void test_instance_is_the_config(void **state) {
  struct tutti_surrogate_setup of = {.size = sizeof of};
  struct tutti_points point = {.size = sizeof point, .count = 1};
  tutti_surrogate *surrogate;
  double mean = 0, deviation;
  (void)state;
  must(tutti_host_put(world.context, world.host, "surrogate", TUTTI_KIND_SURROGATE, "bare"));
  must(tutti_host_set(world.context, world.host, "surrogate", "mean", "7"));
  must(tutti_surrogate_create(world.context, world.host, "surrogate", &of, &surrogate));
  must(tutti_surrogate_predict(world.context, surrogate, &point, &mean, &deviation));
  assert_true(mean == 7);
  tutti_surrogate_destroy(surrogate);
}

static void test_nothing_to_destroy(void **state) {
  struct tutti_surrogate_setup of = {.size = sizeof of};
  tutti_surrogate *surrogate;
  (void)state;
  must(make("constant", &of, &surrogate));
  assert_string_equal(tutti_surrogate_descriptor(surrogate)->name, "constant");
  tutti_surrogate_destroy(surrogate);
}

static void test_destroy_without_create(void **state) {
  (void)state;
  assert_int_equal(tutti_plugin_register(world.context, &destroys_its_config), TUTTI_ERROR_PLUGIN);
  assert_string_equal(tutti_error_message(world.context),
                      "linked-in plugin: destroy without create would destroy its parameters");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_facts_are_filled_in), TEST(test_task_of_the_caller),     TEST(test_shorter_setup),
      TEST(test_longer_setup),        TEST(test_setup_without_size),     TEST(test_instance_is_the_config),
      TEST(test_nothing_to_destroy),  TEST(test_destroy_without_create),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
