/* SPDX-License-Identifier: BSD-3-Clause */
/* Random task graphs in real time, under every policy, against the sequential program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tasks/exec/exec.h"
#include "testing/base.h"

enum { DATA = 12, WORDS_MAX = 64 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROUNDS = 4, OPS = 60 };
#else
enum { ROUNDS = 12, OPS = 150 };
#endif

typedef struct {
    xy_graph_t *graph;
    uint64_t words[DATA][WORDS_MAX], expected[DATA][WORDS_MAX];
    void *addresses[DATA];
    uint64_t offset[DATA + 1];
    _Atomic int32_t ran;
    _Atomic int32_t stop_after; /* tasks; 0: never */
    atomic_bool stop;
} program_t;

static int below(uint64_t *state, int n)
{
    return (int)((testing_random(state) >> 33) % (uint64_t)n);
}

/* The result depends on all data that is read, and on the task. */
static void compute(const xy_graph_t *g, xy_op_id_t op, void *const *buffers)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(g, op, &a);
    uint64_t mix = (uint64_t)op * UINT64_C(0x9e3779b97f4a7c15) + 1;

    for (int32_t i = 0; i < n; i++)
        for (uint64_t k = 0;
             (a[i].mode & XY_ACCESS_READ) && k < xy_graph_data_at(g, a[i].data)->bytes / 8; k++)
            mix = (mix ^ ((const uint64_t *)buffers[i])[k]) * UINT64_C(0x2545f4914f6cdd1d);
    for (int32_t i = 0; i < n; i++)
        for (uint64_t k = 0;
             (a[i].mode & XY_ACCESS_WRITE) && k < xy_graph_data_at(g, a[i].data)->bytes / 8; k++)
            ((uint64_t *)buffers[i])[k] = mix += k;
}

static void run_task(void *arg, const xy_task_turn_t *turn)
{
    program_t *p = arg;
    int32_t ran = atomic_fetch_add(&p->ran, 1) + 1;

    compute(p->graph, turn->op, turn->buffers);
    if (ran == p->stop_after)
        atomic_store(&p->stop, true);
}

static void add_task(program_t *p, uint64_t *seed)
{
    xy_access_t a[4];
    int n = 1 + below(seed, 4), used = 0;

    for (int k = 0; k < n; k++) {
        int32_t d = below(seed, DATA);
        bool is_there = false;

        for (int j = 0; j < used; j++)
            is_there = is_there || a[j].data == d;
        if (!is_there)
            a[used++] = (xy_access_t){d, (xy_access_mode_t)(1 + below(seed, 3))};
    }
    xy_graph_add_task(
        p->graph, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6, .priority = below(seed, 5)}, a,
        used);
}

/* Also computes what the sequential program leaves behind. */
static void make(program_t *p, uint64_t *seed, int ops)
{
    memset(p, 0, sizeof(*p));
    assert_int_equal(xy_graph_create(&p->graph), XY_OK);
    for (int d = 0; d < DATA; d++) {
        uint64_t bytes = 8 * (1 + (uint64_t)below(seed, WORDS_MAX));

        xy_graph_add_data(p->graph, &(xy_data_t){.bytes = bytes, .position = {-1, -1, -1}});
        p->addresses[d] = p->words[d];
        p->offset[d + 1] = p->offset[d] + bytes;
        for (int k = 0; k < WORDS_MAX; k++)
            p->words[d][k] = p->expected[d][k] = testing_random(seed);
    }
    for (int i = 0; i < ops; i++)
        add_task(p, seed);
    assert_int_equal(xy_graph_finalize(p->graph), XY_OK);
    for (int i = 0; i < ops; i++) {
        const xy_access_t *a;
        void *buffers[4];

        for (int32_t k = xy_graph_accesses(p->graph, i, &a) - 1; k >= 0; k--)
            buffers[k] = p->expected[a[k].data];
        compute(p->graph, i, buffers);
    }
}

static void assert_expected(const program_t *p)
{
    for (int d = 0; d < DATA; d++)
        assert_memory_equal(p->addresses[d], p->expected[d], xy_graph_data_at(p->graph, d)->bytes);
}

/* cache-oblivious needs positions; foresight is a choice among others. */
static bool is_general(const xy_task_policy_t *policy)
{
    return policy->trials == NULL && strcmp(policy->name, "cache-oblivious") != 0;
}

static void test_every_policy_in_core(void **state)
{
    uint64_t seed = 7;
    program_t p;

    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_task_exec_t how = {.policy = xy_task_policies[i]->name, .run = run_task, .arg = &p};
            xy_task_result_t r;

            if (!is_general(xy_task_policies[i]))
                continue;
            make(&p, &seed, OPS);
            how.addresses = p.addresses;
            how.workers = 1 + round % 4;
            how.capacity = 8 + (uint64_t)below(&seed, 3000);
            how.eviction = xy_task_evictions[below(&seed, 3)].name;
            assert_int_equal(xy_task_execute(p.graph, &how, &r), XY_OK);
            assert_expected(&p);
            assert_int_equal(r.tasks, OPS);
            assert_true(r.makespan >= r.tasks_end && r.tasks_end >= r.compute_bound);
            assert_int_equal(r.exchanges, 0);
            xy_graph_destroy(p.graph);
        }
}

