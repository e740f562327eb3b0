# The corruptions. Their list is made of the entries in these files.
corruption_sources = %D%/corruption_noise.c
corruption_sources += %D%/corruption_blur.c
corruption_sources += %D%/corruption_weather.c
corruption_sources += %D%/corruption_colour.c
corruption_sources += %D%/corruption_digital.c
libtutti_engine_la_SOURCES += $(corruption_sources)
corruptions.h: Makefile $(corruption_sources) $(top_srcdir)/build-aux/list-entries
	@$(SHELL) $(top_srcdir)/build-aux/list-entries $@ TUTTI_CORRUPTIONS TUTTI_CORRUPTION $(corruption_sources:%=$(top_srcdir)/%)
EXTRA_DIST += build-aux/list-entries
BUILT_SOURCES += corruptions.h
CLEANFILES += corruptions.h
libtutti_engine_la_SOURCES += %D%/corruption.c
libtutti_engine_la_SOURCES += %D%/corruption_filters.c
libtutti_engine_la_SOURCES += %D%/corruption_impl.h
libtutti_engine_la_SOURCES += %D%/images_ood.c
libtutti_engine_la_SOURCES += %D%/shift.c
libtutti_engine_la_SOURCES += %D%/shift_impl.h
libtutti_engine_la_SOURCES += %D%/shift_published.c
