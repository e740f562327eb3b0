/* test_report.c - what charts compute, against brute force and closed forms; texts of a run stay texts. */
#include "engine/draw/table.c"
#include "engine/draw/xml.c"
#include "engine/draw/graph.c"
#include "engine/draw/picture.c"
#include "engine/draw/plot.c"
#include "engine/draw/tool.c"
#include "engine/report/compute.c"
#include "engine/report/scale.c"
#include "engine/report/timeline.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static tutti_context *context;

static int make_context(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : 1;
}

static int drop_context(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* Some number in [0, 1) for each index: enough for tests of functions. */
static double number(size_t index) {
  double x = sin((double)index * 12.9898 + 4.1) * 43758.5453;
  return x - floor(x);
}

/* --- computations ------------------------------------------------------------------------------------------------- */

enum { COUNT = 40 };

/* Curves that fall from 3 to 0 are shown whole; of one that is wild in an epoch, whatever it has there, the rest is.
   What is no number counts for nothing. */
static void wild_losses_are_outside_of_the_frame(void **state) {
  enum { CURVES = 5, EPOCHS = 40, ALL = CURVES * EPOCHS };
  double losses[ALL];
  (void)state;
  for (size_t i = 0; i < ALL; i++)
    losses[i] = 3 * exp(-0.2 * (double)(i % EPOCHS)) - 1;
  assert_true(isinf(tutti_report_frame(ALL, losses, 100)));
  assert_true(tutti_report_frame(ALL, losses, 4) < 2);
  const double first_epochs = 3 - 1, least = 3 * exp(-0.2 * (EPOCHS - 1)) - 1;
  losses[7] = NAN;
  losses[9] = INFINITY;
  for (double wild = 1e3; wild < 1e12; wild *= 10) {
    losses[50] = wild;
    const double frame = tutti_report_frame(ALL, losses, 100);
    assert_true(fabs(frame - (first_epochs + 0.05 * (first_epochs - least))) < 1e-9);
  }
  assert_true(isinf(tutti_report_frame(0, losses, 9)));
  assert_true(isinf(tutti_report_frame(1, losses + 7, 9)));
  for (size_t i = 0; i < ALL; i++)
    losses[i] = 0.5;
  assert_true(isinf(tutti_report_frame(ALL, losses, 9)));
}

/* The mean over all orders of tied rows is what a row that ties counts: here by many orders of two ties. */
static void risk_is_the_mean_loss_of_the_surest(void **state) {
  const double scores[] = {3, 1, 2, 2}, losses[] = {8, 4, 0, 1};
  const double expected[] = {4, 2.25, 5.0 / 3, 3.25};
  double risk[COUNT], many[COUNT], others[COUNT];
  (void)state;
  assert_int_equal(tutti_report_risk(context, 4, scores, losses, risk), TUTTI_OK);
  for (size_t i = 0; i < 4; i++)
    assert_true(fabs(risk[i] - expected[i]) < 1e-12);
  for (size_t i = 0; i < COUNT; i++) {
    many[i] = number(i);
    others[i] = number(i + 100);
  }
  assert_int_equal(tutti_report_risk(context, COUNT, many, others, risk), TUTTI_OK);
  for (size_t i = 0; i < COUNT; i++) { /* the n rows at or below the score of row i */
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < COUNT; k++)
      if (many[k] <= many[i]) {
        sum += others[k];
        n++;
      }
    assert_true(fabs(risk[n - 1] - sum / (double)n) < 1e-12);
  }
}

static void nothing_beats_the_front(void **state) {
  double costs[COUNT], losses[COUNT];
  bool front[COUNT];
  size_t found = 0;
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    costs[i] = floor(number(i) * 6);
    losses[i] = i == 7 ? (double)NAN : floor(number(i + 50) * 6);
  }
  tutti_report_front(COUNT, costs, losses, front);
  assert_false(front[7]);
  for (size_t i = 0; i < COUNT; i++) {
    bool beaten = i == 7;
    found += front[i];
    for (size_t k = 0; k < COUNT; k++)
      beaten =
          beaten || (costs[k] < costs[i] && losses[k] <= losses[i]) || (costs[k] <= costs[i] && losses[k] < losses[i]);
    assert_true(front[i] == !beaten);
  }
  assert_true(found > 0 && found < COUNT);
}

