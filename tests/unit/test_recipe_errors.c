/* test_recipe_errors.c - recipes that are refused, with file, line, section and key; and torn ones, which harm nothing.
 */
#include "recipe_fixture.h"

static void slips_are_named_with_their_line(void **state) {
  static const struct {
    const char *text, *expected;
  } cases[] = {
      /* syntax */
      {"[run]\nseed = 1\nnonsense\n", "x.ini:3: expected '[section]', 'key = value' or '; comment'"},
      {"[run\nseed = 1\n", "x.ini:1: expected"},
      {"[run]\n[data]\n[head]\n\nx\n", "x.ini:5: expected"},
      {"[run]\n= 3\n", "x.ini:2: expected 'key = value', found no key"},
      {"seed = 1\n[run]\n", "x.ini:1: 'seed' stands before the first [section]"},
      {"[]\nseed = 1\n", "x.ini:1: '[]' stands before"},
      {"[run]\nname = a\x07 b\n", "x.ini:2: [run] name: a value is one line without control characters"},
      {"[run]\nname =;a\n", "x.ini:2: [run] name: ' ;' begins a comment"},
      /* twice */
      {"[run]\nseed = 1\nseed = 2\n", "x.ini:3: [run] seed: has a value already, on line 2"},
      {"[run]\nseed = 1\n[backend]\n[run]\nbudget = 2\n",
       "x.ini:4: section [run] begins a second time; it began on line 1"},
      {"[run]\n[run]\n", "x.ini:2: section [run] begins a second time"},
      /* names */
      {"[run]\nseeds = 1\n",
       "x.ini:2: [run] seeds: unknown key; did you mean 'seed'? (the section has: name, seed, budget"},
      {"[bakcend]\n", "x.ini:1: unknown section [bakcend], or no plugin in use names it; did you mean [backend]?"},
      {"[surrogate]\nrate = 1\n", "x.ini:1: unknown section [surrogate], or no plugin in use names it"},
      {"[maximiser]\nplugin = none\n",
       "x.ini:1: unknown section [maximiser], or no plugin in use names it: it would have the parameters of the "
       "maximiser that a key 'maximiser' of another plugin chooses, and in this recipe none does"},
      {"[backend]\n\nepoch = 1\n",
       "x.ini:3: [backend] epoch: unknown key; did you mean 'epochs'? (backend cpu has: epochs, rate, batch"},
      {"[space]\nwidth = 1\n", "x.ini:2: [space] width: unknown key (space fixed has no parameters)"},
      {"[backend]\nplugin = cpuu\n", "x.ini:2: [backend] plugin: there is no backend 'cpuu'"},
      {"[backend]\nplugin = none\n", "x.ini:2: [backend] plugin: expected the name of a backend, found 'none'"},
      {"[builder]\nplugin = agebo\nsurrogate = fotest\n",
       "x.ini:3: [builder] surrogate: there is no surrogate 'fotest'"},
      {"[builder]\nplugin = agebo\n[surrogate]\nplugin = forest\n",
       "x.ini:4: [surrogate] plugin: this section's plugin is chosen by 'surrogate = forest' in [builder]"},
      {"[builder]\nplugin = agebo\n[acquisition]\nkappa = 1\n", "x.ini:3: unknown section [acquisition]"},
      /* values */
      {"[run]\nseed = -1\n", "x.ini:2: [run] seed: expected"},
      {"[run]\nbudget = -1\n", "x.ini:2: [run] budget: expected"},
      {"[run]\nwindow = 0\n", "x.ini:2: [run] window: expected"},
      {"[run]\ntrial_timeout = 0\n", "x.ini:2: [run] trial_timeout: expected"},
      {"[run]\nloss = nl\n", "did you mean 'nll'?"},
      {"[run]\nname = a/b\n", "x.ini:2: [run] name: expected the name of a folder, found 'a/b'"},
      {"[run]\nname = ..\n", "expected the name of a folder, found '..'"},
      {"[backend]\nepochs = many\n", "x.ini:2: [backend] epochs: expected"},
      {"[backend]\nepochs =\n", "x.ini:2: [backend] epochs: expected"},
      {"[selector]\nplugin = greedy\n", "x.ini: [selector] path: needs a value: Test."},
      {"[head]\nkind = linear\n", "x.ini: [head] says how data are predicted, and there is no [data]"},
      /* hyperparameters */
      {"[hyperparameters]\nepoch = 1\n", "x.ini:2: [hyperparameters] epoch: unknown key; did you mean 'epochs'? "
                                         "(hyperparameters: backend cpu has: epochs, "
                                         "rate, batch, optimiser, flag)"},
      {"[hyperparameters]\ntext = choice a b\n", "[hyperparameters] text: backend cpu does not let it be searched"},
      {"[backend]\nrate = 1\n[hyperparameters]\nrate = uniform 1 2\n",
       "x.ini:4: [hyperparameters] rate: it stands in [backend], too (line 2)"},
      {"[hyperparameters]\nepochs = uniform 1 2\n", "x.ini:2: [hyperparameters] epochs: expected 'integer A B'"},
      {"[hyperparameters]\nepochs = log-uniform 1 2\n", "found 'log-uniform'"},
      {"[hyperparameters]\nflag = integer 0 1\n", "x.ini:2: [hyperparameters] flag: expected 'choice A B ...'"},
      {"[hyperparameters]\nepochs = integer 0 10\n", "x.ini:2: [hyperparameters] epochs: expected"},
      {"[hyperparameters]\nepochs = integer 1 1001\n", "x.ini:2: [hyperparameters] epochs: expected"},
      {"[hyperparameters]\nrate = uniform 0 1\n", "x.ini:2: [hyperparameters] rate: expected"},
      {"[hyperparameters]\noptimiser = choice adam sdg\n", "did you mean 'sgd'?"},
      {"[hyperparameters]\nrate = uniform 2 1\n", "x.ini:2: [hyperparameters] rate: expected the least value first"},
      {"[hyperparameters]\nrate = uniform 1 2 if optimiser = sgd\n",
       "x.ini:2: [hyperparameters] rate: its condition names 'optimiser', which is no dimension"},
      {"[hyperparameters]\nrate = logg-uniform 1 2\n",
       "x.ini:2: [hyperparameters] rate: expected 'uniform A B', 'log-uniform A B', 'integer A B', 'log-integer A B' "
       "or "
       "'choice A B ...', found 'logg-uniform'; did you mean 'log-uniform'?"},
      {"[hyperparameters]\nrate = 11\n", "x.ini:2: [hyperparameters] rate: expected"},
      /* extends */
      {"extends = y.ini\n", "x.ini:1: extends: cannot read '"},
      {"extends =\n", "x.ini:1: extends: cannot read '"},
      {"extends = x.ini\n", "this recipe extends itself"},
      {"[run]\nextends = y.ini\n", "x.ini:2: [run] extends: it stands at the top, before the first section"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    refuse(cases[i].text, cases[i].expected);
}

static void bad_overrides_are_refused(void **state) {
  static const struct {
    const char *override, *expected;
  } cases[] = {
      {"epochs=3", "--set: expected 'section.key=value', found 'epochs=3'"},
      {"backend.epochs", "--set: expected 'section.key=value'"},
      {".epochs=3", "--set: expected 'section.key=value'"},
      {"calibrator=conformal", "found 'calibrator=conformal'; did you mean 'calibrator.plugin=conformal'?"},
      {"run.calibrator=conformal",
       "unknown key; did you mean 'plugin' in the section [calibrator]? (the section has: "},
      {"backend.=3", "found no key"},
      {"backend.epochs=0", "--set backend.epochs: expected"},
      {"backend.epoch=3", "--set backend.epoch: unknown key; did you mean 'epochs'?"},
      {"bakcend.epochs=3", "--set bakcend.epochs: unknown section [bakcend]"},
      {"run.name=a ; b", "--set run.name: ' ;' begins a comment"},
      {"run.name=a\nb", "--set run.name: a value is one line"},
      {"hyperparameters.rate=uniform 2 1", "--set hyperparameters.rate: [hyperparameters] rate: expected the least"},
  };
  write_text("x.ini", "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    refuse_with(cases[i].override, cases[i].expected);
}

static void errors_in_a_base_name_the_base(void **state) {
  write_text("a.ini", "[backend]\nepoch = 1\n");
  refuse("extends = a.ini\n", "a.ini:2: [backend] epoch: unknown key");
  write_text("b.ini", "extends = x.ini\n");
  refuse("extends = b.ini\n", "this recipe extends itself, by way of ");
  for (int i = 0; i < 20; i++) {
    char name[32], text[48];
    (void)snprintf(name, sizeof name, "c%d.ini", i);
    (void)snprintf(text, sizeof text, "extends = c%d.ini\n", i + 1);
    write_text(name, text);
  }
  refuse("extends = c0.ini\n", "more than 16 recipes extend one another");
}

static void what_is_no_text_file_is_refused(void **state) {
  tutti_recipe *recipe;
  assert_int_equal(tutti_recipe_load(context, "absent.ini", 0, NULL, &recipe), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "absent.ini: cannot read this recipe: No such file"));
  assert_int_equal(tutti_recipe_load(context, ".", 0, NULL, &recipe), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "cannot read this recipe"));
  write_bytes("x.ini", "[run]\nseed = \0 1\n", 17);
  refuse_with(NULL, "bytes of value 0");
  char *large = calloc(1 << 21, 1);
  assert_non_null(large);
  memset(large, '\n', 1 << 21);
  write_bytes("x.ini", large, 1 << 21);
  refuse_with(NULL, "larger than 1024 KiB");
  memset(large, 'a', 20000);
  write_bytes("x.ini", large, 20000);
  refuse_with(NULL, "x.ini:1: a line of 20000 bytes is too long");
  free(large);
}

static void long_lines_are_read(void **state) {
  char text[9000] = "[run]\nname = r\n[backend]\ntext = ";
  size_t used = strlen(text);
  memset(text + used, 'y', 8000);
  (void)strcpy(text + used + 8000, "\n");
  tutti_recipe *recipe = load(text);
  assert_int_equal(strlen(value_in(recipe, "backend", "text")), 4095); /* as much as the fixture keeps */
  tutti_recipe_destroy(recipe);
}

/* --- torn recipes ------------------------------------------------------------------------------------------------ */

static const char whole[] =
    "; comment\nextends = base.ini\n[run]\nname = r\nseed = 3\n[data]\nplugin = toy-sine\nnoise = 0.1 0.3\n"
    "[builder]\nplugin = agebo\nacquisition = lcb\n[surrogate]\npath = p\n[acquisition]\nkappa = 1e-17\n"
    "[hyperparameters]\noptimiser = choice sgd adam\nrate = log-uniform 1e-7 0.3 if optimiser = sgd\n"
    "epochs = 7\nbatch = log-integer 1 256\nflag = choice yes no\n";

/* Change some bytes, or drop, repeat or cut off lines. */
static size_t damage(struct tutti_random *random, char *text, size_t length) {
  static const char likely[] = "[]=;:#.\n\r\t -0129abceinu\"\\\xff\x80";
  for (uint64_t times = 1 + tutti_random_below(random, 4); times > 0 && length > 2; times--) {
    size_t at = (size_t)tutti_random_below(random, length), end = at;
    while (end < length && text[end] != '\n')
      end++;
    switch (tutti_random_below(random, 5)) {
    case 0:
      text[at] = (char)tutti_random_below(random, 256);
      break;
    case 1:
      text[at] = likely[tutti_random_below(random, sizeof likely - 1)];
      break;
    case 2: /* drop up to the end of the line */
      memmove(text + at, text + end, length - end);
      length -= end - at;
      break;
    case 3: /* repeat it */
      memmove(text + end + (end - at), text + end, length - end);
      memmove(text + end, text + at, end - at);
      length += end - at;
      break;
    default:
      length = at + 1;
      break;
    }
  }
  return length;
}

static void damaged_recipes_do_no_harm(void **state) {
  enum { TIMES = 2000 };
  struct tutti_random random;
  size_t accepted = 0;
  tutti_random_init(&random, 11, "damage", 0);
  write_text("base.ini", "[run]\nbudget = 5\n[builder]\nplugin = agebo\n[surrogate]\nrate = 3\n");
  for (int i = 0; i < TIMES; i++) {
    char text[16 * sizeof whole];
    tutti_recipe *recipe;
    memcpy(text, whole, sizeof whole);
    write_bytes("x.ini", text, damage(&random, text, sizeof whole - 1));
    enum tutti_status status = tutti_recipe_load(context, "x.ini", 0, NULL, &recipe);
    if (status != TUTTI_OK) {
      assert_int_equal(status, TUTTI_ERROR_USAGE);
      assert_true(strlen(tutti_error_message(context)) > 10);
      assert_null(recipe);
      continue;
    }
    /* What is accepted prints as a recipe that is accepted. */
    char *printed, *again;
    tutti_recipe *second;
    assert_int_equal(tutti_recipe_print(context, recipe, &printed), TUTTI_OK);
    write_text("y.ini", printed);
    if (tutti_recipe_load(context, "y.ini", 0, NULL, &second) != TUTTI_OK)
      fail_msg("%s:\n%s", tutti_error_message(context), printed);
    assert_int_equal(tutti_recipe_print(context, second, &again), TUTTI_OK);
    assert_string_equal(printed, again);
    tutti_free(printed);
    tutti_free(again);
    tutti_recipe_destroy(recipe);
    tutti_recipe_destroy(second);
    accepted++;
  }
  assert_in_range(accepted, TIMES / 50, TIMES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(slips_are_named_with_their_line, begin, end),
      cmocka_unit_test_setup_teardown(bad_overrides_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(errors_in_a_base_name_the_base, begin, end),
      cmocka_unit_test_setup_teardown(what_is_no_text_file_is_refused, begin, end),
      cmocka_unit_test_setup_teardown(long_lines_are_read, begin, end),
      cmocka_unit_test_setup_teardown(damaged_recipes_do_no_harm, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
