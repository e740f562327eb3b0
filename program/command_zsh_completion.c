/* command_zsh_completion.c - tutti zsh-completion: docs/zsh-completion/_tutti, from the descriptions of the commands.
   */
#include "program_impl.h"

static const char *const actions[COMPLETION_COUNT] = {
    [COMPLETE_NOTHING] = " ",           [COMPLETE_FILE] = "_files",
    [COMPLETE_FOLDER] = "_files -/",    [COMPLETE_RECIPE] = "_tutti_recipes",
    [COMPLETE_KIND] = "_tutti_kinds",   [COMPLETE_PLUGIN] = "_tutti_plugins",
    [COMPLETE_SPACE] = "_tutti_spaces", [COMPLETE_SETTING] = "_tutti_settings",
};

static const char head[] =
    "#compdef tutti\n"
    "# Generated from the program's commands by `make reference`. Plugins are asked of the program, so that they are "
    "those\n"
    "# that it finds.\n"
    "\n"
    "_tutti_ask() { $_tutti_program \"$@\" 2> /dev/null < /dev/null } # the program on the line\n"
    "_tutti_names() { # KIND/NAME of every plugin\n"
    "  _tutti_ask list --json | awk -F'\"' '\n"
    "    $2 == \"kind\" { kind = $4 } $2 == \"name\" { name = $4 }\n"
    "    /}/ { if (kind != \"\" && name != \"\") print kind \"/\" name; kind = name = \"\" }'\n"
    "}\n"
    "_tutti_recipes() { # files, and those that are installed\n"
    "  _files -g \"*.ini\"\n"
    "  compadd -- ${(f)\"$(_tutti_ask list recipes --json | awk -F'\"' '$2 == \"name\" { print $4 }')\"}\n"
    "}\n"
    "_tutti_plugins() { compadd -- ${(f)\"$(_tutti_names)\"} }\n"
    "_tutti_kinds() { compadd -- recipes ${(fu)\"$(_tutti_names | cut -d/ -f1)\"} }\n"
    "_tutti_spaces() { compadd -- ${(f)\"$(_tutti_names | sed -n 's|^space/||p')\"} }\n"
    "_tutti_settings() { # keys of the recipe on the line; behind \"=\" their values\n"
    "  local -a found shown\n"
    "  found=(${(f)\"$(_tutti_ask settings \"$PREFIX\" \"${(@)words[1,CURRENT-1]}\")\"})\n"
    "  if compset -P 1 '*='; then\n"
    "    if [[ $found != *'=<file>' ]]; then\n"
    "      compadd -- ${found#*=}\n"
    "    elif [[ $PREFIX != '~'* ]]; then\n"
    "      _files\n"
    "    fi\n"
    "  else\n"
    "    shown=(\"${(@)found/$'\\t'/ -- }\")\n"
    "    compadd -S '' -l -d shown -- ${found%%$'\\t'*}\n"
    "  fi\n"
    "}\n"
    "\n"
    "_tutti() {\n"
    "  local curcontext=\"$curcontext\" state line _tutti_program=${~${(Q)words[1]}}\n"
    "  local -a commands=(\n";

static const char between[] =
    "  )\n"
    "  typeset -A opt_args\n"
    "  _arguments -C '(- *)--help[list the commands]' '(- *)--version[say which version it is]' \\\n"
    "    '1:command:->command' '*::argument:->argument' && return\n"
    "  case $state in\n"
    "    command) _describe command commands ;;\n"
    "    argument)\n"
    "      case $words[1] in\n"
    "        help) _describe command commands ;;\n";

static const char tail[] = "      esac\n"
                           "      ;;\n"
                           "  esac\n"
                           "}\n"
                           "\n"
                           "_tutti \"$@\"\n";

/* Text inside single quotes, where brackets and colons would be read; the first sentence is enough. */
static void print_quoted(const char *text, bool first_sentence) {
  for (; *text; text++) {
    if (first_sentence && *text == '.' && (text[1] == ' ' || text[1] == '\0'))
      return;
    if (*text == '\'')
      (void)fputs("'\\''", stdout);
    else if (*text == '[' || *text == ']' || *text == ':')
      (void)printf("\\%c", *text);
    else
      (void)putchar(*text);
  }
}

static void print_names(void) {
  for (size_t i = 0; commands[i]; i++) {
    if (commands[i]->internal)
      continue;
    (void)printf("    '%s:", commands[i]->name);
    print_quoted(commands[i]->summary, false);
    (void)printf("'\n");
    if (commands[i]->alias)
      (void)printf("    '%s:the same as %s'\n", commands[i]->alias, commands[i]->name);
  }
}

static bool repeats(const struct command_option *option) { return option->type == OPTION_TEXTS; }

static void print_option(const struct command_option *option) {
  const char *any = repeats(option) ? "\\*" : "";
  (void)printf(" \\\n            ");
  if (!repeats(option))
    (void)printf("'(-%c --%s)'", option->letter, option->name);
  (void)printf("{%s-%c%s,%s--%s%s}'[", any, option->letter, option->argument ? "+" : "", any, option->name,
               option->argument ? "=" : "");
  print_quoted(option->text, true);
  (void)printf("]");
  if (option->argument) {
    (void)printf(":");
    print_quoted(option->argument, false);
    (void)printf(":%s", actions[option->completes]);
  }
  (void)printf("'");
}

static void print_options(const struct command_option *options) {
  for (const struct command_option *option = options; option && option->name; option++)
    print_option(option);
}

static void print_case(const struct command *command) {
  const struct operands *operands = &command->operands;
  (void)printf("        %s%s%s)\n          _arguments -s", command->name, command->alias ? "|" : "",
               command->alias ? command->alias : "");
  print_options(command->options);
  print_options(common_options);
  (void)printf(" \\\n            '(- *)'{-\\?,--help}'[list the options]'");
  if (operands->most > 0)
    (void)printf(" \\\n            '1:argument:%s'", actions[operands->completes[0]]);
  if (operands->most > 1)
    (void)printf(" \\\n            '*:argument:%s'", actions[operands->completes[1]]);
  (void)printf("\n          ;;\n");
}

static int run_zsh_completion(tutti_context *context, const struct texts *operands, const void *options) {
  (void)context;
  (void)operands;
  (void)options;
  (void)fputs(head, stdout);
  print_names();
  (void)fputs(between, stdout);
  for (size_t i = 0; commands[i]; i++)
    if (!commands[i]->internal)
      print_case(commands[i]);
  (void)fputs(tail, stdout);
  return finish_output();
}

const struct command command_zsh_completion = {
    .name = "zsh-completion",
    .summary = "the completion for zsh",
    .about = "Print the zsh completion, for make reference.",
    .operands = {.synopsis = ""},
    .run = run_zsh_completion,
    .internal = true,
};
