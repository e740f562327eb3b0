# Pictures: charts by gnuplot, graphs by graphviz, texts for XML.
libtutti_engine_la_SOURCES += %D%/graph.c
libtutti_engine_la_SOURCES += %D%/graph.h
libtutti_engine_la_SOURCES += %D%/picture.c
libtutti_engine_la_SOURCES += %D%/picture.h
libtutti_engine_la_SOURCES += %D%/plot.c
libtutti_engine_la_SOURCES += %D%/plot.h
libtutti_engine_la_SOURCES += %D%/table.c
libtutti_engine_la_SOURCES += %D%/table.h
libtutti_engine_la_SOURCES += %D%/thin.h
libtutti_engine_la_SOURCES += %D%/tool.c
libtutti_engine_la_SOURCES += %D%/tool.h
libtutti_engine_la_SOURCES += %D%/xml.c
libtutti_engine_la_SOURCES += %D%/xml.h
