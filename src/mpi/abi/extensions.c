/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions of the other MPIs: what can be answered is, and the others end the job with a message
 * that names them.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/abi/abi.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC visibility push(default)

#define HERE __builtin_return_address(0)
#define EXTENSION(type, name, parameters)                                                          \
    type P##name parameters __attribute__((alias(#name)));                                         \
    type name parameters

EXTENSION(int, MPIX_Query_cuda_support, (void))
{
    return xylem_mpi_services.query_cuda_support();
}

#ifdef ABI_OPENMPI

EXTENSION(int, MPIX_Query_rocm_support, (void))
{
    return 0;
}

enum { AFFINITY_TEXT = 1024, AFFINITY_FORMATS = 2 };

/* The processors as ranges, "0-3,8". */
static void list_processors(const cpu_set_t *set, char *text)
{
    size_t length = 0;

    text[0] = '\0';
    for (int first = 0, last; first < CPU_SETSIZE && length < AFFINITY_TEXT - 32;
         first = last + 1) {
        for (last = first; last < CPU_SETSIZE && CPU_ISSET(last, set);)
            last++;
        if (last == first)
            continue;
        length += (size_t)snprintf(text + length, AFFINITY_TEXT - length,
                                   last == first + 1 ? "%s%d" : "%s%d-%d", length > 0 ? "," : "",
                                   first, last - 1);
    }
}

/* The original binding of the rank, its present one, and all processors: all formats are lists of
 * processors here. */
int OMPI_Affinity_str(int format, char *bound, char *now, char *exists)
{
    cpu_set_t set;

    if (format < 0 || format >= AFFINITY_FORMATS)
        return error_out(MPI_ERR_ARG);
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return error_out(MPI_ERR_OTHER);
    strcpy(bound, "Not bound");
    list_processors(&set, now);
    snprintf(exists, AFFINITY_TEXT, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
    return 0;
}

#else

EXTENSION(int, MPIX_Query_hip_support, (void))
{
    return 0;
}

EXTENSION(int, MPIX_Query_ze_support, (void))
{
    return 0;
}

/* Kinds of GPUs: 0 is CUDA. */
EXTENSION(int, MPIX_GPU_query_support, (int kind, int *is_supported))
{
    if (kind < 0 || kind > 2 || !is_supported)
        return error_out(MPI_ERR_ARG);
    *is_supported = kind == 0 && xylem_mpi_services.query_cuda_support();
    return 0;
}

static int missing(const char *name, const void *site)
{
    fprintf(stderr, "MPI: %s, an extension of MPICH, is not supported\n", name);
    xylem_mpi_table.Abort(site, MPI_COMM_WORLD, 1);
    abort();
}

#define MISSING(name)                                                                              \
    EXTENSION(int, name, (void))                                                                   \
    {                                                                                              \
        return missing(#name, HERE);                                                               \
    }

MISSING(MPIX_Delete_error_class)
MISSING(MPIX_Delete_error_code)
MISSING(MPIX_Delete_error_string)
MISSING(MPIX_Grequest_class_allocate)
MISSING(MPIX_Grequest_class_create)
MISSING(MPIX_Grequest_start)

#endif
#pragma GCC visibility pop
