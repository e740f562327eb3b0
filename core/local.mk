lib_LTLIBRARIES += libtutti.la
libtutti_la_CPPFLAGS = $(AM_CPPFLAGS) -DTUTTI_PLUGIN_FOLDER='"$(plugindir)"'
libtutti_la_LDFLAGS = -no-undefined $(TUTTI_ZDEFS) -version-info $(TUTTI_VERSION_INFO)
libtutti_la_LIBADD = $(LIBS_CORE_LIBS)
libtutti_la_SOURCES =
