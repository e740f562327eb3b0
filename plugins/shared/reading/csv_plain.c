/* csv_plain.c - rows that are easy to read. What is taken here has the cells that libcsv finds: blanks around a cell
   are dropped, and those in quotes are not. Whatever is doubtful is left to libcsv. */
#include "csv_plain.h"

#include <float.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum tutti_status csv_plain_begin(tutti_context *context, size_t columns, unsigned char delimiter, bool runs,
                                  bool reads_numbers, struct csv_plain *plain) {
  *plain = (struct csv_plain){.columns = columns, .delimiter = delimiter, .runs = runs, .reads_numbers = reads_numbers};
  TUTTI_TRY(context, tutti_alloc(context, columns, sizeof *plain->numbers, &plain->numbers));
  return tutti_alloc(context, columns, sizeof *plain->texts, &plain->texts);
}

void csv_plain_release(struct csv_plain *plain) {
  tutti_free(plain->numbers);
  tutti_free(plain->texts);
  tutti_free(plain->text);
  *plain = (struct csv_plain){.columns = 0};
}

/* --- numbers: eight digits at once, as the bytes of an integer, the first one lowest --- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are taken from the lowest byte on");

static uint64_t load_eight(const char *text) {
  uint64_t bytes;
  memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

/* How many bytes are digits before the first that is none. */
static unsigned digits_in(uint64_t bytes) {
  static const uint64_t low = UINT64_C(0x0606060606060606), high = UINT64_C(0xF0F0F0F0F0F0F0F0),
                        threes = UINT64_C(0x3333333333333333);
  /* A digit is 0x30 to 0x39: its high half is 3, and stays 3 if 6 is added. */
  uint64_t halves = (bytes & high) | (((bytes + low) & high) >> 4), others = halves ^ threes;
  return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* The number that the first `count` digits are, 0 to 8. */
static uint64_t value_of(uint64_t bytes, unsigned count) {
  unsigned half = 32 - 4 * count; /* of 64 bits none may be shifted at once */
  bytes = bytes << half << half;  /* zeros come first: their bytes are no digits, but have 0 in the lower half */
  bytes &= UINT64_C(0x0F0F0F0F0F0F0F0F);
  bytes = (bytes * 10 + (bytes >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
  bytes = (bytes * 100 + (bytes >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
  return (bytes * 10000 + (bytes >> 32)) & UINT64_C(0xFFFFFFFF);
}

static const uint64_t whole_tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
static const double tens[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                              1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* Digits from *text on, at most 16; the number of them. */
static unsigned take_digits(const char **text, uint64_t *value) {
  uint64_t bytes = load_eight(*text);
  unsigned count = digits_in(bytes), more = 0;
  *value = *value * whole_tens[count] + value_of(bytes, count);
  if (count == 8) {
    bytes = load_eight(*text + 8);
    more = digits_in(bytes);
    *value = *value * whole_tens[more] + value_of(bytes, more);
  }
  *text += count + more;
  return count + more;
}

/* value / 10^fraction, rounded once as in the library's tutti_cell_read; false: it may be rounded twice. */
static bool scale(uint64_t value, unsigned fraction, bool negative, double *number) {
  static const double signs[] = {1, -1}; /* a sign is hard to foresee: no branch */
  *number = (double)(int64_t)value / tens[fraction] * signs[negative];
  return value <= UINT64_C(1) << 53 && FLT_EVAL_METHOD == 0;
}

#ifdef __SSE2__
/* A bit for each of 16 bytes that is no digit. */
static unsigned others_in(const char *text) {
  __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)text), _mm_set1_epi8('0'));
  __m128i are = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
  return ~(unsigned)_mm_movemask_epi8(are) & 0xFFFF;
}

/* The same for a number of at most 15 characters, where each step that the next cell waits for counts: the place of a
   sign is one bit, not another address. */
static const char *take_short(const char *text, double *number) {
  bool negative = *text == '-';
  unsigned others = (others_in(text) | 1 << 16) & ~(unsigned)negative, whole = (unsigned)__builtin_ctz(others),
           end = whole, fraction = 0;
  if (text[whole] == '.') {
    others &= others - 1;
    if (others == 0)
      return NULL;
    end = (unsigned)__builtin_ctz(others);
    fraction = end - whole - 1;
  }
  unsigned digits = whole - negative;
  if (end > 15 || digits > 8 || fraction > 8 || digits + fraction == 0)
    return NULL;
  uint64_t value = value_of(load_eight(text + negative), digits) * whole_tens[fraction] +
                   value_of(load_eight(text + whole + 1), fraction);
  return scale(value, fraction, negative, number) ? text + end : NULL;
}
#endif

/* A number of at most 16 digits without an exponent, and without zeros before it. Its end; NULL: it is not such a
   number. */
static const char *take_number(const char *text, double *number) {
  if (csv_has_zeros(text))
    return NULL;
#ifdef __SSE2__
  const char *short_end = take_short(text, number);
  if (short_end)
    return short_end;
#endif
  uint64_t value = 0;
  bool negative = *text == '-';
  text += negative;
  unsigned digits = take_digits(&text, &value), fraction = 0;
  if (*text == '.') {
    text++;
    fraction = take_digits(&text, &value);
  }
  digits += fraction;
  return digits > 0 && digits <= 16 && scale(value, fraction, negative, number) ? text : NULL;
}

/* --- rows --- */

static bool is_blank(const struct csv_plain *plain, char c) {
  return (c == ' ' || c == '\t') && (unsigned char)c != plain->delimiter;
}

/* Does a line end here, with \n or \r\n? */
static bool is_line_end(const char *at, const char *end) {
  return *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
}

/* Does a cell? */
static bool is_end(const struct csv_plain *plain, const char *at, const char *end) {
  return (unsigned char)*at == plain->delimiter || is_line_end(at, end);
}

static enum tutti_status keep_text(tutti_context *context, struct csv_plain *plain, size_t column, const char *text,
                                   size_t length) {
  if (length + 1 > plain->room - plain->bytes) {
    size_t room = 2 * plain->room + length + 256;
    TUTTI_TRY(context, tutti_realloc(context, plain->bytes, room, 1, &plain->text));
    plain->room = room;
  }
  memcpy(plain->text + plain->bytes, text, length);
  plain->text[plain->bytes + length] = '\0';
  plain->texts[column] = plain->bytes;
  plain->bytes += length + 1;
  return TUTTI_OK;
}

/* A cell in quotes, whose first is before `at`. *after: where it ends; NULL: it is not easy to read. */
static enum tutti_status take_quoted(tutti_context *context, struct csv_plain *plain, size_t column, const char *at,
                                     const char *end, const char **after) {
  const char *begin = at, *behind;
  *after = NULL;
  while (at < end && *at != '"' && *at != '\n' && *at != '\r' && *at != '\0')
    at++;
  if (at >= end || *at != '"')
    return TUTTI_OK;
  for (behind = at + 1; behind < end && is_blank(plain, *behind); behind++)
    ;
  if (behind >= end || !is_end(plain, behind, end))
    return TUTTI_OK;
  *after = behind;
  return keep_text(context, plain, column, begin, (size_t)(at - begin));
}

/* A cell that is no number as it stands. *after: where it ends; NULL: it is not easy to read. */
static enum tutti_status take_text(tutti_context *context, struct csv_plain *plain, size_t column, const char *at,
                                   const char *end, const char **after) {
  *after = NULL;
  while (at < end && is_blank(plain, *at))
    at++;
  if (at < end && *at == '"')
    return take_quoted(context, plain, column, at + 1, end, after);
  const char *begin = at, *last = at;
  for (; at < end && !is_end(plain, at, end); at++) {
    if (*at == '"' || *at == '\r' || *at == '\0')
      return TUTTI_OK;
    if (!is_blank(plain, *at))
      last = at + 1;
  }
  if (at >= end || (plain->columns == 1 && last == begin)) /* an empty line is no row */
    return TUTTI_OK;
  *after = at;
  return keep_text(context, plain, column, begin, (size_t)(last - begin));
}

/* Behind the delimiters that are here, where several are one. */
static const char *skip_run(const struct csv_plain *plain, const char *at, const char *end) {
  while (plain->runs && at < end && (unsigned char)*at == plain->delimiter)
    at++;
  return at;
}

enum tutti_status csv_plain_read(tutti_context *context, struct csv_plain *plain, const char *text, size_t length,
                                 size_t *taken) {
  const char *end = text + length, *at = skip_run(plain, text, end);
  *taken = 0;
  plain->bytes = 0;
  for (size_t i = 0; i < plain->columns && at < end; i++) {
    const char *after = plain->reads_numbers ? take_number(at, &plain->numbers[i]) : NULL;
    plain->texts[i] = CSV_PLAIN_NUMBER;
    if (!after || after >= end || !is_end(plain, after, end))
      TUTTI_TRY(context, take_text(context, plain, i, at, end, &after));
    if (!after)
      return TUTTI_OK;
    const char *next = skip_run(plain, after, end);
    if (next >= end)
      return TUTTI_OK;
    if (is_line_end(next, end))
      after = next;
    bool last = i + 1 == plain->columns, more = (unsigned char)*after == plain->delimiter;
    if (last == more)
      return TUTTI_OK;
    at = next > after ? next : after + 1;
    if (last)
      *taken = (size_t)(at - text) + (*after == '\r');
  }
  return TUTTI_OK;
}
