/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that need the inside: the addresses that operations get, compared with a byte by byte
 * search; epochs that operations are checked against; and every allocation of a window failing.
 */
#include "testing/mpi_p2p.h"

#include "mpi/rma/rma.h"

enum { BYTES = 96, TRIES = 4000 };

static char memory[BYTES];

/* A type of `blocks` blocks of `length` bytes, `stride` bytes apart. */
static MPI_Datatype vector_type(int blocks, int length, int stride)
{
    MPI_Datatype type;

    MPI_Type_vector(blocks, length, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Is every byte of the elements inside [0, bytes), with those that `is_there` says? */
static bool is_inside(int64_t from, int64_t count, int blocks, int length, int stride,
                      int64_t extent, int64_t bytes, const bool *is_there)
{
    for (int64_t i = 0; i < count; i++)
        for (int b = 0; b < blocks; b++)
            for (int k = 0; k < length; k++) {
                int64_t at = from + i * extent + (int64_t)b * stride + k;

                if (at < 0 || at >= bytes || (is_there != NULL && !is_there[at]))
                    return false;
            }
    return true;
}

static int below(uint64_t *state, int n)
{
    return (int)((xy_random(state) >> 16) % (uint64_t)n);
}

static void compare_ranges(mpi_win_t *win, uint64_t *state, int unit, int64_t bytes)
{
    for (int i = 0; i < TRIES; i++) {
        int blocks = 1 + below(state, 3), length = 1 + below(state, 4);
        int stride = below(state, 12) - 4, count = 1 + below(state, 5);
        int disp = below(state, BYTES + 20) - 10;
        MPI_Datatype handle = vector_type(blocks, length, stride);
        MPI_Aint lb, extent;
        char *address = NULL;
        int code;
        bool expected;

        MPI_Type_get_extent(handle, &lb, &extent);
        expected =
            is_inside((int64_t)disp * unit, count, blocks, length, stride, extent, bytes, NULL);
        code = rma_find(win, 0, disp, count, mpi_type_of(handle), &address);
        CHECK(code == (expected ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
        CHECK(!expected || address == memory + (intptr_t)disp * unit);
        MPI_Type_free(&handle);
    }
}

static void ranges(int rank, int size)
{
    uint64_t state = 7;
    char *address;
    MPI_Win handle;

    (void)rank;
    (void)size;
    for (int unit = 1; unit <= 4; unit++) {
        mpi_win_t *win;

        MPI_Win_create(memory, BYTES - unit, unit, MPI_INFO_NULL, MPI_COMM_SELF, &handle);
        MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
        win = mpi_win_of(handle);
        compare_ranges(win, &state, unit, BYTES - unit);
        /* Nothing is anywhere; numbers that overflow are nowhere. */
        CHECK(rma_find(win, 0, 1 << 20, 0, mpi_type_of(MPI_INT), &address) == MPI_SUCCESS);
        CHECK(rma_find(win, 0, PTRDIFF_MAX, 1, mpi_type_of(MPI_INT), &address) ==
              MPI_ERR_RMA_RANGE);
        CHECK(rma_find(win, 0, 0, INT64_MAX, mpi_type_of(MPI_INT), &address) == MPI_ERR_RMA_RANGE);
        CHECK(rma_find(win, 0, -1, 1, mpi_type_of(MPI_BYTE), &address) == MPI_ERR_RMA_RANGE);
        MPI_Win_free(&handle);
    }
}

/* ---- Dynamic windows ---- */

static bool overlaps(const bool *is_there, int from, int length)
{
    for (int i = from; i < from + length; i++)
        if (is_there[i])
            return true;
    return false;
}

static void set(bool *is_there, int from, int length, bool value)
{
    for (int i = from; i < from + length; i++)
        is_there[i] = value;
}

static void regions(int rank, int size)
{
    int length_at[BYTES] = {0}; /* of the region that begins there; 0: none does */
    bool is_there[BYTES] = {false};
    uint64_t state = 11;
    MPI_Win handle;

    (void)rank;
    (void)size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &handle);
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    for (int i = 0; i < TRIES; i++) {
        int from = below(&state, BYTES - 8), length = 1 + below(&state, 8), count;
        char *address;
        bool expected;

        if (below(&state, 2) == 0) {
            expected = !overlaps(is_there, from, length);
            CHECK(MPI_Win_attach(handle, memory + from, length) ==
                  (expected ? MPI_SUCCESS : MPI_ERR_RMA_ATTACH));
            if (expected)
                set(is_there, from, length_at[from] = length, true);
        } else {
            expected = length_at[from] > 0;
            CHECK(MPI_Win_detach(handle, memory + from) ==
                  (expected ? MPI_SUCCESS : MPI_ERR_RMA_ATTACH));
            set(is_there, from, length_at[from], false);
            length_at[from] = 0;
        }
        from = below(&state, BYTES);
        count = 1 + below(&state, 12);
        expected = is_inside(from, count, 1, 1, 1, 1, BYTES, is_there);
        CHECK(rma_find(mpi_win_of(handle), 0, (MPI_Aint)(intptr_t)(memory + from), count,
                       mpi_type_of(MPI_BYTE),
                       &address) == (expected ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
        CHECK(!expected || address == memory + from);
    }
    MPI_Win_free(&handle);
}

/* Absolute addresses in a type: parts in several regions, and one that is not attached. */
static void bottom(int rank, int size)
{
    MPI_Aint places[2] = {(MPI_Aint)(intptr_t)memory, (MPI_Aint)(intptr_t)(memory + 64)};
    MPI_Datatype type;
    MPI_Win handle;
    char *address;

    (void)rank;
    (void)size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &handle);
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    MPI_Type_create_hindexed(2, (int[]){4, 8}, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Win_attach(handle, memory, 4);
    CHECK(rma_find(mpi_win_of(handle), 0, 0, 1, mpi_type_of(type), &address) == MPI_ERR_RMA_RANGE);
    MPI_Win_attach(handle, memory + 64, 8);
    CHECK(rma_find(mpi_win_of(handle), 0, 0, 1, mpi_type_of(type), &address) == MPI_SUCCESS);
    CHECK(address == NULL);
    MPI_Type_free(&type);
    MPI_Win_free(&handle);
}

/* ---- Epochs ---- */

static void epochs(int rank, int size)
{
    mpi_win_t *win;
    MPI_Win handle, copy;
    MPI_Group all, one;
    int other = (rank + 1) % size;

    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &handle);
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    win = mpi_win_of(handle);
    CHECK(rma_check_access(win, 0) == MPI_ERR_RMA_SYNC);
    CHECK(rma_check_access(win, size) == MPI_ERR_RANK);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, handle);
    CHECK(rma_check_access(win, rank) == MPI_SUCCESS &&
          rma_check_passive(win, rank) == MPI_SUCCESS);
    CHECK(rma_check_access(win, other) == MPI_ERR_RMA_SYNC);
    CHECK(rma_check_passive(win, other) == MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(rank, handle);
    CHECK(rma_check_access(win, rank) == MPI_ERR_RMA_SYNC);
    MPI_Win_lock_all(0, handle);
    CHECK(rma_check_access(win, other) == MPI_SUCCESS);
    CHECK(rma_check_passive(win, other) == MPI_SUCCESS);
    MPI_Win_unlock_all(handle);
    MPI_Win_get_group(handle, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Win_post(one, 0, handle);
    MPI_Win_start(one, 0, handle);
    CHECK(rma_check_access(win, rank) == MPI_SUCCESS);
    CHECK(rma_check_access(win, other) == MPI_ERR_RMA_SYNC);
    CHECK(rma_check_passive(win, rank) == MPI_ERR_RMA_SYNC);
    MPI_Win_complete(handle);
    MPI_Win_wait(handle);
    CHECK(rma_check_access(win, rank) == MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, handle);
    CHECK(rma_check_passive(win, other) == MPI_ERR_RMA_SYNC);
    CHECK(rma_check_access(win, other) == MPI_SUCCESS);
    /* The operation needs a fence to complete it. */
    copy = handle;
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, handle) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_lock_all(0, handle) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_post(one, 0, handle) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_free(&copy) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_fence(MPI_MODE_NOPRECEDE, handle) == MPI_ERR_ASSERT);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, handle);
    CHECK(rma_check_access(win, other) == MPI_ERR_RMA_SYNC);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    MPI_Win_free(&handle);
}

/* ---- Memory that runs out ---- */

static int make(int flavour, MPI_Win *win)
{
    char *base;

    switch (flavour) {
    case 0:
        return MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, win);
    case 1:
        return MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, win);
    case 2:
        return MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, win);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, win);
    }
}

