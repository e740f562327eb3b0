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
libgolden_a_SOURCES = %D%/unit/golden.c %D%/unit/golden.h %D%/unit/pools.c %D%/unit/pools.h %D%/unit/space_fixture.h %D%/unit/recipe_fixture.h
EXTRA_DIST += %D%/bench/select_numpy.py
EXTRA_DIST += %D%/cli/harness.sh
EXTRA_DIST += %D%/cli/recipes.sh
EXTRA_DIST += %D%/golden/ei_values.json
EXTRA_DIST += %D%/golden/forward_select.json
EXTRA_DIST += %D%/golden/gaussian_nll.json
EXTRA_DIST += %D%/golden/gp_matern52.json
EXTRA_DIST += %D%/golden/metrics.json
EXTRA_DIST += %D%/golden/nomu_functions.json
EXTRA_DIST += %D%/golden/nomu_loss.json
EXTRA_DIST += %D%/golden/sobol.json

check_PROGRAMS += %D%/cli/json-value
tests_cli_json_value_LDADD = $(LIBS_CORE_LIBS)
EXTRA_DIST += %D%/cli/harness.sh
EXTRA_DIST += %D%/cli/recipes.sh
cli_tests += %D%/cli/headers.sh
cli_tests += %D%/cli/install.sh
cli_tests += %D%/conformance/conform.sh

unit_tests += %D%/unit/test_closest_name
unit_tests += %D%/unit/test_cpu_kernels
tests_unit_test_cpu_kernels_LDADD = libbackendcpu.la $(LDADD)
unit_tests += %D%/unit/test_cpu_network
tests_unit_test_cpu_network_SOURCES = %D%/unit/test_cpu_network.c %D%/unit/cpu_reference.c %D%/unit/cpu_reference.h
tests_unit_test_cpu_network_LDADD = libbackendcpu.la $(LDADD)
unit_tests += %D%/unit/test_ensemble_loss
unit_tests += %D%/unit/test_bo
tests_unit_test_bo_SOURCES = %D%/unit/test_bo.c %D%/unit/toy.c %D%/unit/toy.h
unit_tests += %D%/unit/test_ei
unit_tests += %D%/unit/test_cpu_optimiser
tests_unit_test_cpu_optimiser_LDADD = libbackendcpu.la $(LDADD)
unit_tests += %D%/unit/test_cpu_train
tests_unit_test_cpu_train_LDADD = libbackendcpu.la $(LDADD)
unit_tests += %D%/unit/test_domain
unit_tests += %D%/unit/test_evaluate
unit_tests += %D%/unit/test_file
unit_tests += %D%/unit/test_function
unit_tests += %D%/unit/test_gp
tests_unit_test_gp_SOURCES = %D%/unit/test_gp.c plugins/surrogate/gp/gp_factor.c
tests_unit_test_gp_SOURCES += plugins/surrogate/gp/gp_likelihood.c plugins/surrogate/gp/gp_posterior.c
tests_unit_test_gp_LDADD = $(LDADD) $(NLOPT_LIBS) $(LAPACKE_LIBS) $(BLAS_LIBS)
unit_tests += %D%/unit/test_lcb
unit_tests += %D%/unit/test_maximisers
tests_unit_test_maximisers_SOURCES = %D%/unit/test_maximisers.c %D%/unit/toy.c %D%/unit/toy.h
unit_tests += %D%/unit/test_metrics
unit_tests += %D%/unit/test_nes_rs
tests_unit_test_nes_rs_SOURCES = %D%/unit/test_nes_rs.c %D%/unit/toy.c %D%/unit/toy.h
unit_tests += %D%/unit/test_network
unit_tests += %D%/unit/test_npy
unit_tests += %D%/unit/test_param
unit_tests += %D%/unit/test_propose
tests_unit_test_propose_SOURCES = %D%/unit/test_propose.c %D%/unit/toy.c %D%/unit/toy.h
unit_tests += %D%/unit/test_random
unit_tests += %D%/unit/test_selectors
unit_tests += %D%/unit/test_recipe
unit_tests += %D%/unit/test_recipe_errors
unit_tests += %D%/unit/test_sobol
unit_tests += %D%/unit/test_space_fixed
unit_tests += %D%/unit/test_space_mlp
unit_tests += %D%/unit/test_tensors
unit_tests += %D%/unit/test_text

cli_tests += %D%/cli/headers.sh
cli_tests += %D%/cli/install.sh
cli_tests += %D%/cli/template.sh
cli_tests += %D%/cli/lists.sh

benches += %D%/bench/select

# A selector that is broken as the name of its file says, and a module that is no plugin.
check_LTLIBRARIES += %D%/faults/broken.la %D%/faults/no_symbol.la
tests_faults_broken_la_SOURCES = %D%/faults/broken.c
tests_faults_broken_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere
tests_faults_no_symbol_la_SOURCES = %D%/faults/no_symbol.c
tests_faults_no_symbol_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
fault_tests += %D%/faults/test_broken_plugins
EXTRA_DIST += %D%/bench/select_numpy.py
fault_tests += %D%/faults/kills
fault_scripts += %D%/faults/full-disk.sh
fault_scripts += %D%/faults/torn-files.sh
unit_tests += %D%/unit/test_catalogue
unit_tests += %D%/unit/test_protocol
benches += %D%/bench/train-mlp
tests_bench_train_mlp_LDADD = libbackendcpu.la $(LDADD)
EXTRA_DIST += %D%/bench/train_mlp_torch.py
