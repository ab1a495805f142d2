/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that calibration runs take in the simulation what they were measured to take. */
#include "match/match.h"
#include "testing/sim_job_models.h"

/* `each`: between cores. */
static xy_costs_t *make_sloped(double each)
{
    xy_costs_t *store;
    xy_message_model_t *m;

    assert_int_equal(xy_costs_create("test", "test", &store), XY_OK);
    m = add_sloped(store, XY_COSTS_LOCAL, "Xylem 1.0", 400e-9, each);
    m->barrier = 300e-9;
    m->bcast = 1000e-9;
    m->small_bcast = 250e-9;
    m->small_allreduce = 500e-9;
    m = add_model(store, XY_COSTS_PU, "Xylem 1.0", 150e-9);
    m->barrier = 130e-9;
    m->small_bcast = 160e-9;
    m->small_allreduce = 250e-9;
    return store;
}

static xy_costs_t *make_store(void)
{
    return make_sloped(0.1e-9);
}

/* The last to come continues at once: of two processes of a core, one switch to a barrier. */
static void barriers_of_one_core(void **state)
{
    xy_costs_t *store = make_store();

    (void)state;
    assert_close(collective(2, 1, store, NULL, XY_COLL_BARRIER, 0), 130e-9, 0.05);
    assert_close(collective(2, 2, store, NULL, XY_COLL_BARRIER, 0), 300e-9, 0.05);
    xy_costs_destroy(store);
}

/* Many on a core: a small broadcast needs no switch for each of them, and takes what was measured
 * of as many. */
static void small_broadcasts_of_many(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double seconds = collective(16, 2, store, NULL, XY_COLL_BCAST, 64);

    (void)state;
    /* 160 ns are two processes of one core. */
    assert_true(seconds < 250e-9 + 7 * (80e-9 + 25e-9)); /* 50 ns a switch */
    assert_close(collective(2, 1, store, NULL, XY_COLL_BCAST, 64), 160e-9, 0.1);
    m->crowd = (xy_crowd_t){.message = 150e-9, .large = 600e-9, .barrier = 2e-6, .bcast = 2e-6};
    assert_close(collective(16, 2, store, NULL, XY_COLL_BCAST, 64), 2e-6, 0.1);
    xy_costs_destroy(store);
}

/* The work of a large one is between two barriers, to the second of which no process comes. */
static void processes_come_once(void **state)
{
    xy_costs_t *store = make_store();
    double barrier = collective(64, 2, store, NULL, XY_COLL_BARRIER, 0);
    double bcast = collective(64, 2, store, NULL, XY_COLL_BCAST, XY_MESSAGE_BCAST);

    (void)state;
    /* 0.41 us are the bytes of 4 KiB, 30 ns a piece at most, 0.3 us one more word. */
    assert_true(bcast < barrier + 350e-9 + 32 * 440e-9);
    assert_close(collective(2, 2, store, NULL, XY_COLL_BCAST, XY_MESSAGE_BCAST), 1e-6, 0.05);
    xy_costs_destroy(store);
}

/* Seconds of one of many messages from process 0 to another one. */
static double stream(int count, testing_kind_t send, const xy_costs_t *store)
{
    enum { MANY = 100 };
    testing_act_t from[MANY + 2] = {{0}}, to[MANY + 1] = {{0}}, *all[] = {from, to};

    for (int i = 0; i < MANY; i++) {
        from[i] = (testing_act_t){.kind = send, .peer = 1, .bytes = 64};
        to[i] = (testing_act_t){.kind = DO_RECV, .peer = 0, .bytes = 64};
    }
    from[MANY].kind = DO_WAIT;
    return run_all(2, count, store, NULL, all) / MANY;
}

/* Seconds of process 0 for one of many messages, each to another process of the other core. */
static double issued(int to, uint64_t bytes, const xy_costs_t *store)
{
    enum { MANY = 100 };
    static testing_act_t acts[MOST][MANY + 1];
    int32_t cores[MOST] = {0};
    testing_job_t t;
    double end;

    memset(acts, 0, sizeof(acts));
    testing_job_init(&t, NODE, 1 + to);
    t.config.core_of = cores;
    t.config.store = store;
    for (int i = 0; i < MANY; i++) {
        acts[0][i] = (testing_act_t){.kind = DO_SEND, .peer = 1 + i % to, .bytes = bytes};
        acts[1 + i % to][i / to] = (testing_act_t){.kind = DO_RECV, .peer = 0, .bytes = bytes};
    }
    for (int p = 0; p <= to; p++) {
        cores[p] = p > 0;
        t.procs[p].acts = acts[p];
    }
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[0].times[MANY - 1];
    testing_job_cleanup(&t);
    return end / MANY;
}

