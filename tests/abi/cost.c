/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops over MPI calls on two ranks, in C and with the functions of Fortran. Under callgrind each
 * loop is a profile of its own, under the name that is printed with the number of calls of both
 * ranks and of the allocations of rank 0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

/* The C library's. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static long allocations;

enum { TURNS = 50, MANY = 49, WORDS = 512, STATUS_SIZE = 16 };

typedef const MPI_Fint *in_t;

void mpi_comm_rank_(in_t comm, MPI_Fint *rank, MPI_Fint *error);
void mpi_send_(void *buffer, in_t count, in_t type, in_t rank, in_t tag, in_t comm,
               MPI_Fint *error);
void mpi_recv_(void *buffer, in_t count, in_t type, in_t rank, in_t tag, in_t comm,
               MPI_Fint *status, MPI_Fint *error);
void mpi_isend_(void *buffer, in_t count, in_t type, in_t rank, in_t tag, in_t comm,
                MPI_Fint *request, MPI_Fint *error);
void mpi_irecv_(void *buffer, in_t count, in_t type, in_t rank, in_t tag, in_t comm,
                MPI_Fint *request, MPI_Fint *error);
void mpi_wait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error);
void mpi_waitall_(in_t count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *error);
void mpi_allreduce_(void *from, void *to, in_t count, in_t type, in_t op, in_t comm,
                    MPI_Fint *error);
void mpi_bcast_(void *buffer, in_t count, in_t type, in_t root, in_t comm, MPI_Fint *error);

static double sent[WORDS], got[MANY][WORDS];
static int rank;

/* The translation belongs to the rank: it calls those of the program. */
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *block, size_t size)
{
    allocations++;
    return __libc_realloc(block, size);
}

void free(void *block)
{
    __libc_free(block);
}

/* Run a loop; `calls` are those of a rank in one turn, of MPI_Waitall one for each request. */
#define LOOP(name, calls, body)                                                                    \
    do {                                                                                           \
        MPI_Barrier(MPI_COMM_WORLD);                                                               \
        if (rank == 0)                                                                             \
            CALLGRIND_ZERO_STATS;                                                                  \
        allocations = 0;                                                                           \
        for (int turn = 0; turn < TURNS; turn++) {                                                 \
            body                                                                                   \
        }                                                                                          \
        made = allocations;                                                                        \
        MPI_Barrier(MPI_COMM_WORLD);                                                               \
        if (rank == 0) {                                                                           \
            CALLGRIND_DUMP_STATS_AT(name);                                                         \
            printf("%s: %d %ld\n", name, 2 * TURNS * (calls), made);                               \
        }                                                                                          \
    } while (0);

static void in_c(int other)
{
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int number;
    long made;

    LOOP("C rank", 1, MPI_Comm_rank(MPI_COMM_WORLD, &number);)
    LOOP(
        "C send, recv", 2,
        if (rank == 0) {
            MPI_Send(sent, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
            MPI_Recv(got, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, statuses);
        } else {
            MPI_Recv(got, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(sent, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
        })
    LOOP("C irecv, isend, wait", 4, {
        MPI_Irecv(got, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], statuses);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    })
    for (int n = MANY - 1; n <= MANY; n++)
        LOOP(n == MANY ? "C waitall of 49" : "C waitall of 48", 2 * n, {
            for (int i = 0; i < n; i++)
                if (i % 2 == rank)
                    MPI_Irecv(got[i], 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &requests[i]);
                else
                    MPI_Isend(sent, 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(n, requests, statuses);
        })
    LOOP("C allreduce of 8 B", 1, MPI_Allreduce(sent, got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);)
    LOOP("C allreduce of 4 KiB", 1,
         MPI_Allreduce(sent, got, WORDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);)
    LOOP("C bcast of 4 KiB", 1, MPI_Bcast(got, WORDS, MPI_DOUBLE, 0, MPI_COMM_WORLD);)
}

static void in_fortran(MPI_Fint other)
{
    const MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_DOUBLE);
    const MPI_Fint sum = MPI_Op_c2f(MPI_SUM), one = 1, words = WORDS, root = 0;
    MPI_Fint requests[MANY], statuses[MANY * STATUS_SIZE], number, error;
    long made;

    LOOP("Fortran rank", 1, mpi_comm_rank_(&comm, &number, &error);)
    LOOP(
        "Fortran send, recv", 2,
        if (rank == 0) {
            mpi_send_(sent, &one, &type, &other, &one, &comm, &error);
            mpi_recv_(got, &one, &type, &other, &one, &comm, statuses, &error);
        } else {
            mpi_recv_(got, &one, &type, &other, &one, &comm, statuses, &error);
            mpi_send_(sent, &one, &type, &other, &one, &comm, &error);
        })
    LOOP("Fortran irecv, isend, wait", 4, {
        mpi_irecv_(got, &one, &type, &other, &one, &comm, &requests[0], &error);
        mpi_isend_(sent, &one, &type, &other, &one, &comm, &requests[1], &error);
        mpi_wait_(&requests[0], statuses, &error);
        mpi_wait_(&requests[1], statuses, &error);
    })
    for (MPI_Fint n = MANY - 1; n <= MANY; n++)
        LOOP(n == MANY ? "Fortran waitall of 49" : "Fortran waitall of 48", 2 * n, {
            for (MPI_Fint i = 0; i < n; i++)
                if (i % 2 == rank)
                    mpi_irecv_(got[i], &one, &type, &other, &i, &comm, &requests[i], &error);
                else
                    mpi_isend_(sent, &one, &type, &other, &i, &comm, &requests[i], &error);
            mpi_waitall_(&n, requests, statuses, &error);
        })
    LOOP("Fortran allreduce of 8 B", 1,
         mpi_allreduce_(sent, got, &one, &type, &sum, &comm, &error);)
    LOOP("Fortran allreduce of 4 KiB", 1,
         mpi_allreduce_(sent, got, &words, &type, &sum, &comm, &error);)
    LOOP("Fortran bcast of 4 KiB", 1, mpi_bcast_(got, &words, &type, &root, &comm, &error);)
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int again = 0; again < 4;
         again++) { /* the first fills what is kept; others may be disturbed */
        in_c(1 - rank);
        in_fortran(1 - rank);
    }
    MPI_Finalize();
    return 0;
}
