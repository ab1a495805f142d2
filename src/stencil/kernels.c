/* SPDX-License-Identifier: BSD-3-Clause */
#include "stencil/kernels.h"

#include <stddef.h>

const stencil_kernels_t *stencil_kernels_number(bool is_single, int i)
{
    const stencil_kernels_t *tables[3] = {is_single ? &stencil_kernels_plain_single
                                                    : &stencil_kernels_plain};
    int n = 1;

#ifdef STENCIL_HAS_AVX
    if (__builtin_cpu_supports("avx2"))
        tables[n++] = is_single ? &stencil_kernels_avx2_single : &stencil_kernels_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        tables[n++] = is_single ? &stencil_kernels_avx512_single : &stencil_kernels_avx512;
#endif
    return i < n ? tables[i] : NULL;
}

const stencil_kernels_t *stencil_kernels_best(bool is_single)
{
    const stencil_kernels_t *best = NULL;

    for (int i = 0; stencil_kernels_number(is_single, i) != NULL; i++)
        best = stencil_kernels_number(is_single, i);
    return best;
}
