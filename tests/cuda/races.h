/* races.h - what the emulation tells the search for races (races.c; races_without.c in builds that do not search). */
#ifndef EMULATED_RACES_H
#define EMULATED_RACES_H

#include <stdbool.h>
#include <stddef.h>

struct races_launch {
  const char *kernel;
  unsigned threads, block; /* of the whole grid, whose numbers go block by block; and of a block */
  const char *stacks;      /* what lies there is a thread's own */
  size_t stack_bytes;
};
/* This thread of the host begins a launch, and has ended it. */
void races_begin(const struct races_launch *launch);
void races_end(void);
/* These threads have met at a barrier. */
void races_meet(const unsigned *threads, unsigned count);
/* This one has made a fence of the whole system. */
void races_fence(unsigned thread);
/* This is memory of the host that the device sees; bytes 0: no longer. */
void races_share(const void *memory, size_t bytes);
/* Has this launch had a race? */
bool races_found(void);
/* What this thread of the host keeps for its next launch is given back. */
void races_forget(void);

#endif
