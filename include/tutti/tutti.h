/* tutti.h - all that an embedder includes. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <tutti/assembly.h>
#include <tutti/data.h>
#include <tutti/plugin.h>
#include <tutti/recipe.h>
#include <tutti/registry.h>

#endif
