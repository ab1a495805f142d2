/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of unknown length from anybody: probe, allocate, receive, answer by the length. */
#include <mpi.h>
#include <stdlib.h>

#define REQUEST 1
#define ANSWER  2

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        for (int n = 0; n < 2 * (size - 1); n++) {
            MPI_Status s;
            int count;
            double *room;

            MPI_Probe(MPI_ANY_SOURCE, REQUEST, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_DOUBLE, &count);
            room = malloc(count * sizeof *room);
            MPI_Recv(room, count, MPI_DOUBLE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(room, count / 2, MPI_DOUBLE, s.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
            free(room);
        }
    } else {
        double *work = calloc(100, sizeof(double));
        for (int k = 1; k <= 2; k++) {
            MPI_Send(work, 10 * k + 2 * rank, MPI_DOUBLE, size - 1, REQUEST, MPI_COMM_WORLD);
            MPI_Recv(work, 100, MPI_DOUBLE, size - 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        free(work);
    }
    MPI_Finalize();
    return 0;
}
