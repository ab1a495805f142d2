/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat in a rod, as tasks that the ranks of an MPI job share: each rank owns some pieces of the
 * rod, and what a task reads of a piece that another rank owns comes by a message. All ranks add
 * the same data and the same tasks.
 *
 *   mpicc heat_tasks_mpi.c $(pkg-config --cflags --libs xylem) -o heat
 *   mpiexec -n 4 ./heat
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem_tasks_mpi.h>

enum { PIECES = 12, CELLS = 1000, STEPS = 40 };

/* buffers: the piece on the left, the piece, the piece on the right, and where the result goes; the
 * ends of the rod have the piece itself beside them. */
static void step(void *const *buffers, const void *arg)
{
    const int *has = arg; /* a left and a right neighbour */
    int n = 0;
    const double *left = has[0] ? buffers[n++] : NULL;
    const double *here = buffers[n++];
    const double *right = has[1] ? buffers[n++] : NULL;
    double *out = buffers[n];

    for (int i = 0; i < CELLS; i++) {
        double a = i > 0 ? here[i - 1] : left != NULL ? left[CELLS - 1] : 1;
        double b = i < CELLS - 1 ? here[i + 1] : right != NULL ? right[0] : 0;

        out[i] = here[i] + 0.25 * (a - 2 * here[i] + b);
    }
}

static void add_step(xylem_tasks *t, const int *from, int to, int piece)
{
    int has[2] = {piece > 0, piece < PIECES - 1}, n = 0;
    xylem_access a[4];

    if (has[0])
        a[n++] = (xylem_access){from[piece - 1], XYLEM_READ};
    a[n++] = (xylem_access){from[piece], XYLEM_READ};
    if (has[1])
        a[n++] = (xylem_access){from[piece + 1], XYLEM_READ};
    a[n++] = (xylem_access){to, XYLEM_WRITE};
    xylem_tasks_add(t, &(xylem_task){.run = step, .arg = has, .arg_size = sizeof(has)}, a, n);
}

/* The sum of all cells: each rank adds those that it owns. */
static double sum_of(double rod[PIECES][CELLS], int rank, int ranks)
{
    double mine[PIECES] = {0}, all[PIECES], sum = 0;

    for (int p = 0; p < PIECES; p++)
        for (int i = 0; i < CELLS && p * ranks / PIECES == rank; i++)
            mine[p] += rod[p][i];
    MPI_Reduce(mine, all, PIECES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int p = 0; p < PIECES && rank == 0; p++)
        sum += all[p];
    return sum;
}

int main(int argc, char **argv)
{
    static double rods[2][PIECES][CELLS];
    int data[2][PIECES], failed;
    xylem_messages messages;
    xylem_run_result r;
    xylem_tasks *t;
    double sum;

    MPI_Init(&argc, &argv);
    xylem_tasks_mpi_open(MPI_COMM_WORLD, &messages);
    xylem_tasks_create(&t);
    for (int k = 0; k < 2; k++)
        for (int p = 0; p < PIECES; p++) {
            int owner = p * messages.ranks / PIECES;

            data[k][p] = xylem_tasks_data(
                t, &(xylem_data){.address = owner == messages.rank ? rods[k][p] : NULL,
                                 .bytes = sizeof(rods[k][p]),
                                 .owner = owner});
        }
    for (int i = 0; i < STEPS; i++)
        for (int p = 0; p < PIECES; p++)
            add_step(t, data[i % 2], data[(i + 1) % 2][p], p);
    failed =
        xylem_tasks_run(t, &(xylem_run_options){.clock = XYLEM_REAL, .messages = &messages}, &r);
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the others wait for this rank */
    sum = sum_of(rods[STEPS % 2], messages.rank, messages.ranks);
    if (messages.rank == 0)
        printf("heat %.17g\n", sum);
    xylem_tasks_free(t);
    xylem_tasks_mpi_close(&messages);
    MPI_Finalize();
    return 0;
}
