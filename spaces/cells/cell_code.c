/* cell_code.c - cells of NAS-Bench-201 as numbers and as strings. */
#include "cell_code.h"

#include <stdio.h>
#include <string.h>

const char *const code_operation_names[CODE_OPERATIONS + 1] = {"none",         "skip_connect", "nor_conv_1x1",
                                                               "nor_conv_3x3", "avg_pool_3x3", NULL};

void code_write(const struct code_cell *cell, char text[CODE_TEXT]) {
  size_t used = 0;
  for (int to = 1; to < CODE_NODES; to++) {
    used += (size_t)snprintf(text + used, CODE_TEXT - used, "%s|", to > 1 ? "+" : "");
    for (int from = 0; from < to; from++)
      used += (size_t)snprintf(text + used, CODE_TEXT - used, "%s~%d|",
                               code_operation_names[cell->operations[code_edge(from, to)]], from);
  }
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static enum tutti_status expect(tutti_context *context, const char *text, const char **at, const char *expected) {
  size_t length = strlen(expected);
  if (strncmp(*at, expected, length) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "cell '%s': expected '%s' at character %td, found '%.20s'; a cell is written like "
                      "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
                      text, expected, *at - text, *at);
  *at += length;
  return TUTTI_OK;
}

static enum tutti_status read_operation(tutti_context *context, const char *text, const char **at, int from, int to,
                                        int *operation) {
  char name[32];
  size_t length = strcspn(*at, "~|+");
  (void)snprintf(name, sizeof name, "%.*s", (int)length, *at);
  for (*operation = 0; *operation < CODE_OPERATIONS; ++*operation)
    if (strcmp(code_operation_names[*operation], name) == 0) {
      *at += length;
      return TUTTI_OK;
    }
  const char *closest = tutti_closest_name(name, CODE_OPERATIONS, code_operation_names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "cell '%s': edge %d-%d: there is no operation '%s'%s%s%s; there are none, skip_connect, "
                    "nor_conv_1x1, nor_conv_3x3, avg_pool_3x3",
                    text, from, to, name, closest ? "; did you mean '" : "", closest ? closest : "",
                    closest ? "'?" : "");
}

static enum tutti_status read_edge(tutti_context *context, const char *text, const char **at, int from, int to,
                                   int *operation) {
  TUTTI_TRY(context, read_operation(context, text, at, from, to, operation));
  TUTTI_TRY(context, expect(context, text, at, "~"));
  int input = **at >= '0' && **at <= '9' ? **at - '0' : -1;
  if (input != from)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "cell '%s': node %d: expected an edge from node %d, found '%.20s'; every node reads all nodes "
                      "before it, in order",
                      text, to, from, *at);
  ++*at;
  return expect(context, text, at, "|");
}

enum tutti_status code_read(tutti_context *context, const char *text, struct code_cell *cell) {
  const char *at = text;
  for (int to = 1; to < CODE_NODES; to++) {
    TUTTI_TRY(context, expect(context, text, &at, to > 1 ? "+|" : "|"));
    for (int from = 0; from < to; from++)
      TUTTI_TRY(context, read_edge(context, text, &at, from, to, &cell->operations[code_edge(from, to)]));
  }
  if (*at)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "cell '%s': expected its end at character %td, found '%.20s'", text,
                      at - text, at);
  return TUTTI_OK;
}

/* --- the benchmark's order --------------------------------------------------------------------------------------- */

/* Mersenne Twister (Matsumoto, Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random
   number generator", ACM TOMACS 1998). The benchmark's order comes from it. */
enum { TWISTER_WORDS = 624, TWISTER_SHIFT = 397 };
struct twister {
  uint32_t words[TWISTER_WORDS];
  int used;
};

/* Seeded by an array of one number, as Python's random.seed does. */
static void twister_seed(struct twister *twister, uint32_t seed) {
  uint32_t *words = twister->words;
  int i = 1;
  words[0] = 19650218;
  for (int k = 1; k < TWISTER_WORDS; k++)
    words[k] = 1812433253u * (words[k - 1] ^ (words[k - 1] >> 30)) + (uint32_t)k;
  for (int k = 0; k < 2 * TWISTER_WORDS - 1; k++) {
    uint32_t last = words[i - 1] ^ (words[i - 1] >> 30);
    words[i] = k < TWISTER_WORDS ? (words[i] ^ last * 1664525u) + seed : (words[i] ^ last * 1566083941u) - (uint32_t)i;
    if (++i == TWISTER_WORDS) {
      words[0] = words[TWISTER_WORDS - 1];
      i = 1;
    }
  }
  words[0] = 0x80000000u;
  twister->used = TWISTER_WORDS;
}

static void twister_twist(struct twister *twister) {
  uint32_t *words = twister->words;
  for (int i = 0; i < TWISTER_WORDS; i++) {
    uint32_t mixed = (words[i] & 0x80000000u) | (words[(i + 1) % TWISTER_WORDS] & 0x7fffffffu);
    words[i] = words[(i + TWISTER_SHIFT) % TWISTER_WORDS] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
  }
  twister->used = 0;
}

static uint32_t twister_next(struct twister *twister) {
  if (twister->used == TWISTER_WORDS)
    twister_twist(twister);
  uint32_t word = twister->words[twister->used++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

/* Uniform in [0, bound), bound >= 2: takes the upper bits of words until a value is small enough. */
static uint32_t twister_below(struct twister *twister, uint32_t bound) {
  uint32_t value;
  do
    value = twister_next(twister) >> __builtin_clz(bound);
  while (value >= bound);
  return value;
}

/* All cells in lexicographic order, shuffled with seed 88. */
void code_order(uint16_t order[CODE_CELLS]) {
  struct twister twister = {.used = 0};
  twister_seed(&twister, 88);
  for (uint32_t i = 0; i < CODE_CELLS; i++)
    order[i] = (uint16_t)i;
  for (uint32_t i = CODE_CELLS - 1; i > 0; i--) {
    uint32_t other = twister_below(&twister, i + 1);
    uint16_t moved = order[i];
    order[i] = order[other];
    order[other] = moved;
  }
}

struct code_cell code_of_number(uint16_t number) {
  struct code_cell cell;
  for (int edge = CODE_EDGES; edge-- > 0; number = (uint16_t)(number / CODE_OPERATIONS))
    cell.operations[edge] = number % CODE_OPERATIONS;
  return cell;
}
