/* cell_named.c - cells of NAS-Bench-201 that experiments train again, by their index in the benchmark.

   gdas, gdas-cifar100: what GDAS (Dong, Yang, "Searching for a robust neural architecture in four GPU hours", CVPR
   2019) finds in this space: the first on CIFAR-10 and on ImageNet-16-120, the second on CIFAR-100. optimal-*: the
   least validation loss after 200 epochs, mean of three seeds. Source of both: the indices in the program of Zaidi et
   al., "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift" (automl/nes, commit 08765e5), which trains
   its baselines DeepEns(GDAS) and DeepEns(Optimal) from them.
   best-*: the highest test accuracy after 200 epochs, as Dong, Yang, "NAS-Bench-201", ICLR 2020, give it: 94.37 % (of
   two cells with that accuracy the first), 73.51 % and 47.31 %. */
#include "cell_code.h"

const struct code_named code_named[CODE_NAMED] = {
    {"gdas", 3928},
    {"gdas-cifar100", 3203},
    {"optimal-cifar10", 14174},
    {"optimal-cifar100", 13934},
    {"optimal-imagenet16", 3621},
    {"best-cifar10", 6111},
    {"best-cifar100", 9930},
    {"best-imagenet16", 857},
};
