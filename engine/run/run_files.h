/* run_files.h - the layout of a run directory: only this module knows the names of files. docs/run-directory.md
   describes their contents. Free paths with tutti_free. */
#ifndef TUTTI_RUN_FILES_H
#define TUTTI_RUN_FILES_H

#include <tutti/run.h>

/* --- the directory itself; tutti_run_file_path is public --- */

/* Make a folder for what is written anew. TUTTI_ERROR_USAGE: it is there and has files. */
TUTTI_NODISCARD enum tutti_status tutti_run_begin_folder(tutti_context *context, const char *directory);

const char *tutti_run_file_name(enum tutti_run_file file);
/* Does the file exist? */
bool tutti_run_file_is_there(const char *directory, enum tutti_run_file file);
/* Write a text, whole or not at all. */
TUTTI_NODISCARD enum tutti_status tutti_run_file_write(tutti_context *context, const char *directory,
                                                       enum tutti_run_file file, const char *text);
/* Read a text; *text is NULL if there is no such file. Free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_file_read(tutti_context *context, const char *directory,
                                                      enum tutti_run_file file, char **text);
/* A run directory may come from anybody. Fail with TUTTI_ERROR_CORRUPT if something of the layout is there but is not a
   regular file (or folder) of this directory; the links of tutti_run_share are fine. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_layout(tutti_context *context, const char *directory);
/* The same for a path below it: no link, a regular file (or a folder). What is not there is fine. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_file(tutti_context *context, const char *path);
TUTTI_NODISCARD enum tutti_status tutti_run_check_folder(tutti_context *context, const char *path);
/* A file of a trial, and the trial's folder. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_trial(tutti_context *context, const char *directory, uint64_t trial,
                                                        const char *path);

/* Remove a folder with the files in it, if there is one; links are not followed. */
void tutti_run_remove_folder(const char *path);

/* Does the directory hold a run? */
bool tutti_run_directory_has_run(const char *directory);
/* If it has trials, is their catalogue there? TUTTI_ERROR_CORRUPT. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_catalogue(tutti_context *context, const char *directory);
/* Does it hold the pools of several runs (joined.c)? */
bool tutti_run_directory_has_pools(const char *directory);
/* Does the run in it have a result? */
bool tutti_run_directory_is_finished(const char *directory);

/* --- pools that runs share --- */

/* Turn an existing directory into a run that shares the trials, splits and catalogue of the run in ../OWNER. */
TUTTI_NODISCARD enum tutti_status tutti_run_share(tutti_context *context, const char *directory, const char *owner);
/* Do they belong to another run? */
bool tutti_run_is_shared(const char *directory);
/* Do they belong to other runs, too: to the one that they are of, or to runs beside this one? */
bool tutti_run_has_sharers(const char *directory);

/* --- several runs as one pool --- */

/* The directory of run `index` (from 0). */
TUTTI_NODISCARD enum tutti_status tutti_run_part_path(tutti_context *context, const char *directory, size_t index,
                                                      char **path);

/* --- splits --- */

/* The files of a split: row numbers in the source, values of the targets or class numbers, folds and groups. */
enum tutti_split_file {
  TUTTI_SPLIT_FILE_ROWS,
  TUTTI_SPLIT_FILE_TARGETS,
  TUTTI_SPLIT_FILE_LABELS,
  TUTTI_SPLIT_FILE_FOLDS,
  TUTTI_SPLIT_FILE_GROUPS,
  TUTTI_SPLIT_FILES
};
TUTTI_NODISCARD enum tutti_status tutti_split_file_name(tutti_context *context, const char *split,
                                                        enum tutti_split_file file, char **name);
TUTTI_NODISCARD enum tutti_status tutti_run_split_path(tutti_context *context, const char *directory, const char *split,
                                                       enum tutti_split_file file, char **path);

/* --- trials --- */

/* Files of a trial besides its predictions. The last one only lies where workers do not see the run's directory, before
   the trial is trained. */
enum tutti_trial_file {
  TUTTI_TRIAL_FILE_NETWORK,
  TUTTI_TRIAL_FILE_CURVE,
  TUTTI_TRIAL_FILE_WEIGHTS,
  TUTTI_TRIAL_FILE_INITIAL
};
const char *tutti_trial_file_name(enum tutti_trial_file file);
/* The name of the file of predictions for a split. */
TUTTI_NODISCARD enum tutti_status tutti_trial_predictions_name(tutti_context *context, const char *split, char **name);
/* The name of the file beside it, with what of their uncertainty is the model's own; some trials have none. */
TUTTI_NODISCARD enum tutti_status tutti_trial_epistemic_name(tutti_context *context, const char *split, char **name);
TUTTI_NODISCARD enum tutti_status tutti_trial_folder(tutti_context *context, const char *directory, uint64_t trial,
                                                     char **path);
TUTTI_NODISCARD enum tutti_status tutti_trial_file_path(tutti_context *context, const char *directory, uint64_t trial,
                                                        enum tutti_trial_file file, char **path);
TUTTI_NODISCARD enum tutti_status tutti_trial_predictions_path(tutti_context *context, const char *directory,
                                                               uint64_t trial, const char *split, char **path);

#endif
