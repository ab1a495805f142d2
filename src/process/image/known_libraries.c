/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that all processes share: the one table of exceptions to "a library is private". A name
 * is the beginning of the file's name. BLAS and LAPACK are not here: OpenBLAS has a number of
 * threads that a process can set, and the program may define xerbla_ for all of them.
 */
#include <string.h>

#include "process/image/collect.h"
#include "process/ops/ops.h"

static const char c_library[] = "the C library; its state is made private by other means";
static const char cxx_runtime[] = "a runtime of the compiler; exceptions cross libraries";
static const char openmp[] = "an OpenMP runtime; its teams and locks belong to a rank";
static const char sanitizer[] = "a sanitizer; it checks the whole process";
static const char gpu[] = "a GPU driver or runtime; a process has one set of contexts";
static const char network[] = "a network driver; a process has one set of registrations";
static const char allocator[] = "an allocator; all ranks share one heap";
static const char topology[] = "it describes the machine, the same for all ranks";

static const process_known_t known[] = {
    {"ld-linux", c_library, PROCESS_KNOWN_BASE},
    {"libc.so.", c_library, PROCESS_KNOWN_BASE},
    {"libm.so.", c_library, PROCESS_KNOWN_BASE},
    {"libpthread.so.", c_library, PROCESS_KNOWN_BASE},
    {"libdl.so.", c_library, PROCESS_KNOWN_BASE},
    {"librt.so.", c_library, PROCESS_KNOWN_BASE},
    {"libresolv.so.", c_library, PROCESS_KNOWN_RUNTIME},
    {"libutil.so.", c_library, PROCESS_KNOWN_RUNTIME},
    {"libanl.so.", c_library, PROCESS_KNOWN_RUNTIME},
    {"libmvec.so.", c_library, PROCESS_KNOWN_RUNTIME},
    {"libnss_", c_library, PROCESS_KNOWN_RUNTIME},
    {"libthread_db.so.", c_library, PROCESS_KNOWN_RUNTIME},
    {"libgcc_s.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libstdc++.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libc++.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libc++abi.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libunwind.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libatomic.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libquadmath.so.", cxx_runtime, PROCESS_KNOWN_RUNTIME},
    {"libgomp.so.", openmp, PROCESS_KNOWN_RUNTIME},
    {"libomp.so", openmp, PROCESS_KNOWN_RUNTIME},
    {"libomp-", openmp, PROCESS_KNOWN_RUNTIME},
    {"libiomp5.so", openmp, PROCESS_KNOWN_RUNTIME},
    {"libasan.so.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"libhwasan.so.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"liblsan.so.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"libtsan.so.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"libubsan.so.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"libclang_rt.", sanitizer, PROCESS_KNOWN_RUNTIME},
    {"libcuda.so", gpu, PROCESS_KNOWN_SHARED},
    {"libcudart.so", gpu, PROCESS_KNOWN_SHARED},
    {"libcublas", gpu, PROCESS_KNOWN_SHARED},
    {"libcudnn", gpu, PROCESS_KNOWN_SHARED},
    {"libcufft", gpu, PROCESS_KNOWN_SHARED},
    {"libcupti.so", gpu, PROCESS_KNOWN_SHARED},
    {"libcurand.so", gpu, PROCESS_KNOWN_SHARED},
    {"libcusolver", gpu, PROCESS_KNOWN_SHARED},
    {"libcusparse", gpu, PROCESS_KNOWN_SHARED},
    {"libnccl.so", gpu, PROCESS_KNOWN_SHARED},
    {"libnvidia-", gpu, PROCESS_KNOWN_SHARED},
    {"libnvJitLink.so", gpu, PROCESS_KNOWN_SHARED},
    {"libnvrtc", gpu, PROCESS_KNOWN_SHARED},
    {"libamdhip64.so", gpu, PROCESS_KNOWN_SHARED},
    {"libhsa-runtime64.so", gpu, PROCESS_KNOWN_SHARED},
    {"librocm_smi64.so", gpu, PROCESS_KNOWN_SHARED},
    {"libze_", gpu, PROCESS_KNOWN_SHARED},
    {"libsycl.so", gpu, PROCESS_KNOWN_SHARED},
    {"libOpenCL.so", gpu, PROCESS_KNOWN_SHARED},
    {"libpocl", gpu, PROCESS_KNOWN_SHARED},
    {"libigdrcl.so", gpu, PROCESS_KNOWN_SHARED},
    {"libLLVM", gpu, PROCESS_KNOWN_SHARED},
    {"libclang-cpp.so", gpu, PROCESS_KNOWN_SHARED},
    {"libibverbs.so", network, PROCESS_KNOWN_SHARED},
    {"librdmacm.so", network, PROCESS_KNOWN_SHARED},
    {"libmlx4.so", network, PROCESS_KNOWN_SHARED},
    {"libmlx5.so", network, PROCESS_KNOWN_SHARED},
    {"libefa.so", network, PROCESS_KNOWN_SHARED},
    {"libfabric.so", network, PROCESS_KNOWN_SHARED},
    {"libucp.so", network, PROCESS_KNOWN_SHARED},
    {"libuct.so", network, PROCESS_KNOWN_SHARED},
    {"libucs.so", network, PROCESS_KNOWN_SHARED},
    {"libucm.so", network, PROCESS_KNOWN_SHARED},
    {"libpsm", network, PROCESS_KNOWN_SHARED},
    {"libportals.so", network, PROCESS_KNOWN_SHARED},
    {"libjemalloc.so", allocator, PROCESS_KNOWN_SHARED},
    {"libmimalloc.so", allocator, PROCESS_KNOWN_SHARED},
    {"libtbbmalloc", allocator, PROCESS_KNOWN_SHARED},
    {"libtcmalloc", allocator, PROCESS_KNOWN_SHARED},
    {"libmemkind.so", allocator, PROCESS_KNOWN_SHARED},
    {"libhwloc.so", topology, PROCESS_KNOWN_SHARED},
    {"libnuma.so", topology, PROCESS_KNOWN_SHARED},
    {"libpciaccess.so", topology, PROCESS_KNOWN_SHARED},
    {"libudev.so", topology, PROCESS_KNOWN_SHARED},
};

bool process_library_is_own(const char *name)
{
    const char *own = process_runtime.library;

    return own != NULL && strncmp(name, own, strlen(own)) == 0;
}

const process_known_t *process_library_known(const char *name)
{
    static process_known_t own = {.kind = PROCESS_KNOWN_BASE};

    if (process_library_is_own(name)) {
        own.name = process_runtime.library;
        own.reason = process_runtime.library_reason;
        return &own;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
            return &known[i];
    return NULL;
}

static bool is_kind(const char *name, process_known_kind_t least)
{
    const process_known_t *found = process_library_known(name);

    return found != NULL && found->kind >= least;
}

bool process_library_is_base(const char *name)
{
    return is_kind(name, PROCESS_KNOWN_BASE);
}

bool process_library_is_runtime(const char *name)
{
    return is_kind(name, PROCESS_KNOWN_RUNTIME);
}

bool process_library_is_fortran(const char *name)
{
    return strncmp(basename(name), "libgfortran.so.", 15) == 0;
}
