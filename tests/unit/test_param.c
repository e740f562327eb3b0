/* Parameter tables: every type from text and back, every refusal with its message, configs, and checks of tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/param.h>
#include <cmocka.h>

struct values {
  bool flag;
  int64_t units;
  double rate, timeout;
  int optimiser;
  const char *name, *path, *surrogate;
  struct {
    const char *prior;
  } inside;
  struct tutti_integers widths;
  struct tutti_reals shares;
  struct tutti_choices activations;
  int64_t needed;
};

static const char *const optimisers[] = {"sgd", "adam", "nadam", NULL};
static const char *const activations[] = {"relu", "tanh", NULL};

static const struct tutti_param table[] = {
    TUTTI_BOOL(struct values, flag, "yes", "A field."),
    TUTTI_INTEGER(struct values, units, "64", 1, 512, "A field.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct values, rate, "0.001", 0, 1, "A field.", .min_open = true, .max_open = true),
    TUTTI_REAL(struct values, timeout, "inf", 0, TUTTI_NO_LIMIT, "A field.", .unit = "s"),
    TUTTI_CHOICE(struct values, optimiser, "adam", optimisers, "A field."),
    TUTTI_STRING(struct values, name, "", "A field."),
    TUTTI_PATH(struct values, path, "a b.csv", "A field."),
    TUTTI_SUBPLUGIN(struct values, surrogate, "gp", TUTTI_KIND_SURROGATE, "A field."),
    TUTTI_PARAM("prior", PLUGIN, struct values, inside.prior, "none", 0, 0, NULL, TUTTI_KIND_SURROGATE, "A field."),
    TUTTI_INTEGERS(struct values, widths, "8 16, 32", 1, TUTTI_NO_LIMIT, "A field."),
    TUTTI_REALS(struct values, shares, "", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT, "A field."),
    TUTTI_CHOICES(struct values, activations, "tanh relu", activations, "A field."),
    TUTTI_INTEGER(struct values, needed, NULL, 0, 0, "A field.", .flags = TUTTI_PARAM_REQUIRED),
};
static const struct tutti_params params = TUTTI_PARAMS(table, struct values);

struct fixture {
  tutti_context *context;
  tutti_config *config;
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  *state = fixture;
  return tutti_context_create(&fixture->context) == TUTTI_OK &&
                 tutti_config_create(fixture->context, &params, &fixture->config) == TUTTI_OK
             ? 0
             : -1;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  tutti_config_destroy(fixture->config);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static const struct values *values_of(const tutti_config *config) { return tutti_config_values(config); }

static void set(struct fixture *fixture, const char *name, const char *text) {
  if (tutti_config_set(fixture->context, fixture->config, name, text) != TUTTI_OK)
    fail_msg("%s = %s: %s", name, text, tutti_error_message(fixture->context));
}

static void check_message(struct fixture *fixture, enum tutti_status status, enum tutti_status expected,
                          const char *message) {
  assert_int_equal(status, expected);
  assert_string_equal(tutti_error_message(fixture->context), message);
}

static void refuse(struct fixture *fixture, const char *name, const char *text, const char *message) {
  check_message(fixture, tutti_config_set(fixture->context, fixture->config, name, text), TUTTI_ERROR_USAGE, message);
}

static void check_text(struct fixture *fixture, const tutti_config *config, const char *name, const char *expected) {
  char *text;
  assert_int_equal(tutti_config_get(fixture->context, config, name, &text), TUTTI_OK);
  assert_string_equal(text, expected);
  tutti_free(text);
}

/* Presets land in their fields, and print as they would be written. */
static void test_presets(void **state) {
  struct fixture *fixture = *state;
  const struct values *values = values_of(fixture->config);
  static const char *const expected[][2] = {{"flag", "true"},      {"units", "64"},       {"rate", "0.001"},
                                            {"timeout", "inf"},    {"optimiser", "adam"}, {"name", ""},
                                            {"path", "a b.csv"},   {"surrogate", "gp"},   {"prior", "none"},
                                            {"widths", "8 16 32"}, {"shares", ""},        {"activations", "tanh relu"}};
  assert_true(values->flag);
  assert_int_equal(values->units, 64);
  assert_true(values->rate == 0.001);
  assert_true(isinf(values->timeout));
  assert_int_equal(values->optimiser, 1);
  assert_string_equal(values->name, "");
  assert_int_equal(values->widths.count, 3);
  assert_int_equal(values->widths.values[2], 32);
  assert_int_equal(values->shares.count, 0);
  assert_int_equal(values->activations.values[0], 1);
  assert_int_equal(values->activations.values[1], 0);
  assert_int_equal(values->needed, 0);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    check_text(fixture, fixture->config, expected[i][0], expected[i][1]);
}

