/* report.c - runs as a page. */
#include "report_impl.h"
#include "all_sections.h"
#include "together.h"

#include "core/base/sized_impl.h"

#include <string.h>
#include <tutti/report.h>
#include <tutti/sized.h>

#define DECLARE(id, name) extern const struct report_section report_section_##name;
#define ADDRESS(id, name) &report_section_##name,
ALL_SECTIONS(DECLARE)
static const struct report_section *const sections[] = {ALL_SECTIONS(ADDRESS)};

enum { SECTIONS = sizeof sections / sizeof *sections };

static size_t count_charts(void) {
  size_t count = 0;
  for (size_t i = 0; i < SECTIONS; i++)
    for (const struct report_chart *chart = sections[i]->charts; chart->name; chart++)
      count++;
  return count;
}

/* Could a section say something about a run of this kind? */
static bool applies(const struct report_section *section, const struct report_facts *facts) {
  bool fit = tutti_experiment_is_fit(facts->experiment);
  return !(fit && section->of_ensembles) && !(section->of_predictions && (fit || !facts->experiment->dataset));
}

static enum tutti_status make_figures(tutti_context *context, struct report_page *page) {
  struct report_figure *figure = page->figures;
  for (size_t i = 0; i < SECTIONS; i++)
    for (const struct report_chart *chart = sections[i]->charts; chart->name; chart++)
      for (size_t run = 0; run < page->runs; run++, figure++) {
        if (page->runs > REPORT_MANY_RUNS && !chart->brief)
          continue;
        *figure = (struct report_figure){.context = context, .chart = chart};
        TUTTI_TRY(context, applies(sections[i], &page->facts[run]) ? chart->draw(&page->facts[run], figure)
                                                                   : tutti_figure_skip(figure));
        if (tutti_cancelled(context))
          return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled");
      }
  return TUTTI_OK;
}

static enum tutti_status make_page(tutti_context *context, const struct report_runs *runs, struct report_facts *facts,
                                   struct report_page *page, char **html) {
  enum tutti_status status = TUTTI_OK;
  size_t figures = page->charts * page->runs;
  page->facts = facts;
  for (size_t i = 0; i < page->runs; i++)
    TUTTI_TRY_OUT(context, tutti_report_gather(context, runs->paths[i], runs->labels[i], &facts[i]));
  TUTTI_TRY_OUT(context, make_figures(context, page));
  TUTTI_TRY_OUT(context, tutti_report_together(context, runs, page));
  TUTTI_TRY_OUT(context, tutti_figures_draw(context, figures, page->figures, &page->lacking));
  TUTTI_TRY_OUT(context, tutti_figures_draw(context, page->together_count, page->together, &page->lacking));
  TUTTI_TRY_OUT(context, tutti_page_write(context, page, html));
out:
  for (size_t i = 0; i < figures; i++)
    tutti_figure_end(&page->figures[i]);
  for (size_t i = 0; i < page->together_count; i++)
    tutti_figure_end(&page->together[i]);
  for (size_t i = 0; i < page->runs; i++)
    if (facts[i].context)
      tutti_report_release(&facts[i]);
  return status;
}

enum tutti_status tutti_report(tutti_context *context, size_t count, const char *const *directories,
                               struct tutti_report_options *options, char **html) {
  enum tutti_status status = TUTTI_OK;
  struct report_runs runs = {0};
  struct report_facts *facts = NULL;
  struct report_page page = {.sections = SECTIONS, .section = sections, .charts = count_charts()};
  *html = NULL;
  TUTTI_TRY_OUT(context, tutti_report_find(context, count, directories, &runs));
  page.runs = runs.count;
  page.waiting = runs.waiting;
  TUTTI_TRY_OUT(context, tutti_alloc(context, page.runs, sizeof *facts, &facts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, page.charts * page.runs, sizeof *page.figures, &page.figures));
  TUTTI_TRY_OUT(context, make_page(context, &runs, facts, &page, html));
  if (options && options->size >= sizeof *options) {
    options->lacking = page.lacking;
    options->runs = page.runs;
  }
out:
  tutti_free(facts);
  tutti_free(page.figures);
  tutti_free(page.together);
  tutti_report_forget(&runs);
  return status;
}
