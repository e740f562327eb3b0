/* list.c - lists in a recipe: items between signs, and quotes that keep an item together. */
#include <string.h>
#include <tutti/names.h>

static const char blanks[] = " \t";

/* The quote that closes what opens here: "..." between signs or the ends of a list. NULL: nothing opens. */
static const char *closing_quote(const char *at) {
  const char *close = *at == '"' ? strchr(at + 1, '"') : NULL;
  return close && close > at + 1 && (close[1] == '\0' || strchr(" \t,=", close[1])) ? close : NULL;
}

const char *tutti_list_find(const char *list, const char *signs) {
  bool begins = true; /* may a quote open here */
  for (const char *at = list; *at; at++) {
    const char *close = begins ? closing_quote(at) : NULL;
    begins = strchr(" \t,=", *at) != NULL;
    if (close)
      at = close;
    else if (strchr(signs, *at))
      return at;
  }
  return NULL;
}

bool tutti_list_next(const char **rest, const char *signs, const char **item, size_t *length) {
  const char *at = *rest;
  while (*at && (strchr(blanks, *at) || strchr(signs, *at)))
    at++;
  const char *close = closing_quote(at), *end = tutti_list_find(at, signs);
  end = end ? end : at + strlen(at);
  *rest = end;
  while (end > at && strchr(blanks, end[-1]))
    end--;
  bool quoted = close && close + 1 == end;
  *item = at + quoted;
  *length = (size_t)(end - at) - 2 * quoted;
  return end > at;
}
