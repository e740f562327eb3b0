/* progress.c - a bar on a terminal, plain lines elsewhere; always on stderr. */
#include "progress.h"

#include "program_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { BAR = 24 };

void progress_begin(struct progress *progress, bool quiet) {
  const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
  *progress = (struct progress){.quiet = quiet, .shown = -1};
  progress->terminal = is_terminal(stderr) && term && strcmp(term, "dumb") != 0;
  progress->colour = progress->terminal && !(no_colour && *no_colour);
}

/* "2:05", "1:02:05" */
static void clock_text(double seconds, char *text, size_t size) {
  long total = seconds < 0 || !isfinite(seconds) ? 0 : lround(fmin(seconds, 1e8));
  if (total >= 3600)
    (void)snprintf(text, size, "%ld:%02ld:%02ld", total / 3600, total / 60 % 60, total % 60);
  else
    (void)snprintf(text, size, "%ld:%02ld", total / 60, total % 60);
}

static void describe(const struct tutti_run_progress *run, char *text, size_t size) {
  char best[32] = "", value[32], elapsed[32], left[64] = "", failed[48] = "", pruned[48] = "", of[32] = "";
  double done = (double)(run->done - run->restored), rate = run->seconds > 0 ? done / run->seconds : 0;
  clock_text(run->seconds, elapsed, sizeof elapsed);
  double rest = fmax(run->time - run->worked, 0);
  if (run->budget > 0 && rate > 0)
    rest = fmin(rest, (double)(run->budget - run->done) / rate);
  if (rate > 0) {
    char remaining[32];
    clock_text(rest, remaining, sizeof remaining);
    (void)snprintf(left, sizeof left, rate < 100 ? "  %.3g/s  %s left" : "  %.0f/s  %s left", rate, remaining);
  }
  if (run->budget > 0)
    (void)snprintf(of, sizeof of, "/%" PRIu64, run->budget);
  if (run->failed)
    (void)snprintf(failed, sizeof failed, "  %" PRIu64 " failed", run->failed);
  if (run->pruned)
    (void)snprintf(pruned, sizeof pruned, "  %" PRIu64 " pruned", run->pruned);
  if (!isnan(run->best_loss))
    (void)snprintf(best, sizeof best, "%s", show_number(run->best_loss, value));
  (void)snprintf(text, size, "%" PRIu64 "%s%s%s%s%s%s%s  %s%s", run->done, of, failed, pruned, *best ? "  best " : "",
                 *best ? run->loss : "", *best ? " " : "", best, elapsed, left);
}

static void draw(struct progress *progress, const struct tutti_run_progress *run, const char *text) {
  struct winsize window = {.ws_col = 80};
  char bar[BAR * 3 + 1] = "";
  double part = run->budget ? (double)run->done / (double)run->budget : 0;
  if (isfinite(run->time))
    part = fmax(part, run->worked / run->time);
  size_t filled = (size_t)(fmin(part, 1) * BAR);
  (void)ioctl(fileno(stderr), TIOCGWINSZ, &window);
  for (size_t i = 0; i < BAR; i++)
    (void)strcat(bar, i < filled ? "#" : ".");
  int room = (window.ws_col > 0 ? window.ws_col : 80) - BAR - 4;
  (void)fprintf(stderr, "\r\033[K%s[%s]%s %.*s", progress->colour ? "\033[36m" : "", bar,
                progress->colour ? "\033[0m" : "", room > 0 ? room : 0, text);
  (void)fflush(stderr);
  progress->drawn = true;
}

void progress_show(void *argument, const struct tutti_run_progress *run) {
  struct progress *progress = argument;
  char text[256];
  bool last = run->phase == TUTTI_PHASE_SELECT;
  progress->launched = run->launched;
  if (progress->quiet || run->phase == TUTTI_PHASE_DONE)
    return;
  describe(run, text, sizeof text);
  if (progress->terminal) {
    if (last || run->seconds - progress->shown >= 0.1 || progress->shown < 0) {
      progress->shown = run->seconds;
      draw(progress, run, text);
    }
  } else if (last || run->seconds >= progress->next) {
    /* Lines become rarer with time, so that a log of several days stays readable. */
    progress->next = fmax(run->seconds * 1.25, run->seconds + 2);
    (void)fprintf(stderr, "tutti: %s%s\n", run->phase == TUTTI_PHASE_REPAIR ? "mending torn trials  " : "", text);
  }
}

void progress_end(struct progress *progress) {
  if (progress->drawn)
    (void)fputc('\n', stderr);
  progress->drawn = false;
}
