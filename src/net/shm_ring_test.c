/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of random sizes, written and read in random turns, come out as they went in. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/shm_ring.h"
#include "testing/base.h"

enum { SIZE = 4096, ROUNDS = 20000, BETWEEN = 5000 };

static shm_ring_t *ring_new(shm_end_t *out, shm_end_t *in)
{
    shm_ring_t *ring = aligned_alloc(_Alignof(shm_ring_t), sizeof(*ring) + SIZE);

    assert_non_null(ring);
    memset((void *)ring, 0, sizeof(*ring) + SIZE);
    *out = (shm_end_t){.ring = ring, .size = SIZE};
    *in = *out;
    return ring;
}

/* The contents of a record depend on its number. Bytes that are never 0 look like words of records.
 */
static size_t size_of(uint64_t number)
{
    return (size_t)(number * 0x9e3779b97f4a7c15u >> 40) % (shm_most(SIZE) + 1);
}

static bool write_one(shm_end_t *out, uint64_t number)
{
    size_t n = size_of(number);
    shm_record_t *record = shm_begin(out, n);

    if (record == NULL)
        return false;
    record->id = number;
    memset(record->bytes, (int)(number % 255 + 1), n);
    shm_end(out, SHM_KIND_DATA, n);
    return true;
}

static bool read_one(shm_end_t *in, uint64_t number)
{
    shm_kind_t kind;
    size_t n = 0;
    unsigned wrong = 0;
    const shm_record_t *record = shm_look(in, &kind, &n);

    if (record == NULL)
        return false;
    assert_int_equal(kind, SHM_KIND_DATA);
    assert_int_equal(n, size_of(number));
    assert_int_equal(record->id, number);
    for (size_t i = 0; i < n; i++)
        wrong |= (unsigned char)record->bytes[i] ^ (unsigned)(number % 255 + 1);
    assert_int_equal(wrong, 0);
    shm_next(in, n);
    return true;
}

static void in_random_turns(void **state)
{
    uint64_t seed = testing_seed(), written = 0, done = 0;
    shm_end_t out, in;
    shm_ring_t *ring = ring_new(&out, &in);

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (seed >> 63)
            written += write_one(&out, written);
        else if (done < written) {
            assert_true(shm_is_filled(ring, SIZE));
            assert_true(read_one(&in, done++));
        } else
            assert_false(read_one(&in, done));
    }
    while (done < written)
        assert_true(read_one(&in, done++));
    assert_false(read_one(&in, done));
    assert_false(shm_is_filled(ring, SIZE));
    free(ring);
}

/* However full it was, the largest record finds room in an empty ring, wherever that begins. */
static void the_largest_fits(void **state)
{
    shm_end_t out, in;
    shm_ring_t *ring = ring_new(&out, &in);

    (void)state;
    for (uint64_t k = 0; k < 1000; k++) {
        shm_kind_t kind;
        size_t n = 0, bytes = k % 2 == 0 ? shm_most(SIZE) : (size_t)k;

        assert_non_null(shm_begin(&out, bytes));
        shm_end(&out, SHM_KIND_SHORT, bytes);
        assert_non_null(shm_look(&in, &kind, &n));
        assert_int_equal(n, bytes);
        shm_next(&in, n);
    }
    free(ring);
}

static void *write_all(void *end)
{
    for (uint64_t k = 0; k < BETWEEN;)
        if (write_one(end, k))
            k++;
        else
            sched_yield();
    return NULL;
}

static void between_threads(void **state)
{
    shm_end_t out, in;
    shm_ring_t *ring = ring_new(&out, &in);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, write_all, &out), 0);
    for (uint64_t k = 0; k < BETWEEN;)
        if (read_one(&in, k))
            k++;
        else
            sched_yield();
    pthread_join(thread, NULL);
    free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_random_turns),
        cmocka_unit_test(the_largest_fits),
        cmocka_unit_test(between_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
