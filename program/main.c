/* main.c - the tutti program: finds the command and runs it. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/cpu.h>
#include <tutti/version.h>

static void log_to_stderr(void *argument, enum tutti_log_level level, const char *message) {
  static const char *const names[] = {"debug", "info", "warning", "error"};
  (void)argument;
  if (level < (is_verbose() ? TUTTI_LOG_DEBUG : TUTTI_LOG_WARNING))
    return;
  (void)fputs(is_terminal(stderr) ? "\r\033[K" : "", stderr);
  print_harmless(stderr, "tutti: %s: %s\n", names[level], message);
}

static void print_usage(FILE *out) {
  int names = 0, synopses = 0;
  struct plain_output usage;
  if (!begin_plain(&usage))
    return;
  for (size_t i = 0; commands[i]; i++) {
    int name = (int)strlen(commands[i]->name), synopsis = (int)strlen(commands[i]->operands.synopsis);
    if (commands[i]->internal)
      continue;
    names = name > names ? name : names;
    synopses = synopsis > synopses ? synopsis : synopses;
  }
  (void)fputs(
      "Usage: tutti COMMAND [ARGUMENT...]\n\nTutti builds ensembles of neural networks: it searches, trains, chooses, "
      "and says how sure it is.\n\n",
      usage.stream);
  for (size_t i = 0; commands[i]; i++)
    if (!commands[i]->internal)
      (void)fprintf(usage.stream, "  %-*s %-*s  %s\n", names, commands[i]->name, synopses,
                    commands[i]->operands.synopsis, commands[i]->summary);
  (void)fputs("\ntutti COMMAND --help says more. Begin with: tutti run quickstart\n", usage.stream);
  end_plain(&usage, out);
}

static int unknown_command(const char *name) {
  const char *names[64];
  size_t count = 0;
  for (size_t i = 0; commands[i] && count < sizeof names / sizeof names[0]; i++)
    if (!commands[i]->internal)
      names[count++] = commands[i]->name;
  const char *closest = tutti_closest_name(name, count, names);
  print_harmless(stderr, "tutti: there is no command '%s'%s%s%s tutti --help lists them\n", name,
                 closest ? "; did you mean '" : ";", closest ? closest : "", closest ? "'?" : "");
  return EXIT_USAGE;
}

/* Parse the words after the command's name, and run it. */
static int run_command(tutti_context *context, const struct command *command, int argc, char **argv) {
  struct texts operands = {0};
  char name[64];
  void *options;
  if (tutti_alloc(context, 1, command->size ? command->size : 1, &options) != TUTTI_OK)
    return fail(context, TUTTI_ERROR_MEMORY);
  (void)snprintf(name, sizeof name, "tutti %s", command->name);
  argv[0] = name;
  bool parsed = parse_arguments(command, argc, argv, &operands, options);
  if (!parsed)
    (void)fputs("tutti: out of memory\n", stderr);
  if (!command->internal) {
    catch_interrupts(context);
    guard_plugins(context);
    hold_output();
  }
  int code = parsed ? command->run(context, &operands, options) : EXIT_FAILED;
  stop_guarding(code);
  tutti_free(options);
  return code;
}

static int with_context(const struct command *command, int argc, char **argv) {
  char program[4096];
  tutti_context *context;
  if (tutti_context_create(&context) != TUTTI_OK) {
    (void)fputs("tutti: out of memory\n", stderr);
    return EXIT_FAILED;
  }
  tutti_log_to(context, log_to_stderr, NULL);
  enum tutti_status status = tutti_plugin_scan_with(context, program_path(program, sizeof program));
  int code = status == TUTTI_OK ? run_command(context, command, argc, argv) : fail(context, status);
  tutti_context_destroy(context);
  return code;
}

/* tutti help COMMAND does the same as tutti COMMAND --help. */
static int help_with(char *name) {
  char *words[] = {name, (char[]){"--help"}, NULL};
  const struct command *command = find_command(name);
  return command && !command->internal ? with_context(command, 2, words) : unknown_command(name);
}

/* OpenBLAS, which plugins load, reads this then. It does not recognise every processor, so the kernels are set: a model
   predicts with those that its run had. It gets one thread: the cores belong to the workers, another number would give
   other bits, and each more takes 128 MiB and waits for them for ever where a limit (ulimit -v, -d) denies them. */
static void choose_blas(void) {
  const char *coretype = tutti_cpu_blas_coretype();
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (coretype)
    (void)setenv("OPENBLAS_CORETYPE", coretype, 0);
}

int main(int argc, char **argv) {
  survive_full_disks();
  choose_blas();
  if (!commands_are_complete())
    return EXIT_FAILED;
  if (argc < 2) {
    print_usage(stderr);
    return EXIT_USAGE;
  }
  const char *first = argv[1];
  bool help = strcmp(first, "help") == 0;
  if (help && argc > 2)
    return help_with(argv[2]);
  if (help || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
    print_usage(stdout);
    return finish_output();
  }
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    (void)printf("tutti %s (%s), plugin ABI %d.%d\n", tutti_version(), tutti_build_id(), TUTTI_ABI_MAJOR,
                 TUTTI_ABI_MINOR);
    return finish_output();
  }
  const struct command *command = find_command(first);
  return command ? with_context(command, argc - 1, argv + 1) : unknown_command(first);
}
