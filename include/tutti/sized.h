/* sized.h - copies structs that begin with their size between two builds, one of which may know more members. */
#ifndef TUTTI_SIZED_H
#define TUTTI_SIZED_H

#include <string.h>
#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* Copy a caller's struct to one's own: the members that both have, and zeros beyond. own->size becomes own_size. */
static inline void tutti_sized_take(void *own, size_t own_size, const void *theirs) {
  size_t size;
  memcpy(&size, theirs, sizeof size);
  memset(own, 0, own_size);
  memcpy(own, theirs, size < own_size ? size : own_size);
  memcpy(own, &own_size, sizeof own_size);
}

/* Fill a caller's struct, whose size the caller has set, from one's own: the members that both have, and zeros
   beyond. */
static inline void tutti_sized_give(void *theirs, const void *own, size_t own_size) {
  size_t size;
  memcpy(&size, theirs, sizeof size);
  memset(theirs, 0, size);
  memcpy(theirs, own, size < own_size ? size : own_size);
  memcpy(theirs, &size, sizeof size);
}

/* For two pointers to the same struct. */
#define TUTTI_TAKE(own, theirs) tutti_sized_take((own), sizeof *(own), (theirs))
#define TUTTI_GIVE(theirs, own) tutti_sized_give((theirs), (own), sizeof *(own))

TUTTI_END_DECLS
#endif
