/* main.c - the tutti program: finds the subcommand and runs it. */
#include "program_impl.h"

#include <string.h>
#include <tutti/version.h>

const struct command commands[] = {
    {"run", "RECIPE", "search, select and evaluate, as a recipe says", command_run, false},
    {"validate", "RECIPE", "check a recipe and its data without training", command_validate, false},
    {"list", "[KIND]", "the plugins that there are", command_list, false},
    {"inspect", "KIND/NAME", "a plugin and its parameters", command_inspect, false},
    {"status", "RUN", "where a run stands", command_status, false},
    {"select", "RUN", "choose another ensemble from a finished pool", command_select, false},
    {"evaluate", "RUN", "metrics of an ensemble on every split", command_evaluate, false},
    {"curve", "RUN", "ensembles of fewer trials and other sizes", command_curve, false},
    {"predict", "RUN FILE", "predict the rows of a file, with uncertainty", command_predict, false},
    {"compare", "RUN...", "runs against each other, with ranks and tests", command_compare, false},
    {"ablate", "RECIPE...", "a whole matrix of runs: plugins or values swapped, seeds", command_ablate, false},
    {"distance", "GENOTYPE...", "how far apart genotypes are, as their space measures it", command_distance, false},
    {"doctor", "", "what this machine has, and what does not work", command_doctor, false},
    {"worker", "RUN", "train what a manager asks for", command_worker, true},
    {"scan-plugin", "FILE", "load a plugin and say what it is", command_scan_plugin, true},
    {NULL, NULL, NULL, NULL, false},
};

static void log_to_stderr(void *argument, enum tutti_log_level level, const char *message) {
  static const char *const names[] = {"debug", "info", "warning", "error"};
  (void)argument;
  if (level >= (is_verbose() ? TUTTI_LOG_DEBUG : TUTTI_LOG_WARNING))
    (void)fprintf(stderr, "%stutti: %s: %s\n", is_terminal(stderr) ? "\r\033[K" : "", names[level], message);
}

static void usage(FILE *out) {
  (void)fputs(
      "Usage: tutti COMMAND [ARGUMENT...]\n\nTutti builds ensembles of neural networks: it searches, trains, chooses, "
      "and says how sure it is.\n\n",
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
  (void)fprintf(stderr, "tutti: there is no command '%s'%s%s%s tutti --help lists them\n", name,
                closest ? "; did you mean '" : ";", closest ? closest : "", closest ? "'?" : "");
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
    (void)printf("tutti %s (%s), plugin ABI %d.%d\n", tutti_version(), tutti_build_id(), TUTTI_ABI_MAJOR,
                 TUTTI_ABI_MINOR);
    return finish_output();
  }
  for (const struct command *command = commands; command->name; command++)
    if (strcmp(command->name, argv[1]) == 0)
      return run_command(command, argc - 1, argv + 1);
  return unknown_command(argv[1]);
}
