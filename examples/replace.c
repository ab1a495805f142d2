/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering ranks at run time: partners that are not known in advance get neighbouring numbers.
 *
 *   mpicc replace.c -o replace && mpiexec -n 8 ./replace
 *
 * Every rank has a partner, half the ranks away, with which it exchanges data in each step. After a
 * few steps xylem_replace returns a communicator with a new numbering, chosen by the messages
 * counted so far, in which partners share a core or are near each other. A rank stays on its core;
 * the work of number i, and its data, move to the rank that now has this number.
 *
 * This is an extension: the program needs Xylem's MPI library.
 */
#include <mpi.h>
#include <stdio.h>
#include <xylem_mpi.h>

enum { STEPS = 20, N = 4096 };

static double field[N], other[N];

static int partner_of(int rank, int size)
{
    return (rank + size / 2) % size; /* in pairs when size is even */
}

static void run_steps(MPI_Comm comm)
{
    int rank, size, to, from;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    to = partner_of(rank, size);
    from = (rank + size - size / 2) % size;
    for (int step = 0; step < STEPS; step++) {
        MPI_Sendrecv(field, N, MPI_DOUBLE, to, 0, other, N, MPI_DOUBLE, from, 0, comm,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            field[i] = (field[i] + other[i]) / 2;
    }
}

/* How many ranks have their partner on their own core. */
static int count_near(MPI_Comm comm)
{
    int rank, size, partner, found, near = 1, sum;
    MPI_Group all, here;
    MPI_Comm core;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &core);
    if (core != MPI_COMM_NULL) { /* else there is one core for all */
        partner = partner_of(rank, size);
        MPI_Comm_group(comm, &all);
        MPI_Comm_group(core, &here);
        MPI_Group_translate_ranks(all, 1, &partner, here, &found);
        near = found != MPI_UNDEFINED;
        MPI_Group_free(&all);
        MPI_Group_free(&here);
        MPI_Comm_free(&core);
    }
    MPI_Allreduce(&near, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

/* Send the data of the old number to the rank that has it now; receive those of the new one. */
static void hand_over(MPI_Comm old, MPI_Comm now)
{
    int before, after, to;
    MPI_Group old_group, new_group;

    MPI_Comm_rank(old, &before);
    MPI_Comm_rank(now, &after);
    MPI_Comm_group(old, &old_group);
    MPI_Comm_group(now, &new_group);
    MPI_Group_translate_ranks(new_group, 1, &before, old_group, &to);
    MPI_Sendrecv_replace(field, N, MPI_DOUBLE, to, 0, after, 0, old, MPI_STATUS_IGNORE);
    MPI_Group_free(&old_group);
    MPI_Group_free(&new_group);
}

int main(int argc, char **argv)
{
    int rank, size, before, after;
    MPI_Comm first, near;

    MPI_Init(&argc, &argv);
    xylem_replace(MPI_COMM_WORLD, &first); /* counting begins */
    MPI_Comm_rank(first, &rank);
    MPI_Comm_size(first, &size);
    for (int i = 0; i < N; i++)
        field[i] = rank;

    run_steps(first);
    before = count_near(first);
    xylem_replace(first, &near); /* and here it is used */
    hand_over(first, near);
    run_steps(near);
    after = count_near(near);

    MPI_Comm_rank(near, &rank);
    if (rank == 0)
        printf("partners on one core: %d of %d ranks at first, %d then\n", before, size, after);
    if (size % 2 == 0 && field[0] != (rank + partner_of(rank, size)) / 2.0)
        printf("rank %d has the data of another\n", rank);
    MPI_Comm_free(&first);
    MPI_Comm_free(&near);
    MPI_Finalize();
    return 0;
}
