/* closest_name.c - finds the name that was probably meant: Damerau-Levenshtein distance (optimal string alignment), in
   which a letter in another case is nearly right. */
#include <ctype.h>
#include <string.h>
#include <tutti/names.h>

/* What an edit costs, and a letter in the wrong case. */
enum { LONGEST = 64, EDIT = 4, OTHER_CASE = 1 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* What it costs to replace one letter by another. */
static size_t replacing(char a, char b) {
  if (a == b)
    return 0;
  return tolower((unsigned char)a) == tolower((unsigned char)b) ? OTHER_CASE : EDIT;
}

/* The cost of edits (insert, delete, replace, swap of neighbours) between texts of at most LONGEST characters. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b_length; j++)
    above[j] = before[j] = EDIT * j;
  for (size_t i = 1; i <= a_length; i++) {
    row[0] = EDIT * i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t replaced = above[j - 1] + replacing(a[i - 1], b[j - 1]);
      row[j] = smaller(replaced, smaller(above[j], row[j - 1]) + EDIT);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = smaller(row[j], before[j - 2] + EDIT);
    }
    size_t *oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[b_length];
}

const char *tutti_closest_name(const char *name, size_t count, const char *const *names) {
  size_t length = strlen(name), best = SIZE_MAX;
  const char *closest = NULL;
  if (length > LONGEST)
    return NULL;
  for (size_t i = 0; i < count; i++) {
    size_t other = names[i] ? strlen(names[i]) : LONGEST + 1;
    if (other > LONGEST)
      continue;
    size_t distance = edit_distance(name, length, names[i], other);
    /* At most a third of the letters may be wrong: beyond that, something else was meant. */
    if (distance < best && 3 * distance <= EDIT * ((length > other ? length : other) + 1)) {
      best = distance;
      closest = names[i];
    }
  }
  return closest;
}
