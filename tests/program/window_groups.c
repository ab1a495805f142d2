/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs between neighbours: post, start, complete and wait. */
#include <mpi.h>
#include <stdio.h>

static int inbox[2] = {1, 1};

int main(int argc, char **argv)
{
    int rank, size, ranks[2], steps = 4;
    MPI_Group all, near;
    MPI_Win window;
    char data[512] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 3) {
        MPI_Finalize();
        return 0;
    }
    MPI_Win_create(inbox, sizeof inbox, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_name(window, "inbox");
    MPI_Win_get_group(window, &all);
    ranks[0] = (rank + size - 1) % size;
    ranks[1] = (rank + 1) % size;
    MPI_Group_incl(all, 2, ranks, &near);
    for (int step = 0; step < steps; step++) {
        int value = inbox[0] + inbox[1] + rank;

        MPI_Win_post(near, 0, window);
        MPI_Win_start(near, 0, window);
        MPI_Put(&value, 1, MPI_INT, ranks[0], sizeof(int), 1, MPI_INT, window);
        MPI_Put(&value, 1, MPI_INT, ranks[1], 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        if (step % 2 == 0) {
            MPI_Win_wait(window);
        } else {
            int flag = 0;

            while (!flag)
                MPI_Win_test(window, &flag);
        }
        MPI_Bcast(data, inbox[0] % 100 + inbox[1] % 100 < 500 ? 50 + step : 3, MPI_CHAR,
                  step % size, MPI_COMM_WORLD);
    }
    MPI_Sendrecv(data, inbox[0] % 200, MPI_CHAR, ranks[1], 0, data + 256, 256, MPI_CHAR, ranks[0],
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Group_free(&near);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
