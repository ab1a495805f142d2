/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that cannot be written: reported with --check. */
#include "bugs.h"

#include <stdint.h>
#include <sys/mman.h>

static const int fixed[32] = {1, 2, 3};

static int *place(void)
{
    return wrong ? (int *)(uintptr_t)fixed : others;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into memory that cannot be written: the variable
 * 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_receive)
{
    if (rank == 0)
        MPI_Send(numbers, 8, MPI_INT, 1, 0, world);
    else
        MPI_Recv(place(), 8, MPI_INT, 0, 0, world, ignore); // @here
}

/* Also where an empty message arrives.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Irecv at @here receives into memory that cannot be written: the variable
 * 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_irecv)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Send(numbers, 0, MPI_INT, 0, 0, world);
        return;
    }
    MPI_Irecv(place(), 8, MPI_INT, MPI_ANY_SOURCE, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Bcast at @here receives into memory that cannot be written: the variable
 * 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_bcast)
{
    /* The root sends from it. */
    MPI_Bcast(rank == 0 ? (int *)(uintptr_t)fixed : place(), 16, MPI_INT, 0, world); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Reduce at @here receives into memory that cannot be written: the
 * variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_reduce)
{
    MPI_Reduce(numbers, rank == 0 ? place() : NULL, 4, MPI_INT, MPI_SUM, 0, world); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Allreduce at @here receives into memory that cannot be written: the
 * variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_allreduce)
{
    MPI_Allreduce(MPI_IN_PLACE, place(), 4, MPI_INT, MPI_SUM, world); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Gather at @here receives into memory that cannot be written: the
 * variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_gather)
{
    MPI_Gather(numbers, 2, MPI_INT, rank == 1 ? place() : NULL, 2, MPI_INT, 1, world); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Iscatter at @here receives into memory that cannot be written: the
 * variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_iscatter)
{
    int *got = rank == 0 ? others : place();
    MPI_Request request;

    MPI_Iscatter(numbers, 3, MPI_INT, got, 3, MPI_INT, 0, world, &request); // @here
    MPI_Wait(&request, ignore);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Sendrecv at @here receives into memory that cannot be written: the
 * variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_sendrecv)
{
    int *got = rank == 0 ? place() : others, to = 1 - rank;

    MPI_Sendrecv(numbers, 1, MPI_INT, to, 0, got, 1, MPI_INT, to, 0, world, ignore); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Sendrecv_replace at @here receives into memory that cannot be written:
 * the variable 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_replaced)
{
    int *both = rank == 1 ? place() : others;

    MPI_Sendrecv_replace(both, 5, MPI_INT, 1 - rank, 0, 1 - rank, 0, world, ignore); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Mrecv at @here receives into memory that cannot be written: the variable
 * 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_mrecv)
{
    MPI_Message message;

    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 3, world);
        return;
    }
    MPI_Mprobe(0, 3, world, &message, ignore);
    MPI_Mrecv(place(), 1, MPI_INT, &message, ignore); // @here
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Get at @here receives into memory that cannot be written: the variable
 * 'fixed' of 128 bytes [buffer-read-only]
 */
BUG(check_constant_get)
{
    MPI_Win win;

    MPI_Win_create(others, 64, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(place(), 4, MPI_INT, 1, 0, 4, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* A literal, in a structure with gaps.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into memory that cannot be written
 * [buffer-read-only]
 */
BUG(check_literal_receive)
{
    char words[] = "four words of text", *text = words;
    MPI_Datatype every_second;

    if (wrong)
        text = (char *)(uintptr_t) "four words of text";
    MPI_Type_vector(4, 1, 2, MPI_CHAR, &every_second);
    MPI_Type_commit(&every_second);
    if (rank == 0)
        MPI_Send(words, 1, every_second, 1, 0, world);
    else
        MPI_Recv(text, 1, every_second, 0, 0, world, ignore); // @here
    MPI_Type_free(&every_second);
}

/* Only the last page.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Start of MPI_Recv_init at @here receives into memory that cannot be
 * written [buffer-read-only]
 */
BUG(check_half_read_only)
{
    enum { HALF = 1 << 16 };
    char *memory = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Request request;

    if (rank == 0) {
        MPI_Send(memory, 2 * HALF, MPI_BYTE, 1, 0, world);
    } else {
        mprotect(memory + HALF, HALF, wrong ? PROT_READ : PROT_READ | PROT_WRITE);
        MPI_Recv_init(memory, 2 * HALF, MPI_BYTE, 0, 0, world, &request);
        MPI_Start(&request); // @here
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
    }
    munmap(memory, 2 * HALF);
}
