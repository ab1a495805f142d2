/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi/runtime/buffer.h"

enum { WORKERS = 4, BYTES = 1024, MANY = 1000, ROUNDS = XYLEM_SANITIZED ? 3000 : 10000 };

/* A job of which nothing but the buffers is used. */
static mpi_job_t *job_new(void)
{
    mpi_job_t *job = calloc(1, sizeof(*job));

    assert_non_null(job);
    job->workers = WORKERS;
    job->worker = aligned_alloc(_Alignof(mpi_worker_t), WORKERS * sizeof(*job->worker));
    assert_non_null(job->worker);
    for (int w = 0; w < WORKERS; w++)
        job->worker[w] = (mpi_worker_t){.spare = NULL};
    mpi_job = job;
    return job;
}

static void job_free(mpi_job_t *job)
{
    mpi_buffers_cleanup(job);
    free(job->worker);
    free(job);
    mpi_job = NULL;
}

static int by_address(const void *a, const void *b)
{
    void *const *x = a, *const *y = b;

    return (*x > *y) - (*x < *y);
}

/* Buffers that one worker gives back are used by another: nearly all of them, as less than a batch
 * stays. */
static void test_buffers_are_used_again(void **state)
{
    mpi_job_t *job = job_new();
    void *first[MANY], *second[MANY];
    int again = 0;

    (void)state;
    for (int i = 0; i < MANY; i++)
        assert_non_null(first[i] = mpi_buffer_take(&job->worker[0], BYTES));
    for (int i = 0; i < MANY; i++)
        mpi_buffer_give(&job->worker[1], first[i]);
    qsort(first, MANY, sizeof(*first), by_address);
    for (int i = 0; i < MANY; i++)
        assert_non_null(second[i] = mpi_buffer_take(&job->worker[0], BYTES));
    for (int i = 0; i < MANY; i++)
        again += bsearch(&second[i], first, MANY, sizeof(*first), by_address) != NULL;
    assert_true(again > MANY - 64);
    for (int i = 0; i < MANY; i++)
        mpi_buffer_give(&job->worker[2], second[i]);
    job_free(job);
}

typedef struct {
    pthread_t thread;
    mpi_worker_t *takes, *gives;
    _Atomic(uint64_t *) slots[64];
    bool is_right;
} pair_t;

/* A buffer that two workers were given has the mark of one of them. */
static void *take_and_mark(void *argument)
{
    pair_t *p = argument;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t *buffer = mpi_buffer_take(p->takes, BYTES);

        if (buffer == NULL)
            abort();
        buffer[0] = (uint64_t)(uintptr_t)p + i;
        buffer[BYTES / 8 - 1] = buffer[0];
        while (atomic_load(&p->slots[i % 64]) != NULL)
            sched_yield();
        atomic_store(&p->slots[i % 64], buffer);
    }
    return NULL;
}

static void *look_and_give(void *argument)
{
    pair_t *p = argument;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t *buffer, mark = (uint64_t)(uintptr_t)p + i;

        while ((buffer = atomic_exchange(&p->slots[i % 64], NULL)) == NULL)
            sched_yield();
        if (buffer[0] != mark || buffer[BYTES / 8 - 1] != mark)
            p->is_right = false;
        mpi_buffer_give(p->gives, buffer);
    }
    return NULL;
}

/* Two streams of messages that go one way share the buffers of the job. */
static void test_no_buffer_is_taken_twice(void **state)
{
    mpi_job_t *job = job_new();
    pair_t pairs[2] = {{.takes = &job->worker[0], .gives = &job->worker[1], .is_right = true},
                       {.takes = &job->worker[2], .gives = &job->worker[3], .is_right = true}};
    pthread_t takers[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&takers[i], NULL, take_and_mark, &pairs[i]), 0);
        assert_int_equal(pthread_create(&pairs[i].thread, NULL, look_and_give, &pairs[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(takers[i], NULL);
        pthread_join(pairs[i].thread, NULL);
        assert_true(pairs[i].is_right);
    }
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_are_used_again),
        cmocka_unit_test(test_no_buffer_is_taken_twice),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
