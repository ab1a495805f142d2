/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that are filled at the first use, lookups through const pointers, and a cache of results.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum color { RED, GREEN, BLUE, COLORS };
static const unsigned char weights[COLORS][4] = {
    [BLUE] = {9, 8, 7, 6}, [RED] = {1, 2}, [GREEN] = {0, 0, 0, 40}};
static const struct {
    enum color c;
    const char *name;
    const unsigned char *row;
} info[] = {
    {GREEN, "green", weights[GREEN]}, {BLUE, "blue", weights[BLUE]}, {RED, "red", weights[RED]}};

static const unsigned char *row_of(enum color c)
{
    static const unsigned char *cache[COLORS];
    static bool is_ready;

    if (!is_ready) {
        for (size_t i = 0; i < sizeof info / sizeof info[0]; i++)
            cache[info[i].c] = info[i].row;
        is_ready = true;
    }
    return cache[c];
}

static long fib(int n)
{
    static long memo[64] = {0, 1};

    if (n < 2 || memo[n])
        return memo[n];
    return memo[n] = fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    int rank, size;
    char x[512];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (enum color c = RED; c < COLORS; c++)
        for (const unsigned char *w = row_of(c); w < row_of(c) + 4; w++)
            MPI_Bcast(x, *w + (int)(fib(c + 5) % 100), MPI_CHAR, c % size, MPI_COMM_WORLD);
    MPI_Bcast(x, info[rank >= 0].name[0] + (int)fib(10), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
