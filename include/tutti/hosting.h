/* hosting.h - for embedders: put plugins into a host by name, and call those that no other plugin uses: sources,
   executors and pruners. The calls of the other kinds stand in the kinds' own headers, since plugins have them, too. */
#ifndef TUTTI_HOSTING_H
#define TUTTI_HOSTING_H

#include <tutti/assembly.h>
#include <tutti/executor.h>
#include <tutti/pruner.h>
#include <tutti/source.h>

TUTTI_BEGIN_DECLS

/* --- plugins in sections ------------------------------------------------------------------------------------------ */

/* Put a plugin in a section ("surrogate", or the name of any parameter), with its parameters at their presets. For each
   of its parameters of type TUTTI_PARAM_PLUGIN, the plugin that the preset names goes into the section of the
   parameter's name, unless a plugin is there already. "none" and "" empty the section; "none" does not where the kind
   has a plugin of that name (pruner, calibrator). Errors are those of tutti_plugin_find (registry.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_host_put(tutti_context *context, tutti_host *host, const char *section, enum tutti_kind kind, const char *plugin);
/* The same for a plugin that a searchable parameter may name: it goes into the section of its own name, where it may be
   already. TUTTI_ERROR_USAGE: another plugin is there. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_put_named(tutti_context *context, tutti_host *host,
                                                                 enum tutti_kind kind, const char *plugin);
/* Set a parameter of the plugin in a section from text, as a recipe writes it. A parameter of type TUTTI_PARAM_PLUGIN
   also puts the plugin that it names. TUTTI_ERROR_USAGE: the section is empty, the parameter or its value is wrong, or
   another plugin asks for another kind in that section. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_set(tutti_context *context, tutti_host *host,
                                                           const char *section, const char *key, const char *text);
/* Check that every required parameter of every section is set and that plugins which share a section name the same
   plugin; else TUTTI_ERROR_USAGE. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_check(tutti_context *context, const tutti_host *host);

/* --- sources ------------------------------------------------------------------------------------------------------ */

/* Make an instance of the source plugin in `section` of the host; the caller destroys *source. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_create(tutti_context *context, const tutti_host *host,
                                                                const char *section,
                                                                const struct tutti_source_setup *setup,
                                                                tutti_source **source);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_source_destroy(tutti_source *source);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_source_descriptor(const tutti_source *source);
/* The files that it reads: TUTTI_SOURCE_PATH | ... */
TUTTI_API unsigned tutti_source_reads(const tutti_source *source);
/* Check the paths of a request, without opening them. TUTTI_ERROR_USAGE: a path that the source needs is missing, or it
   has no use for one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_check(tutti_context *context, const tutti_source *source,
                                                               const struct tutti_source_request *request);
/* Check the request, read, and check the rows; the caller destroys *rows. TUTTI_ERROR_USAGE: the request, a file or a
   parameter is wrong, or there are no rows; TUTTI_ERROR_PLUGIN: the source broke its contract. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_read(tutti_context *context, tutti_source *source,
                                                              const struct tutti_source_request *request,
                                                              tutti_rows **rows);
/* Ask for the meaning[TUTTI_SOURCE_WORD_ROOM] of a word that is another in files of the source (`reword` in source.h);
   *other is false where it is not. TUTTI_ERROR_PLUGIN: the source broke its contract. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_reword(tutti_context *context, const tutti_source *source,
                                                                const char *word, char *meaning, bool *other);
/* Ask for a number that marks missing cells (`mark` in source.h); *any is false where there are no more.
   TUTTI_ERROR_PLUGIN: the source broke its contract. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_mark(tutti_context *context, const tutti_source *source,
                                                              size_t index, double *number, bool *any);
/* Its parameters; borrowed. */
TUTTI_API const tutti_config *tutti_source_config(const tutti_source *source);
/* Does one of its endings, other than "", fit this path? */
TUTTI_API bool tutti_source_fits(const tutti_source *source, const char *path);

/* --- executors ---------------------------------------------------------------------------------------------------- */

/* Make an instance of the executor plugin in `section` of the host; the caller destroys *executor. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_INTERNAL also without workers,
   capacity or a worker command. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_create(tutti_context *context, const tutti_host *host,
                                                                  const char *section,
                                                                  const struct tutti_executor_setup *setup,
                                                                  tutti_executor **executor);
/* End the workers, idle ones by closing their input and busy ones by a signal, and destroy it; NULL is allowed. */
TUTTI_API void tutti_executor_destroy(tutti_executor *executor);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_executor_descriptor(const tutti_executor *executor);
/* How many trials it holds at once without queueing. */
TUTTI_API size_t tutti_executor_capacity(const tutti_executor *executor);
/* Hand over a request, which is borrowed until return; it may queue. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_submit(tutti_context *context, tutti_executor *executor,
                                                                  uint64_t trial, const char *request);
/* Wait for one reply, at most `timeout` seconds (< 0: without end). *reply is overwritten; the caller frees reply->text
   with tutti_free. Kind TUTTI_REPLY_NONE: the time is over, a signal came, or the context is cancelled.
   TUTTI_ERROR_PLUGIN: a reply of no kind, or without a text. TUTTI_ERROR_INTERNAL: reply->size is not set. A worker
   that cannot start is an error with its message. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_wait(tutti_context *context, tutti_executor *executor,
                                                                double timeout, struct tutti_reply *reply);
/* Hand a text to the worker that trains a trial, so that it stops with the epoch that it is at. Nothing happens if the
   plugin cannot, or no worker trains it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_stop(tutti_context *context, tutti_executor *executor,
                                                                uint64_t trial, const char *text);
/* End a training without its worker's consent; its reply comes as ever. Does nothing if the executor ends none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_end(tutti_context *context, tutti_executor *executor,
                                                               uint64_t trial);
/* Seconds of the clock by which its trainings take time. */
TUTTI_API double tutti_executor_clock(const tutti_executor *executor);
/* What came of the workers, as a JSON object; NULL if the plugin says nothing. Free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_describe(tutti_context *context, tutti_executor *executor,
                                                                    char **json);
/* If the processes of the plugin in `section` are started by others (mpirun), and this one was started to serve the
   manager, do so until that has ended; *served says whether it was. Called before tutti_executor_create with the same
   setup, but that its capacity counts for nothing. *executor is what holds these processes together, and NULL for other
   plugins: destroy it after the manager's own instance. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_serve(tutti_context *context, const tutti_host *host,
                                                                 const char *section,
                                                                 const struct tutti_executor_setup *setup,
                                                                 tutti_executor **executor, bool *served);

/* --- pruners ------------------------------------------------------------------------------------------------------ */

/* Make an instance of the pruner plugin in `section` of the host; the caller destroys *pruner. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_pruner_create(tutti_context *context, const tutti_host *host,
                                                                const char *section,
                                                                const struct tutti_pruner_setup *setup,
                                                                tutti_pruner **pruner);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_pruner_destroy(tutti_pruner *pruner);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_pruner_descriptor(const tutti_pruner *pruner);
/* Tell how a trial went; borrowed until return. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_pruner_tell(tutti_context *context, tutti_pruner *pruner,
                                                              const struct tutti_curve *curve);
/* Does it never prune anything? */
TUTTI_API bool tutti_pruner_idle(const tutti_pruner *pruner);
/* Ask what trial number `trial` must reach; the caller destroys *rule, which is NULL on failure. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_pruner_rule(tutti_context *context, tutti_pruner *pruner,
                                                              uint64_t trial, tutti_rule **rule);

TUTTI_END_DECLS
#endif
