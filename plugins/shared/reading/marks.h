/* marks.h - words of a recipe that say what a cell is: marks of missing cells, signs around numbers. */
#ifndef READING_MARKS_H
#define READING_MARKS_H

#include <stdbool.h>
#include <stddef.h>

enum { READING_MARKS_ROOM = 256 };

/* Is the text one of the words? They are separated by blanks; one with blanks stands in quotes (tutti_list_next). */
bool reading_marks_have(const char *words, const char *text);

/* The part of a text without one of the words before or behind it, and without blanks between; a + or - may stand
   before the word in front, and is kept. Written to out[READING_MARKS_ROOM]; false: there is no such word, or nothing
   else. */
bool reading_marks_strip(const char *words, const char *text, char *out);

#endif
