/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph that several ranks share, each a thread here, gives the numbers of one task after the
 * other, on cores and on devices that are made of cores. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xylem.h>

#include <cmocka.h>

#include "late.h"
#include "tasks/device/device.h"
#include "testing/base.h"

enum { RANKS = 5, DATA = 14, CELLS = 64, TASKS = 100, READS = 3, POSTS = 4096 };

/* ---- Messages between threads ---- */

typedef struct {
    int number, is_send, peer, tag, rank;
    void *buffer;
    uint64_t bytes;
    bool is_open, is_over;
} post_t;

/* Sends that receives have not met, and the other way round; a send is complete when it was
 * received, as large messages are. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    post_t posts[POSTS];
    int count;
} net = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static post_t *find_partner(const post_t *p)
{
    for (int i = 0; i < net.count; i++) {
        post_t *q = &net.posts[i];

        if (q->is_open && !q->is_over && q->is_send != p->is_send && q->rank == p->peer &&
            q->peer == p->rank && q->tag == p->tag)
            return q;
    }
    return NULL;
}

static int start(void *arg, int number, int is_send, int peer, int tag, void *buffer,
                 unsigned long long bytes)
{
    const xylem_messages *t = arg;
    post_t p = {number, is_send, peer, tag, t->rank, buffer, bytes, true, false};
    post_t *q;
    int at = 0;

    pthread_mutex_lock(&net.lock);
    q = find_partner(&p);
    if (q != NULL) {
        uint64_t n = p.bytes < q->bytes ? p.bytes : q->bytes;

        memcpy(is_send ? q->buffer : buffer, is_send ? buffer : q->buffer, n);
        p.is_over = q->is_over = true;
    }
    while (at < net.count && net.posts[at].is_open)
        at++;
    net.count += at == net.count;
    if (at < POSTS)
        net.posts[at] = p;
    pthread_cond_broadcast(&net.changed);
    pthread_mutex_unlock(&net.lock);
    return at < POSTS ? 0 : 1;
}

static int collect(int rank, int *numbers, int most, bool *has_any_p)
{
    int count = 0;

    *has_any_p = false;
    for (int i = 0; i < net.count && count < most; i++) {
        post_t *p = &net.posts[i];

        if (p->rank != rank || !p->is_open)
            continue;
        *has_any_p = true;
        if (p->is_over) {
            numbers[count++] = p->number;
            p->is_open = false;
        }
    }
    return count;
}

static int finish(void *arg, int is_waiting, int *numbers, int most, int *count)
{
    const xylem_messages *t = arg;
    bool has_any;

    pthread_mutex_lock(&net.lock);
    *count = collect(t->rank, numbers, most, &has_any);
    while (*count == 0 && is_waiting && has_any) {
        pthread_cond_wait(&net.changed, &net.lock);
        *count = collect(t->rank, numbers, most, &has_any);
    }
    pthread_mutex_unlock(&net.lock);
    return 0;
}

/* ---- A program ---- */

static const char text[] =
    "XY_KERNEL blend(XY_GLOBAL unsigned long *out, XY_GLOBAL unsigned long *a,\n"
    "              XY_GLOBAL const unsigned long *b, unsigned long k, int is_kept, int more)\n"
    "{\n"
    "    long i = XY_ID(0);\n"
    "    unsigned long sum = k + (is_kept ? 3 * out[i] : 0);\n"
    "    if (a != 0) sum += 5 * a[i];\n"
    "    if (b != 0) sum += 7 * b[i];\n"
    "    out[i] = sum;\n"
    "    if (more) a[i] += 1;\n"
    "}\n";

typedef struct {
    xy_graph_t *graph;
    uint64_t first[DATA][CELLS];
    int32_t owner[DATA];
} program_t;

/* The share of a rank, and its workers. */
typedef struct {
    program_t *p;
    xylem_messages transport;
    const char *policy;
    xy_task_share_t *share;
    uint64_t data[DATA][CELLS]; /* by the numbers of the share */
    void *addresses[DATA];
    int32_t owner[DATA];
    int32_t cores;
    xy_gpu_device_t *gpu; /* NULL: only cores */
    xy_gpu_program_t *program;
    xy_gpu_kernel_t *kernel;
    int32_t home_every; /* so many tasks have no kernel */
    xy_task_result_t result;
    xy_status_t status;
    atomic_bool stop;
    int32_t stop_data; /* that stops the rank when it comes, or is written; -1: none */
    _Atomic int32_t ran;
} rank_t;

