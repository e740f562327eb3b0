/* test_closest_name.c - which name was meant: short names forgive one slip, longer ones more, and a word far from every
   name has no closest name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <tutti/param.h>

static const char *const names[] = {"run",    "data",     NULL, "learning_rate", "batch_size",
                                    "epochs", "selector", "l2", "rnus"};
enum { COUNT = sizeof names / sizeof names[0] };

static void expect(const char *name, const char *closest) {
  const char *found = tutti_closest_name(name, COUNT, names);
  if (closest ? !found || strcmp(found, closest) != 0 : found != NULL)
    fail_msg("%s: expected %s, found %s", name, closest ? closest : "nothing", found ? found : "nothing");
}

static void slips_are_forgiven(void **state) {
  (void)state;
  expect("run", "run");
  expect("learnig_rate", "learning_rate");   /* a letter is missing */
  expect("learning__rate", "learning_rate"); /* one too many */
  expect("learning-rate", "learning_rate");  /* a wrong one */
  expect("laerning_rate", "learning_rate");  /* two in the wrong order */
  expect("learning_raet", "learning_rate");
  expect("selektor", "selector");
  expect("epoch", "epochs");
  expect("lr", "l2");
}

/* Letters in another case are nearly right: a name in capitals is found, and one of a single letter, too. Of names that
   differ in case alone, the nearest wins. */
static void case_is_forgiven(void **state) {
  static const char *const cases[] = {"Y", "Net Weight", "rate", "RATE", "selector"};
  const struct {
    const char *name, *closest;
  } pairs[] = {{"y", "Y"},
               {"NET WEIGHT", "Net Weight"},
               {"net  weight", "Net Weight"},
               {"Rate", "rate"},
               {"RATe", "RATE"},
               {"SELEKTOR", "selector"},
               {"z", NULL},
               {"RULE", NULL}};
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const char *found = tutti_closest_name(pairs[i].name, sizeof cases / sizeof cases[0], cases);
    if (pairs[i].closest ? !found || strcmp(found, pairs[i].closest) != 0 : found != NULL)
      fail_msg("%s: expected %s, found %s", pairs[i].name, pairs[i].closest ? pairs[i].closest : "nothing",
               found ? found : "nothing");
  }
}

/* A swap counts as one edit: "rnu" is one from "run", but one from "rnus" too, and the first of the list wins. */
static void the_nearest_wins_and_then_the_first(void **state) {
  (void)state;
  expect("rnu", "run");
  expect("rnuss", "rnus");
}

static void what_is_far_from_everything_has_no_closest_name(void **state) {
  (void)state;
  char longest[200];
  memset(longest, 'x', sizeof longest);
  longest[199] = '\0';
  expect("zzzzzz", NULL);
  expect("momentum", NULL);
  expect("", NULL);
  expect(longest, NULL);
  assert_null(tutti_closest_name("run", 0, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slips_are_forgiven),
      cmocka_unit_test(case_is_forgiven),
      cmocka_unit_test(the_nearest_wins_and_then_the_first),
      cmocka_unit_test(what_is_far_from_everything_has_no_closest_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
