/* svg.h - writes small SVG charts: frames with axes, lines, bands, marks and fields of colour. Colours of text and axes
   follow the reader's light or dark scheme. */
#ifndef TUTTI_SVG_H
#define TUTTI_SVG_H

#include "core/base/text_impl.h"

#include <stddef.h>

/* Begin and end a picture of this size. The title is also what screen readers say. */
void tutti_svg_begin(struct tutti_text *out, double width, double height, const char *title);
void tutti_svg_end(struct tutti_text *out);
/* A text at a place; `anchor` is "start", "middle" or "end". Characters that mean something in XML are escaped, and
   control characters are left out. */
void tutti_svg_text(struct tutti_text *out, double x, double y, const char *anchor, const char *text);

struct tutti_svg_axis {
  double low, high;  /* low < high */
  const char *label; /* "": no ticks either */
};
/* A frame with two axes, at a place of the picture, in its units. */
struct tutti_svg_frame {
  double left, top, width, height;
  struct tutti_svg_axis x, y;
};

/* What is drawn: names of styles. */
enum tutti_svg_style { TUTTI_SVG_TRUTH, TUTTI_SVG_MEAN, TUTTI_SVG_BAND, TUTTI_SVG_TRAIN, TUTTI_SVG_TEST };

/* Begin what is inside the frame: what leaves it is cut off. `number` tells frames of a picture apart. Then the inside,
   then tutti_svg_frame_end, which draws the axes with ticks and labels on top. */
void tutti_svg_frame_begin(struct tutti_text *out, const struct tutti_svg_frame *frame, int number);
void tutti_svg_frame_end(struct tutti_text *out, const struct tutti_svg_frame *frame);
/* A line through count points, in the units of the axes. */
void tutti_svg_line(struct tutti_text *out, const struct tutti_svg_frame *frame, enum tutti_svg_style style,
                    size_t count, const double *x, const double *y);
/* The area between middle - half and middle + half. */
void tutti_svg_band(struct tutti_text *out, const struct tutti_svg_frame *frame, size_t count, const double *x,
                    const double *middle, const double *half);
/* A dot (TUTTI_SVG_TRAIN) or a cross (TUTTI_SVG_TEST). */
void tutti_svg_mark(struct tutti_text *out, const struct tutti_svg_frame *frame, enum tutti_svg_style style, double x,
                    double y);
/* A rectangle from one corner to the other, in a colour from dark blue (share 0) to yellow (share 1). */
void tutti_svg_cell(struct tutti_text *out, const struct tutti_svg_frame *frame, double x0, double y0, double x1,
                    double y1, double share);
/* A sample of a style, and its name, at a place of the picture. */
void tutti_svg_key(struct tutti_text *out, enum tutti_svg_style style, double x, double y, const char *name);

#endif
