# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
plugin_LTLIBRARIES += space-dense-skip.la
space_dense_skip_la_SOURCES = %D%/dense-skip.c
plugin_LTLIBRARIES += space-fixed.la
space_fixed_la_SOURCES = %D%/fixed.c
plugin_LTLIBRARIES += space-mlp.la
space_mlp_la_SOURCES = %D%/mlp.c
