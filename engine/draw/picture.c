/* picture.c - cleans SVG of what a page has no use for, piece by piece: markup that gnuplot and graphviz are known to
   print. Texts in it were escaped by them. */
#include "picture.h"
#include "plot.h"

#include <string.h>

/* What all gnuplot's points refer to; its own, with the identifiers that its pictures use. */
const char *tutti_plot_symbols(void) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\" style=\"position:absolute\" "
         "aria-hidden=\"true\"><defs>"
         "<circle id=\"gpDot\" r=\"0.5\" stroke-width=\"0.5\" stroke=\"currentColor\"/>"
         "<path id=\"gpPt0\" stroke-width=\"0.3\" stroke=\"currentColor\" d=\"M-1,0 h2 M0,-1 v2\"/>"
         "<path id=\"gpPt1\" stroke-width=\"0.3\" stroke=\"currentColor\" d=\"M-1,-1 L1,1 M1,-1 L-1,1\"/>"
         "<circle id=\"gpPt5\" stroke-width=\"1.1\" vector-effect=\"non-scaling-stroke\" stroke=\"currentColor\" "
         "fill=\"none\" r=\"1\"/>"
         "<circle id=\"gpPt6\" stroke=\"none\" fill=\"currentColor\" r=\"1\"/></defs></svg>\n";
}

/* Begin tags or attributes that are dropped, up to and with `to`. */
static const struct {
  const char *from, *to;
} dropped[] = {
    {"<desc>", "</desc>"}, {"<title>", "</title>"}, {"<defs>", "</defs>"},
    {"<!--", "-->"},       {" id=\"", "\""},        {" xmlns:xlink=\"", "\""},
};
/* What is written otherwise. */
static const struct {
  const char *from, *to;
} replaced[] = {
    {"xlink:href=", "href="},
    {"stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""},
    {" font-family=\"sans-serif\"", ""},
    {"\t", ""},
    {"\n\n", "\n"},
};

/* "rgb(170,   0,   3)" or "#aa0003": an ink. Returns its length, or 0. */
static size_t ink_at(const char *text, unsigned *ink) {
  static const char spelt[] = "rgb(170,   0, ", brief[] = "#aa00";
  unsigned value = 0;
  size_t length = 0, digits = 0, base = 0;
  if (strncmp(text, spelt, sizeof spelt - 1) == 0)
    length = sizeof spelt - 1 + strspn(text + sizeof spelt - 1, " "), base = 10;
  else if (strncmp(text, brief, sizeof brief - 1) == 0)
    length = sizeof brief - 1, base = 16;
  else
    return 0;
  for (; digits < 3; digits++) {
    static const char known[] = "0123456789abcdef";
    const char *digit = text[length + digits] ? strchr(known, text[length + digits]) : NULL;
    if (!digit || (size_t)(digit - known) >= base)
      break;
    value = value * (unsigned)base + (unsigned)(digit - known);
  }
  length += digits + (base == 10);
  *ink = value;
  return digits > 0 && value < TUTTI_INK_SCALE ? length : 0;
}

/* The length of a piece at `text` that is dropped or written otherwise; 0: it stays. */
static size_t clean_piece(const char *text, struct tutti_text *out) {
  unsigned ink;
  size_t length = ink_at(text, &ink);
  if (length > 0) {
    tutti_text_add(out, "var(--ink%u)", ink);
    return length;
  }
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
    size_t begin = strlen(dropped[i].from);
    if (strncmp(text, dropped[i].from, begin) != 0)
      continue;
    const char *end = strstr(text + begin, dropped[i].to);
    return end ? (size_t)(end - text) + strlen(dropped[i].to) : 0;
  }
  for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
    if (strncmp(text, replaced[i].from, strlen(replaced[i].from)) == 0) {
      tutti_text_add(out, "%s", replaced[i].to);
      return strlen(replaced[i].from);
    }
  return 0;
}

static enum tutti_status clean(tutti_context *context, const char *text, const char *end, char **svg) {
  struct tutti_text out = tutti_text_begin(context);
  const char *stays = text;
  while (text < end) {
    /* A text may hold such a piece, too, but no tag: they were escaped. */
    bool markup = strchr("< \n\t#rxs", *text) != NULL;
    struct tutti_text piece = tutti_text_begin(context);
    size_t length = markup ? clean_piece(text, &piece) : 0;
    if (length > 0) {
      tutti_text_add(&out, "%.*s%s", (int)(text - stays), stays, piece.data ? piece.data : "");
      text += length;
      stays = text;
    } else
      text++;
    tutti_text_discard(&piece);
  }
  tutti_text_add(&out, "%.*s", (int)(end - stays), stays);
  return tutti_text_take(&out, svg);
}

enum tutti_status tutti_pictures_split(tutti_context *context, const char *tool, const char *text, size_t count,
                                       char **svg) {
  static const char begin[] = "<svg", finish[] = "</svg>";
  for (size_t i = 0; i < count; i++) {
    const char *from = strstr(text, begin), *end = from ? strstr(from, finish) : NULL;
    if (!end) {
      while (i > 0) {
        tutti_free(svg[--i]);
        svg[i] = NULL;
      }
      return TUTTI_FAIL(context, TUTTI_ERROR_IO, "expected %zu pictures from %s, found fewer", count, tool);
    }
    text = end + sizeof finish - 1;
    TUTTI_TRY(context, clean(context, from, text, &svg[i]));
  }
  return TUTTI_OK;
}
