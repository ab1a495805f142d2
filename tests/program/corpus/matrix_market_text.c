/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix in coordinate text inside the program; entries go to the owners of their rows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *matrix = "%%header\n"
                            "4 4 6\n"
                            "1 1 4\n"
                            "2 2 4\n"
                            "3 3 4\n"
                            "4 4 4\n"
                            "1 4 1\n"
                            "4 1 1\n";

static const char *next_line(const char *p)
{
    const char *n = strchr(p, '\n');

    return n && n[1] ? n + 1 : NULL;
}

int main(int argc, char **argv)
{
    int rank, size, rows, cols, nnz, i = 0, mine = 0;
    int owners[32], entry[3];
    const char *p = matrix;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (*p == '%')
        p = next_line(p);
    if (sscanf(p, "%d %d %d", &rows, &cols, &nnz) != 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while ((p = next_line(p)) != NULL) {
        int r, c, v;
        if (sscanf(p, "%d %d %d", &r, &c, &v) < 3)
            break;
        owners[i] = (r - 1) % size;
        if (owners[i] == rank)
            mine++;
        if (rank == 0 && owners[i] != 0) {
            entry[0] = r, entry[1] = c, entry[2] = v;
            MPI_Send(entry, 3, MPI_INT, owners[i], i, MPI_COMM_WORLD);
        } else if (owners[i] == rank && rank) {
            MPI_Recv(entry, 3, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        i++;
    }
    MPI_Bcast(owners, i == nnz ? i : 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
