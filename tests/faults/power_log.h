/* power_log.h - what a run does to its files, in order, as power_log.c records it: records one after the other, each
   followed by its texts and bytes. */
#ifndef TUTTI_TESTS_POWER_LOG_H
#define TUTTI_TESTS_POWER_LOG_H

#include <stdint.h>

enum power_kind {
  POWER_MADE,      /* path: a file was made */
  POWER_FOLDER,    /* path: a folder was made */
  POWER_WRITE,     /* path, data at offset */
  POWER_SIZE,      /* path, cut or grown to offset */
  POWER_SYNC,      /* path: data of a file, or names in a folder, are durable */
  POWER_RENAME,    /* path to second */
  POWER_LINK,      /* path has a second name */
  POWER_REMOVE,    /* path of a file or a folder */
  POWER_ANNOUNCED, /* offset: so many results were reported as recorded; path: the phase */
  POWER_KINDS
};

struct power_record {
  uint32_t kind;
  uint32_t path, second, data; /* lengths of what follows, in bytes, without NUL */
  uint64_t inode;              /* of the file, for POWER_MADE to POWER_SYNC; 0: a folder */
  uint64_t offset;
};

/* The environment: the file that the records go to, and the folder whose files are watched. */
#define POWER_LOG "TUTTI_POWER_LOG"
#define POWER_ROOT "TUTTI_POWER_ROOT"

#endif
