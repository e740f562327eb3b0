/* private.h - what libtutti-engine needs of libtutti and nobody else may: exported, but under the version TUTTI_PRIVATE,
   which changes from release to release (core/libtutti.map). */
#ifndef TUTTI_PRIVATE_H
#define TUTTI_PRIVATE_H

#include <tutti/status.h>

#define TUTTI_PRIVATE TUTTI_API

#endif