static void test_required(void **state) {
  struct fixture *fixture = *state;
  char *text;
  assert_string_equal(tutti_config_missing(fixture->config), "needed");
  check_message(fixture, tutti_config_get(fixture->context, fixture->config, "needed", &text), TUTTI_ERROR_USAGE,
                "the parameter 'needed' has no default and was not set");
  set(fixture, "needed", "-9223372036854775808");
  assert_null(tutti_config_missing(fixture->config));
  assert_true(values_of(fixture->config)->needed == INT64_MIN);
}

static void test_bool(void **state) {
  struct fixture *fixture = *state;
  static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
  for (size_t i = 0; i < 8; i++) {
    set(fixture, "flag", words[i]);
    assert_int_equal(values_of(fixture->config)->flag, i % 2);
  }
  refuse(fixture, "flag", "maybe", "expected yes or no; found 'maybe'");
}

static void test_integer(void **state) {
  struct fixture *fixture = *state;
  set(fixture, "units", "1");
  set(fixture, "units", "512");
  static const char *const wrong[] = {"0", "513", "-3",   "1.5", "12x",
                                      "x", " 12", "0x10", "1e2", "99999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char message[128];
    snprintf(message, sizeof message, "expected an integer in [1, 512]; found '%s'", wrong[i]);
    refuse(fixture, "units", wrong[i], message);
  }
  refuse(fixture, "units", "", "expected an integer in [1, 512]; found nothing");
  assert_int_equal(values_of(fixture->config)->units, 512);
}

static void test_real(void **state) {
  struct fixture *fixture = *state;
  set(fixture, "rate", "1e-3");
  set(fixture, "rate", "+.5");
  assert_true(values_of(fixture->config)->rate == 0.5);
  static const char *const wrong[] = {"0", "1", "-0.1", "nan", "inf", "0x1p-2", "0.5 ", "0,5", "1e999", "."};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char message[128];
    snprintf(message, sizeof message, "expected a number in (0, 1); found '%s'", wrong[i]);
    refuse(fixture, "rate", wrong[i], message);
  }
  set(fixture, "timeout", "2.5");
  set(fixture, "timeout", "infinity");
  assert_true(isinf(values_of(fixture->config)->timeout));
  refuse(fixture, "timeout", "-inf", "expected a number >= 0 (s), or with a unit: s, m, h or d; found '-inf'");
  refuse(fixture, "shares", "0.5 inf", "expected a list of numbers; found 'inf'");
}

/* Whatever the bits, the text gives them back. */
static void test_real_round_trip(void **state) {
  struct fixture *fixture = *state;
  static const double numbers[] = {0.1, 1.0 / 3, 5e-324, 2.2250738585072011e-308, 0.99999999999999989, 1e-5};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char *text;
    assert_int_equal(tutti_config_set_number(fixture->context, fixture->config, "rate", numbers[i]), TUTTI_OK);
    assert_int_equal(tutti_config_get(fixture->context, fixture->config, "rate", &text), TUTTI_OK);
    set(fixture, "rate", text);
    assert_memory_equal(&values_of(fixture->config)->rate, &numbers[i], sizeof(double));
    tutti_free(text);
  }
  set(fixture, "rate", "0.1");
  check_text(fixture, fixture->config, "rate", "0.1");
}

static void test_choice(void **state) {
  struct fixture *fixture = *state;
  set(fixture, "optimiser", "nadam");
  assert_int_equal(values_of(fixture->config)->optimiser, 2);
  refuse(fixture, "optimiser", "adm", "expected one of: sgd, adam, nadam; found 'adm'; did you mean 'adam'?");
  refuse(fixture, "optimiser", "lion2", "expected one of: sgd, adam, nadam; found 'lion2'");
  refuse(fixture, "activations", "relu,tnah", "expected a list of: relu, tanh; found 'tnah'; did you mean 'tanh'?");
}

