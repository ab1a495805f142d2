/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a file, "FROM TO BYTES" in each line, all started at once: prints when each is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES_MAX = 4096 };

int main(int argc, char **argv)
{
    static MPI_Request requests[2 * MESSAGES_MAX];
    static int from_of[2 * MESSAGES_MAX];
    int rank, count = 0, sends = 0, from, to, at;
    long bytes;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    char *out = calloc(1, 1 << 20);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (file == NULL || out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (fscanf(file, "%d %d %ld", &from, &to, &bytes) == 3)
        if (to == rank && from != to && count < MESSAGES_MAX) {
            from_of[count] = from;
            MPI_Irecv(calloc(1, (size_t)bytes), (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                      &requests[count++]);
        }
    rewind(file);
    while (fscanf(file, "%d %d %ld", &from, &to, &bytes) == 3)
        if (from == rank && from != to && sends < MESSAGES_MAX) {
            from_of[count + sends] = -1;
            MPI_Isend(out, (int)bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[count + sends++]);
        }
    for (int i = 0; i < count + sends; i++) {
        MPI_Waitany(count + sends, requests, &at, MPI_STATUS_IGNORE);
        if (from_of[at] >= 0)
            printf("message %d %d %.9g\n", from_of[at], rank, MPI_Wtime());
    }
    MPI_Finalize();
    return 0;
}
