/* command_fish_completion.c - tutti fish-completion: docs/fish-completion/tutti.fish, from the descriptions of the
   commands. */
#include "program_impl.h"

/* What to offer: -F files, else the words of a function. */
static const char *const offers[COMPLETION_COUNT] = {
    [COMPLETE_NOTHING] = "",
    [COMPLETE_FILE] = " -F",
    [COMPLETE_FOLDER] = " -a '(__fish_complete_directories)'",
    [COMPLETE_RECIPE] = " -a '(__tutti_recipes)'",
    [COMPLETE_KIND] = " -a '(__tutti_kinds)'",
    [COMPLETE_PLUGIN] = " -a '(__tutti_plugins)'",
    [COMPLETE_SPACE] = " -a '(__tutti_spaces)'",
    [COMPLETE_SETTING] = " -a '(__tutti_settings)'",
};

static const char head[] =
    "# fish completion for tutti\n"
    "# Generated from the program's commands by `make reference`. Plugins are asked of the "
    "program, so that they are those\n"
    "# that it finds.\n"
    "\n"
    "function __tutti_ask # ARGUMENT...: what the program on the line says\n"
    "  set -l program (string replace -r '^~' $HOME -- (commandline -opc)[1])\n"
    "  type -q $program; and $program $argv 2> /dev/null < /dev/null\n"
    "end\n"
    "function __tutti_plugins # KIND/NAME of every plugin\n"
    "  __tutti_ask list --json | awk -F'\"' '\n"
    "    $2 == \"kind\" { kind = $4 } $2 == \"name\" { name = $4 }\n"
    "    /}/ { if (kind != \"\" && name != \"\") print kind \"/\" name; kind = name = \"\" }'\n"
    "end\n"
    "function __tutti_recipes # files, and those that are installed\n"
    "  __fish_complete_suffix .ini\n"
    "  __tutti_ask list recipes --json | awk -F'\"' '$2 == \"name\" { print $4 }'\n"
    "end\n"
    "function __tutti_kinds\n"
    "  echo recipes\n"
    "  __tutti_plugins | cut -d/ -f1 | sort -u\n"
    "end\n"
    "function __tutti_spaces\n"
    "  __tutti_plugins | sed -n 's|^space/||p'\n"
    "end\n"
    "function __tutti_settings # keys of the recipe on the line; behind \"=\" their values\n"
    "  set -l typed (commandline -ct | string replace -r '^-[^=]*=' '' | string replace -r '^[\"\\']' '')\n"
    "  set -l found (__tutti_ask settings \"$typed\" (commandline -opc)[2..-1])\n"
    "  if string match -q '*=<file>' -- $found\n"
    "    set -l key (string match -r '^[^=]*=' -- $typed)\n"
    "    set -l begun (string replace -- $key '' $typed)\n"
    "    for file in $begun*\n"
    "      test -d $file; and set file $file/\n"
    "      echo $key$file\n"
    "    end\n"
    "  else\n"
    "    printf '%s\\n' $found\n"
    "  end\n"
    "end\n"
    "function __tutti_no_command\n"
    "  test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "function __tutti_command # NAME...: is the command one of these?\n"
    "  set -l words (commandline -opc)\n"
    "  test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "end\n"
    "\n"
    "complete -c tutti -f\n"
    "complete -c tutti -n __tutti_no_command -l help -d 'List the commands'\n"
    "complete -c tutti -n __tutti_no_command -l version -d 'Say which version it is'\n";

/* Text in single quotes; the first sentence is enough. */
static void print_quoted(const char *text) {
  (void)putchar('\'');
  for (; *text && !(*text == '.' && (text[1] == ' ' || text[1] == '\0')); text++)
    (void)printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
  (void)putchar('\'');
}

static void print_name(const char *name, const char *summary) {
  (void)printf("complete -c tutti -n __tutti_no_command -a %s -d ", name);
  print_quoted(summary);
  (void)putchar('\n');
}

/* The beginning of a line for a command. */
static void print_when(const struct command *command) {
  (void)printf("complete -c tutti -n '__tutti_command %s%s%s'", command->name, command->alias ? " " : "",
               command->alias ? command->alias : "");
}

static void print_options(const struct command *command, const struct command_option *options) {
  for (const struct command_option *option = options; option && option->name; option++) {
    print_when(command);
    (void)printf(" -s %c -l %s%s%s -d ", option->letter, option->name,
                 !option->argument                    ? ""
                 : option->completes == COMPLETE_FILE ? " -r"
                                                      : " -x",
                 option->argument ? offers[option->completes] : "");
    print_quoted(option->text);
    (void)putchar('\n');
  }
}

static void print_command(const struct command *command) {
  print_name(command->name, command->summary);
  if (command->alias)
    print_name(command->alias, command->summary);
  if (command->operands.completes[0]) {
    print_when(command);
    (void)printf("%s\n", offers[command->operands.completes[0]]);
  }
  if (command->operands.completes[1] && command->operands.completes[1] != command->operands.completes[0]) {
    print_when(command);
    (void)printf("%s\n", offers[command->operands.completes[1]]);
  }
  print_options(command, command->options);
  print_options(command, common_options);
}

static int run_fish_completion(tutti_context *context, const struct texts *operands, const void *options) {
  (void)context;
  (void)operands;
  (void)options;
  (void)fputs(head, stdout);
  for (size_t i = 0; commands[i]; i++)
    if (!commands[i]->internal)
      print_command(commands[i]);
  return finish_output();
}

const struct command command_fish_completion = {
    .name = "fish-completion",
    .summary = "the completion for fish",
    .about = "Print the fish completion, for make reference.",
    .operands = {.synopsis = ""},
    .run = run_fish_completion,
    .internal = true,
};
