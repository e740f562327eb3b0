/* svg.c - SVG as text. */
#include "svg.h"

#include <math.h>
#include <stdio.h>

static const char *const classes[] = {[TUTTI_SVG_TRUTH] = "truth",
                                      [TUTTI_SVG_MEAN] = "mean",
                                      [TUTTI_SVG_BAND] = "band",
                                      [TUTTI_SVG_TRAIN] = "train",
                                      [TUTTI_SVG_TEST] = "test"};

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* XML 1.0 knows no control characters but these three, not even escaped. */
static void add_escaped(struct tutti_text *out, const char *text) {
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '&' || byte == '<' || byte == '>' || byte == '"' || byte == '\'')
      tutti_text_add(out, "&#%d;", byte);
    else if (byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r')
      tutti_text_add(out, "%c", byte);
  }
}

void tutti_svg_text(struct tutti_text *out, double x, double y, const char *anchor, const char *text) {
  tutti_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  add_escaped(out, text);
  tutti_text_add(out, "</text>\n");
}

/* --- the picture -------------------------------------------------------------------------------------------------- */

void tutti_svg_begin(struct tutti_text *out, double width, double height, const char *title) {
  tutti_text_add(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                 "role=\"img\">\n<title>",
                 width, height, width, height);
  add_escaped(out, title);
  tutti_text_add(out, "</title>\n"
                      "<style>\n"
                      ".page{fill:#fff}text{fill:#222;font:12px sans-serif}\n"
                      ".axis,.truth{stroke:#222;fill:none}.truth{stroke-width:1.2}.axis{stroke-width:1}\n"
                      ".mean{stroke:#1f5fbf;fill:none;stroke-width:1.8}.band{fill:#1f5fbf;fill-opacity:.25}\n"
                      ".train{fill:#111;stroke:#fff;stroke-width:.7}.test{stroke:#c33;fill:none;stroke-width:1}\n"
                      "@media(prefers-color-scheme:dark){.page{fill:#16181c}text{fill:#ddd}\n"
                      ".axis,.truth{stroke:#ddd}.mean{stroke:#7fb2ff}.band{fill:#7fb2ff}\n"
                      ".train{fill:#fff;stroke:#000}.test{stroke:#ff8080}}\n"
                      "</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n");
}

void tutti_svg_end(struct tutti_text *out) { tutti_text_add(out, "</svg>\n"); }

/* --- frames ------------------------------------------------------------------------------------------------------- */

static double place_x(const struct tutti_svg_frame *frame, double x) {
  return frame->left + frame->width * (x - frame->x.low) / (frame->x.high - frame->x.low);
}

/* Far outside, a coordinate is cut off, so that readers with single precision draw the same. */
static double place_y(const struct tutti_svg_frame *frame, double y) {
  double at = frame->top + frame->height * (frame->y.high - y) / (frame->y.high - frame->y.low);
  return fmax(-1e4, fmin(1e4, at));
}

void tutti_svg_frame_begin(struct tutti_text *out, const struct tutti_svg_frame *frame, int number) {
  tutti_text_add(out,
                 "<clipPath id=\"frame%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n"
                 "<g clip-path=\"url(#frame%d)\">\n",
                 number, frame->left, frame->top, frame->width, frame->height, number);
}