static void ranks_share_ties(void **state) {
  const double values[] = {5, 1, 5, 0, 9};
  const double expected[] = {3.5, 2, 3.5, 1, 5};
  double ranks[5];
  (void)state;
  assert_int_equal(tutti_report_ranks(context, 5, values, ranks), TUTTI_OK);
  for (size_t i = 0; i < 5; i++)
    assert_true(fabs(ranks[i] - expected[i]) < 1e-12);
}

/* Epsilon squared in the closed form 1 - (1 - eta^2) (n - 1) / (n - k); everything and nothing are its ends. */
static void groups_explain_their_share(void **state) {
  double values[COUNT], between = 0, all = 0, mean = 0, sums[4] = {0};
  size_t group[COUNT], sizes[4] = {0};
  (void)state;
  for (size_t i = 0; i < COUNT; i++) {
    group[i] = i % 4;
    values[i] = number(i) + 0.4 * (double)group[i];
    mean += values[i] / COUNT;
    sums[group[i]] += values[i];
    sizes[group[i]]++;
  }
  for (size_t i = 0; i < COUNT; i++)
    all += (values[i] - mean) * (values[i] - mean);
  for (size_t g = 0; g < 4; g++)
    between += (double)sizes[g] * pow(sums[g] / (double)sizes[g] - mean, 2);
  double closed = 1 - (1 - between / all) * (COUNT - 1) / (COUNT - 4);
  assert_true(closed > 0.1 && fabs(tutti_report_explained(COUNT, values, group, 4) - closed) < 1e-12);
  for (size_t i = 0; i < COUNT; i++)
    values[i] = (double)group[i];
  assert_true(fabs(tutti_report_explained(COUNT, values, group, 4) - 1) < 1e-12);
  for (size_t i = 0; i < COUNT; i++)
    values[i] = (double)(i / 4);
  assert_true(tutti_report_explained(COUNT, values, group, 4) == 0);
  for (size_t i = 0; i < COUNT; i++)
    values[i] = 3;
  assert_true(isnan(tutti_report_explained(COUNT, values, group, 4)));
}

static void groups_keep_ties_together(void **state) {
  double values[COUNT];
  size_t group[COUNT], groups;
  (void)state;
  for (size_t i = 0; i < COUNT; i++)
    values[i] = i % 5 == 0 ? (double)NAN : floor(number(i) * 10);
  assert_int_equal(tutti_report_group(context, COUNT, values, 4, group, &groups), TUTTI_OK);
  assert_true(groups >= 3 && groups <= 5);
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(group[i] < groups && isnan(values[i]) == (group[i] == groups - 1));
    for (size_t k = 0; k < COUNT; k++)
      if (!isnan(values[i]) && !isnan(values[k]))
        assert_true(values[i] < values[k] ? group[i] <= group[k] : values[i] > values[k] || group[i] == group[k]);
  }
}

/* Points of a plane, seen by their distances alone, come back up to a turn: the distances are the same. Of points of
   space, the map shows the two largest of three known variances. */
