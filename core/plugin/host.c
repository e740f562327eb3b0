/* host.c - the plugins in a host's sections, with their parameters, and the facts of the run. */
#include "core/base/sized_impl.h"
#include "host_impl.h"
#include "instance_impl.h"

#include <string.h>

/* --- facts --- */

enum tutti_status tutti_host_create(tutti_context *context, const struct tutti_host_facts *facts, tutti_host **host) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **host, host));
  tutti_host_set_facts(*host, facts);
  return TUTTI_OK;
}

void tutti_host_set_facts(tutti_host *host, const struct tutti_host_facts *facts) { TUTTI_TAKE(&host->facts, facts); }

void tutti_host_destroy(tutti_host *host) {
  if (!host)
    return;
  for (size_t i = 0; i < host->count; i++)
    tutti_section_release(&host->sections[i]);
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
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_pool, pool, labels));
  struct tutti_pool own = {.size = sizeof own};
  TUTTI_TRY(context, host->facts.pool(host->facts.pool_argument, context, split, count, trials, &own));
  TUTTI_GIVE(pool, &own);
  return TUTTI_OK;
}

void tutti_host_pool_release(const tutti_host *host, struct tutti_pool *pool) {
  if (host->facts.pool_release && pool->trials)
    host->facts.pool_release(host->facts.pool_argument, pool);
}

enum tutti_status tutti_host_other_run(tutti_context *context, const tutti_host *host,
                                       const struct tutti_other_trial *wanted, char **candidate) {
  struct tutti_other_trial own;
  TUTTI_TAKE(&own, wanted);
  *candidate = NULL;
  if (!host->facts.other_run)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s: other runs cannot be read here", own.run);
  return host->facts.other_run(host->facts.other_run_argument, context, &own, candidate);
}

/* --- sections --- */

void tutti_section_release(struct tutti_section *section) {
  tutti_config_destroy(section->config);
  tutti_free(section->name);
}

struct tutti_section *tutti_section_find(const tutti_host *host, const char *name) {
  for (size_t i = 0; i < host->count; i++)
    if (strcmp(host->sections[i].name, name) == 0)
      return &host->sections[i];
  return NULL;
}

const struct tutti_descriptor *tutti_host_descriptor(const tutti_host *host, const char *name,
                                                     const tutti_config **config) {
  const struct tutti_section *section = tutti_section_find(host, name);
  *config = section ? section->config : NULL;
  return section ? section->descriptor : NULL;
}

const char *tutti_host_plugin(const tutti_host *host, const char *name) {
  const struct tutti_section *section = tutti_section_find(host, name);
  return section ? section->descriptor->name : NULL;
}

size_t tutti_host_sections(const tutti_host *host) { return host->count; }

const char *tutti_host_section(const tutti_host *host, size_t index, const struct tutti_descriptor **descriptor,
                               const tutti_config **config) {
  const struct tutti_section *section = &host->sections[index];
  *descriptor = section->descriptor;
  *config = section->config;
  return section->name;
}
