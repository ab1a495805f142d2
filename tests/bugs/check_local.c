/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of calls that only compute, and memory that is not from malloc: reported with --check. */
#include <sys/mman.h>
#include <unistd.h>

#include "bugs.h"

/* A block of so many integers, in the wrong program 16 bytes too short. */
static int *room(int count)
{
    return calloc((size_t)(count - (wrong ? 4 : 0)), sizeof(int)); // @room
}

/* options: --check=buffers
 * ranks: 1
 * code: 121
 * says: error: rank 0: MPI_Reduce_local at @here writes to a block of 64 bytes, allocated at @room;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_reduce_local)
{
    int *mine = room(20);

    MPI_Reduce_local(numbers, mine, 20, MPI_INT, MPI_SUM); // @here
    free(mine);
}

/* options: --check
 * ranks: 1
 * code: 120
 * says: MPI_Reduce_local at @here has MPI_FLOAT, but the variable 'sums' has elements of type
 * double [buffer-type]
 */
BUG(check_type_reduce_local)
{
    double sums[4] = {0}, more[4] = {1, 2, 3, 4};
    float parts[4] = {1, 2, 3, 4};

    if (wrong)
        MPI_Reduce_local(parts, sums, 4, MPI_FLOAT, MPI_SUM); // @here
    else
        MPI_Reduce_local(more, sums, 4, MPI_DOUBLE, MPI_SUM);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Reduce_local(in, inout, *count, *type, MPI_SUM);
}

/* An operation of the program makes such a call inside of another one.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Allreduce at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_user_operation)
{
    int *mine = room(20);
    MPI_Op op;

    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(numbers, mine, 20, MPI_INT, op, world); // @here
    MPI_Op_free(&op);
    free(mine);
}

/* options: --check=buffers
 * ranks: 1
 * code: 121
 * says: error: rank 0: MPI_Pack at @here writes to a block of 64 bytes, allocated at @room; its
 * count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_pack)
{
    int *packed = room(20), at = 40;

    MPI_Pack(numbers, 10, MPI_INT, packed, 80, &at, world); // @here
    free(packed);
}

/* options: --check=buffers
 * ranks: 1
 * code: 121
 * says: error: rank 0: MPI_Unpack at @here reads from a block of 64 bytes, allocated at @room; its
 * count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_unpack)
{
    int *packed = room(20), at = 40;

    MPI_Unpack(packed, 80, &at, numbers, 10, MPI_INT, world); // @here
    free(packed);
}

/* options: --check=buffers
 * ranks: 1
 * code: 121
 * says: error: rank 0: MPI_Unpack_external at @here reads from memory that was freed at @free: a
 * block of *
 */
BUG(check_freed_unpack)
{
    char *packed = calloc(32, 1);
    MPI_Aint at = 0;

    if (wrong)
        free(packed);                                                        // @free
    MPI_Unpack_external("external32", packed, 32, &at, numbers, 8, MPI_INT); // @here
    if (!wrong)
        free(packed);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Unpack at @here reads from memory that MPI_Irecv at @begin receives
 * into, which is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_early_unpack)
{
    char packed[40];
    int at = 0;
    MPI_Request request;

    if (rank == 0) {
        MPI_Pack(numbers, 10, MPI_INT, packed, 40, &at, world);
        MPI_Send(packed, at, MPI_PACKED, 1, 3, world);
        return;
    }
    MPI_Irecv(packed, 40, MPI_PACKED, 0, 3, world, &request); // @begin
    if (wrong)
        MPI_Unpack(packed, 40, &at, others, 10, MPI_INT, world); // @here
    MPI_Wait(&request, ignore);
    at = 0;
    MPI_Unpack(packed, 40, &at, others, 10, MPI_INT, world);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Pack at @here writes to memory that MPI_Isend at @begin sends from,
 * which is not complete; they have byte 4 of its buffer in common [buffer-overlap]
 */
BUG(check_pack_while_sent)
{
    char packed[40] = "";
    int at = 4;
    MPI_Request request;

    if (rank == 0) {
        MPI_Recv(packed, 40, MPI_PACKED, 1, 3, world, ignore);
        return;
    }
    MPI_Isend(packed, 40, MPI_PACKED, 0, 3, world, &request); // @begin
    if (!wrong)
        MPI_Wait(&request, ignore);
    MPI_Pack(numbers, 1, MPI_INT, packed, 40, &at, world); // @here
    if (wrong)
        MPI_Wait(&request, ignore);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into a block of 64 bytes, allocated at @allocate;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_alloc_mem)
{
    int *mine;

    MPI_Alloc_mem(wrong ? 64 : 80, MPI_INFO_NULL, &mine); // @allocate
    if (rank == 0)
        MPI_Send(numbers, 4, MPI_INT, 1, 0, world);
    else
        MPI_Recv(mine, 20, MPI_INT, 0, 0, world, ignore); // @here
    MPI_Free_mem(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @allocate [buffer-freed]
 */
BUG(check_freed_alloc_mem)
{
    int *mine;

    MPI_Alloc_mem(80, MPI_INFO_NULL, &mine); // @allocate
    memset(mine, 0, 80);
    if (wrong)
        MPI_Free_mem(mine); // @free
    if (rank == 0)
        MPI_Send(mine, 20, MPI_INT, 1, 0, world); // @here
    else
        MPI_Recv(numbers, 20, MPI_INT, 0, 0, world, ignore);
    if (!wrong)
        MPI_Free_mem(mine);
}

/* options: --check=buffers
 * ranks: 1
 * code: 121
 * says: error: rank 0: MPI_Buffer_attach at @here writes to a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_attached)
{
    int *space = room(20), bytes;
    void *attached;

    MPI_Buffer_attach(space, 80); // @here
    MPI_Buffer_detach(&attached, &bytes);
    free(space);
}

/* Two pages; the wrong program has mapped only the first. Nothing follows them. */
static char *map_pages(size_t page)
{
    char *memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(memory, wrong ? page : 2 * page, PROT_READ | PROT_WRITE);
    return memory;
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into mapped memory; its count and datatype reach
 * * bytes beyond the end of the mapping [buffer-too-small]
 */
BUG(check_short_mapping)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = map_pages(page);

    if (rank == 0)
        MPI_Send(numbers, 10, MPI_CHAR, 1, 0, world);
    else
        MPI_Recv(memory, (int)(2 * page), MPI_CHAR, 0, 0, world, ignore); // @here
    munmap(memory, 3 * page);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Bcast at @here sends from mapped memory; its count and datatype reach *
 * bytes beyond the end of the mapping [buffer-too-small]
 */
BUG(check_short_mapping_root)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = map_pages(page), *room_for_all = malloc(2 * page);

    MPI_Bcast(rank == 0 ? memory : room_for_all, (int)(2 * page), MPI_CHAR, 0, world); // @here
    munmap(memory, 3 * page);
    free(room_for_all);
}
