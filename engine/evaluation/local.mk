libtutti_engine_la_SOURCES += %D%/combiner.c
libtutti_engine_la_SOURCES += %D%/diversity.c
libtutti_engine_la_SOURCES += %D%/evaluate.c
libtutti_engine_la_SOURCES += %D%/evaluate_classification.c
libtutti_engine_la_SOURCES += %D%/evaluate_impl.h
libtutti_engine_la_SOURCES += %D%/evaluate_ood.c
libtutti_engine_la_SOURCES += %D%/evaluate_regression.c
libtutti_engine_la_SOURCES += %D%/evaluation.c
