# What reads the sources without running them, and what runs the unit tests under a watch. None is needed to build.
EXTRA_DIST += build-aux/cppcheck.supp build-aux/layers build-aux/check-includes build-aux/check-circles build-aux/check-comments build-aux/check-calls
EXTRA_DIST += build-aux/read-layers build-aux/check-lists build-aux/check-statics build-aux/check-structs
lint_folders = $(top_srcdir)/core $(top_srcdir)/engine $(top_srcdir)/program $(top_srcdir)/plugins $(top_srcdir)/backends $(top_srcdir)/spaces
lint_flags = $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(LIBS_CORE_CFLAGS) $(LIBS_ENGINE_CFLAGS) $(BLAS_CFLAGS) $(CUDA_CPPFLAGS) $(MPI_CFLAGS)
# Not what needs a library that is not here. LINT_FILES=... for some of them.
lint_left_out =
if !HAVE_CUDA
lint_left_out += ! -path '*/backends/cuda/*'
endif
if !HAVE_MPI
lint_left_out += ! -name link.c
endif
if !HAVE_XGBOOST
lint_left_out += ! -name boosting.c
endif
if !HAVE_LIBSVM
lint_left_out += ! -path '*/svm/*'
endif
if !HAVE_ONNX
lint_left_out += ! -path '*/export/onnx*'
endif
LINT_FILES = `find $(lint_folders) -name '*.c' $(lint_left_out)`

# After a public function was added: note which version of the interface it came with.
EXTRA_DIST += build-aux/public-functions build-aux/record-symbols build-aux/symbol-map
# With a new major version: what the interface is from now on (tests/abi).
EXTRA_DIST += build-aux/check-abi
.PHONY: record-symbols record-abi
record-abi: all-am
	CC='$(CC)' $(SHELL) $(top_srcdir)/build-aux/check-abi record $(top_srcdir) $(top_builddir)
record-symbols:
	$(SHELL) $(top_srcdir)/build-aux/record-symbols $(top_srcdir) $(TUTTI_ABI_MAJOR).$(TUTTI_ABI_MINOR)

.PHONY: say-lists lint lint-lists lint-structs lint-statics lint-calls lint-includes lint-comments lint-shell lint-cppcheck lint-tidy format format-check valgrind
lint: lint-lists lint-structs lint-statics lint-calls lint-includes lint-comments lint-shell lint-cppcheck lint-tidy lint-mutants

# No source that no local.mk names: nothing builds it. Every make says so, but goes on.
lint-lists:
	$(SHELL) $(top_srcdir)/build-aux/check-lists $(top_srcdir)
say-lists:
	@$(SHELL) $(top_srcdir)/build-aux/check-lists $(top_srcdir) || :

# No public struct without its size that does not say why it needs none.
lint-structs:
	$(SHELL) $(top_srcdir)/build-aux/check-structs $(top_srcdir)

# No name of a static function in more than seven files.
lint-statics:
	$(SHELL) $(top_srcdir)/build-aux/check-statics $(top_srcdir)

# No include runs up: the table is build-aux/layers.
lint-includes:
	$(SHELL) $(top_srcdir)/build-aux/check-includes $(top_srcdir)

# No call of a plugin's operation but where it is noted that the plugin's code runs.
lint-calls:
	$(SHELL) $(top_srcdir)/build-aux/check-calls $(top_srcdir)

# No comment beyond the last column, but in public headers, whose change would have everybody build everything.
lint-comments:
	$(SHELL) $(top_srcdir)/build-aux/check-comments $(top_srcdir)

lint-shell:
	cd $(top_srcdir) && shellcheck bootstrap .ci/run build-aux/build-id build-aux/nvcc build-aux/check-abi build-aux/check-calls build-aux/check-comments build-aux/check-includes build-aux/check-lists build-aux/check-statics build-aux/check-structs build-aux/list-entries build-aux/list-header build-aux/public-functions build-aux/read-layers build-aux/record-symbols build-aux/symbol-map build-aux/test-summary \
	  $$(find tests docs template -name '*.sh')

lint-cppcheck: build_id.h $(BUILT_SOURCES)
	cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
	  --suppressions-list=$(top_srcdir)/build-aux/cppcheck.supp -D_GNU_SOURCE $(DEFAULT_INCLUDES) -I$(top_srcdir)/include -I$(top_srcdir) \
	  -j "$$(nproc)" $(LINT_FILES)

lint-tidy: build_id.h $(BUILT_SOURCES)
	printf '%s\n' $(LINT_FILES) | \
	  xargs -P "$$(nproc)" -I{} clang-tidy --quiet {} -- -std=gnu11 -DTUTTI_PLUGIN_FOLDER='""' -DTUTTI_PLUGINS_BESIDE='""' -DTUTTI_RECIPE_FOLDER='""' $(lint_flags) 2>lint-tidy.log

# What is formatted: C, and the template's C++.
find_sources = cd $(top_srcdir) && find include core engine program plugins backends spaces tests template \
  '(' -name '*.[ch]' -o -name '*.cpp' ')'
format:
	$(find_sources) -exec clang-format -i {} +
format-check:
	$(find_sources) -exec clang-format --dry-run -Werror {} +

# The unit tests, each under valgrind's memcheck.
valgrind: all-am
	TUTTI_TEST_WATCHED=valgrind $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(unit_tests)' \
	  LOG_COMPILER='$(LIBTOOL) $(AM_LIBTOOLFLAGS) --mode=execute valgrind --quiet --error-exitcode=99 --leak-check=full \
	    --errors-for-leak-kinds=definite'
CLEANFILES += lint-tidy.log
