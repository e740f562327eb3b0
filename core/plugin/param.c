/* param.c - access to parameter tables, and the check of a table itself. */
#include <string.h>

#include "core/base/text_impl.h"
#include "param_impl.h"

const struct tutti_param *tutti_params_at(const struct tutti_params *params, size_t index) {
  return (const struct tutti_param *)(const void *)((const char *)params->table + index * params->stride);
}

const struct tutti_param *tutti_params_find(const struct tutti_params *params, const char *name) {
  for (size_t i = 0; i < params->count; i++)
    if (strcmp(tutti_params_at(params, i)->name, name) == 0)
      return tutti_params_at(params, i);
  return NULL;
}

const char *tutti_params_with(const struct tutti_params *params, const struct tutti_param *param) {
  return params->stride > offsetof(struct tutti_param, with) ? param->with : NULL;
}

/* --- the check of a table --- */

bool tutti_plugin_name_valid(const char *name) { return tutti_name_is_plain(name, '-'); }

static bool has_choices(const struct tutti_param *param) {
  return param->type == TUTTI_PARAM_CHOICE || param->type == TUTTI_PARAM_CHOICES;
}

/* The fault of the entry by itself, or NULL. */
static const char *entry_fault(const struct tutti_param *param, size_t config_size) {
  size_t size = tutti_param_field_size(param->type);
  if (size == 0)
    return "its type is unknown";
  if (param->offset > config_size || size > config_size - param->offset)
    return "its field lies outside the config struct";
  if (param->offset % (size < sizeof(void *) ? size : sizeof(void *)) != 0)
    return "its field is misaligned";
  if (!param->doc || !param->doc[0])
    return "it has no doc";
  if (has_choices(param) && (!param->choices || !param->choices[0]))
    return "it has no choices";
  if (!(param->min <= param->max))
    return "its min is above its max";
  bool plugin = param->type == TUTTI_PARAM_PLUGIN;
  if (plugin && (unsigned)param->kind >= TUTTI_KIND_COUNT)
    return "its kind of plugin is unknown";
  if ((param->flags & TUTTI_PARAM_SEARCHABLE) && param->type > TUTTI_PARAM_CHOICE && !plugin)
    return "it is marked as searchable, which only numbers, bools, choices and plugins can be";
  if (!(param->flags & TUTTI_PARAM_REQUIRED) && !param->preset)
    return "it has no preset, and is not marked as required";
  return NULL;
}

static bool overlaps(const struct tutti_param *a, const struct tutti_param *b) {
  return a->offset < b->offset + tutti_param_field_size(b->type) &&
         b->offset < a->offset + tutti_param_field_size(a->type);
}

static enum tutti_status check_entry(tutti_context *context, const struct tutti_params *params, size_t index) {
  const struct tutti_param *param = tutti_params_at(params, index);
  if (!tutti_name_is_plain(param->name, '_'))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "parameter number %zu: its name '%s' is not of lower-case letters, digits and _, a letter first",
                      index, param->name ? param->name : "(null)");
  const char *fault = entry_fault(param, params->config_size);
  if (fault)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "parameter '%s': %s", param->name, fault);
  for (size_t i = 0; i < index; i++) {
    const struct tutti_param *other = tutti_params_at(params, i);
    if (strcmp(other->name, param->name) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "parameter '%s' stands twice in the table", param->name);
    if (overlaps(param, other))
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "parameters '%s' and '%s' share a field of the config struct",
                        other->name, param->name);
  }
  if (!param->preset)
    return TUTTI_OK;
  struct tutti_value value;
  if (tutti_value_parse(context, param, param->preset, &value) != TUTTI_OK) {
    (void)tutti_error_prefix(context, TUTTI_ERROR_PLUGIN, "parameter '%s': its preset is wrong: ", param->name);
    return tutti_error_trace(context, TUTTI_ERROR_PLUGIN, __FILE__, __LINE__, __func__);
  }
  tutti_free(value.memory);
  return TUTTI_OK;
}

enum tutti_status tutti_params_check(tutti_context *context, const struct tutti_params *params) {
  if (params->count == 0)
    return TUTTI_OK;
  if (!params->table)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "the parameter table is NULL, but counts %zu", params->count);
  const size_t least = offsetof(struct tutti_param, max_open) + sizeof(bool); /* what interface 2.0 has */
  if (params->stride < least || params->stride % _Alignof(struct tutti_param) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "the parameter table's stride is %zu: %zu or more was expected",
                      params->stride, least);
  for (size_t i = 0; i < params->count; i++)
    TUTTI_TRY(context, check_entry(context, params, i));
  return TUTTI_OK;
}
