/* numeral.h - numbers as people write them: with a decimal comma, with marks between groups of three digits. */
#ifndef READING_NUMERAL_H
#define READING_NUMERAL_H

/* What stands before the fraction. EITHER: a point; or a comma, if no other comma stands in the number; points group
   digits only where there is a comma, so that 1.234 is 1.234. POINT_FIRST, COMMA_FIRST: what may be read so is, and
   else as EITHER. */
enum reading_decimal {
  READING_DECIMAL_AUTO,
  READING_DECIMAL_POINT,
  READING_DECIMAL_COMMA,
  READING_DECIMAL_EITHER,
  READING_DECIMAL_POINT_FIRST,
  READING_DECIMAL_COMMA_FIRST
};

enum { READING_NUMERAL_ROOM = 64 };

/* What a cell is: what it says plainly; a number that is written in another way; or a text, although it looks like a
   number: one with a decimal point where a comma is the sign. */
enum reading_numeral { READING_PLAIN, READING_NUMBER, READING_TEXT };

/* Look at a cell. A number is written to out[READING_NUMERAL_ROOM] with a decimal point and without marks. */
enum reading_numeral reading_numeral(const char *text, enum reading_decimal decimal, char *out);

#endif