static void test_texts(void **state) {
  struct fixture *fixture = *state;
  set(fixture, "name", " any thing = ; # ");
  assert_string_equal(values_of(fixture->config)->name, " any thing = ; # ");
  set(fixture, "surrogate", "random-forest");
  refuse(fixture, "surrogate", "Random Forest",
         "expected the name of a surrogate (lower-case letters, digits and hyphens); found 'Random Forest'");
  refuse(fixture, "surrogate", "none", "expected the name of a surrogate; found 'none', but one is needed here");
  set(fixture, "prior", "gp");
  set(fixture, "prior", "none");
}

static void test_lists(void **state) {
  struct fixture *fixture = *state;
  set(fixture, "widths", ", 1,2\t3 ");
  assert_int_equal(values_of(fixture->config)->widths.count, 3);
  check_text(fixture, fixture->config, "widths", "1 2 3");
  set(fixture, "shares", "0.8 0.1 0.1");
  assert_true(values_of(fixture->config)->shares.values[2] == 0.1);
  set(fixture, "shares", "");
  assert_int_equal(values_of(fixture->config)->shares.count, 0);
  refuse(fixture, "widths", "4 0 4", "expected a list of integers, each >= 1; found '0'");
  refuse(fixture, "widths", " , ", "expected a list of integers, each >= 1; found nothing");
  check_text(fixture, fixture->config, "widths", "1 2 3");
}

static void test_numbers(void **state) {
  struct fixture *fixture = *state;
  tutti_context *context = fixture->context;
  tutti_config *config = fixture->config;
  assert_int_equal(tutti_config_set_number(context, config, "flag", 0), TUTTI_OK);
  assert_int_equal(tutti_config_set_number(context, config, "units", 7), TUTTI_OK);
  assert_int_equal(tutti_config_set_number(context, config, "optimiser", 2), TUTTI_OK);
  assert_false(values_of(config)->flag);
  assert_int_equal(values_of(config)->units, 7);
  assert_int_equal(values_of(config)->optimiser, 2);
  check_message(fixture, tutti_config_set_number(context, config, "flag", 2), TUTTI_ERROR_USAGE,
                "expected yes or no; found '2'");
  check_message(fixture, tutti_config_set_number(context, config, "units", 7.5), TUTTI_ERROR_USAGE,
                "expected an integer in [1, 512]; found '7.5'");
  check_message(fixture, tutti_config_set_number(context, config, "units", 1e19), TUTTI_ERROR_USAGE,
                "expected an integer in [1, 512]; found '1e+19'");
  check_message(fixture, tutti_config_set_number(context, config, "needed", 9223372036854775808.0), TUTTI_ERROR_USAGE,
                "expected an integer; found '9.223372036854776e+18'");
  check_message(fixture, tutti_config_set_number(context, config, "rate", NAN), TUTTI_ERROR_USAGE,
                "expected a number in (0, 1); found 'nan'");
  check_message(fixture, tutti_config_set_number(context, config, "optimiser", 3), TUTTI_ERROR_USAGE,
                "expected one of: sgd, adam, nadam; found '3'");
  check_message(fixture, tutti_config_set_number(context, config, "widths", 3), TUTTI_ERROR_USAGE,
                "expected a list of integers, each >= 1; found '3'");
  assert_int_equal(tutti_config_set_number(context, config, "name", 3), TUTTI_ERROR_USAGE);
}

static void test_unknown_name(void **state) {
  struct fixture *fixture = *state;
  static const struct tutti_params none = TUTTI_NO_PARAMS;
  tutti_config *empty;
  refuse(fixture, "optimizer", "adam", "there is no parameter 'optimizer' here; did you mean 'optimiser'?");
  refuse(fixture, "zzz", "1",
         "there is no parameter 'zzz' here; there are: flag, units, rate, timeout, optimiser, name, path, surrogate, "
         "prior, "
         "widths, shares, activations, needed");
  assert_int_equal(tutti_config_create(fixture->context, &none, &empty), TUTTI_OK);
  assert_non_null(tutti_config_values(empty));
  assert_null(tutti_config_missing(empty));
  check_message(fixture, tutti_config_set(fixture->context, empty, "units", "1"), TUTTI_ERROR_USAGE,
                "there is no parameter 'units' here, nor any other");
  tutti_config_destroy(empty);
}

