/* Hosts: plugins in sections, those that their parameters name, and instances of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

/* --- plugins: a selector that names a surrogate, which names a maximiser, and one that shares the surrogate --- */

struct chooser_config {
  const char *surrogate, *prior;
  int64_t size;
};
#define FIELD(type_, member) .name = #member, .offset = offsetof(type_, member), .doc = "A field."
static const struct tutti_param chooser_params[] = {
    {FIELD(struct chooser_config, surrogate), .type = TUTTI_PARAM_PLUGIN, .preset = "one",
     .kind = TUTTI_KIND_SURROGATE},
    {FIELD(struct chooser_config, prior), .type = TUTTI_PARAM_PLUGIN, .preset = "none", .kind = TUTTI_KIND_SURROGATE},
    {FIELD(struct chooser_config, size), .type = TUTTI_PARAM_INTEGER, .min = 1, .max = 9,
     .flags = TUTTI_PARAM_REQUIRED},
};
static const struct tutti_param clash_params[] = {{FIELD(struct chooser_config, surrogate), .type = TUTTI_PARAM_PLUGIN,
                                                   .preset = "top", .kind = TUTTI_KIND_MAXIMISER}};
static const struct tutti_param preset_params[] = {{FIELD(struct chooser_config, surrogate), .type = TUTTI_PARAM_PLUGIN,
                                                    .preset = "one", .kind = TUTTI_KIND_SURROGATE,
                                                    .with = "length = 2 ; maximiser=top"}};
static const struct tutti_param unknown_params[] = {{FIELD(struct chooser_config, surrogate),
                                                     .type = TUTTI_PARAM_PLUGIN, .preset = "one",
                                                     .kind = TUTTI_KIND_SURROGATE, .with = "lenght = 2"}};
struct surrogate_config {
  const char *maximiser;
  double length;
};
static const struct tutti_param surrogate_params[] = {
    {FIELD(struct surrogate_config, maximiser), .type = TUTTI_PARAM_PLUGIN, .preset = "top",
     .kind = TUTTI_KIND_MAXIMISER},
    {FIELD(struct surrogate_config, length), .type = TUTTI_PARAM_REAL, .preset = "0.5"},
};

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  const void **made;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  *made = config; /* borrowed until destroy: read again in choose() */
  *self = made;
  return TUTTI_OK;
}

static enum tutti_status create_fails(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup, (void)self;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "no luck");
}

static enum tutti_status choose(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                                tutti_ensemble *ensemble) {
  const struct chooser_config *config = *(const struct chooser_config **)self;
  (void)count;
  return tutti_ensemble_add(context, ensemble, pool->trials[(size_t)config->size - 1], 1);
}

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_points *points,
                             const double *values, const double *noise) {
  (void)self, (void)context, (void)points, (void)values, (void)noise;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_points *points, double *mean,
                                 double *deviation) {
  (void)self, (void)context;
  for (size_t i = 0; i < points->count; i++)
    mean[i] = deviation[i] = 1;
  return TUTTI_OK;
}

static enum tutti_status maximise(void *self, tutti_context *context, const struct tutti_objective *objective,
                                  tutti_candidate **candidate, double *worth) {
  (void)self, (void)objective, (void)candidate, (void)worth;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "never");
}

static const struct tutti_selector_ops chooser_ops = {.size = sizeof chooser_ops, .select = choose};
/* Built when the table ended after predict; nothing after that may be touched. */
static const struct tutti_surrogate_ops old_ops = {.size = offsetof(struct tutti_surrogate_ops, add),
                                                   .fit = fit,
                                                   .predict = predict,
                                                   .add = (void *)(uintptr_t)1,
                                                   .gradient = (void *)(uintptr_t)1};
static const struct tutti_maximiser_ops top_ops = {.size = sizeof top_ops, .maximise = maximise};

#define PLUGIN(kind_, name_, params_, create_, ops_)                                                                   \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(kind_, name_), .version = "1", .summary = "a test's", .source = "", .licence = "Apache-2.0", \
                                         .params = params_, .create = create_, .destroy = tutti_free, .ops = ops_      \
  }
#define SURROGATE_PARAMS TUTTI_PARAMS(surrogate_params, struct surrogate_config)
static const struct tutti_descriptor plugins[] = {
    PLUGIN(TUTTI_KIND_SELECTOR, "chooser", TUTTI_PARAMS(chooser_params, struct chooser_config), create, &chooser_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "clash", TUTTI_PARAMS(clash_params, struct chooser_config), create, &chooser_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "preset", TUTTI_PARAMS(preset_params, struct chooser_config), create, &chooser_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "unknown", TUTTI_PARAMS(unknown_params, struct chooser_config), create, &chooser_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "failing", TUTTI_NO_PARAMS, create_fails, &chooser_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "one", SURROGATE_PARAMS, create, &old_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "two", SURROGATE_PARAMS, create, &old_ops),
    PLUGIN(TUTTI_KIND_MAXIMISER, "top", TUTTI_NO_PARAMS, create, &top_ops),
};

