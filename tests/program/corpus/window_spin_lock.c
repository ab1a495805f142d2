/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that is made of MPI_Compare_and_swap. */
#include <mpi.h>
#include <stdbool.h>

typedef struct {
    MPI_Win window;
    int *state; /* the owner and 1, and how often it was taken */
    MPI_Comm comm;
    int rank, tries;
} mutex_t;

static void mutex_init(mutex_t *m, MPI_Comm comm)
{
    MPI_Comm_dup(comm, &m->comm);
    MPI_Comm_rank(m->comm, &m->rank);
    m->tries = 0;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, m->comm, &m->state, &m->window);
    m->state[0] = m->state[1] = 0;
    MPI_Barrier(m->comm);
    MPI_Win_lock_all(0, m->window);
}

static void mutex_take(mutex_t *m)
{
    int mine = m->rank + 1, nobody = 0, found;

    do {
        MPI_Compare_and_swap(&mine, &nobody, &found, MPI_INT, 0, 0, m->window);
        MPI_Win_flush(0, m->window);
        m->tries++;
    } while (found != nobody);
}

static int mutex_give(mutex_t *m)
{
    int nobody = 0, one = 1, turn, mine;

    MPI_Fetch_and_op(&one, &turn, MPI_INT, 0, 1, MPI_SUM, m->window);
    MPI_Get_accumulate(&nobody, 1, MPI_INT, &mine, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE,
                       m->window);
    MPI_Win_flush(0, m->window);
    return mine == m->rank + 1 ? turn : -1;
}

static void mutex_free(mutex_t *m)
{
    MPI_Win_unlock_all(m->window);
    MPI_Win_free(&m->window);
    MPI_Comm_free(&m->comm);
}

int main(int argc, char **argv)
{
    mutex_t m;
    int turn, size;
    char data[256] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mutex_init(&m, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        mutex_take(&m);
        turn = mutex_give(&m);
        if (m.rank > 0)
            MPI_Send(data, turn + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        else
            for (int r = 1; r < size; r++)
                MPI_Recv(data, 256, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    mutex_free(&m);
    MPI_Finalize();
    return 0;
}
