# libtutti: what a plugin may rest on. Which of its functions came with which version of the interface: libtutti.symbols.
lib_LTLIBRARIES += libtutti.la
libtutti_la_LDFLAGS = -no-undefined $(TUTTI_ZDEFS) -version-info $(TUTTI_VERSION_INFO) -Wl,--version-script=%D%/libtutti.map
EXTRA_libtutti_la_DEPENDENCIES = %D%/libtutti.map
libtutti_la_LIBADD = $(LIBS_CORE_LIBS)
libtutti_la_SOURCES =
EXTRA_DIST += %D%/libtutti.symbols
CLEANFILES += %D%/libtutti.map
%D%/libtutti.map: %D%/libtutti.symbols build-aux/symbol-map
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SHELL) $(top_srcdir)/build-aux/symbol-map $(top_srcdir)/%D%/libtutti.symbols TUTTI TUTTI_PRIVATE >$@