struct fixture {
  tutti_context *context;
  struct tutti_host_facts facts;
  struct tutti_task task;
  tutti_host *host;
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  *state = fixture;
  fixture->facts = (struct tutti_host_facts){
      .size = sizeof fixture->facts, .seed = 3, .budget = 20, .window = 4, .task = &fixture->task};
  if (tutti_context_create(&fixture->context) != TUTTI_OK)
    return -1;
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    if (tutti_plugin_register(fixture->context, &plugins[i]) != TUTTI_OK)
      return -1;
  return tutti_host_create(fixture->context, &fixture->facts, &fixture->host) == TUTTI_OK ? 0 : -1;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  tutti_host_destroy(fixture->host);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static void must(struct fixture *fixture, enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(fixture->context));
}

static void must_fail(struct fixture *fixture, enum tutti_status status, enum tutti_status expected,
                      const char *message) {
  assert_int_equal(status, expected);
  assert_string_equal(tutti_error_message(fixture->context), message);
}

static void put(struct fixture *fixture, const char *section, enum tutti_kind kind, const char *plugin) {
  must(fixture, tutti_host_put(fixture->context, fixture->host, section, kind, plugin));
}

static enum tutti_status set(struct fixture *fixture, const char *section, const char *key, const char *text) {
  return tutti_host_set(fixture->context, fixture->host, section, key, text);
}

static void assert_sections(const struct fixture *fixture, const char *expected) {
  char text[512] = "";
  for (size_t i = 0; i < tutti_host_sections(fixture->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(fixture->host, i, &descriptor, &config);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s=%s", i ? " " : "", section, descriptor->name);
    assert_ptr_equal(tutti_config_params(config), &descriptor->params);
    assert_string_equal(tutti_host_plugin(fixture->host, section), descriptor->name);
  }
  assert_string_equal(text, expected);
}

/* --- tests --- */

static void test_facts(void **state) {
  struct fixture *fixture = *state;
  struct tutti_pool pool = {0};
  assert_int_equal(tutti_host_seed(fixture->host), 3);
  assert_int_equal(tutti_host_budget(fixture->host), 20);
  assert_int_equal(tutti_host_window(fixture->host), 4);
  assert_ptr_equal(tutti_host_task(fixture->host), &fixture->task);
  assert_null(tutti_host_scope(fixture->host));
  must_fail(fixture, tutti_host_pool(fixture->context, fixture->host, "validation", 0, NULL, &pool),
            TUTTI_ERROR_UNSUPPORTED, "there are no predictions of trials here");
  /* An older, shorter struct of facts: missing facts count as none. */
  fixture->facts.seed = 9;
  fixture->facts.size = offsetof(struct tutti_host_facts, budget);
  tutti_host_set_facts(fixture->host, &fixture->facts);
  assert_int_equal(tutti_host_seed(fixture->host), 9);
  assert_int_equal(tutti_host_budget(fixture->host), 0);
  assert_null(tutti_host_task(fixture->host));
}

/* A plugin named by another's parameter is created, too, and so are the plugins that it names. */
static void test_named(void **state) {
  struct fixture *fixture = *state;
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  assert_sections(fixture, "selector=chooser surrogate=one maximiser=top");
  assert_null(tutti_host_plugin(fixture->host, "prior"));
  assert_null(tutti_host_plugin(fixture->host, "nothing"));
  must(fixture, set(fixture, "selector", "prior", "two"));
  assert_sections(fixture, "selector=chooser surrogate=one maximiser=top prior=two");
  must(fixture, set(fixture, "selector", "prior", "none"));
  assert_sections(fixture, "selector=chooser surrogate=one maximiser=top");
}

static void test_swap(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  const tutti_config *config;
  char *text;
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  must(fixture, set(fixture, "surrogate", "length", "2"));
  must(fixture, set(fixture, "selector", "surrogate", "two"));
  assert_sections(fixture, "selector=chooser surrogate=two maximiser=top");
  assert_string_equal(tutti_host_section(fixture->host, 1, &descriptor, &config), "surrogate");
  must(fixture, tutti_config_get(fixture->context, config, "length", &text));
  assert_string_equal(text, "0.5");
  tutti_free(text);
}

static void assert_length(struct fixture *fixture, const char *expected) {
  const struct tutti_descriptor *descriptor;
  const tutti_config *config;
  char *text;
  assert_string_equal(tutti_host_section(fixture->host, 1, &descriptor, &config), "surrogate");
  must(fixture, tutti_config_get(fixture->context, config, "length", &text));
  assert_string_equal(text, expected);
  tutti_free(text);
}

/* A parameter may say how its default plugin stands. Other plugins keep their own defaults, and values that are set go
   first. */
static void test_preset_settings(void **state) {
  struct fixture *fixture = *state;
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "preset");
  assert_sections(fixture, "selector=preset surrogate=one maximiser=top");
  assert_length(fixture, "2");
  must(fixture, set(fixture, "selector", "surrogate", "two"));
  assert_length(fixture, "0.5");
  must(fixture, set(fixture, "selector", "surrogate", "one"));
  assert_length(fixture, "2");
  must(fixture, set(fixture, "surrogate", "length", "3"));
  assert_length(fixture, "3");
}