static uint64_t constant_of(const xy_op_t *op)
{
    return (uint64_t)op->priority;
}

static void compute(const xy_op_t *op, const xy_access_t *a, int32_t n, uint64_t *const *buffers)
{
    for (int i = 0; i < CELLS; i++) {
        uint64_t sum = constant_of(op) + ((a[0].mode & XY_ACCESS_READ) ? 3 * buffers[0][i] : 0);

        for (int32_t k = 1; k < n; k++)
            sum += (k == 1 ? 5 : 7) * buffers[k][i];
        buffers[0][i] = sum;
        if (n > 1 && (a[1].mode & XY_ACCESS_WRITE))
            buffers[1][i]++;
    }
}

static void run_task(void *arg, const xy_task_turn_t *turn)
{
    rank_t *r = arg;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->share->tasks, turn->op, &a);

    compute(xy_graph_op(r->share->tasks, turn->op), a, n, (uint64_t *const *)turn->buffers);
    atomic_fetch_add(&r->ran, 1);
    if (r->stop_data >= 0 && r->share->data_of[a[0].data] == r->stop_data)
        atomic_store(&r->stop, true);
}

static xy_status_t put(void *arg, const xy_task_kernel_t *k)
{
    const rank_t *r = arg;
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(r->share->tasks, k->op, &a);
    xy_gpu_memory_t none = 0;
    uint64_t number = constant_of(xy_graph_op(r->share->tasks, k->op));
    int is_kept = (a[0].mode & XY_ACCESS_READ) != 0;
    int more = n > 1 && (a[1].mode & XY_ACCESS_WRITE) != 0;
    const xy_gpu_arg_t args[] = {XY_GPU_ARG(k->buffers[0]),
                                 {n > 1 ? &k->buffers[1] : &none, sizeof(none)},
                                 {n > 2 ? &k->buffers[2] : &none, sizeof(none)},
                                 XY_GPU_ARG(number),
                                 XY_GPU_ARG(is_kept),
                                 XY_GPU_ARG(more)};

    return xy_gpu_launch(k->stream, r->kernel, (size_t[3]){CELLS, 1, 1}, (size_t[3]){64, 1, 1},
                         args, 6);
}

static bool has_kernel(void *arg, xy_op_id_t op)
{
    const rank_t *r = arg;

    return r->home_every == 0 || xy_graph_op(r->share->tasks, op)->priority % r->home_every != 0;
}

static void received(void *arg, int32_t data)
{
    rank_t *r = arg;

    if (r->stop_data >= 0 && r->share->data_of[data] == r->stop_data)
        atomic_store(&r->stop, true);
}

/* Data of the graph have owners, none, or all one; tasks also write data of others. */
static void make(program_t *p, int ranks, int kind)
{
    assert_int_equal(xy_graph_create(&p->graph), XY_OK);
    for (int d = 0; d < DATA; d++) {
        p->owner[d] = kind == 1 && d % 3 == 0 ? -1 : kind == 2 ? ranks - 1 : testing_below(ranks);
        for (int i = 0; i < CELLS; i++)
            p->first[d][i] = (uint64_t)d * 1000 + (uint64_t)i;
        xy_graph_add_data(p->graph, &(xy_data_t){.bytes = sizeof(p->first[d])});
    }
    for (int i = 0; i < TASKS; i++) {
        int first = testing_below(DATA), n = 1 + testing_below(READS);
        xy_access_t a[READS] = {
            {first, testing_below(3) > 0 ? XY_ACCESS_READ_WRITE : XY_ACCESS_WRITE}};

        for (int k = 1; k < n; k++)
            a[k] = (xy_access_t){(first + k * (1 + testing_below(3))) % DATA, XY_ACCESS_READ};
        if (n > 2 && a[2].data == a[1].data)
            n--;
        if (n > 1 && testing_below(4) == 0) /* data of another rank is written, too */
            a[1].mode = XY_ACCESS_READ_WRITE;
        xy_graph_add_task(p->graph,
                          &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-5, .priority = i}, a, n);
    }
    assert_int_equal(xy_graph_finalize(p->graph), XY_OK);
}

/* ---- A run ---- */

static void *rank_main(void *arg)
{
    rank_t *r = arg;
    xy_task_device_t how = {.policy = r->policy,
                            .gpus = &r->gpu,
                            .gpu_count = r->gpu != NULL,
                            .memory = r->gpu != NULL ? 5 * CELLS * sizeof(uint64_t) : 0,
                            .addresses = r->addresses,
                            .launch = put,
                            .is_for_gpu = has_kernel,
                            .run = run_task,
                            .arg = r,
                            .cores = r->cores,
                            .core_speed = 1,
                            .stop = r->stop_data >= 0 ? &r->stop : NULL,
                            .transport = &r->transport,
                            .received = received};

    how.share = r->share;
    r->status = xy_task_execute_on(r->share->tasks, &how, &r->result);
    return NULL;
}

