# libtutti-engine: what makes a run of libtutti's pieces. The program and embedders link it, plugins never do.
lib_LTLIBRARIES += libtutti-engine.la
libtutti_engine_la_LDFLAGS = -no-undefined $(TUTTI_ZDEFS) -version-info $(TUTTI_VERSION_INFO) $(link_libtutti)
libtutti_engine_la_LIBADD = $(LIBS_ENGINE_LIBS) $(LIBS_CORE_LIBS) $(CSV_LIBS)
libtutti_engine_la_SOURCES =
