/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers and results against what the program's own code and debugging information say. */
#include <pthread.h>
#include <unistd.h>

#include "bugs.h"

/* ---- Memory ---- */

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Send at @here sends from a block of 4 bytes, allocated at @copy; its
 * count and datatype reach 8 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_copy)
{
    if (rank == 0) {
        char *name = strdup(wrong ? "abc" : "abcdefghijk"); // @copy

        MPI_Send(name, 12, MPI_CHAR, 1, 1, world); // @here
        free(name);
    } else {
        MPI_Recv(numbers, 12, MPI_CHAR, 0, 1, world, ignore);
    }
}

static void share(int *list, int count)
{
    MPI_Bcast(list, count, MPI_INT, 0, world); // @share
}

static void share_for(int *list, int count)
{
    share(list, count);
}

/* The variable is that of the caller's caller.
 * options: --check=buffers
 * code: 121
 * says: MPI_Bcast at @share * the variable 'local' of 128 bytes; its count and datatype reach 4
 * bytes beyond the end [buffer-too-small]
 */
BUG(check_outer_variable)
{
    int local[32] = {0}, behind[16] = {0};

    share_for(local, wrong ? 33 : 32);
    numbers[0] = behind[0];
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvla"

static int sum_of(int count)
{
    int list[count], sums[count];

    memset(list, 0, sizeof(list));
    MPI_Allreduce(list, sums, 24, MPI_INT, MPI_SUM, world); // @sums
    return sums[count - 1];
}

/* Arrays of variable length.
 * options: --check=buffers
 * code: 121
 * says: error: rank *: MPI_Allreduce at @sums sends from the variable 'list' of 80 bytes; its count
 * and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_vector)
{
    numbers[0] = sum_of(30) + sum_of(24) + sum_of(wrong ? 20 : 26);
}

static void fill(int rows)
{
    double table[rows][6], row[6] = {rank};

    memset(table, 0, sizeof(table));
    MPI_Gather(row, 6, MPI_DOUBLE, table, 6, MPI_DOUBLE, 0, world); // @table
    numbers[1] = (int)table[0][0];
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Gather at @table receives into the variable 'table' of 48 bytes; its
 * count and datatype reach 48 bytes beyond the end [buffer-too-small]
 */
BUG(check_short_table)
{
    fill(wrong ? size - 1 : size);
}

#pragma GCC diagnostic pop

static void begin_send(MPI_Request *request)
{
    int box[4] = {rank, rank, rank, rank};

    memcpy(numbers, box, sizeof(box));
    MPI_Isend(wrong ? box : numbers, 4, MPI_INT, 1, 1, world, request); // @begin
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 0: the buffer of MPI_Isend at @begin is a local variable of a function that has
 * returned before MPI_Wait at @wait [buffer-freed]
 */
BUG(check_frame_left)
{
    if (rank == 0) {
        MPI_Request request;

        begin_send(&request);
        MPI_Wait(&request, ignore); // @wait
    } else {
        MPI_Recv(numbers, 4, MPI_INT, 0, 1, world, ignore);
    }
}

static int *give(void)
{
    int local[8] = {1};
    int *volatile place = local;

    return place;
}

/* options: --check=buffers
 * code: 121
 * says: the buffer of MPI_Bcast at @here is a local variable of a function that has returned
 * [buffer-freed]
 */
BUG(check_frame_dangling)
{
    MPI_Bcast(wrong ? give() : numbers, 8, MPI_INT, 0, world); // @here
}

/* Only the root's result is short.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: MPI_Reduce at @here receives into the variable 'few' of 16 bytes; its count
 * and datatype reach 16 bytes beyond the end [buffer-too-small]
 */
BUG(check_result_at_root)
{
    int few[4], mine[8] = {0}, *target = rank == 0 && wrong ? few : others;

    MPI_Reduce(mine, target, 8, MPI_INT, MPI_SUM, 0, world); // @here
}

/* ---- Types ---- */

struct state {
    int steps;
    double at[10];
};

static void share_state(struct state *state)
{
    MPI_Bcast(state->at, 10, wrong ? MPI_FLOAT : MPI_DOUBLE, 0, world); // @state
}

/* A member behind a pointer.
 * options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @state has MPI_FLOAT, but the pointer 'state' points to double at byte 8
 * [buffer-type]
 */
BUG(check_type_field)
{
    struct state state = {1, {0}};

    share_state(&state);
}

struct particle {
    double x, y;
    int kind, cell;
};

static MPI_Datatype record_type(MPI_Datatype second)
{
    MPI_Datatype parts[2] = {MPI_DOUBLE, second}, type, record;
    MPI_Aint places[2] = {0, 2 * sizeof(double)};
    int counts[2] = {2, 2};

    MPI_Type_create_struct(2, counts, places, parts, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct particle), &record);
    MPI_Type_commit(&record);
    MPI_Type_free(&type);
    return record;
}

/* A derived type with several kinds of elements.
 * options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has (2 MPI_DOUBLE, 2 MPI_FLOAT), but the pointer 'list' points to int at
 * byte 16 [buffer-type]
 */
BUG(check_type_record)
{
    struct particle *list = calloc(10, sizeof(*list));
    MPI_Datatype record = record_type(wrong ? MPI_FLOAT : MPI_INT);

    MPI_Bcast(list, 10, record, 0, world); // @here
    MPI_Type_free(&record);
    free(list);
}

/* The same of a variable.
 * options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has (2 MPI_DOUBLE, 2 MPI_INT64_T), but the variable 'list' has elements
 * of type int at byte 40 [buffer-type]
 */
BUG(check_type_record_local)
{
    struct particle list[3] = {{0}};
    MPI_Datatype record = record_type(wrong ? MPI_LONG : MPI_INT);

    MPI_Bcast(&list[1], 1, record, 0, world); // @here
    MPI_Type_free(&record);
}

static struct particle swarm[20];

/* A member of an array of structures.
 * options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT, but the variable 'swarm' has elements of type int at byte
 * 88 [buffer-type]
 */
BUG(check_type_member_of_array)
{
    MPI_Bcast(&swarm[3].kind, 2, wrong ? MPI_FLOAT : MPI_INT, 0, world); // @here
}

/* A pair type of MPI.
 * options: --check=buffers
 * code: 120
 * says: MPI_Bcast at @here has MPI_FLOAT_INT, but the variable 'best' has elements of type
 * int [buffer-type]
 */
BUG(check_type_pair)
{
    int best[2] = {1, rank};

    MPI_Bcast(best, 1, wrong ? MPI_FLOAT_INT : MPI_2INT, 0, world); // @here
}

/* ---- In flight ---- */

/* The root's buffer is complete in the library, and the root does not know.
 * options: --check=buffers
 * code: 121
 * says: error: rank 0: the receive buffer of MPI_Igather at @start was changed before MPI_Wait at
 * @wait [buffer-changed]
 */
BUG(check_gathered_changed)
{
    int all[8] = {0}, mine[4] = {1, 2, 3, 4};
    MPI_Request request;

    MPI_Igather(mine, 4, MPI_INT, all, 4, MPI_INT, 0, world, &request); // @start
    if (rank == 1) {
        MPI_Wait(&request, ignore);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, world);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 1, 1, world, ignore);
        MPI_Sendrecv(NULL, 0, MPI_INT, 0, 2, NULL, 0, MPI_INT, 0, 2, world, ignore);
        if (wrong)
            all[5] = 77;
        MPI_Wait(&request, ignore); // @wait
    }
}

