/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that share a core, with models of messages: what each of them costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing/sim_job.h"

#define NODE              "node:1 core:2"
#define assert_near(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

/* Between cores a message takes 1 us + n ns, of which sender and receiver work 0.1 us each when it
 * has no bytes; inside one 0.3 us + n/10 ns. A stream between cores has 3 n ns between messages. */
static const double work = 0.1e-6, between_cores = 1e-6, inside_core = 0.3e-6;

static void add_model(xy_costs_t *costs, const char *cluster, double least, double per_byte,
                      double gap)
{
    xy_message_cost_t m = {.cluster1 = xy_strdup(cluster),
                           .cluster2 = xy_strdup(cluster),
                           .library = xy_strdup("Xylem 1.0")};
    xy_message_sample_t samples[16];

    for (int i = 0; i < 16; i++) {
        double n = i == 0 ? 0 : 100 << i;

        samples[i] = (xy_message_sample_t){.bytes = n,
                                           .blocking = least + n * per_byte * (n > 3e4 ? 3 : 1),
                                           .send = work,
                                           .receive = work,
                                           .gap = work + n * gap};
    }
    assert_int_equal(xy_message_fit(samples, 16, &m.model), XY_OK);
    m.model.eager = 10000;
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
}

static xy_costs_t *make_store(bool has_pu)
{
    xy_costs_t *costs;

    assert_int_equal(xy_costs_create("test", "test", &costs), XY_OK);
    add_model(costs, XY_COSTS_LOCAL, between_cores, 1e-9, 3e-9);
    if (has_pu)
        add_model(costs, XY_COSTS_PU, inside_core, 0.1e-9, 0.1e-9);
    return costs;
}

static void begin(testing_job_t *t, int procs, const int32_t *cores, const xy_costs_t *store)
{
    testing_job_init(t, NODE, procs);
    t->config.core_of = cores;
    t->config.store = store;
}

/* A round trip of so many bytes between two processes, halved. */
static double trip(int other_core, uint64_t bytes, bool has_pu)
{
    testing_act_t first[] = {{.kind = DO_SEND, .peer = 1, .bytes = bytes},
                             {.kind = DO_RECV, .peer = 1, .bytes = bytes},
                             {0}};
    testing_act_t second[] = {{.kind = DO_RECV, .peer = 0, .bytes = bytes},
                              {.kind = DO_SEND, .peer = 0, .bytes = bytes},
                              {0}};
    int32_t cores[] = {0, other_core};
    xy_costs_t *store = make_store(has_pu);
    testing_job_t t;
    double end;

    begin(&t, 2, cores, store);
    t.procs[0].acts = first;
    t.procs[1].acts = second;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[0].times[1];
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
    return end / 2;
}

static double modelled(const char *cluster, double bytes)
{
    xy_costs_t *store = make_store(true);
    const xy_message_cost_t *m = xy_costs_message(store, cluster, cluster);
    double seconds = xy_message_value(&m->model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds;

    xy_costs_destroy(store);
    return seconds;
}

static void one_core_has_its_own_model(void **state)
{
    static const uint64_t sizes[] = {0, 1000, 9000, 102400};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_near(trip(1, sizes[i], true), modelled(XY_COSTS_LOCAL, (double)sizes[i]));
        assert_near(trip(0, sizes[i], true), modelled(XY_COSTS_PU, (double)sizes[i]));
        /* Not measured: that between cores, and switches. */
        assert_true(trip(0, sizes[i], false) > 0.9 * modelled(XY_COSTS_LOCAL, (double)sizes[i]));
    }
}

/* Eight processes of one core send to eight of the other. While one waits, the others work: the
 * latency counts once, not eight times. */
static void who_waits_leaves_the_core(void **state)
{
    testing_act_t send[8][2], receive[8][2];
    int32_t cores[16];
    xy_costs_t *store = make_store(true);
    double swap = inside_core / 3, latency = between_cores - 2 * work, end = 0;
    testing_job_t t;

    (void)state;
    for (int i = 0; i < 16; i++)
        cores[i] = i / 8;
    begin(&t, 16, cores, store);
    t.config.costs.swap = 1; /* the model of one core says less */
    for (int i = 0; i < 8; i++) {
        send[i][0] = (testing_act_t){.kind = DO_SEND, .peer = 8 + i};
        receive[i][0] = (testing_act_t){.kind = DO_RECV, .peer = i};
        send[i][1] = receive[i][1] = (testing_act_t){0};
        t.procs[i].acts = send[i];
        t.procs[8 + i].acts = receive[i];
    }
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    for (int i = 8; i < 16; i++)
        end = fmax(end, t.procs[i].times[0]);
    assert_true(end >= 8 * work + latency + work);
    assert_true(end <= 16 * (work + swap) + latency + work);
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
}

