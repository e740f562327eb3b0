/* record_impl.h - what is recorded of files, so that a torn or changed one is noticed before it is used: a JSON array
   of
   {"name", "bytes", "crc32"}. Reports of trials have one, and the catalogue's fact "files". */
#ifndef TUTTI_RECORD_IMPL_H
#define TUTTI_RECORD_IMPL_H

#include <jansson.h>
#include <tutti/context.h>

/* A member of the report of a trial: what a prediction of one row takes, in microseconds of a processor. */
#define TUTTI_REPORT_MICROSECONDS "microseconds"
/* Another, of a network that leaves inputs out (tutti_backend_unread): how many "inputs", and how many "bytes" of its
   weights are zeros for these. */
#define TUTTI_REPORT_UNREAD "unread"
/* Another: the record of its weights, if they were removed. */
#define TUTTI_REPORT_REMOVED "removed"

/* Add a file of a folder, as it is now. */
TUTTI_NODISCARD enum tutti_status tutti_record_add(tutti_context *context, json_t *record, const char *folder,
                                                   const char *name);
/* Is a file as it was recorded? TUTTI_ERROR_CORRUPT: it is not, or the record does not have it. */
TUTTI_NODISCARD enum tutti_status tutti_record_check(tutti_context *context, const json_t *record, const char *folder,
                                                     const char *name);
/* The same for a file of a trial, whose report has the record; `path` is that of the file, in the trial's folder. */
TUTTI_NODISCARD enum tutti_status tutti_record_check_trial(tutti_context *context, const char *directory,
                                                           uint64_t trial, const char *report, const char *path);
/* Does a trial's report have a record of a file of that name? */
bool tutti_record_has(const char *report, const char *name);
/* Are all files as they were recorded? *why (free with tutti_free) says of the first that is not what is wrong, and is
   NULL if there is none. TUTTI_ERROR_CORRUPT: this is no record, or it names files outside the folder. */
TUTTI_NODISCARD enum tutti_status tutti_record_check_all(tutti_context *context, const json_t *record,
                                                         const char *folder, char **why);
/* The same for all files of a trial. */
TUTTI_NODISCARD enum tutti_status tutti_record_check_report(tutti_context *context, const char *directory,
                                                            uint64_t trial, const char *report, char **why);

#endif
