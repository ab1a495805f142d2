/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of one call, collectives between groups, and values that are fetched: with --check. */
#include "bugs.h"

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Gatherv at @here receives blocks 0 and 1 into the same memory
 * [buffer-overlap]
 */
BUG(check_gatherv_blocks)
{
    int counts[2] = {3, 3}, places[2] = {0, wrong ? 2 : 3};

    MPI_Gatherv(numbers, 3, MPI_INT, others, counts, places, MPI_INT, 0, world); // @here
}

/* What is sent may overlap.
 * ranks: 3
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Ialltoallw at @here receives blocks 0 and 2 into the same memory
 * [buffer-overlap]
 */
BUG(check_alltoallw_blocks)
{
    int counts[3] = {2, 2, 2}, sent[3] = {0, 4, 4}, places[3] = {8, 0, wrong ? 12 : 16};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request;

    MPI_Ialltoallw(numbers, counts, sent, types, others, // @here
                   counts, places, types, world, &request);
    MPI_Wait(&request, ignore);
}

/* Columns lie between each other; those of rank 1 are too wide.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Allgatherv at @here receives blocks 0 and 1 into the same memory
 * [buffer-overlap]
 */
BUG(check_allgatherv_columns)
{
    int counts[2] = {1, 1}, places[2] = {0, wrong ? 1 : 2};
    MPI_Datatype column, narrow;

    MPI_Type_vector(8, 2, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_commit(&narrow);
    MPI_Allgatherv(numbers, 16, MPI_INT, others, counts, places, narrow, world); // @here
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
}

/* Two groups of two ranks, and a communicator between them. */
static MPI_Comm connect(void)
{
    MPI_Comm half, between;

    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 0, &between);
    MPI_Comm_free(&half);
    return between;
}

/* ranks: 4
 * options: --check=buffers
 * code: 121
 * says: error: rank 2: the send buffer of MPI_Iallgather at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_between_groups_changed)
{
    MPI_Comm between = connect();
    MPI_Request request;

    MPI_Iallgather(numbers, 2, MPI_INT, others, 2, MPI_INT, between, &request); // @start
    if (wrong && rank == 2)
        numbers[1] = 99;
    MPI_Wait(&request, ignore); // @wait
    MPI_Comm_free(&between);
}

/* ranks: 4
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the send buffer of MPI_Ibcast at @start was changed before MPI_Wait at @wait
 * [buffer-changed]
 */
BUG(check_root_of_groups)
{
    int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm between = connect();
    MPI_Request request;

    MPI_Ibcast(numbers, 50, MPI_INT, root, between, &request); // @start
    if (rank == 0 && wrong)
        numbers[49]++;
    MPI_Wait(&request, ignore); // @wait
    if (rank == 0)
        numbers[49]++;
    MPI_Comm_free(&between);
}

/* ranks: 4
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the send buffer of MPI_Ialltoall at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_blocks_between_groups)
{
    MPI_Comm between = connect();
    MPI_Request request;

    MPI_Ialltoall(numbers, 3, MPI_INT, others, 3, MPI_INT, between, &request); // @start
    numbers[6] = 1;
    if (wrong && rank == 1)
        numbers[5] = 1;
    MPI_Wait(&request, ignore); // @wait
    MPI_Comm_free(&between);
}

/* A window of one number of each rank, which all have locked. */
static MPI_Win open_window(void)
{
    int *base;
    MPI_Win win;

    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, world, &base, &win);
    base[0] = base[1] = 0;
    MPI_Barrier(world);
    MPI_Win_lock_all(0, win);
    return win;
}

static void close_window(MPI_Win win)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the origin buffer of MPI_Compare_and_swap at @swap was changed before
 * MPI_Win_flush_local at @flush [buffer-changed]
 */
BUG(check_compare_changed)
{
    MPI_Win win = open_window();
    int one = 1, compare = 0, result;

    MPI_Compare_and_swap(&one, &compare, &result, MPI_INT, 1, 0, win); // @swap
    if (wrong && rank == 0)
        compare = 7;
    MPI_Win_flush_local(1, win); // @flush
    compare = 7;
    close_window(win);
}

/* A flush of one target does not end what is done at another.
 * ranks: 3
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the origin buffer of MPI_Put at @put was changed before MPI_Win_unlock_all
 * at * [buffer-changed]
 */
