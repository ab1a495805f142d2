/* SPDX-License-Identifier: BSD-3-Clause */
/* Static locals in recursion, globals that functions change behind arguments, and evaluation once.
 */
#include <mpi.h>

static char b[512];
static int global = 3, depth_most;
static void say(int v)
{
    MPI_Bcast(b, v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int bump(void)
{
    return global += 2;
}
static int *slot(int i)
{
    static int slots[4] = {5, 6, 7, 8};

    global++;
    return &slots[i & 3];
}
static int walk(int n)
{
    static int depth, visits = 100;
    int here = ++depth, sum = visits++;

    if (depth > depth_most)
        depth_most = depth;
    for (int i = 1; i < n; i++)
        sum += walk(n - i) % 7;
    depth--;
    return sum + here;
}
static int twice(int v)
{
    return v + v;
}
#define SQUARE(x) ((x) * (x))
#define MAX(a, c) ((a) > (c) ? (a) : (c))

int main(int argc, char **argv)
{
    int v = 1, local = 2;

    MPI_Init(&argc, &argv);
    say(twice(bump())), say(global);
    *slot(1) += *slot(2), say(*slot(1)), say(global);
    (*slot(3))++, --*slot(0), say(*slot(3) * 10 + *slot(0)), say(global);
    say(walk(4) % 500), say(walk(3) % 500), say(depth_most);
    say(SQUARE(local)), say(MAX(bump(), 10)), say(global);
    {
        int local = global;
        extern int other;
        say(local), say(other);
    }
    for (int v = 10; v < 12; v++)
        say(v);
    say(v + local);
    global = v = local = 9, say(global + v + local);
    v = bump() * 0 + v, say(v), say(global);
    MPI_Finalize();
    return 0;
}
int other = 77;
