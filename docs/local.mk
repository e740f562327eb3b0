dist_doc_DATA =
dist_doc_DATA += %D%/ablation.md
dist_doc_DATA += %D%/architecture.md
dist_doc_DATA += %D%/autodeuq.md
dist_doc_DATA += %D%/backend-cpu.md
dist_doc_DATA += %D%/backend-cuda.md
dist_doc_DATA += %D%/calibration.md
dist_doc_DATA += %D%/cluster.md
dist_doc_DATA += %D%/concepts.md
dist_doc_DATA += %D%/data.md
dist_doc_DATA += %D%/export.md
dist_doc_DATA += %D%/fidelity.md
dist_doc_DATA += %D%/formats.md
dist_doc_DATA += %D%/install.md
dist_doc_DATA += %D%/learners.md
dist_doc_DATA += %D%/metrics.md
dist_doc_DATA += %D%/nasbot.md
dist_doc_DATA += %D%/nes.md
dist_doc_DATA += %D%/nomu.md
dist_doc_DATA += %D%/other-languages.md
dist_doc_DATA += %D%/plugins.md
dist_doc_DATA += %D%/performance.md
dist_doc_DATA += %D%/pruning.md
dist_doc_DATA += %D%/recipes.md
dist_doc_DATA += %D%/report.md
dist_doc_DATA += %D%/run-directory.md
dist_doc_DATA += %D%/search.md
dist_doc_DATA += %D%/smbo-ensemble.md
dist_doc_DATA += %D%/spaces.md
dist_doc_DATA += %D%/tables.md
dist_doc_DATA += %D%/trust.md
dist_doc_DATA += %D%/tutorials.md
dist_doc_DATA += %D%/writing-a-plugin.md
dist_doc_DATA += README.md
dist_doc_DATA += CONTRIBUTING.md
dist_doc_DATA += CHANGELOG.md
dist_doc_DATA += LICENSE
dist_man_MANS = %D%/tutti.1 %D%/tutti-conform.1
# What the tutorials work with.
examplesdir = $(docdir)/examples
dist_examples_DATA =
dist_examples_DATA += %D%/examples/flats.csv
dist_examples_DATA += %D%/examples/flats.ini
dist_examples_DATA += %D%/examples/predict.c
dist_examples_DATA += %D%/examples/shapes-labels.npy
dist_examples_DATA += %D%/examples/shapes.ini
dist_examples_DATA += %D%/examples/shapes.npy

completionsdir = $(datadir)/bash-completion/completions
dist_completions_DATA = %D%/bash-completion/tutti
zshdir = $(datadir)/zsh/site-functions
dist_zsh_DATA = %D%/zsh-completion/_tutti
fishdir = $(datadir)/fish/vendor_completions.d
dist_fish_DATA = %D%/fish-completion/tutti.fish

# The plugin reference, from the tables of the plugins that are built here; the manual page and the completions, from the
# program's commands; the tables of metrics, from the library's. Tests compare them all.
.PHONY: reference
reference: all-am tests/cli/metric-tables$(EXEEXT) $(check_LTLIBRARIES)
	TUTTI_PLUGIN_PATH='$(abs_builddir)/tests/cuda/.libs' ./tutti-uninstalled inspect --markdown > plugins.md.new
	mv plugins.md.new $(top_srcdir)/%D%/plugins.md
	./tutti-uninstalled man-page > tutti.1.new
	mv tutti.1.new $(top_srcdir)/%D%/tutti.1
	./tutti-uninstalled bash-completion > bash-completion.new
	mv bash-completion.new $(top_srcdir)/%D%/bash-completion/tutti
	./tutti-uninstalled zsh-completion > zsh-completion.new
	mv zsh-completion.new $(top_srcdir)/%D%/zsh-completion/_tutti
	./tutti-uninstalled fish-completion > fish-completion.new
	mv fish-completion.new $(top_srcdir)/%D%/fish-completion/tutti.fish
	tests/cli/metric-tables < $(top_srcdir)/%D%/metrics.md > metrics.md.new
	mv metrics.md.new $(top_srcdir)/%D%/metrics.md
