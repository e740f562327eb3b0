/* test_recipe.c - recipes: what they mean, what they extend, what they print. test_recipe_errors.c has what is refused.
 */
#include "recipe_fixture.h"

/* --- meaning ----------------------------------------------------------------------------------------------------- */

static void an_empty_recipe_has_all_defaults(void **state) {
  tutti_recipe *recipe = load("");
  const struct tutti_run_config *run = tutti_recipe_run(recipe);
  assert_int_equal(run->size, sizeof *run);
  assert_string_equal(run->name, "x");
  assert_int_equal(run->seed, 1);
  assert_int_equal(run->window, 8);
  assert_int_equal(run->order, 0);
  assert_int_equal(run->loss, 0);
  assert_true(isinf(run->trial_timeout) && run->keep_weights);
  assert_null(tutti_recipe_data(recipe));
  assert_null(tutti_recipe_head(recipe));
  assert_string_equal(tutti_recipe_folder(recipe), folder);
  assert_int_equal(tutti_domain_count(tutti_recipe_hyperparameters(recipe)), 0);
  /* Without data there are no networks to search. */
  assert_string_equal(value_in(recipe, "space", "plugin"), "fixed");
  assert_string_equal(value_in(recipe, "backend", "plugin"), "cpu");
  assert_string_equal(value_in(recipe, "builder", "plugin"), "nes-rs");
  assert_string_equal(value_in(recipe, "selector", "plugin"), "forward");
  assert_string_equal(value_in(recipe, "executor", "plugin"), "local");
  tutti_recipe_destroy(recipe);
}

static void sections_set_what_they_name(void **state) {
  tutti_recipe *recipe =
      load("; a comment\n# another\n"
           "[run]\nname = concrete   ; behind a value\n  seed=7\nloss : nll\n\torder = completion\r\n"
           "[data]\nplugin = toy-sine\n[head]\n"
           "[builder]\nplugin = agebo\nsurrogate = gp\nacquisition = lcb\nbatch = 5\n"
           "[acquisition]\nkappa = 0.001\n[surrogate]\nrate = 2\n[backend]\nepochs = 3\n");
  assert_string_equal(tutti_recipe_run(recipe)->name, "concrete");
  assert_int_equal(tutti_recipe_run(recipe)->seed, 7);
  assert_int_equal(tutti_recipe_run(recipe)->loss, 1 + TUTTI_LOSS_NLL);
  assert_int_equal(tutti_recipe_run(recipe)->order, 1);
  assert_non_null(tutti_recipe_data(recipe));
  assert_non_null(tutti_recipe_head(recipe));
  assert_int_equal(tutti_recipe_evaluation(recipe)->size, sizeof(struct tutti_evaluation_options));
  assert_string_equal(value_in(recipe, "space", "plugin"), "mlp");
  assert_string_equal(value_in(recipe, "builder", "batch"), "5");
  assert_string_equal(value_in(recipe, "acquisition", "plugin"), "lcb");
  assert_string_equal(value_in(recipe, "acquisition", "kappa"), "0.001");
  assert_string_equal(value_in(recipe, "surrogate", "rate"), "2");
  assert_string_equal(value_in(recipe, "backend", "epochs"), "3");
  tutti_recipe_destroy(recipe);
}

static void losses_are_in_the_order_of_their_enum(void **state) {
  for (int i = 0; i < TUTTI_LOSS_COUNT; i++) {
    char text[64];
    (void)snprintf(text, sizeof text, "[run]\nloss = %s\n", tutti_loss_names()[i]);
    tutti_recipe *recipe = load(text);
    assert_int_equal(tutti_recipe_run(recipe)->loss, 1 + i);
    tutti_recipe_destroy(recipe);
  }
}

