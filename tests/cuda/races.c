/* races.c - finds races: two threads of a launch that touch the same memory, at least one of them writing, with
   nothing between them that orders it. Kernels are compiled with -fsanitize=thread, which calls a function before
   each access to memory; these are the functions, in place of ThreadSanitizer's, which knows neither fibers nor the
   barriers of a block.

   Each thread has a clock that goes on at barriers and fences, and knows how far the clocks of others had come when
   it last met them, itself or through others (C. Flanagan and S. N. Freund, "FastTrack: efficient and precise
   dynamic race detection", PLDI 2009). Each word of memory has the clock of its last write, and those of the reads
   since then. An access is a race with an earlier one that its thread does not know of: so a race is found whatever
   order the threads came in, if the two accesses are made at all.

   What orders accesses is what does so on a device: barriers, for those who meet there; and from one thread to
   another by way of the host, a fence of the whole system before a volatile write, and one behind a volatile read. A
   shuffle orders nothing. Who writes volatile memory tells the host that its block's numbers are there: so it has to
   know of what others of the block have written to the host's memory. Words are of four bytes. Launches are watched
   one by one: what two of them do to each other is not seen. */
#include "races.h"

#include "cuda_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { PAGE_BITS = 12, PAGE_WORDS = 1 << (PAGE_BITS - 2), NOBODY = -1 };

/* How far the clocks of all threads had come. */
struct knowledge {
  unsigned users;
  unsigned clocks[];
};

struct access {
  int thread; /* NOBODY: none */
  unsigned clock;
  const void *place; /* in the program */
};

struct word {
  unsigned launch; /* that the rest is of */
  struct access write, read;
  struct knowledge *reads; /* of several threads, of which none is behind another; or NULL */
};

struct page {
  uintptr_t number;
  struct word *words;
};

struct watched {
  unsigned clock;
  struct knowledge *known, *fenced; /* fenced: when it last made a fence, or NULL */
  bool heard;                       /* it read what the host may have written, since then */
  struct access told;               /* its last write to the host's memory */
};

struct watch {
  struct races_launch launch;
  unsigned number; /* of launches so far */
  struct watched *threads;
  struct knowledge *host; /* what has come to the host */
  struct page *pages;     /* a hash table */
  size_t page_count, page_room;
  struct page *last;
  unsigned found;
};

/* Memory of the host that the device sees. */
enum { MOST_SHARED = 1024 };
static struct {
  uintptr_t from;
  size_t bytes;
} shared[MOST_SHARED];
static size_t shared_count;

static __thread struct watch watch;
/* In a launch, and not in what follows from a report. */
static __thread bool watching;

/* --- knowledge --- */

static struct knowledge *know_nothing(void) {
  struct knowledge *made = calloc(1, sizeof *made + watch.launch.threads * sizeof *made->clocks);
  if (!made)
    abort();
  made->users = 1;
  return made;
}

static void drop(struct knowledge *known) {
  if (known && --known->users == 0)
    free(known);
}

static void learn(struct knowledge *known, const struct knowledge *from) {
  for (unsigned i = 0; i < watch.launch.threads; i++)
    known->clocks[i] = from->clocks[i] > known->clocks[i] ? from->clocks[i] : known->clocks[i];
}

/* What a thread knows, and has done itself. */
static struct knowledge *all_of(unsigned thread) {
  struct knowledge *all = know_nothing();
  learn(all, watch.threads[thread].known);
  all->clocks[thread] = watch.threads[thread].clock;
  return all;
}

static bool is_behind(unsigned self, struct access earlier) {
  return earlier.thread == NOBODY || earlier.thread == (int)self ||
         watch.threads[self].known->clocks[earlier.thread] >= earlier.clock;
}

/* --- what orders accesses --- */

void races_meet(const unsigned *threads, unsigned count) {
  struct knowledge *all = know_nothing();
  const struct knowledge *last = NULL;
  for (unsigned i = 0; i < count; i++) {
    const struct watched *thread = &watch.threads[threads[i]];
    if (thread->known != last)
      learn(all, thread->known);
    last = thread->known;
  }
  for (unsigned i = 0; i < count; i++)
    all->clocks[threads[i]] = watch.threads[threads[i]].clock;
  for (unsigned i = 0; i < count; i++) {
    struct watched *thread = &watch.threads[threads[i]];
    drop(thread->known);
    thread->known = all;
    thread->clock++;
  }
  all->users = count;
}

void races_fence(unsigned self) {
  struct watched *thread = &watch.threads[self];
  struct knowledge *all = all_of(self);
  if (thread->heard)
    learn(all, watch.host);
  thread->heard = false;
  drop(thread->fenced);
  drop(thread->known);
  thread->known = thread->fenced = all;
  all->users = 2;
  thread->clock++;
}

/* --- memory --- */

