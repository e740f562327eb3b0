libtutti_engine_la_SOURCES += %D%/fit.c
libtutti_engine_la_SOURCES += %D%/fit_files.c
libtutti_engine_la_SOURCES += %D%/fit_impl.h
libtutti_engine_la_SOURCES += %D%/fit_picture.c
libtutti_engine_la_SOURCES += %D%/fit_splits.c
libtutti_engine_la_SOURCES += %D%/svg.c
libtutti_engine_la_SOURCES += %D%/svg.h
