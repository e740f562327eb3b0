/* test_path_labels.c - files are called by the shortest names that tell them apart. */
#include "engine/study/path_labels.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

enum { MOST = 3 };

static const struct {
  const char *paths[MOST + 1], *labels[MOST];
} cases[] = {
    {{"concrete.csv"}, {"concrete"}},
    {{"/data/concrete.csv.gz", "wine.csv"}, {"concrete", "wine"}},
    {{"no-suffix", ".hidden", "a.b.c"}, {"no-suffix", ".hidden", "a"}},
    {{"uci/boston/data.csv", "uci/wine/data.csv"}, {"boston", "wine"}},
    {{"boston/train.csv", "boston/test.csv", "wine/test.csv"}, {"boston-train", "boston-test", "wine-test"}},
    {{"./small.ini", "sub/small.ini"}, {"small", "sub-small"}},
    {{"small.ini", "../small.ini"}, {"small.ini", "../small.ini"}},
    {{"a/x/data.csv", "b/x/data.csv"}, {"a/x/data.csv", "b/x/data.csv"}},
    {{"x.csv", "x.csv", "y.csv"}, {"x", "x", "y"}},
    {{"a/", "b/"}, {"a", "b"}},
    {{""}, {""}},
};

static void files_have_the_shortest_labels(void **state) {
  tutti_context *context;
  (void)state;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    char *labels[MOST] = {NULL};
    size_t count = 0;
    while (cases[c].paths[count])
      count++;
    assert_int_equal(tutti_path_labels(context, count, cases[c].paths, labels), TUTTI_OK);
    for (size_t i = 0; i < count; i++) {
      assert_string_equal(labels[i], cases[c].labels[i]);
      tutti_free(labels[i]);
    }
  }
  tutti_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_have_the_shortest_labels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
