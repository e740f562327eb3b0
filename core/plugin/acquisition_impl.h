/* acquisition_impl.h - the inside of an acquisition, for the files that wrap it. */
#ifndef TUTTI_ACQUISITION_IMPL_H
#define TUTTI_ACQUISITION_IMPL_H

#include "instance_impl.h"

#include <tutti/acquisition.h>

struct tutti_acquisition {
  struct tutti_instance instance;
  struct tutti_acquisition_ops ops;
  double *room; /* [count]: moments and worth of points, or gradients, of each of the surrogate's components */
  size_t count;
};

/* Is the worth that moments give a logarithm? */
bool tutti_acquisition_in_logs(const tutti_acquisition *acquisition);

#endif
