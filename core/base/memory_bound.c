/* memory_bound.c - what bounds the memory of this process: the machine, its resource limits, its control groups. */
#include "memory_bound_impl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tutti/context.h>
#include <unistd.h>

#include "context_impl.h"

enum { ROOM = 4096 };

/* The number in a file; SIZE_MAX: there is no such file, or no number, as where it says max. */
static size_t number_in(const char *path) {
  char text[32];
  FILE *file = fopen(path, "re");
  char *read = file ? fgets(text, sizeof text, file) : NULL;
  if (file)
    (void)fclose(file);
  return read && *text >= '0' && *text <= '9' ? (size_t)strtoull(text, NULL, 10) : SIZE_MAX;
}

/* The least limit of a group and of those above it. In a container, what is mounted may be the group itself, or one
   above: folders that are not there say nothing. */
static size_t least_of_group(const char *mount, const char *group, const char *file) {
  char folder[ROOM], path[2 * ROOM];
  size_t least = SIZE_MAX;
  (void)snprintf(folder, sizeof folder, "%s", group);
  for (;;) {
    (void)snprintf(path, sizeof path, "%s%s/%s", mount, folder, file);
    size_t number = number_in(path);
    least = number < least ? number : least;
    char *slash = strrchr(folder, '/');
    if (!slash)
      return least;
    *slash = '\0';
  }
}

/* Is a word in a list with commas? */
static bool is_listed(const char *list, const char *word) {
  for (size_t length = strlen(word); list; list = strchr(list, ',')) {
    list += *list == ',';
    if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
      return true;
  }
  return false;
}

/* The least limit of the groups that a file like /proc/self/cgroup lists, in lines ID:CONTROLLERS:GROUP: those of
   version 2 have no controllers and lie below `mount`, or below mount/unified beside others; those of version 1 that
   bound memory below mount/memory. */
static size_t least_of_groups(const char *list, const char *mount) {
  char line[ROOM], below[ROOM];
  size_t least = SIZE_MAX;
  FILE *file = fopen(list, "re");
  while (file && fgets(line, sizeof line, file)) {
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
      continue;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    const bool unified = *++controllers == '\0';
    if (!unified && !is_listed(controllers, "memory"))
      continue;
    const char *limit = unified ? "memory.max" : "memory.limit_in_bytes";
    (void)snprintf(below, sizeof below, "%s%s", mount, unified ? "/unified" : "/memory");
    size_t number = least_of_group(below, group, limit);
    least = number < least ? number : least;
    number = unified ? least_of_group(mount, group, limit) : SIZE_MAX;
    least = number < least ? number : least;
  }
  if (file)
    (void)fclose(file);
  return least;
}

static void bound_by(struct tutti_memory_bound *bound, size_t bytes, const char *of) {
  if (bytes < bound->bytes)
    *bound = (struct tutti_memory_bound){bytes, of};
}

static void bound_by_resource(struct tutti_memory_bound *bound, int resource, const char *of) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bound_by(bound, (size_t)limit.rlim_cur, of);
}

struct tutti_memory_bound tutti_memory_bound(const tutti_context *context) {
  struct tutti_memory_bound bound = {SIZE_MAX, "all that can be addressed"}, addresses = bound;
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0)
    bound_by(&bound, (size_t)pages * (size_t)page, "the machine's memory");
  bound_by_resource(&addresses, RLIMIT_AS, "what ulimit -v allows");
  const bool named = context && addresses.bytes == context->memory_limit;
  bound_by(&bound, addresses.bytes, named ? context->memory_limit_of : addresses.of);
  bound_by_resource(&bound, RLIMIT_DATA, "what ulimit -d allows");
  bound_by(&bound, least_of_groups("/proc/self/cgroup", "/sys/fs/cgroup"), "what the control group allows");
  return bound;
}

void tutti_memory_name_limit(tutti_context *context, size_t bytes, const char *of) {
  context->memory_limit = bytes;
  context->memory_limit_of = of;
}

size_t tutti_memory_for_data(void) { return tutti_memory_bound(NULL).bytes / 2; }

size_t tutti_memory_for_data_of(const tutti_context *context, const char **of) {
  const struct tutti_memory_bound bound = tutti_memory_bound(context);
  *of = bound.of;
  return bound.bytes / 2;
}
