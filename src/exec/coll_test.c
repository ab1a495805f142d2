/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every algorithm of every collective gives what the collective is defined to give: for many
 * numbers of ranks, roots, types and operations, in place or not, whole or cut into pieces,
 * whatever the order in which operations are done and by how many threads.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exec/exec.h"
#include "testing/exec.h"

/* Sanitizers are slow: fewer numbers of ranks. */
enum { PROCS_MAX = 100, COUNT_MAX = 9, PROCS_STEP = XYLEM_SANITIZED ? 16 : 7 };
enum { ALL_ROOTS = XYLEM_SANITIZED ? 9 : 17 }; /* of so many ranks; some of more */

/* ---- Random requests ---- */

static bool in_place[PROCS_MAX];
static int nodes[PROCS_MAX];
static uint64_t counts[PROCS_MAX];
static uint64_t cells[3][PROCS_MAX * PROCS_MAX]; /* matrix, send offsets, receive offsets */
static const uint64_t *rows[3][PROCS_MAX];

/* Blocks in a random order with gaps. sizes[i * stride]: of block i. */
static void place_blocks(uint64_t *offsets, const uint64_t *sizes, int stride, int p)
{
    int order[PROCS_MAX] = {0};
    uint64_t at = 0;

    for (int i = 0; i < p; i++) {
        int j = testing_below(i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < p; i++) {
        at += (uint64_t)testing_below(2);
        offsets[order[i]] = at;
        at += sizes[order[i] * stride];
    }
}

static void choose_matrix(xy_coll_request_t *q)
{
    int p = q->procs;

    for (int i = 0; i < p; i++)
        for (int j = 0; j <= i; j++) {
            cells[0][i * p + j] = (uint64_t)testing_below(4);
            /* In place what comes has the size of what goes. */
            cells[0][j * p + i] =
                q->in_place != NULL ? cells[0][i * p + j] : (uint64_t)testing_below(4);
        }
    for (int i = 0; i < p; i++) {
        place_blocks(&cells[1][i * p], &cells[0][i * p], 1, p);
        place_blocks(&cells[2][i * p], &cells[0][i], p, p);
    }
    q->matrix = rows[0];
    q->send_offsets = rows[1];
    q->receive_offsets = rows[2];
}

static void choose_counts(xy_coll_request_t *q)
{
    int p = q->procs;
    bool is_equal = testing_below(4) == 0;

    for (int i = 0; i < p; i++)
        counts[i] = is_equal && i > 0 ? counts[0] : (uint64_t)testing_below(COUNT_MAX);
    q->counts = counts;
    if (q->collective == XY_COLL_REDUCE_SCATTER || testing_below(3) == 0)
        return;
    for (int i = 0; i < p; i++)
        place_blocks(&cells[1][i * p], counts, 1, p);
    if (q->collective == XY_COLL_SCATTERV)
        q->send_offsets = rows[1];
    else
        q->receive_offsets = rows[1];
}

static void choose_in_place(xy_coll_request_t *q)
{
    bool is_rooted = (q->collective >= XY_COLL_GATHER && q->collective <= XY_COLL_SCATTERV) ||
                     q->collective == XY_COLL_REDUCE;

    if (q->collective <= XY_COLL_BCAST || testing_below(3) > 0)
        return;
    for (int r = 0; r < q->procs; r++)
        in_place[r] = is_rooted ? r == q->root : testing_below(4) > 0;
    q->in_place = in_place;
}

/* Choose the properties that algorithms of other libraries depend on: the nodes of ranks,
 * consecutive on them or not, the size of pieces, and the library whose rules choose the parts of
 * compositions. */
static void choose_foreign(xy_coll_request_t *q)
{
    int count = 1, most = 1 + testing_below(q->procs);
    bool is_consecutive = testing_below(2) == 0;

    for (int i = 1; i < q->procs; i++) {
        nodes[i] = is_consecutive ? count - testing_below(2) : testing_below(count + 1);
        if (nodes[i] >= most)
            nodes[i] = most - 1;
        count += nodes[i] == count;
    }
    if (testing_below(4) > 0)
        q->nodes = nodes;
    if (testing_below(3) == 0)
        q->segment = testing_below(3) == 0 ? XY_COLL_WHOLE : (uint64_t)(1 + testing_below(40));
    q->radix = testing_below(7);
    if (testing_below(2) == 0)
        q->library = xy_coll_libraries()[testing_below(3)];
    q->is_nonblocking = testing_below(2) == 0;
}

/* Collectives whose count is of a vector that algorithms cut into parts, not of a block per rank.
 */
static bool is_vector(xy_collective_t k)
{
    return k == XY_COLL_BCAST || k == XY_COLL_REDUCE || k == XY_COLL_ALLREDUCE ||
           k == XY_COLL_SCAN || k == XY_COLL_EXSCAN;
}

/* Direct algorithms, and those of two levels as the runtime does them, take other ways with more
 * bytes: around what is left for the others, what makes a block or a tile, and several pieces, as
 * far as all ranks together get no more than 4 MiB. */
static void choose_direct(xy_coll_request_t *q)
{
    static const uint64_t sizes[] = {0,         XY_DIRECT_SMALL, XY_DIRECT_SHORT_BLOCK,
                                     16 << 10,  XY_DIRECT_BLOCK, XY_DIRECT_SHORT,
                                     300 << 10, 1 << 20};
    bool is_pairs = q->collective == XY_COLL_ALLTOALL || q->collective == XY_COLL_ALLGATHER ||
                    q->collective == XY_COLL_REDUCE_SCATTER_BLOCK;
    uint64_t procs = (uint64_t)q->procs, most = (4 << 20) / procs / (is_pairs ? procs : 1);
    uint64_t bytes = sizes[testing_below(8)];

    q->count = (bytes < most ? bytes : most) / q->element + (uint64_t)testing_below(3);
}

static testing_case_t choose(xy_collective_t collective, int p, int root)
{
    testing_case_t c = {.type = (testing_type_t)testing_below(TESTING_TYPES)};
    xy_coll_request_t *q = &c.q;

    q->collective = collective;
    q->procs = p;
    q->root = root;
    q->element = testing_element(c.type);
    q->is_commutative = c.type != TESTING_AFFINE && testing_below(4) > 0;
    q->count = (uint64_t)testing_below(COUNT_MAX);
    if (is_vector(collective) && testing_below(2) == 0)
        q->count += (uint64_t)(p + testing_below(p));
    for (int i = 0; i < p; i++)
        for (int k = 0; k < 3; k++)
            rows[k][i] = &cells[k][i * p];
    choose_in_place(q);
    choose_foreign(q);
    if (collective == XY_COLL_ALLTOALLV || collective == XY_COLL_ALLTOALLW)
        choose_matrix(q);
    else if (collective == XY_COLL_GATHERV || collective == XY_COLL_SCATTERV ||
             collective == XY_COLL_ALLGATHERV || collective == XY_COLL_REDUCE_SCATTER)
        choose_counts(q);
    return c;
}

/* ---- Running ---- */

static void arrive(xy_exec_t *e, testing_case_t *c, int rank)
{
    atomic_fetch_add(&c->arrived, 1);
    xy_exec_arrive(e, rank, c->send[rank], c->receive[rank]);
}

/* One thread; arrivals and ready operations in any order that is allowed. */
static void run_random(xy_exec_t *e, testing_case_t *c, int ops)
{
    int *ready = calloc((size_t)ops + 1, sizeof(*ready)), n = 0, p = c->q.procs, came = 0;
    int first = testing_below(p), order = testing_below(2);

    while (!testing_is_over(e)) {
        bool is_eager = testing_below(p) == 0;
        xy_op_id_t op;

        while (xy_exec_take(e, &op))
            ready[n++] = op;
        for (int r = 0; r < p && (n == 0 || is_eager); r++)
            while (xy_exec_take_own(e, r, &op))
                ready[n++] = op;
        if (came < p && (n == 0 || testing_below(3) == 0)) {
            arrive(e, c, order == 0 ? (first + came) % p : (first + p - came) % p);
            came++;
        } else {
            int k = testing_below(n > 0 ? n : 1);

            assert_true(n > 0);
            op = ready[k];
            ready[k] = ready[--n];
            xy_exec_do(e, op);
        }
    }
    free(ready);
}

typedef struct {
    xy_exec_t *e;
    testing_case_t *c;
    int index, threads;
} runner_t;

static void *run_thread(void *arg)
{
    runner_t *t = arg;
    int p = t->c->q.procs;
    xy_op_id_t op;

    for (int r = t->index; r < p; r += t->threads) {
        arrive(t->e, t->c, r);
        if (xy_exec_take(t->e, &op))
            xy_exec_do(t->e, op);
    }
    while (!testing_is_over(t->e)) {
        bool is_busy = xy_exec_take(t->e, &op);

        if (is_busy)
            xy_exec_do(t->e, op);
        for (int r = t->index; r < p && !is_busy; r += t->threads) {
            is_busy = xy_exec_take_own(t->e, r, &op);
            if (is_busy)
                xy_exec_do(t->e, op);
        }
        if (!is_busy)
            sched_yield();
    }
    return NULL;
}

static void run_threads(xy_exec_t *e, testing_case_t *c, int threads)
{
    pthread_t ids[4];
    runner_t runners[4];

    for (int i = 0; i < threads; i++) {
        runners[i] = (runner_t){e, c, i, threads};
        assert_int_equal(pthread_create(&ids[i], NULL, run_thread, &runners[i]), 0);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

/* threads 0: one, in a random order. */
static void check(const xy_coll_algorithm_t *a, testing_case_t *c, int threads)
{
    xy_exec_options_t o = {.reduce = testing_reduce,
                           .on_rank = testing_case_rank_over,
                           .arg = c,
                           .queue = testing_queue,
                           .queues = c->q.procs};
    xy_graph_t *g, *cut;
    xy_exec_t *e;

    c->split = testing_below(3);
    assert_int_equal(xy_coll_build(&c->q, &xy_coll_link_default, a, &g), XY_OK);
    if (!a->is_direct && c->q.between == NULL && testing_below(2) == 0) {
        assert_int_equal(xy_graph_cut(g, c->q.element * (uint64_t)(1 + testing_below(8)), &cut),
                         XY_OK);
        xy_graph_destroy(g);
        g = cut;
    }
    testing_case_open(c);
    for (int r = 0; r < c->q.procs; r++) {
        assert_true(xy_graph_buffer_bytes(g, r, XY_BUFFER_SEND) <= c->input_bytes[r]);
        assert_true(xy_graph_buffer_bytes(g, r, XY_BUFFER_RECEIVE) <= c->receive_bytes[r]);
    }
    assert_int_equal(xy_exec_create(g, c->q.procs, &o, &e), XY_OK);
    if (threads == 0)
        run_random(e, c, xy_graph_ops(g));
    else
        run_threads(e, c, threads);
    if (c->over != c->q.procs || c->wrong != 0)
        fail_msg("%s %s, %d ranks, root %d, %llu elements, type %d%s%s: %d ranks over, %d wrong",
                 xy_coll_name(c->q.collective), a->name, c->q.procs, c->q.root,
                 (unsigned long long)c->q.count, c->type,
                 c->q.is_commutative ? "" : ", not commutative",
                 c->q.in_place != NULL ? ", in place" : "", c->over, c->wrong);
    for (int r = 0; r < c->q.procs; r++)
        assert_true(testing_is_rank_over(e, r));
    xy_exec_destroy(e);
    xy_graph_destroy(g);
    testing_case_close(c);
}

static void check_applicable(const xy_coll_algorithm_t *a, xy_collective_t k, int p, int root,
                             int threads)
{
    testing_case_t c = choose(k, p, root);

    /* Too few elements for the ranks, or an operation that must commute: ask for what it can do. */
    if (!xy_coll_is_applicable(a, &c.q) && c.q.count < (uint64_t)p)
        c.q.count = (uint64_t)p + c.q.count;
    if (!xy_coll_is_applicable(a, &c.q)) {
        if (c.type == TESTING_AFFINE)
            c.type = TESTING_MAX; /* of the same size */
        c.q.is_commutative = true;
    }
    if (strncmp(a->name, "two-level", 9) == 0 && testing_below(2) == 0) {
        c.q.between = &xy_coll_link_default;
        c.q.is_offloaded = testing_below(2) == 0;
    }
    if ((a->is_direct || c.q.between != NULL) && c.q.counts == NULL && c.q.matrix == NULL &&
        testing_below(8) == 0)
        choose_direct(&c.q);
    if (xy_coll_is_applicable(a, &c.q))
        check(a, &c, threads);
}

static bool has_root(xy_collective_t k)
{
    return (k >= XY_COLL_BCAST && k <= XY_COLL_SCATTERV) || k == XY_COLL_REDUCE;
}

/* Of what only other libraries do, not all numbers of ranks. */
static bool is_left_out(const xy_coll_algorithm_t *a, int p)
{
    return a->is_foreign && p > 17 && p % 8 > 1;
}

/* All roots of few ranks, some of many. */
static void check_all(int p, int repeat, int threads)
{
    for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
        for (int k = 0; k < XY_COLL_COUNT; k++) {
            int roots = has_root((xy_collective_t)k) && threads == 0 ? p : 1;

            if (((*a)->collectives >> k & 1) == 0 || is_left_out(*a, p) ||
                !testing_is_chosen((unsigned)(k + p / PROCS_STEP), XYLEM_SANITIZED ? 2 : 1))
                continue;
            for (int i = 0; i < roots && (p <= ALL_ROOTS || i < 3); i++)
                check_applicable(*a, (xy_collective_t)k, p, p <= ALL_ROOTS ? i : i * (p - 1) / 2,
                                 threads);
            for (int i = 0; i < repeat; i++)
                check_applicable(*a, (xy_collective_t)k, p, testing_below(p), threads);
        }
}

static void test_any_order(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    return; /* one thread: no race to find */
#endif
    for (int p = 1; p <= 33; p += p < 8 && !XYLEM_SANITIZED ? 1 : PROCS_STEP)
        check_all(p, 1, 0);
    if (XYLEM_SANITIZED)
        return;
    check_all(64, 1, 0);
    check_all(100, 1, 0);
}

static void test_threads(void **state)
{
    (void)state;
    for (int p = 1; p <= 33; p += p < 8 && !XYLEM_SANITIZED ? 1 : PROCS_STEP)
        check_all(p, 1, 2 + p % 3);
    if (XYLEM_SANITIZED)
        return;
    check_all(64, 0, 3);
    check_all(100, 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
