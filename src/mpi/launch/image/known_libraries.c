/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that all ranks share: the one table of exceptions to "a library is private". A name is
 * the beginning of the file's name. BLAS and LAPACK are not here: OpenBLAS has a number of threads
 * that a rank can set, and the program may define xerbla_ for all of them.
 */
#include <string.h>

#include "mpi/launch/image/collect.h"
#include "mpi/launch/image/runtime_ops.h"

static const char c_library[] = "the C library; its state is made private by other means";
static const char cxx_runtime[] = "a runtime of the compiler; exceptions cross libraries";
static const char openmp[] = "an OpenMP runtime; its teams and locks belong to a rank";
static const char sanitizer[] = "a sanitizer; it checks the whole process";
static const char gpu[] = "a GPU driver or runtime; a process has one set of contexts";
static const char network[] = "a network driver; a process has one set of registrations";
static const char allocator[] = "an allocator; all ranks share one heap";
static const char topology[] = "it describes the machine, the same for all ranks";

static const mpi_known_t known[] = {
    {"ld-linux", c_library, XMPI_KNOWN_BASE},
    {"libc.so.", c_library, XMPI_KNOWN_BASE},
    {"libm.so.", c_library, XMPI_KNOWN_BASE},
    {"libpthread.so.", c_library, XMPI_KNOWN_BASE},
    {"libdl.so.", c_library, XMPI_KNOWN_BASE},
    {"librt.so.", c_library, XMPI_KNOWN_BASE},
    {"libresolv.so.", c_library, XMPI_KNOWN_RUNTIME},
    {"libutil.so.", c_library, XMPI_KNOWN_RUNTIME},
    {"libanl.so.", c_library, XMPI_KNOWN_RUNTIME},
    {"libmvec.so.", c_library, XMPI_KNOWN_RUNTIME},
    {"libnss_", c_library, XMPI_KNOWN_RUNTIME},
    {"libthread_db.so.", c_library, XMPI_KNOWN_RUNTIME},
    {"libgcc_s.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libstdc++.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libc++.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libc++abi.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libunwind.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libatomic.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libquadmath.so.", cxx_runtime, XMPI_KNOWN_RUNTIME},
    {"libgomp.so.", openmp, XMPI_KNOWN_RUNTIME},
    {"libomp.so", openmp, XMPI_KNOWN_RUNTIME},
    {"libomp-", openmp, XMPI_KNOWN_RUNTIME},
    {"libiomp5.so", openmp, XMPI_KNOWN_RUNTIME},
    {"libasan.so.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"libhwasan.so.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"liblsan.so.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"libtsan.so.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"libubsan.so.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"libclang_rt.", sanitizer, XMPI_KNOWN_RUNTIME},
    {"libcuda.so", gpu, XMPI_KNOWN_SHARED},
    {"libcudart.so", gpu, XMPI_KNOWN_SHARED},
    {"libcublas", gpu, XMPI_KNOWN_SHARED},
    {"libcudnn", gpu, XMPI_KNOWN_SHARED},
    {"libcufft", gpu, XMPI_KNOWN_SHARED},
    {"libcupti.so", gpu, XMPI_KNOWN_SHARED},
    {"libcurand.so", gpu, XMPI_KNOWN_SHARED},
    {"libcusolver", gpu, XMPI_KNOWN_SHARED},
    {"libcusparse", gpu, XMPI_KNOWN_SHARED},
    {"libnccl.so", gpu, XMPI_KNOWN_SHARED},
    {"libnvidia-", gpu, XMPI_KNOWN_SHARED},
    {"libnvJitLink.so", gpu, XMPI_KNOWN_SHARED},
    {"libnvrtc", gpu, XMPI_KNOWN_SHARED},
    {"libamdhip64.so", gpu, XMPI_KNOWN_SHARED},
    {"libhsa-runtime64.so", gpu, XMPI_KNOWN_SHARED},
    {"librocm_smi64.so", gpu, XMPI_KNOWN_SHARED},
    {"libze_", gpu, XMPI_KNOWN_SHARED},
    {"libsycl.so", gpu, XMPI_KNOWN_SHARED},
    {"libOpenCL.so", gpu, XMPI_KNOWN_SHARED},
    {"libpocl", gpu, XMPI_KNOWN_SHARED},
    {"libigdrcl.so", gpu, XMPI_KNOWN_SHARED},
    {"libLLVM", gpu, XMPI_KNOWN_SHARED},
    {"libclang-cpp.so", gpu, XMPI_KNOWN_SHARED},
    {"libibverbs.so", network, XMPI_KNOWN_SHARED},
    {"librdmacm.so", network, XMPI_KNOWN_SHARED},
    {"libmlx4.so", network, XMPI_KNOWN_SHARED},
    {"libmlx5.so", network, XMPI_KNOWN_SHARED},
    {"libefa.so", network, XMPI_KNOWN_SHARED},
    {"libfabric.so", network, XMPI_KNOWN_SHARED},
    {"libucp.so", network, XMPI_KNOWN_SHARED},
    {"libuct.so", network, XMPI_KNOWN_SHARED},
    {"libucs.so", network, XMPI_KNOWN_SHARED},
    {"libucm.so", network, XMPI_KNOWN_SHARED},
    {"libpsm", network, XMPI_KNOWN_SHARED},
    {"libportals.so", network, XMPI_KNOWN_SHARED},
    {"libjemalloc.so", allocator, XMPI_KNOWN_SHARED},
    {"libmimalloc.so", allocator, XMPI_KNOWN_SHARED},
    {"libtbbmalloc", allocator, XMPI_KNOWN_SHARED},
    {"libtcmalloc", allocator, XMPI_KNOWN_SHARED},
    {"libmemkind.so", allocator, XMPI_KNOWN_SHARED},
    {"libhwloc.so", topology, XMPI_KNOWN_SHARED},
    {"libnuma.so", topology, XMPI_KNOWN_SHARED},
    {"libpciaccess.so", topology, XMPI_KNOWN_SHARED},
    {"libudev.so", topology, XMPI_KNOWN_SHARED},
};

bool mpi_library_is_own(const char *name)
{
    const char *own = mpi_process_runtime.library;

    return own != NULL && strncmp(name, own, strlen(own)) == 0;
}

const mpi_known_t *mpi_library_known(const char *name)
{
    static mpi_known_t own = {.kind = XMPI_KNOWN_BASE};

    if (mpi_library_is_own(name)) {
        own.name = mpi_process_runtime.library;
        own.reason = mpi_process_runtime.library_reason;
        return &own;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
            return &known[i];
    return NULL;
}

static bool is_kind(const char *name, mpi_known_kind_t least)
{
    const mpi_known_t *found = mpi_library_known(name);

    return found != NULL && found->kind >= least;
}

bool mpi_library_is_base(const char *name)
{
    return is_kind(name, XMPI_KNOWN_BASE);
}

bool mpi_library_is_runtime(const char *name)
{
    return is_kind(name, XMPI_KNOWN_RUNTIME);
}

bool mpi_library_is_fortran(const char *name)
{
    return strncmp(basename(name), "libgfortran.so.", 15) == 0;
}
