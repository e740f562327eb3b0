/* split_names.h - the names of the splits, which recipes, files and metrics are named after. */
#ifndef TUTTI_SPLIT_NAMES_H
#define TUTTI_SPLIT_NAMES_H

#define TUTTI_SPLIT_TRAIN "train"
#define TUTTI_SPLIT_VALIDATION "validation"
#define TUTTI_SPLIT_TEST "test"
#define TUTTI_SPLIT_CALIBRATION "calibration"

#endif
