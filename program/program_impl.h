/* program_impl.h - what the subcommands of tutti share. */
#ifndef TUTTI_PROGRAM_IMPL_H
#define TUTTI_PROGRAM_IMPL_H

#include "command.h"

#include <jansson.h>
#include <stdio.h>
#include <tutti/names.h>
#include <tutti/run.h>
#include <tutti/tutti.h>

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* Was --verbose given, to this program or to the one that started it? */
bool is_verbose(void);
/* Switch it on, also for workers and scans; false if memory runs out. */
bool be_verbose(void);
/* Print the context's error on stderr (with its trace if --verbose) and return the exit code of `status`. */
int fail(tutti_context *context, enum tutti_status status);
/* Let an interrupt, SIGTERM or SIGHUP raise the context's cancel flag; a second one ends the program. */
void catch_interrupts(tutti_context *context);
/* Let a write beyond the limit on file sizes fail like one on a full disk, here and in workers. */
void survive_full_disks(void);
/* Name the plugin if one ends this process, by a crash, abort() or exit(), or does not return within the recipe's
   run.plugin_timeout. Until stop_guarding. */
void guard_plugins(tutti_context *context);
/* A line, or none, that says then what to do. */
void guard_hint(const char *hint);
/* Safe in signal handlers. A plugin that is being loaded hears nothing of an interrupt, so end at once, and name it;
   one that works has some seconds to return. */
void guard_interrupted(void);
void stop_guarding(int code); /* the exit code from now on, whatever a plugin does at the end */
/* The path of this program, for workers and scans. */
const char *program_path(char *buffer, size_t size);

/* The text of a JSON file, after checking that it is JSON; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status read_json(tutti_context *context, const char *path, char **text);
/* Fields of a JSON object. Of one that it does not have: "-", NaN and 0. */
const char *text_of(const json_t *object, const char *key);
double number_of(const json_t *object, const char *key);
long long count_of(const json_t *object, const char *key);
/* The metric of that name in an array of metrics; NULL if there is none. */
const json_t *metric_of(const json_t *metrics, const char *name);
/* Print a tree as JSON with all digits. */
void print_json(const json_t *root);
/* Print a text that may have come from anybody: control characters other than line feeds and tabs become "?", so that
   they do not reach a terminal. */
void put_plain(const char *text, size_t length, FILE *out);
/* Columns of the terminal that it goes to; 0: it is none, or nobody knows. */
size_t line_width(FILE *out);
/* Columns that a table has room for: a text that is shown later goes to the standard output. SIZE_MAX: as many as it
   likes. */
size_t table_width(FILE *out);
/* Put a line without its end, broken between words where it is longer than `width` (wrap.c). */
void wrap_line(const char *line, size_t length, size_t width, void (*put)(const char *text, size_t length, FILE *out),
               FILE *out);
/* Put a text that begins at column `indent`, and goes on there in the lines below. */
void wrap_words(const char *text, size_t length, size_t indent, size_t width,
                void (*put)(const char *text, size_t length, FILE *out), FILE *out);
/* Characters of a text in UTF-8, and the bytes that so many of them take. */
size_t characters_of(const char *text);
size_t bytes_of(const char *text, size_t characters);
/* Print as put_plain does, with printf's format. */
void print_harmless(FILE *out, const char *format, ...) TUTTI_PRINTF(2, 3);
/* A stream whose text goes to `out` through put_plain when it ends. False, with a message, if there is no memory. */
struct plain_output {
  FILE *stream;
  char *text;
  size_t length;
};
bool begin_plain(struct plain_output *output);
void end_plain(struct plain_output *output, FILE *out);
/* End a table (table.h) on the standard output, so. */
struct table;
void print_table(struct table *table);
/* Print the JSON text of a result as it is, or through `show` for people. Returns the exit code. */
int print_result(const char *text, bool as_json, void (*show)(const json_t *root, const void *options, FILE *out),
                 const void *options);
/* The option --trust of commands that look at runs: a bool in the field `trust`, for tutti_trust_runs. */
#define TRUST_OPTION(options)                                                                                          \
  {                                                                                                                    \
    "trust", 'T', OPTION_FLAG, NULL,                                                                                   \
        "Load plugins from the folders that the run's recipe names, too (run.plugin_path): their code runs as yours.", \
        .offset = offsetof(options, trust)                                                                             \
  }
/* Open a run directory, let `work` make the JSON text of a result, and print it like print_result. */
int print_view(tutti_context *context, const char *directory, bool as_json,
               enum tutti_status (*work)(tutti_context *context, tutti_view *view, const void *options, char **text),
               void (*show)(const json_t *root, const void *options, FILE *out), const void *options);
/* The same for several run directories as one pool. */
int print_views(tutti_context *context, const struct texts *directories, bool as_json,
                enum tutti_status (*work)(tutti_context *context, tutti_view *view, const void *options, char **text),
                void (*show)(const json_t *root, const void *options, FILE *out), const void *options);
/* Check a recipe without training, as `tutti validate` does. Takes the recipe; returns the exit code. */
int check_recipe(tutti_context *context, tutti_recipe *recipe, bool as_json);
/* Results go to stdout, between begin_output and finish_output; before and after, what anything else prints there goes
   to stderr. hold_output begins that. */
void hold_output(void);
void begin_output(void);
/* Returns the exit code: a full disk is an error. */
int finish_output(void);
/* A file of results that appears whole or not at all: it is written beside its place, then renamed. If the target is
   not a plain file (a pipe, /dev/stdout), it is written directly. */
struct result_file {
  const char *path;
  char *temporary; /* NULL: written in place */
  FILE *stream;    /* NULL: it could not be opened, and the error was printed */
};
struct result_file begin_result(const char *path);
/* Returns the exit code; errors are printed on stderr. */
int end_result(struct result_file *file);
/* May the program use colours and redraw lines on stderr (or stdout)? */
bool is_terminal(FILE *file);

/* --- showing JSON results to people --- */

/* "12.000", "0.031420", "1.2000e-07": five significant digits; "-" where there is no number. */
const char *show_number(double value, char buffer[32]);
/* The columns of a table (tutti_run_profile), and warnings; nothing of images. */
void show_profile(const json_t *profile, FILE *out);
/* The result of a run, and parts of it (show_summary.c). */
void show_summary(const json_t *summary, FILE *out);
void show_data(const json_t *data, FILE *out);
void show_trials(const json_t *trials, FILE *out);
void show_best(const json_t *best, const char *loss, FILE *out);
void show_values(const json_t *values, const char *loss, FILE *out); /* of an ensemble without predictions */
void show_ensemble(const json_t *ensemble, FILE *out);
void show_pools(const json_t *pools, FILE *out); /* the runs of which a pool is made; NULL: it is one run */
/* The metrics of an evaluation, and the tables of each of its splits: reliability, classes (show_metrics.c). */
void show_evaluation(const json_t *evaluation, FILE *out);
void show_tables(const json_t *evaluation, FILE *out);
/* The rest of the summary of a fit (show_fit.c). */
void show_fit(const json_t *summary, FILE *out);
/* Where a run stands (show_status.c). */
void show_watched(const json_t *status, FILE *out); /* what of it changes while the run is at work */
void show_status(const json_t *status, size_t trials, FILE *out);
/* The state of an ablation, of tutti_ablation_status (show_ablation.c). */
void show_ablation(const json_t *status, FILE *out);
/* Print the text of tutti_compare as tables, for these metrics, or for the most important ones if none are given
   (show_comparison.c). False, with a message on stderr, for an unknown metric. */
bool show_comparison(const json_t *comparison, const struct texts *metrics, FILE *out);

#endif
