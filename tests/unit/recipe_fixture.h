/* recipe_fixture.h - for tests of recipes: plugins that have parameters and do nothing, files written for a test, and
   the expected results of loading them. */
#ifndef RECIPE_FIXTURE_H
#define RECIPE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>
#include <unistd.h>

/* --- plugins ----------------------------------------------------------------------------------------------------- */

static enum tutti_status create_nothing(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config;
  (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

/* The ops are only asked whether they are there. */
static void never(void) {}
#define NEVER (void *)never

static const struct tutti_space_ops space_ops = {.size = sizeof space_ops, .decode = NEVER, .domain = NEVER};
static const struct tutti_backend_ops backend_ops = {
    .size = sizeof backend_ops, .supports = NEVER, .train = NEVER, .predict = NEVER};
static const struct tutti_builder_ops builder_ops = {.size = sizeof builder_ops, .ask = NEVER, .tell = NEVER};
static const struct tutti_selector_ops selector_ops = {.size = sizeof selector_ops, .select = NEVER};
static const struct tutti_executor_ops executor_ops = {
    .size = sizeof executor_ops, .capacity = NEVER, .submit = NEVER, .wait = NEVER};
static const struct tutti_surrogate_ops surrogate_ops = {.size = sizeof surrogate_ops, .fit = NEVER, .predict = NEVER};
static const struct tutti_acquisition_ops acquisition_ops = {.size = sizeof acquisition_ops, .moments = NEVER};

struct config {
  int64_t epochs, batch;
  double rate, kappa;
  int optimiser;
  bool flag;
  const char *path, *surrogate, *acquisition, *text, *trainer;
};
static const char *const optimisers[] = {"sgd", "adam", "rmsprop", NULL};

#define PARAM(field, param_type, text, ...)                                                                            \
  {                                                                                                                    \
    .name = #field, .type = param_type, .offset = offsetof(struct config, field), .preset = text, .doc = "Test.",      \
    __VA_ARGS__                                                                                                        \
  }

static const struct tutti_param backend_params[] = {
    PARAM(epochs, TUTTI_PARAM_INTEGER, "100", .min = 1, .max = 1000, .flags = TUTTI_PARAM_SEARCHABLE),
    PARAM(rate, TUTTI_PARAM_REAL, "0.01", .min = 0, .min_open = true, .max = 10, .unit = "x",
          .flags = TUTTI_PARAM_SEARCHABLE),
    PARAM(batch, TUTTI_PARAM_INTEGER, "32", .min = 1, .max = TUTTI_NO_LIMIT, .flags = TUTTI_PARAM_SEARCHABLE),
    PARAM(optimiser, TUTTI_PARAM_CHOICE, "adam", .choices = optimisers, .flags = TUTTI_PARAM_SEARCHABLE),
    PARAM(flag, TUTTI_PARAM_BOOL, "no", .flags = TUTTI_PARAM_SEARCHABLE),
    PARAM(text, TUTTI_PARAM_STRING, "", .flags = 0),
};
static const struct tutti_param gpu_params[] = {
    PARAM(epochs, TUTTI_PARAM_INTEGER, "100", .min = 1, .max = 200, .flags = TUTTI_PARAM_SEARCHABLE),
};
static const struct tutti_param agebo_params[] = {
    PARAM(surrogate, TUTTI_PARAM_PLUGIN, "gp", .kind = TUTTI_KIND_SURROGATE),
    PARAM(acquisition, TUTTI_PARAM_PLUGIN, "none", .kind = TUTTI_KIND_ACQUISITION),
    PARAM(batch, TUTTI_PARAM_INTEGER, "10", .min = 1, .max = 100),
};
static const struct tutti_param lcb_params[] = {PARAM(kappa, TUTTI_PARAM_REAL, "1", .min = 0, .max = 100)};
static const struct tutti_param gp_params[] = {PARAM(rate, TUTTI_PARAM_REAL, "1"), PARAM(path, TUTTI_PARAM_PATH, "")};
static const struct tutti_param networks_params[] = {
    PARAM(trainer, TUTTI_PARAM_PLUGIN, "cpu", .kind = TUTTI_KIND_BACKEND),
};
static const struct tutti_param greedy_params[] = {PARAM(path, TUTTI_PARAM_PATH, NULL, .flags = TUTTI_PARAM_REQUIRED)};

#define PLUGIN(plugin_kind, plugin_name, table, the_ops)                                                               \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(plugin_kind, plugin_name), .version = "1", .summary = "Test", .source = "",                  \
                                                     .licence = "0BSD", .params = table, .create = create_nothing,     \
                                                     .destroy = tutti_free, .ops = the_ops                             \
  }

static const struct tutti_descriptor plugins[] = {
    PLUGIN(TUTTI_KIND_SPACE, "mlp", TUTTI_NO_PARAMS, &space_ops),
    PLUGIN(TUTTI_KIND_SPACE, "fixed", TUTTI_NO_PARAMS, &space_ops),
    PLUGIN(TUTTI_KIND_BACKEND, "cpu", TUTTI_PARAMS(backend_params, struct config), &backend_ops),
    PLUGIN(TUTTI_KIND_BACKEND, "gpu", TUTTI_PARAMS(gpu_params, struct config), &backend_ops),
    PLUGIN(TUTTI_KIND_BUILDER, "nes-rs", TUTTI_NO_PARAMS, &builder_ops),
    PLUGIN(TUTTI_KIND_BUILDER, "agebo", TUTTI_PARAMS(agebo_params, struct config), &builder_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "gp", TUTTI_PARAMS(gp_params, struct config), &surrogate_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "forest", TUTTI_NO_PARAMS, &surrogate_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "networks", TUTTI_PARAMS(networks_params, struct config), &surrogate_ops),
    PLUGIN(TUTTI_KIND_ACQUISITION, "lcb", TUTTI_PARAMS(lcb_params, struct config), &acquisition_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "forward", TUTTI_NO_PARAMS, &selector_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "greedy", TUTTI_PARAMS(greedy_params, struct config), &selector_ops),
    PLUGIN(TUTTI_KIND_EXECUTOR, "local", TUTTI_NO_PARAMS, &executor_ops),
};

/* --- files and contexts ------------------------------------------------------------------------------------------ */

static tutti_context *context;
static char folder[64], here[4096];

/* Every test works in an empty folder of its own, and writes its recipes there. */
static inline int begin(void **state) {
  (void)state;
  (void)strcpy(folder, "/tmp/tutti-recipe-XXXXXX");
  if (!getcwd(here, sizeof here) || !mkdtemp(folder) || chdir(folder) != 0 ||
      tutti_context_create(&context) != TUTTI_OK)
    return 1;
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    if (tutti_plugin_register(context, &plugins[i]) != TUTTI_OK)
      return 1;
  return 0;
}

static inline int end(void **state) {
  char command[128];
  (void)state;
  tutti_context_destroy(context);
  (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return chdir(here) != 0 || system(command) != 0;
}

static inline void write_bytes(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text) { write_bytes(path, text, strlen(text)); }

/* Load x.ini with overrides, which must work. */
static inline tutti_recipe *load_with(size_t count, const char *const *overrides) {
  tutti_recipe *recipe;
  if (tutti_recipe_load(context, "x.ini", count, overrides, &recipe) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  return recipe;
}

static inline tutti_recipe *load(const char *text) {
  write_text("x.ini", text);
  return load_with(0, NULL);
}

/* Loading x.ini with at most one override has to fail with these words. */
static inline void refuse_with(const char *override, const char *expected) {
  tutti_recipe *recipe;
  enum tutti_status status = tutti_recipe_load(context, "x.ini", override ? 1 : 0, &override, &recipe);
  if (status != TUTTI_ERROR_USAGE)
    fail_msg("status %s where \"%s\" is expected", tutti_status_name(status), expected);
  assert_null(recipe);
  if (!strstr(tutti_error_message(context), expected))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), expected);
}

static inline void refuse(const char *text, const char *expected) {
  write_text("x.ini", text);
  refuse_with(NULL, expected);
}

/* A parameter's value as text, from the assembled host; static. */
static inline const char *value_in(const tutti_recipe *recipe, const char *section, const char *key) {
  static char value[4096];
  tutti_host *host;
  if (tutti_recipe_assemble(context, recipe, &host) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  (void)strcpy(value, "(no such section)");
  for (size_t i = 0; i < tutti_host_sections(host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    char *text;
    if (strcmp(tutti_host_section(host, i, &descriptor, &config), section) != 0)
      continue;
    if (strcmp(key, "plugin") == 0) {
      (void)strcpy(value, descriptor->name);
    } else {
      assert_int_equal(tutti_config_get(context, config, key, &text), TUTTI_OK);
      (void)snprintf(value, sizeof value, "%s", text);
      tutti_free(text);
    }
  }
  tutti_host_destroy(host);
  return value;
}

#endif
