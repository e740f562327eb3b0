/* words.c - a graph space for tests. */
#include "words.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS = 5 };
static const char *const words_known[] = {"aaa", "abab", "eeeeee"};
static size_t measured;

size_t words_measured(void) { return measured; }

const char *words_letters(const tutti_genotype *genotype) { return tutti_genotype_graph(genotype); }

static size_t least(size_t a, size_t b, size_t c) {
  size_t both = a < b ? a : b;
  return both < c ? both : c;
}

/* Levenshtein. */
static size_t edits(const char *a, const char *b) {
  size_t rows[WORDS_MOST + 1][WORDS_MOST + 1], la = strlen(a), lb = strlen(b);
  for (size_t i = 0; i <= la; i++)
    for (size_t j = 0; j <= lb; j++)
      rows[i][j] = i == 0 ? j
                   : j == 0
                       ? i
                       : least(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
  return rows[la][lb];
}

void words_distances(const char *a, const char *b, double *out) {
  double count = (double)edits(a, b), share = count / (double)(strlen(a) + strlen(b));
  out[0] = 100 * count;
  out[1] = 300 * count;
  out[2] = share;
  out[3] = 3 * share;
}

static enum tutti_status create_words(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

static void destroy_words(void *self) { tutti_free(self); }

static enum tutti_status sample_word(void *self, tutti_context *context, struct tutti_random *random, void **out) {
  char *word;
  (void)self;
  TUTTI_TRY(context, tutti_alloc(context, WORDS_MOST + 1, 1, &word));
  size_t length = 1 + (size_t)tutti_random_below(random, WORDS_MOST);
  for (size_t i = 0; i < length; i++)
    word[i] = (char)('a' + tutti_random_below(random, LETTERS));
  *out = word;
  return TUTTI_OK;
}

/* Another letter, one letter more, or one letter less. */
static enum tutti_status mutate_word(void *self, tutti_context *context, struct tutti_random *random, const void *from,
                                     void **out) {
  char *word;
  (void)self;
  TUTTI_TRY(context, tutti_alloc(context, WORDS_MOST + 1, 1, &word));
  size_t length = strlen(from), place, kind = (size_t)tutti_random_below(random, 3);
  memcpy(word, from, length);
  place = (size_t)tutti_random_below(random, length);
  if (kind == 0 || (kind == 1 && length == WORDS_MOST) || (kind == 2 && length == 1)) {
    word[place] = (char)('a' + (word[place] - 'a' + 1 + (int)tutti_random_below(random, LETTERS - 1)) % LETTERS);
  } else if (kind == 1) {
    memmove(word + place + 1, word + place, length - place);
    word[place] = (char)('a' + tutti_random_below(random, LETTERS));
  } else {
    memmove(word + place, word + place + 1, length - place);
  }
  *out = word;
  return TUTTI_OK;
}

static enum tutti_status print_word(void *self, tutti_context *context, const void *word, char **json) {
  (void)self;
  return tutti_format(context, json, "{\"word\": \"%s\"}", (const char *)word);
}

static enum tutti_status parse_word(void *self, tutti_context *context, const char *json, void **out) {
  json_t *root = json_loads(json, 0, NULL);
  const char *letters = json_string_value(json_object_get(root, "word"));
  size_t length = letters ? strlen(letters) : 0;
  enum tutti_status status;
  char *word = NULL;
  (void)self;
  if (length < 1 || length > WORDS_MOST || strspn(letters, "abcde") != length)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected {\"word\": 1 to 8 letters a to e}, found %s", json);
  else
    status = tutti_alloc(context, WORDS_MOST + 1, 1, &word);
  if (status == TUTTI_OK)
    memcpy(word, letters, length);
  json_decref(root);
  *out = word;
  return status;
}

static void free_word(void *self, void *word) {
  (void)self;
  tutti_free(word);
}

static bool known_word(void *self, size_t index, const char **name, const char **json) {
  static const char *const texts[] = {"{\"word\": \"aaa\"}", "{\"word\": \"abab\"}", "{\"word\": \"eeeeee\"}"};
  (void)self;
  if (index >= WORDS_KNOWN)
    return false;
  *name = words_known[index];
  *json = texts[index];
  return true;
}

static enum tutti_status decode_word(void *self, tutti_context *context, const tutti_genotype *genotype,
                                     const struct tutti_task *task, tutti_network **network) {
  (void)self, (void)genotype, (void)task, (void)network;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "words are no networks");
}

static size_t measures_words(void *self) {
  (void)self;
  return WORDS_MEASURES;
}

static enum tutti_status distances_words(void *self, tutti_context *context, const tutti_genotype *from, size_t count,
                                         const tutti_genotype *const *to, double *out) {
  (void)self, (void)context;
  for (size_t i = 0; i < count; i++)
    words_distances(words_letters(from), words_letters(to[i]), out + i * WORDS_MEASURES);
  measured += count;
  return TUTTI_OK;
}

static const struct tutti_space_ops words_ops = {.size = sizeof(words_ops),
                                                 .decode = decode_word,
                                                 .graph_sample = sample_word,
                                                 .graph_mutate = mutate_word,
                                                 .graph_print = print_word,
                                                 .graph_parse = parse_word,
                                                 .graph_free = free_word,
                                                 .known = known_word,
                                                 .measures = measures_words,
                                                 .distances = distances_words};

const struct tutti_descriptor words_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "words"),
    .version = "1.0",
    .summary = "words with edit distances",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .create = create_words,
    .destroy = destroy_words,
    .ops = &words_ops,
};
