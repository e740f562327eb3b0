/* path_labels.h - short names for files that are told apart. */
#ifndef TUTTI_PATH_LABELS_H
#define TUTTI_PATH_LABELS_H

#include <tutti/context.h>

/* The shortest names that tell files apart: "concrete" for data/concrete.csv or, beside wine/data.csv, for
   concrete/data.csv. Replaces labels[count] (NULL or from tutti_alloc); free them with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_path_labels(tutti_context *context, size_t count, const char *const *paths,
                                                    char **labels);

#endif
