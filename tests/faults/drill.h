/* drill.h - what the programs share that disturb runs: start one, look at what its catalogue holds, and compare it with
   the undisturbed run's. Complaints go to standard error and are counted. */
#ifndef TUTTI_TESTS_DRILL_H
#define TUTTI_TESTS_DRILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DRILL_PATH = 512 };

/* Say what is wrong, and with which directory; count it. */
void drill_complain(const char *what, const char *folder);
int drill_failures(void);

/* --- processes --- */

struct drill_run {
  const char *recipe, *folder; /* standard error goes to FOLDER.log */
  int workers;
  const char *preload;           /* a module for LD_PRELOAD, in the manager and its workers; NULL: none */
  const char *const *settings;   /* NAME=VALUE for the environment, NULL-terminated; NULL: none */
  unsigned long long file_limit; /* RLIMIT_FSIZE; 0: none */
};

/* Start `tutti run ... --resume`, in a process group of its own. */
pid_t drill_start(const struct drill_run *run);
/* Wait for the end of a run; what waitpid says. After `seconds` it is killed, which is a complaint. */
int drill_wait(pid_t manager, double seconds, const char *folder);
/* Wait for a run that has to end with exit code 0. */
bool drill_finish(pid_t manager, const char *folder);
/* The processes whose parent is the manager, at most `room`. */
size_t drill_workers(pid_t manager, pid_t *found, size_t room);
double drill_now(void);
void drill_pause(double seconds);
void drill_remove(const char *folder);

/* --- methods: the recipes of tests/faults/methods --- */

struct drill_method {
  char recipe[DRILL_PATH], name[64];
  char expected[DRILL_PATH]; /* where its undisturbed run goes, below `base` */
};
/* All of them, at most `room`. */
size_t drill_methods(const char *base, struct drill_method *methods, size_t room);

/* --- results --- */

/* What a catalogue says of each trial, without times. */
struct drill_row {
  char *text; /* candidate, origin, place of asking, state, loss, place of telling, failure, report */
  bool done;
};
struct drill_rows {
  struct drill_row *items;
  size_t count, room;
};
/* Read a run's trials; false when there is no catalogue yet. A catalogue that cannot be read is a complaint. */
bool drill_read(const char *folder, struct drill_rows *rows);
void drill_release(struct drill_rows *rows);
/* The number of trials with a result. */
size_t drill_done(const struct drill_rows *rows);
/* Nothing that was recorded as done may be lost or changed. */
void drill_check_kept(const struct drill_rows *before, const struct drill_rows *after, const char *folder);
/* The same trials with the same results as in the undisturbed run. */
void drill_check_equal(const struct drill_rows *expected, const struct drill_rows *found, const char *folder);
/* The same files with the same bytes: all but the catalogue, the lock, and what workers printed. */
void drill_check_files(const char *expected, const char *folder);

#endif
