/* training.h - what `run` and `fit` share: from a recipe to a summary in a run directory. */
#ifndef TUTTI_TRAINING_H
#define TUTTI_TRAINING_H

#include "command.h"

struct training_options {
  const char *out;
  struct texts set;
  long workers;
  bool resume, dry_run, json, quiet;
};

/* Their rows in the options of a command; `options` is its struct, which has them as `training`. */
#define TRAINING_OPTIONS(options)                                                                                      \
  {"set",                                                                                                              \
   's',                                                                                                                \
   OPTION_TEXTS,                                                                                                       \
   "SECTION.KEY=VALUE",                                                                                                \
   "Override a key of the recipe; may be repeated.",                                                                   \
   .offset = offsetof(options, training.set),                                                                          \
   .completes = COMPLETE_SETTING},                                                                                     \
      {"out",                                                                                                          \
       'o',                                                                                                            \
       OPTION_TEXT,                                                                                                    \
       "DIR",                                                                                                          \
       "Run directory (default: runs/NAME).",                                                                          \
       .offset = offsetof(options, training.out),                                                                      \
       .completes = COMPLETE_FOLDER},                                                                                  \
      {"workers",                                                                                                      \
       'w',                                                                                                            \
       OPTION_NUMBER,                                                                                                  \
       "N",                                                                                                            \
       "Worker processes (default: one a core); never changes the result.",                                            \
       .offset = offsetof(options, training.workers),                                                                  \
       .least = 1,                                                                                                     \
       .most = 4096},                                                                                                  \
      {"resume",                                                                                                       \
       'r',                                                                                                            \
       OPTION_FLAG,                                                                                                    \
       NULL,                                                                                                           \
       "Go on with the run in the directory.",                                                                         \
       .offset = offsetof(options, training.resume)},                                                                  \
      {"dry-run",                                                                                                      \
       'n',                                                                                                            \
       OPTION_FLAG,                                                                                                    \
       NULL,                                                                                                           \
       "Check everything, train nothing.",                                                                             \
       .offset = offsetof(options, training.dry_run)},                                                                 \
      {"json",                                                                                                         \
       'j',                                                                                                            \
       OPTION_FLAG,                                                                                                    \
       NULL,                                                                                                           \
       "Print the result as JSON (that of summary.json).",                                                             \
       .offset = offsetof(options, training.json)},                                                                    \
  {                                                                                                                    \
    "quiet", 'q', OPTION_FLAG, NULL, "No progress on stderr.", .offset = offsetof(options, training.quiet)             \
  }

#define TRAINING_NOTES "Exit codes: 0 done, 1 failed, 2 recipe or usage, 130 interrupted (go on with --resume)."

/* Load a recipe for this command ("run" or "fit"), refuse one for the other, and train. Returns the exit code. */
int train_recipe(tutti_context *context, const char *command, const char *recipe,
                 const struct training_options *options);

#endif
