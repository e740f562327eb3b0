/* graph.h - graphs of boxes and arrows, laid out and drawn by graphviz as SVG. */
#ifndef TUTTI_GRAPH_H
#define TUTTI_GRAPH_H

#include "core/base/text_impl.h"

/* Begin the text of a graph. Boxes have numbers; end it with tutti_graph_finish. */
void tutti_graph_begin(struct tutti_text *out);
void tutti_graph_box(struct tutti_text *out, size_t number, const char *text, bool strong);
void tutti_graph_arrow(struct tutti_text *out, size_t from, size_t to);
void tutti_graph_finish(struct tutti_text *out);

/* Draw graphs[count] into svg[count], elements of XML (free each with tutti_free). TUTTI_ERROR_UNSUPPORTED: graphviz is
   not there; TUTTI_ERROR_IO: it failed. */
TUTTI_NODISCARD enum tutti_status tutti_graphs_draw(tutti_context *context, size_t count, const char *const *graphs,
                                                    char **svg);

#endif