/* Senders of short messages do not wait for the receivers, and need less time for each. */
static void senders_of_short_ones_are_ahead(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;

    (void)state;
    assert_close(issued(5, XY_MESSAGE_SMALL, store), work, 0.1);
    m->issue = work / 2;
    assert_close(issued(5, XY_MESSAGE_SMALL, store), work / 2, 0.1);
    assert_close(issued(5, XY_MESSAGE_SMALL + 1, store), work, 0.1);
    assert_close(stream(2, DO_SEND, store), gap, 0.1);
    xy_costs_destroy(store);
}

/* Seconds of a core for a message to and fro between so many processes of two cores. */
static double across(int each, uint64_t bytes, const xy_costs_t *store)
{
    static testing_act_t acts[MOST][2 * ROUNDS + 1];
    testing_act_t *all[MOST];

    memset(acts, 0, sizeof(acts));

    for (int p = 0; p < 2 * each; p++) {
        int other = p < each ? p + each : p - each;

        for (int i = 0; i < 2 * ROUNDS; i++)
            acts[p][i] = (testing_act_t){.kind = (i + (p >= each)) % 2 == 0 ? DO_SEND : DO_RECV,
                                         .peer = other,
                                         .bytes = bytes};
        all[p] = acts[p];
    }
    return run_all(2 * each, 2, store, NULL, all) / ROUNDS / each;
}

/* Where many processes of two cores send to each other, each core takes what was measured. */
static void crowds_of_two_cores(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;

    (void)state;
    m->crowd =
        (xy_crowd_t){.message = 200e-9, .large = 650e-9, .across = 260e-9, .large_across = 500e-9};
    m->throng =
        (xy_crowd_t){.message = 220e-9, .large = 700e-9, .across = 300e-9, .large_across = 600e-9};
    assert_close(across(8, XY_MESSAGE_SMALL, store), 260e-9, 0.06);
    assert_close(across(8, XY_MESSAGE_BCAST, store), 500e-9, 0.1);
    assert_close(across(32, XY_MESSAGE_SMALL, store), 300e-9, 0.06);
    assert_close(across(32, XY_MESSAGE_BCAST, store), 600e-9, 0.1);
    m->crowd.medium_across = 450e-9;
    m->throng.medium_across = 550e-9;
    assert_close(across(8, XY_MESSAGE_SMALL, store), 260e-9, 0.06);
    assert_close(across(8, XY_MESSAGE_MEDIUM, store), 450e-9, 0.06);
    assert_close(across(8, XY_MESSAGE_BCAST, store), 500e-9, 0.1);
    assert_close(across(32, XY_MESSAGE_MEDIUM, store), 550e-9, 0.06);
    xy_costs_destroy(store);
}

/* A sender lets others of its core run when it has left much for them. */
static void who_leaves_much_lets_others_run(void **state)
{
    enum { BYTES = 4096, MANY = XY_MATCH_LEFT / (BYTES + XY_MATCH_HEAD) + 20 };
    testing_act_t from[MANY + 1] = {{0}}, to[MANY + 1] = {{0}};
    int32_t cores[] = {0, 0};
    xy_costs_t *store = make_store();
    testing_job_t t;

    (void)state;
    for (int few = 0; few < 2; few++) {
        int n = few ? MANY - 25 : MANY;

        memset(from, 0, sizeof(from));
        memset(to, 0, sizeof(to));
        for (int i = 0; i < n; i++) {
            from[i] = (testing_act_t){.kind = DO_SEND, .peer = 1, .bytes = BYTES};
            to[i] = (testing_act_t){.kind = DO_RECV, .peer = 0, .bytes = BYTES};
        }
        testing_job_init(&t, NODE, 2);
        t.config.core_of = cores;
        t.config.store = store;
        t.procs[0].acts = from;
        t.procs[1].acts = to;
        testing_job_run(&t);
        assert_int_equal(t.status, XY_OK);
        assert_int_equal(t.procs[1].times[0] < t.procs[0].times[n - 1], !few);
        testing_job_cleanup(&t);
    }
    xy_costs_destroy(store);
}

