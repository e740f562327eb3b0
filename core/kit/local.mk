libtutti_la_SOURCES += %D%/bayesian.c
libtutti_la_SOURCES += %D%/candidate_set.c
libtutti_la_SOURCES += %D%/design.c
libtutti_la_SOURCES += %D%/evolution.c
libtutti_la_SOURCES += %D%/growth.c
libtutti_la_SOURCES += %D%/members.c
libtutti_la_SOURCES += %D%/population.c
libtutti_la_SOURCES += %D%/propose.c
