/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes of the program: the rank, the signal, the MPI call and the stack. */
#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <sys/mman.h>

#include "bugs.h"

static volatile int zero;

/* Other processors divide by zero in silence, and have other traps. */
#if defined(__x86_64__)
#define DIVIDE(a, b) ((a) / (b))
#define TRAP()       __builtin_trap()
#else
#define DIVIDE(a, b) ((b) == 0 ? raise(SIGFPE) : (a) / (b))
#define TRAP()       __asm__ volatile("udf #0")
#endif

/* ranks: 3
 * code: 136
 * says: rank 2: arithmetic error (SIGFPE) in program code, at @here
 * says:   divided at @here
 * says:   main at main.c:* */
BUG(divided)
{
    if (!wrong)
        zero = 1;
    if (rank == 2)
        numbers[0] = DIVIDE(7, zero); // @here
}

/* code: 132
 * says: rank 0: illegal instruction in program code, at @here
 * says:   trapped at @here
 * says:   main at main.c:* */
BUG(trapped)
{
    if (wrong && rank == 0)
        TRAP(); // @here
}

/* ranks: 4
 * code: 134
 * says: Assertion `!wrong || rank != 3' failed*
 * says: rank 3: aborted (SIGABRT) in program code, at @here
 * says:   asserted at @here
 * says:   main at main.c:* */
BUG(asserted)
{
    assert(!wrong || rank != 3); // @here
}

/* code: 134
 * says: *double free*
 * says: rank 1: aborted (SIGABRT) in program code, at @here
 * says:   freed_memory_twice at @here
 * says:   main at main.c:* */
BUG(freed_memory_twice)
{
    void *volatile memory = malloc(100);

    if (wrong && rank == 1)
        free(memory);
    free(memory); // @here
}

static void (*volatile function)(void);

/* code: 139
 * says: rank 0: segmentation fault (address *) in program code, at @here
 * says:   called_nothing at @here
 * says:   main at main.c:* */
BUG(called_nothing)
{
    if (wrong && rank == 0)
        function(); // @here
}

static int *volatile nowhere;

static void add_badly(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)type;
    if (wrong)
        nowhere[1] = *count; // @store
    else
        *(int *)inout += 1;
}

/* A function of the program that MPI calls.
 * code: 139
 * says: segmentation fault (address *) in MPI_Allreduce, at @store
 * says:   add_badly at @store
 * says:   crash_in_operation at @here
 * says:   main at main.c:* */
BUG(crash_in_operation)
{
    MPI_Op op;

    MPI_Op_create(add_badly, 1, &op);
    MPI_Allreduce(numbers, others, 1, MPI_INT, op, world); // @here
    MPI_Op_free(&op);
}

/* The buffer ends before the message does.
 * code: 139
 * says: segmentation fault (address *) in MPI_Recv, at @here
 * says:   received_nowhere at @here
 * says:   main at main.c:* */
BUG(received_nowhere)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    else
        MPI_Recv(wrong ? (int *)64 : others, 1, MPI_INT, 0, 0, world, ignore); // @here
}

/* In virtual time another stack is at work there.
 * options: --virtual core:2 --compute none
 * code: 139
 * says: rank 1: segmentation fault (address *) in MPI_Recv, at @here
 * says:   received_nowhere_virtual at @here
 * says:   main at main.c:* */
BUG(received_nowhere_virtual)
{
    if (rank == 0)
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    else
        MPI_Recv(wrong ? (int *)64 : others, 1, MPI_INT, 0, 0, world, ignore); // @here
}

/* A check does not make the memory writable. Either rank copies.
 * options: --check=buffers,go-on
 * code: 139
 * says: error: rank 1: MPI_Irecv at @here receives into memory that cannot be written
 * [buffer-read-only]
 * says: segmentation fault (address *) in MPI_*
 * says:   received_read_only at *
 * says:   main at main.c:* */
BUG(received_read_only)
{
    size_t bytes = 1 << 16;
    int access = wrong ? PROT_READ : PROT_READ | PROT_WRITE;
    char *memory = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *sent = calloc(bytes, 1);
    MPI_Request request;

    if (rank == 1)
        MPI_Irecv(memory, (int)bytes, MPI_BYTE, 0, 0, world, &request); // @here
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Send(sent, (int)bytes, MPI_BYTE, 1, 0, world);
    else
        MPI_Wait(&request, ignore);
    free(sent);
    munmap(memory, bytes);
}

/* ranks: 64
 * code: 139
 * says: rank 41: segmentation fault (address *) in program code, at @here
 * says:   crash_of_64 at @here
 * says:   main at main.c:* */
BUG(crash_of_64)
{
    MPI_Barrier(world);
    if (wrong && rank == 41)
        nowhere[2] = 1; // @here
    MPI_Barrier(world);
}

/* code: 142
 * says: rank 1: ended by SIGALRM (Alarm clock)* */
BUG(raised)
{
    if (wrong && rank == 1)
        raise(SIGALRM);
}

/* code: 9
 * ranks: 3
 * says: MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD with errorcode 9 (at @here)
 */
BUG(abort_of_mpi)
{
    if (wrong && rank == 2)
        MPI_Abort(world, 9); // @here
    MPI_Barrier(world);
}
