/* host.c - which plugin stands in which section, with which parameters, and the facts of the run. */
#include "core/base/sized_impl.h"
#include "instance_impl.h"

#include <string.h>
#include <tutti/assembly.h>
#include <tutti/registry.h>

struct section {
  char *name;
  const struct tutti_descriptor *descriptor;
  tutti_config *config;
};

struct tutti_host {
  struct tutti_host_facts facts;
  struct section *sections;
  size_t count, room;
};

/* --- facts --- */

enum tutti_status tutti_host_create(tutti_context *context, const struct tutti_host_facts *facts, tutti_host **host) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **host, host));
  tutti_host_set_facts(*host, facts);
  return TUTTI_OK;
}

void tutti_host_set_facts(tutti_host *host, const struct tutti_host_facts *facts) { TUTTI_TAKE(&host->facts, facts); }

static void release_section(struct section *section) {
  tutti_config_destroy(section->config);
  tutti_free(section->name);
}

void tutti_host_destroy(tutti_host *host) {
  if (!host)
    return;
  for (size_t i = 0; i < host->count; i++)
    release_section(&host->sections[i]);
  tutti_free(host->sections);
  tutti_free(host);
}

uint64_t tutti_host_seed(const tutti_host *host) { return host->facts.seed; }

const struct tutti_task *tutti_host_task(const tutti_host *host) { return host->facts.task; }

const tutti_scope *tutti_host_scope(const tutti_host *host) { return host->facts.scope; }

uint64_t tutti_host_budget(const tutti_host *host) { return host->facts.budget; }

size_t tutti_host_window(const tutti_host *host) { return host->facts.window; }

enum tutti_status tutti_host_pool(tutti_context *context, const tutti_host *host, const char *split, size_t count,
                                  const uint64_t *trials, struct tutti_pool *pool) {
  if (!host->facts.pool)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "there are no predictions of trials here");
  struct tutti_pool own = {.size = sizeof own};
  TUTTI_TRY(context, host->facts.pool(host->facts.pool_argument, context, split, count, trials, &own));
  TUTTI_GIVE(pool, &own);
  return TUTTI_OK;
}

void tutti_host_pool_release(const tutti_host *host, struct tutti_pool *pool) {
  if (host->facts.pool_release && pool->trials)
    host->facts.pool_release(host->facts.pool_argument, pool);
}

enum tutti_status tutti_host_other_run(tutti_context *context, const tutti_host *host, const char *run, uint64_t trial,
                                       char **candidate) {
  *candidate = NULL;
  if (!host->facts.other_run)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s: other runs cannot be read here", run);
  return host->facts.other_run(context, run, trial, candidate);
}

/* --- sections --- */

static struct section *find(const tutti_host *host, const char *name) {
  for (size_t i = 0; i < host->count; i++)
    if (strcmp(host->sections[i].name, name) == 0)
      return &host->sections[i];
  return NULL;
}

const struct tutti_descriptor *tutti_host_descriptor(const tutti_host *host, const char *name,
                                                     const tutti_config **config) {
  const struct section *section = find(host, name);
  *config = section ? section->config : NULL;
  return section ? section->descriptor : NULL;
}

const char *tutti_host_plugin(const tutti_host *host, const char *name) {
  const struct section *section = find(host, name);
  return section ? section->descriptor->name : NULL;
}

size_t tutti_host_sections(const tutti_host *host) { return host->count; }

const char *tutti_host_section(const tutti_host *host, size_t index, const struct tutti_descriptor **descriptor,
                               const tutti_config **config) {
  const struct section *section = &host->sections[index];
  *descriptor = section->descriptor;
  *config = section->config;
  return section->name;
}

static void empty_section(tutti_host *host, const char *name) {
  struct section *section = find(host, name);
  if (!section)
    return;
  size_t index = (size_t)(section - host->sections);
  release_section(section);
  memmove(section, section + 1, (--host->count - index) * sizeof *section);
}

/* What a parameter of type TUTTI_PARAM_PLUGIN says. */
static const char *plugin_named(const tutti_config *config, const struct tutti_param *param) {
  return *(const char *const *)(const void *)((const char *)tutti_config_values(config) + param->offset);
}

