/* config.c - config structs filled from their parameter table. */
#include <string.h>

#include "param_impl.h"
#include "core/base/text_impl.h"

struct tutti_config {
  const struct tutti_params *params;
  void *values; /* the struct, at least one byte */
  void **owned; /* [count]: the text or list that a field points to, or NULL */
  bool *is_set; /* [count] */
};

static void config_put(tutti_config *config, size_t index, const struct tutti_value *value) {
  tutti_value_store(tutti_params_at(config->params, index), value, config->values);
  tutti_free(config->owned[index]);
  config->owned[index] = value->memory;
  config->is_set[index] = true;
}

static bool begins_with_size(const struct tutti_params *params) {
  return params->count > 0 && (tutti_params_at(params, 0)->flags & TUTTI_PARAM_AFTER_SIZE);
}

static enum tutti_status config_allocate(tutti_context *context, const struct tutti_params *params,
                                         tutti_config **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_config *config = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *config, &config));
  config->params = params;
  TUTTI_TRY_OUT(context, tutti_alloc(context, params->count, sizeof *config->owned, &config->owned));
  TUTTI_TRY_OUT(context, tutti_alloc(context, params->count, sizeof *config->is_set, &config->is_set));
  TUTTI_TRY_OUT(context, tutti_alloc(context, params->config_size ? params->config_size : 1, 1, &config->values));
  if (begins_with_size(params))
    memcpy(config->values, &params->config_size, sizeof params->config_size);
  *out = config;
  config = NULL;
out:
  tutti_config_destroy(config);
  return status;
}

enum tutti_status tutti_config_create(tutti_context *context, const struct tutti_params *params, tutti_config **out) {
  enum tutti_status status = TUTTI_OK;
  static const struct tutti_value empty_text = {.memory = (void *)(uintptr_t) ""};
  tutti_config *config = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, config_allocate(context, params, &config));
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    if (!(param->flags & TUTTI_PARAM_REQUIRED))
      TUTTI_TRY_OUT(context, tutti_config_set(context, config, param->name, param->preset));
    else if (tutti_param_is_text(param->type))
      tutti_value_store(param, &empty_text, config->values);
  }
  *out = config;
  config = NULL;
out:
  tutti_config_destroy(config);
  return status;
}

enum tutti_status tutti_config_copy(tutti_context *context, const tutti_config *from, tutti_config **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_config *config = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, config_allocate(context, from->params, &config));
  memcpy(config->values, from->values, from->params->config_size);
  for (size_t i = 0; i < from->params->count; i++) {
    if (!from->is_set[i])
      continue;
    const void *memory = from->owned[i];
    struct tutti_value value = tutti_value_load(tutti_params_at(from->params, i), from->values);
    TUTTI_TRY_OUT(context, tutti_alloc(context, memory ? value.bytes : 0, 1, &value.memory));
    if (value.memory)
      memcpy(value.memory, memory, value.bytes);
    config_put(config, i, &value);
  }
  *out = config;
  config = NULL;
out:
  tutti_config_destroy(config);
  return status;
}

void tutti_config_destroy(tutti_config *config) {
  if (!config)
    return;
  for (size_t i = 0; config->owned && i < config->params->count; i++)
    tutti_free(config->owned[i]);
  tutti_free(config->owned);
  tutti_free(config->is_set);
  tutti_free(config->values);
  tutti_free(config);
}

/* --- names --- */

static enum tutti_status refuse_name(tutti_context *context, const struct tutti_params *params, const char *name) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text text = tutti_text_begin(context);
  const char **names = NULL, *closest;
  char *message = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, params->count, sizeof *names, &names));
  for (size_t i = 0; i < params->count; i++)
    names[i] = tutti_params_at(params, i)->name;
  closest = tutti_closest_name(name, params->count, names);
  tutti_text_add(&text, "there is no parameter '%s' here", name);
  if (closest)
    tutti_text_add(&text, "; did you mean '%s'?", closest);
  else if (params->count == 0)
    tutti_text_add(&text, ", nor any other");
  for (size_t i = 0; !closest && i < params->count; i++)
    tutti_text_add(&text, "%s%s", i ? ", " : "; there are: ", names[i]);
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &message));
  status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message);
out:
  tutti_free(message);
  tutti_free(names);
  return status;
}

static enum tutti_status config_find(tutti_context *context, const tutti_config *config, const char *name,
                                     size_t *index) {
  for (*index = 0; *index < config->params->count; ++*index)
    if (strcmp(tutti_params_at(config->params, *index)->name, name) == 0)
      return TUTTI_OK;
  return refuse_name(context, config->params, name);
}

/* --- values --- */

enum tutti_status tutti_config_set(tutti_context *context, tutti_config *config, const char *name, const char *text) {
  size_t index;
  struct tutti_value value;
  TUTTI_TRY(context, config_find(context, config, name, &index));
  TUTTI_TRY(context, tutti_value_parse(context, tutti_params_at(config->params, index), text, &value));
  config_put(config, index, &value);
  return TUTTI_OK;
}

enum tutti_status tutti_config_set_number(tutti_context *context, tutti_config *config, const char *name,
                                          double number) {
  size_t index;
  struct tutti_value value;
  TUTTI_TRY(context, config_find(context, config, name, &index));
  TUTTI_TRY(context, tutti_value_from_number(context, tutti_params_at(config->params, index), number, &value));
  config_put(config, index, &value);
  return TUTTI_OK;
}

enum tutti_status tutti_config_get(tutti_context *context, const tutti_config *config, const char *name, char **text) {
  size_t index;
  *text = NULL;
  TUTTI_TRY(context, config_find(context, config, name, &index));
  if (!config->is_set[index])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the parameter '%s' has no default and was not set", name);
  const struct tutti_param *param = tutti_params_at(config->params, index);
  struct tutti_value value = tutti_value_load(param, config->values);
  return tutti_value_print(context, param, &value, text);
}

const char *tutti_config_missing(const tutti_config *config) {
  for (size_t i = 0; i < config->params->count; i++)
    if (!config->is_set[i])
      return tutti_params_at(config->params, i)->name;
  return NULL;
}

const void *tutti_config_values(const tutti_config *config) { return config->values; }

const struct tutti_params *tutti_config_params(const tutti_config *config) { return config->params; }