/* Puts of two loops meet in one element.
 * options: --check=windows
 * code: 121
 * says: MPI_Put at @put and MPI_Put of rank * at @put use the same memory of rank 0 in one epoch
 * (byte 28 of its window); put MPI_Win_fence between them, or use MPI_Accumulate [rma-conflict]
 */
BUG(check_put_loops)
{
    int value[8] = {0};
    MPI_Win win;

    MPI_Win_create(numbers, 64, 4, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++)
        MPI_Put(&value[i], 1, MPI_INT, 0, i + rank * (wrong ? 7 : 8), 1, MPI_INT, win); // @put
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* An element of a loop is changed too early.
 * options: --check=buffers
 * code: 121
 * says: the origin buffer of MPI_Put at @put was changed before MPI_Win_fence at @fence
 * [buffer-changed]
 */
BUG(check_put_loop_changed)
{
    int value[8] = {0};
    MPI_Win win;

    MPI_Win_create(numbers, 64, 4, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++)
        MPI_Put(&value[i], 1, MPI_INT, 1 - rank, i, 1, MPI_INT, win); // @put
    if (wrong)
        value[3] = 9;
    MPI_Win_fence(0, win); // @fence
    MPI_Win_free(&win);
}

/* Two elements change places in the target's memory.
 * options: --check=windows
 * code: 121
 * says: error: rank 1: its own code has changed memory of its window that MPI_Put of rank 0 at @put
 * wrote to, before MPI_Win_fence at @fence [rma-conflict]
 */
BUG(check_put_loop_swapped)
{
    MPI_Win win;

    for (int i = 0; i < 8; i++)
        others[i] = i;
    MPI_Win_create(numbers, 64, 4, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8 && rank == 0; i++)
        MPI_Put(&others[i], 1, MPI_INT, 1, i, 1, MPI_INT, win); // @put
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 1, world);
    else
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, world, ignore);
    if (wrong && rank == 1) {
        numbers[2] = 3;
        numbers[3] = 2;
    }
    MPI_Win_fence(0, win); // @fence
    MPI_Win_free(&win);
}

