/* SPDX-License-Identifier: BSD-3-Clause */
/* Areas against the bytes that unpacking writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include "mpi/check/area.h"
#include "testing/base.h"

enum { BYTES = 4096, MIDDLE = BYTES / 2, PACKED = 1024 };

static char memory[BYTES];
static unsigned char touched[2][BYTES];
static MPI_Datatype types[6];
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static int make_types(void **state)
{
    const int lengths[3] = {2, 1, 3}, places[3] = {9, 0, 4};

    (void)state;
    types[0] = MPI_INT;
    types[1] = MPI_CHAR;
    PMPI_Type_vector(3, 2, 5, MPI_SHORT, &types[2]);
    PMPI_Type_indexed(3, lengths, places, MPI_INT, &types[3]);
    PMPI_Type_create_resized(MPI_INT, 0, -12, &types[4]); /* elements go downwards */
    PMPI_Type_contiguous(0, MPI_INT, &types[5]);
    for (int i = 2; i < TYPES; i++)
        PMPI_Type_commit(&types[i]);
    return 0;
}

static int free_types(void **state)
{
    (void)state;
    for (int i = 2; i < TYPES; i++)
        PMPI_Type_free(&types[i]);
    return 0;
}

static check_area_t area_of(int type, int64_t count, int offset)
{
    return check_area_make(memory + MIDDLE + offset, count, mpi_type_of(types[type]));
}

/* Mark the bytes that unpacking writes. */
static void touch(const check_area_t *area, unsigned char *bytes)
{
    static char ones[PACKED];
    uint64_t length = (uint64_t)area->count * mpi_type_size(area->type);

    assert_true(length <= PACKED);
    memset(ones, 1, sizeof(ones));
    memset(bytes, 0, BYTES);
    mpi_type_unpack(bytes + (area->buffer - memory), area->count, area->type, ones, 0, length);
}

static void check_bounds(const check_area_t *area, const unsigned char *bytes)
{
    const unsigned char *first = memchr(bytes, 1, BYTES), *last;

    if (first == NULL) {
        assert_ptr_equal(area->low, area->high);
        return;
    }
    last = memrchr(bytes, 1, BYTES);
    assert_int_equal(area->low - memory, first - bytes);
    assert_int_equal(area->high - memory, last + 1 - bytes);
}

static void test_overlaps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t r = xy_hash_u64(i);
        check_area_t a = area_of((int)(r % TYPES), (int64_t)(r >> 8 & 7), 0);
        check_area_t b =
            area_of((int)((r >> 16) % TYPES), (int64_t)(r >> 24 & 7), (int)(r >> 32 & 255) - 128);
        bool meets = false;

        touch(&a, touched[0]);
        touch(&b, touched[1]);
        check_bounds(&a, touched[0]);
        check_bounds(&b, touched[1]);
        for (int k = 0; k < BYTES && !meets; k++)
            meets = touched[0][k] != 0 && touched[1][k] != 0;
        if (check_area_overlaps(&a, &b) != meets || check_area_overlaps(&b, &a) != meets)
            fail_msg("areas of round %u %s", i, meets ? "meet" : "do not meet");
    }
}

/* The hash changes with each byte of the area, and with none between. */
static void test_hash(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        check_area_t area = area_of(t, 5, 3);
        uint64_t before = check_area_hash(&area);

        touch(&area, touched[0]);
        for (int k = 0; k < BYTES; k++) {
            memory[k]++;
            assert_int_equal(check_area_hash(&area) != before, touched[0][k] != 0);
            memory[k]--;
        }
        assert_true(check_area_hash(&area) == before);
    }
}

/* The same for bytes of each length. */
static void test_bytes(void **state)
{
    (void)state;
    for (size_t length = 0; length <= 200; length++) {
        uint64_t before = check_area_hash_bytes(1, memory, length);

        for (size_t k = 0; k < 200; k++) {
            memory[k]++;
            assert_int_equal(check_area_hash_bytes(1, memory, length) != before, k < length);
            memory[k]--;
        }
        assert_int_equal(check_area_hash_bytes(2, memory, length) != before, true);
    }
}

/* Areas that follow each other are one, in this order. */
static void test_parts(void **state)
{
    enum { PARTS = 9, LEAST = 1, MOST = 40 };
    const mpi_type_t *type = mpi_type_of(MPI_CHAR);

    (void)state;
    for (int64_t each = LEAST; each <= MOST; each++) {
        check_area_t whole = check_area_make(memory, each, type);
        uint64_t hash;

        for (int64_t i = 0; i < PARTS * each; i++)
            memory[i] = (char)testing_below(256);
        hash = check_area_hash(&whole);
        for (uint64_t parts = 1; parts < PARTS; parts++) {
            check_area_t next = check_area_make(whole.high, each, type);

            assert_true(check_area_follows(&whole, parts, &next));
            hash = check_area_hash_more(hash, parts, &next);
            whole.high = next.high;
            assert_true(check_area_hash_parts(&whole, parts + 1) == hash);
        }
        for (int i = 0; i < PARTS * (int)each; i++) {
            memory[i]++;
            assert_true(check_area_hash_parts(&whole, PARTS) != hash);
            memory[i]--;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, make_types, free_types);
}
