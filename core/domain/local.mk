libtutti_la_SOURCES += %D%/domain.c
libtutti_la_SOURCES += %D%/domain_distance.c
libtutti_la_SOURCES += %D%/domain_impl.h
libtutti_la_SOURCES += %D%/domain_points.c
libtutti_la_SOURCES += %D%/domain_text.c
libtutti_la_SOURCES += %D%/domain_vectors.c
libtutti_la_SOURCES += %D%/sobol.c
libtutti_la_SOURCES += %D%/sobol_directions.h
