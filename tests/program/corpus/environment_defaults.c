/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the environment, with defaults where it has none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setting(const char *name, int otherwise)
{
    char full[64];
    const char *value;

    snprintf(full, sizeof(full), "CORPUS_%s", name);
    value = getenv(full);
    return value != NULL && *value != '\0' ? atoi(value) : otherwise;
}

int main(int argc, char **argv)
{
    int rank, size, n = setting("LENGTH", 33), rounds = setting("ROUNDS", 2);
    const char *mode = getenv("CORPUS_MODE") ? getenv("CORPUS_MODE") : "ring";
    char *x = malloc(n), *y = malloc(n);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++)
        switch (mode[0] | (int)strlen(mode) << 8) {
        case 'r' | 4 << 8:
            MPI_Sendrecv(x, n - i, MPI_CHAR, (rank + 1) % size, 0, y, n, MPI_CHAR,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case 'b':
            MPI_Bcast(x, n, MPI_CHAR, 0, MPI_COMM_WORLD);
        }
    MPI_Finalize();
    return 0;
}
