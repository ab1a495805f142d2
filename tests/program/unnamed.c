/* SPDX-License-Identifier: BSD-3-Clause */
/* Values without a name, pointers to rows, failures that jump, statements behind #pragma and asm.
 */
#include <mpi.h>
#include <stdlib.h>
enum { N = 6 };
static int sizes[N][N] = {{0, 5, 0, 2, [5] = 3}, {5, 0, 1}, {0, 1, 0, 7}, {2, [2] = 7}, [5] = {3}};
static int total(const int *list, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i];
    return sum;
}
int main(int argc, char **argv)
{
    int rank, size, n = 0, result = 1, dims[2] = {0}, other;
    int(*rows)[N] = malloc(sizeof(int[N][N]));
    double *x = malloc(4000);
    MPI_Comm grid, line;
    MPI_Request q[2 * N];
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        goto end;
    if (rows == NULL || x == NULL) {
        result = 2;
        goto end;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[2]){0, 1}, 0, &grid);
    MPI_Cart_sub(grid, (int[]){1, 0}, &line);
    MPI_Cart_rank(grid, (int[2]){dims[0] - 1, 0}, &other);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            rows[i][j] = 3 * sizes[i][j];
#pragma GCC unroll 2
    for (int j = 0; j < (size < N ? size : N); j++)
        if (rank < N && rows[rank][j] > 0) {
            MPI_Irecv(x, rows[j][rank], MPI_DOUBLE, j, 0, MPI_COMM_WORLD, &q[n++]);
            MPI_Isend(x, rows[rank][j], MPI_DOUBLE, j, 0, MPI_COMM_WORLD, &q[n++]);
        }
    MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    __asm__ volatile("" ::: "memory");
    for (int i = 0; i < 2; i++)
        MPI_Bcast(x, total((int[3]){i, *(rows[1] + 2), other + 1}, 3), MPI_DOUBLE, 0, line);
    result = 0;
end:
    free(rows);
    free(x);
    MPI_Finalize();
    return result;
}
