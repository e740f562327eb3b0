/* wrap.c - characters of texts, and long lines: broken between words, they go on below where their text begins. */
#include "program_impl.h"

size_t bytes_of(const char *text, size_t characters) {
  size_t i = 0;
  for (; text[i]; i++)
    if (((unsigned char)text[i] & 0xC0) != 0x80 && characters-- == 0)
      break;
  return i;
}

size_t characters_of(const char *text) {
  size_t count = 0;
  for (; *text; text++)
    count += ((unsigned char)*text & 0xC0) != 0x80;
  return count;
}

static size_t blanks_at(const char *text, size_t length, size_t from) {
  size_t end = from;
  while (end < length && text[end] == ' ')
    end++;
  return end - from;
}

/* Where what is broken goes on: below the second column of "name    text", else two blanks further in than the line. */
static size_t indent_of(const char *line, size_t length, size_t width) {
  size_t begin = blanks_at(line, length, 0);
  for (size_t i = begin; i < length && i < width / 2; i++) {
    size_t blanks = blanks_at(line, length, i);
    if (blanks > 1)
      return i + blanks < width / 2 ? i + blanks : 2;
  }
  return begin + 2 < width / 2 ? begin + 2 : 2;
}

/* The bytes of the part of a line that fits into `room` characters, up to a blank; if no word fits, those of the first.
 */
static size_t fitting(const char *line, size_t length, size_t room) {
  size_t begin = blanks_at(line, length, 0), characters = begin, last = 0;
  for (size_t i = begin; i < length; i++) {
    if (line[i] == ' ')
      last = i;
    characters += ((unsigned char)line[i] & 0xC0) != 0x80;
    if (characters > room && last > 0)
      return last;
  }
  return characters > room && last > 0 ? last : length;
}

/* As wrap_words, where the first part has `room` characters. */
static void wrap_below(const char *text, size_t length, size_t room, size_t indent, size_t width,
                       void (*put)(const char *text, size_t length, FILE *out), FILE *out) {
  for (;;) {
    size_t part = fitting(text, length, room);
    put(text, part, out);
    size_t next = part + blanks_at(text, length, part);
    if (next >= length)
      return;
    text += next;
    length -= next;
    room = width - indent;
    (void)fprintf(out, "\n%*s", (int)indent, "");
  }
}

void wrap_words(const char *text, size_t length, size_t indent, size_t width,
                void (*put)(const char *text, size_t length, FILE *out), FILE *out) {
  wrap_below(text, length, width - indent, indent, width, put, out);
}

void wrap_line(const char *line, size_t length, size_t width, void (*put)(const char *text, size_t length, FILE *out),
               FILE *out) {
  wrap_below(line, length, width, indent_of(line, length, width), width, put, out);
}
