/* wrap.c - long lines on a terminal: they are broken between words, and go on below where their text begins. */
#include "program_impl.h"

#include <sys/ioctl.h>

enum { NARROWEST = 20 };

size_t line_width(FILE *out) {
  struct winsize window = {.ws_col = 0};
  if (!is_terminal(out) || ioctl(fileno(out), TIOCGWINSZ, &window) != 0)
    return 0;
  return window.ws_col >= NARROWEST ? window.ws_col : 0;
}

size_t table_width(FILE *out) {
  const size_t here = line_width(out), later = here ? here : line_width(stdout);
  return later ? later : SIZE_MAX;
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

void wrap_line(const char *line, size_t length, size_t width, void (*put)(const char *text, size_t length, FILE *out),
               FILE *out) {
  size_t indent = indent_of(line, length, width), room = width;
  for (;;) {
    size_t part = fitting(line, length, room);
    put(line, part, out);
    size_t next = part + blanks_at(line, length, part);
    if (next >= length)
      return;
    line += next;
    length -= next;
    room = width - indent;
    (void)fprintf(out, "\n%*s", (int)indent, "");
  }
}
