/* foreign.h - files that are no text: what they are, by their first bytes, and what to do. */
#ifndef READING_FOREIGN_H
#define READING_FOREIGN_H

#include <stddef.h>

/* What a file is that begins so, if it cannot be a text in UTF-8, or is a page of the web, and what makes a table of
   it; NULL: nothing says that. Static. */
const char *reading_foreign(const char *begin, size_t length);

#endif