void races_share(const void *memory, size_t bytes) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  size_t i = 0;
  (void)pthread_mutex_lock(&lock);
  while (i < shared_count && shared[i].from != (bytes ? 0 : (uintptr_t)memory))
    i++;
  if (i == MOST_SHARED)
    abort();
  if (i < shared_count || bytes) {
    __atomic_store_n(&shared[i].bytes, bytes, __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared[i].from, bytes ? (uintptr_t)memory : 0, __ATOMIC_SEQ_CST);
  }
  if (i == shared_count && bytes)
    __atomic_store_n(&shared_count, i + 1, __ATOMIC_SEQ_CST);
  (void)pthread_mutex_unlock(&lock);
}

static bool is_shared(uintptr_t address) {
  size_t count = __atomic_load_n(&shared_count, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < count; i++)
    if (address - __atomic_load_n(&shared[i].from, __ATOMIC_RELAXED) <
        __atomic_load_n(&shared[i].bytes, __ATOMIC_RELAXED))
      return true;
  return false;
}

static struct page *place_of(struct page *pages, size_t room, uintptr_t number) {
  size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) % room;
  while (pages[i].words && pages[i].number != number)
    i = (i + 1) % room;
  return &pages[i];
}

static void enlarge(void) {
  size_t room = 2 * watch.page_room + 256;
  struct page *pages = calloc(room, sizeof *pages);
  if (!pages)
    abort();
  for (size_t i = 0; i < watch.page_room; i++)
    if (watch.pages[i].words)
      *place_of(pages, room, watch.pages[i].number) = watch.pages[i];
  free(watch.pages);
  watch.pages = pages;
  watch.page_room = room;
  watch.last = NULL;
}

static struct word *word_at(uintptr_t address) {
  uintptr_t number = address >> PAGE_BITS;
  if (!watch.last || watch.last->number != number) {
    if (2 * watch.page_count >= watch.page_room)
      enlarge();
    watch.last = place_of(watch.pages, watch.page_room, number);
    if (!watch.last->words) {
      *watch.last = (struct page){number, calloc(PAGE_WORDS, sizeof(struct word))};
      watch.page_count++;
      if (!watch.last->words)
        abort();
    }
  }
  struct word *word = &watch.last->words[address % (1u << PAGE_BITS) / 4];
  if (word->launch != watch.number) {
    free(word->reads);
    *word = (struct word){watch.number, {NOBODY, 0, NULL}, {NOBODY, 0, NULL}, NULL};
  }
  return word;
}

static void say(const char *what, unsigned thread, const void *place) {
  Dl_info info;
  const char *file = "", *base = NULL;
  if (dladdr(place, &info) != 0 && info.dli_fname) {
    file = info.dli_fname;
    base = info.dli_fbase;
  }
  (void)fprintf(stderr, "  %s by thread %u of block %u, before %s+%#lx\n", what, thread % watch.launch.block,
                thread / watch.launch.block, file, (unsigned long)((const char *)place - base));
}

/* The first of a launch is told. Then the kernel fails, if that is asked for, and else the process ends. */
static void report(uintptr_t address, bool wrote, struct access earlier, unsigned self, bool writes,
                   const void *place) {
  const char *wanted = getenv("TUTTI_EMULATED_RACES");
  if (watch.found++ > 0)
    return;
  (void)fprintf(stderr, "emulated kernel %s: a race at address %#lx; nothing orders\n", watch.launch.kernel,
                (unsigned long)address);
  say(wrote ? "a write" : "a read", (unsigned)earlier.thread, earlier.place);
  say(writes ? "and a write" : "and a read", self, place);
  if (!wanted || strcmp(wanted, "fail") != 0)
    abort();
}

static void note_read(struct word *word, unsigned self, uintptr_t address, const void *place) {
  const struct access now = {(int)self, watch.threads[self].clock, place};
  if (!is_behind(self, word->write))
    report(address, true, word->write, self, false, place);
  if (word->reads) {
    word->reads->clocks[self] = now.clock;
    return;
  }
  if (!is_behind(self, word->read)) {
    word->reads = know_nothing();
    word->reads->clocks[word->read.thread] = word->read.clock;
    word->reads->clocks[self] = now.clock;
  }
  word->read = now;
}

static void note_write(struct word *word, unsigned self, uintptr_t address, const void *place) {
  if (!is_behind(self, word->write))
    report(address, true, word->write, self, true, place);
  if (!word->reads && !is_behind(self, word->read))
    report(address, false, word->read, self, true, place);
  for (unsigned i = 0; word->reads && i < watch.launch.threads; i++) {
    const struct access earlier = {(int)i, word->reads->clocks[i], word->read.place};
    if (!is_behind(self, earlier))
      report(address, false, earlier, self, true, place);
  }
  free(word->reads);
  word->reads = NULL;
  word->read.thread = NOBODY;
  word->write = (struct access){(int)self, watch.threads[self].clock, place};
}