/* When process 1 has received 1000 bytes from another core, for which it asks so late. */
static double received(double late)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1, .bytes = 1000}, {0}};
    testing_act_t receive[] = {{.kind = DO_COMPUTE, .seconds = late},
                               {.kind = DO_SYNC},
                               {.kind = DO_RECV, .peer = 0, .bytes = 1000},
                               {0}};
    int32_t cores[] = {0, 1};
    xy_costs_t *store = make_store(true);
    testing_job_t t;
    double end;

    begin(&t, 2, cores, store);
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[1].times[2];
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
    return end;
}

/* It lies in memory that its sender wrote: receiving it takes as long as messages of a stream are
 * apart, not only the receiver's part of one that was waited for. */
static void a_message_that_waits_is_cold(void **state)
{
    (void)state;
    assert_near(received(0), modelled(XY_COSTS_LOCAL, 1000));
    assert_near(received(1), 1 + work + 3000e-9);
}

/* A short message behind a long one that is sent to the same process. */
static void none_is_overtaken(void **state)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1, .tag = 1, .bytes = 9000},
                            {.kind = DO_SEND, .peer = 1, .tag = 2},
                            {0}};
    testing_act_t receive[] = {{.kind = DO_RECV, .peer = 0, .tag = XY_VJOB_ANY, .bytes = 9000},
                               {.kind = DO_RECV, .peer = 0, .tag = XY_VJOB_ANY, .bytes = 9000},
                               {0}};
    int32_t cores[] = {0, 1};
    xy_costs_t *store = make_store(true);
    testing_job_t t;

    (void)state;
    begin(&t, 2, cores, store);
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(t.procs[1].tags[0], 1);
    assert_int_equal(t.procs[1].tags[1], 2);
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
}

/* ---- Direct collectives ---- */

static const double barrier = 0.5e-6, alone = 0.3e-6; /* `alone`: two of one core */
static const double allreduce = 20e-6, small = 1e-6;

static int count_words(xy_collective_t collective, uint64_t count, const int *groups)
{
    xy_coll_request_t q = {.collective = collective,
                           .procs = 8,
                           .root = 3,
                           .count = count,
                           .element = 8,
                           .is_commutative = true,
                           .groups = groups};
    const xy_coll_algorithm_t *const *list = xy_coll_algorithms();
    xy_graph_t *graph = NULL;
    int words = 0;

    for (int i = 0; list[i] != NULL && graph == NULL; i++)
        if (list[i]->is_direct && xy_coll_is_applicable(list[i], &q))
            assert_int_equal(xy_coll_build(&q, &xy_coll_link_default, list[i], &graph), XY_OK);
    for (int32_t id = 0; id < xy_graph_ops(graph); id++) {
        const xy_op_t *op = xy_graph_op(graph, id);

        words += op->kind == XY_OP_MOVE && !op->is_direct && op->from.rank != op->to.rank;
    }
    xy_graph_destroy(graph);
    return words;
}

/* Groups synchronize, not ranks: between two groups a barrier is a word each way. In a small one
 * with a root there is a word for each other group, and its answer. */
static void groups_talk_and_not_ranks(void **state)
{
    static const int two[] = {0, 0, 0, 0, 1, 1, 1, 1}, four[] = {0, 1, 2, 3, 0, 1, 2, 3};

    (void)state;
    assert_int_equal(count_words(XY_COLL_BARRIER, 1, NULL), 3 * 8);
    assert_int_equal(count_words(XY_COLL_BARRIER, 1, two), 2);
    assert_int_equal(count_words(XY_COLL_BARRIER, 1, four), 2 * 4);
    assert_int_equal(count_words(XY_COLL_ALLREDUCE, 8, two), 2);
    assert_int_equal(count_words(XY_COLL_ALLREDUCE, 10000, two), 2 * 2);
    assert_int_equal(count_words(XY_COLL_BCAST, 8, two), 2);
    assert_int_equal(count_words(XY_COLL_BCAST, 8, four), 2 * 3);
    assert_int_equal(count_words(XY_COLL_BCAST, 10000, two), 2 * 2);
    assert_int_equal(count_words(XY_COLL_SCATTER, 8, four), 2 * 3);
    assert_int_equal(count_words(XY_COLL_GATHER, 8, four), 2 * 3);
    assert_int_equal(count_words(XY_COLL_REDUCE, 8, two), 2);
}