/* Ranks of a core leave up to 2 KiB of all of them for a root. Larger blocks are copied where they
 * belong, between two barriers, as those of a scatter are. */
static void blocks_of_a_core_are_left_together(void **state)
{
    xy_costs_t *store = make_store();
    double scatter = collective(16, 2, store, NULL, XY_COLL_SCATTER, 512);

    (void)state;
    assert_close(collective(16, 2, store, NULL, XY_COLL_GATHER, 512), scatter, 1e-9);
    assert_true(collective(16, 2, store, NULL, XY_COLL_GATHER, 256) < 0.9 * scatter);
    xy_costs_destroy(store);
}

/* Blocking sends one after the other are as far apart as was measured, and not several at once. */
static void blocking_sends_are_a_stream(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;

    (void)state;
    assert_close(stream(1, DO_SEND, store), gap, 0.1);
    assert_close(stream(2, DO_SEND, store), gap, 0.1);
    assert_true(stream(1, DO_ISEND, store) > 1.5 * gap);
    m->crowd = m->throng = (xy_crowd_t){.message = 5e-6, .large = 5e-6};
    assert_close(stream(1, DO_SEND, store), gap, 0.1);
    xy_costs_destroy(store);
}

/* Half a round trip between two cores. */
static double trip(testing_kind_t send, const xy_costs_t *store)
{
    testing_act_t acts[2][3] = {{{.kind = send, .peer = 1}, {.kind = DO_RECV, .peer = 1}, {0}},
                                {{.kind = DO_RECV}, {.kind = send}, {0}}};
    testing_act_t *all[] = {acts[0], acts[1]};

    return run_all(2, 2, store, NULL, all) / 2;
}

static void nonblocking_ones_take_more(void **state)
{
    xy_costs_t *store = make_store();

    (void)state;
    assert_close(trip(DO_ISEND, store) - trip(DO_SEND, store), request, 0.01);
    xy_costs_destroy(store);
}

/* Pairs of `each` processes on each of `count` cores: seconds of a core for a message. */
static double pairs(int each, int count, uint64_t bytes, const xy_costs_t *store)
{
    static testing_act_t acts[MOST][2 * ROUNDS + 1];
    testing_act_t *all[MOST];

    for (int p = 0; p < count * each; p++) {
        for (int i = 0; i < 2 * ROUNDS; i++)
            acts[p][i] = (testing_act_t){
                .kind = i % 2 == p % 2 ? DO_SEND : DO_RECV, .peer = p ^ 1, .bytes = bytes};
        all[p] = acts[p];
    }
    return run_all(count * each, count, store, NULL, all) / ROUNDS / each;
}

static double bulk(int each, int count, const xy_costs_t *store)
{
    return pairs(each, count, XY_MESSAGE_BULK, store);
}

/* In a crowd, the data of a message takes longer than between two processes. */
static void data_takes_longer_in_crowds(void **state)
{
    const double more = 1e-6;
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double few = pairs(2, 1, XY_MESSAGE_BCAST, store);
    double crowd = pairs(XY_MESSAGE_CROWD, 1, XY_MESSAGE_BCAST, store);

    (void)state;
    m->crowd.message = 150e-9;
    m->crowd.large = 150e-9 + 0.1e-9 * XY_MESSAGE_BCAST + more;
    assert_close(pairs(2, 1, XY_MESSAGE_BCAST, store), few, 1e-9);
    assert_close(pairs(XY_MESSAGE_CROWD, 1, XY_MESSAGE_BCAST, store) - crowd, more, 0.1);
    xy_costs_destroy(store);
}

/* Beyond the caches, cores that copy at once take what was measured so; one alone does not. */
static void cores_share_what_is_behind_their_caches(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double alone[2] = {bulk(8, 1, store), bulk(32, 1, store)};

    (void)state;
    m->crowd = (xy_crowd_t){.message = 150e-9, .large = 560e-9, .bulk = 1.2 * alone[0]};
    m->throng = (xy_crowd_t){.message = 150e-9, .large = 560e-9, .bulk = 1.5 * alone[1]};
    assert_close(bulk(8, 1, store), alone[0], 0.01);
    assert_close(bulk(32, 1, store), alone[1], 0.01);
    assert_close(bulk(8, 2, store), 1.2 * alone[0], 0.06);
    assert_close(bulk(32, 2, store), 1.5 * alone[1], 0.06);
    xy_costs_destroy(store);
}

