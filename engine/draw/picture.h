/* picture.h - what gnuplot and graphviz print, made ready for a page. */
#ifndef TUTTI_PICTURE_H
#define TUTTI_PICTURE_H

#include <tutti/context.h>

/* Take apart the output of `tool`, `count` documents of SVG one after the other, into svg[count] (free each with
   tutti_free): single elements without heads, identifiers, titles of the tool's own and shared symbols, whose colours
   are those of the page. TUTTI_ERROR_IO: there are not that many. */
TUTTI_NODISCARD enum tutti_status tutti_pictures_split(tutti_context *context, const char *tool, const char *text,
                                                       size_t count, char **svg);

#endif