static void hyperparameters_are_fixed_or_searched(void **state) {
  tutti_recipe *recipe = load("[hyperparameters]\nepochs = 50\nrate = log-uniform 1e-4 0.1\nbatch = log-integer 1 256\n"
                              "optimiser = choice sgd adam\nflag = choice yes no if optimiser = sgd\n");
  const tutti_domain *domain = tutti_recipe_hyperparameters(recipe);
  assert_string_equal(value_in(recipe, "backend", "epochs"), "50");
  assert_int_equal(tutti_domain_count(domain), 4);
  assert_string_equal(tutti_domain_at(domain, 0)->name, "rate");
  assert_true(tutti_domain_at(domain, 0)->low == 1e-4 && tutti_domain_at(domain, 0)->log);
  assert_string_equal(tutti_domain_at(domain, 3)->parent, "optimiser");
  tutti_recipe_destroy(recipe);
}

static void paths_belong_to_the_file_that_has_them(void **state) {
  char expected[256];
  assert_int_equal(mkdir("base", 0700), 0);
  write_text("base/b.ini", "[builder]\nplugin = agebo\n[surrogate]\npath = points.csv\n"
                           "[run]\nplugin_path = more:/far:there\n");
  tutti_recipe *recipe = load("extends = base/b.ini\n[selector]\nplugin = greedy\npath = weights.csv\n");
  (void)snprintf(expected, sizeof expected, "%s/base/points.csv", folder);
  assert_string_equal(value_in(recipe, "surrogate", "path"), expected);
  (void)snprintf(expected, sizeof expected, "%s/weights.csv", folder);
  assert_string_equal(value_in(recipe, "selector", "path"), expected);
  (void)snprintf(expected, sizeof expected, "%s/base/more:/far:%s/base/there", folder, folder);
  assert_string_equal(tutti_recipe_run(recipe)->plugin_path, expected);
  tutti_recipe_destroy(recipe);
  /* Those of the command line belong to the working folder. */
  assert_int_equal(chdir("base"), 0);
  const char *override = "surrogate.path=mine.csv";
  assert_int_equal(tutti_recipe_load(context, "../x.ini", 1, &override, &recipe), TUTTI_OK);
  (void)snprintf(expected, sizeof expected, "%s/base/mine.csv", folder);
  assert_string_equal(value_in(recipe, "surrogate", "path"), expected);
  assert_string_equal(tutti_recipe_folder(recipe), folder);
  tutti_recipe_destroy(recipe);
  assert_int_equal(chdir(".."), 0);
}

/* Keys head.NAME are parameters of the networks' last layer. */
static void the_head_is_fixed_or_searched(void **state) {
  write_text("a.ini", "[data]\nplugin = toy-sine\n[head]\nkind = nomu\nscale = 2\nnoise = learnt\n");
  write_text("x.ini", "extends = a.ini\n[hyperparameters]\nhead.kind = choice gaussian nomu\nhead.scale = 3\n"
                      "head.pi_exp = uniform 0.1 1 if head.kind = nomu\nrate = 0.5\n");
  tutti_recipe *recipe = load_with(0, NULL), *again;
  const tutti_domain *domain = tutti_recipe_hyperparameters(recipe);
  assert_int_equal(tutti_domain_count(domain), 2);
  assert_string_equal(tutti_domain_at(domain, 0)->name, "head.kind");
  assert_string_equal(tutti_domain_at(domain, 1)->parent, "head.kind");
  assert_string_equal(value_in(recipe, "backend", "rate"), "0.5");
  char *kind, *scale, *noise, *text;
  assert_int_equal(tutti_config_get(context, tutti_recipe_head(recipe), "kind", &kind), TUTTI_OK);
  assert_int_equal(tutti_config_get(context, tutti_recipe_head(recipe), "scale", &scale), TUTTI_OK);
  assert_int_equal(tutti_config_get(context, tutti_recipe_head(recipe), "noise", &noise), TUTTI_OK);
  assert_string_equal(kind, "auto"); /* the range above took its place */
  assert_string_equal(scale, "3");
  assert_string_equal(noise, "learnt");
  tutti_free(kind);
  tutti_free(scale);
  tutti_free(noise);
  /* What is printed is the same recipe. */
  assert_int_equal(tutti_recipe_print(context, recipe, &text), TUTTI_OK);
  write_text("x.ini", text);
  again = load_with(0, NULL);
  assert_int_equal(tutti_recipe_same_run(context, recipe, again), TUTTI_OK);
  tutti_free(text);
  tutti_recipe_destroy(again);
  tutti_recipe_destroy(recipe);
  refuse("[data]\nplugin = toy-sine\n[head]\nkind = nomu\n[hyperparameters]\nhead.kind = choice gaussian nomu\n",
         "it stands in [head], too (line 4)");
  refuse("[data]\nplugin = toy-sine\n[hyperparameters]\nhead.scale = uniform -1 1\n", "expected a number > 0");
  refuse("[data]\nplugin = toy-sine\n[hyperparameters]\nhead.scael = 3\n", "unknown key; did you mean 'scale'?");
  refuse("[hyperparameters]\nhead.scale = 3\n", "x.ini:2: [hyperparameters] head.scale: unknown key");
}

