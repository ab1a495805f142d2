/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool for LD_PRELOAD: it counts calls, and calls the functions under their other names. */
#include <mpi.h>
#include <stdio.h>

static int messages, sums;

int MPI_Sendrecv(const void *out, int n_out, MPI_Datatype out_type, int dest, int out_tag, void *in,
                 int n_in, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    messages++;
    return PMPI_Sendrecv(out, n_out, out_type, dest, out_tag, in, n_in, in_type, source, in_tag,
                         comm, status);
}

int MPI_Allreduce(const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    sums += type == MPI_INT && op == MPI_SUM;
    return PMPI_Allreduce(out, in, n, type, op, comm);
}

int MPI_Finalize(void)
{
    printf("tool: %d messages, %d sums\n", messages, sums);
    return PMPI_Finalize();
}