/* Settings that cannot be are the plugin's fault. A table from before there were any is read as far as it goes. */
static void test_bad_preset_settings(void **state) {
  struct fixture *fixture = *state;
  struct tutti_params old = *(const struct tutti_params[]){TUTTI_PARAMS(preset_params, struct chooser_config)};
  must_fail(fixture, tutti_host_put(fixture->context, fixture->host, "selector", TUTTI_KIND_SELECTOR, "unknown"),
            TUTTI_ERROR_PLUGIN,
            "selector unknown: what it sets of its surrogate: there is no parameter 'lenght' here; did you mean "
            "'length'?");
  assert_string_equal(tutti_params_with(&old, tutti_params_at(&old, 0)), "length = 2 ; maximiser=top");
  old.stride = offsetof(struct tutti_param, with);
  assert_null(tutti_params_with(&old, old.table));
}

/* A default does not replace an existing plugin of a section. */
static void test_kept(void **state) {
  struct fixture *fixture = *state;
  put(fixture, "surrogate", TUTTI_KIND_SURROGATE, "two");
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  assert_sections(fixture, "surrogate=two maximiser=top selector=chooser");
}

static void test_unknown(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(tutti_host_put(fixture->context, fixture->host, "selector", TUTTI_KIND_SELECTOR, "nobody"),
                   TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_host_sections(fixture->host), 0);
  must_fail(fixture, set(fixture, "selector", "size", "1"), TUTTI_ERROR_USAGE,
            "[selector]: no plugin stands in this section");
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  must_fail(fixture, set(fixture, "selector", "sise", "1"), TUTTI_ERROR_USAGE,
            "there is no parameter 'sise' here; did you mean 'size'?");
  must_fail(fixture, set(fixture, "selector", "size", "10"), TUTTI_ERROR_USAGE,
            "expected an integer in [1, 9]; found '10'");
  assert_int_equal(set(fixture, "selector", "surrogate", "nobody"), TUTTI_ERROR_USAGE);
}

static void test_check(void **state) {
  struct fixture *fixture = *state;
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  must_fail(fixture, tutti_host_check(fixture->context, fixture->host), TUTTI_ERROR_USAGE,
            "[selector] size: selector chooser needs a value here");
  must(fixture, set(fixture, "selector", "size", "2"));
  must(fixture, tutti_host_check(fixture->context, fixture->host));
}

/* Two plugins in a section cannot be; one that two name can. */
static void test_shared(void **state) {
  struct fixture *fixture = *state;
  put(fixture, "first", TUTTI_KIND_SELECTOR, "chooser");
  put(fixture, "second", TUTTI_KIND_SELECTOR, "chooser");
  must(fixture, set(fixture, "first", "size", "1"));
  must(fixture, set(fixture, "second", "size", "1"));
  must(fixture, tutti_host_check(fixture->context, fixture->host));
  must(fixture, set(fixture, "second", "surrogate", "two"));
  must_fail(
      fixture, tutti_host_check(fixture->context, fixture->host), TUTTI_ERROR_USAGE,
      "[first] surrogate = one, but [surrogate] is of two, which the recipe or another plugin asks for; there can be "
      "one plugin only in a section: give both the same");
  must(fixture, set(fixture, "first", "surrogate", "two"));
  must(fixture, tutti_host_check(fixture->context, fixture->host));
  put(fixture, "third", TUTTI_KIND_SELECTOR, "clash");
  must_fail(fixture, set(fixture, "third", "surrogate", "top"), TUTTI_ERROR_USAGE,
            "[third] surrogate = top: [first] names 'two' there, a plugin of another kind");
}

/* --- instances --- */