static bool self_number(unsigned *self) {
  const struct emulated_thread *thread = watching ? emulated_self() : NULL;
  if (!thread)
    return false;
  *self = thread->block.x * thread->threads.x + thread->thread.x;
  return true;
}

static void note(const void *memory, size_t bytes, bool writes, const void *place) {
  const uintptr_t from = (uintptr_t)memory;
  unsigned self;
  if (!self_number(&self) || from - (uintptr_t)watch.launch.stacks < watch.launch.stack_bytes)
    return;
  if (writes && is_shared(from))
    watch.threads[self].told = (struct access){(int)self, watch.threads[self].clock, place};
  for (uintptr_t word = from / 4; word <= (from + bytes - 1) / 4; word++)
    if (writes)
      note_write(word_at(4 * word), self, 4 * word, place);
    else
      note_read(word_at(4 * word), self, 4 * word, place);
}

/* --- launches --- */

void races_begin(const struct races_launch *launch) {
  watch.launch = *launch;
  watch.number++;
  watch.found = 0;
  watch.host = know_nothing();
  watch.threads = calloc(launch->threads, sizeof *watch.threads);
  if (!watch.threads)
    abort();
  for (unsigned i = 0; i < launch->threads; i++)
    watch.threads[i] = (struct watched){.clock = 1, .known = know_nothing(), .told = {NOBODY, 0, NULL}};
  watching = true;
}

void races_end(void) {
  watching = false;
  for (unsigned i = 0; i < watch.launch.threads; i++) {
    drop(watch.threads[i].known);
    drop(watch.threads[i].fenced);
  }
  free(watch.threads);
  drop(watch.host);
}

bool races_found(void) { return watch.found > 0; }

void races_forget(void) {
  for (size_t i = 0; i < watch.page_room; i++) {
    for (size_t k = 0; watch.pages[i].words && k < PAGE_WORDS; k++)
      free(watch.pages[i].words[k].reads);
    free(watch.pages[i].words);
  }
  free(watch.pages);
  watch.pages = watch.last = NULL;
  watch.page_count = watch.page_room = 0;
}

/* --- what the compiler calls --- */

/* Of the types that gcc has in mind: with any of its sanitizers it knows these functions itself. */

/* Volatile memory is shared with the host. */
static void hear(const void *at) {
  unsigned self;
  (void)at;
  if (self_number(&self))
    watch.threads[self].heard = true;
}
static void tell(const void *at, const void *place) {
  unsigned self;
  if (!self_number(&self))
    return;
  const unsigned first = self / watch.launch.block * watch.launch.block;
  for (unsigned i = first; i < first + watch.launch.block && is_shared((uintptr_t)at); i++)
    if (!is_behind(self, watch.threads[i].told))
      report((uintptr_t)at, true, watch.threads[i].told, self, true, place);
  if (watch.threads[self].fenced)
    learn(watch.host, watch.threads[self].fenced);
}

#define CALLED __attribute__((visibility("hidden")))
#define CALLER __builtin_return_address(0)
#define ACCESS(bytes)                                                                                                  \
  CALLED void __tsan_read##bytes(void *at);                                                                            \
  CALLED void __tsan_write##bytes(void *at);                                                                           \
  CALLED void __tsan_unaligned_read##bytes(void *at);                                                                  \
  CALLED void __tsan_unaligned_write##bytes(void *at);                                                                 \
  CALLED void __tsan_volatile_read##bytes(void *at);                                                                   \
  CALLED void __tsan_volatile_write##bytes(void *at);                                                                  \
  CALLED void __tsan_unaligned_volatile_read##bytes(void *at);                                                         \
  CALLED void __tsan_unaligned_volatile_write##bytes(void *at);                                                        \
  void __tsan_read##bytes(void *at) { note(at, bytes, false, CALLER); }                                                \
  void __tsan_write##bytes(void *at) { note(at, bytes, true, CALLER); }                                                \
  void __tsan_unaligned_read##bytes(void *at) { note(at, bytes, false, CALLER); }                                      \
  void __tsan_unaligned_write##bytes(void *at) { note(at, bytes, true, CALLER); }                                      \
  void __tsan_volatile_read##bytes(void *at) { hear(at); }                                                             \
  void __tsan_volatile_write##bytes(void *at) { tell(at, CALLER); }                                                    \
  void __tsan_unaligned_volatile_read##bytes(void *at) { hear(at); }                                                   \
  void __tsan_unaligned_volatile_write##bytes(void *at) { tell(at, CALLER); }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

CALLED void __tsan_init(void);
CALLED void __tsan_func_entry(void *caller);
CALLED void __tsan_func_exit(void *caller);
CALLED void __tsan_read_range(void *at, long bytes);
CALLED void __tsan_write_range(void *at, long bytes);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void *caller) { (void)caller; }
void __tsan_read_range(void *at, long bytes) { note(at, (size_t)bytes, false, CALLER); }
void __tsan_write_range(void *at, long bytes) { note(at, (size_t)bytes, true, CALLER); }
