/* SPDX-License-Identifier: BSD-3-Clause */
/* Three buffers rotate by pointers; their lengths live before the data, as some allocators do. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int *with_length(int n)
{
    int *p = malloc((n + 1) * sizeof(int));

    *p++ = n;
    memset(p, 0, n * sizeof(int));
    return p;
}
#define LEN(p)     ((p)[-1])
#define RELEASE(p) (free((p)-1), (p) = NULL)

int main(int argc, char **argv)
{
    int rank, size, *a = with_length(10), *b = with_length(20), *c = with_length(35), *t;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        int room[64];
        MPI_Sendrecv(a, LEN(a), MPI_INT, (rank + 1) % size, i, room, 64, MPI_INT,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        t = a, a = b, b = c, c = t;
        if (i == 2) {
            RELEASE(c);
            c = with_length(i + 1);
        }
    }
    RELEASE(a);
    RELEASE(b);
    RELEASE(c);
    MPI_Finalize();
    return 0;
}
