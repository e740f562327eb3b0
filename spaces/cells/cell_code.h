/* cell_code.h - cells of NAS-Bench-201 as numbers and as strings. A cell has nodes 0 (its input) to 3 (its output), and
   an operation on each of its six edges. Edges are numbered in the order of the string: 0-1, 0-2, 1-2, 0-3, 1-3,
   2-3. */
#ifndef CELL_CODE_H
#define CELL_CODE_H

#include <tutti/plugin.h>

enum { CODE_NODES = 4, CODE_EDGES = 6, CODE_OPERATIONS = 5, CODE_CELLS = 15625, CODE_TEXT = 128 };
enum code_operation { CODE_NONE, CODE_SKIP_CONNECT, CODE_NOR_CONV_1X1, CODE_NOR_CONV_3X3, CODE_AVG_POOL_3X3 };
/* In the benchmark's order, NULL-terminated. */
extern const char *const code_operation_names[CODE_OPERATIONS + 1];

struct code_cell {
  int operations[CODE_EDGES];
};

/* Number of the edge from node `from` to the later node `to`. */
static inline int code_edge(int from, int to) { return to * (to - 1) / 2 + from; }

/* "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|" */
void code_write(const struct code_cell *cell, char text[CODE_TEXT]);
/* Read such a string; the error says where it is wrong. */
TUTTI_NODISCARD enum tutti_status code_read(tutti_context *context, const char *text, struct code_cell *cell);

/* Cells that have a name, by their index in the benchmark (cell_named.c). */
struct code_named {
  const char *name;
  int index;
};
enum { CODE_NAMED = 8 };
extern const struct code_named code_named[CODE_NAMED];

/* order[i]: the cell with index i in the benchmark, as a number of six digits to base 5, edge 0 first. */
void code_order(uint16_t order[CODE_CELLS]);
struct code_cell code_of_number(uint16_t number);

#endif
