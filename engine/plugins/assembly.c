/* assembly.c - puts plugins into the sections of a host, together with the plugins that their parameters name. */
#include "assembly_impl.h"
#include "contract_impl.h"
#include "core/base/text_impl.h"
#include "core/plugin/host_impl.h"

#include <string.h>
#include <tutti/registry.h>

static void empty_section(tutti_host *host, const char *name) {
  struct tutti_section *section = tutti_section_find(host, name);
  if (!section)
    return;
  size_t index = (size_t)(section - host->sections);
  tutti_section_release(section);
  memmove(section, section + 1, (--host->count - index) * sizeof *section);
}

/* The plugin that a parameter of type TUTTI_PARAM_PLUGIN names. */
static const char *plugin_named(const tutti_config *config, const struct tutti_param *param) {
  return *(const char *const *)(const void *)((const char *)tutti_config_values(config) + param->offset);
}

/* The section of the plugin that a parameter names: the parameter's or, as a searched one may name several, the
   plugin's own. */
static const char *section_of(const struct tutti_param *param, const char *plugin) {
  return param->flags & TUTTI_PARAM_SEARCHABLE ? plugin : param->name;
}

/* Apply "name = value; name = value" to a section. */
static enum tutti_status set_all(tutti_context *context, tutti_host *host, const char *section, const char *settings) {
  enum tutti_status status;
  char *copy = NULL, *cursor, *setting;
  TUTTI_TRY_OUT(context, tutti_strdup(context, settings, &copy));
  cursor = copy;
  while ((setting = strsep(&cursor, ";"))) {
    char *value = strchr(setting, '=');
    if (!value) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "expected \"name = value; ...\", found \"%s\"", settings);
      goto out;
    }
    *value++ = '\0';
    TUTTI_TRY_OUT(context, tutti_host_set(context, host, section, tutti_text_trim(setting), tutti_text_trim(value)));
  }
out:
  tutti_free(copy);
  return status;
}

enum tutti_status tutti_host_put_named(tutti_context *context, tutti_host *host, enum tutti_kind kind,
                                       const char *plugin) {
  const struct tutti_section *there = tutti_section_find(host, plugin);
  if (!there)
    return tutti_host_put(context, host, plugin, kind, plugin);
  if (there->descriptor->kind == kind && strcmp(there->descriptor->name, plugin) == 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s %s cannot be chosen here: its section would be [%s], which is of %s %s", tutti_kind_name(kind),
                    plugin, plugin, tutti_kind_name(there->descriptor->kind), there->descriptor->name);
}

/* Put the plugin that a parameter names. If it is the parameter's default, it gets the settings that go with it. */
static enum tutti_status put_for(tutti_context *context, tutti_host *host, const struct tutti_descriptor *descriptor,
                                 const struct tutti_param *param, const char *plugin) {
  const char *with = tutti_params_with(&descriptor->params, param);
  if (param->flags & TUTTI_PARAM_SEARCHABLE)
    return tutti_host_put_named(context, host, param->kind, plugin);
  TUTTI_TRY(context, tutti_host_put(context, host, param->name, param->kind, plugin));
  if (!with || !param->preset || strcmp(param->preset, plugin) != 0)
    return TUTTI_OK;
  if (set_all(context, host, param->name, with) == TUTTI_OK)
    return TUTTI_OK;
  return tutti_error_prefix(context, TUTTI_ERROR_PLUGIN,
                            "%s %s: what it sets of its %s: ", tutti_kind_name(descriptor->kind), descriptor->name,
                            param->name);
}