static void scaling_gives_distances_back(void **state) {
  double points[COUNT][3], distances[COUNT * COUNT], places[2 * COUNT], shares[2];
  (void)state;
  for (int depth = 0; depth < 2; depth++) {
    double squares[3] = {0};
    for (size_t i = 0; i < COUNT; i++) { /* three directions that are orthogonal to each other and centred */
      double turn = 2 * acos(-1) * (double)i / COUNT;
      points[i][0] = 3 * cos(turn);
      points[i][1] = 2 * sin(turn);
      points[i][2] = depth ? cos(2 * turn) : 0;
      for (size_t k = 0; k < 3; k++)
        squares[k] += points[i][k] * points[i][k];
    }
    for (size_t i = 0; i < COUNT; i++)
      for (size_t k = 0; k < COUNT; k++)
        distances[i * COUNT + k] = sqrt(pow(points[i][0] - points[k][0], 2) + pow(points[i][1] - points[k][1], 2) +
                                        pow(points[i][2] - points[k][2], 2));
    assert_int_equal(tutti_report_scale(context, COUNT, distances, places, shares), TUTTI_OK);
    double total = squares[0] + squares[1] + squares[2];
    assert_true(fabs(shares[0] - squares[0] / total) < 1e-8 && fabs(shares[1] - squares[1] / total) < 1e-8);
    for (size_t i = 0; i < COUNT; i++)
      for (size_t k = 0; k < COUNT; k++) {
        double flat = hypot(points[i][0] - points[k][0], points[i][1] - points[k][1]);
        assert_true(fabs(hypot(places[2 * i] - places[2 * k], places[2 * i + 1] - places[2 * k + 1]) - flat) < 1e-5);
      }
  }
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static const char *take(struct tutti_text *text, char **kept) {
  assert_int_equal(tutti_text_take(text, kept), TUTTI_OK);
  return *kept;
}

/* Workers whose places train one after the other, and whose results come late but in their order, by a clock that
   knows the true ends. The bars are as long, end when the result came at the latest, none begins before the run, and
   those of a place stand apart; with one place for each worker, none is before its true time. */
static void check_timeline(size_t round, size_t places) {
  enum { WORKERS = 3, EACH = 12, ALL = WORKERS * EACH };
  struct report_bar bars[ALL];
  double ends[ALL];
  size_t count = 0;
  for (size_t w = 0; w < WORKERS; w++) {
    double busy[4] = {0}, came = 0;
    for (size_t i = 0; i < EACH; i++) {
      size_t seed = 97 * round + 31 * w + 7 * i, p = 0;
      double gap = number(seed) < 0.5 ? 0 : number(seed + 1), seconds = number(seed + 2), begin;
      for (size_t k = 1; k < places; k++)
        p = busy[k] < busy[p] ? k : p;
      begin = busy[p] + gap;
      busy[p] = begin + seconds;
      ends[count] = busy[p];
      came = fmax(came + 1e-6, busy[p] + 0.8 * number(seed + 3)); /* the manager takes them one after the other */
      bars[count++] = (struct report_bar){.worker = (uint32_t)w, .at = came, .seconds = seconds};
    }
  }
  size_t found = places;
  assert_int_equal(tutti_report_timeline(context, count, bars, &found), TUTTI_OK);
  assert_true(places > 1 ? found >= places : found == 1);
  for (size_t i = 0; i < count; i++) {
    assert_true(fabs(bars[i].end - bars[i].begin - bars[i].seconds) < 1e-12);
    assert_true(bars[i].end <= bars[i].at);
    assert_true(bars[i].begin > -1e-3);
    assert_true(bars[i].place < found);
    assert_true(places > 1 || bars[i].end >= ends[i] - 1e-9);
    for (size_t k = 0; k < i; k++)
      if (bars[k].worker == bars[i].worker && bars[k].place == bars[i].place)
        assert_true(bars[k].end <= bars[i].begin || bars[i].end <= bars[k].begin);
  }
}

/* Two workers side by side from second 0 on, of which a catalogue has made one: it had two places. Beside it, one that
   had a single place keeps it. A training that says it took longer than the run had lasted asks for no place. */
static void a_worker_gets_the_places_that_it_needs(void **state) {
  enum { EACH = 10, ALL = 3 * EACH };
  struct report_bar bars[ALL];
  size_t places = 1;
  (void)state;
  for (size_t i = 0; i < ALL; i++)
    bars[i] = (struct report_bar){
        .worker = i / EACH == 2, .at = (double)(i % EACH + 1) + 0.01 * (double)(i / EACH), .seconds = 1};
  assert_int_equal(tutti_report_timeline(context, ALL, bars, &places), TUTTI_OK);
  assert_int_equal(places, 2);
  for (size_t i = 0; i < ALL; i++) {
    assert_true(bars[i].begin > -1e-9 && bars[i].end <= bars[i].at);
    assert_true(bars[i].place < (i / EACH == 2 ? 1 : places));
    for (size_t k = 0; k < i; k++)
      if (bars[k].worker == bars[i].worker && bars[k].place == bars[i].place)
        assert_true(bars[k].end <= bars[i].begin || bars[i].end <= bars[k].begin);
  }
  places = 1;
  bars[0].seconds = 3;
  assert_int_equal(tutti_report_timeline(context, 1, bars, &places), TUTTI_OK);
  assert_true(places == 1 && bars[0].begin == -2);
}

static void bars_of_a_worker_stand_apart(void **state) {
  (void)state;
  for (size_t round = 0; round < 50; round++)
    for (size_t places = 1; places <= 4; places++)
      check_timeline(round, places);
}

static void texts_stay_texts(void **state) {
  static const struct {
    const char *text, *xml;
  } cases[] = {
      {"a < b & \"c\" > 'd'", "a &#60; b &#38; &#34;c&#34; &#62; &#39;d&#39;"},
      {"\x01\x1b[31m\x7f tab\there", "[31m tab\there"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xc3", "\xef\xbf\xbd"},                                                 /* cut short */
      {"\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* "<", overlong */
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* half a pair */
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond Unicode */
      {"\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* no character */
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tutti_text out = tutti_text_begin(context);
    char *text;
    tutti_text_add(&out, "%s", "");
    tutti_xml_add(&out, cases[i].text);
    assert_string_equal(take(&out, &text), cases[i].xml);
    tutti_free(text);
  }
}

/* RFC 4648, section 10. */
static void base64_is_that_of_its_standard(void **state) {
  static const char *const cases[][2] = {{"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tutti_text out = tutti_text_begin(context);
    char *text;
    tutti_base64_add(&out, cases[i][0], strlen(cases[i][0]));
    assert_string_equal(take(&out, &text), cases[i][1]);
    tutti_free(text);
  }
}

static void tables_are_csv(void **state) {
  struct tutti_table table = tutti_table_begin(context, "table");
  struct tutti_text out = tutti_text_begin(context);
  char *text;
  (void)state;
  tutti_table_columns(&table, "a,b", "=1+1", NULL);
  tutti_table_put(&table, 0.1);
  tutti_table_put_text(&table, "say \"x\"\n");
  tutti_table_put(&table, (double)NAN);
  tutti_table_put_text(&table, "@SUM(A1)");
  assert_int_equal(table.status, TUTTI_OK);
  assert_int_equal(tutti_table_rows(&table), 2);
  tutti_table_csv(&table, &out);
  assert_string_equal(take(&out, &text), "\"a,b\",'=1+1\r\n0.1,\"say \"\"x\"\"\n\"\r\n,'@SUM(A1)\r\n");
  tutti_free(text);
  tutti_table_end(&table);
}

/* Whatever a text says, gnuplot's script has it in one pair of single quotes, on one line. */
static void gnuplot_gets_texts_quoted(void **state) {
  struct tutti_plot plot = tutti_plot_begin(context, "chart", 10, 10);
  (void)state;
  tutti_plot_text(&plot, "xlabel", "'; system('touch x')\n!touch y `touch z` \\x \"q\"");
  assert_string_equal(plot.head.data, "set xlabel '''; system(''touch x'')?!touch y /touch z/ /x \"q\"'\n");
  tutti_plot_end(&plot);
}

/* The numbers that stand below the x axis of a picture: their places, and their texts in order. Returns how many. */
static size_t read_ticks(const char *svg, double *places, char (*texts)[32]) {
  enum { MOST = 40 };
  size_t count = 0;
  for (const char *at = svg; count < MOST && (at = strstr(at, "translate(")); at++) {
    double x, y;
    char anchor[8], text[32];
    if (sscanf(at,
               "translate(%lf,%lf)\" stroke=\"none\" fill=\"black\" font-size=\"12.00\" text-anchor=\"%7[a-z]\">"
               " <text>%31[^<]",
               &x, &y, anchor, text) != 4 ||
        strcmp(anchor, "middle") != 0)
      continue;
    places[count] = x;
    (void)snprintf(texts[count++], sizeof *texts, "%s", text);
  }
  return count;
}

/* Draw two points with these ends, and look at what is below them. */
static void check_ticks(double low, double high, int width, enum tutti_ticks ticks) {
  struct tutti_table table = tutti_table_begin(context, "ends");
  struct tutti_plot plot = tutti_plot_begin(context, "ends", width, 300);
  const double numbers[] = {low, 1, high, 2};
  double places[40];
  char texts[40][32];
  tutti_table_columns(&table, "x", "y", NULL);
  tutti_table_put_all(&table, 4, numbers);
  plot.ticks = ticks;
  tutti_plot_series(&plot, 0, "1:2", "points", 0, NULL);
  struct tutti_plot_job job = {&plot, 1, &table, NULL};
  enum tutti_status status = tutti_plots_draw(context, 1, &job);
  if (status == TUTTI_ERROR_UNSUPPORTED) {
    tutti_error_clear(context);
    tutti_plot_end(&plot);
    tutti_table_end(&table);
    skip();
  }
  assert_int_equal(status, TUTTI_OK);
  size_t count = read_ticks(job.svg, places, texts);
  assert_in_range(count, 2, 20);
  for (size_t i = 0; i < count; i++) {
    double half = 3.2 * (double)strlen(texts[i]); /* characters of the narrowest usual fonts */
    assert_true(places[i] + half <= width);
    assert_true(ticks != TUTTI_TICKS_WHOLE || !strchr(texts[i], '.'));
    if (i > 0) {
      assert_string_not_equal(texts[i - 1], texts[i]);
      assert_true(places[i - 1] + 3.2 * (double)strlen(texts[i - 1]) < places[i] - half);
    }
  }
  tutti_free(job.svg);
  tutti_plot_end(&plot);
  tutti_table_end(&table);
}

static void numbers_below_an_axis_have_room(void **state) {
  static const double ends[][2] = {
      {0, 1},           {0.00015, 0.00065},      {999.998, 1000}, {-300000, 400000}, {1e-7, 9e-7},
      {123456, 123457}, {1000.00001, 1000.0004}, {-1e6, 1e7},     {0.6888, 0.69},    {3, 1e5}};
  (void)state;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    for (int width = 400; width <= 900; width += 250)
      check_ticks(ends[i][0], ends[i][1], width, TUTTI_TICKS_NUMBERS);
  for (int most = 1; most < 3000; most = 3 * most + 1)
    check_ticks(0, most, 520, TUTTI_TICKS_WHOLE);
}

static void graphviz_gets_texts_quoted(void **state) {
  struct tutti_text out = tutti_text_begin(context);
  char *text;
  (void)state;
  tutti_graph_box(&out, 1, "\"]; x [URL=\\\"y\n&lt;", false);
  assert_string_equal(take(&out, &text), "n1 [label=\"\\\"]; x [URL=\\\\\\\"y\\n&amp;lt;\"];\n");
  tutti_free(text);
}

static void tools_that_fail_are_errors(void **state) {
  static const char *const absent[] = {"tutti-no-such-program", NULL}, *const wrong[] = {"sh", "-c",
                                                                                         "echo >&2 oh dear; exit 3",
                                                                                         NULL};
  static const char *const copy[] = {"cat", NULL};
  char *out;
  (void)state;
  assert_int_equal(tutti_tool_run(context, absent, "", &out), TUTTI_ERROR_UNSUPPORTED);
  assert_null(out);
  assert_int_equal(tutti_tool_run(context, wrong, "", &out), TUTTI_ERROR_IO);
  assert_non_null(strstr(tutti_error_message(context), "oh dear"));
  assert_null(out);
  struct tutti_text text = tutti_text_begin(context);
  char *large;
  for (int i = 0; i < 100000; i++) /* more than a pipe holds */
    tutti_text_add(&text, "%d\n", i);
  assert_int_equal(tutti_text_take(&text, &large), TUTTI_OK);
  assert_int_equal(tutti_tool_run(context, copy, large, &out), TUTTI_OK);
  assert_string_equal(out, large);
  tutti_free(out);
  tutti_free(large);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wild_losses_are_outside_of_the_frame),
      cmocka_unit_test(risk_is_the_mean_loss_of_the_surest),
      cmocka_unit_test(nothing_beats_the_front),
      cmocka_unit_test(ranks_share_ties),
      cmocka_unit_test(groups_explain_their_share),
      cmocka_unit_test(groups_keep_ties_together),
      cmocka_unit_test(scaling_gives_distances_back),
      cmocka_unit_test(bars_of_a_worker_stand_apart),
      cmocka_unit_test(a_worker_gets_the_places_that_it_needs),
      cmocka_unit_test(texts_stay_texts),
      cmocka_unit_test(base64_is_that_of_its_standard),
      cmocka_unit_test(tables_are_csv),
      cmocka_unit_test(gnuplot_gets_texts_quoted),
      cmocka_unit_test(numbers_below_an_axis_have_room),
      cmocka_unit_test(graphviz_gets_texts_quoted),
      cmocka_unit_test(tools_that_fail_are_errors),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
