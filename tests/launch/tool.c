/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that counts the messages of its rank. -DNEXT finds MPI's functions as other interposers
 * do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
#ifdef NEXT
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Send");
    return next(buf, count, type, to, tag, comm);
#else
    return PMPI_Send(buf, count, type, to, tag, comm);
#endif
}

int MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d sent %d\n", rank, sends);
    return PMPI_Finalize();
}
