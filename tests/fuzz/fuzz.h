/* fuzz.h - what the fuzz targets share. A target is one file: its name, and what it does with some bytes. libFuzzer's
   main (make fuzz) tries new ones for as long as it may; the main of replay.c (make check) runs the seeds, once each. A
   target must return after any bytes, and free all that it took: sanitizers, a limit on memory and one on time watch
   it. */
#ifndef TUTTI_TESTS_FUZZ_H
#define TUTTI_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <tutti/tutti.h>

/* The folder of its seeds, tests/fuzz/seeds/NAME. */
extern const char fuzz_name[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A context for the whole process, which finds the plugins of this build; the last input's error is cleared. */
tutti_context *fuzz_context(void);
/* The bytes as a file of that name in a folder of this process; the path stays valid until the next call with this
   name. The folder goes at the end. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);
/* The folder, for targets with more files. */
const char *fuzz_folder(void);
/* The bytes as a text, which ends with NUL; free it. */
char *fuzz_text(const uint8_t *data, size_t size);
/* A property that has to hold: else the target ends with a crash. */
#define FUZZ_REQUIRE(condition) fuzz_require((condition), #condition, __FILE__, __LINE__)
void fuzz_require(bool holds, const char *condition, const char *file, int line);
/* A call has failed: then there is no result, but a message, which TUTTI_VERBOSE=1 in the environment prints. */
void fuzz_failed(const void *result);
/* And the fault is the data's, not the program's or a plugin's. */
void fuzz_refused(const void *result);
/* Read bytes as the file `name` with a source plugin, as rows of a data set and as new rows; `labels` may be NULL. */
void fuzz_source(const char *plugin, const char *name, const uint8_t *data, size_t size, const uint8_t *labels,
                 size_t labels_size);

#endif
