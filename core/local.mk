lib_LTLIBRARIES += libtutti.la
libtutti_la_CPPFLAGS = $(AM_CPPFLAGS) -DTUTTI_PLUGIN_FOLDER='"$(plugindir)"'
libtutti_la_LDFLAGS = -no-undefined $(TUTTI_ZDEFS) -version-info $(TUTTI_VERSION_INFO)
libtutti_la_LIBADD = $(LIBS_CORE_LIBS) $(CSV_LIBS)
libtutti_la_SOURCES =


bin_PROGRAMS += tutti
# argp reads argp_program_version and its like from the program.
tutti_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tutti_SOURCES =
tutti_SOURCES += %D%/program/command_ablate.c
tutti_SOURCES += %D%/program/command_compare.c
tutti_SOURCES += %D%/program/command_curve.c
tutti_SOURCES += %D%/program/command_distance.c
tutti_SOURCES += %D%/program/command_doctor.c
tutti_SOURCES += %D%/program/command_inspect.c
tutti_SOURCES += %D%/program/command_list.c
tutti_SOURCES += %D%/program/command_predict.c
tutti_SOURCES += %D%/program/command_run.c
tutti_SOURCES += %D%/program/command_view.c
tutti_SOURCES += %D%/program/command_worker.c
tutti_SOURCES += %D%/program/common.c
tutti_SOURCES += %D%/program/main.c
tutti_SOURCES += %D%/program/program_impl.h
tutti_SOURCES += %D%/program/progress.c
tutti_SOURCES += %D%/program/progress.h
tutti_SOURCES += %D%/program/show.c
tutti_SOURCES += %D%/program/show_comparison.c
tutti_LDADD = $(TUTTI_LA) $(LIBS_CORE_LIBS)
