# A unit test is one line: unit_tests += %D%/unit/NAME (source NAME.c).
AM_TESTS_ENVIRONMENT = \
  TUTTI_PLUGIN_PATH='$(abs_builddir)/.libs'; export TUTTI_PLUGIN_PATH; \
  TUTTI_TEST_SRCDIR='$(abs_top_srcdir)'; export TUTTI_TEST_SRCDIR; \
  TUTTI_TEST_BUILDDIR='$(abs_top_builddir)'; export TUTTI_TEST_BUILDDIR; \
  TUTTI_PROGRAM='$(abs_top_builddir)/tutti'; export TUTTI_PROGRAM;
check_LIBRARIES += libgolden.a
libgolden_a_SOURCES = %D%/unit/golden.c %D%/unit/golden.h
EXTRA_DIST += %D%/golden/forward_select.json
EXTRA_DIST += %D%/golden/gaussian_nll.json
EXTRA_DIST += %D%/golden/metrics.json
LDADD = libgolden.a libtutti.la $(CMOCKA_LIBS) $(LIBS_CORE_LIBS)
unit_tests += %D%/unit/test_function
unit_tests += %D%/unit/test_metrics
unit_tests += %D%/unit/test_random

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
