/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One communication pattern, timed by the program itself: seconds of one round, the longest of all
 * ranks, by whatever clock MPI_Wtime has.
 *
 *   predicted PATTERN BYTES ROUNDS
 *
 *   pingpong   ranks 2k and 2k+1 send BYTES to and fro; the time of one message
 *   bcast scatter gather allreduce alltoall    BYTES for each rank (bcast, allreduce: in all)
 *   halo       a periodic grid of ranks, four neighbours, Isend, Irecv, Waitall
 *   cg         conjugate gradients on a line of BYTES/8 unknowns per rank: two neighbours of 8 B,
 *              two sums, and the sweeps over vectors between them
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *in, *out;
static int rank, size, bytes;

static void pingpong(void)
{
    int peer = rank ^ 1;

    if (peer >= size)
        return;
    if (rank < peer) {
        MPI_Send(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
}

static void halo(void)
{
    static int dims[2], near[4];
    MPI_Request requests[8];

    if (dims[0] == 0) {
        MPI_Dims_create(size, 2, dims);
        near[0] = (rank + dims[1]) % size;
        near[1] = (rank + size - dims[1]) % size;
        near[2] = rank / dims[1] * dims[1] + (rank + 1) % dims[1];
        near[3] = rank / dims[1] * dims[1] + (rank + dims[1] - 1) % dims[1];
    }
    for (int i = 0; i < 4; i++)
        MPI_Irecv(out + (size_t)i * bytes, bytes, MPI_BYTE, near[i ^ 1], i, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(in + (size_t)i * bytes, bytes, MPI_BYTE, near[i], i, MPI_COMM_WORLD,
                  &requests[4 + i]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0, all;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* One step for the matrix (-1 2.01 -1). */
static void cg(void)
{
    static double *x, *r, *p, *q, rho;
    int n = bytes / 8, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double alpha, beta, next;

    if (x == NULL) {
        x = calloc((size_t)n, 8);
        r = malloc((size_t)n * 8);
        q = malloc((size_t)n * 8);
        p = calloc((size_t)n + 2, 8);
        for (int i = 0; i < n; i++)
            r[i] = p[i + 1] = 1;
        rho = dot(r, r, n);
    }
    MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 1, &p[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[n], 1, MPI_DOUBLE, right, 2, &p[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        q[i] = 2.01 * p[i + 1] - p[i] - p[i + 2];
    alpha = rho / dot(p + 1, q, n);
    for (int i = 0; i < n; i++) {
        x[i] += alpha * p[i + 1];
        r[i] -= alpha * q[i];
    }
    next = dot(r, r, n);
    beta = next / rho;
    rho = next > 1e-200 ? next : 1;
    for (int i = 0; i < n; i++)
        p[i + 1] = r[i] + beta * p[i + 1];
}

static void round_of(const char *what)
{
    if (strcmp(what, "pingpong") == 0)
        pingpong();
    else if (strcmp(what, "bcast") == 0)
        MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "scatter") == 0)
        MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "gather") == 0)
        MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "allreduce") == 0)
        MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "alltoall") == 0)
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (strcmp(what, "halo") == 0)
        halo();
    else if (strcmp(what, "cg") == 0)
        cg();
    else {
        fprintf(stderr, "predicted: there is no '%s'\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    double begin, mine, all;
    int rounds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) {
        fprintf(stderr, "usage: predicted PATTERN BYTES ROUNDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bytes = atoi(argv[2]);
    rounds = atoi(argv[3]);
    in = calloc((size_t)bytes + 8, size > 4 ? (size_t)size : 4);
    out = calloc((size_t)bytes + 8, size > 4 ? (size_t)size : 4);
    round_of(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        round_of(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    mine = (MPI_Wtime() - begin) / rounds;
    if (strcmp(argv[1], "pingpong") == 0)
        mine /= 2;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9g\n", all);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
