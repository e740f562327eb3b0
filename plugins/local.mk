# A plugin is two lines: its module, KIND-NAME.la, and its sources. Libraries beyond libtutti go to its _LIBADD.
plugin_LTLIBRARIES += executor-local.la
executor_local_la_SOURCES = %D%/executor/local.c
plugin_LTLIBRARIES += surrogate-gp.la
surrogate_gp_la_SOURCES = %D%/surrogate/gp.c
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_column.h
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_factor.c
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_fit.c
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_impl.h
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_kernel.c
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_likelihood.c
surrogate_gp_la_SOURCES += %D%/surrogate/gp/gp_posterior.c
# Square roots that set errno are not vectorised.
surrogate_gp_la_CFLAGS = $(AM_CFLAGS) -fno-math-errno
surrogate_gp_la_LIBADD = $(NLOPT_LIBS) $(LAPACKE_LIBS) $(BLAS_LIBS) $(LIBS_CORE_LIBS)
