/* SPDX-License-Identifier: BSD-3-Clause */
/* Options with names; persistent requests in memory of malloc(). */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static struct {
    int n, steps, verbose;
} cfg = {10, 4, 0};
static void parse(int argc, char **argv)
{
    static const struct option longs[] = {{"size", required_argument, NULL, 'n'},
                                          {"steps", required_argument, 0, 's'},
                                          {"verbose", no_argument, 0, 'v'},
                                          {0, 0, 0, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "n:s:v", longs, NULL)) != -1)
        switch (c) {
        case 'n':
            cfg.n = atoi(optarg);
            break;
        case 's':
            cfg.steps = atoi(optarg);
            break;
        case 'v':
            cfg.verbose++;
            break;
        default:
            fprintf(stderr, "usage\n");
            exit(1);
        }
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    parse(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *buf[4];
    for (int i = 0; i < 4; i++)
        buf[i] = malloc(cfg.n * sizeof(double));
    MPI_Request *req = malloc(4 * sizeof(MPI_Request));
    int up = (rank + 1) % size, dn = (rank + size - 1) % size;
    MPI_Recv_init(buf[0], cfg.n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &req[0]);
    MPI_Recv_init(buf[1], cfg.n, MPI_DOUBLE, dn, 2, MPI_COMM_WORLD, &req[1]);
    MPI_Send_init(buf[2], cfg.n, MPI_DOUBLE, dn, 1, MPI_COMM_WORLD, &req[2]);
    MPI_Send_init(buf[3], cfg.n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &req[3]);
    for (int s = 0; s < cfg.steps; s++) {
        MPI_Startall(4, req);
        MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
        if (cfg.verbose)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(req + i);
    free(req);
    MPI_Finalize();
    return 0;
}
