/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations one by one: put and get between layouts that differ, all forms of
 * accumulate, fetch and compare, with and without requests, nothing to do, targets that are not
 * there, order and atomicity.
 */
#include "../check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 100 };

static int rank, size, left, right;
static MPI_Win win;
static int *cells;

static void fill(int value)
{
    MPI_Win_fence(0, win);
    for (int i = 0; i < CELLS; i++)
        cells[i] = value + i;
    MPI_Win_fence(0, win);
}

/* ---- Put and get ---- */

static void put_and_get(void)
{
    int out[3] = {rank, rank + 1, rank + 2}, in[3] = {0, 0, 0};

    fill(1000);
    MPI_Put(out, 3, MPI_INT, right, 10, 3, MPI_INT, win);
    MPI_Put_c(out, 0, MPI_INT, right, 5000000, 0, MPI_INT, win); /* nothing, wherever it goes */
    MPI_Win_fence(0, win);
    CHECK_EQUAL(cells[9], 1009);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(cells[10 + i], left + i);
    CHECK_EQUAL(cells[13], 1013);
    MPI_Get(in, 3, MPI_INT, right, 10, 3, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(memcmp(in, out, sizeof(in)), 0);
}

/* Every second element backwards at the target, packed together at the origin, and the other way
 * round; with a lower bound before the address. */
static void layouts(void)
{
    int blocks[] = {1, 1, 1}, at[] = {4, 0, -2}, in[3];
    int out[] = {1, -1, -1, 2, -1, -1, 3};
    MPI_Datatype backwards, thirds;

    MPI_Type_indexed(3, blocks, at, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Type_vector(3, 1, 3, MPI_INT, &thirds);
    MPI_Type_commit(&thirds);
    fill(0);
    MPI_Put(out, 1, thirds, right, 2, 1, backwards, win); /* its first byte is the window's */
    MPI_Win_fence(0, win);
    CHECK_EQUAL(cells[6], 1);
    CHECK_EQUAL(cells[2], 2);
    CHECK_EQUAL(cells[0], 3);
    CHECK_EQUAL(cells[1] + cells[3] + cells[4] + cells[5], 13);
    MPI_Win_fence(0, win);
    MPI_Get(in, 3, MPI_INT, right, 2, 1, backwards, win);
    memset(out, 0, sizeof(out));
    MPI_Get(out, 1, thirds, right, 95, 3, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(in[i], i + 1);
        CHECK_EQUAL(out[3 * i], 95 + i);
    }
    CHECK_EQUAL(out[1], 0);
    MPI_Type_free(&backwards);
    MPI_Type_free(&thirds);
}

/* More than the caches hold, so that it is copied in chunks. */
static void large(void)
{
    enum { MANY = 3 << 20 };
    char *memory, *out = malloc(MANY);
    MPI_Win own;

    CHECK(out != NULL);
    MPI_Win_allocate(MANY, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &own);
    for (int i = 0; i < MANY; i++)
        out[i] = (char)(i * 7 + rank);
    MPI_Win_fence(0, own);
    MPI_Put_c(out, MANY, MPI_BYTE, right, 0, MANY, MPI_BYTE, own);
    MPI_Win_fence(0, own);
    for (int i = 0; i < MANY; i += 997)
        CHECK_EQUAL(memory[i], (char)(i * 7 + left));
    MPI_Win_fence(0, own);
    MPI_Get_c(out, MANY, MPI_BYTE, left, 0, MANY, MPI_BYTE, own);
    MPI_Win_fence(0, own);
    for (int i = 0; i < MANY; i += 997)
        CHECK_EQUAL(out[i], (char)(i * 7 + (left + size - 1) % size));
    MPI_Win_free(&own);
    free(out);
}

/* ---- Accumulates ---- */

/* All ranks add to all elements of rank 0, and to every second one of them. */
static void accumulate(void)
{
    int ones[CELLS], n = CELLS;
    MPI_Datatype half;

    for (int i = 0; i < CELLS; i++)
        ones[i] = 1;
    MPI_Type_vector(CELLS / 2, 1, 2, MPI_INT, &half);
    MPI_Type_commit(&half);
    fill(0);
    MPI_Accumulate(ones, n, MPI_INT, 0, 0, n, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(ones, n / 2, MPI_INT, 0, 0, 1, half, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; rank == 0 && i < CELLS; i++)
        CHECK_EQUAL(cells[i], i + size * (i % 2 == 0 ? 2 : 1));
    MPI_Win_fence(0, win);
    if (rank == size - 1) {
        int value = -5;

        MPI_Accumulate_c(&value, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Accumulate_c(&value, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_MIN, win);
        MPI_Accumulate_c(&value, 1, MPI_INT, 0, 9, 1, MPI_INT, MPI_MAX, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 0) {
        CHECK_EQUAL(cells[7], -5);
        CHECK_EQUAL(cells[8], -5);
        CHECK_EQUAL(cells[9], 9 + size);
    }
    MPI_Type_free(&half);
}

/* The least value and the lowest rank that has it; 12 bytes of 16, and a derived type of it. */
static void pairs(void)
{
    struct {
        double value;
        int where;
    } * best, mine[2];
    MPI_Win own;
    MPI_Datatype two;

    memset(mine, 0, sizeof(mine));
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &two);
    MPI_Type_commit(&two);
    MPI_Win_allocate(2 * sizeof(*best), sizeof(*best), MPI_INFO_NULL, MPI_COMM_WORLD, &best, &own);
    for (int i = 0; i < 2; i++) {
        best[i].value = 1e9;
        best[i].where = -1;
        /* NOLINTNEXTLINE(bugprone-integer-division): ranks have the same value */
        mine[i].value = (rank + i) / 2;
        mine[i].where = rank;
    }
    MPI_Win_fence(0, own);
    MPI_Accumulate(mine, 2, MPI_DOUBLE_INT, 0, 0, 1, two, MPI_MINLOC, own);
    MPI_Win_fence(0, own);
    if (rank == 0) {
        CHECK(best[0].value == 0 && best[0].where == 0);
        CHECK(best[1].value == 0 && best[1].where == 0);
    }
    MPI_Win_free(&own);
    MPI_Type_free(&two);
}

/* Each rank draws numbers from rank 0 until all are drawn: no number comes twice. */
static void fetch(void)
{
    const int one = 1;
    int mine[20], all = 0, *everything = malloc((size_t)size * sizeof(mine));

    CHECK(everything != NULL);
    fill(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 20; i++) {
        if (i % 2 == 0)
            MPI_Fetch_and_op(&one, &mine[i], MPI_INT, 0, 0, MPI_SUM, win);
        else
            MPI_Get_accumulate(&one, 1, MPI_INT, &mine[i], 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM,
                               win);
        MPI_Win_flush(0, win);
        CHECK(i == 0 || mine[i] > mine[i - 1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(NULL, &all, MPI_INT, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    CHECK_EQUAL(all, 20 * size);
    MPI_Win_unlock_all(win);
    MPI_Allgather(mine, 20, MPI_INT, everything, 20, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 20 * size; i++) {
        int found = 0;

        for (int j = 0; j < 20 * size; j++)
            found += everything[j] == i;
        CHECK_EQUAL(found, 1);
    }
    free(everything);
}

/* A lock of the program's own making around a counter that is read and written. */
static void compare(void)
{
    const int unlocked = 0, locked = 1;
    int found, value;

    fill(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 0)
        cells[50] = cells[51] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10; i++) {
        do {
            MPI_Compare_and_swap(&locked, &unlocked, &found, MPI_INT, 0, 50, win);
            MPI_Win_flush(0, win);
        } while (found != unlocked);
        MPI_Get(&value, 1, MPI_INT, 0, 51, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_INT, 0, 51, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&unlocked, &locked, &found, MPI_INT, 0, 50, win);
        MPI_Win_flush(0, win);
        CHECK_EQUAL(found, locked);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_EQUAL(cells[51], 10 * size);
}

/* Large updates of a target that this rank alone has locked. */
static void exclusive(void)
{
    int ones[CELLS], before[CELLS];

    for (int i = 0; i < CELLS; i++)
        ones[i] = 1;
    fill(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 5; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get_accumulate(ones, CELLS, MPI_INT, before, CELLS, MPI_INT, 0, 0, CELLS, MPI_INT,
                           MPI_SUM, win);
        MPI_Win_unlock(0, win);
        for (int j = 1; j < CELLS; j++)
            CHECK_EQUAL(before[j] - j, before[0]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(before, CELLS, MPI_INT, 0, 0, CELLS, MPI_INT, win);
    MPI_Win_unlock(0, win);
    for (int j = 0; j < CELLS; j++)
        CHECK_EQUAL(before[j], j + 5 * size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- Requests ---- */

static void requests(void)
{
    int out = 100 + rank, in = -1, one = 1, before = -1, again = -1;
    MPI_Request all[2], r;
    MPI_Status status;

    fill(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&out, 1, MPI_INT, right, 20, 1, MPI_INT, win, &r);
    MPI_Wait(&r, &status);
    CHECK(r == MPI_REQUEST_NULL);
    MPI_Win_flush(right, win);
    MPI_Rget(&in, 1, MPI_INT, right, 20, 1, MPI_INT, win, &all[0]);
    MPI_Raccumulate(&one, 1, MPI_INT, right, 21, 1, MPI_INT, MPI_SUM, win, &all[1]);
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(in, out);
    MPI_Win_flush(right, win);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, right, 21, 1, MPI_INT, MPI_SUM, win,
                        &r);
    for (int flag = 0; !flag;)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(before, 22);
    MPI_Rget_accumulate_c(NULL, 0, MPI_INT, &again, 1, MPI_INT, right, 21, 1, MPI_INT, MPI_NO_OP,
                          win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQUAL(again, 23);
    MPI_Rput(&out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Rget(&in, 1, MPI_INT, right, 20, 1, MPI_INT, win, &r);
    MPI_Request_free(&r);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nowhere(void)
{
    int value = 7, zero = 0;
    MPI_Datatype nothing;

    MPI_Type_contiguous(0, MPI_DOUBLE, &nothing);
    MPI_Type_commit(&nothing);
    fill(0);
    MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, win);
    MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&value, &zero, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&value, &value, &zero, MPI_INT, MPI_PROC_NULL, 0, win);
    MPI_Accumulate(NULL, 0, MPI_INT, right, 0, 0, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(NULL, 3, nothing, right, 0, 1, nothing, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, right, 0, 5, nothing, MPI_SUM, win);
    MPI_Put(NULL, 3, nothing, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(value, 7);
    CHECK_EQUAL(zero, 0);
    CHECK_EQUAL(cells[0], 0);
    MPI_Type_free(&nothing);
}

/* Operations of one origin on one location are done in the order of their calls. */
static void order(void)
{
    int values[50], before[50];

    fill(0);
    for (int i = 0; i < 50; i++) {
        values[i] = 100 * i + rank;
        MPI_Get_accumulate(&values[i], 1, MPI_INT, &before[i], 1, MPI_INT, right, 60, 1, MPI_INT,
                           MPI_REPLACE, win);
    }
    MPI_Win_fence(0, win);
    CHECK_EQUAL(before[0], 60);
    for (int i = 1; i < 50; i++)
        CHECK_EQUAL(before[i], values[i - 1]);
    CHECK_EQUAL(cells[60], 100 * 49 + left);
}

/* ---- Large data of many layouts ---- */

enum { WIDE = 60000, STEPS = 12, BLOCKS = 3000 };

/* Every (k + 2)-th number. */
static MPI_Datatype stepped(int k)
{
    MPI_Datatype type;

    MPI_Type_vector(WIDE / (k + 2), 1, k + 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Blocks of one and two numbers at distances without a rule. */
static MPI_Datatype scattered(int *numbers)
{
    static int lengths[BLOCKS], at[BLOCKS];
    MPI_Datatype type;

    *numbers = 0;
    for (int i = 0; i < BLOCKS; i++) {
        at[i] = i * 20 + i * i % 17;
        lengths[i] = 1 + i % 2;
        *numbers += lengths[i];
    }
    MPI_Type_indexed(BLOCKS, lengths, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* More layouts than a target keeps, each twice, and more data than one message has. */
static void many_layouts(void)
{
    static int out[WIDE], in[WIDE];
    int *numbers;
    MPI_Datatype types[STEPS];
    MPI_Win own;

    MPI_Win_allocate(sizeof(out), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &own);
    for (int k = 0; k < STEPS; k++)
        types[k] = stepped(k);
    for (int i = 0; i < WIDE; i++) {
        out[i] = i;
        numbers[i] = 0;
    }
    MPI_Win_fence(0, own);
    for (int k = 0; k < 2 * STEPS; k++)
        MPI_Accumulate(out, WIDE / (k % STEPS + 2), MPI_INT, right, 0, 1, types[k % STEPS], MPI_SUM,
                       own);
    MPI_Win_fence(0, own);
    for (int i = 0; i < WIDE; i++) {
        int sum = 0;

        for (int k = 0; k < STEPS; k++)
            if (i % (k + 2) == 0 && i / (k + 2) < WIDE / (k + 2))
                sum += 2 * (i / (k + 2));
        CHECK_EQUAL(numbers[i], sum);
        out[i] = sum;
    }
    MPI_Win_fence(0, own);
    MPI_Get_accumulate(NULL, 0, MPI_INT, in, WIDE / 3, MPI_INT, right, 0, 1, types[1], MPI_NO_OP,
                       own);
    MPI_Win_fence(0, own);
    for (int i = 0; i < WIDE / 3; i++)
        CHECK_EQUAL(in[i], out[3 * i]);
    memset(in, 0, sizeof(in));
    MPI_Get(in, 1, types[0], right, 0, 1, types[0], own);
    MPI_Win_fence(0, own);
    for (int i = 0; i < WIDE; i++)
        CHECK_EQUAL(in[i], i % 2 == 0 ? out[i] : 0);
    for (int k = 0; k < STEPS; k++)
        MPI_Type_free(&types[k]);
    MPI_Win_free(&own);
}

/* A layout that is longer than one message, and more accumulates than wait at a target. */
static void long_layout(void)
{
    static int out[WIDE], in[WIDE];
    int *numbers, n;
    MPI_Datatype type = scattered(&n);
    MPI_Win own;

    MPI_Win_allocate((WIDE + 20) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &numbers, &own);
    memset(numbers, 0, (WIDE + 20) * sizeof(int));
    for (int i = 0; i < WIDE; i++)
        out[i] = i + rank;
    MPI_Win_fence(0, own);
    MPI_Put(out, n, MPI_INT, right, 0, 1, type, own);
    MPI_Win_fence(0, own);
    for (int i = 0, at = 0; i < BLOCKS; at += 1 + i % 2, i++)
        CHECK_EQUAL(numbers[i * 20 + i * i % 17], at + left);
    MPI_Get(in, n, MPI_INT, right, 0, 1, type, own);
    MPI_Win_fence(0, own);
    CHECK_EQUAL(memcmp(in, out, (size_t)n * sizeof(int)), 0);
    memset(numbers, 0, (WIDE + 20) * sizeof(int));
    MPI_Win_fence(0, own);
    for (int i = 0; i < 8; i++)
        MPI_Accumulate(out, WIDE, MPI_INT, right, 0, WIDE, MPI_INT, MPI_SUM, own);
    MPI_Accumulate(out, WIDE, MPI_INT, right, 0, WIDE, MPI_INT, MPI_REPLACE, own);
    MPI_Get_accumulate(out, WIDE, MPI_INT, in, WIDE, MPI_INT, right, 0, WIDE, MPI_INT, MPI_SUM,
                       own);
    MPI_Win_fence(0, own);
    CHECK_EQUAL(memcmp(in, out, sizeof(out)), 0);
    for (int i = 0; i < WIDE; i++)
        CHECK_EQUAL(numbers[i], 2 * (i + left));
    MPI_Type_free(&type);
    MPI_Win_free(&own);
}

/* Memory that comes and goes. */
static void dynamic(void)
{
    static int memory[WIDE], in[WIDE];
    MPI_Aint *where = malloc((size_t)size * sizeof(*where));
    MPI_Request requests[2];
    MPI_Win own;

    CHECK(where != NULL);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &own);
    MPI_Win_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Win_attach(own, memory, sizeof(memory));
    for (int i = 0; i < WIDE; i++)
        memory[i] = i + rank;
    MPI_Get_address(memory, &where[rank]);
    MPI_Allgather(MPI_IN_PLACE, 1, MPI_AINT, where, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, own);
    CHECK_EQUAL(MPI_Rget(in, 10, MPI_INT, right, where[right] + 8, 10, MPI_INT, own, &requests[0]),
                MPI_SUCCESS);
    CHECK_EQUAL(MPI_Rget(in + 10, WIDE - 10, MPI_INT, right, where[right] + 40, WIDE - 10, MPI_INT,
                         own, &requests[1]),
                MPI_SUCCESS);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WIDE; i++)
        CHECK_EQUAL(in[i], i + right + (i < 10 ? 2 : 0));
    CHECK_EQUAL(MPI_Get(in, 1, MPI_INT, right, where[right] - 4, 1, MPI_INT, own),
                MPI_ERR_RMA_RANGE);
    CHECK_EQUAL(MPI_Get(in, 2, MPI_INT, right, where[right] + (WIDE - 1) * 4, 2, MPI_INT, own),
                MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(own, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_Get(in, 1, MPI_INT, right, where[right], 1, MPI_INT, own), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(own);
    MPI_Win_free(&own);
    free(where);
}

/* Rank 0 computes, and calls nothing, until others have changed its memory: those of another
 * process must be able to. */
static void while_it_computes(void)
{
    int here, one = 1, before;
    MPI_Comm near;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &here);
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Comm_free(&near);
    if (here == size || time(NULL) < 1000000000) /* virtual time: the others do not run meanwhile */
        return;
    fill(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 0) {
        while (__atomic_load_n(&cells[1], __ATOMIC_ACQUIRE) != 100)
            continue;
    } else if (rank == size - 1) {
        for (int i = 0; i < 99; i++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
            MPI_Get(&before, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
            MPI_Win_unlock(0, win);
        }
        CHECK(before == 99 || before == 100);
    }
    MPI_Win_fence(0, win);
}

/* ---- Errors ---- */

#define REFUSED(call, class)                                                                       \
    do {                                                                                           \
        int code = (call), found;                                                                  \
                                                                                                   \
        MPI_Error_class(code, &found);                                                             \
        CHECK_EQUAL(found, class);                                                                 \
    } while (0)

static void wrong_arguments(void)
{
    int value = 1;
    double real = 1;
    MPI_Datatype mixed, loose, before, parts[] = {MPI_INT, MPI_DOUBLE};
    int lengths[] = {1, 1}, minus_one = -1;
    MPI_Aint at[] = {0, 8};
    MPI_Request r;

    MPI_Type_create_struct(2, lengths, at, parts, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(2, MPI_INT, &loose); /* never committed */
    MPI_Type_create_indexed_block(1, 1, &minus_one, MPI_INT, &before);
    MPI_Type_commit(&before);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    fill(0);
    REFUSED(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    REFUSED(MPI_Put(&value, -1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    REFUSED(MPI_Put(&value, 1, MPI_INT, right, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
    REFUSED(MPI_Put(&value, 1, MPI_DATATYPE_NULL, right, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    REFUSED(MPI_Get(&value, 1, MPI_INT, right, 0, 1, loose, win), MPI_ERR_TYPE);
    REFUSED(MPI_Get(NULL, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    REFUSED(MPI_Put(&value, 1, MPI_INT, right, CELLS, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Put(&value, 1, MPI_INT, right, -1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Put(&value, 1, MPI_INT, right, 0, 1, before, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Get(cells, 2, MPI_INT, right, CELLS - 1, 2, MPI_INT, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Put(cells, 2, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
    REFUSED(MPI_Get(&value, 1, MPI_INT, right, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    REFUSED(MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(&real, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_BAND, win),
            MPI_ERR_OP);
    REFUSED(MPI_Accumulate(&real, 1, mixed, right, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE);
    REFUSED(MPI_Accumulate(&real, 1, MPI_DOUBLE, right, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
    REFUSED(MPI_Compare_and_swap(&real, &real, &real, MPI_DOUBLE, right, 0, win), MPI_ERR_TYPE);
    REFUSED(MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win, &r), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    REFUSED(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    for (int i = 0; i < CELLS; i++)
        CHECK_EQUAL(cells[i], i);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&mixed);
    MPI_Type_free(&loose);
    MPI_Type_free(&before);
}

static void first_of_two(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void own_operations(void)
{
    int value = 1;
    MPI_Op own;

    MPI_Op_create(first_of_two, 0, &own);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    REFUSED(MPI_Accumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    MPI_Win_fence(0, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    MPI_Op_free(&own);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_fence(0, win);
    put_and_get();
    layouts();
    large();
    accumulate();
    pairs();
    fetch();
    compare();
    exclusive();
    requests();
    nowhere();
    order();
    many_layouts();
    long_layout();
    dynamic();
    while_it_computes();
    wrong_arguments();
    own_operations();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
