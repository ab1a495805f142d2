/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies past the caches are copies: any size, any alignment, and not a byte beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/runtime/copy_stream.h"
#include "testing/base.h"

enum { ROOM = 256 << 10, GUARD = 256 };

static void test_any_copy(void **state)
{
    unsigned char *from = malloc(ROOM), *to = malloc(ROOM), *expected = malloc(ROOM);
    uint64_t seed = 5;

    (void)state;
    assert_true(from != NULL && to != NULL && expected != NULL);
    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)testing_random(&seed);
    for (int round = 0; round < 300; round++) {
        size_t a = testing_random(&seed) % GUARD, b = testing_random(&seed) % GUARD;
        size_t most = round % 3 == 0 ? 100 : round % 3 == 1 ? 70000 : ROOM - GUARD;
        size_t bytes = testing_random(&seed) % (most + 1);

        memset(to, 0x5a, ROOM);
        memset(expected, 0x5a, ROOM);
        memcpy(expected + b, from + a, bytes);
        mpi_copy_stream(to + b, from + a, bytes);
        assert_memory_equal(to, expected, ROOM);
    }
    free(from);
    free(to);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_copy)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
