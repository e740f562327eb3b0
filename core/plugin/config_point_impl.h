/* config_point_impl.h - hyperparameters as the parameters that they are of; for core/ and engine/ alone. */
#ifndef TUTTI_CONFIG_POINT_IMPL_H
#define TUTTI_CONFIG_POINT_IMPL_H

#include "core/base/private.h"

#include <tutti/domain.h>
#include <tutti/param.h>

/* Set in a config the hyperparameters at point[count of `domain`] that are called PREFIX.NAME (`prefix` NULL: those
   that have no prefix), under NAME. Inactive ones (NaN) change nothing; `domain` NULL: there are none.
   TUTTI_ERROR_USAGE names one that the config lacks, or whose value it refuses. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_config_set_point(tutti_context *context, tutti_config *config,
                                                                       const char *prefix, const tutti_domain *domain,
                                                                       const double *point);

#endif