/* Seconds of one collective of so many processes on the first `count` cores; *root_p: when process
 * 0 has it. */
static double collective(int procs, int count, xy_collective_t which, uint64_t bytes,
                         double *root_p)
{
    testing_act_t acts[] = {
        {.kind = DO_COLL,
         .coll = {.collective = which, .count = bytes, .element = 1, .is_commutative = true}},
        {0}};
    xy_costs_t *store = make_store(true);
    int32_t cores[64];
    testing_job_t t;
    double end = 0;

    for (size_t i = 0; i < store->messages.count; i++) {
        xy_message_cost_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, i);
        bool is_pu = strcmp(m->cluster1, XY_COSTS_PU) == 0;

        m->model.barrier = is_pu ? alone : barrier;
        m->model.allreduce = is_pu ? 0 : allreduce;
        m->model.small_bcast = is_pu ? 0 : small;
        m->model.small_allreduce = is_pu ? 0 : 3 * barrier;
    }
    for (int i = 0; i < procs; i++)
        cores[i] = i * count / procs;
    begin(&t, procs, cores, store);
    for (int i = 0; i < procs; i++)
        t.procs[i].acts = acts;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    for (int i = 0; i < procs; i++)
        end = fmax(end, t.procs[i].times[0]);
    if (root_p != NULL)
        *root_p = t.procs[0].times[0];
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
    return end;
}

/* Two cores take what was measured there; more ranks take what each adds on its core. */
static void direct_ones_take_what_was_measured(void **state)
{
    double swap = inside_core / 3, task = (alone - swap) / 2, root, more;

    (void)state;
    assert_near(collective(2, 2, XY_COLL_BARRIER, 0, NULL), barrier);
    more = collective(64, 2, XY_COLL_BARRIER, 0, NULL);
    assert_true(more >= barrier + 31 * (task + swap) && more <= barrier + 33 * (task + 2 * swap));
    assert_near(collective(2, 2, XY_COLL_ALLREDUCE, XY_MESSAGE_BCAST, NULL), allreduce);
    /* Copies of a few bytes are not in it. */
    more = collective(2, 2, XY_COLL_ALLREDUCE, XY_MESSAGE_SMALL, NULL);
    assert_true(fabs(more - 3 * barrier) < 0.2 * barrier);
    /* The root of a small broadcast does not wait. */
    assert_true(collective(2, 2, XY_COLL_BCAST, 8, &root) > root);
}

/* A call of another library's collective takes what its barrier of two takes beside the message. */
static void calls_of_others_take_time(void **state)
{
    double end[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        testing_act_t acts[] = {{.kind = DO_COLL, .coll = {.collective = XY_COLL_BARRIER}}, {0}};
        xy_costs_t *store = make_store(false);
        int32_t cores[] = {0, 1};
        testing_job_t t;

        XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model.barrier =
            k == 0 ? 0 : between_cores + 0.5e-6;
        begin(&t, 2, cores, store);
        t.config.library = "openmpi";
        t.procs[0].acts = t.procs[1].acts = acts;
        testing_job_run(&t);
        assert_int_equal(t.status, XY_OK);
        end[k] = t.procs[0].times[0];
        testing_job_cleanup(&t);
        xy_costs_destroy(store);
    }
    assert_near(end[1], end[0] + 0.5e-6);
}

/* ---- Caches ---- */

/* Process 0 sends 25 KiB to each of `others`, all of its core, so many times. Seconds of a message
 * of the last round. */
static double round_of(int others, int rounds)
{
    testing_act_t *send = calloc((size_t)(others * rounds) + 1, sizeof(*send));
    testing_act_t *receive = calloc((size_t)rounds + 1, sizeof(*receive));
    int32_t *cores = calloc((size_t)others + 1, sizeof(*cores));
    xy_costs_t *store = make_store(true);
    testing_job_t t;
    double end;

    assert_true(send != NULL && receive != NULL && cores != NULL);
    for (int i = 0; i < others * rounds; i++)
        send[i] = (testing_act_t){.kind = DO_SEND, .peer = 1 + i % others, .bytes = 25600};
    for (int i = 0; i < rounds; i++)
        receive[i] = (testing_act_t){.kind = DO_RECV, .peer = 0, .bytes = 25600};
    testing_job_init(&t, NODE, others + 1);
    t.config.core_of = cores;
    t.config.store = store;
    for (int p = 0; p <= others; p++)
        t.procs[p].acts = p == 0 ? send : receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[0].times[others * rounds - 1] - t.procs[0].times[others * (rounds - 1) - 1];
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
    free(send);
    free(receive);
    free(cores);
    return end / others;
}

