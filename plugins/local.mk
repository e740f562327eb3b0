# A plugin is two lines: its module, KIND-NAME.la, and its sources. Libraries beyond libtutti go to its _LIBADD.
plugin_LTLIBRARIES += executor-local.la
executor_local_la_SOURCES = %D%/executor/local.c
plugin_LTLIBRARIES += selector-all.la
selector_all_la_SOURCES = %D%/selector/all.c
plugin_LTLIBRARIES += selector-forward.la
selector_forward_la_SOURCES = %D%/selector/forward.c %D%/selector/greedy_impl.h
plugin_LTLIBRARIES += selector-top-m.la
selector_top_m_la_SOURCES = %D%/selector/top-m.c
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
plugin_LTLIBRARIES += acquisition-ei.la
acquisition_ei_la_SOURCES = %D%/acquisition/ei.c
plugin_LTLIBRARIES += acquisition-lcb.la
acquisition_lcb_la_SOURCES = %D%/acquisition/lcb.c
plugin_LTLIBRARIES += builder-nes-rs.la
builder_nes_rs_la_SOURCES = %D%/builder/nes-rs.c
