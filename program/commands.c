/* commands.c - the list of commands: those of local.mk, in its order. */
#include "command.h"
#include "all_commands.h"

#include <stdio.h>
#include <string.h>

#define DECLARE(id, name) extern const struct command command_##name;
#define ADDRESS(id, name) &command_##name,

ALL_COMMANDS(DECLARE)
const struct command *const commands[] = {ALL_COMMANDS(ADDRESS) NULL};

static const char *lacks(const struct command *command) {
  bool told = command->internal || (command->summary && command->about && command->operands.synopsis);
  return !command->name  ? "has no .name"
         : !command->run ? "has no .run"
         : !told         ? "has no .summary, .about or .operands"
                         : NULL;
}

bool commands_are_complete(void) {
  for (size_t i = 0; commands[i]; i++)
    if (lacks(commands[i])) {
      (void)fprintf(stderr, "tutti: command %s %s\n", commands[i]->name ? commands[i]->name : "?", lacks(commands[i]));
      return false;
    }
  return true;
}

const struct command *find_command(const char *name) {
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0 || (commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
      return commands[i];
  return NULL;
}