/* Data of one size that are mostly written without being read, in a cache for few of them; some
 * tasks take long, so that others get ahead of what was decided before them. */
static void make_overwriting(program_t *p, uint64_t *seed)
{
    memset(p, 0, sizeof(*p));
    assert_int_equal(xy_graph_create(&p->graph), XY_OK);
    for (int d = 0; d < DATA; d++) {
        xy_graph_add_data(p->graph, &(xy_data_t){.bytes = 8 * WORDS_MAX, .position = {-1, -1, -1}});
        p->addresses[d] = p->words[d];
        for (int k = 0; k < WORDS_MAX; k++)
            p->words[d][k] = p->expected[d][k] = testing_random(seed);
    }
    for (int i = 0; i < 2 * OPS; i++) {
        int32_t d = below(seed, DATA);
        xy_access_t a[3] = {{d, XY_ACCESS_WRITE},
                            {(d + 1 + below(seed, 5)) % DATA, XY_ACCESS_READ},
                            {(d + 6 + below(seed, 6)) % DATA, XY_ACCESS_READ}};
        void *buffers[3];

        a[2].mode = below(seed, 8) == 0 ? XY_ACCESS_READ_WRITE : XY_ACCESS_READ;
        xy_graph_add_task(p->graph, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6}, a, 3);
        for (int k = 0; k < 3; k++)
            buffers[k] = p->expected[a[k].data];
        compute(p->graph, i, buffers);
    }
    assert_int_equal(xy_graph_finalize(p->graph), XY_OK);
}

static void run_uneven(void *arg, const xy_task_turn_t *turn)
{
    const program_t *p = arg;

    if (turn->op % 7 == turn->worker)
        usleep(20);
    compute(p->graph, turn->op, turn->buffers);
}

static void test_exchanged_places(void **state)
{
    uint64_t seed = 13, exchanges = 0;
    program_t p;

    (void)state;
    for (int round = 0; round < ROUNDS / 2; round++)
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_task_exec_t how = {
                .policy = xy_task_policies[i]->name, .run = run_uneven, .arg = &p};
            xy_task_result_t r;

            if (!is_general(xy_task_policies[i]))
                continue;
            make_overwriting(&p, &seed);
            how.addresses = p.addresses;
            how.is_exchanging = true;
            how.workers = 2 + below(&seed, 3);
            how.capacity = (uint64_t)8 * WORDS_MAX * (3 + (uint64_t)below(&seed, 4));
            assert_int_equal(xy_task_execute(p.graph, &how, &r), XY_OK);
            assert_expected(&p);
            exchanges += r.exchanges;
            xy_graph_destroy(p.graph);
        }
    assert_true(exchanges > 0);
}

static int temporary_file(void)
{
    char path[] = "/tmp/xylem-task-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static void write_data(const program_t *p, int fd)
{
    for (int d = 0; d < DATA; d++) {
        size_t bytes = xy_graph_data_at(p->graph, d)->bytes;

        assert_int_equal(pwrite(fd, p->words[d], bytes, (off_t)p->offset[d]), bytes);
    }
}

static void read_data(program_t *p, int fd)
{
    for (int d = 0; d < DATA; d++) {
        size_t bytes = xy_graph_data_at(p->graph, d)->bytes;

        assert_int_equal(pread(fd, p->words[d], bytes, (off_t)p->offset[d]), bytes);
    }
}

/* The size of the data of the task that needs most at once. */
static uint64_t least_memory(const program_t *p)
{
    uint64_t least = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(p->graph); i++) {
        const xy_access_t *a;
        uint64_t bytes = 0;

        for (int32_t k = xy_graph_accesses(p->graph, i, &a) - 1; k >= 0; k--)
            bytes += xy_graph_data_at(p->graph, a[k].data)->bytes;
        least = bytes > least ? bytes : least;
    }
    return least;
}

