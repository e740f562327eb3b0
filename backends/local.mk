# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
plugin_LTLIBRARIES += backend-function.la
backend_function_la_SOURCES = %D%/function.c
backend_function_la_LIBADD = libbnn.la $(LIBS_CORE_LIBS)
plugin_LTLIBRARIES += backend-table.la
backend_table_la_SOURCES = %D%/table.c
backend_table_la_LIBADD = libcsvtable.la
# What backends cpu and cuda share: parameters, checks, and plans of networks.
noinst_LTLIBRARIES += libbackendplan.la
libbackendplan_la_LDFLAGS =
libbackendplan_la_SOURCES = %D%/cpu/plan_impl.h
libbackendplan_la_SOURCES += %D%/cpu/attributes.c
libbackendplan_la_SOURCES += %D%/cpu/box.c
libbackendplan_la_SOURCES += %D%/cpu/check.c
libbackendplan_la_SOURCES += %D%/cpu/geometry.c
libbackendplan_la_SOURCES += %D%/cpu/lives.c
libbackendplan_la_SOURCES += %D%/cpu/params.c
libbackendplan_la_SOURCES += %D%/cpu/params_impl.h
libbackendplan_la_SOURCES += %D%/cpu/plan.c
libbackendplan_la_SOURCES += %D%/cpu/schedule_impl.h
libbackendplan_la_SOURCES += %D%/cpu/weights.c
# The parts of backend cpu, apart from its module so that tests and benchmarks reach inside.
noinst_LTLIBRARIES += libbackendcpu.la
libbackendcpu_la_LDFLAGS =
libbackendcpu_la_LIBADD = libbackendplan.la libcpubaseline.la $(LBFGS_LIBS)
libbackendcpu_la_SOURCES =
libbackendcpu_la_SOURCES += %D%/cpu/activation_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/average.c
libbackendcpu_la_SOURCES += %D%/cpu/bfloat.c
libbackendcpu_la_SOURCES += %D%/cpu/bfloat_dots_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/bfloat_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/bfloat_pack_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/bfloat_tiles_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/bfloat_vectors_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/channel_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/conv.c
libbackendcpu_la_SOURCES += %D%/cpu/cpu_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/depthwise.c
libbackendcpu_la_SOURCES += %D%/cpu/depthwise_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/dots.c
libbackendcpu_la_SOURCES += %D%/cpu/drop.c
libbackendcpu_la_SOURCES += %D%/cpu/elementwise_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_few_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_half_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_large_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_narrow_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_store_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/float_mode.c
libbackendcpu_la_SOURCES += %D%/cpu/groups.c
libbackendcpu_la_SOURCES += %D%/cpu/half_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/head.c
libbackendcpu_la_SOURCES += %D%/cpu/heads_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/labels_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/kernels.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/lanes_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/lbfgs.c
libbackendcpu_la_SOURCES += %D%/cpu/level_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/many.c
libbackendcpu_la_SOURCES += %D%/cpu/many_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/mask_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/math_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/memory.c
libbackendcpu_la_SOURCES += %D%/cpu/norm.c
libbackendcpu_la_SOURCES += %D%/cpu/optimiser.c
libbackendcpu_la_SOURCES += %D%/cpu/optimiser_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/optimiser_id_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/patches.c
libbackendcpu_la_SOURCES += %D%/cpu/pointwise.c
libbackendcpu_la_SOURCES += %D%/cpu/pool.c
libbackendcpu_la_SOURCES += %D%/cpu/predict.c
libbackendcpu_la_SOURCES += %D%/cpu/draws.c
libbackendcpu_la_SOURCES += %D%/cpu/draws_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/slope.c
libbackendcpu_la_SOURCES += %D%/cpu/nomu.c
libbackendcpu_la_SOURCES += %D%/cpu/nomu_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/product.c
libbackendcpu_la_SOURCES += %D%/cpu/reduce.c
libbackendcpu_la_SOURCES += %D%/cpu/step.c
libbackendcpu_la_SOURCES += %D%/cpu/storage.c
libbackendcpu_la_SOURCES += %D%/cpu/team.c
libbackendcpu_la_SOURCES += %D%/cpu/tiles.c
libbackendcpu_la_SOURCES += %D%/cpu/team_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/train.c
libbackendcpu_la_SOURCES += %D%/cpu/train_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/training.c
libbackendcpu_la_SOURCES += %D%/cpu/transpose_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/vector_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/view.c
libbackendcpu_la_SOURCES += %D%/cpu/window_impl.h
# Its kernels, compiled once for each instruction set (level_impl.h).
cpu_kernels = %D%/cpu/table.c
# The optimisers. This is their list: enum, names in recipes and kernels follow from it by cpu_optimisers.h.
cpu_kernels += %D%/cpu/optimiser/sgd.c
cpu_kernels += %D%/cpu/optimiser/rmsprop.c
cpu_kernels += %D%/cpu/optimiser/adagrad.c
cpu_kernels += %D%/cpu/optimiser/adam.c
cpu_kernels += %D%/cpu/optimiser/adadelta.c
cpu_kernels += %D%/cpu/optimiser/adamax.c
cpu_kernels += %D%/cpu/optimiser/nadam.c
cpu_optimisers.h: Makefile $(top_srcdir)/build-aux/list-header
	@$(SHELL) $(top_srcdir)/build-aux/list-header $@ CPU_OPTIMISER_LIST %D%/cpu/optimiser/ $(cpu_kernels)
