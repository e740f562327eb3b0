# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
plugin_LTLIBRARIES += space-dense-skip.la
space_dense_skip_la_SOURCES = %D%/dense-skip.c
plugin_LTLIBRARIES += space-fixed.la
space_fixed_la_SOURCES = %D%/fixed.c
plugin_LTLIBRARIES += space-mlp.la
space_mlp_la_SOURCES = %D%/mlp.c
# How layers and cells of convolutional networks are built and written, for the spaces that are made of them.
noinst_LTLIBRARIES += libcells.la
libcells_la_LDFLAGS =
libcells_la_SOURCES =
libcells_la_SOURCES += %D%/cells/blocks.c
libcells_la_SOURCES += %D%/cells/blocks.h
libcells_la_SOURCES += %D%/cells/cell_code.c
libcells_la_SOURCES += %D%/cells/cell_code.h
libcells_la_SOURCES += %D%/cells/cells.c
libcells_la_SOURCES += %D%/cells/cells.h
libcells_la_SOURCES += %D%/cells/cells_text.c
libcells_la_SOURCES += %D%/cells/published.c
plugin_LTLIBRARIES += space-darts.la
space_darts_la_SOURCES = %D%/darts.c
space_darts_la_LIBADD = libcells.la $(LIBS_CORE_LIBS)
plugin_LTLIBRARIES += space-depth-width.la
space_depth_width_la_SOURCES = %D%/depth-width.c
space_depth_width_la_LIBADD = libcells.la $(LIBS_CORE_LIBS)
plugin_LTLIBRARIES += space-nasbench201.la
space_nasbench201_la_SOURCES = %D%/nasbench201.c
space_nasbench201_la_LIBADD = libcells.la $(LIBS_CORE_LIBS)
