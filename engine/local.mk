# libtutti-engine: what makes a run of libtutti's pieces. The program and embedders link it, plugins never do.
lib_LTLIBRARIES += libtutti-engine.la
libtutti_engine_la_LDFLAGS = -no-undefined $(TUTTI_ZDEFS) -version-info $(TUTTI_VERSION_INFO) $(link_libtutti) $(run_path_of_libraries) \
  -Wl,--version-script=%D%/libtutti-engine.map
EXTRA_libtutti_engine_la_DEPENDENCIES = %D%/libtutti-engine.map
libtutti_engine_la_CPPFLAGS = $(AM_CPPFLAGS) -DTUTTI_RECIPE_FOLDER='"$(recipedir)"' \
  -DTUTTI_PLUGIN_FOLDER='"$(plugindir)"' -DTUTTI_PLUGINS_BESIDE='"$(plugindir:$(libdir)/%=%)"'
libtutti_engine_la_LIBADD = $(LIBS_ENGINE_LIBS) $(LIBS_CORE_LIBS)
libtutti_engine_la_SOURCES =
EXTRA_DIST += %D%/libtutti-engine.symbols
CLEANFILES += %D%/libtutti-engine.map
%D%/libtutti-engine.map: %D%/libtutti-engine.symbols build-aux/symbol-map
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SHELL) $(top_srcdir)/build-aux/symbol-map $(top_srcdir)/%D%/libtutti-engine.symbols TUTTI_ENGINE TUTTI_ENGINE_PRIVATE >$@
