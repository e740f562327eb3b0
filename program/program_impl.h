/* program_impl.h - what the subcommands of tutti share. */
#ifndef TUTTI_PROGRAM_IMPL_H
#define TUTTI_PROGRAM_IMPL_H

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <tutti/run.h>
#include <tutti/tutti.h>

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* A subcommand: parses its own arguments (argv[0] is "tutti NAME") and returns an exit code. */
struct command {
  const char *name, *arguments, *summary;
  int (*run)(tutti_context *context, int argc, char **argv);
  bool hidden;
};
extern const struct command commands[];

int command_run(tutti_context *context, int argc, char **argv);
int command_validate(tutti_context *context, int argc, char **argv);
int command_list(tutti_context *context, int argc, char **argv);
int command_inspect(tutti_context *context, int argc, char **argv);
int command_status(tutti_context *context, int argc, char **argv);
int command_select(tutti_context *context, int argc, char **argv);
int command_evaluate(tutti_context *context, int argc, char **argv);
int command_curve(tutti_context *context, int argc, char **argv);
int command_predict(tutti_context *context, int argc, char **argv);
int command_compare(tutti_context *context, int argc, char **argv);
int command_ablate(tutti_context *context, int argc, char **argv);
int command_distance(tutti_context *context, int argc, char **argv);
int command_doctor(tutti_context *context, int argc, char **argv);
int command_worker(tutti_context *context, int argc, char **argv);
int command_scan_plugin(tutti_context *context, int argc, char **argv);

/* Is --verbose given? */
bool is_verbose(void);
/* Print the context's error on stderr (under --verbose with its trace) and give the exit code of `status`. */
int fail(tutti_context *context, enum tutti_status status);
/* Parse with argp, which ends the program on --help (0) and wrong usage (2). False, with *code set, when it cannot. */
bool parse_arguments(const struct argp *argp, int argc, char **argv, void *input, int *code);
/* The number from 1 to `most` that an option has; ends the program on anything else. */
long parse_count(const struct argp_state *state, const char *option, const char *value, long most);
/* Let an interrupt (or SIGTERM) raise the context's cancel flag; a second one ends the program. */
void catch_interrupts(tutti_context *context);
/* The path of this program, for workers and scans. */
const char *program_path(char *buffer, size_t size);

/* Texts collected from repeated options, as in --set a=b --set c=d. */
struct texts {
  size_t count;
  const char *items[256];
};
/* Add one; false when there are too many. */
bool texts_add(struct texts *texts, const char *text);

/* The text of a JSON file, checked to be JSON; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status read_json(tutti_context *context, const char *path, char **text);
/* Results go to stdout, which is checked at the end: a full disk is an error. */
int finish_output(void);
/* A file of results, which appears whole or not at all: written beside its place, then renamed. What is no plain file (a
   pipe, /dev/stdout) is written as it is. */
struct result_file {
  const char *path;
  char *temporary; /* NULL: written in place */
  FILE *stream;    /* NULL: it cannot be opened, and that was said */
};
struct result_file begin_result(const char *path);
/* The exit code; what went wrong is said on stderr. */
int end_result(struct result_file *file);
/* May stderr (or stdout) be coloured and drawn on? */
bool is_terminal(FILE *file);

/* --- showing JSON results to people (show.c) --- */

/* "12.000", "0.031420", "1.2000e-07": five significant digits; "-" where there is no number. */
const char *show_number(double value, char buffer[32]);
void show_summary(const json_t *summary, FILE *out);
void show_ensemble(const json_t *ensemble, FILE *out);
void show_evaluation(const json_t *evaluation, FILE *out);
void show_status(const json_t *status, size_t trials, FILE *out);
/* The text of tutti_compare as tables: of these metrics, or with none given of those that matter most (show_comparison.c).
   False, with a message on stderr, for a metric that there is not. */
bool show_comparison(const json_t *comparison, const struct texts *metrics, FILE *out);

#endif
