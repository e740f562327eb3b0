/* records.h - the binary files of CIFAR-10 and CIFAR-100, possibly gzipped. Each record has label bytes and 32 x 32
   pixels: first red, then green, then blue. */
#ifndef SOURCE_CIFAR_RECORDS_H
#define SOURCE_CIFAR_RECORDS_H

#include <tutti/plugin.h>

/* The layout of a data set's records, and the names of its files in a folder. */
struct cifar_layout {
  size_t label_bytes, label, classes; /* bytes before the pixels; which of them is the class */
  const char *train[6], *test;        /* file names, NULL-terminated */
};

/* Op `read` of all three sources. */
TUTTI_NODISCARD enum tutti_status cifar_read(tutti_context *context, const struct cifar_layout *layout,
                                             const struct tutti_source_request *request, tutti_rows *rows);

enum { CIFAR_READS = TUTTI_SOURCE_PATH | TUTTI_SOURCE_TARGET_PATH | TUTTI_SOURCE_TEST_PATH };

#endif
