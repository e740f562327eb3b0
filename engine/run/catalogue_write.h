/* catalogue_write.h - what only the manager of a run does: it records trials. Exported for tests. */
#ifndef TUTTI_CATALOGUE_WRITE_H
#define TUTTI_CATALOGUE_WRITE_H

#include "core/base/private.h"

#include <tutti/catalogue.h>

/* Begin a change; changes up to tutti_catalogue_commit become durable together or not at all. If the commit fails, none
   of them is kept. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_catalogue_begin(tutti_context *context,
                                                                      tutti_catalogue *catalogue);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_catalogue_commit(tutti_context *context,
                                                                       tutti_catalogue *catalogue);

/* Record that a trial was asked for: number, candidate, parent, origin and asked_after are read. TUTTI_ERROR_IO also if
   the number is recorded already. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status
tutti_catalogue_asked(tutti_context *context, tutti_catalogue *catalogue, const struct tutti_trial *trial);
/* Record the result of trial->number: state, loss, seconds, worker, failure, report and at are read. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_catalogue_done(tutti_context *context, tutti_catalogue *catalogue,
                                                                     const struct tutti_trial *trial);
/* Record that the result of trial `number` was told to the builder as number `told`, from 0. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_catalogue_told(tutti_context *context, tutti_catalogue *catalogue,
                                                                     uint64_t number, uint64_t told);
/* Set the text of a key ("recipe", "fingerprint", "builder", ...); an old one is replaced. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_catalogue_set(tutti_context *context, tutti_catalogue *catalogue,
                                                                    const char *key, const char *text);

#endif
