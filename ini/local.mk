recipedir = $(pkgdatadir)/ini
dist_recipe_DATA =
dist_recipe_DATA += %D%/bo-branin.ini
dist_recipe_DATA += %D%/csv-classification.ini
dist_recipe_DATA += %D%/csv-regression.ini
dist_recipe_DATA += %D%/quickstart.ini