/* --- layers ------------------------------------------------------------------------------------------------------ */

static void later_layers_win(void **state) {
  static const char *const overrides[] = {"backend.epochs=9", "run.seed = 5", "backend.epochs=10"};
  write_text("a.ini", "[run]\nseed = 1\nbudget = 11\n[backend]\nepochs = 1\nbatch = 1\n");
  write_text("b.ini", "extends = a.ini\n[run]\nseed = 2\n[backend]\nepochs = 2\n");
  write_text("x.ini", "extends = b.ini\n[run]\nseed = 3\n");
  tutti_recipe *recipe = load_with(0, NULL);
  assert_int_equal(tutti_recipe_run(recipe)->seed, 3);
  assert_int_equal(tutti_recipe_run(recipe)->budget, 11);
  assert_string_equal(tutti_recipe_run(recipe)->name, "x");
  assert_string_equal(value_in(recipe, "backend", "epochs"), "2");
  assert_string_equal(value_in(recipe, "backend", "batch"), "1");
  tutti_recipe_destroy(recipe);
  recipe = load_with(3, overrides);
  assert_int_equal(tutti_recipe_run(recipe)->seed, 5);
  assert_string_equal(value_in(recipe, "backend", "epochs"), "10");
  tutti_recipe_destroy(recipe);
}

static void swapping_a_plugin_keeps_what_fits(void **state) {
  write_text("a.ini", "[backend]\nplugin = cpu\nepochs = 5\nrate = 0.5\n"
                      "[hyperparameters]\nbatch = integer 1 8\n"
                      "[builder]\nplugin = agebo\nacquisition = lcb\nsurrogate = gp\n"
                      "[acquisition]\nkappa = 3\n[surrogate]\nrate = 4\n");
  tutti_recipe *recipe = load("extends = a.ini\n[backend]\nplugin = gpu\n[builder]\nplugin = nes-rs\n");
  assert_string_equal(value_in(recipe, "backend", "plugin"), "gpu");
  assert_string_equal(value_in(recipe, "backend", "epochs"), "5");
  assert_string_equal(value_in(recipe, "acquisition", "plugin"), "(no such section)");
  assert_int_equal(tutti_domain_count(tutti_recipe_hyperparameters(recipe)), 0);
  tutti_recipe_destroy(recipe);
  /* A value that the new plugin does not take is left out, too; the swapping layer's own is refused. */
  write_text("b.ini", "[backend]\nplugin = cpu\nepochs = 300\n");
  recipe = load("extends = b.ini\n[backend]\nplugin = gpu\n");
  assert_string_equal(value_in(recipe, "backend", "epochs"), "100");
  tutti_recipe_destroy(recipe);
  refuse("extends = b.ini\n[backend]\nplugin = gpu\nepochs = 300\n", "expected an integer in [1, 200]");
  static const char *const swap[] = {"builder.surrogate=forest", "builder.acquisition=none"};
  write_text("x.ini", "extends = a.ini\n");
  recipe = load_with(2, swap);
  assert_string_equal(value_in(recipe, "surrogate", "plugin"), "forest");
  assert_string_equal(value_in(recipe, "acquisition", "plugin"), "(no such section)");
  tutti_recipe_destroy(recipe);
  /* What the swapping layer says itself has to fit. */
  refuse("extends = a.ini\n[backend]\nplugin = gpu\nrate = 1\n",
         "x.ini:4: [backend] rate: unknown key (backend gpu has: epochs)");
}

