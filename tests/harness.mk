# How the tests listed in local.mk are built and run.

# --- how they are built ---
# A test may include a plugin's source: all that plugins use is at hand, and only what is used is loaded.
LDADD = libgolden.a $(TUTTI_ENGINE_LA) $(TUTTI_LA) $(CMOCKA_LIBS) $(NLOPT_LIBS) $(LAPACKE_LIBS) $(BLAS_LIBS) $(LIBS_CORE_LIBS) $(LIBS_ENGINE_LIBS)
check_PROGRAMS += $(unit_tests) $(conformance_tests) $(fault_tests) $(fuzz_targets)
$(fuzz_targets): | libreplay.a
EXTRA_PROGRAMS += $(big_tests) $(benches)
EXTRA_DIST += $(cli_tests) $(fault_scripts) $(big_scripts)

# --- how they are run ---
AM_TESTS_ENVIRONMENT = \
  TUTTI_PLUGIN_FOLDER='$(abs_top_builddir)/modules'; export TUTTI_PLUGIN_FOLDER; \
  TUTTI_PLUGIN_PATH='$(abs_top_builddir)/modules'; export TUTTI_PLUGIN_PATH; \
  TUTTI_RECIPE_FOLDER='$(abs_top_srcdir)/ini'; export TUTTI_RECIPE_FOLDER; \
  TUTTI_TEST_SRCDIR='$(abs_top_srcdir)'; export TUTTI_TEST_SRCDIR; \
  TUTTI_TEST_BUILDDIR='$(abs_top_builddir)'; export TUTTI_TEST_BUILDDIR; \
  TUTTI_PROGRAM='$(abs_top_builddir)/tutti'; export TUTTI_PROGRAM; \
  OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS; \
  CC='$(CC)'; export CC; TUTTI_TEST_CFLAGS='$(CFLAGS)'; export TUTTI_TEST_CFLAGS; CXX='$(TEST_CXX)'; export CXX; $(sanitizer_environment)
if SANITIZERS
sanitizer_environment = \
  TUTTI_TEST_WATCHED=sanitizers; export TUTTI_TEST_WATCHED; \
  ASAN_OPTIONS="detect_leaks=1:$$ASAN_OPTIONS"; export ASAN_OPTIONS; \
  UBSAN_OPTIONS="print_stacktrace=1:$$UBSAN_OPTIONS"; export UBSAN_OPTIONS;
endif
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash
check_tests = $(unit_tests) $(conformance_tests) $(cli_tests) $(fault_tests) $(fault_scripts) $(fuzz_targets)
TESTS = $(check_tests) $(big_tests) $(big_scripts)

if HAVE_CMOCKA
refuse_tests = :
else
refuse_tests = echo "make $@: the tests need cmocka (Debian: libcmocka-dev): install it and run configure again" >&2; exit 1
endif
# In place of automake's: the tests of make check, or those of TESTS=... on the command line; what failed, and, as the
# last line, how many passed.
tests_to_run = $(if $(filter command,$(firstword $(origin TESTS))),$(TESTS),$(check_tests))
tests_to_run_bases = $(basename $(filter %.sh,$(tests_to_run))) $(filter-out %.sh,$(tests_to_run))
check-TESTS: $(check_LIBRARIES) $(check_LTLIBRARIES)
	@$(refuse_tests)
	@rm -f $(addsuffix .log,$(tests_to_run_bases)) $(addsuffix .trs,$(tests_to_run_bases))
	+@$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) TEST_LOGS='$(addsuffix .log,$(tests_to_run_bases))' \
	  | grep -E --line-buffered '^(PASS|FAIL|XPASS|XFAIL|ERROR|SKIP|  [A-Z]+ )'; \
	$(SHELL) $(top_srcdir)/build-aux/test-summary $(addsuffix .trs,$(tests_to_run_bases))

# For a test that compares it with the files that there are.
dist-files:
	@printf '%s\n' $(DISTFILES)

.PHONY: dist-files smallcheck bigcheck check-programs bench bench-all storm power fuzz fuzz-programs
smallcheck: all-am
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(unit_tests)'
# With more random networks than usual beside backend cpu's.
bigcheck: all-am
	TUTTI_TEST_NETWORKS=$${TUTTI_TEST_NETWORKS:-40} $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(check_tests) $(big_tests) $(big_scripts)'
check-programs: all-am $(check_LIBRARIES) $(check_LTLIBRARIES) $(check_PROGRAMS)
# The fuzz targets with libFuzzer, in a build of their own: make fuzz SECONDS=60 TARGETS="ini csv" CORPUS=/tmp/corpus.
SECONDS = 60
fuzz:
	@bash $(top_srcdir)/tests/fuzz/run.sh $(abs_top_srcdir) fuzz-build $(SECONDS) '$(CORPUS)' $(TARGETS)
fuzz-programs: all-am $(check_LIBRARIES) $(fuzz_targets)

# Runs under a storm of signals and full disks: make storm N=1000 SEED=1 OUT=/tmp/storm. With OUT it goes on where it was.
N = 100
SEED = 1
storm: all-am $(check_LTLIBRARIES) tests/faults/storm$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) exec tests/faults/storm $(N) $(SEED) $(OUT)
# The power fails at many instants of recorded runs: make power N=500 SEED=1 OUT=/tmp/power.
power: all-am $(check_LTLIBRARIES) tests/faults/power$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) exec tests/faults/power $(N) $(SEED) $(OUT)
bench: all-am $(check_LIBRARIES) $(benches)
# All of them beside their peers: make bench-all PYTHON=/venv/bin/python3 OUT=$$PWD/docs/performance.md (seen from the build folder)
PYTHON = python3
bench-all: bench
	@$(AM_TESTS_ENVIRONMENT) exec $(PYTHON) $(top_srcdir)/tests/bench/bench_all.py . $(if $(OUT),--write $(OUT))
