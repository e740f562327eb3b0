/* command_bash_completion.c - tutti bash-completion: docs/bash-completion/tutti, from the descriptions of the
   commands. */
#include "program_impl.h"

static const char *const completion_names[COMPLETION_COUNT] = {
    [COMPLETE_NOTHING] = "nothing", [COMPLETE_FILE] = "file",       [COMPLETE_FOLDER] = "folder",
    [COMPLETE_RECIPE] = "recipe",   [COMPLETE_KIND] = "kind",       [COMPLETE_PLUGIN] = "plugin",
    [COMPLETE_SPACE] = "space",     [COMPLETE_SETTING] = "setting",
};

static const char head[] = "# bash completion for tutti -*- shell-script -*-\n"
                           "# Generated from the program's commands by `make reference`. Plugins are asked of the "
                           "program, so that they are those\n"
                           "# that it finds.\n"
                           "\n";

static const char asking[] =
    "_tutti_plugins() { # KIND/NAME of every plugin\n"
    "  \"$1\" list --json 2> /dev/null | awk -F'\"' '\n"
    "    $2 == \"kind\" { kind = $4 } $2 == \"name\" { name = $4 }\n"
    "    /}/ { if (kind != \"\" && name != \"\") print kind \"/\" name; kind = name = \"\" }'\n"
    "}\n"
    "\n"
    "_tutti_begun() { # TYPED: the lines that begin so, as they are: compgen -W would expand them\n"
    "  local line\n"
    "  while read -r line; do\n"
    "    [[ $line != \"$1\"* ]] || printf '%s\\n' \"$line\"\n"
    "  done\n"
    "}\n"
    "\n"
    "_tutti_recipes() { # those that are installed\n"
    "  \"$1\" list recipes --json 2> /dev/null | awk -F'\"' '$2 == \"name\" { print $4 }'\n"
    "}\n"
    "\n"
    "_tutti_settings() { # PROGRAM TYPED: keys of the recipe on the line; behind \"=\" their values\n"
    "  local line\n"
    "  while IFS=$'\\t' read -r line _; do\n"
    "    case $line in\n"
    "      *'=<file>') [[ ${2#*=} == '~'* ]] || compgen -P \"${2%%=*}=\" -f -- \"${2#*=}\" ;;\n"
    "      \"$2\"*) printf '%s\\n' \"$line\" ;;\n"
    "    esac\n"
    "  done < <(\"$1\" settings \"$2\" \"${words[@]:1:${#words[@]}-2}\" 2> /dev/null < /dev/null)\n"
    "}\n"
    "\n"
    "_tutti_complete() { # WHAT WORD PROGRAM\n"
    "  case $1 in\n"
    "    file) compgen -f -- \"$2\" ;;\n"
    "    folder) compgen -d -- \"$2\" ;;\n"
    "    recipe)\n"
    "      compgen -f -X '!*.ini' -- \"$2\"\n"
    "      compgen -d -- \"$2\"\n"
    "      _tutti_recipes \"$3\" | _tutti_begun \"$2\"\n"
    "      ;;\n"
    "    kind) { echo recipes && _tutti_plugins \"$3\" | cut -d/ -f1 | sort -u; } | _tutti_begun \"$2\" ;;\n"
    "    plugin) _tutti_plugins \"$3\" | _tutti_begun \"$2\" ;;\n"
    "    setting) _tutti_settings \"$3\" \"$2\" ;;\n"
    "    space) _tutti_plugins \"$3\" | sed -n 's|^space/||p' | _tutti_begun \"$2\" ;;\n"
    "  esac\n"
    "}\n"
    "\n"
    "# What a command takes: its options; those with a value, and what that completes to; what its arguments complete "
    "to, the\n"
    "# first and those that follow.\n"
    "_tutti_describe() { # COMMAND\n"
    "  options='' operands=(file file)\n"
    "  values=()\n"
    "  case $1 in\n";

