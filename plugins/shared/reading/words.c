/* words.c - see words.h. */
#include "words.h"

#include <string.h>
#include <tutti/plugin.h>

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

static bool is_between_words(char c) { return c == ' ' || c == '\t'; }

void reading_words_add(struct reading_words *words, const char *text, size_t length) {
  for (size_t at = 0; at < length; words->count++) {
    size_t begin = at;
    bool blank = false;
    for (; at < length && is_between_words(text[at]); at++) {
      words->tabs = words->tabs || text[at] == '\t';
      blank = blank || text[at] == ' ';
    }
    words->runs = words->runs || (blank && (begin == 0 || at == length || at > begin + 1));
    if (at == length)
      return;
    begin = at;
    if (text[at] == '"')
      for (at++; at < length && text[at] != '"';)
        at++;
    while (at < length && !is_between_words(text[at]))
      at++;
    words->numbers += is_number(text + begin, at - begin);
  }
}

bool reading_words_make_table(const char *text, size_t length, bool whole, struct reading_words *words) {
  size_t rows = 0;
  *words = (struct reading_words){0};
  for (size_t at = 0, end; at < length; at = end + 1) {
    struct reading_words row = {0};
    for (end = at; end < length && text[end] != '\n' && text[end] != '\r';)
      end++;
    if (end == length && !whole)
      break;
    reading_words_add(&row, text + at, end - at);
    if (row.count == 0)
      continue;
    const bool names_lack_one = rows == 1 && row.count == words->count + 1;
    if (row.count < 2 || (rows > 0 && ((row.count != words->count && !names_lack_one) || row.numbers < 2)))
      return false;
    row.tabs = row.tabs || words->tabs;
    row.runs = row.runs || words->runs;
    *words = row;
    rows++;
  }
  return rows > 0 && words->numbers >= 2;
}

void reading_words_cast(struct reading_words_vote *vote, const char *text) {
  struct reading_words row = {0}, *words = &vote->words;
  reading_words_add(&row, text, strlen(text));
  const bool is_table = row.count > 1 && row.numbers > 0;
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
  return words->runs   ? "if blanks separate the cells, set data.delimiter = blanks"
         : words->tabs ? "if tabs separate the cells, set data.delimiter = tab"
                       : "if blanks separate the cells, set data.delimiter = space";
}