/* A section goes with the plugin that named it, however that was swapped; without a swap above it, it is a mistake. */
static void a_section_goes_with_the_plugin_that_named_it(void **state) {
  static const char *const forest[] = {"builder.surrogate=forest"};
  write_text("x.ini",
             "[builder]\nplugin = agebo\nsurrogate = networks\n[surrogate]\ntrainer = gpu\n[trainer]\nepochs = 7\n");
  tutti_recipe *recipe = load_with(0, NULL);
  assert_string_equal(value_in(recipe, "trainer", "epochs"), "7");
  tutti_recipe_destroy(recipe);
  recipe = load_with(1, forest);
  assert_string_equal(value_in(recipe, "surrogate", "plugin"), "forest");
  assert_string_equal(value_in(recipe, "trainer", "plugin"), "(no such section)");
  tutti_recipe_destroy(recipe);
  refuse("[builder]\nplugin = agebo\nsurrogate = forest\n[trainer]\nepochs = 7\n", "unknown section [trainer]");
  refuse_with("builder.batch=3", "unknown section [trainer]");
  refuse_with("trainer.epochs=3", "unknown section [trainer]");
}

static void a_later_layer_may_fix_or_search(void **state) {
  write_text("a.ini", "[backend]\nepochs = 5\n[hyperparameters]\nrate = uniform 0.1 1\n");
  tutti_recipe *recipe = load("extends = a.ini\n[backend]\nrate = 0.5\n[hyperparameters]\nepochs = integer 1 10\n");
  const tutti_domain *domain = tutti_recipe_hyperparameters(recipe);
  assert_int_equal(tutti_domain_count(domain), 1);
  assert_string_equal(tutti_domain_at(domain, 0)->name, "epochs");
  assert_string_equal(value_in(recipe, "backend", "rate"), "0.5");
  assert_string_equal(value_in(recipe, "backend", "epochs"), "100");
  tutti_recipe_destroy(recipe);
}

/* A changed parent stays in front of the dimensions that depend on it. */
static void overridden_ranges_keep_their_place(void **state) {
  write_text("a.ini", "[hyperparameters]\noptimiser = choice sgd adam\nrate = uniform 0.1 1 if optimiser = sgd\n");
  tutti_recipe *recipe = load("extends = a.ini\n[hyperparameters]\noptimiser = choice sgd rmsprop\n");
  assert_string_equal(tutti_domain_at(tutti_recipe_hyperparameters(recipe), 0)->choices[1], "rmsprop");
  tutti_recipe_destroy(recipe);
}

/* --- print ------------------------------------------------------------------------------------------------------- */