/* Put the plugins that this one's parameters name into sections that are still empty. */
static enum tutti_status put_named(tutti_context *context, tutti_host *host, const struct tutti_descriptor *descriptor,
                                   const tutti_config *config) {
  for (size_t i = 0; i < descriptor->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&descriptor->params, i);
    if (param->type != TUTTI_PARAM_PLUGIN || tutti_section_find(host, section_of(param, plugin_named(config, param))))
      continue;
    TUTTI_TRY(context, put_for(context, host, descriptor, param, plugin_named(config, param)));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_put(tutti_context *context, tutti_host *host, const char *name, enum tutti_kind kind,
                                 const char *plugin) {
  const struct tutti_descriptor *descriptor;
  if (!*plugin || (strcmp(plugin, "none") == 0 && !tutti_kind_has_none(kind))) {
    empty_section(host, name);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_plugin_find(context, kind, plugin, &descriptor));
  return tutti_host_put_descriptor(context, host, name, descriptor);
}

enum tutti_status tutti_host_put_descriptor(tutti_context *context, tutti_host *host, const char *name,
                                            const struct tutti_descriptor *descriptor) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_section made = {.descriptor = descriptor};
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &made.name));
  TUTTI_TRY_OUT(context, tutti_config_create(context, &made.descriptor->params, &made.config));
  if (host->count == host->room) {
    size_t room = host->room * 2 + 8;
    TUTTI_TRY_OUT(context, tutti_realloc(context, host->count, room, sizeof *host->sections, &host->sections));
    host->room = room;
  }
  struct tutti_section *old = tutti_section_find(host, name);
  if (old)
    tutti_section_release(old);
  else
    old = &host->sections[host->count++];
  *old = made;
  return put_named(context, host, made.descriptor, made.config);
out:
  tutti_section_release(&made);
  return status;
}

/* Two plugins may share the plugin of a section, but not if they ask for different kinds. */
static enum tutti_status check_kind(tutti_context *context, const tutti_host *host, const struct tutti_section *asking,
                                    const struct tutti_param *param, const char *text) {
  for (size_t i = 0; i < host->count; i++) {
    const struct tutti_section *other = &host->sections[i];
    const struct tutti_param *same = tutti_params_find(&other->descriptor->params, param->name);
    if (other != asking && same && same->type == TUTTI_PARAM_PLUGIN && same->kind != param->kind)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s] %s = %s: [%s] names '%s' there, a plugin of another kind",
                        asking->name, param->name, text, other->name, plugin_named(other->config, same));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_set(tutti_context *context, tutti_host *host, const char *section, const char *name,
                                 const char *text) {
  const struct tutti_section *asking = tutti_section_find(host, section);
  if (!asking)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: no plugin stands in this section", section);
  const struct tutti_param *param = tutti_params_find(&asking->descriptor->params, name);
  if (!param || param->type != TUTTI_PARAM_PLUGIN)
    return tutti_config_set(context, asking->config, name, text);
  TUTTI_TRY(context, check_kind(context, host, asking, param, text));
  TUTTI_TRY(context, tutti_config_set(context, asking->config, name, text));
  return put_for(context, host, asking->descriptor, param, text);
}

/* Plugins may share the plugin of a section, if each names it; none may be its own. */
static enum tutti_status check_shared(tutti_context *context, const tutti_host *host,
                                      const struct tutti_section *section) {
  const struct tutti_params *params = &section->descriptor->params;
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    if (param->type != TUTTI_PARAM_PLUGIN)
      continue;
    const char *named = plugin_named(section->config, param);
    const struct tutti_section *used = tutti_section_find(host, section_of(param, named));
    const char *stands = used ? used->descriptor->name : "none";
    if (used == section)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "[%s] is of %s, whose parameter %s asks for a plugin in this very section: %s cannot stand in "
                        "itself; put another one there",
                        section->name, stands, param->name, stands);
    if (strcmp(stands, named) != 0)
      return TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "[%s] %s = %s, but [%s] is of %s, which the recipe or another plugin asks for; there can be one "
          "plugin only in a section: give both the same",
          section->name, param->name, named, section_of(param, named), stands);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_check(tutti_context *context, const tutti_host *host) {
  for (size_t i = 0; i < host->count; i++) {
    const struct tutti_section *section = &host->sections[i];
    const char *missing = tutti_config_missing(section->config);
    if (missing)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s] %s: %s %s needs a value here", section->name, missing,
                        tutti_kind_name(section->descriptor->kind), section->descriptor->name);
    TUTTI_TRY(context, check_shared(context, host, section));
  }
  return TUTTI_OK;
}
