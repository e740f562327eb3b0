# A complete plugin package of a third party; built against an installed tutti by tests/cli/template.sh.
EXTRA_DIST += %D%/Makefile.am
EXTRA_DIST += %D%/README.md
EXTRA_DIST += %D%/configure.ac
EXTRA_DIST += %D%/src/builder-hill-climb.c
EXTRA_DIST += %D%/src/selector-better-half.c
EXTRA_DIST += %D%/src/space-pyramid.c
EXTRA_DIST += %D%/template.ini