static char *printed(const tutti_recipe *recipe) {
  char *text;
  if (tutti_recipe_print(context, recipe, &text) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  return text;
}

static const char rich[] =
    "[run]\nname = r\nplugin_path = a:b\ntrial_timeout = 0.1\n[data]\nplugin = toy-sine\nnoise = 0.1 0.3\n"
    "[builder]\nplugin = agebo\nacquisition = lcb\n[surrogate]\npath = p\n[acquisition]\nkappa = 1e-17\n"
    "[hyperparameters]\noptimiser = choice sgd adam\nrate = log-uniform 1e-7 0.3 if optimiser = sgd\n"
    "epochs = 7\nbatch = log-integer 1 256\n";

static void the_printed_recipe_prints_the_same(void **state) {
  static const char *const texts[] = {"", rich,
                                      "[selector]\nplugin = greedy\npath = /p\n[backend]\ntext = a # b = c [d]\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    tutti_recipe *recipe = load(texts[i]), *again;
    char *first = printed(recipe);
    assert_int_equal(mkdir("elsewhere", 0700) == 0 || errno == EEXIST, 1);
    write_text("elsewhere/y.ini", first);
    if (tutti_recipe_load(context, "elsewhere/y.ini", 0, NULL, &again) != TUTTI_OK)
      fail_msg("%s\n%s", tutti_error_message(context), first);
    char *second = printed(again);
    assert_string_equal(first, second);
    assert_int_equal(tutti_recipe_same_run(context, recipe, again), TUTTI_OK);
    assert_int_equal(tutti_domain_count(tutti_recipe_hyperparameters(recipe)),
                     tutti_domain_count(tutti_recipe_hyperparameters(again)));
    tutti_free(first);
    tutti_free(second);
    tutti_recipe_destroy(recipe);
    tutti_recipe_destroy(again);
  }
}

static void everything_effective_is_printed(void **state) {
  tutti_recipe *recipe = load(rich);
  char *text = printed(recipe);
  static const char *const parts[] = {"[run]\nname = r ",
                                      "\nbudget = ",
                                      "\n[data]\nplugin = toy-sine ",
                                      "\n[head]\n",
                                      "\n[hyperparameters]\noptimiser = choice sgd adam ",
                                      "\nrate = log-uniform 1e-07 0.3 if optimiser = sgd ; Test. [x]\n",
                                      "\n[backend]\nplugin = cpu ",
                                      "\nepochs = 7 ",
                                      "\nsurrogate = gp ",
                                      "\n[surrogate]\n; gp: Test [1]\n",
                                      "\nkappa = 1e-17 ",
                                      "; Test."};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (!strstr(text, parts[i]))
      fail_msg("\"%s\" lacks \"%s\"", text, parts[i]);
  tutti_free(text);
  tutti_recipe_destroy(recipe);
}

static void runs_are_told_apart(void **state) {
  static const struct {
    const char *override, *expected; /* NULL: the same run */
  } cases[] = {
      {"run.name=other", NULL},
      {"run.workers=3", NULL},
      {"run.trial_timeout=5", NULL},
      {"run.memory_limit=100", NULL},
      {"run.retries=3", NULL},
      {"run.plugin_path=", NULL},
      {"run.seed=2", "[run] seed is '1' in one recipe and '2' in the other"},
      {"run.budget=61", NULL},
      {"run.time=2h", NULL},
      {"run.window=9", "[run] window is '8'"},
      {"run.keep_pruned=yes", "[run] keep_pruned is 'false' in one recipe and 'true' in the other"},
      {"backend.epochs=8", "[backend] epochs is '7' in one recipe and '8' in the other"},
      {"hyperparameters.batch=log-integer 1 128", "'log-integer 1 256' in one recipe and 'log-integer 1 128'"},
      {"hyperparameters.batch=16",
       "[hyperparameters] batch is 'log-integer 1 256' in one recipe and not there in the other"},
      {"hyperparameters.flag=choice yes no", "[backend] flag is 'false' in one recipe and not there"},
      {"builder.surrogate=forest", "[builder] surrogate is 'gp' in one recipe and 'forest' in the other"},
      {"acquisition.kappa=2", "[acquisition] kappa is '1e-17'"},
      {"data.noise=0.1 0.4", "[data] noise is"},
  };
  tutti_recipe *recipe = load(rich);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_recipe *other = load_with(1, &cases[i].override);
    enum tutti_status status = tutti_recipe_same_run(context, recipe, other);
    if (!cases[i].expected)
      assert_int_equal(status, TUTTI_OK);
    else if (status != TUTTI_ERROR_USAGE || !strstr(tutti_error_message(context), cases[i].expected))
      fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].override, tutti_error_message(context), cases[i].expected);
    assert_int_equal(tutti_recipe_same_run(context, other, recipe), status);
    tutti_recipe_destroy(other);
  }
  tutti_recipe_destroy(recipe);
}

