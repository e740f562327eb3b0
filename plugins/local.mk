# A plugin is two lines: its module, KIND-NAME.la, and its sources. Libraries beyond libtutti go to its _LIBADD.
plugin_LTLIBRARIES += executor-local.la
executor_local_la_SOURCES = %D%/executor/local.c
plugin_LTLIBRARIES += selector-all.la
selector_all_la_SOURCES = %D%/selector/all.c
plugin_LTLIBRARIES += selector-forward.la
selector_forward_la_SOURCES = %D%/selector/forward.c %D%/selector/greedy_impl.h
plugin_LTLIBRARIES += selector-top-m.la
selector_top_m_la_SOURCES = %D%/selector/top-m.c
