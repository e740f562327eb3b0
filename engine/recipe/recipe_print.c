/* recipe_print.c - the effective recipe as text. */
#include <string.h>
#include <tutti/recipe.h>
#include <tutti/version.h>

#include "core/base/text_impl.h"
#include "recipe_impl.h"

struct printing {
  struct tutti_text text;
  tutti_move_input *move; /* NULL: everything stays where it is */
  void *argument;
  const char *section; /* the last item's; names live as long as the recipe */
};

static enum tutti_status print_item(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  enum { COMMENT_COLUMN = 40 };
  struct printing *printing = argument;
  struct tutti_text *text = &printing->text;
  char *moved = NULL;
  if (printing->move && item->input && *item->value)
    TUTTI_TRY(context, printing->move(printing->argument, context, item->value, &moved));
  if (!printing->section || strcmp(printing->section, item->section) != 0)
    tutti_text_add(text, "\n[%s]\n", item->section);
  printing->section = item->section;
  size_t begin = text->length;
  if (*item->key)
    tutti_text_add(text, "%s = %s ", item->key, moved ? moved : item->value);
  else
    tutti_text_add(text, "; %s: ", item->value);
  int used = (int)(text->length - begin);
  tutti_text_add(text, "%*s%s%s%s%s%s\n", *item->key && used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 0, "",
                 *item->key ? "; " : "", item->doc, item->note ? " [" : "", item->note ? item->note : "",
                 item->note ? "]" : "");
  tutti_free(moved);
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_print_moved(tutti_context *context, const tutti_recipe *recipe, tutti_move_input *move,
                                           void *argument, char **out) {
  struct printing printing = {.text = tutti_text_begin(context), .move = move, .argument = argument};
  *out = NULL;
  tutti_text_add(
      &printing.text,
      "; Effective recipe, every key with its value, by Tutti %s (%s), plugin ABI %d.%d. It runs again as it is.\n",
      tutti_version(), tutti_build_id(), TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
  enum tutti_status status = tutti_recipe_visit(context, recipe, print_item, &printing);
  if (status != TUTTI_OK) {
    tutti_text_discard(&printing.text);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return tutti_text_take(&printing.text, out);
}

enum tutti_status tutti_recipe_print(tutti_context *context, const tutti_recipe *recipe, char **out) {
  return tutti_recipe_print_moved(context, recipe, NULL, NULL, out);
}