/* The distance between ticks: 1, 2 or 5 times a power of ten, so that there are some six of them. */
static double step_of(const struct tutti_svg_axis *axis) {
  double raw = (axis->high - axis->low) / 6, power = pow(10, floor(log10(raw))), share = raw / power;
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static void add_tick(struct tutti_text *out, const struct tutti_svg_frame *frame, bool across, double value) {
  double x = across ? place_x(frame, value) : frame->left, bottom = frame->top + frame->height;
  double y = across ? bottom : place_y(frame, value);
  char number[32];
  (void)snprintf(number, sizeof number, "%g", value);
  tutti_text_add(out, "<path class=\"axis\" d=\"M%.1f %.1f%s\"/>\n", x, y, across ? "v5" : "h-5");
  if (across)
    tutti_svg_text(out, x, y + 18, "middle", number);
  else
    tutti_svg_text(out, x - 8, y + 4, "end", number);
}

static void add_ticks(struct tutti_text *out, const struct tutti_svg_frame *frame, bool across) {
  const struct tutti_svg_axis *axis = across ? &frame->x : &frame->y;
  double step = step_of(axis), slack = 1e-9 * step;
  if (!*axis->label)
    return;
  for (double tick = ceil((axis->low - slack) / step); tick * step <= axis->high + slack; tick++)
    add_tick(out, frame, across, tick == 0 ? 0 : tick * step);
}

void tutti_svg_frame_end(struct tutti_text *out, const struct tutti_svg_frame *frame) {
  double bottom = frame->top + frame->height, middle = frame->top + frame->height / 2;
  tutti_text_add(out, "</g>\n<rect class=\"axis\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                 frame->left, frame->top, frame->width, frame->height);
  add_ticks(out, frame, true);
  add_ticks(out, frame, false);
  tutti_svg_text(out, frame->left + frame->width / 2, bottom + 36, "middle", frame->x.label);
  tutti_text_add(out, "<g transform=\"rotate(-90 %.1f %.1f)\">\n", frame->left - 44, middle);
  tutti_svg_text(out, frame->left - 44, middle, "middle", frame->y.label);
  tutti_text_add(out, "</g>\n");
}

/* --- inside a frame ----------------------------------------------------------------------------------------------- */

void tutti_svg_line(struct tutti_text *out, const struct tutti_svg_frame *frame, enum tutti_svg_style style,
                    size_t count, const double *x, const double *y) {
  tutti_text_add(out, "<polyline class=\"%s\" points=\"", classes[style]);
  for (size_t i = 0; i < count; i++)
    tutti_text_add(out, "%.2f,%.2f ", place_x(frame, x[i]), place_y(frame, y[i]));
  tutti_text_add(out, "\"/>\n");
}

void tutti_svg_band(struct tutti_text *out, const struct tutti_svg_frame *frame, size_t count, const double *x,
                    const double *middle, const double *half) {
  tutti_text_add(out, "<polygon class=\"%s\" points=\"", classes[TUTTI_SVG_BAND]);
  for (size_t i = 0; i < count; i++)
    tutti_text_add(out, "%.2f,%.2f ", place_x(frame, x[i]), place_y(frame, middle[i] + half[i]));
  for (size_t i = count; i-- > 0;)
    tutti_text_add(out, "%.2f,%.2f ", place_x(frame, x[i]), place_y(frame, middle[i] - half[i]));
  tutti_text_add(out, "\"/>\n");
}

static void add_mark(struct tutti_text *out, enum tutti_svg_style style, double x, double y) {
  if (style == TUTTI_SVG_TRAIN)
    tutti_text_add(out, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.2\"/>\n", classes[style], x, y);
  else
    tutti_text_add(out, "<path class=\"%s\" d=\"M%.2f %.2fl5 5m0 -5l-5 5\"/>\n", classes[style], x - 2.5, y - 2.5);
}

void tutti_svg_mark(struct tutti_text *out, const struct tutti_svg_frame *frame, enum tutti_svg_style style, double x,
                    double y) {
  add_mark(out, style, place_x(frame, x), place_y(frame, y));
}

void tutti_svg_cell(struct tutti_text *out, const struct tutti_svg_frame *frame, double x0, double y0, double x1,
                    double y1, double share) {
  /* Five colours of equal steps in lightness, which also those see apart who see few colours. */
  static const unsigned char anchors[5][3] = {
      {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
  double at = 4 * fmax(0, fmin(1, share)), left = place_x(frame, x0), top = place_y(frame, y1);
  int from = at >= 4 ? 3 : (int)at, colour[3];
  for (int k = 0; k < 3; k++)
    colour[k] = (int)lround(anchors[from][k] + (at - from) * (anchors[from + 1][k] - anchors[from][k]));
  /* Without smooth edges, and a little larger than it is: neighbours overlap, and no seams show. */
  tutti_text_add(out,
                 "<path shape-rendering=\"crispEdges\" fill=\"#%02x%02x%02x\" d=\"M%.2f %.2fh%.2fv%.2fh%.2fz\"/>\n",
                 colour[0], colour[1], colour[2], left, top, place_x(frame, x1) - left + 0.4,
                 place_y(frame, y0) - top + 0.4, left - place_x(frame, x1) - 0.4);
}

void tutti_svg_key(struct tutti_text *out, enum tutti_svg_style style, double x, double y, const char *name) {
  if (style == TUTTI_SVG_BAND)
    tutti_text_add(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"10\"/>\n", classes[style], x,
                   y - 9);
  else if (style == TUTTI_SVG_TRAIN || style == TUTTI_SVG_TEST)
    add_mark(out, style, x + 11, y - 4);
  else
    tutti_text_add(out, "<path class=\"%s\" d=\"M%.1f %.1fh22\"/>\n", classes[style], x, y - 4);
  tutti_svg_text(out, x + 28, y, "start", name);
}
