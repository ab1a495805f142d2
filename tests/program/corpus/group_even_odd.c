/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups by ranks and ranges; the even ones sum, the odd ones broadcast. ranks: 4 5 */
#include <mpi.h>
#include <stdlib.h>
#define CHECK(call)                                                                                \
    do {                                                                                           \
        int code = (call);                                                                         \
        if (code != MPI_SUCCESS) {                                                                 \
            MPI_Abort(MPI_COMM_WORLD, code);                                                       \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    int rank, size, ranges[1][3], *list, n = 0, mine;
    MPI_Group world, even, odd, some;
    MPI_Comm ce, co, cs;
    double data[100] = {0};

    CHECK(MPI_Init(&argc, &argv));
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ranges[0][0] = 0;
    ranges[0][1] = size - 1;
    ranges[0][2] = 2;
    CHECK(MPI_Group_range_incl(world, 1, ranges, &even));
    CHECK(MPI_Group_difference(world, even, &odd));
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, even, &ce));
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, odd, &co));
    if (ce != MPI_COMM_NULL) {
        CHECK(MPI_Allreduce(MPI_IN_PLACE, data, 64, MPI_DOUBLE, MPI_SUM, ce));
        CHECK(MPI_Comm_free(&ce));
    }
    if (co != MPI_COMM_NULL) {
        CHECK(MPI_Bcast(data, 30, MPI_DOUBLE, 0, co));
        CHECK(MPI_Comm_free(&co));
    }
    list = malloc(size * sizeof(int));
    for (int i = 0; i < size; i++)
        if (i * i % 3 != 2 && i != 2)
            list[n++] = i;
    CHECK(MPI_Group_incl(world, n, list, &some));
    CHECK(MPI_Group_rank(some, &mine));
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, some, &cs));
    if (mine != MPI_UNDEFINED)
        CHECK(MPI_Alltoall(data, 3, MPI_DOUBLE, data + 50, 3, MPI_DOUBLE, cs));
    free(list);
    MPI_Finalize();
    return 0;
}