/* Rounds in which two cores send each other a large message, and each one to itself. */
static double exchange_large(bool has_self, const xy_costs_t *store)
{
    static testing_act_t acts[2][5 * ROUNDS + 1];
    testing_act_t *all[2] = {acts[0], acts[1]};

    for (int p = 0; p < 2; p++)
        for (int i = 0, n = 0; i < ROUNDS; i++) {
            acts[p][n++] =
                (testing_act_t){.kind = DO_IRECV, .peer = 1 - p, .bytes = XY_MESSAGE_BULK};
            if (has_self)
                acts[p][n++] = (testing_act_t){.kind = DO_IRECV, .peer = p, .bytes = 64};
            acts[p][n++] =
                (testing_act_t){.kind = DO_ISEND, .peer = 1 - p, .bytes = XY_MESSAGE_BULK};
            if (has_self)
                acts[p][n++] = (testing_act_t){.kind = DO_ISEND, .peer = p, .bytes = 64};
            acts[p][n++] = (testing_act_t){.kind = DO_WAIT};
            acts[p][n] = (testing_act_t){.kind = DO_END};
        }
    return run_all(2, 2, store, NULL, all) / ROUNDS;
}

/* The extra time of an exchange of large messages is work: nothing else hides in it. */
static void large_messages_that_cross_are_work(void **state)
{
    const double self = 1e-6; /* less than what an exchange takes more */
    xy_costs_t *store = make_store();
    xy_message_model_t *between = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;
    xy_message_model_t *inside = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double without;

    (void)state;
    for (size_t i = 0; i < between->count; i++) {
        between->samples[i].gap = between->samples[i].blocking; /* all of it is work */
        inside->samples[i].self = self;
    }
    without = exchange_large(false, store);
    assert_close(without, 1.2 * (400e-9 + 0.1e-9 * XY_MESSAGE_BULK), 0.05);
    assert_true(exchange_large(true, store) - without > 0.3 * self); /* its latency is 0.3 us */
    xy_costs_destroy(store);
}

/* Eight processes of a core in pairs, which send each other `count` messages and wait for as many:
 * seconds of the core for all of one process. */
static double crowd_burst(int count, const xy_costs_t *store)
{
    enum { EACH = XY_MESSAGE_CROWD, LEAST = 4 };
    static testing_act_t acts[EACH][(2 * LEAST + 1) * ROUNDS + 1];
    testing_act_t *all[EACH];

    for (int p = 0; p < EACH; p++) {
        int n = 0;

        for (int i = 0; i < ROUNDS; i++) {
            for (int k = 0; k < 2 * count; k++)
                acts[p][n++] = (testing_act_t){
                    .kind = k < count ? DO_IRECV : DO_ISEND, .peer = p ^ 1, .bytes = 64};
            acts[p][n++] = (testing_act_t){.kind = DO_WAIT};
        }
        acts[p][n] = (testing_act_t){.kind = DO_END};
        all[p] = acts[p];
    }
    return run_all(EACH, 1, store, NULL, all) / ROUNDS / EACH;
}

/* In a crowd a process that gets the core takes longer, and not each message. */
static void crowds_take_longer_for_each_switch(void **state)
{
    const double more = 1e-6;
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double one = crowd_burst(1, store), four = crowd_burst(4, store);

    (void)state;
    m->crowd.message = 150e-9 + more;
    /* Each second time a process finds what it waits for. */
    assert_close(crowd_burst(1, store) - one, more / 2, 0.1);
    assert_close(crowd_burst(4, store) - four, more / 2, 0.1);
    xy_costs_destroy(store);
}

