/* SPDX-License-Identifier: BSD-3-Clause */
/* A macro that declares variables, several times at one place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call)                                                                                \
    do {                                                                                           \
        int e_ = (call);                                                                           \
        if (e_ != MPI_SUCCESS) {                                                                   \
            char s_[MPI_MAX_ERROR_STRING];                                                         \
            int l_;                                                                                \
            MPI_Error_string(e_, s_, &l_);                                                         \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #call, s_);                      \
            MPI_Abort(MPI_COMM_WORLD, e_);                                                         \
        }                                                                                          \
    } while (0)
#define FOR(i, n) for (int i = 0; i < (n); i++)
#define XLIST     X(10) X(20) X(30)
int main(int argc, char **argv)
{
    int r, s;
    double x[100];
    CHECK(MPI_Init(&argc, &argv));
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &r));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &s));
    FOR(i, 3)
    FOR(j, i + 1) CHECK(MPI_Bcast(x, i * 10 + j, MPI_DOUBLE, (i + j) % s, MPI_COMM_WORLD));
#define X(n) CHECK(MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    XLIST
#undef X
    CHECK(MPI_Finalize());
    return EXIT_SUCCESS;
}
