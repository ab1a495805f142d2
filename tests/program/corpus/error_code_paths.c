/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function returns a code; a macro leaves at the first that is not 0. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(e)                                                                                     \
    do {                                                                                           \
        if ((rc = (e)) != 0) {                                                                     \
            fprintf(stderr, "%s:%d: %d\n", __func__, __LINE__, rc);                                \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

static int check(int n)
{
    return n > 0 ? 0 : -EINVAL;
}
static int limit(int i, int rank)
{
    return i >= 3 + rank * 0 ? ERANGE : 0;
}

static int talk(int rank, int size, int n)
{
    char *a = NULL, *b = NULL;
    int rc;

    TRY(check(n));
    a = malloc(n);
    b = malloc(n);
    TRY(a && b ? 0 : ENOMEM);
    for (int i = 0;; i++) {
        TRY(limit(i, rank));
        TRY(MPI_Sendrecv(a, n - i, MPI_CHAR, (rank + 1) % size, i, b, n, MPI_CHAR,
                         (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
out:
    free(b);
    free(a);
    return rc;
}

int main(int argc, char **argv)
{
    int rank, size, rc, worst;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    TRY(talk(rank, size, 0) == -EINVAL ? 0 : 1);
    rc = talk(rank, size, 50);
    MPI_Allreduce(&rc, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst == ERANGE)
        MPI_Barrier(MPI_COMM_WORLD);
    rc = worst != ERANGE;
out:
    MPI_Finalize();
    return rc;
}