/* Short blocks that have left the caches take longer than as many bytes of a long copy. */
static void short_blocks_take_longer(void **state)
{
    const double block = 20e-6, far = 1e-9 * XY_MESSAGE_BCAST, each = XY_MESSAGE_CROWD;
    const uint64_t sizes[] = {XY_MESSAGE_SMALL, XY_MESSAGE_BCAST, XY_MESSAGE_BULK};
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;

    (void)state;
    for (int i = 0; i < 3; i++) {
        double more, before;

        m->crowd.block = m->throng.block = 0;
        before = collective(2 * XY_MESSAGE_CROWD, 2, store, NULL, XY_COLL_ALLTOALL, sizes[i]);
        m->crowd.block = m->throng.block = block;
        more =
            collective(2 * XY_MESSAGE_CROWD, 2, store, NULL, XY_COLL_ALLTOALL, sizes[i]) - before;
        if (sizes[i] != XY_MESSAGE_BCAST)
            assert_true(more == 0);
        else /* 1 MiB is halfway from 256 KiB to the 4 MiB that were measured */
            assert_close(more, each * 2 * each * (block - far) / 2, 0.1);
        if (sizes[i] != XY_MESSAGE_BCAST)
            continue;
        m->crowd.some = block; /* and these were measured with 1 MiB */
        more =
            collective(2 * XY_MESSAGE_CROWD, 2, store, NULL, XY_COLL_ALLTOALL, sizes[i]) - before;
        assert_close(more, each * 2 * each * (block - far), 0.1);
        m->crowd.some = 0;
        m->crowd.ordered = m->throng.ordered = block / 2; /* an alltoall reads in order */
        more =
            collective(2 * XY_MESSAGE_CROWD, 2, store, NULL, XY_COLL_ALLTOALL, sizes[i]) - before;
        assert_close(more, each * 2 * each * (block / 2 - far) / 2, 0.1);
        m->crowd.ordered = m->throng.ordered = 0;
    }
    xy_costs_destroy(store);
}

/* The root of a small gather leaves its own block and looks for those of others, and the two of a
 * small broadcast do one of both. */
static void roots_of_gathers_do_both(void **state)
{
    const double more = 20e-9;
    xy_costs_t *store = make_store();
    double gather[2], scatter[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        xy_message_model_t *b = &XY_VEC_AT(&store->messages, xy_message_cost_t, i).model;

        b->barrier = i == 0 ? 300e-9 : 120e-9;
        b->small_bcast = b->small_allreduce = i == 0 ? 600e-9 : 300e-9;
    }
    for (int i = 0; i < 2; i++) {
        gather[i] = collective(2, 2, store, NULL, XY_COLL_GATHER, 64);
        scatter[i] = collective(2, 2, store, NULL, XY_COLL_SCATTER, 64);
        XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model.small_bcast += 2 * more;
    }
    assert_close(gather[1] - gather[0] - (scatter[1] - scatter[0]), more, 0.1);
    xy_costs_destroy(store);
}

/* Alltoalls of many processes take what was measured, those that are left for others and those that
 * are not: what ranks of a core leave together has room for 2 KiB. */
static void alltoalls_take_what_was_measured(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        xy_message_model_t *b = &XY_VEC_AT(&store->messages, xy_message_cost_t, i).model;

        b->barrier = i == 0 ? 300e-9 : 120e-9;
        b->bcast = i == 0 ? 1000e-9 : 300e-9;
        b->small_bcast = b->small_allreduce = i == 0 ? 350e-9 : 200e-9;
    }
    m->crowd = (xy_crowd_t){
        .message = 160e-9, .large = 600e-9, .barrier = 1.5e-6, .alltoall = 8e-6, .left = 3e-6};
    m->throng =
        (xy_crowd_t){.message = 170e-9, .large = 620e-9, .barrier = 6e-6, .alltoall = 60e-6};
    assert_close(collective(16, 2, store, NULL, XY_COLL_ALLTOALL, 64), 8e-6, 0.05);
    assert_close(collective(64, 2, store, NULL, XY_COLL_ALLTOALL, 64), 60e-6, 0.05);
    assert_close(collective(16, 2, store, NULL, XY_COLL_ALLTOALL, 8), 3e-6, 0.1);
    assert_true(collective(16, 2, store, NULL, XY_COLL_ALLTOALL, 24) >
                1.5 * collective(16, 2, store, NULL, XY_COLL_ALLTOALL, 16));
    xy_costs_destroy(store);
}

enum { LEFT = 100 }; /* messages of 1 KiB that a sender leaves before others of its core run */

/* Process 0 sends another of its core many messages: when the last was received. Before, the other
 * one has posted all receives, or none. */
