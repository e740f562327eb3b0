/* power_disk.h - the directory that a disk may show after the power failed: made from a record of what a run did
   (power_log.h). What was synced before is there, whole. What was not may be there, in part, or not at all, as the
   kind of loss says. */
#ifndef TUTTI_TESTS_POWER_DISK_H
#define TUTTI_TESTS_POWER_DISK_H

#include "power_log.h"

#include <stdbool.h>
#include <stddef.h>

enum power_loss {
  POWER_NOTHING,   /* of what was not synced, nothing has reached the disk */
  POWER_EMPTY,     /* names have, and files are empty, or as they were when they were synced */
  POWER_ZEROS,     /* names and sizes have, and the bytes in between are 0 */
  POWER_NO_RENAME, /* all has, but renames */
  POWER_TORN,      /* all has, but the last bytes of each file */
  POWER_CHANCE,    /* of the names some, of the data some sectors */
  POWER_LOSSES
};
extern const char *const power_loss_names[POWER_LOSSES];

/* A record in memory. */
struct power_entry {
  struct power_record head;
  char *path, *second; /* below the root */
  const unsigned char *data;
};
struct power_history {
  unsigned char *bytes;
  struct power_entry *entries;
  size_t count;
};
/* Read a log. Ends the program if it cannot be read. */
void power_read(const char *path, struct power_history *history);
void power_release(struct power_history *history);

/* Make `folder`, which is not there, as the disk shows the root after the first `cut` records. With `lies`, syncs do
   nothing, as with a drive that says so too early. */
void power_make(const struct power_history *history, size_t cut, enum power_loss loss, uint64_t seed, bool lies,
                const char *folder);

#endif
