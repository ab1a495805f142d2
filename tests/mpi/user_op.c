/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation of the program is code of the program: it runs on threads that run ranks, never on a
 * communication core, where the thread-local variables and the streams of a rank are not.
 *
 *   mpiexec --comm-cores 1 -n 6 user_op
 */
#include "check.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 256, COUNT = 1 << 16, ROUNDS = 20 };

static long threads[MOST]; /* that run ranks */
static int size, strangers;

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const long *a = in;
    long *b = inout, self = syscall(SYS_gettid);
    int is_known = 0;

    (void)type;
    for (int r = 0; r < size; r++)
        is_known |= threads[r] == self;
    strangers += !is_known;
    for (int i = 0; i < *length; i++)
        b[i] += a[i];
}

int main(int argc, char **argv)
{
    static long in[COUNT], out[COUNT];
    long self = syscall(SYS_gettid);
    MPI_Request request;
    int rank, all = 0;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MOST);
    MPI_Allgather(&self, 1, MPI_LONG, threads, 1, MPI_LONG, MPI_COMM_WORLD);
    MPI_Op_create(add, 1, &op);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            in[i] = rank + i;
        MPI_Iallreduce(in, out, COUNT, MPI_LONG, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            CHECK_EQUAL(out[i], (long)size * i + (long)size * (size - 1) / 2);
        MPI_Ireduce(in, out, COUNT, MPI_LONG, op, round % size, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Op_free(&op);
    MPI_Allreduce(&strangers, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(all, 0);
    MPI_Finalize();
    return 0;
}
