/* broken.c - a plugin that is broken in many ways: its file's name, KIND-FAULT.so, says in which. Tests copy it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tutti/plugin.h>
#include <unistd.h>

static const struct tutti_descriptor *plugin(void);

/* "crashes" of ".../selector-crashes.so" or ".../source-crashes.so". */
static bool is_fault(const char *fault) {
  Dl_info info;
  char end[64];
  if (!dladdr((void *)(uintptr_t)plugin, &info) || !info.dli_fname)
    return false;
  (void)snprintf(end, sizeof end, "-%s.so", fault);
  size_t length = strlen(info.dli_fname), tail = strlen(end);
  return length >= tail && strcmp(info.dli_fname + length - tail, end) == 0;
}

/* Crash also under a sanitizer, which would catch the signal. */
static void crash(void) {
  (void)signal(SIGSEGV, SIG_DFL);
  (void)raise(SIGSEGV);
}

static bool in_worker(void) {
  char words[4096];
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t count = file ? fread(words, 1, sizeof words - 1, file) : 0;
  if (file)
    (void)fclose(file);
  words[count] = '\0';
  return strlen(words) + 1 < count && strcmp(words + strlen(words) + 1, "worker") == 0;
}

/* True as many times in all processes as TUTTI_TEST_DEATHS says. */
static bool dies_now(void) {
  const char *deaths = getenv("TUTTI_TEST_DEATHS");
  for (int i = 0; deaths && i < atoi(deaths); i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "death.%d", i);
    FILE *file = fopen(name, "wx");
    if (file)
      return fclose(file) == 0;
  }
  return false;
}

__attribute__((constructor)) static void on_load(void) {
  if (is_fault("dies-in-workers") && in_worker() && dies_now())
    _exit(7);
  if (is_fault("crashes"))
    crash();
  if (is_fault("segfaults"))
    (void)raise(SIGSEGV);
  if (is_fault("aborts"))
    abort();
  if (is_fault("exits"))
    _exit(0);
  if (is_fault("exits-with-3"))
    _exit(3);
  if (is_fault("prints"))
    (void)!write(STDOUT_FILENO, "{\"works\": false} hello\n", 23);
  for (int output = 1; output < 10 && is_fault("hangs-without-output"); output++)
    (void)close(output);
  while (is_fault("hangs") || is_fault("hangs-without-output"))
    (void)pause();
  if (getenv("TUTTI_TEST_LEAVES"))
    exit(0);
}

__attribute__((destructor)) static void on_unload(void) {
  if (is_fault("leaves-in-the-end"))
    _exit(0);
}

/* --- a selector that takes the best model --- */

struct config {
  double share;
};
static const struct tutti_param params[] = {{.name = "share",
                                             .type = TUTTI_PARAM_REAL,
                                             .offset = offsetof(struct config, share),
                                             .preset = "0.5",
                                             .min = 0,
                                             .max = 1,
                                             .doc = "Not used."}};
static const struct tutti_param bad_params[] = {{.name = "share",
                                                 .type = TUTTI_PARAM_REAL,
                                                 .offset = offsetof(struct config, share),
                                                 .preset = "2",
                                                 .min = 0,
                                                 .max = 1,
                                                 .doc = "Not used."}};

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  if (is_fault("fails") || is_fault("leaves-in-the-end"))
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "the dog ate it");
  if (is_fault("fails-silently"))
    return TUTTI_ERROR_IO;
  return tutti_alloc(context, 1, sizeof(unsigned), self);
}

/* Does this loss win over the best so far? NaN never does, or, falsely, always. */
static bool is_better(double loss, double best) {
  if (isnan(best))
    return !is_fault("takes-nan");
  return loss < best || (loss == best && is_fault("takes-the-last"));
}

/* The model with the least loss; of equal ones the first, or, falsely, the last. */
static size_t best_model(const struct tutti_pool *pool) {
  size_t best = 0;
  for (size_t i = 1; i < pool->models; i++)
    if (is_better(pool->losses[i], pool->losses[best]))
      best = i;
  return best;
}

