/* profile_copies.c - rows that are exact copies of others: some of them are test rows that models have seen. */
#include <string.h>

#include "profile_impl.h"
#include "core/plugin/split_impl.h"

static bool is_used(uint8_t role) { return role == ROLE_INPUT || role == ROLE_CATEGORIES || role == ROLE_TARGET; }

/* The same for rows whose cells are all the same; never 0. */
static uint64_t hash_of(const tutti_rows *table, const uint8_t *roles, size_t row) {
  uint64_t hash = TUTTI_HASH_BEGIN;
  for (size_t c = 0; c < tutti_rows_columns(table); c++) {
    uint8_t cell = (uint8_t)tutti_rows_cell(table, row, c);
    double number = tutti_rows_number(table, row, c) + 0.0; /* -0 is 0 */
    const char *text = tutti_rows_text(table, row, c);
    if (!is_used(roles[c]))
      continue;
    hash = tutti_hash(hash, &cell, 1);
    if (cell == TUTTI_CELL_TEXT)
      hash = tutti_hash(hash, text, strlen(text) + 1);
    else if (cell != TUTTI_CELL_MISSING)
      hash = tutti_hash(hash, &number, sizeof number);
  }
  return hash ? hash : 1;
}

/* Is it new in the table of `size` places, a power of 2, which is never full? Then it is added. */
static bool is_new(uint64_t hash, size_t size, uint64_t *seen) {
  size_t place = (size_t)(hash ^ hash >> 32) & (size - 1);
  while (seen[place] && seen[place] != hash)
    place = (place + 1) & (size - 1);
  bool is_free = seen[place] == 0;
  seen[place] = hash;
  return is_free;
}

enum tutti_status tutti_profile_copies(tutti_context *context, const tutti_rows *table, const uint8_t *roles,
                                       size_t *copies) {
  size_t rows = tutti_rows_count(table), size = 2;
  uint64_t *seen;
  *copies = 0;
  while (size / 2 < rows)
    size *= 2;
  TUTTI_TRY(context, tutti_alloc(context, size, sizeof *seen, &seen));
  for (size_t r = 0; r < rows; r++)
    *copies += !is_new(hash_of(table, roles, r), size, seen);
  tutti_free(seen);
  return TUTTI_OK;
}
