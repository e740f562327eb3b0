/* catalogue.h - the run's record: an SQLite file that the manager alone writes. Whatever instant the manager is killed at,
   it holds every trial that was recorded and no half one. */
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
  uint64_t asked_after; /* how many results had been told when it was asked for */
  bool done;            /* has a result: the fields below */
  enum tutti_state state;
  double loss;   /* NaN unless finished */
  uint64_t told; /* place in the order of telling, from 0; TUTTI_NO_TRIAL: not told yet */
  double seconds;
  uint32_t worker;
  const char *failure; /* "" unless failed */
  const char *report;  /* JSON: epochs, parameters, metrics, files with sizes and checksums */
};

/* "wal" where shared memory and locks work, "delete" on network file systems. */
TUTTI_API const char *tutti_catalogue_journal_mode(const char *folder);

/* Open for writing (made if absent) or for reading alone. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_open(tutti_context *context, const char *path, bool write,
                                                                 tutti_catalogue **catalogue);
TUTTI_API void tutti_catalogue_close(tutti_catalogue *catalogue);

/* Changes between begin and commit are durable together or not at all. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_begin(tutti_context *context, tutti_catalogue *catalogue);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_commit(tutti_context *context, tutti_catalogue *catalogue);

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_asked(tutti_context *context, tutti_catalogue *catalogue,
                                                                  const struct tutti_trial *trial);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_done(tutti_context *context, tutti_catalogue *catalogue,
                                                                 const struct tutti_trial *trial);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_told(tutti_context *context, tutti_catalogue *catalogue,
                                                                 uint64_t number, uint64_t told);
/* Texts by key: recipe, fingerprint, ensemble, builder state, ... *text = NULL when absent; free with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_set(tutti_context *context, tutti_catalogue *catalogue,
                                                                const char *key, const char *text);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_catalogue_get(tutti_context *context, tutti_catalogue *catalogue,
                                                                const char *key, char **text);
/* Visit all trials by number; ends with visit's status when that is not TUTTI_OK. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_catalogue_visit(tutti_context *context, tutti_catalogue *catalogue,
                      enum tutti_status (*visit)(void *argument, const struct tutti_trial *t), void *argument);

TUTTI_END_DECLS
#endif
