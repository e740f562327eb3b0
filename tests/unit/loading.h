/* loading.h - data sets from a few lines, for tests: a temporary folder, files in it, parameters as texts. */
#ifndef LOADING_H
#define LOADING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/data.h>
#include <tutti/random.h>

extern tutti_context *context;
extern tutti_dataset *dataset; /* the last one that was loaded; destroyed with the next and at the end */
extern char folder[64];

/* Set-up and tear-down of each test. */
int loading_begin(void **state);
int loading_end(void **state);
#define data_test(function) cmocka_unit_test_setup_teardown(function, loading_begin, loading_end)

/* Parameters by which inputs are the numbers of a.csv: all rows in the training split, nothing scaled. */
#define PLAIN "split=1 0 0\nstandardise=no\npath=a.csv\n"

/* Write a file in the folder. */
void put_bytes(const char *name, const void *bytes, size_t count);
void put(const char *name, const char *text);
/* Load with [data] and [head] as given, as in "path=a.csv target=y\nsplit=1 0 0": one parameter a line, those of [head]
   with "head." in front. Seed 1. */
enum tutti_status load(const char *parameters);
/* Load, and fail the test where that fails. */
void loads(const char *parameters);
/* Fail the test unless loading fails with TUTTI_ERROR_USAGE and a message that has `part` in it. */
void refuses(const char *part, const char *parameters);
const tutti_split *split_of(const char *name);
/* Rows of all splits together. */
size_t total_rows(void);
/* Describe the data set, and send a file through the description. */
enum tutti_status apply(const char *file, tutti_split **split);
void apply_refuses(const char *part, const char *file);

#endif