/* Between two messages to the same process lie 50 KiB for each other one. A message takes, by its
 * bytes, what one of a quarter of that takes; those of the model are slower from 30 kB on. */
static void what_left_the_caches_takes_longer(void **state)
{
    double hot = round_of(2, 3), far = modelled(XY_COSTS_PU, 39 * 51200 / 4.0) - inside_core;

    (void)state;
    assert_near(round_of(2, 3), hot);
    assert_near(round_of(40, 3) - hot,
                far * 25600 / (39 * 51200 / 4.0) - (modelled(XY_COSTS_PU, 25600) - inside_core));
    /* It cannot get colder than the largest that was measured. */
    assert_near(round_of(400, 3), round_of(300, 3));
}

/* ---- Exchanges ---- */

/* An exchange takes so much longer than a message. */
static const double crossing = 0.4e-6;

static xy_costs_t *make_crossing_store(void)
{
    xy_costs_t *store = make_store(true);
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;

    for (size_t i = 0; i < m->count; i++)
        m->samples[i].exchange = m->samples[i].blocking + crossing;
    assert_int_equal(xy_message_complete(m), XY_OK);
    return store;
}

/* Seconds of a round in which two cores send each other `count` messages, of many rounds; is_after:
 * the second one sends when it has received. */
static double exchanged(int count, bool is_after)
{
    enum { ROUNDS = 64, MOST = 4 };
    testing_act_t acts[2][ROUNDS * 2 * MOST + 1] = {{{0}}};
    int32_t cores[] = {0, 1};
    xy_costs_t *store = make_crossing_store();
    testing_job_t t;
    double end;

    for (int p = 0; p < 2; p++)
        for (int i = 0; i < ROUNDS * 2 * count; i++) {
            bool is_second = i % (2 * count) >= count;

            acts[p][i] = (testing_act_t){
                .kind = is_second != (is_after && p == 1) ? DO_RECV : DO_SEND, .peer = 1 - p};
        }
    begin(&t, 2, cores, store);
    t.procs[0].acts = acts[0];
    t.procs[1].acts = acts[1];
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = fmax(t.procs[0].times[ROUNDS * 2 * count - 1], t.procs[1].times[ROUNDS * 2 * count - 1]);
    testing_job_cleanup(&t);
    xy_costs_destroy(store);
    return end / ROUNDS;
}

static void messages_that_cross_take_longer(void **state)
{
    double message = between_cores, one = exchanged(1, false);

    (void)state;
    assert_near(exchanged(1, true), 2 * message); /* they do not cross */
    assert_true(fabs(one - (message + crossing)) < 0.02 * one);
    /* More latency, no work: of several at once it counts once. */
    assert_true(exchanged(4, false) < 8 * work + message + 1.1 * crossing);
}

/* Code that was timed on one core takes longer where others compute, too. */
static void code_takes_longer_beside_others(void **state)
{
    testing_act_t none[] = {{0}};
    int32_t cores[] = {0, 1};
    xy_costs_t *store = make_store(true);
    testing_job_t t;

    (void)state;
    XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model.compute = 1.25;
    for (int procs = 1; procs <= 2; procs++) {
        begin(&t, procs, cores, store);
        t.procs[0].acts = t.procs[procs - 1].acts = none;
        testing_job_run(&t);
        assert_true(xy_vjob_code_pace(t.job, 0) == (procs == 2 ? 1.25 : 1));
        testing_job_cleanup(&t);
    }
    xy_costs_destroy(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_core_has_its_own_model),
        cmocka_unit_test(who_waits_leaves_the_core),
        cmocka_unit_test(a_message_that_waits_is_cold),
        cmocka_unit_test(none_is_overtaken),
        cmocka_unit_test(groups_talk_and_not_ranks),
        cmocka_unit_test(direct_ones_take_what_was_measured),
        cmocka_unit_test(what_left_the_caches_takes_longer),
        cmocka_unit_test(messages_that_cross_take_longer),
        cmocka_unit_test(code_takes_longer_beside_others),
        cmocka_unit_test(calls_of_others_take_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
