libtutti_engine_la_SOURCES += %D%/csv.c
libtutti_engine_la_SOURCES += %D%/generators.c
libtutti_engine_la_SOURCES += %D%/images_cifar.c
libtutti_engine_la_SOURCES += %D%/images_idx.c
libtutti_engine_la_SOURCES += %D%/images_npy.c
libtutti_engine_la_SOURCES += %D%/npy_table.c
libtutti_engine_la_SOURCES += %D%/test_functions.c