/* Memory for one task, or a little more: data come and go all the time. */
static void test_every_policy_out_of_core(void **state)
{
    uint64_t seed = 11, evictions = 0, given_back = 0;
    program_t p;

    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; xy_task_policies[i] != NULL; i++) {
            xy_task_store_t store = {.fd = temporary_file(), .path = "test"};
            xy_task_exec_t how = {.policy = xy_task_policies[i]->name, .run = run_task, .arg = &p};
            xy_task_result_t r;

            if (is_general(xy_task_policies[i])) {
                make(&p, &seed, OPS);
                store.offset = p.offset;
                write_data(&p, store.fd);
                how.store = &store;
                how.workers = 1 + round % 4;
                how.capacity =
                    least_memory(&p) + (uint64_t)below(&seed, 2) * (uint64_t)below(&seed, 1500);
                how.eviction = xy_task_evictions[below(&seed, 3)].name;
                assert_int_equal(xy_task_execute(p.graph, &how, &r), XY_OK);
                read_data(&p, store.fd);
                assert_expected(&p);
                assert_int_equal(r.tasks, OPS);
                assert_true(r.loads > 0 && r.stores > 0);
                evictions += r.evictions;
                given_back += r.given_back;
                xy_graph_destroy(p.graph);
            }
            close(store.fd);
        }
    assert_true(evictions > 0 && given_back > 0);
}

/* Code and addresses in the graph, as programs of the task API have them. */
static void add_one(void *const *buffers, const void *arg)
{
    *(int *)buffers[0] += *(const int *)arg;
}

static void test_code_in_the_graph(void **state)
{
    static const int one = 1;
    xy_task_code_t code = {add_one, &one};
    xy_task_result_t r;
    xy_graph_t *g;
    int sum = 0;
    int32_t d;

    (void)state;
    assert_int_equal(xy_graph_create(&g), XY_OK);
    d = xy_graph_add_data(g, &(xy_data_t){.bytes = sizeof(sum), .address = &sum});
    for (int i = 0; i < 1000; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .code = &code},
                          &(xy_access_t){d, XY_ACCESS_READ_WRITE}, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    assert_int_equal(xy_task_execute(g, &(xy_task_exec_t){.workers = 3}, &r), XY_OK);
    assert_int_equal(sum, 1000);
    assert_string_equal(r.policy, "closure");
    xy_graph_destroy(g);
}

static void test_stop(void **state)
{
    uint64_t seed = 3;
    program_t p;
    xy_task_result_t r;

    (void)state;
    make(&p, &seed, OPS);
    p.stop_after = 20;
    xy_task_exec_t how = {.workers = 2, .run = run_task, .arg = &p, .addresses = p.addresses};
    how.stop = &p.stop;
    assert_int_equal(xy_task_execute(p.graph, &how, &r), XY_OK);
    assert_in_range(r.tasks, 20, 21); /* the other worker may be in one */
    assert_int_equal(r.tasks, p.ran);
    xy_graph_destroy(p.graph);
}

static void assert_fails(const program_t *p, const xy_task_exec_t *how, xy_status_t status,
                         const char *word)
{
    xy_task_result_t r;

    testing_listen();
    assert_int_equal(xy_task_execute(p->graph, how, &r), status);
    assert_non_null(strstr(testing_said, word));
    assert_int_equal(testing_said_count, 1);
}

static void test_what_cannot_work(void **state)
{
    uint64_t seed = 5;
    xy_task_store_t store = {.fd = temporary_file(), .path = "short.bin"};
    xy_task_exec_t how = {.run = run_task, .workers = 2};
    program_t p;

    (void)state;
    make(&p, &seed, OPS);
    how.arg = &p;
    how.addresses = p.addresses;
    how.policy = "nothing";
    assert_fails(&p, &how, XY_EINVAL, "nothing");
    how.policy = "cache-oblivious";
    assert_fails(&p, &how, XY_EINVAL, "positions");
    how.policy = NULL;
    store.offset = p.offset;
    how.store = &store;
    how.capacity = 100;
    assert_fails(&p, &how, XY_EINVAL, "give more memory");
    how.capacity = 1 << 20;
    assert_fails(&p, &how, XY_EIO, "short.bin");
    close(store.fd);
    xy_graph_destroy(p.graph);
}

static void test_memory_runs_out(void **state)
{
    uint64_t seed = 9;
    xy_task_store_t store = {.fd = temporary_file(), .path = "test"};
    xy_task_exec_t how = {.run = run_task, .workers = 2, .capacity = 1 << 16};
    xy_status_t st = XY_ENOMEM;
    program_t p;

    (void)state;
    testing_listen();
    for (long k = 1; st != XY_OK; k++) {
        xy_task_result_t r;

        make(&p, &seed, 20);
        how.arg = &p;
        how.addresses = p.addresses;
        store.offset = p.offset;
        how.store = k % 2 == 0 ? &store : NULL;
        write_data(&p, store.fd);
        xy_memory_fail_at((k + 1) / 2);
        st = xy_task_execute(p.graph, &how, &r);
        (void)xy_memory_fail_hit();
        xy_memory_fail_at(0);
        if (st != XY_OK)
            assert_int_equal(st, XY_ENOMEM);
        xy_graph_destroy(p.graph);
    }
    close(store.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_policy_in_core),
        cmocka_unit_test(test_exchanged_places),
        cmocka_unit_test(test_every_policy_out_of_core),
        cmocka_unit_test(test_code_in_the_graph),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_what_cannot_work),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
