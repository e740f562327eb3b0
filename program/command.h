/* command.h - the description of a command of the program. Dispatch, --help, the manual page and the completions of
   shells come from this description alone: a new command is a file command_NAME.c and its line in local.mk. */
#ifndef TUTTI_COMMAND_H
#define TUTTI_COMMAND_H

#include <tutti/context.h>

/* How a word on the command line is completed. */
enum completion {
  COMPLETE_NOTHING,
  COMPLETE_FILE,
  COMPLETE_FOLDER,
  COMPLETE_RECIPE,  /* files ending in .ini, and folders on the way to them */
  COMPLETE_KIND,    /* "backend" */
  COMPLETE_PLUGIN,  /* "backend/cpu" */
  COMPLETE_SPACE,   /* "darts" */
  COMPLETE_SETTING, /* "selector.plugin=greedy", of the recipe or run that is on the line */
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

/* How an option is stored in its field of the command's options. */
enum option_type {
  OPTION_FLAG,   /* bool: true */
  OPTION_TEXT,   /* const char *: borrowed from the command line */
  OPTION_TEXTS,  /* struct texts: one more each time */
  OPTION_PARTS,  /* struct texts: the same, with a text for each part between commas */
  OPTION_NUMBER, /* long: at least `least`, at most `most`; `preset` if not given */
  OPTION_NUMBERS /* struct numbers: from 1, separated by commas */
};

/* An option: --name=ARGUMENT, -letter ARGUMENT. */
struct command_option {
  const char *name;
  char letter;
  enum option_type type;
  const char *argument; /* NULL for a flag */
  const char *text;     /* its purpose, in one or two sentences */
  size_t offset;        /* offset of its field */
  long least, most, preset;
  enum completion completes;
};

/* The operands: everything on the command line that is not an option. */
struct operands {
  const char *synopsis; /* "RUN FILE" */
  const char *wanted;   /* "a run directory and a file", as in "expected a run directory and a file" */
  const char *example;  /* "runs/quickstart new.csv"; NULL: none */
  const char *hint;     /* advice if there are more than `most`; NULL: none */
  size_t least, most;
  enum completion completes[2]; /* completion of the first one, and of the following ones */
};

/* Operands that several commands have. */
#define ONE_RECIPE                                                                                                     \
  {                                                                                                                    \
    .synopsis = "RECIPE", .wanted = "a recipe", .example = "quickstart", .least = 1, .most = 1, .completes = {         \
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
  const char *summary; /* one line for the list of commands */
  const char *about;   /* a description of some sentences */
  const char *notes;   /* further notes; NULL: none */
  struct operands operands;
  const struct command_option *options; /* the last one has no name; NULL: none */
  size_t size;                          /* size of the struct that holds the options' fields */
  /* Checks options and operands together and returns what is wrong with them, in words that follow "expected"; NULL:
     nothing is wrong, or nothing can be. */
  const char *(*check)(const struct texts *operands, const void *options);
  /* Runs the command; returns the exit code. */
  int (*run)(tutti_context *context, const struct texts *operands, const void *options);
  /* For commands that the program itself or its build starts: hidden from users, and all words are operands. */
  bool internal;
};

/* All commands, in the order in which users see them; ends with NULL (commands.c). */
extern const struct command *const commands[];
/* The command of that name or alias, or NULL. */
const struct command *find_command(const char *name);
/* Has each command of the list all that it needs? If not, the first that lacks something is told on stderr. */
bool commands_are_complete(void);

/* The options that every command takes besides its own; the last one has no name (arguments.c). */
extern const struct command_option common_options[];
/* Parse the words after "tutti" (argv[0] is the command's name) into `operands` and `options` (zeroed, of the command's
   size). Ends the program on --help (0) and on wrong usage (2). False if memory runs out. */
bool parse_arguments(const struct command *command, int argc, char **argv, struct texts *operands, void *options);

#endif
