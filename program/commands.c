/* commands.c - the list of commands. */
#include "command.h"

#include <string.h>

/* One line a command, in the order in which --help and the manual page show them. Those two that print this list are
   in main.c. */
#define COMMANDS(COMMAND)                                                                                              \
  COMMAND(run)                                                                                                         \
  COMMAND(validate)                                                                                                    \
  COMMAND(list)                                                                                                        \
  COMMAND(inspect)                                                                                                     \
  COMMAND(status)                                                                                                      \
  COMMAND(select)                                                                                                      \
  COMMAND(evaluate)                                                                                                    \
  COMMAND(curve)                                                                                                       \
  COMMAND(predict)                                                                                                     \
  COMMAND(compare)                                                                                                     \
  COMMAND(ablate)                                                                                                      \
  COMMAND(distance)                                                                                                    \
  COMMAND(doctor)                                                                                                      \
  COMMAND(worker)                                                                                                      \
  COMMAND(scan_plugin)

#define DECLARE(name) extern const struct command command_##name;
#define ADDRESS(name) &command_##name,

COMMANDS(DECLARE)
const struct command *const commands[] = {COMMANDS(ADDRESS) NULL};

const struct command *find_command(const char *name) {
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0 || (commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
      return commands[i];
  return NULL;
}
