/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers that are shorter than their count says, freed, or of another type: reported with --check.
 */
#include "bugs.h"

static int few[10];
static double weights[10];
static float *heights;
static struct {
    double x, y;
    int count;
} point;

/* A block of so many integers, in the wrong program of `short_of` fewer. */
__attribute__((noinline)) static int *room(int count, int short_of)
{
    return calloc((size_t)(count - (wrong ? short_of : 0)), sizeof(int)); // @room
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_receive)
{
    int *mine = room(20, 4);

    if (rank == 1)
        MPI_Recv(mine, 20, MPI_INT, 0, 0, world, ignore); // @here
    else
        MPI_Send(numbers, 3, MPI_INT, 1, 0, world);
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from a block of 64 bytes, allocated at @room;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_send)
{
    int *mine = room(20, 4);

    if (rank == 0)
        MPI_Send(mine, 20, MPI_INT, 1, 0, world); // @here
    else
        MPI_Recv(others, 20, MPI_INT, 0, 0, world, ignore);
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Isend at @here sends from a block of 64 bytes, allocated at @room;
 * its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_isend)
{
    int *mine = room(20, 4);
    MPI_Request request;

    if (rank == 0) {
        MPI_Isend(mine, 20, MPI_INT, 1, 0, world, &request); // @here
        MPI_Wait(&request, ignore);
    } else {
        MPI_Recv(others, 20, MPI_INT, 0, 0, world, ignore);
    }
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from a block of 64 bytes, allocated at @room;
 * its count and datatype reach 12 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_inside)
{
    int *mine = room(20, 4);

    if (rank == 0)
        MPI_Send(mine + 9, 10, MPI_INT, 1, 0, world); // @here
    else
        MPI_Recv(others, 10, MPI_INT, 0, 0, world, ignore);
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from a block of 79 bytes, allocated at @text;
 * its count and datatype reach 1 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_byte)
{
    char *text = malloc(wrong ? 79 : 80); // @text

    memset(text, 1, 79);
    if (rank == 0)
        MPI_Send(text, 80, MPI_CHAR, 1, 0, world); // @here
    else
        MPI_Recv(others, 80, MPI_CHAR, 0, 0, world, ignore);
    free(text);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_type)
{
    int *mine = room(20, 4);
    MPI_Datatype columns;

    MPI_Type_vector(4, 2, 6, MPI_INT, &columns); /* 20 integers from end to end */
    MPI_Type_commit(&columns);
    if (rank == 1)
        MPI_Recv(mine, 1, columns, 0, 0, world, ignore); // @here
    else
        MPI_Send(numbers, 8, MPI_INT, 1, 0, world);
    MPI_Type_free(&columns);
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Bcast at @here * a block of 72 bytes, allocated at @grown; its count
 * and datatype reach 8 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_grown)
{
    int *mine = malloc(4 * sizeof(int));

    mine = realloc(mine, (wrong ? 18 : 20) * sizeof(int)); // @grown
    memset(mine, 0, 18 * sizeof(int));
    MPI_Bcast(mine, 20, MPI_INT, 0, world); // @here
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Allreduce at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_allreduce)
{
    int *mine = room(20, 4);

    MPI_Allreduce(numbers, mine, 20, MPI_INT, MPI_SUM, world); // @here
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Gather at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_gather)
{
    int *mine = room(20, 4);

    MPI_Gather(numbers, 10, MPI_INT, mine, 10, MPI_INT, 0, world); // @here
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Alltoallv at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_alltoallv)
{
    int *mine = room(20, 4);
    int counts[2] = {10, 10}, places[2] = {0, 10};

    MPI_Alltoallv(numbers, counts, places, MPI_INT, mine, counts, places, MPI_INT, world); // @here
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Iallgather at @here receives into a block of 64 bytes, allocated at
 * @room; its count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_iallgather)
{
    int *mine = room(20, 4);
    MPI_Request request;

    MPI_Iallgather(numbers, 10, MPI_INT, mine, 10, MPI_INT, world, &request); // @here
    MPI_Wait(&request, ignore);
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_* at * receives into a block of 64 bytes, allocated at @room; its
 * count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_persistent)
{
    int *mine = room(20, 4);
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv_init(mine, 20, MPI_INT, 0, 0, world, &request);
        MPI_Start(&request);
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
    } else {
        MPI_Send(numbers, 3, MPI_INT, 1, 0, world);
    }
    free(mine);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at @here receives into the variable 'few' of 40 bytes; its
 * count and datatype reach 40 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_variable)
{
    if (rank == 1)
        MPI_Recv(few, wrong ? 20 : 10, MPI_INT, 0, 0, world, ignore); // @here
    else
        MPI_Send(numbers, 3, MPI_INT, 1, 0, world);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from the variable 'few' of 40 bytes; its count
 * and datatype reach 4 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_element)
{
    if (rank == 0)
        MPI_Send(&few[5], wrong ? 6 : 5, MPI_INT, 1, 0, world); // @here
    else
        MPI_Recv(others, 6, MPI_INT, 0, 0, world, ignore);
}

