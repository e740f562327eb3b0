/* cuda_tables.h - the rows, networks and trainings of tests of backend cuda's block engine. */
#ifndef TESTS_UNIT_CUDA_TABLES_H
#define TESTS_UNIT_CUDA_TABLES_H

#include "cuda_sides.h"

enum { TABLES_FEATURES = 5, TABLES_ROWS = 45, TABLES_HELD = 19, TABLES_OUTPUTS = 2, TABLES_CLASSES = 3 };

tutti_split *tables_split(const char *name, size_t rows, uint64_t index);
/* The task of a head, and its splits. */
void tables_task(enum tutti_op head);
/* Before and after each test: backends for a Gaussian head. */
int tables_begin(void **state);
int tables_end(void **state);

/* A network of `width` units with batch norm and dropout, so that every kind of sum and draw is there. */
tutti_network *tables_network(int32_t width);

enum { TABLES_TRAININGS = 8, TABLES_SPACES = 4 };

/* Optimisers with what else a training may have; 200 steps each, with as many reports as steps where all rows are a
   batch. */
extern const char *const tables_trainings[TABLES_TRAININGS];
extern const struct sides_space tables_spaces[TABLES_SPACES];

#endif
