# One plugin: its name, kind-name.la, and its sources; libraries beyond libtutti in its _LIBADD.
plugin_LTLIBRARIES += backend-function.la
backend_function_la_SOURCES = %D%/function.c