BUILT_SOURCES += cpu_optimisers.h
$(libbackendplan_la_OBJECTS) $(backend_cuda_la_OBJECTS) $(libbackendcpu_la_OBJECTS) $(libcpubaseline_la_OBJECTS) $(libcpuavx2_la_OBJECTS) $(libcpuavx512_la_OBJECTS): | cpu_optimisers.h
CLEANFILES += cpu_optimisers.h
noinst_LTLIBRARIES += libcpubaseline.la
libcpubaseline_la_LDFLAGS =
libcpubaseline_la_CPPFLAGS = $(AM_CPPFLAGS) -DCPU_LANES=4
libcpubaseline_la_CFLAGS = $(AM_CFLAGS) $(CPU_KERNEL_CFLAGS)
libcpubaseline_la_SOURCES = $(cpu_kernels)
if X86_64
libbackendcpu_la_LIBADD += libcpuavx2.la libcpuavx512.la
noinst_LTLIBRARIES += libcpuavx2.la libcpuavx512.la
libcpuavx2_la_LDFLAGS =
libcpuavx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DCPU_LANES=8
libcpuavx2_la_CFLAGS = $(AM_CFLAGS) $(CPU_KERNEL_CFLAGS)
libcpuavx2_la_SOURCES = $(cpu_kernels)
libcpuavx512_la_LDFLAGS =
libcpuavx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DCPU_LANES=16
libcpuavx512_la_CFLAGS = $(AM_CFLAGS) $(CPU_KERNEL_CFLAGS)
libcpuavx512_la_SOURCES = $(cpu_kernels)
endif
plugin_LTLIBRARIES += backend-cpu.la
backend_cpu_la_SOURCES = %D%/cpu/cpu.c
backend_cpu_la_LIBADD = libbackendcpu.la -lm
# Backend cuda: without the CUDA Toolkit the plugin says what it lacks.
cuda_engine = %D%/cuda/engine.cu %D%/cuda/device.cuh %D%/cuda/elements.cuh %D%/cuda/head.cuh
cuda_engine += %D%/cuda/network.cuh %D%/cuda/optimisers.cuh %D%/cuda/product.cuh %D%/cuda/staged_product.cuh
cuda_engine += %D%/cuda/step.cuh %D%/cuda/tensor.cuh %D%/cuda/thin_product.cuh %D%/cuda/warp_product.cuh
cuda_host = %D%/cuda/backend_impl.h %D%/cuda/cuda.c %D%/cuda/ops.c %D%/cuda/params.c
cuda_host += %D%/cuda/cuda_impl.h %D%/cuda/engine_impl.h
cuda_host += %D%/cuda/pool_impl.h %D%/cuda/answer.c %D%/cuda/arena.c %D%/cuda/device.c %D%/cuda/grids.c
cuda_host += %D%/cuda/lower.c %D%/cuda/memory.c %D%/cuda/pool.c %D%/cuda/predict.c
cuda_stream = %D%/cuda/stream.cu %D%/cuda/device.cuh %D%/cuda/elements.cuh %D%/cuda/optimisers.cuh %D%/cuda/step.cuh
cuda_stream += %D%/cuda/stream_head.cuh %D%/cuda/stream_norm.cuh %D%/cuda/stream_view.cuh %D%/cuda/stream_window.cuh
cuda_stream_host = %D%/cuda/stream_impl.h %D%/cuda/stream_host_impl.h
cuda_stream_host += %D%/cuda/stream_backward.c %D%/cuda/stream_forward.c %D%/cuda/stream_library.c
cuda_stream_host += %D%/cuda/stream_plan.c %D%/cuda/stream_predict.c %D%/cuda/stream_trials_impl.h
cuda_stream_host += %D%/cuda/stream_epochs.c %D%/cuda/stream_trials.c %D%/cuda/stream_trial.c
# The arithmetic that the engines share with backend cpu.
cuda_shared = $(top_srcdir)/%D%/cpu/*_impl.h $(top_srcdir)/%D%/cpu/optimiser/*.c
cuda_shared += $(top_srcdir)/%D%/cuda/*_impl.h $(top_srcdir)/core/base/philox_impl.h
cuda_includes = $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS)
EXTRA_DIST += $(cuda_engine) $(cuda_stream) $(cuda_stream_host) %D%/cuda/stream_without.c
EXTRA_DIST += %D%/cuda/without.c build-aux/nvcc
plugin_LTLIBRARIES += backend-cuda.la
backend_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
if HAVE_CUDA
backend_cuda_la_SOURCES = $(cuda_host)
backend_cuda_la_LIBADD = %D%/cuda/engine.lo
# Networks of images: without cuDNN they are refused.
if HAVE_CUDNN
backend_cuda_la_SOURCES += $(cuda_stream_host)
backend_cuda_la_LIBADD += %D%/cuda/stream.lo $(CUDNN_LIBS)
else
backend_cuda_la_SOURCES += %D%/cuda/stream_without.c
endif
backend_cuda_la_LIBADD += libbackendcpu.la $(CUDA_LIBS) -lm
compile_cuda = $(LIBTOOL) --silent --tag=CC --mode=compile $(SHELL) $(top_srcdir)/build-aux/nvcc $(NVCC) -std=c++20 -O3
compile_cuda += --ftz=true --prec-div=false --prec-sqrt=false $(CUDA_TARGETS) -fvisibility=hidden $(cuda_includes) $(NVCCFLAGS)
%D%/cuda/engine.lo: $(cuda_engine) $(wildcard $(cuda_shared)) $(top_srcdir)/build-aux/nvcc | cpu_optimisers.h
	@$(MKDIR_P) %D%/cuda
	@echo "  NVCC     $@"
	@$(compile_cuda) -c -o $@ $(top_srcdir)/%D%/cuda/engine.cu
%D%/cuda/stream.lo: $(cuda_stream) $(wildcard $(cuda_shared)) $(top_srcdir)/build-aux/nvcc | cpu_optimisers.h
	@$(MKDIR_P) %D%/cuda
	@echo "  NVCC     $@"
	@$(compile_cuda) -c -o $@ $(top_srcdir)/%D%/cuda/stream.cu
else
backend_cuda_la_SOURCES = %D%/cuda/backend_impl.h %D%/cuda/cuda.c %D%/cuda/ops.c %D%/cuda/params.c
backend_cuda_la_SOURCES += %D%/cuda/without.c %D%/cuda/stream_without.c
backend_cuda_la_LIBADD = libbackendcpu.la -lm
endif
# What backends share that train no networks.
noinst_LTLIBRARIES += liblearner.la
liblearner_la_LDFLAGS =
liblearner_la_SOURCES = %D%/classical/learner.c %D%/classical/learner.h
# Support vector machines: without libsvm the plugin says what it lacks.
noinst_LTLIBRARIES += libmachine.la
libmachine_la_LDFLAGS =
libmachine_la_SOURCES = %D%/svm/machine.h %D%/svm/machine_impl.h
libmachine_la_LIBADD = liblearner.la $(SVM_LIBS)
if HAVE_LIBSVM
libmachine_la_SOURCES += %D%/svm/machine.c %D%/svm/machine_classes.c %D%/svm/machine_formula.c %D%/svm/calibration.c %D%/svm/solver.c
else
libmachine_la_SOURCES += %D%/svm/without.c
endif
plugin_LTLIBRARIES += backend-svm.la
backend_svm_la_SOURCES = %D%/svm.c
backend_svm_la_LIBADD = libmachine.la -lm
# Forests and boosted trees: without XGBoost the method that needs it is refused.
noinst_LTLIBRARIES += libgrove.la
libgrove_la_LDFLAGS =
libgrove_la_SOURCES = %D%/trees/forest.c %D%/trees/grove.h
libgrove_la_LIBADD = libforest.la liblearner.la $(XGBOOST_LIBS)
if HAVE_XGBOOST
libgrove_la_SOURCES += %D%/trees/boosting.c %D%/trees/boosting_formula.c
else
libgrove_la_SOURCES += %D%/trees/without.c
endif
plugin_LTLIBRARIES += backend-trees.la
backend_trees_la_SOURCES = %D%/trees.c
backend_trees_la_LIBADD = libgrove.la $(LIBS_CORE_LIBS)
# Gaussian processes.
noinst_LTLIBRARIES += libprocess.la
libprocess_la_LDFLAGS =
libprocess_la_SOURCES = %D%/gp/process.c %D%/gp/process.h %D%/gp/process_formula.c
libprocess_la_LIBADD = libgp.la liblearner.la
plugin_LTLIBRARIES += backend-gp.la
backend_gp_la_SOURCES = %D%/gp.c
backend_gp_la_LIBADD = libprocess.la -lm
# Candidates of several backends in one search.
plugin_LTLIBRARIES += backend-mixed.la
backend_mixed_la_SOURCES = %D%/mixed.c
