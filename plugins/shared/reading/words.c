/* words.c - see words.h. */
#include "words.h"

#include <string.h>
#include <tutti/plugin.h>

static const char blanks[] = " \t";

/* Is it a number, maybe with a decimal comma? */
static bool is_number(const char *text, size_t length) {
  char copy[64], *comma;
  double number;
  if (length >= sizeof copy)
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  if ((comma = strchr(copy, ',')))
    *comma = '.';
  return tutti_cell_read(copy, &number) == TUTTI_CELL_NUMBER;
}

void reading_words_add(struct reading_words *words, const char *text) {
  size_t length;
  for (text += strspn(text, blanks); (length = strcspn(text, blanks)) > 0; words->count++) {
    words->number = words->number || is_number(text, length);
    text += length;
    length = strspn(text, blanks);
    words->tabs = words->tabs || memchr(text, '\t', length);
    words->runs = words->runs || length > 1;
    text += length;
  }
}

void reading_words_cast(struct reading_words_vote *vote, const char *text) {
  struct reading_words row = {0}, *words = &vote->words;
  reading_words_add(&row, text);
  const bool is_table = row.count > 1 && row.number;
  if (is_table && row.count == words->count) {
    vote->lead++;
    words->tabs = words->tabs || row.tabs;
    words->runs = words->runs || row.runs;
  } else if (vote->lead > 0) {
    vote->lead--;
  } else if (is_table) {
    *vote = (struct reading_words_vote){row, 1};
  }
}

const char *reading_words_advice(const struct reading_words *words) {
  if (words->runs)
    return "if blanks separate the cells, set data.delimiter = space and make one blank of each run of them: "
           "sed 's/[[:blank:]][[:blank:]]*/ /g; s/^ //; s/ $//' FILE > NEW";
  return words->tabs ? "if tabs separate the cells, set data.delimiter = tab"
                     : "if blanks separate the cells, set data.delimiter = space";
}
