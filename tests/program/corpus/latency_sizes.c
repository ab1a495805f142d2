/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong over doubling sizes with skipped iterations, as benchmarks have it. ranks: 2 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_MSG_SIZE       (1 << 14)
#define MAX_ALIGNMENT      65536
#define LARGE_MESSAGE_SIZE 8192

static int loop = 12, skip = 2;
static int loop_large = 4, skip_large = 1;

int main(int argc, char *argv[])
{
    int myid, numprocs, i, size, align_size;
    MPI_Status reqstat;
    char *s_buf, *r_buf, *s_raw, *r_raw;
    double t_start = 0.0, t_end = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &numprocs);
    MPI_Comm_rank(MPI_COMM_WORLD, &myid);
    if (numprocs != 2) {
        if (myid == 0)
            fprintf(stderr, "This test requires exactly two processes\n");
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    align_size = getpagesize();
    s_raw = malloc(MAX_MSG_SIZE + MAX_ALIGNMENT);
    r_raw = malloc(MAX_MSG_SIZE + MAX_ALIGNMENT);
    s_buf = (char *)(((unsigned long)s_raw + (align_size - 1)) / align_size * align_size);
    r_buf = (char *)(((unsigned long)r_raw + (align_size - 1)) / align_size * align_size);
    if (myid == 0)
        printf("# Size Latency (us)\n");
    for (size = 0; size <= MAX_MSG_SIZE; size = (size ? size * 2 : size + 1)) {
        for (i = 0; i < size; i++) {
            s_buf[i] = 'a';
            r_buf[i] = 'b';
        }
        if (size > LARGE_MESSAGE_SIZE) {
            loop = loop_large;
            skip = skip_large;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (myid == 0) {
            for (i = 0; i < loop + skip; i++) {
                if (i == skip)
                    t_start = MPI_Wtime();
                MPI_Send(s_buf, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(r_buf, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &reqstat);
            }
            t_end = MPI_Wtime();
        } else if (myid == 1) {
            for (i = 0; i < loop + skip; i++) {
                MPI_Recv(r_buf, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &reqstat);
                MPI_Send(s_buf, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
        }
        if (myid == 0) {
            double latency = (t_end - t_start) * 1.0e6 / (2.0 * loop);
            printf("%-*d%*.*f\n", 10, size, 18, 2, latency);
        }
    }
    free(s_raw);
    free(r_raw);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
