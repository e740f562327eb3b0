/* graph.c - graphs in the language of graphviz. */
#include "graph.h"
#include "picture.h"
#include "tool.h"
#include "xml.h"

void tutti_graph_begin(struct tutti_text *out) {
  tutti_text_add(out, "digraph g {\nrankdir=TB; bgcolor=\"transparent\"; nodesep=0.15; ranksep=0.22;\n"
                      "node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11, height=0.25, width=0.4, "
                      "margin=\"0.1,0.03\", color=\"#aa0000\"];\nedge [arrowsize=0.5, color=\"#aa0008\"];\n");
}

/* In quotes, a backslash and a quote are special, and so is what begins an entity. */
static void add_label(struct tutti_text *out, const char *text) {
  for (size_t length; *text; text += length ? length : 1) {
    length = tutti_xml_character(text);
    if (*text == '\n')
      tutti_text_add(out, "\\n");
    else if (length == 0 || (unsigned char)*text < 0x20)
      tutti_text_add(out, "?");
    else if (*text == '"' || *text == '\\')
      tutti_text_add(out, "\\%c", *text);
    else if (*text == '&')
      tutti_text_add(out, "&amp;");
    else
      tutti_text_add(out, "%.*s", (int)length, text);
  }
}

void tutti_graph_box(struct tutti_text *out, size_t number, const char *text, bool strong) {
  tutti_text_add(out, "n%zu [%slabel=\"", number, strong ? "penwidth=2, " : "");
  add_label(out, text);
  tutti_text_add(out, "\"];\n");
}

void tutti_graph_arrow(struct tutti_text *out, size_t from, size_t to) {
  tutti_text_add(out, "n%zu -> n%zu;\n", from, to);
}

void tutti_graph_finish(struct tutti_text *out) { tutti_text_add(out, "}\n"); }

enum tutti_status tutti_graphs_draw(tutti_context *context, size_t count, const char *const *graphs, char **svg) {
  static const char *const command[] = {"dot", "-Tsvg", NULL};
  enum tutti_status status = TUTTI_OK;
  struct tutti_text all = tutti_text_begin(context);
  char *text = NULL, *pictures = NULL;
  if (count == 0)
    return TUTTI_OK;
  for (size_t i = 0; i < count; i++)
    tutti_text_add(&all, "%s", graphs[i]);
  TUTTI_TRY_OUT(context, tutti_text_take(&all, &text));
  TUTTI_TRY_OUT(context, tutti_tool_run(context, command, text, &pictures));
  TUTTI_TRY_OUT(context, tutti_pictures_split(context, "dot", pictures, count, svg));
out:
  tutti_text_discard(&all);
  tutti_free(text);
  tutti_free(pictures);
  return status;
}
