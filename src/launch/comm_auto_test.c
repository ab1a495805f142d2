/* SPDX-License-Identifier: BSD-3-Clause */
/* How many cores communicate: by the model alone, and with what was measured before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "coll/coll.h"
#include "launch/launch.h"
#include "process/process.h"

static char said[256];

void process_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said, sizeof(said), format, arguments);
    va_end(arguments);
}

/* No other number is better, and none that is smaller is as good. */
static void test_is_best(void **state)
{
    static const double works[] = {0, 1, 100, 10000};

    (void)state;
    for (int cores = 1; cores <= 64; cores += 3)
        for (int ranks = 1; ranks <= 130; ranks += 43)
            for (int w = 0; w < 4; w++) {
                int best = mpi_comm_auto_cores(cores, ranks, works[w]);
                double times[64];

                for (int k = 0; k < cores; k++) {
                    xy_split_t s = {.cores = cores,
                                    .ranks = ranks,
                                    .compute_cores = cores - k,
                                    .base = 2,
                                    .has_compute = works[w] > 0,
                                    .compute = works[w] / (cores - k)};

                    times[k] = xy_split_overlapped(&s, xy_split_best(&s));
                }
                assert_in_range(best, 0, cores - 1);
                for (int k = 0; k < cores; k++)
                    assert_true(times[best] <= times[k] * (1 + 1e-6) &&
                                (k >= best || times[best] < times[k]));
            }
}

/* Much to compute: cores that compute are worth more than overlap. Little: the other way round. */
static void test_examples(void **state)
{
    (void)state;
    assert_int_equal(mpi_comm_auto_cores(2, 8, 0), 0);
    assert_int_equal(mpi_comm_auto_cores(1, 8, 0), 0);
    assert_in_range(mpi_comm_auto_cores(64, 64, 0), 4, 16);
    assert_in_range(mpi_comm_auto_cores(64, 64, 640000), 0, 1);
    assert_true(mpi_comm_auto_cores(64, 64, 640) > mpi_comm_auto_cores(64, 64, 64000));
}

static void test_memory(void **state)
{
    mpi_launch_values_t values = {.verbose = true};
    char store[] = "/tmp/xylem-auto-XXXXXX", file[64];
    int fd = mkstemp(store);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(file, sizeof(file), "%s.overlap", store);
    setenv("XYLEM_COSTS", store, 1);
    assert_int_equal(mpi_comm_auto(&values, 64, 64, "/bin/sh"), mpi_comm_auto_cores(64, 64, 0));
    assert_non_null(strstr(said, "computes as long as it communicates"));
    mpi_comm_auto_note("/bin/sh", 64, 640);
    mpi_comm_auto_note("/bin/sh", 32, 10);
    mpi_comm_auto_note("/bin/ls", 64, 20);
    mpi_comm_auto_note("/bin/sh", 64, 64000);
    mpi_comm_auto_note("/bin/sh", 16, 0);
    assert_int_equal(mpi_comm_auto(&values, 64, 64, "/bin/sh"), mpi_comm_auto_cores(64, 64, 64000));
    assert_non_null(strstr(said, "the computation measured before"));
    assert_int_equal(mpi_comm_auto(&values, 64, 64, "/bin/ls"), mpi_comm_auto_cores(64, 64, 20));
    assert_int_equal(mpi_comm_auto(&values, 64, 16, "/bin/sh"), mpi_comm_auto_cores(64, 16, 0));
    unlink(store);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_best),
                                       cmocka_unit_test(test_examples),
                                       cmocka_unit_test(test_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
