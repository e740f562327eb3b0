/* reader.c - reads new rows for a data set, by the source that it came from or another one. */
#include <string.h>
#include <tutti/hosting.h>
#include <tutti/scan.h>

#include "reader_impl.h"

static const char section[] = "data";

/* --- where a data set came from --- */

enum tutti_status tutti_origin_reserve(tutti_context *context, struct tutti_origin *origin, size_t count) {
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *origin->keys, &origin->keys));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *origin->values, &origin->values));
  origin->count = count;
  return TUTTI_OK;
}

enum tutti_status tutti_origin_settle(tutti_context *context, struct tutti_origin *origin, const char *parameter,
                                      const char *value) {
  size_t count = 0;
  while (origin->settled && origin->settled[count])
    count++;
  TUTTI_TRY(context, tutti_realloc(context, count, count + 3, sizeof *origin->settled, &origin->settled));
  TUTTI_TRY(context, tutti_strdup(context, parameter, &origin->settled[count]));
  return tutti_strdup(context, value, &origin->settled[count + 1]);
}

enum tutti_status tutti_origin_take(tutti_context *context, const tutti_source *source, const tutti_rows *rows,
                                    struct tutti_origin *origin) {
  const tutti_config *config = tutti_source_config(source);
  const struct tutti_params *params = tutti_config_params(config);
  TUTTI_TRY(context, tutti_strdup(context, tutti_source_descriptor(source)->name, &origin->plugin));
  TUTTI_TRY(context, tutti_origin_reserve(context, origin, params->count));
  for (size_t i = 0; i < params->count; i++) {
    const char *name = tutti_params_at(params, i)->name;
    TUTTI_TRY(context, tutti_strdup(context, name, &origin->keys[i]));
    TUTTI_TRY(context, tutti_config_get(context, config, name, &origin->values[i]));
  }
  const char *value, *settled;
  for (size_t i = 0; (settled = tutti_rows_settled(rows, i, &value)); i++)
    TUTTI_TRY(context, tutti_origin_settle(context, origin, settled, value));
  return TUTTI_OK;
}

void tutti_origin_release(struct tutti_origin *origin) {
  for (size_t i = 0; i < origin->count; i++) {
    tutti_free(origin->keys[i]);
    tutti_free(origin->values[i]);
  }
  tutti_free(origin->keys);
  tutti_free(origin->values);
  tutti_free(origin->plugin);
  for (size_t i = 0; origin->settled && origin->settled[i]; i++)
    tutti_free(origin->settled[i]);
  tutti_free(origin->settled);
  *origin = (struct tutti_origin){0};
}

/* --- new rows --- */

/* Put the plugin in a host: with the parameters of the data set if it is the same plugin, otherwise with its
   defaults. */
static enum tutti_status assemble(tutti_context *context, const struct tutti_origin *origin, const char *plugin,
                                  tutti_host *host) {
  TUTTI_TRY(context, tutti_host_put(context, host, section, TUTTI_KIND_SOURCE, plugin));
  for (size_t i = 0; i < origin->count && strcmp(plugin, origin->plugin) == 0; i++)
    TUTTI_TRY(context, tutti_host_set(context, host, section, origin->keys[i], origin->values[i]));
  return tutti_host_check(context, host);
}

enum tutti_status tutti_origin_source(tutti_context *context, const struct tutti_origin *origin, tutti_host **host,
                                      tutti_source **source) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  TUTTI_TRY(context, tutti_host_create(context, &facts, host));
  TUTTI_TRY(context, assemble(context, origin, origin->plugin, *host));
  for (size_t i = 0; origin->settled && origin->settled[i]; i += 2)
    TUTTI_TRY(context, tutti_host_set(context, *host, section, origin->settled[i], origin->settled[i + 1]));
  struct tutti_source_setup setup = {.size = sizeof setup, .host = *host};
  return tutti_source_create(context, *host, section, &setup, source);
}

enum tutti_status tutti_check_rows_wanted(tutti_context *context, const char *path, enum tutti_rows_wanted wanted,
                                          const tutti_rows *rows) {
  bool images = tutti_rows_are_images(rows);
  if (images == (wanted == TUTTI_ROWS_IMAGES))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected %s as in the training data, found %s",
                    tutti_path_name(path), images ? "rows of a table" : "images",
                    images ? "images" : "rows of a table");
}

enum tutti_status tutti_read_new(tutti_context *context, const struct tutti_origin *origin, const char *path,
                                 bool named, const char *const *columns, enum tutti_rows_wanted wanted,
                                 tutti_rows **rows) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct tutti_source_request request = {.size = sizeof request,
                                         .path = path,
                                         .new_rows = true,
                                         .named = named,
                                         .wanted = wanted,
                                         .tolerant = true,
                                         .columns = columns};
  const char *plugin;
  tutti_host *host = NULL;
  tutti_source *source = NULL;
  *rows = NULL;
  TUTTI_TRY_OUT(context, tutti_source_find(context, path, origin->plugin, &plugin));
  TUTTI_TRY_OUT(context, tutti_host_create(context, &facts, &host));
  TUTTI_TRY_OUT(context, assemble(context, origin, plugin, host));
  struct tutti_source_setup setup = {.size = sizeof setup, .host = host};
  TUTTI_TRY_OUT(context, tutti_source_create(context, host, section, &setup, &source));
  if (strcmp(plugin, origin->plugin) == 0)
    request.settled = (const char *const *)origin->settled;
  TUTTI_TRY_OUT(context, tutti_source_read(context, source, &request, rows));
  TUTTI_TRY_OUT(context, tutti_check_rows_wanted(context, path, wanted, *rows));
out:
  if (status != TUTTI_OK) {
    tutti_rows_destroy(*rows);
    *rows = NULL;
  }
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return status;
}
