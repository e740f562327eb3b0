/* table.c - the kernels of one instruction set. */
#include "level_impl.h"

CPU_LEVEL_BEGIN
#include "activation_impl.h"
#include "bfloat_impl.h"
#include "channel_impl.h"
#include "depthwise_impl.h"
#include "elementwise_impl.h"
#include "gemm_few_impl.h"
#include "gemm_impl.h"
#include "gemm_large_impl.h"
#include "heads_impl.h"
#include "mask_impl.h"
#include "window_impl.h"
CPU_LEVEL_END

#define CPU_RULE(id, name) extern const struct cpu_rule CPU_OF_LEVEL(backend_cpu_rule_##name);
CPU_OPTIMISER_LIST(CPU_RULE)
#undef CPU_RULE

const struct cpu_kernels CPU_OF_LEVEL(backend_cpu_kernels) = {
    .gemm = gemm,
    .gemm_large = gemm_large,
    .gemm_few = gemm_few,
    .gemm_bfloat = gemm_bfloat,
    .transpose = transpose,
    .column_sums = column_sums,
    .gather = gather,
    .add = add,
    .scale = scale,
    .multiply = multiply,
    .sum_squares = sum_squares,
    .axpy = axpy,
    .gaussian = gaussian,
    .variance = variance,
    .softmax = softmax,
    .exponential = exponential,
    .mask = mask,
    .pad = pad,
    .crop = crop,
    .depthwise = depthwise,
    .depthwise_weights = depthwise_weights,
    .patches = patches,
    .unpatch = unpatch,
    .max_pool = max_pool,
    .max_pool_gradient = max_pool_gradient,
    .average = average,
    .affine = affine,
    .moments = moments,
    .place = place,
    .norm_moments = norm_moments,
    .norm_gradient = norm_gradient,
    .narrow = narrow,
    .activate = {[TUTTI_ACTIVATION_LINEAR] = activate_linear,
                 [TUTTI_ACTIVATION_ELU] = activate_elu,
                 [TUTTI_ACTIVATION_GELU] = activate_gelu,
                 [TUTTI_ACTIVATION_HARD_SIGMOID] = activate_hard_sigmoid,
                 [TUTTI_ACTIVATION_RELU] = activate_relu,
                 [TUTTI_ACTIVATION_SELU] = activate_selu,
                 [TUTTI_ACTIVATION_SIGMOID] = activate_sigmoid,
                 [TUTTI_ACTIVATION_SOFTPLUS] = activate_softplus,
                 [TUTTI_ACTIVATION_SOFTSIGN] = activate_softsign,
                 [TUTTI_ACTIVATION_SWISH] = activate_swish,
                 [TUTTI_ACTIVATION_TANH] = activate_tanh,
                 [TUTTI_ACTIVATION_LEAKY_RELU] = activate_leaky_relu},
    .derive = {[TUTTI_ACTIVATION_LINEAR] = derive_linear,
               [TUTTI_ACTIVATION_ELU] = derive_elu,
               [TUTTI_ACTIVATION_GELU] = derive_from_slope,
               [TUTTI_ACTIVATION_HARD_SIGMOID] = derive_hard_sigmoid,
               [TUTTI_ACTIVATION_RELU] = derive_relu,
               [TUTTI_ACTIVATION_SELU] = derive_selu,
               [TUTTI_ACTIVATION_SIGMOID] = derive_sigmoid,
               [TUTTI_ACTIVATION_SOFTPLUS] = derive_softplus,
               [TUTTI_ACTIVATION_SOFTSIGN] = derive_softsign,
               [TUTTI_ACTIVATION_SWISH] = derive_from_slope,
               [TUTTI_ACTIVATION_TANH] = derive_tanh,
               [TUTTI_ACTIVATION_LEAKY_RELU] = derive_leaky_relu},
#define CPU_RULE(id, name) [CPU_##id] = &CPU_OF_LEVEL(backend_cpu_rule_##name),
    .rules = {CPU_OPTIMISER_LIST(CPU_RULE)},
#undef CPU_RULE
};
