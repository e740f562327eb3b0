# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
plugin_LTLIBRARIES += backend-function.la
backend_function_la_SOURCES = %D%/function.c
# The parts of backend cpu, apart from its module so that tests and benchmarks reach inside.
noinst_LTLIBRARIES += libbackendcpu.la
libbackendcpu_la_LDFLAGS =
libbackendcpu_la_SOURCES =
libbackendcpu_la_SOURCES += %D%/cpu/activation_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/cpu_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/elementwise_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/gemm_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/head.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels_avx2.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels_avx512.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels_baseline.c
libbackendcpu_la_SOURCES += %D%/cpu/kernels_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/mask_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/math_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/norm.c
libbackendcpu_la_SOURCES += %D%/cpu/optimiser.c
libbackendcpu_la_SOURCES += %D%/cpu/plan.c
libbackendcpu_la_SOURCES += %D%/cpu/step.c
libbackendcpu_la_SOURCES += %D%/cpu/table_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/train.c
libbackendcpu_la_SOURCES += %D%/cpu/update_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/vector_impl.h
libbackendcpu_la_SOURCES += %D%/cpu/weights.c
