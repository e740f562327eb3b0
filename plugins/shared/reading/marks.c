/* marks.c - marks of missing cells, and signs around numbers. */
#include "marks.h"

#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t";

/* The word that begins here or behind blanks, and its length; 0: there are no more. */
static size_t next_word(const char **words) {
  *words += strspn(*words, blanks);
  return strcspn(*words, blanks);
}

bool reading_marks_have(const char *words, const char *text) {
  size_t length, whole = strlen(text);
  for (; (length = next_word(&words)) > 0; words += length)
    if (length == whole && memcmp(words, text, length) == 0)
      return true;
  return false;
}

static bool strip(const char *text, const char *word, size_t length, char *out) {
  bool is_signed = *text == '-' || *text == '+';
  const char *sign = is_signed ? text : "", *rest = text + is_signed;
  size_t left = strlen(rest);
  if (left > length && memcmp(rest, word, length) == 0) {
    rest += length;
    rest += strspn(rest, blanks);
    left = strlen(rest);
  } else if (left > length && memcmp(rest + left - length, word, length) == 0) {
    for (left -= length; left > 0 && strchr(blanks, rest[left - 1]);)
      left--;
  } else {
    return false;
  }
  int written = snprintf(out, READING_MARKS_ROOM, "%.*s%.*s", (int)is_signed, sign, (int)left, rest);
  return left > 0 && written > 0 && written < READING_MARKS_ROOM;
}

bool reading_marks_strip(const char *words, const char *text, char *out) {
  size_t length;
  for (; (length = next_word(&words)) > 0; words += length)
    if (strip(text, words, length, out))
      return true;
  return false;
}
