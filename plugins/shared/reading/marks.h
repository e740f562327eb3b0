/* marks.h - words of a recipe that say what a cell is: marks of missing cells, signs around numbers. */
#ifndef READING_MARKS_H
#define READING_MARKS_H

#include <stdbool.h>
#include <stddef.h>

enum { READING_MARKS_ROOM = 256 };

/* Is the text one of the words? They are separated by blanks; one with blanks stands in quotes (tutti_list_next). */
bool reading_marks_have(const char *words, const char *text);

/* The next of the words, from *words on, that is a number and no code such as 007; false: there is none. *words is
   moved behind it. -99,9 is one, too; 1,234, which may be two, is none. A point is that of decimals, as recipes write
   numbers, whatever the file has. */
bool reading_marks_next_number(const char **words, double *number);

/* Is a word a list of numbers, or of a number and words, with commas or semicolons between them? What stands before the
   first of these is written to first[READING_MARKS_ROOM], and the sign to *sign. */
bool reading_marks_are_listed(const char *words, char *first, char *sign);

/* Is a number one of the words, whatever its digits there? */
bool reading_marks_have_number(const char *words, double number);

/* The part of a text without one of the words before or behind it, and without blanks between; a + or - may stand
   before the word in front, and is kept. Written to out[READING_MARKS_ROOM]; false: there is no such word, or nothing
   else. */
bool reading_marks_strip(const char *words, const char *text, char *out);

#endif
