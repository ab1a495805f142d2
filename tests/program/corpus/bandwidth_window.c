/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of nonblocking messages and an answer. arguments: -w 8 -n 3 ranks: 2 4 */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
    int window, iterations;
    size_t min, max;
};

static struct options parse(int argc, char **argv)
{
    struct options o = {.window = 64, .iterations = 10, .min = 1, .max = 4096};
    int c;

    while ((c = getopt(argc, argv, "w:n:m:h")) != -1)
        switch (c) {
        case 'w':
            o.window = atoi(optarg);
            break;
        case 'n':
            o.iterations = atoi(optarg);
            break;
        case 'm':
            o.max = strtoul(optarg, NULL, 0);
            break;
        case 'h':
        default:
            fprintf(stderr, "usage: %s [-w WINDOW] [-n ITERATIONS] [-m MAX]\n", argv[0]);
            exit(c != 'h');
        }
    return o;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const struct options o = parse(argc, argv);
    MPI_Request *requests = malloc(o.window * sizeof(*requests));
    char *buffer = malloc(o.max * o.window), ack[4];
    const int pairs = size / 2, is_sender = rank < pairs;
    const int peer = is_sender ? rank + pairs : rank - pairs;

    for (size_t n = o.min; n <= o.max && rank < 2 * pairs; n <<= 2) {
        for (int it = 0; it < o.iterations; it++) {
            for (int w = 0; w < o.window; w++)
                if (is_sender)
                    MPI_Isend(buffer + w * n, (int)n, MPI_CHAR, peer, 100, MPI_COMM_WORLD,
                              requests + w);
                else
                    MPI_Irecv(buffer + w * n, (int)n, MPI_CHAR, peer, 100, MPI_COMM_WORLD,
                              requests + w);
            MPI_Waitall(o.window, requests, MPI_STATUSES_IGNORE);
            if (is_sender)
                MPI_Recv(ack, 4, MPI_CHAR, peer, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(ack, 4, MPI_CHAR, peer, 101, MPI_COMM_WORLD);
        }
    }
    free(buffer);
    free(requests);
    MPI_Finalize();
    return 0;
}
