/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap: communicate and compute at the same time.
 *
 *   mpicc -O2 overlap.c -o overlap && mpiexec -n 16 ./overlap
 *
 * Random numbers are sorted into the bins of a histogram, batch after batch, and the histograms of
 * all ranks are added. MPI_Iallreduce only starts the addition and returns; while it is in
 * progress, the next batch is computed. MPI_Wait completes it:
 *
 *   compute 0 | start sum of 0 | compute 1 | wait for 0 | start sum of 1 | compute 2 | ...
 *               [~~~~~ in progress ~~~~~~]               [~~~~~ in progress ~~~~~]
 *
 * Until MPI_Wait the buffers belong to MPI: this is why there are two of each.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { BINS = 1024, BATCHES = 12, SAMPLES = 6000 }; /* samples in a batch, over all ranks */

/* Number i of the sequence, the same on every rank: ranks only agree on which i each one takes. */
static uint64_t random_number(uint64_t i)
{
    uint64_t x = i * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The sum of four dice with 256 sides: small and large sums are rare. */
static int bin_of(uint64_t x)
{
    return (int)((x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24 & 255));
}

static void fill(long *bins, int batch, int rank, int size)
{
    for (int b = 0; b < BINS; b++)
        bins[b] = 0;
    for (int s = rank; s < SAMPLES; s += size)
        bins[bin_of(random_number((uint64_t)batch * SAMPLES + (uint64_t)s))]++;
}

static void add(long *total, const long *bins)
{
    for (int b = 0; b < BINS; b++)
        total[b] += bins[b];
}

static void report(const long *total)
{
    long samples = 0, weighted = 0;
    int fullest = 0;

    for (int b = 0; b < BINS; b++) {
        samples += total[b];
        weighted += total[b] * b;
        if (total[b] > total[fullest])
            fullest = b;
    }
    printf("%ld samples: mean %.3f, fullest bin %d with %ld\n", samples,
           (double)weighted / (double)samples, fullest, total[fullest]);
}

int main(int argc, char **argv)
{
    long mine[2][BINS], sum[2][BINS], total[BINS] = {0};
    MPI_Request request = MPI_REQUEST_NULL; /* waiting for it returns at once */
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int batch = 0; batch <= BATCHES; batch++) {
        int now = batch % 2;

        if (batch < BATCHES)
            fill(mine[now], batch, rank, size);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (batch > 0)
            add(total, sum[1 - now]);
        if (batch < BATCHES)
            MPI_Iallreduce(mine[now], sum[now], BINS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    }

    if (rank == 0)
        report(total);
    MPI_Finalize();
    return 0;
}
