/* SPDX-License-Identifier: BSD-3-Clause */
/* secret TEXT: TEXT goes from rank 0 to rank 1 in a small message and in a large one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 20000, MOST = 64 };

static const char *variable(const char *name)
{
    return getenv(name) != NULL ? getenv(name) : "none";
}

int main(int argc, char **argv)
{
    static char large[COPIES * MOST];
    char small[MOST] = "";
    int rank, is_right = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(small, sizeof(small), "%s", argv[1]);
        for (int i = 0; i < COPIES; i++)
            memcpy(large + (size_t)i * MOST, small, MOST);
        MPI_Send(small, MOST, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Send(large, COPIES * MOST, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(small, MOST, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(large, COPIES * MOST, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COPIES; i++)
            is_right = is_right && strcmp(large + (size_t)i * MOST, argv[1]) == 0;
        printf("rank 1 has %s message and %s, %s, %s\n",
               is_right && strcmp(small, argv[1]) == 0 ? "the" : "another",
               variable("XYLEM_TEST_VARIABLE"), variable("SOME_TOKEN"), variable("OTHER_TOKEN"));
    }
    MPI_Finalize();
    return 0;
}
