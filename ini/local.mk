recipedir = $(pkgdatadir)/ini
dist_recipe_DATA =
