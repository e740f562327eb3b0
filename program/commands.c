/* commands.c - the list of commands: those of local.mk, in its order. */
#include "command.h"
#include "all_commands.h"

#include <string.h>

#define DECLARE(id, name) extern const struct command command_##name;
#define ADDRESS(id, name) &command_##name,

ALL_COMMANDS(DECLARE)
const struct command *const commands[] = {ALL_COMMANDS(ADDRESS) NULL};

const struct command *find_command(const char *name) {
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0 || (commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
      return commands[i];
  return NULL;
}
