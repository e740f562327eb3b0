/* utf8_impl.h - texts that are meant to be UTF-8. */
#ifndef TUTTI_UTF8_IMPL_H
#define TUTTI_UTF8_IMPL_H

#include "private.h"

/* Put ? in the place of each byte that is not UTF-8: of another encoding, or of a character that was cut off. */
TUTTI_PRIVATE void tutti_text_mend(char *text);

#endif
