libtutti_engine_la_SOURCES += %D%/recipe.c
libtutti_engine_la_SOURCES += %D%/recipe_check.c
libtutti_engine_la_SOURCES += %D%/recipe_hyperparameters.c
libtutti_engine_la_SOURCES += %D%/recipe_impl.h
libtutti_engine_la_SOURCES += %D%/recipe_parse.c
libtutti_engine_la_SOURCES += %D%/recipe_print.c
libtutti_engine_la_SOURCES += %D%/recipe_visit.c
libtutti_engine_la_SOURCES += %D%/run_params.c
