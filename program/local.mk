bin_PROGRAMS += tutti
# argp reads argp_program_version and its like from the program.
tutti_CFLAGS = $(AM_CFLAGS) -fvisibility=default
# The commands, in the order in which --help and the manual page show them. This is their list: commands.c has it by
# all_commands.h.
tutti_SOURCES =
tutti_SOURCES += %D%/command_run.c
tutti_SOURCES += %D%/command_fit.c
tutti_SOURCES += %D%/command_validate.c
tutti_SOURCES += %D%/command_list.c
tutti_SOURCES += %D%/command_inspect.c
tutti_SOURCES += %D%/command_status.c
tutti_SOURCES += %D%/command_cancel.c
tutti_SOURCES += %D%/command_select.c
tutti_SOURCES += %D%/command_evaluate.c
tutti_SOURCES += %D%/command_curve.c
tutti_SOURCES += %D%/command_predict.c
tutti_SOURCES += %D%/command_export.c
tutti_SOURCES += %D%/command_report.c
tutti_SOURCES += %D%/command_compare.c
tutti_SOURCES += %D%/command_ablate.c
tutti_SOURCES += %D%/command_distance.c
tutti_SOURCES += %D%/command_doctor.c
tutti_SOURCES += %D%/command_worker.c
tutti_SOURCES += %D%/command_scan_plugin.c
tutti_SOURCES += %D%/command_man_page.c
tutti_SOURCES += %D%/command_settings.c
tutti_SOURCES += %D%/command_bash_completion.c
tutti_SOURCES += %D%/command_zsh_completion.c
tutti_SOURCES += %D%/command_fish_completion.c
tutti_SOURCES += %D%/arguments.c
tutti_SOURCES += %D%/command.h
tutti_SOURCES += %D%/commands.c
tutti_SOURCES += %D%/common.c
tutti_SOURCES += %D%/fields.c
tutti_SOURCES += %D%/guard.c
tutti_SOURCES += %D%/inspect_ops.c
tutti_SOURCES += %D%/inspect_ops.h
tutti_SOURCES += %D%/main.c
tutti_SOURCES += %D%/output.c
tutti_SOURCES += %D%/program_impl.h
tutti_SOURCES += %D%/progress.c
tutti_SOURCES += %D%/progress.h
tutti_SOURCES += %D%/show_ablation.c
tutti_SOURCES += %D%/show_comparison.c
tutti_SOURCES += %D%/show_fit.c
tutti_SOURCES += %D%/show_metrics.c
tutti_SOURCES += %D%/show_profile.c
tutti_SOURCES += %D%/show_status.c
tutti_SOURCES += %D%/show_summary.c
tutti_SOURCES += %D%/table.c
tutti_SOURCES += %D%/table.h
tutti_SOURCES += %D%/training.c
tutti_SOURCES += %D%/training.h
tutti_SOURCES += %D%/wrap.c
tutti_LDADD = $(TUTTI_ENGINE_LA) $(TUTTI_LA) $(LIBS_CORE_LIBS)
%D%/tutti-commands.$(OBJEXT): all_commands.h
all_commands.h: Makefile $(top_srcdir)/build-aux/list-header
	@$(SHELL) $(top_srcdir)/build-aux/list-header $@ ALL_COMMANDS %D%/command_ $(tutti_SOURCES)
EXTRA_DIST += build-aux/list-header
BUILT_SOURCES += all_commands.h
CLEANFILES += all_commands.h
