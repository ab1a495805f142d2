/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi/runtime/layer.h"
#include "mpi/runtime/rank.h"

static mpi_worker_t worker;
static mpi_rank_t rank = {.worker = &worker, .gate = &worker.gate};
static int handled;

/* A handler of messages whose call is nested, as one of an allocator or a sanitizer is. */
static void handle(mpi_worker_t *at)
{
    assert_ptr_equal(at, &worker);
    atomic_store(&worker.network, NULL);
    assert_false(mpi_is_in_program(&rank));
    mpi_go_inside(&rank);
    mpi_go_outside(&rank);
    assert_int_equal(atomic_load(&worker.gate.is_inside), 1);
    handled++;
}

static void leave_message(void)
{
    static char message;

    atomic_store(&worker.network, (void *)&message);
    atomic_store(&worker.gate.is_pending, 1);
}

/* A rank that leaves a call handles what has arrived meanwhile, with the gate closed. */
static void test_nested_in_handler(void **state)
{
    static mpi_job_t job = {.workers = 1, .worker = &worker};

    (void)state;
    mpi_job = &job;
    mpi_dispatch.gate_mail = handle;
    for (int calls = 1; calls <= 3; calls++) {
        mpi_go_inside(&rank);
        leave_message();
        mpi_go_outside(&rank);
        assert_int_equal(handled, calls);
        assert_int_equal(atomic_load(&worker.gate.is_inside), 0);
        assert_true(mpi_is_in_program(&rank));
    }
    mpi_job = NULL;
}

/* Calls nest: the gate opens at the end of the outermost one. */
static void test_nested_calls(void **state)
{
    (void)state;
    mpi_go_inside(&rank);
    mpi_go_inside(&rank);
    mpi_go_outside(&rank);
    assert_int_equal(atomic_load(&worker.gate.is_inside), 1);
    assert_false(mpi_is_in_program(&rank));
    mpi_go_outside(&rank);
    assert_int_equal(atomic_load(&worker.gate.is_inside), 0);
    assert_true(mpi_is_in_program(&rank));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_in_handler),
        cmocka_unit_test(test_nested_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