/* A copy has everything, and shares nothing. */
static void test_copy(void **state) {
  struct fixture *fixture = *state;
  tutti_config *copy;
  set(fixture, "name", "before");
  set(fixture, "shares", "1 2");
  assert_int_equal(tutti_config_copy(fixture->context, fixture->config, &copy), TUTTI_OK);
  set(fixture, "name", "after");
  set(fixture, "shares", "3");
  set(fixture, "widths", "5");
  check_text(fixture, copy, "name", "before");
  check_text(fixture, copy, "shares", "1 2");
  check_text(fixture, copy, "widths", "8 16 32");
  check_text(fixture, copy, "surrogate", "gp");
  assert_string_equal(tutti_config_missing(copy), "needed");
  assert_ptr_equal(tutti_config_params(copy), &params);
  tutti_config_destroy(copy);
}

/* A struct that begins with its size, of which its table knows nothing, has it set; so has the copy. */
static void test_size(void **state) {
  struct fixture *fixture = *state;
  struct sized {
    size_t size;
    bool flag;
  };
  static const struct tutti_param one[] = {
      TUTTI_BOOL(struct sized, flag, "yes", "A field.", .flags = TUTTI_PARAM_AFTER_SIZE)};
  static const struct tutti_params of_sized = TUTTI_PARAMS(one, struct sized);
  tutti_config *config, *copy;
  assert_int_equal(tutti_config_create(fixture->context, &of_sized, &config), TUTTI_OK);
  assert_int_equal(tutti_config_copy(fixture->context, config, &copy), TUTTI_OK);
  const struct sized *values = tutti_config_values(config), *copied = tutti_config_values(copy);
  assert_true(values->size == sizeof *values && values->flag);
  assert_true(copied->size == sizeof *copied && copied->flag);
  tutti_config_destroy(config);
  tutti_config_destroy(copy);
  /* A parameter that comes first is left alone. */
  struct first {
    bool flag;
    int64_t other;
  };
  static const struct tutti_param none[] = {TUTTI_BOOL(struct first, flag, "no", "A field.")};
  static const struct tutti_params of_first = TUTTI_PARAMS(none, struct first);
  assert_int_equal(tutti_config_create(fixture->context, &of_first, &config), TUTTI_OK);
  assert_memory_equal(tutti_config_values(config), &(struct first){0}, sizeof(struct first));
  tutti_config_destroy(config);
  /* So is what the plugin's own struct begins with, if its table does not say that this is a size. */
  struct own {
    size_t count;
    bool flag;
  };
  static const struct tutti_param of_flag[] = {TUTTI_BOOL(struct own, flag, "yes", "A field.")};
  static const struct tutti_params of_own = TUTTI_PARAMS(of_flag, struct own);
  assert_int_equal(tutti_config_create(fixture->context, &of_own, &config), TUTTI_OK);
  const struct own *kept = tutti_config_values(config);
  assert_true(kept->count == 0 && kept->flag);
  tutti_config_destroy(config);
}

/* --- tables --- */

static void check_table(struct fixture *fixture, struct tutti_param entry, const char *message) {
  struct tutti_param two[2] = {table[1], entry};
  struct tutti_params wrong = {two, 2, sizeof two[0], sizeof(struct values)};
  check_message(fixture, tutti_params_check(fixture->context, &wrong), TUTTI_ERROR_PLUGIN, message);
}

