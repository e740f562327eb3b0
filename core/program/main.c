/* main.c - the tutti program: finds the subcommand and runs it. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command commands[] = {
    {"run", "RECIPE", "search, select and evaluate, as a recipe says", command_run, false},
    {"validate", "RECIPE", "check a recipe and its data without training", command_validate, false},
    {"list", "[KIND]", "the plugins that there are", command_list, false},
    {"inspect", "KIND/NAME", "a plugin and its parameters", command_inspect, false},
    {"status", "RUN", "where a run stands", command_status, false},
    {"select", "RUN", "choose another ensemble from a finished pool", command_select, false},
    {"evaluate", "RUN", "metrics of an ensemble on every split", command_evaluate, false},
    {"predict", "RUN FILE", "predict the rows of a file, with uncertainty", command_predict, false},
    {"doctor", "", "what this machine has, and what does not work", command_doctor, false},
    {"worker", "RUN", "train what a manager asks for", command_worker, true},
    {"scan-plugin", "FILE", "load a plugin and say what it is", command_scan_plugin, true},
    {NULL, NULL, NULL, NULL, false},
};

int fail(tutti_context *context, enum tutti_status status) {
  const char *trace = getenv("TUTTI_TRACE");
  (void)fprintf(stderr, "tutti: %s\n", tutti_error_message(context));
  if (trace && *trace && strcmp(trace, "0") != 0)
    (void)fputs(tutti_error_trace_text(context), stderr);
  switch (status) {
  case TUTTI_ERROR_CANCELLED:
    return EXIT_INTERRUPTED;
  case TUTTI_ERROR_USAGE:
  case TUTTI_ERROR_PLUGIN:
  case TUTTI_ERROR_UNSUPPORTED:
  case TUTTI_ERROR_BUSY:
    return EXIT_USAGE;
  default:
    return EXIT_FAILED;
  }
}

bool parse_arguments(const struct argp *argp, int argc, char **argv, void *input, int *code) {
  argp_err_exit_status = EXIT_USAGE;
  *code = EXIT_USAGE;
  return argp_parse(argp, argc, argv, 0, NULL, input) == 0;
}

const char *program_path(char *buffer, size_t size) {
  ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
  if (length < 0)
    return "tutti";
  buffer[length] = '\0';
  return buffer;
}

bool texts_add(struct texts *texts, const char *text) {
  if (texts->count == sizeof texts->items / sizeof texts->items[0])
    return false;
  texts->items[texts->count++] = text;
  return true;
}

int finish_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return EXIT_DONE;
  perror("tutti: cannot write the result");
  return EXIT_FAILED;
}

enum tutti_status read_json(tutti_context *context, const char *path, char **text) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  char *dumped = root ? json_dumps(root, JSON_REAL_PRECISION(17)) : NULL;
  enum tutti_status status =
      dumped ? tutti_strdup(context, dumped, text)
             : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected the JSON of an ensemble: %s", path, error.text);
  free(dumped);
  json_decref(root);
  return status;
}

bool is_terminal(FILE *file) { return isatty(fileno(file)) != 0; }

static void log_to_stderr(void *argument, enum tutti_log_level level, const char *message) {
  static const char *const names[] = {"debug", "info", "warning", "error"};
  if (level >= TUTTI_LOG_WARNING)
    (void)fprintf(stderr, "%stutti: %s: %s\n", is_terminal(stderr) ? "\r\033[K" : "", names[level], message);
}

static void usage(FILE *out) {
  (void)fputs("Usage: tutti COMMAND [ARGUMENT...]\n\nTutti builds ensembles of neural networks: it searches, trains, chooses, and says "
              "how sure it is.\n\n",
              out);
  for (const struct command *command = commands; command->name; command++)
    if (!command->hidden)
      (void)fprintf(out, "  %-9s %-10s %s\n", command->name, command->arguments, command->summary);
  (void)fputs("\ntutti COMMAND --help says more. Begin with: tutti run ini/quickstart.ini\n", out);
}

static int unknown_command(const char *name) {
  const char *names[sizeof commands / sizeof commands[0]];
  size_t count = 0;
  for (const struct command *command = commands; command->name; command++)
    if (!command->hidden)
      names[count++] = command->name;
  const char *closest = tutti_closest_name(name, count, names);
  (void)fprintf(stderr, "tutti: there is no command '%s'%s%s%s; tutti --help lists them\n", name,
                closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'" : "");
  return EXIT_USAGE;
}

static int run_command(const struct command *command, int argc, char **argv) {
  tutti_context *context;
  char name[64];
  if (tutti_context_create(&context) != TUTTI_OK) {
    (void)fputs("tutti: out of memory\n", stderr);
    return EXIT_FAILED;
  }
  tutti_log_to(context, log_to_stderr, NULL);
  (void)snprintf(name, sizeof name, "tutti %s", command->name);
  argv[0] = name;
  int code = command->run(context, argc, argv);
  tutti_context_destroy(context);
  return code;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    usage(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    usage(stdout);
    return finish_output();
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    (void)printf("tutti %s, plugin ABI %d.%d\n", PACKAGE_VERSION, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
    return finish_output();
  }
  for (const struct command *command = commands; command->name; command++)
    if (strcmp(command->name, argv[1]) == 0)
      return run_command(command, argc - 1, argv + 1);
  return unknown_command(argv[1]);
}