/* --- parts ------------------------------------------------------------------------------------------------------- */

struct part_of_key {
  const char *section, *key;
  int found; /* -1: the key was not visited */
};

static enum tutti_status note_part(void *argument, tutti_context *visited, const struct tutti_recipe_item *item) {
  struct part_of_key *wanted = argument;
  assert_ptr_equal(visited, context);
  assert_int_equal(item->size, sizeof *item);
  if (strcmp(item->section, wanted->section) == 0 && strcmp(item->key, wanted->key) == 0)
    wanted->found = (int)item->part;
  return TUTTI_OK;
}

static int part_in(const tutti_recipe *recipe, const char *section, const char *key) {
  struct part_of_key wanted = {section, key, -1};
  assert_int_equal(tutti_recipe_visit(context, recipe, note_part, &wanted), TUTTI_OK);
  return wanted.found;
}

static void keys_have_a_part(void **state) {
  tutti_recipe *recipe = load(rich);
  assert_int_equal(part_in(recipe, "run", "seed"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "run", "loss"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "run", "name"), TUTTI_RECIPE_CIRCUMSTANCES);
  assert_int_equal(part_in(recipe, "executor", "plugin"), TUTTI_RECIPE_CIRCUMSTANCES);
  assert_int_equal(part_in(recipe, "run", "budget"), TUTTI_RECIPE_EXTENT);
  assert_int_equal(part_in(recipe, "run", "time"), TUTTI_RECIPE_EXTENT);
  assert_int_equal(part_in(recipe, "run", "window"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "pruner", "plugin"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "data", "plugin"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "hyperparameters", "batch"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "backend", "batch"), -1);
  assert_int_equal(part_in(recipe, "surrogate", ""), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "selector", "plugin"), TUTTI_RECIPE_SELECTION);
  assert_int_equal(part_in(recipe, "evaluation", "bins"), TUTTI_RECIPE_SELECTION);
  tutti_recipe_destroy(recipe);
}

/* Where a builder's parents are chosen by the plugin of [selector], that has its say in the search. */
static void a_selector_that_a_builder_names_is_part_of_the_search(void **state) {
  static const struct tutti_param params[] = {{.name = "selector",
                                               .type = TUTTI_PARAM_PLUGIN,
                                               .offset = offsetof(struct config, text),
                                               .preset = "forward",
                                               .kind = TUTTI_KIND_SELECTOR,
                                               .doc = "Test."}};
  static const struct tutti_descriptor builder =
      PLUGIN(TUTTI_KIND_BUILDER, "breeder", TUTTI_PARAMS(params, struct config), &builder_ops);
  assert_int_equal(tutti_plugin_register(context, &builder), TUTTI_OK);
  tutti_recipe *recipe = load("[data]\nplugin = toy-sine\n[builder]\nplugin = breeder\n");
  assert_int_equal(part_in(recipe, "selector", "plugin"), TUTTI_RECIPE_SEARCH);
  assert_int_equal(part_in(recipe, "evaluation", "bins"), TUTTI_RECIPE_SELECTION);
  tutti_recipe_destroy(recipe);
}

