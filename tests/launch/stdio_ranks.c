/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank prints a line to each stream; with an argument, a line with what it reads. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char word[64] = "";
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        int n = scanf("%63s", word);

        printf(n == 1 ? "%d %s\n" : "%d%s\n", rank, word);
    } else {
        printf("out %d\n", rank);
        fprintf(stderr, "err %d\n", rank);
    }
    MPI_Finalize();
    return 0;
}
