/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Master and workers: an idle rank gets the next task.
 *
 *   mpicc -O2 master_worker.c -o master_worker && mpiexec -n 9 ./master_worker
 *
 * The tasks (find the primes between two numbers) take different times, so a fixed distribution
 * would leave ranks idle. Rank 0 is the master: it receives from the first rank that is ready
 * (MPI_ANY_SOURCE), and the status contains the number of that rank. Answers have different
 * lengths: MPI_Probe waits for a message without receiving it, and MPI_Get_count gives its length.
 *
 *   worker -> master   READY    empty; asks for a task
 *   master -> worker   TASK     the number of a block      or  STOP   no more tasks
 *   worker -> master   ANSWER   the primes of the block; this also means ready
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { READY = 1, TASK, STOP, ANSWER };
enum { BLOCK = 1000, BLOCKS = 60 };

static int is_prime(int n)
{
    if (n < 4)
        return n > 1;
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

static int find_primes(int block, int *primes)
{
    int count = 0;

    for (int n = block * BLOCK; n < (block + 1) * BLOCK; n++)
        if (is_prime(n))
            primes[count++] = n;
    return count;
}

typedef struct {
    long count, sum;
    int largest;
} total_t;

static void add(total_t *total, int count, const int *primes)
{
    for (int i = 0; i < count; i++) {
        total->sum += primes[i];
        if (primes[i] > total->largest)
            total->largest = primes[i];
    }
    total->count += count;
}

/* The next task for `worker`, or the end of its work. Gives 1 when it was the end. */
static int assign(int *next, int worker)
{
    if (*next == BLOCKS) {
        MPI_Send(NULL, 0, MPI_INT, worker, STOP, MPI_COMM_WORLD);
        return 1;
    }
    MPI_Send(next, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
    (*next)++;
    return 0;
}

static void master(int workers, total_t *total)
{
    int next = 0, count;
    int *answer;
    MPI_Status status;

    while (workers > 0) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        answer = malloc(((size_t)count + 1) * sizeof(int));
        if (answer == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Recv(answer, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        add(total, count, answer); /* a worker that is ready for the first time sends no numbers */
        free(answer);
        workers -= assign(&next, status.MPI_SOURCE);
    }
}

static void work(void)
{
    int block, count, primes[BLOCK];
    MPI_Status status;

    MPI_Send(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD);
    for (;;) {
        MPI_Recv(&block, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        count = find_primes(block, primes);
        MPI_Send(primes, count, MPI_INT, 0, ANSWER, MPI_COMM_WORLD);
    }
}

/* With a single rank there are no workers. */
static void work_alone(total_t *total)
{
    int primes[BLOCK];

    for (int block = 0; block < BLOCKS; block++)
        add(total, find_primes(block, primes), primes);
}

int main(int argc, char **argv)
{
    int rank, size;
    total_t total = {0, 0, 0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        work();
    else if (size > 1)
        master(size - 1, &total);
    else
        work_alone(&total);
    if (rank == 0)
        printf("%ld primes below %d; their sum is %ld, the largest is %d\n", total.count,
               BLOCK * BLOCKS, total.sum, total.largest);
    MPI_Finalize();
    return 0;
}
