/* reply.c - fuzz target: what workers answer, in a whole run whose executor gives the input's lines as replies: DONE,
   or, by the first letter, lost (L), timed out (T), progress (P) or for another trial (X). The run ends or stops with a
   message, and its directory can be looked at. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char fuzz_name[] = "reply";

enum { MOST = 64 };

/* The executor: trials that are submitted, and the lines that are left. */
static struct {
  char *lines, *next;
  uint64_t waiting[MOST];
  size_t count;
} stage;

static enum tutti_status executor_create_fuzz(tutti_context *context, const void *config, const void *setup,
                                              void **self) {
  (void)context, (void)config, (void)setup;
  stage.count = 0;
  *self = &stage;
  return TUTTI_OK;
}

static void executor_destroy_fuzz(void *self) { (void)self; }
static size_t executor_capacity_fuzz(void *self) {
  (void)self;
  return 2;
}

static enum tutti_status executor_submit_fuzz(void *self, tutti_context *context, uint64_t trial, const char *request) {
  (void)self, (void)request;
  if (stage.count == MOST)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "more trials than there is room for");
  stage.waiting[stage.count++] = trial;
  return TUTTI_OK;
}

static enum tutti_status executor_wait_fuzz(void *self, tutti_context *context, double timeout,
                                            struct tutti_reply *reply) {
  struct tutti_reply given = {.size = sizeof given, .kind = TUTTI_REPLY_NONE};
  (void)self, (void)timeout;
  char *line = stage.next;
  if (stage.count == 0) {
    TUTTI_GIVE(reply, &given);
    return TUTTI_OK;
  }
  if (!line || !*line)
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "the input is at its end");
  char *end = strchr(line, '\n');
  stage.next = end ? end + 1 : NULL;
  if (end)
    *end = '\0';
  given.kind = *line == 'L'   ? TUTTI_REPLY_LOST
               : *line == 'T' ? TUTTI_REPLY_TIMED_OUT
               : *line == 'P' ? TUTTI_REPLY_PROGRESS
                              : TUTTI_REPLY_DONE;
  given.trial = stage.waiting[0];
  if (*line == 'X')
    given.trial = strtoull(line + 1, NULL, 10);
  else if (given.kind != TUTTI_REPLY_PROGRESS)
    memmove(stage.waiting, stage.waiting + 1, --stage.count * sizeof stage.waiting[0]);
  TUTTI_TRY(context,
            tutti_strdup(context, given.kind == TUTTI_REPLY_DONE && *line != 'X' ? line : line + 1, &given.text));
  TUTTI_GIVE(reply, &given);
  return TUTTI_OK;
}

static const struct tutti_executor_ops executor_fuzz_ops = {.size = sizeof executor_fuzz_ops,
                                                            .capacity = executor_capacity_fuzz,
                                                            .submit = executor_submit_fuzz,
                                                            .wait = executor_wait_fuzz};
static const struct tutti_descriptor executor_fuzz = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "fuzz"),
    .version = "1.0",
    .summary = "replies of a fuzzer",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .create = executor_create_fuzz,
    .destroy = executor_destroy_fuzz,
    .ops = &executor_fuzz_ops,
};

static const char recipe_text[] = "[run]\nbudget = 3\nwindow = 2\nretries = 2\n[space]\nplugin = fixed\n"
                                  "[backend]\nplugin = function\n[hyperparameters]\nx0 = uniform -5 10\n"
                                  "x1 = uniform 0 15\n[executor]\nplugin = fuzz\n[selector]\nplugin = all\n";

static void look(tutti_context *context, const char *directory) {
  tutti_view *view = NULL;
  char *status = NULL;
  tutti_error_clear(context);
  if (tutti_view_open(context, directory, &view) != TUTTI_OK || tutti_view_status(context, view, &status) != TUTTI_OK) {
    (void)fprintf(stderr, "after these replies: %s\n", tutti_error_message(context));
    FUZZ_REQUIRE(!"a run that can be looked at");
  }
  tutti_free(status);
  tutti_view_close(view);
}

static void remove_run(const char *directory) {
  static const char *const names[] = {"recipe.ini", "catalogue.sqlite", "ensemble.json", "summary.json", "lock",
                                      "worker.log", "data.json",        "splits",        "trials"};
  char path[192];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    (void)remove(path);
  }
  FUZZ_REQUIRE(rmdir(directory) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool registered;
  tutti_context *context = fuzz_context();
  tutti_recipe *recipe;
  char directory[128], *summary = NULL;
  if (!registered)
    FUZZ_REQUIRE(tutti_plugin_register(context, &executor_fuzz) == TUTTI_OK);
  registered = true;
  const char *path = fuzz_file("recipe.ini", (const uint8_t *)recipe_text, sizeof recipe_text - 1);
  FUZZ_REQUIRE(tutti_recipe_load(context, path, 0, NULL, &recipe) == TUTTI_OK);
  (void)snprintf(directory, sizeof directory, "%s/replies", fuzz_folder());
  struct tutti_run_options options = {.size = sizeof options, .directory = directory, .program = "none", .workers = 1};
  stage.lines = stage.next = fuzz_text(data, size);
  if (tutti_run(context, recipe, &options, &summary) != TUTTI_OK)
    fuzz_failed(summary);
  tutti_free(summary);
  free(stage.lines);
  look(context, directory);
  remove_run(directory);
  return 0;
}