static void begin(rank_t *r, program_t *p, int rank, int ranks, const char *policy)
{
    r->p = p;
    r->policy = policy;
    r->stop_data = -1;
    r->transport = (xylem_messages){.rank = rank,
                                    .ranks = ranks,
                                    .last_tag = INT32_MAX,
                                    .arg = &r->transport,
                                    .start = start,
                                    .finish = finish};
    memcpy(r->owner, p->owner, sizeof(r->owner));
    assert_int_equal(xy_task_share_create(p->graph, r->owner, &r->transport, &r->share), XY_OK);
    for (int32_t d = 0; d < xy_graph_data_count(r->share->tasks); d++) {
        int32_t whole = r->share->data_of[d];

        assert_int_equal(r->share->here[whole], d);
        r->addresses[d] = r->data[d];
        memset(r->data[d], 0xee, sizeof(r->data[d]));
        if (r->owner[whole] == rank)
            memcpy(r->data[d], p->first[whole], sizeof(r->data[d]));
    }
}

static void run_ranks(rank_t *ranks, int n)
{
    pthread_t threads[RANKS];

    net.count = 0;
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, rank_main, &ranks[i]), 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* Each datum is with its owner, as if all tasks had run one after the other. */
static void check(const program_t *p, rank_t *ranks, int n)
{
    static uint64_t data[DATA][CELLS];
    uint64_t sent = 0, tasks = 0;

    memcpy(data, p->first, sizeof(data));
    for (xy_op_id_t i = 0; i < TASKS; i++) {
        const xy_access_t *a;
        int32_t count = xy_graph_accesses(p->graph, i, &a);
        uint64_t *buffers[READS];

        for (int32_t k = 0; k < count; k++)
            buffers[k] = data[a[k].data];
        compute(xy_graph_op(p->graph, i), a, count, buffers);
    }
    for (int r = 0; r < n; r++) {
        assert_int_equal(ranks[r].status, XY_OK);
        tasks += ranks[r].result.tasks;
        sent += ranks[r].result.messages;
        for (int32_t d = 0; d < xy_graph_data_count(ranks[r].share->tasks); d++)
            if (ranks[r].owner[ranks[r].share->data_of[d]] == r)
                assert_memory_equal(ranks[r].data[d], data[ranks[r].share->data_of[d]],
                                    sizeof(data[0]));
    }
    assert_int_equal(tasks, TASKS);
    assert_true(n > 1 || sent == 0);
}

static void run_one(const char *policy, int n, int kind, int32_t cores, xy_gpu_info_t *gpu,
                    int32_t home_every)
{
    static rank_t ranks[RANKS];
    static program_t p;

    memset(ranks, 0, sizeof(ranks));
    make(&p, n, kind);
    for (int i = 0; i < n; i++) {
        begin(&ranks[i], &p, i, n, policy);
        ranks[i].cores = cores;
        ranks[i].home_every = home_every;
        if (gpu == NULL)
            continue;
        assert_int_equal(xy_gpu_open(gpu, &ranks[i].gpu), XY_OK);
        assert_int_equal(xy_gpu_program_create(ranks[i].gpu, "mix.cl", text, &ranks[i].program),
                         XY_OK);
        assert_int_equal(xy_gpu_kernel_create(ranks[i].program, "blend", &ranks[i].kernel), XY_OK);
    }
    run_ranks(ranks, n);
    check(&p, ranks, n);
    for (int i = 0; i < n; i++) {
        xy_task_share_destroy(ranks[i].share);
        if (gpu == NULL)
            continue;
        xy_gpu_kernel_destroy(ranks[i].kernel);
        xy_gpu_program_destroy(ranks[i].program);
        xy_gpu_close(ranks[i].gpu);
    }
    xy_graph_destroy(p.graph);
}

/* ---- Tests ---- */

static const char *const policies[] = {"closure", "eager", "lws",   "dmda",
                                       "dmdar",   "darts", "random"};
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static void test_cores(void **state)
{
    (void)state;
    for (int n = 1; n <= RANKS; n++)
        for (int kind = 0; kind < 3; kind++)
            if (testing_is_chosen((unsigned)(n * 3 + kind), XYLEM_SANITIZED ? 2 : 1))
                run_one(policies[(n * 3 + kind) % POLICIES], n, kind, 1 + kind % 2, NULL, 0);
}

