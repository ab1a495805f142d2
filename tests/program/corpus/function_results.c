/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers to functions that have an effect: they are evaluated once, and the result of a call is
 * called. */
#include <mpi.h>
typedef int (*fn)(int);
typedef struct {
    int a, b;
} pr;
typedef pr (*sfn)(int);
static int add(int v)
{
    return v + 1;
}
static int dbl(int v)
{
    return v * 2;
}
static fn table[] = {add, dbl, add};
static int where;
static int pick(void)
{
    return where++ % 3;
}
static fn choose(int k)
{
    return k % 2 ? add : dbl;
}
static pr p1(int v)
{
    return (pr){v, 2};
}
static pr p2(int v)
{
    return (pr){3, v};
}
static sfn st[] = {p1, p2};
static int (*pick_one(int v))(int)
{
    return table[v % 2 != 0];
}
static int only(int a, int b)
{
    return a - b;
}
int main(int argc, char **argv)
{
    char data[500];
    int (*one)(int, int) = only, (*ones[2])(int, int) = {only, only}, k = 0, s;
    fn *next = table;
    MPI_Init(&argc, &argv);
    MPI_Bcast(data, table[pick()](10), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, table[pick()](10), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, choose(3)(20) + choose(4)(choose(2)(4)), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, (*next++)(30) + (*next++)(31), MPI_CHAR, 0, MPI_COMM_WORLD);
    s = ones[k++](50, 3);
    MPI_Bcast(data, s + k + (int)(next - table), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, one(9, 3) + where, MPI_CHAR, 0, MPI_COMM_WORLD);
    pr x = st[k](9);
    MPI_Bcast(data, pick_one(argc)(40) + pick_one(2)(1), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, x.a + x.b, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
