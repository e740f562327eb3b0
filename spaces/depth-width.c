/* space depth-width: image networks of fixed cells; the search is over the number of cells and the channels. NES-RS
   (depth, width) of Zaidi et al., "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift", NeurIPS 2021,
   appendix. With one value each, it is a fixed network of published cells. A point space of two dimensions; a value
   that the recipe fixes is not a dimension. */
#include "cells/cells.h"

#include <stdio.h>

enum { VALUES_MOST = 256 };

struct space_depth_width_config {
  struct tutti_integers cells, channels;
  int cell;
  struct cell_macro macro;
};

static const struct tutti_param space_depth_width_params[] = {
    TUTTI_INTEGERS(struct space_depth_width_config, cells, "5 8 11", 1, 100, "Numbers of cells to choose from."),
    TUTTI_INTEGERS(struct space_depth_width_config, channels, "12 14 16 18 20", 2, 4096,
                   "Numbers of channels of the first cell's nodes to choose from; each reduction doubles them."),
    TUTTI_CHOICE(struct space_depth_width_config, cell, "darts-v2", cell_published_names,
                 "The published cells of which the networks are made."),
    CELL_MACRO_PARAMS(struct space_depth_width_config),
};

struct space_depth_width {
  const struct space_depth_width_config *config;
  tutti_domain *domain;
  size_t cells, channels; /* dimensions, or SIZE_MAX */
};

static void space_destroy_depth_width(void *self) {
  struct space_depth_width *space = self;
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

static enum tutti_status add_values_depth_width(tutti_context *context, tutti_domain *domain, const char *name,
                                                struct tutti_integers values, size_t *index) {
  char texts[VALUES_MOST][24];
  const char *choices[VALUES_MOST];
  *index = SIZE_MAX;
  if (values.count > VALUES_MOST)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] %s: expected at most %d numbers, found %zu", name,
                      VALUES_MOST, values.count);
  for (size_t i = 0; i < values.count; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "%lld", (long long)values.values[i]);
    choices[i] = texts[i];
  }
  struct tutti_dimension dimension = {.size = sizeof dimension,
                                      .name = name,
                                      .type = TUTTI_DIMENSION_CATEGORICAL,
                                      .choice_count = values.count,
                                      .choices = choices};
  if (values.count == 1)
    return TUTTI_OK;
  *index = tutti_domain_count(domain);
  return tutti_domain_add(context, domain, &dimension);
}

static enum tutti_status space_create_depth_width(tutti_context *context, const void *config_, const void *setup_,
                                                  void **self) {
  const struct space_depth_width_config *config = config_;
  const struct tutti_space_setup *setup = setup_;
  enum tutti_status status = TUTTI_OK;
  struct space_depth_width *space = NULL;
  TUTTI_TRY(context, cell_macro_check(context, &config->macro));
  TUTTI_TRY(context, block_need_image(context, setup->task));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  TUTTI_TRY_OUT(context, add_values_depth_width(context, space->domain, "cells", config->cells, &space->cells));
  TUTTI_TRY_OUT(context,
                add_values_depth_width(context, space->domain, "channels", config->channels, &space->channels));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_depth_width(space);
  return status;
}

static const tutti_domain *space_domain_depth_width(void *self) { return ((struct space_depth_width *)self)->domain; }

/* The value of a point in a dimension, or the only value. */
static int64_t value_depth_width(struct tutti_integers values, const double *point, size_t dimension) {
  return values.values[dimension == SIZE_MAX ? 0 : (size_t)point[dimension]];
}

static enum tutti_status space_decode_depth_width(void *self, tutti_context *context, const tutti_genotype *genotype,
                                                  const struct tutti_task *task, tutti_network **network) {
  const struct space_depth_width *space = self;
  const struct space_depth_width_config *config = space->config;
  const double *point = tutti_genotype_point(genotype);
  return cell_network(context, &config->macro, &cell_published[config->cell],
                      value_depth_width(config->cells, point, space->cells),
                      value_depth_width(config->channels, point, space->channels), task, network);
}

static const struct tutti_space_ops space_depth_width_ops = {
    .size = sizeof space_depth_width_ops,
    .decode = space_decode_depth_width,
    .domain = space_domain_depth_width,
};

static const struct tutti_descriptor space_depth_width_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "depth-width"),
    .version = "1.0",
    .summary = "image networks of published cells, whose number and channels are searched",
    .source = "Zaidi et al., Neural Ensemble Search for Uncertainty Estimation and Dataset Shift, NeurIPS 2021, "
              "NES-RS (depth, width)",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_depth_width_params, struct space_depth_width_config),
    .create = space_create_depth_width,
    .destroy = space_destroy_depth_width,
    .ops = &space_depth_width_ops,
};

TUTTI_PLUGIN(space_depth_width_descriptor)