/* Free a block, in the wrong program before its last use. */
__attribute__((noinline)) static void release(int *block, bool is_early)
{
    if (wrong == is_early)
        free(block); // @free
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at * sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_send)
{
    int *mine = room(20, 0);

    release(mine, true);
    if (rank == 0)
        MPI_Send(mine, 20, MPI_INT, 1, 0, world);
    else
        MPI_Recv(others, 20, MPI_INT, 0, 0, world, ignore);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Recv at * receives into memory that was freed at @free: a block of
 * 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_receive)
{
    int *mine = room(20, 0);

    release(mine, true);
    if (rank == 1)
        MPI_Recv(mine, 20, MPI_INT, 0, 0, world, ignore);
    else
        MPI_Send(numbers, 20, MPI_INT, 1, 0, world);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Irecv at * receives into memory that was freed at @free: a block of
 * 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_irecv)
{
    int *mine = room(20, 0);
    MPI_Request request;

    release(mine, true);
    if (rank == 1) {
        MPI_Irecv(mine, 20, MPI_INT, 0, 0, world, &request);
        MPI_Wait(&request, ignore);
    } else {
        MPI_Send(numbers, 20, MPI_INT, 1, 0, world);
    }
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Sendrecv at * sends from memory that was freed at @free: a block of
 * 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_sendrecv)
{
    int *mine = room(20, 0);

    release(mine, true);
    MPI_Sendrecv(mine, 20, MPI_INT, 1 - rank, 0, others, 20, MPI_INT, 1 - rank, 0, world, ignore);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Ssend at * sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_ssend)
{
    int *mine = room(20, 0);

    release(mine, true);
    if (rank == 0)
        MPI_Ssend(mine + 3, 5, MPI_INT, 1, 0, world);
    else
        MPI_Recv(others, 5, MPI_INT, 0, 0, world, ignore);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Bcast at * * memory that was freed at @free: a block of 80 bytes,
 * allocated at @room [buffer-freed]
 */
BUG(check_freed_bcast)
{
    int *mine = room(20, 0);

    release(mine, true);
    MPI_Bcast(mine, 20, MPI_INT, 0, world);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Reduce at * sends from memory that was freed at @free: a block of
 * 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_reduce)
{
    int *mine = room(20, 0);

    release(mine, true);
    MPI_Reduce(mine, others, 20, MPI_INT, MPI_SUM, 0, world);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Scatter at * sends from memory that was freed at @free: a block of
 * 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_scatter)
{
    int *mine = room(20, 0);

    release(mine, true);
    MPI_Scatter(mine, 10, MPI_INT, others, 10, MPI_INT, 0, world);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Iallreduce at * receives into memory that was freed at @free: a
 * block of 80 bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_iallreduce)
{
    int *mine = room(20, 0);
    MPI_Request request;

    release(mine, true);
    MPI_Iallreduce(numbers, mine, 20, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, ignore);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at * sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_type)
{
    int *mine = room(20, 0);
    MPI_Datatype columns;

    release(mine, true);
    MPI_Type_vector(3, 1, 5, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    if (rank == 0)
        MPI_Send(mine, 1, columns, 1, 0, world);
    else
        MPI_Recv(others, 3, MPI_INT, 0, 0, world, ignore);
    MPI_Type_free(&columns);
    release(mine, false);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at * sends from memory that was freed at @here: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_resized)
{
    int *mine = room(20, 0);
    int *volatile old = mine;
    int *larger = realloc(mine, 4000); // @here

    if (rank == 0)
        MPI_Send(wrong ? old : larger, 20, MPI_INT, 1, 0, world);
    else
        MPI_Recv(others, 20, MPI_INT, 0, 0, world, ignore);
    free(larger);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_* at * sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_persistent)
{
    int *mine = room(20, 0);
    MPI_Request request;

    if (rank == 0) {
        MPI_Send_init(mine, 20, MPI_INT, 1, 0, world, &request);
        release(mine, true);
        MPI_Start(&request);
        MPI_Wait(&request, ignore);
        MPI_Request_free(&request);
        release(mine, false);
    } else {
        MPI_Recv(others, 20, MPI_INT, 0, 0, world, ignore);
        free(mine);
    }
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_INT, but the variable 'values' has elements of type double
 * [buffer-type]
 */
BUG(check_type_double)
{
    double values[10] = {0};

    MPI_Bcast(values, 10, wrong ? MPI_INT : MPI_DOUBLE, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the pointer 'values' points to double
 * [buffer-type]
 */
BUG(check_type_pointer)
{
    double *values = calloc(10, sizeof(double));

    MPI_Bcast(values, 10, wrong ? MPI_FLOAT : MPI_DOUBLE, 0, world); // @here
    free(values);
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Allreduce at @here has MPI_LONG, but the variable 'weights' has elements of type
 * double [buffer-type]
 */
BUG(check_type_global)
{
    double sums[10];

    MPI_Allreduce(weights, sums, 10, wrong ? MPI_LONG : MPI_DOUBLE, MPI_SUM, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_INT, but the pointer 'heights' points to float
 * [buffer-type]
 */
BUG(check_type_global_pointer)
{
    heights = calloc(10, sizeof(float));
    MPI_Bcast(heights, 10, wrong ? MPI_INT : MPI_FLOAT, 0, world); // @here
    free(heights);
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_INT, but the variable 'count' has elements of type long int
 * [buffer-type]
 */
BUG(check_type_scalar)
{
    long count = 1;

    MPI_Bcast(&count, 1, wrong ? MPI_INT : MPI_LONG, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_LONG_LONG_INT, but the variable 'few' has elements of type int
 * [buffer-type]
 */
BUG(check_type_size)
{
    MPI_Bcast(few, wrong ? 5 : 10, wrong ? MPI_LONG_LONG : MPI_INT, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_INT, but the variable 'point' has elements of type double
 * [buffer-type]
 */
BUG(check_type_struct)
{
    MPI_Bcast(&point, wrong ? 4 : 2, wrong ? MPI_INT : MPI_DOUBLE, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the variable 'point' has elements of type int at byte
 * 16 [buffer-type]
 */
BUG(check_type_member)
{
    MPI_Bcast(&point.count, 1, wrong ? MPI_FLOAT : MPI_INT, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the variable 'matrix' has elements of type
 * double [buffer-type]
 */
BUG(check_type_matrix)
{
    double matrix[4][5] = {{0}};

    MPI_Bcast(matrix[2], 5, wrong ? MPI_FLOAT : MPI_DOUBLE, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the variable 'colours' has elements of type
 * unsigned int [buffer-type]
 */
BUG(check_type_unsigned)
{
    unsigned colours[6] = {0};

    MPI_Bcast(colours, 6, wrong ? MPI_FLOAT : MPI_INT, 0, world); // @here
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the variable 'weights' has elements of type
 * double [buffer-type]
 */
BUG(check_type_vector)
{
    MPI_Datatype every;

    MPI_Type_vector(3, 1, 2, wrong ? MPI_FLOAT : MPI_DOUBLE, &every);
    MPI_Type_commit(&every);
    MPI_Bcast(weights, 1, every, 0, world); // @here
    MPI_Type_free(&every);
}

/* options: --check=buffers
 * code: 120
 * says: MPI_Recv at @here has MPI_INT, but the pointer 'values' points to short int
 * [buffer-type]
 */
BUG(check_type_send)
{
    short *values = calloc(20, sizeof(short));

    if (rank == 0)
        MPI_Send(values + 2, 4, wrong ? MPI_INT : MPI_SHORT, 1, 0, world);
    else
        MPI_Recv(values, 4, wrong ? MPI_INT : MPI_SHORT, 0, 0, world, ignore); // @here
    free(values);
}

/* ---- One-sided calls ---- */

/* options: --check
 * code: 121
 * says: error: rank 1: MPI_Put at @here sends from a block of 64 bytes, allocated at @room; its
 * count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_put)
{
    int *mine = room(20, 4);
    MPI_Win win;

    MPI_Win_create(numbers, 400, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(mine, 20, MPI_INT, 0, 0, 20, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    free(mine);
}

/* options: --check
 * code: 121
 * says: error: rank 1: MPI_Get at @here receives into a block of 64 bytes, allocated at @room; its
 * count and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_get)
{
    int *mine = room(20, 4);
    MPI_Win win;

    MPI_Win_create(numbers, 400, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Get(mine, 20, MPI_INT, 0, 0, 20, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    free(mine);
}

/* options: --check
 * code: 121
 * says: error: rank 1: MPI_Accumulate at * sends from memory that was freed at @free: a block of 80
 * bytes, allocated at @room [buffer-freed]
 */
BUG(check_freed_accumulate)
{
    int *mine = room(20, 0);
    MPI_Win win;

    release(mine, true);
    MPI_Win_create(numbers, 400, sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Accumulate(mine, 20, MPI_INT, 0, 0, 20, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    release(mine, false);
}

/* options: --check
 * code: 120
 * says: MPI_Fetch_and_op at @here has MPI_LONG, but the variable 'got' has elements of type double
 * [buffer-type]
 */
BUG(check_type_fetch)
{
    double got = 0, one = 1;
    long more = 1;
    MPI_Win win;

    MPI_Win_create(numbers, 400, sizeof(double), MPI_INFO_NULL, world, &win);
    MPI_Win_lock_all(0, win);
    if (wrong)
        MPI_Fetch_and_op(&more, &got, MPI_LONG, 0, 0, MPI_SUM, win); // @here
    else
        MPI_Fetch_and_op(&one, &got, MPI_DOUBLE, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}
