/* plugin.h - all that a plugin needs: the public headers of libtutti but those of the kit (kit.h) and of hosts (assembly.h,
   registry.h). Plugins link libtutti alone. */
#ifndef TUTTI_PLUGIN_H
#define TUTTI_PLUGIN_H

#include <math.h>
#include <tutti/abi.h>
#include <tutti/acquisition.h>
#include <tutti/backend.h>
#include <tutti/bootstraps.h>
#include <tutti/builder.h>
#include <tutti/calibrator.h>
#include <tutti/candidate.h>
#include <tutti/clock.h>
#include <tutti/context.h>
#include <tutti/cpu.h>
#include <tutti/dataset.h>
#include <tutti/descriptor.h>
#include <tutti/domain.h>
#include <tutti/ensemble_loss.h>
#include <tutti/executor.h>
#include <tutti/host.h>
#include <tutti/kind.h>
#include <tutti/maximiser.h>
#include <tutti/metrics.h>
#include <tutti/names.h>
#include <tutti/network.h>
#include <tutti/npy.h>
#include <tutti/op.h>
#include <tutti/param.h>
#include <tutti/predictions.h>
#include <tutti/protocol.h>
#include <tutti/pruner.h>
#include <tutti/random.h>
#include <tutti/rows.h>
#include <tutti/selector.h>
#include <tutti/source.h>
#include <tutti/space.h>
#include <tutti/status.h>
#include <tutti/surrogate.h>
#include <tutti/task.h>
#include <tutti/tensors.h>
#include <tutti/version.h>

#endif
