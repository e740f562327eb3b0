/* words.c - see words.h. */
#include "words.h"

#include <string.h>
#include <tutti/plugin.h>

static const char blanks[] = " \t";

bool reading_words_are_several(const char *text) { return strpbrk(text + strspn(text, blanks), blanks) != NULL; }

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

void reading_words_note(struct reading_words *words, const char *text) {
  size_t count = 0, length;
  bool number = false;
  for (text += strspn(text, blanks); (length = strcspn(text, blanks)) > 0; count++) {
    number = number || is_number(text, length);
    text += length;
    length = strspn(text, blanks);
    words->tabs = words->tabs || memchr(text, '\t', length);
    words->runs = words->runs || length > 1;
    text += length;
  }
  words->count = words->rows == 0 ? count : words->count;
  words->rows += count == words->count && count > 1 && number;
}

const char *reading_words_advice(const struct reading_words *words) {
  return words->runs   ? "if blanks separate the cells, make one comma of each run of them: "
                         "sed 's/^[[:blank:]]*//; s/[[:blank:]]*$//; s/[[:blank:]][[:blank:]]*/,/g' FILE > NEW"
         : words->tabs ? "if tabs separate the cells, set data.delimiter = tab"
                       : "if blanks separate the cells, set data.delimiter = space";
}
