/* test_recipe_files.c - the recipes of ini/, as they are and with each of their choices fixed: what is printed of them
   is the same recipe again, or no run of them could be resumed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

static tutti_context *context;
static char again_path[] = "/tmp/tutti-recipe-XXXXXX";
static size_t loaded, fixed;

static tutti_recipe *load(const char *path, const char *override) {
  tutti_recipe *recipe;
  if (tutti_recipe_load(context, path, override ? 1 : 0, &override, &recipe) == TUTTI_OK)
    return recipe;
  /* A plugin may be missing in this build. */
  if (!strstr(tutti_error_message(context), "there is no "))
    fail_msg("%s %s: %s", path, override ? override : "", tutti_error_message(context));
  tutti_error_clear(context);
  return NULL;
}

static char *printed(const tutti_recipe *recipe) {
  char *text;
  if (tutti_recipe_print(context, recipe, &text) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  return text;
}

/* The first line of `a` that is another one in `b`. */
static const char *first_difference(const char *a, const char *b) {
  static char line[256];
  const char *begin = a;
  for (; *a && *a == *b; a++, b++)
    if (*a == '\n')
      begin = a + 1;
  (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(begin, "\n"), begin);
  return line;
}

static void expect_again(const char *path, const char *override, const tutti_recipe *recipe) {
  tutti_recipe *again;
  char *first = printed(recipe);
  FILE *file = fopen(again_path, "w");
  assert_non_null(file);
  assert_true(fputs(first, file) >= 0 && fclose(file) == 0);
  if (tutti_recipe_load_recorded(context, again_path, 0, NULL, &again) != TUTTI_OK)
    fail_msg("%s %s: %s", path, override ? override : "", tutti_error_message(context));
  char *second = printed(again);
  if (strcmp(first, second) != 0)
    fail_msg("%s %s: read again, '%s' is another line", path, override ? override : "",
             first_difference(first, second));
  tutti_recipe_destroy(again);
  tutti_free(first);
  tutti_free(second);
}

static void expect_fixed(const char *path, const char *section, const char *key, const char *value) {
  char override[512];
  (void)snprintf(override, sizeof override, "%s.%s=%s", section, key, value);
  tutti_recipe *recipe = load(path, override);
  if (!recipe)
    return;
  expect_again(path, override, recipe);
  tutti_recipe_destroy(recipe);
  fixed++;
}

static void expect_file(const char *path) {
  tutti_recipe *recipe = load(path, NULL);
  if (!recipe)
    return;
  loaded++;
  expect_again(path, NULL, recipe);
  const tutti_domain *domain = tutti_recipe_hyperparameters(recipe);
  for (size_t i = 0; i < tutti_domain_count(domain); i++) {
    const struct tutti_dimension *dimension = tutti_domain_at(domain, i);
    for (size_t c = 0; c < dimension->choice_count; c++) {
      expect_fixed(path, "hyperparameters", dimension->name, dimension->choices[c]);
      if (!strchr(dimension->name, '.'))
        expect_fixed(path, "backend", dimension->name, dimension->choices[c]);
    }
  }
  tutti_recipe_destroy(recipe);
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *place) {
  const char *ending = strrchr(path, '.');
  (void)info;
  (void)place;
  if (type == FTW_F && ending && strcmp(ending, ".ini") == 0)
    expect_file(path);
  return 0;
}

static void printed_recipes_are_the_same_again(void **state) {
  const char *source = getenv("TUTTI_TEST_SRCDIR");
  char root[4096];
  (void)state;
  if (!source || !getenv("TUTTI_PLUGIN_PATH"))
    skip();
  (void)snprintf(root, sizeof root, "%s/ini", source);
  int descriptor = mkstemp(again_path);
  assert_true(descriptor >= 0 && close(descriptor) == 0);
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(nftw(root, visit, 16, FTW_PHYS), 0);
  assert_true(loaded > 10 && fixed > 10);
  (void)snprintf(root, sizeof root, "%s/ini/quickstart.ini", source);
  expect_fixed(root, "backend", "plugin", "mixed");
  tutti_context_destroy(context);
  assert_int_equal(unlink(again_path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(printed_recipes_are_the_same_again)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
