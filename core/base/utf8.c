/* utf8.c - texts that are meant to be UTF-8. */
#include "utf8_impl.h"

#include <stddef.h>

/* The bytes of the character that begins here; 0: this is not UTF-8. */
static size_t utf8_length(const unsigned char *at) {
  size_t length = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xC0) != 0x80)
      return 0;
  /* Numbers that a shorter form has, halves of a pair, and what is beyond the last one. */
  bool low = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
  bool high = (at[0] == 0xED && at[1] >= 0xA0) || (at[0] == 0xF4 && at[1] >= 0x90);
  return low || high ? 0 : length;
}

void tutti_text_mend(char *text) {
  while (*text) {
    size_t length = utf8_length((const unsigned char *)text);
    if (length == 0)
      *text = '?';
    text += length ? length : 1;
  }
}