/* The first allocation is the collective's own, which ends the job. */
static void failures(int rank, int size)
{
    (void)rank;
    (void)size;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int flavour = 0; flavour < 4; flavour++)
        for (long k = 2;; k++) {
            MPI_Win win = MPI_WIN_NULL;
            int code, was_hit;

            xy_memory_fail_at(k);
            code = make(flavour, &win);
            was_hit = xy_memory_fail_hit();
            xy_memory_fail_at(0);
            CHECK(code == (was_hit ? MPI_ERR_NO_MEM : MPI_SUCCESS));
            CHECK((win != MPI_WIN_NULL) == !was_hit);
            if (was_hit)
                continue;
            CHECK(k > 2);
            MPI_Win_free(&win);
            break;
        }
}

static void test_ranges(void **state)
{
    (void)state;
    run_ranks(1, 1, 0, 8192, ranges);
}

static void test_regions(void **state)
{
    (void)state;
    run_ranks(1, 1, 0, 8192, regions);
    run_ranks(1, 1, 0, 8192, bottom);
}

static void test_epochs(void **state)
{
    (void)state;
    run_ranks(2, 1, 0, 8192, epochs);
    run_ranks(5, 2, 1, 8192, epochs);
}

static void test_failures(void **state)
{
    (void)state;
    run_ranks(1, 1, 0, 8192, failures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
