# A plugin is two lines: its module, KIND-NAME.la, and its sources. Libraries beyond libtutti go to its _LIBADD.
plugin_LTLIBRARIES += executor-local.la
executor_local_la_SOURCES = %D%/executor/local.c
