/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks run: on workers of src/fiber, which sleep when they have nothing to do and are woken
 * when they have. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber.h"
#include "tasks/exec/exec.h"
#include "testing/base.h"

/* A wait that takes longer has failed, and so has a test that never ends. */
enum { LIMIT_SECONDS = 20, END_SECONDS = 60 };

static int32_t allowed_cpus(void)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

/* ---- The thread of a task ---- */

typedef struct {
    pthread_t caller;
    _Atomic int32_t tasks, wrong;
} watch_t;

static void watch_thread(void *arg, const xy_task_turn_t *turn)
{
    watch_t *watch = arg;
    const xy_worker_t *host = xy_worker_self();
    bool is_right = host != NULL && xy_fiber_self() != NULL &&
                    xy_worker_index(host) == turn->worker &&
                    !pthread_equal(pthread_self(), watch->caller);

    if (is_right && xy_worker_cpu(host) >= 0)
        is_right = sched_getcpu() == xy_worker_cpu(host);
    atomic_fetch_add(&watch->tasks, 1);
    atomic_fetch_add(&watch->wrong, is_right ? 0 : 1);
}

static xy_graph_t *independent_tasks(int n)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < n; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6}, NULL, 0);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

static void execute_watched(int32_t workers)
{
    watch_t watch = {.caller = pthread_self()};
    xy_task_exec_t how = {
        .policy = "eager", .workers = workers, .run = watch_thread, .arg = &watch};
    xy_graph_t *g = independent_tasks(200);
    xy_task_result_t r;

    assert_int_equal(xy_task_execute(g, &how, &r), XY_OK);
    assert_int_equal(watch.tasks, 200);
    assert_int_equal(watch.wrong, 0);
    xy_graph_destroy(g);
}

static void test_tasks_run_on_workers(void **state)
{
    (void)state;
    for (int32_t workers = 1; workers <= 4; workers++)
        execute_watched(workers);
}

/* A rank is a fiber, too, and may run tasks: its own worker waits and is the same afterwards. */
static void execute_in_fiber(void *arg)
{
    const xy_worker_t *self = xy_worker_self();

    execute_watched(2);
    assert_ptr_equal(xy_worker_self(), self);
    *(bool *)arg = true;
}

static void test_run_from_a_fiber(void **state)
{
    bool is_done = false;
    xy_pool_t *pool;

    (void)state;
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = 1}, &pool), XY_OK);
    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), execute_in_fiber, &is_done, NULL),
                     XY_OK);
    assert_int_equal(xy_pool_run(pool), XY_OK);
    xy_pool_destroy(pool);
    assert_true(is_done);
}

/* ---- Sleeping and waking ---- */

typedef struct {
    _Atomic bool was_asleep, is_late;
    _Atomic int32_t met;
} meeting_t;

/* Does the kernel say that this thread of the process sleeps? */
static bool is_asleep(const char *thread)
{
    char path[300], line[512] = "";
    const char *state;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    state = fgets(line, sizeof(line), f) != NULL ? strrchr(line, ')') : NULL;
    fclose(f);
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

/* All threads but the calling one. */
static bool are_others_asleep(void)
{
    DIR *threads = opendir("/proc/self/task");
    bool is_all = threads != NULL;
    const struct dirent *entry;

    while (is_all && (entry = readdir(threads)) != NULL)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
            is_all = is_asleep(entry->d_name);
    if (threads != NULL)
        closedir(threads);
    return is_all;
}

static bool is_time_over(double start)
{
    return xy_now() - start > LIMIT_SECONDS;
}

/* Task 0 runs until its fellow worker sleeps. Tasks 1 and 2 come after it, and each continues when
 * the other has begun: one worker alone cannot run them. */
static void sleep_then_meet(void *arg, const xy_task_turn_t *turn)
{
    meeting_t *m = arg;
    double start = xy_now();

    if (turn->op == 0) {
        while (!atomic_load(&m->was_asleep) && !is_time_over(start))
            atomic_store(&m->was_asleep, are_others_asleep());
        return;
    }
    atomic_fetch_add(&m->met, 1);
    while (atomic_load(&m->met) < 2 && !is_time_over(start))
        sched_yield();
    if (is_time_over(start))
        atomic_store(&m->is_late, true);
}

static void test_idle_workers_sleep_and_wake(void **state)
{
    meeting_t m = {0};
    xy_task_exec_t how = {.policy = "eager", .workers = 2, .run = sleep_then_meet, .arg = &m};
    xy_task_result_t r;
    xy_graph_t *g;
    int32_t d;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    d = xy_graph_add_data(g, &(xy_data_t){.bytes = 8});
    xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE}, &(xy_access_t){d, XY_ACCESS_WRITE}, 1);
    for (int i = 0; i < 2; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE}, &(xy_access_t){d, XY_ACCESS_READ},
                          1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_execute(g, &how, &r), XY_OK);
    assert_true(m.was_asleep);
    assert_false(m.is_late);
    assert_int_equal(r.tasks, 3);
    xy_graph_destroy(g);
}

/* ---- Workers that wait for one another in the middle of what they took ---- */

enum { CHAINS = 5, LINKS = 100 };

static void add_up(void *arg, const xy_task_turn_t *turn)
{
    (void)arg;
    if (turn->op % 4 == 0)
        sched_yield(); /* to the other workers, on a single core */
    *(uint64_t *)turn->buffers[0] = *(uint64_t *)turn->buffers[0] * 3 +
                                    *(const uint64_t *)turn->buffers[1] + (uint64_t)turn->op;
}

/* Chains that read one another: short tasks are taken many at a time, and nearly each waits for one
 * of another worker. On a single core no worker spins, so that every wait sleeps. */
static void execute_chains(int32_t workers, bool is_exchanging)
{
    uint64_t sums[CHAINS] = {1, 2, 3, 4, 5}, expected[CHAINS] = {1, 2, 3, 4, 5};
    void *addresses[CHAINS];
    xy_task_exec_t how = {.policy = "eager", .workers = workers, .run = add_up};
    xy_task_result_t r;
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < CHAINS; i++) {
        addresses[i] = &sums[i];
        xy_graph_add_data(g, &(xy_data_t){.bytes = 8});
    }
    for (int i = 0; i < CHAINS * LINKS; i++) {
        int32_t to = i % CHAINS, from = (to + 1 + i / CHAINS % (CHAINS - 1)) % CHAINS;
        xy_access_t a[2] = {{to, XY_ACCESS_READ_WRITE}, {from, XY_ACCESS_READ}};

        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6}, a, 2);
        expected[to] = expected[to] * 3 + expected[from] + (uint64_t)i;
    }
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    how.addresses = addresses;
    how.is_exchanging = is_exchanging;
    assert_int_equal(xy_task_execute(g, &how, &r), XY_OK);
    assert_memory_equal(sums, expected, sizeof(expected));
    xy_graph_destroy(g);
}

static void test_workers_wait_for_one_another(void **state)
{
    cpu_set_t before, one;
    int cpu = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    for (int32_t workers = 1; workers <= 4; workers++)
        for (int i = 0; i < 2; i++) {
            execute_chains(workers, i == 1);
            assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
            assert_int_equal(allowed_cpus(), 1);
            execute_chains(workers, i == 1);
            assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_run_on_workers),
        cmocka_unit_test(test_run_from_a_fiber),
        cmocka_unit_test(test_idle_workers_sleep_and_wake),
        cmocka_unit_test(test_workers_wait_for_one_another),
    };

    alarm(END_SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
