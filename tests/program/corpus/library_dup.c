/* SPDX-License-Identifier: BSD-3-Clause */
/* A small library with an initialiser, its own communicator and static state. */
#include <mpi.h>
#include <stdlib.h>

/* the library */
static MPI_Comm lib_comm = MPI_COMM_NULL;
static struct {
    int rank, size, sequence;
    unsigned long sent;
} lib;

static void lib_init(MPI_Comm comm)
{
    if (lib_comm != MPI_COMM_NULL)
        return;
    MPI_Comm_dup(comm, &lib_comm);
    MPI_Comm_rank(lib_comm, &lib.rank);
    MPI_Comm_size(lib_comm, &lib.size);
}

static void lib_shift(void *data, int n, int by)
{
    int to = (lib.rank + by) % lib.size, from = (lib.rank - by + lib.size) % lib.size;

    lib_init(MPI_COMM_WORLD);
    MPI_Sendrecv_replace(data, n, MPI_BYTE, to, lib.sequence, from, lib.sequence, lib_comm,
                         MPI_STATUS_IGNORE);
    lib.sequence = (lib.sequence + 1) % 1000;
    lib.sent += (unsigned long)n;
}

static unsigned long lib_finish(void)
{
    MPI_Comm_free(&lib_comm);
    return lib.sent;
}

/* the program */
int main(int argc, char **argv)
{
    char *data = malloc(4096);

    MPI_Init(&argc, &argv);
    lib_init(MPI_COMM_WORLD);
    lib_init(MPI_COMM_WORLD);
    for (int by = 1; by < lib.size; by++)
        lib_shift(data, 64 * by + lib.sequence, by);
    int last = (int)lib_finish();
    MPI_Allreduce(MPI_IN_PLACE, data, last / 64, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    free(data);
    MPI_Finalize();
    return 0;
}
