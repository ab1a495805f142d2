/* SPDX-License-Identifier: BSD-3-Clause */
/* An attribute of a communicator keeps a counter; MPI_TAG_UB is asked for. */
#include <mpi.h>
#include <stdio.h>

static int key = MPI_KEYVAL_INVALID;

static int delete_it(MPI_Comm c, int k, void *value, void *extra)
{
    *(int *)extra += 1;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int deleted, counter = 3;
    int rank, size, flag, *found, *ub;
    MPI_Comm comm;
    char data[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_it, &key, &deleted);
    MPI_Comm_set_attr(comm, key, &counter);
    MPI_Comm_get_attr(comm, key, &found, &flag);
    if (rank == 0)
        printf("%d\n", flag ? *found : -1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
    MPI_Sendrecv(data, 10, MPI_CHAR, (rank + 1) % size, 4, data + 50, 10, MPI_CHAR,
                 (rank + size - 1) % size, 4, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    return 0;
}