static enum tutti_status open_selector(struct fixture *fixture, const char *section, tutti_selector **selector) {
  struct tutti_selector_setup setup_of = {.size = sizeof setup_of, .host = fixture->host};
  return tutti_selector_create(fixture->context, fixture->host, section, &setup_of, selector);
}

/* An instance keeps its parameters, whatever becomes of the section. */
static void test_instance(void **state) {
  struct fixture *fixture = *state;
  const uint64_t trials[] = {5, 6, 7};
  const double losses[] = {1, 2, 3};
  const struct tutti_pool pool = {.size = sizeof pool, .models = 3, .rows = 1, .trials = trials, .losses = losses};
  tutti_selector *selector;
  tutti_ensemble *ensemble;
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "chooser");
  must(fixture, set(fixture, "selector", "size", "2"));
  must(fixture, open_selector(fixture, "selector", &selector));
  must(fixture, set(fixture, "selector", "size", "3"));
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "none");
  must(fixture, tutti_ensemble_create(fixture->context, &ensemble));
  must(fixture, tutti_selector_select(fixture->context, selector, &pool, 0, ensemble));
  assert_int_equal(tutti_ensemble_trial(ensemble, 0), 6);
  assert_string_equal(tutti_selector_descriptor(selector)->name, "chooser");
  tutti_ensemble_destroy(ensemble);
  tutti_selector_destroy(selector);
}

static void test_no_instance(void **state) {
  struct fixture *fixture = *state;
  tutti_selector *selector;
  must_fail(fixture, open_selector(fixture, "selector", &selector), TUTTI_ERROR_USAGE,
            "[selector]: a selector is needed, and no plugin is named");
  put(fixture, "selector", TUTTI_KIND_MAXIMISER, "top");
  must_fail(fixture, open_selector(fixture, "selector", &selector), TUTTI_ERROR_USAGE,
            "[selector]: expected a plugin of kind selector, found maximiser top");
  put(fixture, "selector", TUTTI_KIND_SELECTOR, "failing");
  must_fail(fixture, open_selector(fixture, "selector", &selector), TUTTI_ERROR_NUMERIC, "selector failing: no luck");
  assert_null(selector);
}

/* A plugin built for an older, shorter table: missing operations take their defaults. */
static void test_old_table(void **state) {
  struct fixture *fixture = *state;
  tutti_surrogate *surrogate;
  const double vector[] = {0.5}, value[] = {1};
  double mean, deviation;
  struct tutti_points point = {.size = sizeof point, .count = 1, .dimension = 1, .vectors = vector};
  struct tutti_surrogate_setup setup_of = {.size = sizeof setup_of, .host = fixture->host, .dimension = 1};
  put(fixture, "surrogate", TUTTI_KIND_SURROGATE, "one");
  must(fixture, tutti_surrogate_create(fixture->context, fixture->host, "surrogate", &setup_of, &surrogate));
  assert_false(tutti_surrogate_has_gradient(surrogate));
  must(fixture, tutti_surrogate_fit(fixture->context, surrogate, &point, value, NULL));
  must(fixture, tutti_surrogate_add(fixture->context, surrogate, &point, value, NULL));
  must(fixture, tutti_surrogate_predict(fixture->context, surrogate, &point, &mean, &deviation));
  assert_true(mean == 1);
  tutti_surrogate_destroy(surrogate);
}

static void test_register(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  struct tutti_descriptor wrong = plugins[0];
  must_fail(fixture, tutti_plugin_register(fixture->context, &plugins[0]), TUTTI_ERROR_PLUGIN,
            "selector chooser is registered already");
  wrong.name = "wrong";
  wrong.ops = NULL;
  assert_int_equal(tutti_plugin_register(fixture->context, &wrong), TUTTI_ERROR_PLUGIN);
  must(fixture, tutti_plugin_find(fixture->context, TUTTI_KIND_SELECTOR, "chooser", &descriptor));
  assert_ptr_equal(descriptor, &plugins[0]);
  assert_null(tutti_plugin_file(fixture->context, descriptor));
  /* Another context knows nothing of it. */
  tutti_context *other;
  assert_int_equal(tutti_context_create(&other), TUTTI_OK);
  assert_int_equal(tutti_plugin_find(other, TUTTI_KIND_SELECTOR, "chooser", &descriptor), TUTTI_ERROR_USAGE);
  tutti_context_destroy(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_facts),
      TEST(test_named),
      TEST(test_swap),
      TEST(test_preset_settings),
      TEST(test_bad_preset_settings),
      TEST(test_kept),
      TEST(test_unknown),
      TEST(test_check),
      TEST(test_shared),
      TEST(test_instance),
      TEST(test_no_instance),
      TEST(test_old_table),
      TEST(test_register),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
