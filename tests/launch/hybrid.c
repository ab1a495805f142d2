/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI and OpenMP: a stencil in which every thread communicates.
 *
 * A grid that is closed in both directions is cut into bands of rows, one for each rank, and each
 * band into blocks of columns, one for each thread. In every step each thread sends the upper and
 * lower rows of its block to the same thread of the ranks above and below, receives theirs, and
 * meets the others in a barrier, where the main thread waits for those that still receive. Every
 * tenth step the threads sum up what has changed, each on a communicator of its own.
 *
 * Every rank computes the whole grid as well, alone, and compares. Rank 0 prints a number that does
 * not depend on the MPI library, on ranks or on threads.
 *
 *   hybrid [STEPS]
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 48, COLUMNS = 64, THREADS = 4 };

typedef struct {
    int rows; /* of this rank; one more row on each side */
    double *now, *next;
} band_t;

static int rank, size;

static void fail(const char *what, int i, int j)
{
    fprintf(stderr, "hybrid: rank %d: %s at %d, %d\n", rank, what, i, j);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static double initial(int i, int j)
{
    return (double)((i * 37 + j * 101) % 997);
}

/* The order of the sum is the same everywhere: so is the result, to the last bit. */
static double cell(const double *above, const double *here, const double *below, int j)
{
    int left = (j + COLUMNS - 1) % COLUMNS, right = (j + 1) % COLUMNS;

    return 0.2 * here[j] + 0.2 * above[j] + 0.2 * below[j] + 0.2 * here[left] + 0.2 * here[right];
}

static void exchange(const band_t *b, int thread, int threads, MPI_Comm comm)
{
    int first = COLUMNS * thread / threads, count = COLUMNS * (thread + 1) / threads - first;
    int up = (rank + size - 1) % size, down = (rank + 1) % size;
    double *top = b->now + COLUMNS + first, *bottom = b->now + b->rows * COLUMNS + first;
    MPI_Request requests[2];

    /* One way with a nonblocking send, the other with blocking calls in one. */
    MPI_Irecv(b->now + (b->rows + 1) * COLUMNS + first, count, MPI_DOUBLE, down, 2 * thread, comm,
              &requests[0]);
    MPI_Isend(top, count, MPI_DOUBLE, up, 2 * thread, comm, &requests[1]);
    MPI_Sendrecv(bottom, count, MPI_DOUBLE, down, 2 * thread + 1, b->now + first, count, MPI_DOUBLE,
                 up, 2 * thread + 1, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static double update(const band_t *b, int thread, int threads)
{
    int first = COLUMNS * thread / threads, last = COLUMNS * (thread + 1) / threads;
    double change = 0;

    for (int i = 1; i <= b->rows; i++)
        for (int j = first; j < last; j++) {
            const double *here = b->now + i * COLUMNS;
            double value = cell(here - COLUMNS, here, here + COLUMNS, j);

            change += value > here[j] ? value - here[j] : here[j] - value;
            b->next[i * COLUMNS + j] = value;
        }
    return change;
}

/* The changes by thread `thread` of all ranks: the sum over ranks must agree on all of them. */
static void sum_changes(double change, MPI_Comm comm)
{
    double sum, most;

    MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    most = sum;
    MPI_Bcast(&most, 1, MPI_DOUBLE, size - 1, comm);
    if (sum < change || most != sum)
        fail("the sum of changes is wrong", (int)sum, (int)change);
}

static void run(band_t *b, int steps, MPI_Comm *comms)
{
#pragma omp parallel num_threads(THREADS)
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();

        for (int step = 0; step < steps; step++) {
            double change;

            exchange(b, thread, threads, MPI_COMM_WORLD);
#pragma omp barrier
            change = update(b, thread, threads);
            if (step % 10 == 9)
                sum_changes(change, comms[thread]);
#pragma omp barrier
#pragma omp single
            {
                double *other = b->now;

                b->now = b->next;
                b->next = other;
            }
        }
    }
}

static double *run_alone(int steps)
{
    double *now = malloc(ROWS * COLUMNS * sizeof(double)),
           *next = malloc(ROWS * COLUMNS * sizeof(double));

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            now[i * COLUMNS + j] = initial(i, j);
    for (int step = 0; step < steps; step++) {
        double *other = now;

        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                next[i * COLUMNS + j] = cell(now + (i + ROWS - 1) % ROWS * COLUMNS,
                                             now + i * COLUMNS, now + (i + 1) % ROWS * COLUMNS, j);
        now = next;
        next = other;
    }
    free(next);
    return now;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[THREADS];
    band_t band;
    double *alone, sum = 0;
    int provided, first, steps = argc > 1 ? atoi(argv[1]) : 40;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE || size > ROWS)
        fail("no threads, or too many ranks", provided, size);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    first = ROWS * rank / size;
    band.rows = ROWS * (rank + 1) / size - first;
    band.now = calloc((size_t)(band.rows + 2) * COLUMNS, sizeof(double));
    band.next = calloc((size_t)(band.rows + 2) * COLUMNS, sizeof(double));
    for (int i = 0; i < band.rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            band.now[(i + 1) * COLUMNS + j] = initial(first + i, j);
    run(&band, steps, comms);
    alone = run_alone(steps);
    for (int i = 0; i < band.rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (memcmp(&band.now[(i + 1) * COLUMNS + j], &alone[(first + i) * COLUMNS + j],
                       sizeof(double)) != 0)
                fail("another value than without MPI", first + i, j);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += alone[i] * (double)(i % 13);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.17g\n", sum);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    free(alone);
    free(band.now);
    free(band.next);
    MPI_Finalize();
    return 0;
}
