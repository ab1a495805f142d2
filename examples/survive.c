/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that survives: the heat equation on a rod, in blocks of cells. Every few steps each rank
 * copies its block to the memory of the next rank, its partner. When a rank fails, the others
 * revoke the communicator, so that all notice, shrink it, take the lost block from the partner,
 * share the cells anew and go on from the last copies. The result is the same as without a failure.
 *
 *   mpicc -O2 examples/survive.c -o survive
 *   mpiexec --survive -n 4 ./survive                  nothing fails
 *   mpiexec --survive -n 4 ./survive 2 130            rank 2 is killed in step 130
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 1000, STEPS = 400, BETWEEN = 25 };

/* The state of all ranks after some step: the own block, and that of the rank before this one. */
typedef struct {
    int step;
    double own[CELLS], other[CELLS];
} copy_t;

static struct {
    MPI_Comm comm;
    int rank, size, begin, end, step;
    double now[CELLS + 2], next[CELLS + 2]; /* cell i is at i + 1 */
    copy_t copies[2];                       /* the last one, and one that may not be complete */
} rod;

static int begin_of(int rank, int size)
{
    return (int)((long)CELLS * rank / size);
}

static void share(void)
{
    MPI_Comm_rank(rod.comm, &rod.rank);
    MPI_Comm_size(rod.comm, &rod.size);
    rod.begin = begin_of(rod.rank, rod.size);
    rod.end = begin_of(rod.rank + 1, rod.size);
}

/* One step; not MPI_SUCCESS: another rank has failed. */
static int advance(void)
{
    int left = rod.rank > 0 ? rod.rank - 1 : MPI_PROC_NULL;
    int right = rod.rank + 1 < rod.size ? rod.rank + 1 : MPI_PROC_NULL;
    double *now = rod.now;
    int code = MPI_Sendrecv(&now[rod.begin + 1], 1, MPI_DOUBLE, left, 0, &now[rod.end + 1], 1,
                            MPI_DOUBLE, right, 0, rod.comm, MPI_STATUS_IGNORE);

    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(&now[rod.end], 1, MPI_DOUBLE, right, 0, &now[rod.begin], 1, MPI_DOUBLE,
                            left, 0, rod.comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return code;
    now[0] = 100.0; /* the ends have a fixed temperature */
    now[CELLS + 1] = 0.0;
    for (int i = rod.begin + 1; i <= rod.end; i++)
        rod.next[i] = now[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
    memcpy(&now[rod.begin + 1], &rod.next[rod.begin + 1],
           (size_t)(rod.end - rod.begin) * sizeof(double));
    rod.step++;
    return MPI_SUCCESS;
}

/* Copy the blocks to the partners. A copy counts when all ranks have theirs. */
static int save(void)
{
    copy_t *copy = rod.copies[0].step <= rod.copies[1].step ? &rod.copies[0] : &rod.copies[1];
    int before = (rod.rank + rod.size - 1) % rod.size;
    int code;

    copy->step = -1;
    memcpy(&copy->own[rod.begin], &rod.now[rod.begin + 1],
           (size_t)(rod.end - rod.begin) * sizeof(double));
    code = MPI_Sendrecv(&copy->own[rod.begin], rod.end - rod.begin, MPI_DOUBLE,
                        (rod.rank + 1) % rod.size, 1, &copy->other[begin_of(before, rod.size)],
                        CELLS, MPI_DOUBLE, before, 1, rod.comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        copy->step = rod.step;
    return code == MPI_SUCCESS ? MPI_Barrier(rod.comm) : code;
}

/* Put the blocks that survivors have of the copy of `step` together, in all of them. `old` is the
 * communicator before the failure. */
static void restore(MPI_Comm old, int step)
{
    const copy_t *copy = rod.copies[0].step == step ? &rod.copies[0] : &rod.copies[1];
    int before = (rod.rank + rod.size - 1) % rod.size, place;
    double sum[CELLS + 1], have[CELLS + 1] = {0};
    MPI_Group group, living;

    for (int i = rod.begin; i < rod.end; i++)
        have[i] = copy->own[i];
    have[CELLS] = rod.end - rod.begin;
    MPI_Comm_group(old, &group);
    MPI_Comm_group(rod.comm, &living);
    MPI_Group_translate_ranks(group, 1, &before, living, &place);
    if (place == MPI_UNDEFINED) { /* it has failed, and this is its partner */
        int begin = begin_of(before, rod.size), end = begin_of(before + 1, rod.size);

        memcpy(&have[begin], &copy->other[begin], (size_t)(end - begin) * sizeof(double));
        have[CELLS] += end - begin;
    }
    MPI_Group_free(&group);
    MPI_Group_free(&living);
    MPI_Allreduce(have, sum, CELLS + 1, MPI_DOUBLE, MPI_SUM, rod.comm);
    if (sum[CELLS] != CELLS) {
        fprintf(stderr, "a rank and its partner have failed: the state is lost\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memcpy(&rod.now[1], sum, CELLS * sizeof(double));
    rod.step = step;
}

/* Some have failed: go on without them. */
static void recover(void)
{
    MPI_Comm old = rod.comm;
    int newest = rod.copies[0].step > rod.copies[1].step ? rod.copies[0].step : rod.copies[1].step;
    int step;

    MPIX_Comm_revoke(old); /* all others leave their calls */
    MPIX_Comm_shrink(old, &rod.comm);
    MPI_Allreduce(&newest, &step, 1, MPI_INT, MPI_MIN, rod.comm);
    restore(old, step);
    share();
    if (old != MPI_COMM_WORLD)
        MPI_Comm_free(&old);
    if (rod.rank == 0)
        fprintf(stderr, "%d ranks continue from step %d\n", rod.size, step);
    rod.copies[0].step = rod.copies[1].step = -1;
    if (save() != MPI_SUCCESS)
        recover();
}

static void print_result(void)
{
    double own = 0.0, all;

    for (int i = rod.begin; i < rod.end; i++)
        own += (double)(long)(rod.now[i + 1] * 1e6);
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, rod.comm);
    if (rod.rank == 0)
        printf("heat after %d steps: %.0f\n", rod.step, all);
}

int main(int argc, char **argv)
{
    int victim = argc > 2 ? atoi(argv[1]) : -1, when = argc > 2 ? atoi(argv[2]) : 0;
    int rank, code;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rod.comm = MPI_COMM_WORLD;
    rod.copies[0].step = rod.copies[1].step = -1;
    share();
    code = save();
    while (rod.step < STEPS || code != MPI_SUCCESS) {
        if (code != MPI_SUCCESS)
            recover();
        if (rank == victim && rod.step == when)
            kill(getpid(), SIGKILL);
        code = advance();
        if (code == MPI_SUCCESS && rod.step % BETWEEN == 0)
            code = save();
    }
    print_result();
    MPI_Finalize();
    return 0;
}