BUG(check_other_target_flushed)
{
    MPI_Win win = open_window();
    int mine = rank, other = rank;

    if (rank == 0) {
        MPI_Put(&mine, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // @put
        MPI_Put(&other, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
        MPI_Win_flush_local(wrong ? 2 : 1, win);
        mine = 7;
    }
    close_window(win);
}

/* MPI_Win_flush_local does not complete a put at its target.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank *: MPI_Get at @get and MPI_Put of rank 0 at @put use the same memory of rank 1
 * in *epoch* (byte 0 of its window); * [rma-conflict]
 */
BUG(check_flush_local)
{
    MPI_Win win = open_window();
    int got = 0;

    if (rank == 0) {
        MPI_Put(&size, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // @put
        if (wrong)
            MPI_Win_flush_local(1, win);
        else
            MPI_Win_flush(1, win);
    }
    MPI_Barrier(world);
    if (rank == 2)
        MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // @get
    close_window(win);
}

/* The same of another target.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank *: MPI_Get at @get and MPI_Put of rank 0 at @put use the same memory of rank 1
 * in *epoch* (byte 4 of its window); * [rma-conflict]
 */
BUG(check_flush_of_other)
{
    MPI_Win win = open_window();
    int got = 0;

    if (rank == 0) {
        MPI_Put(&size, 1, MPI_INT, 1, 1, 1, MPI_INT, win); // @put
        MPI_Win_flush(wrong ? 2 : 1, win);
    }
    MPI_Barrier(world);
    if (rank == 2)
        MPI_Get(&got, 1, MPI_INT, 1, 1, 1, MPI_INT, win); // @get
    close_window(win);
}

/* A datatype that goes backwards.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into a block of 160 bytes, allocated at @block;
 * its datatype reaches 8 bytes in front of it [buffer-too-small]
 */
BUG(check_short_in_front)
{
    int *block = malloc(40 * sizeof(*block)); // @block
    MPI_Datatype backwards;

    MPI_Type_vector(4, 1, -2, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    if (rank == 1)
        MPI_Recv(block + (wrong ? 4 : 6), 1, backwards, 0, 0, world, ignore); // @here
    else
        MPI_Send(numbers, 4, MPI_INT, 1, 0, world);
    MPI_Type_free(&backwards);
    free(block);
}

/* Each block lies in memory of its own, or in none.
 * options: --check=buffers
 * ranks: 4
 * code: 121
 * says: error: rank *: MPI_Neighbor_allgather at @here receives into a block of 32 bytes, allocated
 * at @block; its datatype reaches 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_neighbors)
{
    int dims[2] = {2, 2}, periodic[2] = {1, 1};
    MPI_Comm grid;
    int *result = malloc(wrong ? 32 : 64); // @block

    MPI_Cart_create(world, 2, dims, periodic, 0, &grid);
    MPI_Neighbor_allgather(numbers, 4, MPI_INT, result, 4, MPI_INT, grid); // @here
    MPI_Comm_free(&grid);
    free(result);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the buffer of MPI_Ibcast at @start was freed at @freed, before MPI_Wait at
 * @wait: a block of 400 bytes [buffer-freed]
 */
BUG(check_freed_while_pending)
{
    int *block = calloc(100, sizeof(*block));
    MPI_Request request;

    MPI_Ibcast(block, 100, MPI_INT, 0, world, &request); // @start
    if (wrong && rank == 1)
        free(block);            // @freed
    MPI_Wait(&request, ignore); // @wait
    if (!wrong || rank != 1)
        free(block);
}

/* Rank 0 reads the memory of rank 1: a put would destroy the heap. */
static void get_there(int *memory, int bytes, int at)
{
    MPI_Win win;

    MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (wrong && rank == 1 && at == 0)
        free(memory); // @gone
    MPI_Barrier(world);
    if (rank == 0)
        MPI_Get(numbers, 10, MPI_INT, 1, at, 10, MPI_INT, win); // @get
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Get at @get uses memory of the window of rank 1 that was freed at
 * @gone: a block of 400 bytes, allocated at @block [buffer-freed]
 */
BUG(check_window_freed)
{
    int *memory = calloc(100, sizeof(*memory)); // @block

    get_there(memory, 400, 0);
    if (!wrong || rank != 1)
        free(memory);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Get at @get uses memory of the window of rank 1: a block of 400 bytes,
 * allocated at @block; it ends 80 bytes before the end of the access [buffer-too-small]
 */
BUG(check_window_short)
{
    int *memory = calloc(wrong ? 100 : 200, sizeof(*memory)); // @block

    get_there(memory, 800, 110);
    free(memory);
}

/* Sums of other elements are not atomic; integers may have no sign.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank *: MPI_Accumulate at * and MPI_Accumulate of rank * at * use the same memory of
 * rank 2 in * (byte 0 of its window); accumulates that meet must have the same operation and type
 * [rma-conflict]
 */
BUG(check_accumulate_elements)
{
    MPI_Win win = open_window();
    unsigned other = 1;
    float mine = 1;

    if (rank == 0 && wrong)
        MPI_Accumulate(&mine, 1, MPI_FLOAT, 2, 0, 1, MPI_FLOAT, MPI_SUM, win);
    else if (rank == 0)
        MPI_Accumulate(numbers, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win);
    if (rank == 1)
        MPI_Accumulate(&other, 1, MPI_UNSIGNED, 2, 0, 1, MPI_UNSIGNED, MPI_SUM, win);
    MPI_Win_flush_all(win);
    close_window(win);
}
