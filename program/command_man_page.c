/* command_man_page.c - tutti man-page: docs/tutti.1, from the descriptions of the commands. */
#include "program_impl.h"

#include <ctype.h>
#include <string.h>

static const char head[] =
    ".TH TUTTI 1\n"
    ".SH NAME\n"
    "tutti \\- build ensembles of neural networks\n"
    ".SH SYNOPSIS\n"
    ".B tutti\n"
    ".I COMMAND\n"
    ".RI [ ARGUMENT ...]\n"
    ".SH DESCRIPTION\n"
    "Tutti searches architectures and hyperparameters, trains a pool of networks, selects an ensemble from it, and "
    "predicts "
    "with\naleatoric and epistemic uncertainty.\n"
    "What is searched, and how, is written in a recipe, an INI file whose sections name plugins.\n"
    "A recipe is a file, or the name of an installed one, as in\n"
    ".BR \"tutti run quickstart\" ;\n"
    ".B tutti list recipes\n"
    "shows these.\n"
    "The commands below take their options before or after their arguments; long ones may be cut short where that is "
    "clear.\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    "0: done; 1: failed (of\n"
    ".BR \"tutti ablate\" :\n"
    "some cells did); 2: the recipe or the usage is wrong; 130: interrupted, go on with\n"
    ".BR \"tutti run \\-\\-resume\" .\n"
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B TUTTI_PLUGIN_PATH\n"
    "Folders, separated by colons, where plugins are looked for before the installed ones.\n"
    ".TP\n"
    ".B TUTTI_PLUGIN_FOLDER\n"
    "The folder that stands in place of that of the installed plugins; empty for none.\n"
    ".TP\n"
    ".B TUTTI_RECIPE_FOLDER\n"
    "The folder that stands in place of that of the installed recipes; empty for none.\n"
    ".TP\n"
    ".B TUTTI_VERBOSE\n"
    "Set to 1, as\n"
    ".B \\-\\-verbose\n"
    "with every command: errors are printed with the places in the source that they went through.\n"
    ".SH FILES\n"
    "A run directory holds the effective recipe\n"
    ".RI ( recipe.ini ),\n"
    "the catalogue of trials\n"
    ".RI ( catalogue.sqlite ),\n"
    "the members' weights and predictions\n"
    ".RI ( trials/ ),\n"
    "the ensemble\n"
    ".RI ( ensemble.json )\n"
    "and the results\n"
    ".RI ( summary.json ).\n"
    "Trials are trained by processes that appear as\n"
    ".BR \"tutti worker\" .\n"
    ".SH EXAMPLE\n"
    ".nf\n"
    "tutti run quickstart \\-\\-out runs/first\n"
    "(echo x0; echo 0.5) | tutti predict runs/first \\-\n"
    ".fi\n";

/* Print text so that every dash can be copied and no line is read as a request of troff. */
static void print_text(const char *text) {
  if (*text == '.' || *text == '\'')
    (void)fputs("\\&", stdout);
  for (; *text; text++) {
    if (*text == '-')
      (void)fputs("\\-", stdout);
    else if (*text == '\\')
      (void)fputs("\\e", stdout);
    else
      (void)putchar(*text);
  }
}

static void print_paragraph(const char *text) {
  print_text(text);
  (void)putchar('\n');
}

/* Words in capitals are placeholders: "RECIPE --out DIR". */
static void print_synopsis(const char *text) {
  while (*text) {
    size_t length = strcspn(text, " ");
    bool capital = isupper((unsigned char)text[strspn(text, "[")]);
    (void)printf(" %s%.*s%s", capital ? "\\fI" : "", (int)length, text, capital ? "\\fR" : "");
    text += length;
    text += strspn(text, " ");
  }
}

static void print_options(const struct command_option *options) {
  for (const struct command_option *option = options; option && option->name; option++) {
    (void)printf(".TP\n\\fB\\-%c\\fR, \\fB\\-\\-", option->letter);
    print_text(option->name);
    (void)printf(option->argument ? "\\fR=\\fI" : "\\fR");
    if (option->argument)
      print_text(option->argument);
    (void)printf(option->argument ? "\\fR\n" : "\n");
    print_paragraph(option->text);
  }
}

static void print_command(const struct command *command) {
  (void)printf(".SS tutti %s [\\fIOPTION\\fR...]", command->name);
  print_synopsis(command->operands.synopsis);
  (void)putchar('\n');
  print_paragraph(command->about);
  if (command->alias)
    (void)printf("Also called\n.BR \"tutti %s\" .\n", command->alias);
  print_options(command->options);
  if (command->notes) {
    (void)fputs(".PP\n", stdout);
    print_paragraph(command->notes);
  }
}

static int run_man_page(tutti_context *context, const struct texts *operands, const void *options) {
  (void)context;
  (void)operands;
  (void)options;
  (void)fputs(head, stdout);
  (void)fputs(".SH COMMANDS\n", stdout);
  for (size_t i = 0; commands[i]; i++)
    if (!commands[i]->internal)
      print_command(commands[i]);
  (void)fputs(".SH OPTIONS OF EVERY COMMAND\n", stdout);
  print_options(common_options);
  (void)fputs(".TP\n\\fB\\-?\\fR, \\fB\\-\\-help\\fR\nSay what the command does, and list its options.\n", stdout);
  (void)fputs(tail, stdout);
  return finish_output();
}

const struct command command_man_page = {
    .name = "man-page",
    .summary = "the manual page",
    .about = "Print the manual page, for make reference.",
    .operands = {.synopsis = ""},
    .run = run_man_page,
    .internal = true,
};