static double leave_many(bool is_posted, const xy_costs_t *store)
{
    static testing_act_t from[LEFT + 3], to[LEFT + 3];
    testing_act_t *all[2] = {from, to};
    int n = 0;

    memset(to, 0, sizeof(to));
    from[0] = (testing_act_t){.kind = DO_RECV, .peer = 1};
    for (int i = 1; i <= LEFT; i++)
        from[i] = (testing_act_t){.kind = DO_SEND, .peer = 1, .bytes = XY_MESSAGE_MEDIUM};
    from[LEFT + 1] = (testing_act_t){.kind = DO_END};
    if (!is_posted)
        to[n++] = (testing_act_t){.kind = DO_SEND, .peer = 0};
    for (int i = 0; i < LEFT; i++)
        to[n++] = (testing_act_t){.kind = is_posted ? DO_IRECV : DO_RECV, .peer = 0};
    if (is_posted) {
        to[n++] = (testing_act_t){.kind = DO_SEND, .peer = 0};
        to[n++] = (testing_act_t){.kind = DO_WAIT};
    }
    to[n] = (testing_act_t){.kind = DO_END};
    return run_all(2, 1, store, NULL, all);
}

/* A block left on a core before its receive is copied once more, and has left the first cache if
 * the core has touched much since then: three times its bytes for each message before it. */
static void left_messages_are_copied_again(void **state)
{
    const double block = 20e-6, far = 0.1e-9 * XY_MESSAGE_BCAST;
    const double near = 65536,
                 most = 4 * near; /* bytes; few blocks were measured with the latter */
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double before[2], more = 0;

    (void)state;
    for (int is_posted = 0; is_posted < 2; is_posted++)
        before[is_posted] = leave_many(is_posted, store);
    m->crowd.few = block;
    for (int i = 0; i < LEFT; i++) {
        double touched = 3.0 * XY_MESSAGE_MEDIUM * i,
               part = log2(touched / near) / log2(most / near);

        more += (block - far) * XY_MESSAGE_MEDIUM / XY_MESSAGE_BCAST * fmin(fmax(part, 0), 1);
    }
    assert_close(leave_many(false, store) - before[0], more, 0.02);
    assert_true(leave_many(true, store) == before[1]);
    xy_costs_destroy(store);
}

/* Seconds of a core for an eager message from each of eight processes of another core to each of
 * its own eight. */
static double cross(const xy_costs_t *store)
{
    enum { EACH = XY_MESSAGE_CROWD };
    static testing_act_t acts[2 * EACH][ROUNDS + 1];
    testing_act_t *all[2 * EACH];

    for (int p = 0; p < 2 * EACH; p++) {
        for (int i = 0; i < ROUNDS; i++)
            acts[p][i] = p < EACH ? (testing_act_t){.kind = DO_SEND,
                                                    .peer = EACH + (p + i) % EACH,
                                                    .bytes = XY_MESSAGE_BCAST}
                                  : (testing_act_t){.kind = DO_RECV,
                                                    .peer = (p + (EACH - 1) * i) % EACH,
                                                    .bytes = XY_MESSAGE_BCAST};
        acts[p][ROUNDS] = (testing_act_t){.kind = DO_END};
        all[p] = acts[p];
    }
    return run_all(2 * EACH, 2, store, NULL, all) / (ROUNDS * EACH);
}

/* Lines that come from another core bring none sooner that has left the caches: that adds up. */
static void blocks_of_other_cores_take_both(void **state)
{
    const double block = 3.9e-6; /* less than what such a message takes */
    xy_costs_t *store = make_sloped(1e-9);
    xy_message_model_t *between = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;
    double before, more;

    (void)state;
    for (size_t i = 0; i < between->count; i++)
        between->samples[i].gap = between->samples[i].blocking; /* all of it is work */
    before = cross(store);
    m->crowd.few = m->crowd.some = m->crowd.block = m->throng.block = block;
    more = cross(store) - before;
    assert_true(before > block);
    assert_true(more > 0);
    xy_costs_destroy(store);
}

/* Seconds of a message from process 0 to one of seven others of its core, of `buffers` buffers. */
static double linear(int buffers, uint64_t bytes, const xy_costs_t *store)
{
    enum { OTHERS = 7, MANY = 20 };
    static testing_act_t from[OTHERS * MANY + 1], to[MANY + 1];
    testing_act_t *all[OTHERS + 1] = {from};

    for (int i = 0; i < OTHERS * MANY; i++)
        from[i] = (testing_act_t){.kind = DO_SEND,
                                  .peer = 1 + i % OTHERS,
                                  .bytes = bytes,
                                  .buffer = buffers > 0 ? (uint64_t)(1 + i % buffers) : 0};
    for (int i = 0; i < MANY; i++)
        to[i] = (testing_act_t){.kind = DO_RECV, .peer = 0, .bytes = bytes};
    for (int i = 1; i <= OTHERS; i++)
        all[i] = to;
    return run_all(OTHERS + 1, 1, store, NULL, all) / (OTHERS * MANY);
}