static void test_gpus(void **state)
{
    xy_vec_t found;

    (void)state;
    assert_int_equal(xy_gpu_list(&found), XY_OK);
    for (int i = 0; i < POLICIES && found.count > 0; i++)
        if (testing_is_chosen((unsigned)i, XYLEM_SANITIZED ? 3 : 2))
            run_one(policies[i], 2 + i % 3, i % 3, i % 2, &XY_VEC_AT(&found, xy_gpu_info_t, 0),
                    i % 2 == 0 ? 7 : 0);
    xy_vec_cleanup(&found);
}

/* Orders of a policy's own are refused, by each rank alone. */
static void test_strict(void **state)
{
    static rank_t rank;
    static program_t p;

    (void)state;
    make(&p, 1, 0);
    begin(&rank, &p, 0, 1, "relay");
    rank.cores = 1;
    testing_listen();
    (void)rank_main(&rank);
    assert_int_equal(rank.status, XY_EINVAL);
    assert_non_null(strstr(testing_said, "cannot wait for other"));
    xy_task_share_destroy(rank.share);
    begin(&rank, &p, 0, 1, "eager");
    xy_task_share_destroy(rank.share);
    rank.transport.last_tag = DATA - 2;
    assert_int_equal(xy_task_share_create(p.graph, rank.owner, &rank.transport, &rank.share),
                     XY_ELIMIT);
    xy_graph_destroy(p.graph);
}

/* The first task stops its rank, and the others when what it wrote comes to them: all others read
 * it, so none of them runs, and all ranks come to their end. */
static void test_stop(void **state)
{
    enum { N = 4, STEPS = 10 };
    static rank_t ranks[N];
    static program_t p;
    int ran = 0;

    (void)state;
    memset(ranks, 0, sizeof(ranks));
    assert_int_equal(xy_graph_create(&p.graph), XY_OK);
    for (int d = 0; d < DATA; d++) {
        p.owner[d] = d % N;
        xy_graph_add_data(p.graph, &(xy_data_t){.bytes = sizeof(p.first[d])});
    }
    xy_graph_add_task(p.graph, &(xy_op_t){.kind = XY_OP_COMPUTE, .priority = 77},
                      &(xy_access_t){0, XY_ACCESS_WRITE}, 1);
    for (int i = 0; i < STEPS * (DATA - 1); i++) {
        int32_t d = 1 + i % (DATA - 1), before = 1 + (i + DATA - 2) % (DATA - 1);
        xy_access_t a[3] = {
            {d, XY_ACCESS_READ_WRITE}, {before, XY_ACCESS_READ}, {0, XY_ACCESS_READ}};

        xy_graph_add_task(p.graph, &(xy_op_t){.kind = XY_OP_COMPUTE, .priority = i}, a, 3);
    }
    assert_int_equal(xy_graph_finalize(p.graph), XY_OK);
    for (int i = 0; i < N; i++) {
        begin(&ranks[i], &p, i, N, "eager");
        ranks[i].cores = 1;
        ranks[i].stop_data = 0;
    }
    run_ranks(ranks, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(ranks[i].status, XY_OK);
        ran += ranks[i].ran;
        assert_int_equal(ranks[i].data[ranks[i].share->here[0]][CELLS - 1], 77); /* it came whole */
        xy_task_share_destroy(ranks[i].share);
    }
    assert_int_equal(ran, 1);
    xy_graph_destroy(p.graph);
}

static void test_without_memory(void **state)
{
    static rank_t rank;
    static program_t p;

    (void)state;
    make(&p, 3, 1);
    begin(&rank, &p, 1, 3, "eager");
    xy_task_share_destroy(rank.share);
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(
            &k, xy_task_share_create(p.graph, rank.owner, &rank.transport, &rank.share)));
    xy_error_handler_set(NULL, NULL);
    xy_task_share_destroy(rank.share);
    xy_graph_destroy(p.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),          cmocka_unit_test(test_gpus),
        cmocka_unit_test(test_strict),         cmocka_unit_test(test_stop),
        cmocka_unit_test(test_without_memory),
    };
    const struct CMUnitTest late[] = {cmocka_unit_test(test_gpus)};
    int failed;

    setenv("XYLEM_GPU_DRIVER", "opencl", 0);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    testing_use_late();
    return failed + cmocka_run_group_tests(late, NULL, NULL);
}
