/* text_impl.h - texts that grow piece by piece, and numbers as text; for core/ only. */
#ifndef TUTTI_TEXT_IMPL_H
#define TUTTI_TEXT_IMPL_H

#include "private.h"

#include <tutti/context.h>

/* A text under construction. The first failure sticks, and tutti_text_take reports it. */
struct tutti_text {
  tutti_context *context;
  char *data;
  size_t length, capacity;
  enum tutti_status status;
};

TUTTI_PRIVATE struct tutti_text tutti_text_begin(tutti_context *context);
TUTTI_PRIVATE void tutti_text_add(struct tutti_text *text, const char *format, ...) TUTTI_PRINTF(2, 3);
/* Add a number in its shortest form that reads back to the same bits. */
TUTTI_PRIVATE void tutti_text_add_number(struct tutti_text *text, double number);
/* Add a JSON string, quoted and escaped ("?" where it is not UTF-8). */
TUTTI_PRIVATE void tutti_text_add_json(struct tutti_text *text, const char *string);
/* Hand the text over (free with tutti_free), or free it and report the first failure. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_text_take(struct tutti_text *text, char **out);
TUTTI_PRIVATE void tutti_text_discard(struct tutti_text *text);

enum { TUTTI_NUMBER_SIZE = 32 };
/* The shortest decimal of at most 17 digits that reads back to the same bits. */
TUTTI_PRIVATE void tutti_number_print(double number, char text[TUTTI_NUMBER_SIZE]);
/* Read a whole text as a number; false if it is empty, or something is left over. */
TUTTI_PRIVATE bool tutti_number_parse(const char *text, double *number);

/* The text without the blanks at its ends, which is changed: what is behind it is cut off. */
TUTTI_PRIVATE char *tutti_text_trim(char *text);

/* Is it a name of lower-case letters, digits and `joint` that begins with a letter? NULL is not. */
bool tutti_name_is_plain(const char *name, char joint);

#endif
