/* source_impl.h - how a source says which files are its own; for core/ only. */
#ifndef TUTTI_SOURCE_IMPL_H
#define TUTTI_SOURCE_IMPL_H

#include <tutti/source.h>

/* The longest of a source's endings that fits the path; NULL: none does. */
const char *tutti_source_ending(const struct tutti_source_ops *ops, const char *path);

#endif
