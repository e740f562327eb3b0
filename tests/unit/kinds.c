#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "kinds.h"
#include "tests/conformance/conform.h"

struct toy toy;

enum tutti_status kinds_create(tutti_context *context, const void *config, const void *setup, void **self) {
  const void **made;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  *made = setup;
  *self = made;
  return TUTTI_OK;
}

void kinds_open(const struct tutti_descriptor *plugins, size_t count) {
  toy_create(&toy, 5, 2, 9, "rate = uniform 0 1\noptimiser = choice nadam sgd");
  for (size_t i = 0; i < count; i++)
    TOY_OK(&toy, tutti_plugin_register(toy.context, &plugins[i]));
  TOY_OK(&toy, tutti_plugin_register(toy.context, &world_space_graphs));
}

int kinds_close(void **state) {
  (void)state;
  toy_destroy(&toy);
  return 0;
}

tutti_candidate *kinds_candidate(int depth) {
  tutti_candidate *candidate;
  double point[8] = {depth, 0.5, 1};
  TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, point, 1, &candidate));
  return candidate;
}

void kinds_must_fail(enum tutti_status status, enum tutti_status expected, const char *message) {
  assert_int_equal(status, expected);
  if (!strstr(tutti_error_message(toy.context), message))
    fail_msg("expected '%s' in '%s'", message, tutti_error_message(toy.context));
}
