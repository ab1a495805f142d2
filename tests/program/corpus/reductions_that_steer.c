/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of reductions with many operations and types become lengths. ranks: 4 5 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

static char b[2048];
static void say(long v)
{
    MPI_Bcast(b, (int)((v % 500 + 500) % 500), MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int r, n, x[3], y[3] = {0}, at, total;
    long l;
    double d, e;
    float f;
    unsigned u, w;
    int64_t big;
    struct {
        int value, where;
    } in, out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    x[0] = r * 3 + 1, x[1] = 10 - r, x[2] = r % 2;
    MPI_Allreduce(x, y, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), say(y[0]), say(y[1]), say(y[2]);
    MPI_Allreduce(x, y, 3, MPI_INT, MPI_PROD, MPI_COMM_WORLD), say(y[0]), say(y[1]);
    MPI_Allreduce(x, y, 2, MPI_INT, MPI_BXOR, MPI_COMM_WORLD), say(y[0]), say(y[1]);
    MPI_Allreduce(&x[2], y, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD), say(y[0] + 5);
    MPI_Allreduce(MPI_IN_PLACE, &x[2], 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD), say(x[2] + 6);
    l = 100000L * (r + 1), MPI_Allreduce(MPI_IN_PLACE, &l, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD),
    say(l / 1000);
    d = 0.1 * r, MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
    say((long)(e * 1000));
    f = 1.5f * (float)r, MPI_Allreduce(MPI_IN_PLACE, &f, 1, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD),
    say((long)f + 3);
    u = 1u << r, MPI_Allreduce(&u, &w, 1, MPI_UNSIGNED, MPI_BOR, MPI_COMM_WORLD), say(w);
    big = -r, MPI_Allreduce(MPI_IN_PLACE, &big, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD), say(-big);
    MPI_Scan(&x[0], &at, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    total = at, MPI_Bcast(&total, 1, MPI_INT, n - 1, MPI_COMM_WORLD), say(total);
    MPI_Exscan(&x[1], &at, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (r == 0)
        at = 77;
    MPI_Bcast(&at, 1, MPI_INT, 1, MPI_COMM_WORLD), say(at);
    int *counts = malloc(n * sizeof(int)), *all = malloc(n * 4 * sizeof(int)), mine;
    for (int i = 0; i < 4 * n; i++)
        all[i] = i * (r + 1);
    MPI_Reduce_scatter_block(all, y, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&y[1], &mine, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD), say(mine);
    MPI_Allgather(&x[0], 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD),
        say(counts[n - 1] * 10 + counts[0]);
    MPI_Alltoall(all, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(counts, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD), say(all[1]), say(all[n - 1]);
    in.value = (r * 5) % 4, in.where = r;
    MPI_Allreduce(&in, &out, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (argc > 9)
        say(out.where);
    MPI_Finalize();
    return 0;
}
