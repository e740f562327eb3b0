/* arguments.c - parses the command line of a command with argp, according to the command's description. */
#include "program_impl.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { KEY_HELP = 'h', KEY_PARENT = 0x100 };

const struct command_option common_options[] = {{"verbose", 'v', OPTION_FLAG, NULL,
                                                 "Say more on stderr: where errors come from, and debugging messages.",
                                                 .offset = 0},
                                                {0}};

/* State while a command line is parsed. */
struct parsing {
  const struct command *command;
  struct texts *operands;
  char *options;
};

/* --- values ------------------------------------------------------------------------------------------------------ */

static long parse_number(const struct argp_state *state, const struct command_option *option, const char *value) {
  char *end;
  errno = 0;
  long number = strtol(value, &end, 10);
  if (*end || end == value || errno || number < option->least || number > option->most)
    argp_error(state, "--%s: expected a number from %ld to %ld, found '%s'", option->name, option->least, option->most,
               value);
  return number;
}

/* "1,5,10", ascending or not. */
static void parse_numbers(const struct argp_state *state, const struct command_option *option, const char *value,
                          struct numbers *numbers) {
  while (*value) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *value == '-' || errno || number == 0 || (*end && *end != ','))
      argp_error(state, "--%s: expected positive numbers separated by commas, as in 25,50,100; found '%s'",
                 option->name, value);
    if (numbers->count == MOST_NUMBERS)
      argp_error(state, "--%s: expected at most %d numbers", option->name, MOST_NUMBERS);
    numbers->items[numbers->count++] = number;
    value = *end ? end + 1 : end;
  }
}

static void add_text(const struct argp_state *state, const struct command_option *option, struct texts *texts,
                     const char *text) {
  if (texts->count == MOST_TEXTS)
    argp_error(state, "too many --%s: expected at most %d", option->name, MOST_TEXTS);
  texts->items[texts->count++] = text;
}

/* Splits the value at its commas, in place. */
static void add_parts(const struct argp_state *state, const struct command_option *option, struct texts *texts,
                      char *value) {
  const size_t length = strlen(value);
  char *part;
  if (length == 0 || value[0] == ',' || value[length - 1] == ',' || strstr(value, ",,"))
    argp_error(state, "--%s: expected %s, found an empty part in '%s'", option->name, option->argument, value);
  while ((part = strsep(&value, ",")))
    add_text(state, option, texts, part);
}

static void take_option(const struct argp_state *state, const struct command_option *option, char *value, void *field) {
  switch (option->type) {
  case OPTION_FLAG:
    *(bool *)field = true;
    break;
  case OPTION_TEXT:
    if (!*value)
      argp_error(state, "--%s: expected %s, found nothing", option->name, option->argument);
    *(const char **)field = value;
    break;
  case OPTION_TEXTS:
    add_text(state, option, field, value);
    break;
  case OPTION_PARTS:
    add_parts(state, option, field, value);
    break;
  case OPTION_NUMBER:
    *(long *)field = parse_number(state, option, value);
    break;
  case OPTION_NUMBERS:
    parse_numbers(state, option, value, field);
    break;
  }
}

/* --- operands ---------------------------------------------------------------------------------------------------- */

/* "'a', 'b' and 'c'", shortened if it is too long. */
static void quote_all(const struct texts *texts, const char *last, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < texts->count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? ", '%s'" : "'%s'", texts->items[i]);
  if (used < size)
    (void)snprintf(text + used, size - used, texts->count ? " and '%s'" : "'%s'", last);
}

static void take_operand(const struct argp_state *state, struct parsing *parsing, const char *value) {
  const struct operands *wanted = &parsing->command->operands;
  char found[512];
  if (parsing->operands->count < wanted->most) {
    parsing->operands->items[parsing->operands->count++] = value;
    return;
  }
  if (wanted->hint)
    argp_error(state, "expected at most %zu %s: %s", wanted->most, tutti_plural(wanted->most, "argument", "arguments"),
               wanted->hint);
  quote_all(parsing->operands, value, found, sizeof found);
  if (wanted->most == 0)
    argp_error(state, "expected options alone, found %s", found);
  bool one = wanted->most == 1 && strncmp(wanted->wanted, "a ", 2) == 0;
  argp_error(state, "expected %s%s, found %s", one ? "one " : "", wanted->wanted + (one ? 2 : 0), found);
}

static void check_operands(const struct argp_state *state, const struct parsing *parsing) {
  const struct operands *wanted = &parsing->command->operands;
  if (parsing->operands->count < wanted->least && wanted->example)
    argp_error(state, "expected %s, as in: %s %s", wanted->wanted, state->name, wanted->example);
  else if (parsing->operands->count < wanted->least)
    argp_error(state, "expected %s", wanted->wanted);
  const char *wrong = parsing->command->check ? parsing->command->check(parsing->operands, parsing->options) : NULL;
  if (wrong)
    argp_error(state, "%s", wrong);
}

