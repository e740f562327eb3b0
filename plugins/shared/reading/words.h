/* words.h - tables whose cells are separated by blanks or tabs: to whoever looks for commas, a line of them is one
   cell. */
#ifndef READING_WORDS_H
#define READING_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What the cells of a table with one column look like. */
struct reading_words {
  size_t count, rows; /* words in each cell, the first of which says how many; cells that have so many, with a number */
  bool tabs, runs;    /* is a tab between words, are several blanks */
};

/* Is there a blank or a tab inside of a text? */
bool reading_words_are_several(const char *text);
/* Look at the next cell. */
void reading_words_note(struct reading_words *words, const char *text);
/* What to do where blanks separate cells: a setting, or a command. */
const char *reading_words_advice(const struct reading_words *words);

#endif
