/* command_cancel.c - tutti cancel: take trials out of a run at work. */
#include "program_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct cancel_options {
  bool trust;
};

/* The operands after the first, as numbers; NULL: they are. Else the one that is none. */
static const char *read_trials(const struct texts *operands, uint64_t trials[MOST_TEXTS]) {
  for (size_t i = 1; i < operands->count; i++) {
    const char *text = operands->items[i];
    char *end;
    errno = 0;
    trials[i - 1] = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
      return text;
  }
  return NULL;
}

static const char *check_cancel(const struct texts *operands, const void *options) {
  uint64_t trials[MOST_TEXTS];
  (void)options;
  return read_trials(operands, trials)
             ? "expected a run directory, and numbers of its trials, as tutti status shows them"
             : NULL;
}

static int run_cancel(tutti_context *context, const struct texts *operands, const void *given) {
  const struct cancel_options *options = given;
  uint64_t trials[MOST_TEXTS] = {0};
  bool running;
  (void)read_trials(operands, trials);
  tutti_trust_runs(context, options->trust);
  enum tutti_status status = tutti_run_cancel(context, operands->items[0], 0, NULL, &running);
  if (status != TUTTI_OK)
    return fail(context, status);
  int code = 0;
  begin_output();
  /* One by one: a trial that has just ended is no reason to let the others go on. */
  for (size_t i = 0; i + 1 < operands->count; i++) {
    status = tutti_run_cancel(context, operands->items[0], 1, &trials[i], &running);
    if (status != TUTTI_OK)
      code = fail(context, status);
    else
      (void)printf(running ? "Trial %" PRIu64 " is being cancelled.\n"
                           : "Trial %" PRIu64 " is cancelled when the run goes on (--resume): it is not at work now.\n",
                   trials[i]);
  }
  const int written = finish_output();
  return code ? code : written;
}

static const struct command_option cancel_options[] = {TRUST_OPTION(struct cancel_options), {0}};

const struct command command_cancel = {
    .name = "cancel",
    .summary = "take trials out of a run at work",
    .about = "Have trials cancelled that a run trains, or is going to: their trainings end, they count as failed, and "
             "the run goes on. --resume does not train them again.",
    .operands = {.synopsis = "RUN TRIAL...",
                 .wanted = "a run directory, and numbers of its trials",
                 .example = "runs/quickstart 17",
                 .least = 2,
                 .most = MOST_TEXTS,
                 .completes = {COMPLETE_FOLDER, COMPLETE_NOTHING}},
    .options = cancel_options,
    .size = sizeof(struct cancel_options),
    .check = check_cancel,
    .run = run_cancel,
};