static const char tail[] =
    "  esac\n"
    "}\n"
    "\n"
    "# The words up to the cursor, in `words`: bash parts them at \"=\".\n"
    "_tutti_join() {\n"
    "  local i word\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    word=${COMP_WORDS[i]}\n"
    "    ((i < COMP_CWORD)) || word=${word#[\\\"\\']}\n"
    "    if [[ $i -gt 0 && ($word == = || (${COMP_WORDS[i - 1]} == = && -n $word && ${COMP_LINE-=${COMP_WORDS[i]}} == "
    "*\"=${COMP_WORDS[i]}\"*)) ]]; then\n"
    "      words[${#words[@]} - 1]+=$word\n"
    "    else\n"
    "      words+=(\"$word\")\n"
    "    fi\n"
    "  done\n"
    "}\n"
    "\n"
    "# How many arguments stand before the word that is completed.\n"
    "_tutti_operands_before() {\n"
    "  local i count=0\n"
    "  for ((i = 2; i < ${#words[@]} - 1; i++)); do\n"
    "    case ${words[i]} in\n"
    "      -*=*) ;;\n"
    "      -*) [[ -n ${values[${words[i]}]-} ]] && i=$((i + 1)) ;;\n"
    "      *) count=$((count + 1)) ;;\n"
    "    esac\n"
    "  done\n"
    "  echo \"$count\"\n"
    "}\n"
    "\n"
    "_tutti() {\n"
    "  local program=$1 typed before option='' part='' what='' options i\n"
    "  local -a operands words=()\n"
    "  local -A values\n"
    "  COMPREPLY=()\n"
    "  _tutti_join\n"
    "  program=${program/#\\~\\//$HOME/}\n"
    "  program=${program//[\\\"\\']/}\n"
    "  typed=${words[-1]}\n"
    "  before=${typed%\"$2\"} # what bash does not replace\n"
    "  if [ ${#words[@]} -eq 2 ]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_tutti_commands help --help --version\" -- \"$typed\")\n"
    "    return\n"
    "  fi\n"
    "  if [ \"${words[1]}\" = help ]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_tutti_commands\" -- \"$typed\")\n"
    "    return\n"
    "  fi\n"
    "  _tutti_describe \"${words[1]}\"\n"
    "  option=${words[-2]}\n"
    "  if [[ $typed == -*=* ]]; then\n"
    "    option=${typed%%=*} part=${typed%%=*}=\n"
    "    typed=${typed#*=}\n"
    "  fi\n"
    "  [ -z \"$option\" ] || what=${values[$option]-}\n"
    "  if [ -z \"$what\" ]; then\n"
    "    [ -z \"$part\" ] || return\n"
    "    if [[ $typed == -* ]]; then\n"
    "      mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$typed\")\n"
    "      return\n"
    "    fi\n"
    "    what=${operands[$(($(_tutti_operands_before) > 0))]}\n"
    "  fi\n"
    "  mapfile -t COMPREPLY < <(_tutti_complete \"$what\" \"$typed\" \"$program\")\n"
    "  for i in \"${!COMPREPLY[@]}\"; do\n"
    "    COMPREPLY[i]=$part${COMPREPLY[i]}\n"
    "    COMPREPLY[i]=${COMPREPLY[i]#\"$before\"}\n"
    "  done\n"
    "  if [[ ${COMPREPLY[0]-} == *= ]]; then # its value follows at once\n"
    "    compopt +o filenames -o nospace 2> /dev/null\n"
    "  fi\n"
    "}\n"
    "complete -o filenames -o bashdefault -F _tutti tutti\n";

static void print_names(void) {
  (void)printf("_tutti_commands='");
  for (size_t i = 0, printed = 0; commands[i]; i++) {
    if (commands[i]->internal)
      continue;
    (void)printf(printed++ ? " %s" : "%s", commands[i]->name);
    if (commands[i]->alias)
      (void)printf(" %s", commands[i]->alias);
  }
  (void)printf("'\n\n");
}

static void print_options(const struct command_option *options) {
  for (const struct command_option *option = options; option && option->name; option++)
    (void)printf("--%s ", option->name);
}

static void print_values(const struct command_option *options) {
  bool first = true;
  for (const struct command_option *option = options; option && option->name; option++) {
    const char *what = completion_names[option->completes];
    if (!option->argument)
      continue;
    (void)printf("%s[-%c]=%s [--%s]=%s", first ? "      values=(" : " ", option->letter, what, option->name, what);
    first = false;
  }
  if (!first)
    (void)printf(")\n");
}

static void print_case(const struct command *command) {
  (void)printf("    %s%s%s)\n", command->name, command->alias ? " | " : "", command->alias ? command->alias : "");
  (void)printf("      options='");
  print_options(command->options);
  print_options(common_options);
  (void)printf("--help --usage'\n");
  print_values(command->options);
  (void)printf("      operands=(%s %s)\n      ;;\n", completion_names[command->operands.completes[0]],
               completion_names[command->operands.completes[1]]);
}

static int run_bash_completion(tutti_context *context, const struct texts *operands, const void *options) {
  (void)context;
  (void)operands;
  (void)options;
  (void)fputs(head, stdout);
  print_names();
  (void)fputs(asking, stdout);
  for (size_t i = 0; commands[i]; i++)
    if (!commands[i]->internal)
      print_case(commands[i]);
  (void)fputs(tail, stdout);
  return finish_output();
}

const struct command command_bash_completion = {
    .name = "bash-completion",
    .summary = "the completion for bash",
    .about = "Print the bash completion, for make reference.",
    .operands = {.synopsis = ""},
    .run = run_bash_completion,
    .internal = true,
};
