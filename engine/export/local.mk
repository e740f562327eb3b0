# The messages of ONNX are made from its own onnx.proto; generated code is not ours to warn of.
if HAVE_ONNX
libtutti_engine_la_SOURCES += %D%/folder.c
libtutti_engine_la_SOURCES += %D%/onnx.c
libtutti_engine_la_SOURCES += %D%/onnx_ensemble.c
libtutti_engine_la_SOURCES += %D%/onnx_calibrated.c
libtutti_engine_la_SOURCES += %D%/onnx_formula.c
libtutti_engine_la_SOURCES += %D%/onnx_graph.c
libtutti_engine_la_SOURCES += %D%/onnx_member.c
libtutti_engine_la_SOURCES += %D%/onnx_graph.h
libtutti_engine_la_SOURCES += %D%/onnx_impl.h
libtutti_engine_la_SOURCES += %D%/onnx_network.c
libtutti_engine_la_SOURCES += %D%/onnx_quantile.c
libtutti_engine_la_SOURCES += %D%/onnx_rows.c
noinst_LTLIBRARIES += libonnxmessages.la
libonnxmessages_la_SOURCES =
nodist_libonnxmessages_la_SOURCES = %D%/onnx.pb-c.c %D%/onnx.pb-c.h
libonnxmessages_la_CFLAGS = $(AM_CFLAGS) -w
libonnxmessages_la_LDFLAGS =
onnx_messages = libonnxmessages.la $(PROTOBUF_C_LIBS)
libtutti_engine_la_LIBADD += $(onnx_messages)
BUILT_SOURCES += %D%/onnx.pb-c.h
CLEANFILES += %D%/onnx.pb-c.c %D%/onnx.pb-c.h
%D%/onnx.pb-c.c: $(ONNX_PROTO)
	$(AM_V_GEN)$(MKDIR_P) %D% && $(PROTOC_C) --proto_path="$$(dirname $(ONNX_PROTO))" --c_out=%D% $(ONNX_PROTO)
%D%/onnx.pb-c.h: %D%/onnx.pb-c.c
	@test -f $@
EXTRA_DIST += %D%/without.c
else
onnx_messages =
libtutti_engine_la_SOURCES += %D%/without.c
endif