/* Sections that only the selector leads to go with it; one that a builder names, too, is part of the search. */
static void what_the_selector_names_goes_with_it(void **state) {
  static const struct tutti_param params[] = {{.name = "trainer",
                                               .type = TUTTI_PARAM_PLUGIN,
                                               .offset = offsetof(struct config, trainer),
                                               .preset = "forward",
                                               .kind = TUTTI_KIND_SELECTOR,
                                               .doc = "Test."}};
  static const struct tutti_param further[] = {{.name = "inner",
                                                .type = TUTTI_PARAM_PLUGIN,
                                                .offset = offsetof(struct config, text),
                                                .preset = "narrow",
                                                .kind = TUTTI_KIND_SELECTOR,
                                                .doc = "Test."}};
  static const struct tutti_descriptor described[] = {
      PLUGIN(TUTTI_KIND_SELECTOR, "narrow", TUTTI_PARAMS(params, struct config), &selector_ops),
      PLUGIN(TUTTI_KIND_SELECTOR, "wide", TUTTI_PARAMS(further, struct config), &selector_ops),
      PLUGIN(TUTTI_KIND_BUILDER, "breeder", TUTTI_PARAMS(params, struct config), &builder_ops),
  };
  for (size_t i = 0; i < sizeof described / sizeof described[0]; i++)
    assert_int_equal(tutti_plugin_register(context, &described[i]), TUTTI_OK);
  tutti_recipe *recipe = load("[data]\nplugin = toy-sine\n[selector]\nplugin = wide\n");
  assert_int_equal(part_in(recipe, "selector", "inner"), TUTTI_RECIPE_SELECTION);
  assert_int_equal(part_in(recipe, "inner", ""), TUTTI_RECIPE_SELECTION);
  assert_int_equal(part_in(recipe, "inner", "trainer"), TUTTI_RECIPE_SELECTION);
  assert_int_equal(part_in(recipe, "trainer", ""), TUTTI_RECIPE_SELECTION);
  tutti_recipe_destroy(recipe);
  recipe = load("[data]\nplugin = toy-sine\n[selector]\nplugin = wide\n[builder]\nplugin = breeder\n");
  assert_int_equal(part_in(recipe, "inner", "trainer"), TUTTI_RECIPE_SELECTION);
  assert_int_equal(part_in(recipe, "trainer", ""), TUTTI_RECIPE_SEARCH);
  tutti_recipe_destroy(recipe);
}

static enum tutti_status stop(void *argument, tutti_context *visited, const struct tutti_recipe_item *item) {
  (void)item;
  ++*(int *)argument;
  return TUTTI_FAIL(visited, TUTTI_ERROR_CANCELLED, "enough");
}

static void a_visit_ends_when_the_visitor_says_so(void **state) {
  int visits = 0;
  tutti_recipe *recipe = load(rich);
  assert_int_equal(tutti_recipe_visit(context, recipe, stop, &visits), TUTTI_ERROR_CANCELLED);
  assert_int_equal(visits, 1);
  tutti_recipe_destroy(recipe);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_empty_recipe_has_all_defaults, begin, end),
      cmocka_unit_test_setup_teardown(sections_set_what_they_name, begin, end),
      cmocka_unit_test_setup_teardown(losses_are_in_the_order_of_their_enum, begin, end),
      cmocka_unit_test_setup_teardown(hyperparameters_are_fixed_or_searched, begin, end),
      cmocka_unit_test_setup_teardown(paths_belong_to_the_file_that_has_them, begin, end),
      cmocka_unit_test_setup_teardown(later_layers_win, begin, end),
      cmocka_unit_test_setup_teardown(the_head_is_fixed_or_searched, begin, end),
      cmocka_unit_test_setup_teardown(swapping_a_plugin_keeps_what_fits, begin, end),
      cmocka_unit_test_setup_teardown(a_section_goes_with_the_plugin_that_named_it, begin, end),
      cmocka_unit_test_setup_teardown(a_later_layer_may_fix_or_search, begin, end),
      cmocka_unit_test_setup_teardown(overridden_ranges_keep_their_place, begin, end),
      cmocka_unit_test_setup_teardown(the_printed_recipe_prints_the_same, begin, end),
      cmocka_unit_test_setup_teardown(everything_effective_is_printed, begin, end),
      cmocka_unit_test_setup_teardown(runs_are_told_apart, begin, end),
      cmocka_unit_test_setup_teardown(keys_have_a_part, begin, end),
      cmocka_unit_test_setup_teardown(a_selector_that_a_builder_names_is_part_of_the_search, begin, end),
      cmocka_unit_test_setup_teardown(what_the_selector_names_goes_with_it, begin, end),
      cmocka_unit_test_setup_teardown(a_visit_ends_when_the_visitor_says_so, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
