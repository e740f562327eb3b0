/* assembly_impl.h - putting a plugin that no file has into a host. */
#ifndef TUTTI_ASSEMBLY_IMPL_H
#define TUTTI_ASSEMBLY_IMPL_H

#include <tutti/hosting.h>

/* tutti_host_put with a descriptor, which is borrowed and must outlive the host. */
TUTTI_NODISCARD enum tutti_status tutti_host_put_descriptor(tutti_context *context, tutti_host *host,
                                                            const char *section,
                                                            const struct tutti_descriptor *descriptor);

#endif
