/* command.h - what a command of the program is. Dispatch, --help, the manual page and the bash completion come from this
   description alone: a new command is a file command_NAME.c and its name in the list of commands.c. */
#ifndef TUTTI_COMMAND_H
#define TUTTI_COMMAND_H

#include <tutti/context.h>

/* What a word on the command line completes to. */
enum completion {
  COMPLETE_NOTHING,
  COMPLETE_FILE,
  COMPLETE_FOLDER,
  COMPLETE_RECIPE, /* files in .ini, and folders on the way to them */
  COMPLETE_KIND,   /* "backend" */
  COMPLETE_PLUGIN, /* "backend/cpu" */
  COMPLETE_SPACE,  /* "darts" */
  COMPLETION_COUNT
};

/* Texts collected from the command line. */
enum { MOST_TEXTS = 256 };
struct texts {
  size_t count;
  const char *items[MOST_TEXTS];
};
/* Numbers collected from the command line. */
enum { MOST_NUMBERS = 64 };
struct numbers {
  size_t count;
  uint64_t items[MOST_NUMBERS];
};

/* What an option puts in its field of the command's options. */
enum option_type {
  OPTION_FLAG,   /* bool: true */
  OPTION_TEXT,   /* const char *: borrowed from the command line */
  OPTION_TEXTS,  /* struct texts: one more each time */
  OPTION_PARTS,  /* struct texts: likewise, each part between commas by itself */
  OPTION_NUMBER, /* long: from least to most, `preset` unless given */
  OPTION_NUMBERS /* struct numbers: from 1, separated by commas */
};

/* An option: --name=ARGUMENT, -letter ARGUMENT. */
struct command_option {
  const char *name;
  char letter;
  enum option_type type;
  const char *argument; /* NULL for a flag */
  const char *text;     /* what it is for: a sentence or two */
  size_t offset;        /* of its field */
  long least, most, preset;
  enum completion completes;
};

/* What stands on the command line besides options. */
struct operands {
  const char *synopsis; /* "RUN FILE" */
  const char *wanted;   /* "a run directory and a file", as in "expected a run directory and a file" */
  const char *example;  /* "runs/quickstart new.csv"; NULL: none */
  const char *hint;     /* what to do when there are more than `most`; NULL: nothing */
  size_t least, most;
  enum completion completes[2]; /* the first, and those that follow */
};

/* Operands that several commands have. */
#define ONE_RECIPE                                                                                                     \
  {                                                                                                                    \
    .synopsis = "RECIPE", .wanted = "a recipe", .example = "ini/quickstart.ini", .least = 1, .most = 1, .completes = { \
      COMPLETE_RECIPE                                                                                                  \
    }                                                                                                                  \
  }
#define ONE_RUN                                                                                                        \
  {                                                                                                                    \
    .synopsis = "RUN", .wanted = "a run directory", .example = "runs/quickstart", .least = 1, .most = 1,               \
    .completes = {                                                                                                     \
      COMPLETE_FOLDER                                                                                                  \
    }                                                                                                                  \
  }

struct command {
  const char *name;
  const char *alias;   /* another name; NULL: none */
  const char *summary; /* a line for the list of commands */
  const char *about;   /* what it does: some sentences */
  const char *notes;   /* what is good to know besides; NULL: nothing */
  struct operands operands;
  const struct command_option *options; /* the last one has no name; NULL: none */
  size_t size;                          /* of the struct that the options' fields are in */
  /* What is wrong with options and operands together, after "expected"-like words of its own; NULL: nothing, or nothing is
     ever wrong. */
  const char *(*check)(const struct texts *operands, const void *options);
  /* Do it, and give the exit code. */
  int (*run)(tutti_context *context, const struct texts *operands, const void *options);
  /* Started by the program itself and by those who build it: not shown to people, and all its words are operands. */
  bool internal;
};

/* All commands, in the order in which people are shown them; NULL after the last (commands.c). */
extern const struct command *const commands[];
/* The command of that name or alias, or NULL. */
const struct command *find_command(const char *name);

/* The options that every command takes besides its own; the last one has no name (arguments.c). */
extern const struct command_option common_options[];
/* Parse the words behind "tutti", of which argv[0] is the command's name, into `operands` and `options` (zeroed, of the
   command's size). Ends the program on --help (0) and on wrong usage (2). False when there is no memory. */
bool parse_arguments(const struct command *command, int argc, char **argv, struct texts *operands, void *options);

#endif
