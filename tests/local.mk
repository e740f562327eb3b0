# A test is one line:
#   unit_tests += %D%/unit/NAME              a program, source NAME.c (cmocka); fast
#   conformance_tests += %D%/conformance/NAME
#   fault_tests += %D%/faults/NAME           or fault_scripts += %D%/faults/NAME.sh
#   cli_tests += %D%/cli/NAME.sh             bash
#   big_tests += %D%/.../NAME                long, or needs a device and exits 77 where there is none; big_scripts
#   benches += %D%/bench/NAME                built by `make bench`, run by hand
#   check_LTLIBRARIES += %D%/faults/NAME.la  a module that only tests load
# Further sources: tests_unit_NAME_SOURCES; further libraries: tests_unit_NAME_LDADD = $(LDADD) -lfoo.
# How they are built and run: harness.mk.
check_LIBRARIES += libgolden.a
libgolden_a_SOURCES = %D%/unit/golden.c %D%/unit/golden.h
EXTRA_DIST += %D%/golden/ei_values.json
EXTRA_DIST += %D%/golden/forward_select.json
EXTRA_DIST += %D%/golden/gaussian_nll.json
EXTRA_DIST += %D%/golden/gp_matern52.json
EXTRA_DIST += %D%/golden/metrics.json
EXTRA_DIST += %D%/golden/nomu_functions.json

unit_tests += %D%/unit/test_file
unit_tests += %D%/unit/test_evaluate
unit_tests += %D%/unit/test_function
unit_tests += %D%/unit/test_metrics
unit_tests += %D%/unit/test_network
unit_tests += %D%/unit/test_random
unit_tests += %D%/unit/test_tensors

# --- how they are built ---
# A test may include a plugin's source: all that plugins use is at hand, and only what is used is loaded.
LDADD = libgolden.a $(TUTTI_LA) $(CMOCKA_LIBS) $(NLOPT_LIBS) $(LAPACKE_LIBS) $(BLAS_LIBS) $(LIBS_CORE_LIBS)
check_PROGRAMS += $(unit_tests) $(conformance_tests) $(fault_tests)
EXTRA_PROGRAMS += $(big_tests) $(benches)
EXTRA_DIST += $(cli_tests) $(fault_scripts) $(big_scripts)

# --- how they are run ---
AM_TESTS_ENVIRONMENT = \
  TUTTI_PLUGIN_PATH='$(abs_top_builddir)/modules'; export TUTTI_PLUGIN_PATH; \
  TUTTI_TEST_SRCDIR='$(abs_top_srcdir)'; export TUTTI_TEST_SRCDIR; \
  TUTTI_TEST_BUILDDIR='$(abs_top_builddir)'; export TUTTI_TEST_BUILDDIR; \
  TUTTI_PROGRAM='$(abs_top_builddir)/tutti'; export TUTTI_PROGRAM;
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash
check_tests = $(unit_tests) $(conformance_tests) $(cli_tests) $(fault_tests) $(fault_scripts)
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

.PHONY: smallcheck bigcheck bench
smallcheck: all-am
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(unit_tests)'
bigcheck: all-am
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(check_tests) $(big_tests) $(big_scripts)'
bench: all-am $(check_LIBRARIES) $(benches)
