/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/here.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/place.h"
#include "testing/base.h"

enum { CORES = 8, RANKS = 64 };

static void tell(const char *machine, const char *cores)
{
    assert_int_equal(machine != NULL ? setenv("XYLEM_JOB_MACHINE", machine, 1)
                                     : unsetenv("XYLEM_JOB_MACHINE"),
                     0);
    assert_int_equal(
        cores != NULL ? setenv("XYLEM_JOB_CORES", cores, 1) : unsetenv("XYLEM_JOB_CORES"), 0);
}

static int cores_here(void)
{
    xy_machine_t *machine;
    xy_cores_t cores;
    int count;

    assert_int_equal(sim_here_machine(&machine), XY_OK);
    assert_int_equal(xy_cores_init(&cores, machine), XY_OK);
    count = cores.count;
    xy_cores_cleanup(&cores);
    xy_machine_destroy(machine);
    return count;
}

static void test_machine(void **state)
{
    xy_cores_t live;

    (void)state;
    tell(NULL, NULL);
    assert_int_equal(xy_cores_live(&live), XY_OK);
    assert_int_equal(cores_here(), live.count);
    xy_cores_cleanup(&live);
    tell("", NULL);
    assert_true(cores_here() >= 1);
    tell("numa:2 core:9", NULL);
    assert_int_equal(cores_here(), 18);
}

/* The passed machine is read back, for that number of ranks only. */
static void test_place_told(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int turn = 0; turn < 200; turn++) {
        int given[RANKS], read[RANKS + 1], ranks = 1 + turn % RANKS;
        char text[4 * RANKS] = "";

        for (int r = 0; r < ranks; r++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            given[r] = (int)(random >> 40) % CORES;
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", r > 0 ? "," : "",
                     given[r]);
        }
        tell(NULL, text);
        assert_true(sim_here_place(ranks, CORES, read));
        assert_memory_equal(read, given, (size_t)ranks * sizeof(int));
        assert_false(sim_here_place(ranks + 1, CORES, read));
        assert_false(ranks > 1 && sim_here_place(ranks - 1, CORES, read));
    }
}

static void test_place_nothing(void **state)
{
    static const char *const wrong[] = {"", ",", "0,", ",0", "0,8", "0,-1", "0;1", "0,x", "0 1"};
    int read[2];

    (void)state;
    tell(NULL, NULL);
    assert_false(sim_here_place(2, CORES, read));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        tell(NULL, wrong[i]);
        assert_false(sim_here_place(2, CORES, read));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_place_told),
        cmocka_unit_test(test_place_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
