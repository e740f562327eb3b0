/* tutti.h - everything that an embedder, who links libtutti-engine, needs to include. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <tutti/ablation.h>
#include <tutti/catalogue.h>
#include <tutti/compare.h>
#include <tutti/data.h>
#include <tutti/diversity.h>
#include <tutti/export.h>
#include <tutti/hosting.h>
#include <tutti/kit.h>
#include <tutti/mixture.h>
#include <tutti/model.h>
#include <tutti/recipe.h>
#include <tutti/registry.h>
#include <tutti/report.h>
#include <tutti/run.h>
#include <tutti/safetensors.h>
#include <tutti/scan.h>

#endif
