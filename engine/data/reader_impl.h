/* reader_impl.h - the stored source of a data set, and new rows read by it or by another source that claims the file's
   ending; for engine/data/ alone. */
#ifndef TUTTI_READER_IMPL_H
#define TUTTI_READER_IMPL_H

#include <tutti/hosting.h>

/* A source and the values of its parameters, as a recipe would write them. */
struct tutti_origin {
  char *plugin;
  size_t count;
  char **keys, **values; /* [count] */
  char **settled; /* parameters that the file decided, as tutti_rows_settle says: name, value, ..., NULL; or NULL */
};

/* The source, and what it has settled for the rows. */
TUTTI_NODISCARD enum tutti_status tutti_origin_take(tutti_context *context, const tutti_source *source,
                                                    const tutti_rows *rows, struct tutti_origin *origin);
void tutti_origin_release(struct tutti_origin *origin);
/* Keep one more parameter that the file decided. */
TUTTI_NODISCARD enum tutti_status tutti_origin_settle(tutti_context *context, struct tutti_origin *origin,
                                                      const char *parameter, const char *value);
/* Make room for `count` parameters, whose texts are still NULL. */
TUTTI_NODISCARD enum tutti_status tutti_origin_reserve(tutti_context *context, struct tutti_origin *origin,
                                                       size_t count);

/* Read the rows of a new file, by the source that claims its ending, or by the one that the data set came from.
   `named`: the columns of the data set had names. `columns`: those that are used (source.h), or NULL. Rows of a table
   may be such as cannot be read (tutti_rows_unread). TUTTI_ERROR_USAGE if the file holds a table and images are wanted,
   or the reverse. Free *rows with tutti_rows_destroy. */
TUTTI_NODISCARD enum tutti_status tutti_read_new(tutti_context *context, const struct tutti_origin *origin,
                                                 const char *path, bool named, const char *const *columns,
                                                 enum tutti_rows_wanted wanted, tutti_rows **rows);
/* Make the source of a data set, with its parameters and what was settled. Destroy *source, and then *host. */
TUTTI_NODISCARD enum tutti_status tutti_origin_source(tutti_context *context, const struct tutti_origin *origin,
                                                      tutti_host **host, tutti_source **source);
/* TUTTI_ERROR_USAGE unless the rows of `origin` are what is wanted, a table or images. */
TUTTI_NODISCARD enum tutti_status tutti_check_rows_wanted(tutti_context *context, const char *origin,
                                                          enum tutti_rows_wanted wanted, const tutti_rows *rows);

#endif
