# The report of runs. Its parts, in the order of the page, are the files section_NAME.c; this is their list: report.c has
# it by all_sections.h.
report_sources =
report_sources += %D%/section_search.c
report_sources += %D%/section_hyperparameters.c
report_sources += %D%/section_ensemble.c
report_sources += %D%/section_quality.c
report_sources += %D%/section_rows.c
report_sources += %D%/section_bands.c
report_sources += %D%/section_members.c
report_sources += %D%/compute.c
report_sources += %D%/compute.h
report_sources += %D%/facts.c
report_sources += %D%/figure.c
report_sources += %D%/levels.c
report_sources += %D%/levels.h
report_sources += %D%/page.c
report_sources += %D%/report.c
report_sources += %D%/report_impl.h
report_sources += %D%/rows.c
report_sources += %D%/scale.c
report_sources += %D%/style.c
report_sources += %D%/timeline.c
report_sources += %D%/together.c
report_sources += %D%/together.h
report_sources += %D%/words.c
libtutti_engine_la_SOURCES += $(report_sources)
all_sections.h: Makefile $(top_srcdir)/build-aux/list-header
	@$(SHELL) $(top_srcdir)/build-aux/list-header $@ ALL_SECTIONS %D%/section_ $(report_sources)
BUILT_SOURCES += all_sections.h
CLEANFILES += all_sections.h
