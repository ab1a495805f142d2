/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi/runtime/monitor.h"

/* A job of which nothing but the counters is used. */
static mpi_job_t *job_new(int size)
{
    mpi_job_t *job = calloc(1, sizeof(*job));

    assert_non_null(job);
    job->size = size;
    job->ranks = aligned_alloc(_Alignof(mpi_rank_t), (size_t)size * sizeof(*job->ranks));
    assert_non_null(job->ranks);
    for (int r = 0; r < size; r++)
        job->ranks[r] = (mpi_rank_t){.world = r};
    mpi_job = job;
    return job;
}

static void job_free(mpi_job_t *job)
{
    mpi_monitor_stop(job);
    free(job->ranks);
    free(job);
    mpi_job = NULL;
}

/* 16 384 ranks with 26 neighbours each, as in a 27-point stencil, fit in 100 MB. */
static void test_memory_is_sparse(void **state)
{
    enum { RANKS = 16384, NEIGHBOURS = 26, MEGABYTE = 1000000 };
    mpi_job_t *job = job_new(RANKS);

    (void)state;
    assert_int_equal(mpi_monitor_start(job, 0), XY_OK);
    for (int r = 0; r < RANKS; r++)
        for (int k = 1; k <= NEIGHBOURS; k++)
            mpi_monitor_message(&job->ranks[r], (r + k * 601) % RANKS, 8, 100);
    assert_true(mpi_monitor_bytes(job) > (size_t)RANKS * NEIGHBOURS * 16);
    assert_true(mpi_monitor_bytes(job) <= 100 * (size_t)MEGABYTE);
    job_free(job);
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Each message, to any rank, on any communicator, in any phase, is counted once, and counts that
 * were taken are not given again. */
static void test_every_message_is_counted(void **state)
{
    enum { RANKS = 50, ROUNDS = 5 };
    mpi_job_t *job = job_new(RANKS);
    mpi_rank_t *rank = &job->ranks[7];
    uint64_t random = 1;
    int index[RANKS];

    (void)state;
    for (int r = 0; r < RANKS; r++)
        index[r] = r % 5 == 0 ? -1 : r + 100; /* some are of no interest */
    assert_int_equal(mpi_monitor_begin(rank), XY_OK);
    for (int round = 0; round < ROUNDS; round++) {
        double bytes[RANKS] = {0}, messages[RANKS] = {0};
        xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);

        for (int i = 0; i < 5000; i++) {
            bool is_end = i == 0 || i == 4999; /* the same before and after a round */
            int to = is_end ? 1 : (int)(random_next(&random) % RANKS), streak = 0;
            uint32_t context = is_end ? 4 : 4 * (uint32_t)(random_next(&random) % 3);
            uint64_t size = random_next(&random) % 1000;

            if (random_next(&random) % 100 == 0)
                mpi_monitor_phase(rank);
            if (is_end || random_next(&random) % 2 == 0)
                for (streak = 1; random_next(&random) % 3 > 0; streak++)
                    mpi_monitor_message(rank, to, context, size);
            mpi_monitor_add(rank, to, context, size, random_next(&random) % 2);
            bytes[to] += (double)size * (streak > 0 ? streak : 1);
            messages[to] += streak > 0 ? streak : 1;
        }
        assert_int_equal(mpi_monitor_take(rank, 3, index, &entries), XY_OK);
        for (size_t i = 0; i < entries.count; i++) {
            const xy_matrix_entry_t *e = &XY_VEC_AT(&entries, xy_matrix_entry_t, i);

            assert_int_equal(e->from, 3);
            assert_true(index[e->to - 100] >= 0);
            bytes[e->to - 100] -= e->bytes;
            messages[e->to - 100] -= e->messages;
        }
        for (int r = 0; r < RANKS; r++)
            assert_true(index[r] < 0 || (bytes[r] == 0 && messages[r] == 0));
        xy_vec_cleanup(&entries);
    }
    job_free(job);
}

/* Out of memory something is missing, and nothing is wrong. */
static void test_memory_runs_out(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        mpi_job_t *job = job_new(3);
        bool was_hit;

        xy_memory_fail_at(k);
        if (mpi_monitor_start(job, 0) == XY_OK)
            for (int i = 0; i < 100; i++) {
                mpi_monitor_message(&job->ranks[0], i % 60, 8, 1);
                if (i % 40 == 0)
                    mpi_monitor_phase(&job->ranks[0]);
            }
        was_hit = xy_memory_fail_hit() != 0;
        xy_memory_fail_at(0);
        job_free(job);
        if (!was_hit)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_sparse),
        cmocka_unit_test(test_every_message_is_counted),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
