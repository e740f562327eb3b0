/* config_point.c - sets parameters from a point of a domain. */
#include "config_point_impl.h"

#include <math.h>
#include <string.h>

/* The name of the parameter that a hyperparameter is, of the section that has this prefix; NULL if it is of another. */
static const char *own_name(const char *prefix, const char *name) {
  size_t length = prefix ? strlen(prefix) : 0;
  if (!prefix)
    return strchr(name, '.') ? NULL : name;
  return strncmp(name, prefix, length) == 0 && name[length] == '.' ? name + length + 1 : NULL;
}

/* A choice is set by its text: its number may differ between domain and table. */
static enum tutti_status set_one(tutti_context *context, tutti_config *config, const char *name,
                                 const struct tutti_dimension *dimension, double value) {
  if (isnan(value))
    return TUTTI_OK;
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    return tutti_config_set(context, config, name, dimension->choices[(size_t)value]);
  return tutti_config_set_number(context, config, name, value);
}

enum tutti_status tutti_config_set_point(tutti_context *context, tutti_config *config, const char *prefix,
                                         const tutti_domain *domain, const double *point) {
  for (size_t i = 0; domain && i < tutti_domain_count(domain); i++) {
    const struct tutti_dimension *dimension = tutti_domain_at(domain, i);
    const char *name = own_name(prefix, dimension->name);
    enum tutti_status status = name ? set_one(context, config, name, dimension, point[i]) : TUTTI_OK;
    if (status != TUTTI_OK) {
      (void)tutti_error_prefix(context, status, "[hyperparameters] %s: ", dimension->name);
      return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
    }
  }
  return TUTTI_OK;
}