/* Of one buffer that is sent to many, the source stays in the caches. */
static void one_buffer_to_many(void **state)
{
    xy_costs_t *store = make_store();
    double several = linear(7, XY_MESSAGE_BULK, store), one = linear(1, XY_MESSAGE_BULK, store);

    (void)state;
    assert_close(linear(0, XY_MESSAGE_BULK, store), several, 1e-9);
    assert_true(one < 0.65 * several && one > 0.5 * several);
    /* Eager ones are copied twice, the second time from memory of their own. */
    XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model.crowd.few = 20e-6;
    several = linear(8, XY_MESSAGE_BCAST, store);
    one = linear(1, XY_MESSAGE_BCAST, store);
    assert_close(linear(0, XY_MESSAGE_BCAST, store), several, 1e-9);
    assert_true(one < 0.9 * several && one > 0.5 * several);
    xy_costs_destroy(store);
}

/* Words are measured with one line: further ones of what is left for a root take longer. */
static void further_lines_for_a_root(void **state)
{
    xy_costs_t *store = make_store(), *slow = make_sloped(0.2e-9);
    const double more = 0.1e-9, line = XY_DIRECT_LINE * more, copy = 64 * more;
    double seconds = collective(16, 2, slow, NULL, XY_COLL_GATHER, 64) -
                     collective(16, 2, store, NULL, XY_COLL_GATHER, 64);

    (void)state;
    /* Eight blocks come from the other core; the first of them is in the word. */
    assert_close(seconds, 7 * (line + copy), 0.1);
    xy_costs_destroy(store);
    xy_costs_destroy(slow);
}

/* A block of a root takes no longer to copy than a message of a stream. */
static void roots_copy_as_streams(void **state)
{
    xy_costs_t *store = make_store();
    double bcast = collective(2, 2, store, NULL, XY_COLL_BCAST, XY_MESSAGE_BULK);

    (void)state;
    /* A message of 64 KiB takes 6.6 us, and they are `gap` apart. */
    assert_true(bcast < 1000e-9 + gap);
    assert_true(collective(2, 2, store, NULL, XY_COLL_ALLTOALL, XY_MESSAGE_BULK) > 6e-6);
    xy_costs_destroy(store);
}

/* An allreduce of two takes what was measured, also where a broadcast takes longer. */
static void sums_take_what_was_measured(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;

    (void)state;
    m->bcast = 2000e-9;
    for (m->allreduce = 1300e-9; m->allreduce < 1700e-9; m->allreduce += 300e-9)
        assert_close(collective(2, 2, store, NULL, XY_COLL_ALLREDUCE, XY_MESSAGE_BCAST),
                     m->allreduce, 0.05);
    xy_costs_destroy(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_of_one_core),
        cmocka_unit_test(small_broadcasts_of_many),
        cmocka_unit_test(processes_come_once),
        cmocka_unit_test(blocking_sends_are_a_stream),
        cmocka_unit_test(senders_of_short_ones_are_ahead),
        cmocka_unit_test(crowds_of_two_cores),
        cmocka_unit_test(blocks_of_a_core_are_left_together),
        cmocka_unit_test(who_leaves_much_lets_others_run),
        cmocka_unit_test(nonblocking_ones_take_more),
        cmocka_unit_test(data_takes_longer_in_crowds),
        cmocka_unit_test(large_messages_that_cross_are_work),
        cmocka_unit_test(crowds_take_longer_for_each_switch),
        cmocka_unit_test(short_blocks_take_longer),
        cmocka_unit_test(alltoalls_take_what_was_measured),
        cmocka_unit_test(roots_of_gathers_do_both),
        cmocka_unit_test(left_messages_are_copied_again),
        cmocka_unit_test(blocks_of_other_cores_take_both),
        cmocka_unit_test(cores_share_what_is_behind_their_caches),
        cmocka_unit_test(one_buffer_to_many),
        cmocka_unit_test(further_lines_for_a_root),
        cmocka_unit_test(roots_copy_as_streams),
        cmocka_unit_test(sums_take_what_was_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
