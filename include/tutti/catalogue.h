/* catalogue.h - the run's record: an SQLite file that only the manager writes. At whatever instant the manager is
   killed, the file holds every trial that was recorded, and no half one. */
#ifndef TUTTI_CATALOGUE_H
#define TUTTI_CATALOGUE_H

#include <tutti/backend.h>
#include <tutti/builder.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_catalogue tutti_catalogue;

/* A trial's row. Texts are borrowed while it is visited. */
struct tutti_trial {
  size_t size; /* sizeof(struct tutti_trial) */
  uint64_t number;
  const char *candidate; /* JSON, as tutti_scope_print gives */
  uint64_t parent;       /* TUTTI_NO_TRIAL: none */
  const char *origin;
  uint64_t asked_after; /* how many results had been told when the trial was asked for */
  bool done;            /* has a result, which is in the fields below */
  enum tutti_state state;
  double loss;   /* NaN unless finished */
  uint64_t told; /* place in the order of telling, from 0; TUTTI_NO_TRIAL: not told yet */
  double seconds;
  uint32_t worker;
  const char *failure; /* "" unless failed */
  const char *report;  /* JSON: epochs, parameters, metrics, files with sizes and checksums */
  double at; /* seconds of the run's work, over all its sessions, after which the result came; NaN: not recorded */
};

/* SQLite's journal mode for a folder: "wal" where shared memory and locks work, "delete" on network file systems and
   where the folder cannot be looked at. Static. */
TUTTI_API const char *tutti_catalogue_journal_mode(const char *folder);

/* Open the file `path`, for writing (made if absent) or for reading only; the caller closes *catalogue. TUTTI_ERROR_IO,
   _FULL, _CORRUPT or _BUSY, here and below, by what SQLite reports. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_open(tutti_context *context, const char *path, bool write,
                                                                 tutti_catalogue **catalogue);
/* Copy it, as it is now, to a new file. TUTTI_ERROR_IO or _FULL, after which the file is gone. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_copy(tutti_context *context, tutti_catalogue *catalogue,
                                                                 const char *path);
/* Close it; NULL is allowed. After writing, the record is one file, unless a reader is at work. */
TUTTI_API void tutti_catalogue_close(tutti_catalogue *catalogue);

/* The text of a key; free *text with tutti_free. *text = NULL if there is none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_get(tutti_context *context, tutti_catalogue *catalogue,
                                                                const char *key, char **text);
/* Call visit(argument, trial) for all trials by number. The first status other than TUTTI_OK ends the tour and is
   returned. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_catalogue_visit(tutti_context *context, tutti_catalogue *catalogue,
                      enum tutti_status (*visit)(void *argument, const struct tutti_trial *t), void *argument);

TUTTI_END_DECLS
#endif
