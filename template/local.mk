# A complete plugin package of a third party, installed to be copied; built by its README by tests/cli/template.sh.
templatedir = $(pkgdatadir)
nobase_dist_template_DATA =
nobase_dist_template_DATA += %D%/Makefile.am
nobase_dist_template_DATA += %D%/README.md
nobase_dist_template_DATA += %D%/bayes.ini
nobase_dist_template_DATA += %D%/climb.ini
nobase_dist_template_DATA += %D%/configure.ac
nobase_dist_template_DATA += %D%/src/acquisition-patient.cpp
nobase_dist_template_DATA += %D%/src/builder-hill-climb.c
nobase_dist_template_DATA += %D%/src/builder-restless.c
nobase_dist_template_DATA += %D%/src/selector-better-half.c
nobase_dist_template_DATA += %D%/src/space-pyramid.c
nobase_dist_template_DATA += %D%/src/surrogate-nearest.c
templatem4dir = $(pkgdatadir)/template/m4
dist_templatem4_DATA = m4/tutti.m4
