/* darts.h - networks of DARTS cells: a stem of 3 x channels, reductions at a third and two thirds, a mean over all
   pixels. */
#ifndef BENCH_DARTS_H
#define BENCH_DARTS_H

#include <stdbool.h>
#include <tutti/tutti.h>

enum { DARTS_NODES = 4, DARTS_EDGES = 2 * DARTS_NODES };

struct darts_edge {
  uint32_t input;
  int op;
};
struct darts_genotype {
  struct darts_edge cells[2][DARTS_EDGES]; /* normal, reduction */
};

struct darts_genotype darts_draw(uint64_t index);
/* 16 edges "input:op", separated by commas: 8 of the normal cell, two for each of its four nodes, then 8 of the
   reduction cell; ops are max3, avg3, skip, sep3, sep5, dil3, dil5. False: it is not that. */
bool darts_parse(const char *text, struct darts_genotype *g);
enum tutti_status darts_network(tutti_context *context, int cells, int channels, const struct tutti_task *task,
                                const struct darts_genotype *genotype, tutti_network **network);

#endif
