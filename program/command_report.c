/* command_report.c - tutti report: runs as a page for people. */
#include "program_impl.h"

#include "core/base/replaced_impl.h"

#include <string.h>
#include <tutti/report.h>

struct report_options {
  const char *to;
  bool trust;
};

static const struct tutti_file_kind report_kind = {
    .name = "a report", .begins = {"<!DOCTYPE html>"}, .holds = "<meta name=\"generator\" content=\"tutti\"/>"};

static int print_page(const char *html) {
  begin_output();
  (void)fwrite(html, 1, strlen(html), stdout);
  return finish_output();
}

static int write_page(const char *path, const char *html) {
  struct result_file file = begin_result(path);
  if (!file.stream)
    return EXIT_FAILED;
  (void)fwrite(html, 1, strlen(html), file.stream);
  return end_result(&file);
}

static int run_report(tutti_context *context, const struct texts *operands, const void *given) {
  const struct report_options *options = given;
  struct tutti_report_options report = {.size = sizeof report};
  const char *path = options->to ? options->to : "report.html";
  char *html = NULL;
  tutti_trust_runs(context, options->trust);
  enum tutti_status status = tutti_file_check_replaced(context, path, &report_kind);
  if (status == TUTTI_OK)
    status = tutti_report(context, operands->count, operands->items, &report, &html);
  if (status != TUTTI_OK)
    return fail(context, status);
  bool printed = strcmp(path, "-") == 0;
  int code = printed ? print_page(html) : write_page(path, html);
  tutti_free(html);
  if (code != EXIT_DONE)
    return code;
  if (report.lacking)
    (void)fprintf(stderr,
                  "tutti: not found: %s; the report has tables in place of the pictures (Debian: apt-get install "
                  "gnuplot-nox graphviz)\n",
                  report.lacking);
  if (printed)
    return EXIT_DONE;
  begin_output();
  print_harmless(stdout, "%s: %zu %s\n", path, report.runs, tutti_plural(report.runs, "run", "runs"));
  return finish_output();
}

static const struct command_option report_options[] = {
    {"to", 't', OPTION_TEXT, "FILE.html", "Write there (default: report.html in this folder); -: print it.",
     .offset = offsetof(struct report_options, to), .completes = COMPLETE_FILE},
    TRUST_OPTION(struct report_options),
    {0}};

const struct command command_report = {
    .name = "report",
    .summary = "runs as a page for people",
    .about = "Write what runs were asked, tried and found as a page with charts: one HTML file that opens offline.",
    .notes =
        "Charts are drawn by gnuplot, and architectures by graphviz, if they are installed; without them the page "
        "has the tables. Several runs, and the directory of an ablation, stand side by side. Each figure's numbers "
        "are on the page, as a table and as CSV.",
    .operands = {.synopsis = "RUN...",
                 .wanted = "run directories",
                 .example = "runs/quickstart",
                 .least = 1,
                 .most = MOST_TEXTS,
                 .completes = {COMPLETE_FOLDER, COMPLETE_FOLDER}},
    .options = report_options,
    .size = sizeof(struct report_options),
    .run = run_report,
};
