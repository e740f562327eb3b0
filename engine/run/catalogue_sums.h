/* catalogue_sums.h - checksums of what a catalogue holds: CRC-32 of what was recorded, at once and never of what is
   read back, so that a changed bit is noticed whenever it came. */
#ifndef TUTTI_CATALOGUE_SUMS_H
#define TUTTI_CATALOGUE_SUMS_H

#include <tutti/catalogue.h>

/* The parts of a trial, which are recorded one after the other: the question, its result, its place in the order of
   telling, the time of the result. */
enum tutti_sum { TUTTI_SUM_ASKED, TUTTI_SUM_DONE, TUTTI_SUM_TOLD, TUTTI_SUM_AT, TUTTI_SUMS };
/* The columns that a part is made of, for messages. Static. */
const char *tutti_sum_says(enum tutti_sum part);
/* Has the trial this part? */
bool tutti_sum_there(const struct tutti_trial *trial, enum tutti_sum part);
uint32_t tutti_sum_of(const struct tutti_trial *trial, enum tutti_sum part);
/* Of a fact. */
uint32_t tutti_sum_of_fact(const char *key, const char *text);

#endif