/* --- the command line -------------------------------------------------------------------------------------------- */

/* Arrange to end when the process that started this one ends, however it ends; end at once if it has already ended. */
static void die_with(const char *parent) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (strtol(parent, NULL, 10) != (long)getppid())
    _exit(EXIT_INTERRUPTED);
}

static error_t parse_key(int key, char *value, struct argp_state *state) {
  struct parsing *parsing = state->input;
  switch (key) {
  case 'v':
    return be_verbose() ? 0 : ENOMEM;
  case KEY_HELP:
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
  case KEY_PARENT:
    die_with(value);
    return 0;
  case ARGP_KEY_ARG:
    take_operand(state, parsing, value);
    return 0;
  case ARGP_KEY_END:
    check_operands(state, parsing);
    return 0;
  default:
    break;
  }
  for (const struct command_option *option = parsing->command->options; option && option->name; option++)
    if (option->letter == key) {
      take_option(state, option, value, parsing->options + option->offset);
      return 0;
    }
  return ARGP_ERR_UNKNOWN;
}

static struct argp_option describe_option(const struct command_option *option, int group) {
  return (struct argp_option){option->name, option->letter, option->argument, 0, option->text, group};
}

static size_t count_options(const struct command_option *options) {
  size_t count = 0;
  while (options && options[count].name)
    count++;
  return count;
}

/* The command's options, and those of every command behind them. The caller frees; NULL without memory. */
static struct argp_option *describe_options(const struct command *command) {
  size_t own = count_options(command->options), common = count_options(common_options), count = 0;
  struct argp_option *options = calloc(own + common + 3, sizeof *options);
  if (!options)
    return NULL;
  for (size_t i = 0; i < own; i++)
    options[count++] = describe_option(&command->options[i], 0);
  for (size_t i = 0; i < common; i++)
    options[count++] = describe_option(&common_options[i], -1);
  options[count++] = (struct argp_option){"h", KEY_HELP, NULL, OPTION_HIDDEN, NULL, -1};
  options[count] = (struct argp_option){"parent", KEY_PARENT, "PID", OPTION_HIDDEN, NULL, -1};
  return options;
}

static void preset(const struct command *command, char *fields) {
  for (const struct command_option *option = command->options; option && option->name; option++)
    if (option->type == OPTION_NUMBER)
      *(long *)(void *)(fields + option->offset) = option->preset;
}

/* The words of an internal command are operands, even those that begin with a dash. */
static char **without_options(int argc, char **argv) {
  char **words = calloc((size_t)argc + 2, sizeof *words);
  if (!words)
    return NULL;
  words[0] = argv[0];
  words[1] = "--";
  memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
  return words;
}

/* The text that --help prints before the options and, after \v, behind them. */
static bool print_about(const struct command *command, char **text) {
  int length = asprintf(text, "%s%s%s%s%s%s", command->about, command->alias ? " Also called tutti " : "",
                        command->alias ? command->alias : "", command->alias ? "." : "", command->notes ? "\v" : "",
                        command->notes ? command->notes : "");
  if (length < 0)
    *text = NULL;
  return length >= 0;
}

/* argp fills lines of 79 characters whatever the terminal; where that is narrower, its own variable says so. */
static void fit_help(size_t width) {
  enum { USUAL_WIDTH = 80, USUAL_COLUMN = 29 };
  char format[64];
  if (width == 0 || width >= USUAL_WIDTH)
    return;
  (void)snprintf(format, sizeof format, "rmargin=%zu,opt-doc-col=%zu", width - 1,
                 width / 2 < USUAL_COLUMN ? width / 2 : (size_t)USUAL_COLUMN);
  (void)setenv("ARGP_HELP_FMT", format, 0);
}

bool parse_arguments(const struct command *command, int argc, char **argv, struct texts *operands, void *options) {
  struct parsing parsing = {command, operands, options};
  struct argp_option *described = describe_options(command);
  char **words = command->internal ? without_options(argc, argv) : argv, *text = NULL;
  error_t error = described && words && print_about(command, &text) ? 0 : ENOMEM;
  if (!error) {
    preset(command, options);
    const struct argp argp = {described, parse_key, command->operands.synopsis, text, NULL, NULL, NULL};
    argp_err_exit_status = EXIT_USAGE;
    fit_help(line_width(stdout));
    error = argp_parse(&argp, command->internal ? argc + 1 : argc, words, 0, NULL, &parsing);
  }
  free(text);
  free(described);
  if (words != argv)
    free(words);
  return error == 0;
}
