/* private.h - marks functions of libtutti that only libtutti-engine may use. They are exported under the version
   TUTTI_PRIVATE, which changes from release to release (core/libtutti.map). */
#ifndef TUTTI_PRIVATE_H
#define TUTTI_PRIVATE_H

#include <tutti/status.h>

#define TUTTI_PRIVATE TUTTI_API

#endif
