# Mutation testing: small mistakes, made one at a time in copies of the sources, that tests have to notice (mutants.py).
# AREA=..., ONLY=... and SAMPLE=N choose, JOBS=... copies work side by side, FRESH=yes tries again what is known,
# UNTRIED=yes leaves out what was tried before its file changed.
EXTRA_DIST += %D%/mutants.py $(mutants_lists)
mutants_lists =
mutants_lists += %D%/spaces.txt
mutants_lists += %D%/plugins.txt
mutants_lists += %D%/engine-run.txt
mutants_lists += %D%/engine-rest.txt
mutants_lists += %D%/engine-report.txt
mutants_lists += %D%/engine-more.txt
mutants_lists += %D%/engine-evaluation.txt
mutants_lists += %D%/engine-data.txt
mutants_lists += %D%/core-plugin.txt
mutants_lists += %D%/backends.txt
mutants_lists += %D%/backends-stream.txt
mutants_lists += %D%/core-score.txt
mutants_lists += %D%/core-network.txt
mutants_lists += %D%/core-kit.txt
mutants_lists += %D%/core-domain.txt
mutants_lists += %D%/core-base.txt
mutants_run = python3 $(top_srcdir)/tests/mutants/mutants.py --source $(abs_top_srcdir) --build $(abs_top_builddir)
JOBS = 1
.PHONY: mutants lint-mutants test-environment test-helpers
mutants:
	$(mutants_run) --jobs $(JOBS) --area '$(AREA)' --only '$(ONLY)' $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(FRESH),--fresh) $(if $(UNTRIED),--untried)
# That the list fits the sources.
lint-mutants:
	$(mutants_run) --check
# What the tests find in their environment, and what the scripts among them need besides the program and its plugins.
test-environment:
	@$(AM_TESTS_ENVIRONMENT) env | grep -E '^(TUTTI_[A-Z_]*|OPENBLAS_NUM_THREADS|CC|CXX|[A-Z]*SAN_OPTIONS)='
test-helpers: $(check_LIBRARIES) $(check_LTLIBRARIES) $(test_helpers)
clean-local: clean-mutants
clean-mutants:
	rm -rf mutants
