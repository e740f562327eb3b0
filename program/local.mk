bin_PROGRAMS += tutti
# argp reads argp_program_version and its like from the program.
tutti_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tutti_SOURCES =
tutti_SOURCES += %D%/command_ablate.c
tutti_SOURCES += %D%/command_compare.c
tutti_SOURCES += %D%/command_curve.c
tutti_SOURCES += %D%/command_distance.c
tutti_SOURCES += %D%/command_doctor.c
tutti_SOURCES += %D%/command_inspect.c
tutti_SOURCES += %D%/command_list.c
tutti_SOURCES += %D%/command_predict.c
tutti_SOURCES += %D%/command_run.c
tutti_SOURCES += %D%/command_view.c
tutti_SOURCES += %D%/command_worker.c
tutti_SOURCES += %D%/common.c
tutti_SOURCES += %D%/main.c
tutti_SOURCES += %D%/program_impl.h
tutti_SOURCES += %D%/progress.c
tutti_SOURCES += %D%/progress.h
tutti_SOURCES += %D%/show.c
tutti_SOURCES += %D%/show_comparison.c
tutti_LDADD = $(TUTTI_ENGINE_LA) $(TUTTI_LA) $(LIBS_CORE_LIBS)