/* ---- Results ---- */

#if defined(__x86_64__) /* elsewhere a result in memory counts as examined */

static void send_carelessly(int to)
{
    int code = MPI_Send(numbers, 1, MPI_INT, to, 1, world); // @careless

    (void)code;
    numbers[1] = 4;
}

static void send_carefully(int to)
{
    int code = MPI_Send(numbers, 1, MPI_INT, to, 1, world);

    numbers[1] = 4;
    if (code != MPI_SUCCESS)
        numbers[1] = 5;
}

/* The result is kept in a variable that nobody reads.
 * options: --check=errors
 * code: 120
 * says: MPI_Send at @careless returned an error (MPI_ERR_RANK), and the program did not check
 * [error-ignored]
 */
BUG(check_error_kept)
{
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    (wrong ? send_carelessly : send_carefully)(size + 3);
}

static int send_and_lose(int to)
{
    int code = MPI_Send(numbers, 1, MPI_INT, to, 1, world); // @lost

    code = MPI_Barrier(world);
    return code;
}

static int send_and_add(int to)
{
    int code = MPI_Send(numbers, 1, MPI_INT, to, 1, world);

    code |= MPI_Barrier(world);
    return code;
}

/* The result of the next call replaces it.
 * options: --check=errors
 * code: 120
 * says: MPI_Send at @lost returned an error (MPI_ERR_RANK), and the program did not check
 * [error-ignored]
 */
BUG(check_error_replaced)
{
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    numbers[2] = (wrong ? send_and_lose : send_and_add)(size + 3);
}

#endif

/* ---- Threads ---- */

static void begin(int level)
{
    int provided;

    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(world, &rank);
}

static void *receive(void *unused)
{
    MPI_Recv(others, 1, MPI_INT, 1 - rank, 4, world, ignore); // @receive
    return unused;
}

/* Calls beyond the granted level.
 * options: --check
 * before: yes
 * says: rank *: MPI_Send at @send was called while another thread is in MPI_Recv at @receive;
 * MPI_THREAD_SERIALIZED lets one thread call at a time, ask for MPI_THREAD_MULTIPLE
 */
BUG(check_serialized)
{
    pthread_t thread;

    begin(wrong ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE);
    pthread_create(&thread, NULL, receive, NULL);
    usleep(200000);
    MPI_Send(numbers, 1, MPI_INT, 1 - rank, 4, world); // @send
    pthread_join(thread, NULL);
    MPI_Finalize();
}

static void *add_up(void *sum)
{
    int one = 1;

    MPI_Allreduce(&one, sum, 1, MPI_INT, MPI_SUM, world); // @sum
    return NULL;
}

/* Each rank makes the same calls, so that a rule may suppress it.
 * options: --check
 * before: yes
 * code: 121
 * says: error: rank 0: MPI_Allreduce at @sum was called on MPI_COMM_WORLD while another thread is
 * in MPI_Allreduce at @sum; collectives of one communicator follow each other [concurrent]
 */
BUG(check_concurrent)
{
    pthread_t thread;
    int first, second;

    begin(MPI_THREAD_MULTIPLE);
    if (rank == 0 && wrong) {
        pthread_create(&thread, NULL, add_up, &first);
        add_up(&second);
        pthread_join(thread, NULL);
    } else {
        usleep(300000);
        add_up(&first);
        add_up(&second);
    }
    MPI_Finalize();
}
