/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators in arrays and structs, passed by value and by pointer, freed in another function.
 * ranks: 6 */
#include <mpi.h>
#include <stdlib.h>

struct team {
    MPI_Comm comm;
    int rank, size, color;
    const char *name;
};

static struct team make(MPI_Comm parent, int color, int key, const char *name)
{
    struct team t = {.comm = MPI_COMM_NULL, .color = color, .name = name};

    MPI_Comm_split(parent, color, key, &t.comm);
    if (t.comm != MPI_COMM_NULL) {
        MPI_Comm_rank(t.comm, &t.rank);
        MPI_Comm_size(t.comm, &t.size);
    }
    return t;
}

static void release(struct team *t, int n)
{
    while (n--)
        if (t[n].comm != MPI_COMM_NULL)
            MPI_Comm_free(&t[n].comm);
}

static int greatest(const struct team *teams, int n)
{
    int best = -1;

    for (int i = 0; i < n; i++)
        if (teams[i].comm != MPI_COMM_NULL && (best < 0 || teams[i].size > teams[best].size))
            best = i;
    return best;
}

int main(int argc, char **argv)
{
    int rank, size;
    struct team teams[3];
    float x[200];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    teams[0] = make(MPI_COMM_WORLD, rank % 2, -rank, "parity");
    teams[1] = make(MPI_COMM_WORLD, rank < 4 ? 0 : MPI_UNDEFINED, rank, "first four");
    teams[2] = make(teams[0].comm, teams[0].rank == 0, 0, "rest");
    for (int i = 0; i < 3; i++) {
        struct team t = teams[i];
        if (t.comm == MPI_COMM_NULL)
            continue;
        MPI_Bcast(x, 10 * (i + 1) + t.size, MPI_FLOAT, t.size - 1, t.comm);
        if (t.size > 1 && t.rank < 2)
            MPI_Sendrecv(x, 7 + t.color % 2, MPI_FLOAT, 1 - t.rank, i, x + 100, 50, MPI_FLOAT,
                         1 - t.rank, i, t.comm, MPI_STATUS_IGNORE);
    }
    MPI_Comm best = teams[greatest(teams, 3)].comm;
    int result;
    MPI_Comm_compare(best, MPI_COMM_WORLD, &result);
    if (rank < 4)
        MPI_Allreduce(MPI_IN_PLACE, x, result == MPI_UNEQUAL ? 5 : 6, MPI_FLOAT, MPI_MAX,
                      teams[1].comm);
    release(teams, 3);
    MPI_Finalize();
    return 0;
}
