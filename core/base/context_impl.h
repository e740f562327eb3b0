/* context_impl.h - the inside of a context; for core/, and in engine/ for the registry of plugins and for work that is
   to log nothing. */
#ifndef TUTTI_CONTEXT_IMPL_H
#define TUTTI_CONTEXT_IMPL_H

#include <stdatomic.h>
#include <tutti/context.h>

enum { TUTTI_MESSAGE_SIZE = 4096, TUTTI_TRACE_SIZE = 2048 };

struct tutti_descriptor;

struct tutti_context {
  enum tutti_status status;
  char message[TUTTI_MESSAGE_SIZE];
  char trace[TUTTI_TRACE_SIZE];
  tutti_log_function log;
  void *log_argument;
  _Atomic bool cancelled; /* by signal handlers and other threads, too */
  unsigned threads;
  /* running.c: the plugin whose code runs now, the innermost of several, and when the outermost began (tutti_clock). A
     watcher on another thread and signal handlers read them. */
  _Atomic(const struct tutti_descriptor *) running;
  _Atomic double running_since;
  _Atomic bool loading;
  _Atomic double running_limit;
  /* A limit of addresses that the user did not set by ulimit, and what to call it (tutti_memory_name_limit). */
  size_t memory_limit;
  const char *memory_limit_of;
  bool trusts_runs; /* tutti_trust_runs */
  bool files_wait;  /* tutti_file_group_begin */
  /* The plugin registry (engine/plugins/registry.c), made on first use, and the function that destroys it. */
  void *registry;
  void (*registry_destroy)(void *registry);
  /* The ops that plugins brought (op_table.c), likewise. */
  void *ops;
  void (*ops_destroy)(void *ops);
};

#endif
