/* plugin.h - everything that a plugin needs: the public headers of libtutti, except those of the kit (kit.h) and of
   hosts (assembly.h). Plugins link libtutti alone.

   THREADS. This is the whole contract; every other header rests on it.

   What the host may do:
   - It may use several instances of a plugin at the same time, each on a thread and with a context of its own. So a
     plugin MUST NOT have mutable data at file scope, and tutti_plugin() and available() may be called from any thread.
   - It calls one instance from one thread at a time: create, then any operations, then destroy. The thread may change
     from one call to the next.

   What a plugin may do in threads that it starts itself:
   - It may use as many threads at once as tutti_threads(context) says, the calling one and BLAS's included.
   - They MUST be at rest when the operation returns. None may be left running.
   - The context of the call, and every function that takes it, belongs to the thread that made the call. A thread of
     the plugin's own makes a context of its own (tutti_context_create) if it allocates, or can fail. Two functions are
     free for all threads: tutti_cancel and tutti_cancelled. Memory may be given back by tutti_free on any thread.
   - What is immutable may be read from all threads at once: tasks, networks, layers, domains, scopes, splits (gathering
     rows included), pools, and tensors that nobody changes. The same goes for functions without a context that only
     compute (metrics, random streams of one's own).
   - References of genotypes and candidates are counted without locks: ref and unref belong to the thread that made the
     call.
   - Functions that the host hands over to be called back (progress, done, visit, evaluate of an objective) are called
     on the thread that made the call, one at a time.
   - Other plugins' instances (a surrogate inside a builder, say) are used as the host uses this one: from one thread at
     a time.

   A plugin MUST NOT fork without exec, change signal handlers, the locale, the working folder or the environment. */
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
#include <tutti/deal.h>
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
#include <tutti/sized.h>
#include <tutti/space.h>
#include <tutti/status.h>
#include <tutti/surrogate.h>
#include <tutti/task.h>
#include <tutti/tensors.h>
#include <tutti/version.h>

#endif