/* Where TUTTI_TEST_LATER names a file: make it. */
static bool says_that_it_hangs(void) {
  const char *path = getenv("TUTTI_TEST_LATER");
  FILE *file = path ? fopen(path, "w") : NULL;
  return file && fclose(file) == 0;
}

/* The faults that end or stop the process, but for those that conformance tests. */
static void break_down(void) {
  volatile char deep[1 << 16];
  deep[0] = 0;
  if (is_fault("leaves-at-work"))
    exit(0);
  if (is_fault("leaves-quickly-at-work"))
    quick_exit(0);
  if (is_fault("leaves-at-once-at-work"))
    _exit(0);
  if (is_fault("leaves-as-c-says-at-work"))
    _Exit(0);
  if (is_fault("forks-at-work") && fork() == 0)
    _exit(0);
  if (is_fault("forks-at-work"))
    (void)wait(NULL);
  if (is_fault("aborts-at-work"))
    abort();
  while (is_fault("hangs-at-work") || (is_fault("hangs-later") && says_that_it_hangs()))
    (void)pause();
  if (is_fault("recurses-at-work"))
    break_down();
  deep[1] = deep[0];
}

static enum tutti_status choose(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                                tutti_ensemble *ensemble) {
  unsigned *calls = self;
  void *lost;
  size_t model = best_model(pool);
  (void)count;
  if (is_fault("prints-at-work"))
    (void)printf("{\"printed\": true}\n");
  if (!getenv("TUTTI_TEST_MENDED"))
    break_down();
  if (is_fault("crashes-at-work"))
    crash();
  if (is_fault("exits-at-work"))
    _exit(0);
  if (is_fault("complains-at-work"))
    (void)fprintf(stderr, "this is unheard of\n");
  if (is_fault("leaks-at-work"))
    TUTTI_TRY(context, tutti_alloc(context, 100, 1, &lost));
  if (is_fault("keeps-files-open"))
    (void)!open("/dev/null", O_RDONLY);
  if (is_fault("writes-to-its-input"))
    ((double *)(uintptr_t)pool->losses)[model] = 0;
  if (is_fault("tells-its-threads")) {
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "BLAS has %s threads", threads ? threads : "any number of");
  }
  if (is_fault("chooses-none"))
    return TUTTI_OK;
  if (is_fault("remembers"))
    model = (*calls)++ % pool->models;
  if (is_fault("goes-by-number"))
    model = 0;
  return tutti_ensemble_add(context, ensemble, pool->trials[model] + is_fault("chooses-a-stranger"), 1);
}

static bool leave_when_asked(char *why, size_t why_size) {
  (void)why, (void)why_size;
  exit(0);
}

static bool unavailable(char *why, size_t why_size) {
  (void)snprintf(why, why_size, "there is no abacus here");
  return false;
}

static const struct tutti_selector_ops ops = {.size = sizeof ops, .select = choose}, no_ops = {.size = sizeof no_ops},
                                       short_ops = {.size = sizeof(size_t), .select = choose};

#define SOUND(text)                                                                                                    \
  TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, text),                                                                    \
      .version = "1", .summary = "broken, or not", .source = "", .licence = "Apache-2.0",                              \
      .params = TUTTI_PARAMS(params, struct config), .create = create, .destroy = tutti_free, .ops = &ops

