/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that kernels are written with, and what compilers answer. */
#include <string.h>

#include "gpu/gpu_internal.h"

/* Both: XY_KERNEL name(...), XY_GLOBAL for pointers to device memory, XY_SHARED for memory of a
 * group, XY_ID(d), XY_LOCAL_ID(d), XY_GROUP_SIZE(d), XY_BARRIER, XY_INLINE for functions, XY_BEGIN
 * (xy_gpu_kernel_chain). `long` has 64 bits. */
const char gpu_words_cuda[] =
    "#define XY_CUDA 1\n"
    "#define XY_KERNEL extern \"C\" __global__ void\n"
    "#define XY_INLINE static __device__ __forceinline__\n"
    "#define XY_GLOBAL\n"
    "#define XY_RESTRICT __restrict__\n"
    "#define XY_SHARED __shared__\n"
    "#define XY_BARRIER __syncthreads()\n"
    "#define XY_0(v) v.x\n#define XY_1(v) v.y\n#define XY_2(v) v.z\n"
    "#define XY_ID(d) ((long)XY_##d(blockIdx) * XY_##d(blockDim) + XY_##d(threadIdx))\n"
    "#define XY_LOCAL_ID(d) ((long)XY_##d(threadIdx))\n"
    "#define XY_GROUP_SIZE(d) ((long)XY_##d(blockDim))\n"
    "#if __CUDA_ARCH__ >= 900\n"
    "#define XY_BEGIN asm volatile(\"griddepcontrol.launch_dependents; griddepcontrol.wait;\" \\\n"
    "                              ::: \"memory\")\n"
    "#else\n#define XY_BEGIN\n#endif\n";

const char gpu_words_opencl[] =
    "#define XY_OPENCL 1\n"
    "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define XY_KERNEL __kernel void\n"
    "#define XY_INLINE static inline\n"
    "#define XY_GLOBAL __global\n"
    "#define XY_RESTRICT restrict\n"
    "#define XY_SHARED __local\n"
    "#define XY_BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#define XY_ID(d) ((long)get_global_id(d))\n"
    "#define XY_LOCAL_ID(d) ((long)get_local_id(d))\n"
    "#define XY_GROUP_SIZE(d) ((long)get_local_size(d))\n"
    "#define XY_BEGIN\n";

char *gpu_text_make(const char *words, const char *name, const char *text)
{
    return xy_sprintf("%s#line 1 \"%s\"\n%s", words, name, text);
}

/* The beginning of the line that holds the first error, or of the first line. */
static const char *find_error(const char *log)
{
    const char *at = strstr(log, "error");

    if (at == NULL)
        return log + strspn(log, "\r\n\t ");
    while (at > log && at[-1] != '\n')
        at--;
    return at;
}

xy_status_t gpu_text_fail(const xy_gpu_device_t *gpu, const char *name, const char *log)
{
    const char *line = find_error(log);

    if (*line == '\0')
        return xy_fail(XY_EPARSE, "%s: the compiler of %s refused it and gave no reason", name,
                       gpu->info.name);
    return xy_fail(XY_EPARSE, "%s does not compile for %s: %.*s", name, gpu->info.name,
                   (int)strcspn(line, "\r\n"), line);
}