static void test_tables(void **state) {
  struct fixture *fixture = *state;
  static const char *const nothing[] = {NULL};
  struct tutti_param entry = table[2], plugin = table[7], choice = table[4];
  assert_int_equal(tutti_params_check(fixture->context, &params), TUTTI_OK);
  entry.name = "Rate";
  check_table(fixture, entry,
              "parameter number 1: its name 'Rate' is not of lower-case letters, digits and _, a letter first");
  entry.name = "units";
  check_table(fixture, entry, "parameter 'units' stands twice in the table");
  entry.name = "rate";
  entry.offset = sizeof(struct values) - 4;
  check_table(fixture, entry, "parameter 'rate': its field lies outside the config struct");
  entry.offset = offsetof(struct values, rate) + 1;
  check_table(fixture, entry, "parameter 'rate': its field is misaligned");
  entry.offset = offsetof(struct values, units);
  check_table(fixture, entry, "parameters 'units' and 'rate' share a field of the config struct");
  entry = table[2];
  entry.preset = "2";
  check_table(fixture, entry, "parameter 'rate': its preset is wrong: expected a number in (0, 1); found '2'");
  entry.preset = NULL;
  check_table(fixture, entry, "parameter 'rate': it has no preset, and is not marked as required");
  entry = table[2];
  entry.doc = "";
  check_table(fixture, entry, "parameter 'rate': it has no doc");
  entry = table[2];
  entry.min = 3;
  check_table(fixture, entry, "parameter 'rate': its min is above its max");
  entry = table[2];
  entry.type = (enum tutti_param_type)99;
  check_table(fixture, entry, "parameter 'rate': its type is unknown");
  choice.choices = nothing;
  check_table(fixture, choice, "parameter 'optimiser': it has no choices");
  plugin.kind = TUTTI_KIND_COUNT;
  check_table(fixture, plugin, "parameter 'surrogate': its kind of plugin is unknown");
  plugin = table[7];
  struct tutti_param text = table[5];
  text.flags = TUTTI_PARAM_SEARCHABLE;
  check_table(fixture, text,
              "parameter 'name': it is marked as searchable, which only numbers, bools, choices and plugins can be");
}

/* A later minor version has longer entries; the stride skips the new fields. */
static void test_stride(void **state) {
  struct fixture *fixture = *state;
  struct {
    struct tutti_param param;
    void *new_field;
  } longer[] = {{table[1], NULL}, {table[2], NULL}};
  struct tutti_params wide = {&longer[0].param, 2, sizeof longer[0], sizeof(struct values)};
  assert_int_equal(tutti_params_check(fixture->context, &wide), TUTTI_OK);
  assert_string_equal(tutti_params_at(&wide, 1)->name, "rate");
  assert_ptr_equal(tutti_params_find(&wide, "rate"), &longer[1].param);
  assert_null(tutti_params_find(&wide, "ratio"));
  wide.stride = sizeof(struct tutti_param) - 8;
  assert_int_equal(tutti_params_check(fixture->context, &wide), TUTTI_ERROR_PLUGIN);
  wide.table = NULL;
  check_message(fixture, tutti_params_check(fixture->context, &wide), TUTTI_ERROR_PLUGIN,
                "the parameter table is NULL, but counts 2");
}

static void test_kinds(void **state) {
  struct fixture *fixture = *state;
  enum tutti_kind kind;
  for (unsigned i = 0; i < TUTTI_KIND_COUNT; i++) {
    assert_int_equal(tutti_kind_parse(fixture->context, tutti_kind_name((enum tutti_kind)i), &kind), TUTTI_OK);
    assert_int_equal(kind, i);
  }
  assert_string_equal(tutti_kind_name(TUTTI_KIND_COUNT), "unknown kind");
  check_message(fixture, tutti_kind_parse(fixture->context, "maximizer", &kind), TUTTI_ERROR_USAGE,
                "'maximizer' is no kind of plugin; did you mean 'maximiser'?");
  assert_int_equal(tutti_kind_parse(fixture->context, "zzz", &kind), TUTTI_ERROR_USAGE);
  const char *message = tutti_error_message(fixture->context);
  assert_non_null(strstr(message, "'zzz' is no kind of plugin; kinds are space, backend, "));
  for (unsigned i = 0; i < TUTTI_KIND_COUNT; i++)
    assert_non_null(strstr(message, tutti_kind_name((enum tutti_kind)i)));
  assert_non_null(strstr(message, " and "));
}

static void test_closest_name(void **state) {
  static const char *const names[] = {"batch_size", NULL, "epochs", "learning_rate"};
  (void)state;
  assert_string_equal(tutti_closest_name("learning-rate", 4, names), "learning_rate");
  assert_string_equal(tutti_closest_name("ecpohs", 4, names), "epochs");
  assert_string_equal(tutti_closest_name("batchsize", 4, names), "batch_size");
  assert_null(tutti_closest_name("momentum", 4, names));
  assert_null(tutti_closest_name("epochs", 0, NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_presets),         TEST(test_required),     TEST(test_bool),  TEST(test_integer), TEST(test_real),
      TEST(test_real_round_trip), TEST(test_choice),       TEST(test_texts), TEST(test_lists),   TEST(test_numbers),
      TEST(test_unknown_name),    TEST(test_copy),         TEST(test_size),  TEST(test_tables),  TEST(test_stride),
      TEST(test_kinds),           TEST(test_closest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
