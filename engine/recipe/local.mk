libtutti_la_SOURCES += %D%/recipe.c
libtutti_la_SOURCES += %D%/recipe_check.c
libtutti_la_SOURCES += %D%/recipe_hyperparameters.c
libtutti_la_SOURCES += %D%/recipe_impl.h
libtutti_la_SOURCES += %D%/recipe_parse.c
libtutti_la_SOURCES += %D%/recipe_print.c
libtutti_la_SOURCES += %D%/recipe_visit.c
libtutti_la_SOURCES += %D%/run_params.c
