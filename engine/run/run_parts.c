/* run_parts.c - finds, among several runs that are one pool, the one that a trial is of. */
#include "run_view_impl.h"

const struct tutti_part *tutti_history_part(const struct tutti_history *history, uint64_t trial) {
  size_t i = history->part_count - 1;
  while (i > 0 && trial < history->parts[i].first)
    i--;
  return &history->parts[i];
}

const struct tutti_run_pool *tutti_run_pool_of(const struct tutti_run_pool *source, uint64_t *trial) {
  if (!source->history || !source->history->parts)
    return source;
  const struct tutti_part *part = tutti_history_part(source->history, *trial);
  *trial -= part->first;
  return &part->view->pool;
}

const tutti_scope *tutti_history_scope(const struct tutti_history *history, uint64_t trial, const tutti_scope *own) {
  return history->parts ? tutti_history_part(history, trial)->view->experiment->scope : own;
}

const char *tutti_view_source(const tutti_view *view) {
  return view->parts ? view->parts[0].view->directory : view->directory;
}
