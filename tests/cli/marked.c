/* marked.c - a selector whose code leaves a mark: loading it makes the file that TUTTI_TEST_MARK names. */
#include <tutti/plugin.h>

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_mark(void) {
  const char *path = getenv("TUTTI_TEST_MARK");
  FILE *mark = path ? fopen(path, "w") : NULL;
  if (mark)
    (void)fclose(mark);
}

static enum tutti_status select_marked(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                                       tutti_ensemble *ensemble) {
  (void)self, (void)count;
  return tutti_ensemble_add(context, ensemble, pool->trials[0], 1);
}

static const struct tutti_selector_ops ops = {.size = sizeof ops, .select = select_marked};

static const struct tutti_descriptor descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "marked"),
    .version = "1.0",
    .summary = "takes the first model, and leaves a mark",
    .source = "this test",
    .licence = "Apache-2.0",
    .ops = &ops,
};

TUTTI_PLUGIN(descriptor)
