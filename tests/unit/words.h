/* words.h - for tests: a graph space of words of 1 to 8 letters a to e, which have no vectors, but edit distances.
   Three words are known. */
#ifndef WORDS_H
#define WORDS_H

#include <tutti/plugin.h>

enum { WORDS_MOST = 8, WORDS_MEASURES = 4, WORDS_KNOWN = 3 };

extern const struct tutti_descriptor words_descriptor;
/* Distances measured so far, in this program. */
size_t words_measured(void);
/* The letters of a genotype. */
const char *words_letters(const tutti_genotype *genotype);
/* The measures of two words: 100 and 300 edits, then edits by letters and three times that. */
void words_distances(const char *a, const char *b, double *out);

#endif
