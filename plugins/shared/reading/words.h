/* words.h - tables whose cells are separated by blanks or tabs: to whoever looks for commas, a line of them is one
   cell. What stands in quotes is one word. */
#ifndef READING_WORDS_H
#define READING_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The words of a text. */
struct reading_words {
  size_t count, numbers; /* words, and how many of them are numbers */
  bool tabs, runs;       /* is a tab between them; are several blanks, or a blank and a tab, or some at either end */
};

/* A vote of the rows of a table with one column on how many words they are (Boyer and Moore, 1991): rows that are so
   many words, with a number among them, add to the lead, and others take from it. It is eight tenths of the rows or
   more if nine of ten agree, and never if fewer than eight of ten do. */
struct reading_words_vote {
  struct reading_words words; /* of the rows that lead */
  size_t lead;
};

/* Add the words of text[length]. */
void reading_words_add(struct reading_words *words, const char *text, size_t length);
/* Are the lines of text[length] rows of a table by their words: each has as many, two or more, and all but the first,
   which may have names, or one fewer, two numbers or more? A line without an end counts if `whole`. *words: of one
   row. */
bool reading_words_make_table(const char *text, size_t length, bool whole, struct reading_words *words);
/* Take the vote of the next row. */
void reading_words_cast(struct reading_words_vote *vote, const char *text);
/* What to do where blanks separate cells: a setting. */
const char *reading_words_advice(const struct reading_words *words);

#endif