/* Put the plugins that this one's parameters name where nothing stands yet. */
static enum tutti_status put_named(tutti_context *context, tutti_host *host, const struct tutti_descriptor *descriptor,
                                   const tutti_config *config) {
  for (size_t i = 0; i < descriptor->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&descriptor->params, i);
    if (param->type != TUTTI_PARAM_PLUGIN || find(host, param->name))
      continue;
    TUTTI_TRY(context, tutti_host_put(context, host, param->name, param->kind, plugin_named(config, param)));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_put(tutti_context *context, tutti_host *host, const char *name, enum tutti_kind kind,
                                 const char *plugin) {
  enum tutti_status status = TUTTI_OK;
  struct section made = {0};
  if (strcmp(plugin, "none") == 0 || !*plugin) {
    empty_section(host, name);
    return TUTTI_OK;
  }
  TUTTI_TRY_OUT(context, tutti_plugin_find(context, kind, plugin, &made.descriptor));
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &made.name));
  TUTTI_TRY_OUT(context, tutti_config_create(context, &made.descriptor->params, &made.config));
  if (host->count == host->room) {
    size_t room = host->room * 2 + 8;
    TUTTI_TRY_OUT(context, tutti_realloc(context, host->count, room, sizeof *host->sections, &host->sections));
    host->room = room;
  }
  struct section *old = find(host, name);
  if (old)
    release_section(old);
  else
    old = &host->sections[host->count++];
  *old = made;
  return put_named(context, host, made.descriptor, made.config);
out:
  release_section(&made);
  return status;
}

/* Two plugins may share what stands in a section, but not if they ask for different kinds. */
static enum tutti_status check_kind(tutti_context *context, const tutti_host *host, const struct section *asking,
                                    const struct tutti_param *param, const char *text) {
  for (size_t i = 0; i < host->count; i++) {
    const struct section *other = &host->sections[i];
    const struct tutti_param *same = tutti_params_find(&other->descriptor->params, param->name);
    if (other != asking && same && same->type == TUTTI_PARAM_PLUGIN && same->kind != param->kind)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s] %s = %s: [%s] names '%s' there, a plugin of another kind",
                        asking->name, param->name, text, other->name, plugin_named(other->config, same));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_set(tutti_context *context, tutti_host *host, const char *section, const char *name,
                                 const char *text) {
  const struct section *asking = find(host, section);
  if (!asking)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s]: no plugin stands in this section", section);
  const struct tutti_param *param = tutti_params_find(&asking->descriptor->params, name);
  if (!param || param->type != TUTTI_PARAM_PLUGIN)
    return tutti_config_set(context, asking->config, name, text);
  TUTTI_TRY(context, check_kind(context, host, asking, param, text));
  TUTTI_TRY(context, tutti_config_set(context, asking->config, name, text));
  return tutti_host_put(context, host, param->name, param->kind, text);
}

/* Plugins may share what stands in a section, if each names it. */
static enum tutti_status check_shared(tutti_context *context, const tutti_host *host, const struct section *section) {
  const struct tutti_params *params = &section->descriptor->params;
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    if (param->type != TUTTI_PARAM_PLUGIN)
      continue;
    const struct section *used = find(host, param->name);
    const char *stands = used ? used->descriptor->name : "none", *named = plugin_named(section->config, param);
    if (strcmp(stands, named) != 0)
      return TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "[%s] %s = %s, but [%s] is of %s, which the recipe or another plugin asks for; there can be one "
          "plugin only in a section: give both the same",
          section->name, param->name, named, param->name, stands);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_host_check(tutti_context *context, const tutti_host *host) {
  for (size_t i = 0; i < host->count; i++) {
    const struct section *section = &host->sections[i];
    const char *missing = tutti_config_missing(section->config);
    if (missing)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[%s] %s: %s %s needs a value here", section->name, missing,
                        tutti_kind_name(section->descriptor->kind), section->descriptor->name);
    TUTTI_TRY(context, check_shared(context, host, section));
  }
  return TUTTI_OK;
}