#pragma GCC diagnostic ignored "-Woverride-init" /* a sound descriptor, and then its fault */
#pragma GCC diagnostic ignored "-Wextra"
static const struct tutti_descriptor descriptors[] = {
    {SOUND("sound")},
    {SOUND("prints")},
    {SOUND("takes-the-last")},
    {SOUND("takes-nan")},
    {SOUND("crashes-at-work")},
    {SOUND("exits-at-work")},
    {SOUND("prints-at-work")},
    {SOUND("dies-in-workers")},
    {SOUND("tells-its-threads")},
    {SOUND("complains-at-work")},
    {SOUND("leaks-at-work")},
    {SOUND("keeps-files-open")},
    {SOUND("writes-to-its-input")},
    {SOUND("exports-more")},
    {SOUND("leaves-at-work")},
    {SOUND("leaves-quickly-at-work")},
    {SOUND("leaves-at-once-at-work")},
    {SOUND("leaves-as-c-says-at-work")},
    {SOUND("forks-at-work")},
    {SOUND("aborts-at-work")},
    {SOUND("hangs-at-work")},
    {SOUND("hangs-later")},
    {SOUND("recurses-at-work")},
    {SOUND("chooses-none")},
    {SOUND("remembers")},
    {SOUND("goes-by-number")},
    {SOUND("chooses-a-stranger")},
    {SOUND("fails")},
    {SOUND("fails-silently")},
    {SOUND("old-abi"), .abi_major = TUTTI_ABI_MAJOR - 1},
    {SOUND("new-abi"), .abi_major = TUTTI_ABI_MAJOR + 1},
    {SOUND("newer-minor"), .abi_minor = TUTTI_ABI_MINOR + 1},
    {SOUND("new-kind"), .abi_minor = TUTTI_ABI_MINOR + 1, .kind = TUTTI_KIND_COUNT},
    {SOUND("short"), .size = offsetof(struct tutti_descriptor, ops)},
    {SOUND("no-op"), .ops = &no_ops},
    {SOUND("short-ops"), .ops = &short_ops},
    {SOUND("no-ops"), .ops = NULL},
    {SOUND("no-create"), .create = NULL},
    {SOUND("no-summary"), .summary = NULL},
    {SOUND("unknown-kind"), .kind = TUTTI_KIND_COUNT},
    {SOUND("bad-table"), .params = TUTTI_PARAMS(bad_params, struct config)},
    {SOUND("unavailable"), .available = unavailable},
    {SOUND("leaves-when-asked"), .available = leave_when_asked},
    {SOUND("leaves-in-the-end")},
};

/* --- a source of eight rows --- */

static enum tutti_status read_rows(void *self, tutti_context *context, const struct tutti_source_request *request,
                                   tutti_rows *rows) {
  (void)self, (void)request;
  break_down();
  if (is_fault("crashes-at-work"))
    crash();
  TUTTI_TRY(context, tutti_rows_add_column(context, rows, "x"));
  TUTTI_TRY(context, tutti_rows_add_column(context, rows, "y"));
  TUTTI_TRY(context, tutti_rows_add_numbers(context, rows, 0, 8, (const double[]){0, 1, 2, 3, 4, 5, 6, 7}));
  return tutti_rows_add_numbers(context, rows, 1, 8, (const double[]){0, 2, 4, 6, 8, 10, 12, 14});
}

static const struct tutti_source_ops source_ops = {.size = sizeof source_ops, .read = read_rows};
#define SOURCE(text)                                                                                                   \
  { SOUND(text), .kind = TUTTI_KIND_SOURCE, .ops = &source_ops }
static const struct tutti_descriptor sources[] = {SOURCE("sound"), SOURCE("leaves-at-work"), SOURCE("aborts-at-work"),
                                                  SOURCE("hangs-at-work"), SOURCE("crashes-at-work")};

static bool is_source(void) {
  Dl_info info;
  return dladdr((void *)(uintptr_t)plugin, &info) && info.dli_fname && strstr(info.dli_fname, "/source-");
}
static const struct tutti_descriptor other_name = {SOUND("quite-another")}, bad_name = {SOUND("Bad Name")};

static const struct tutti_descriptor *plugin(void) {
  if (is_fault("other-name"))
    return &other_name;
  if (is_fault("bad-name"))
    return &bad_name;
  for (size_t i = 0; is_source() && i < sizeof sources / sizeof sources[0]; i++)
    if (is_fault(sources[i].name))
      return &sources[i];
  for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
    if (is_fault(descriptors[i].name))
      return &descriptors[i];
  return NULL;
}

TUTTI_API const struct tutti_descriptor *tutti_plugin(void);
TUTTI_API const struct tutti_descriptor *tutti_plugin(void) { return plugin(); }
