libtutti_engine_la_SOURCES += %D%/scan.c
libtutti_engine_la_SOURCES += %D%/scan_impl.h
libtutti_engine_la_SOURCES += %D%/source_find.c
