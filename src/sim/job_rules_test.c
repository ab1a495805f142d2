/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that calibration runs take in the simulation what they were measured to take. */
#include "match/match.h"
#include "testing/sim_job_models.h"

enum { BULK = 65536 };

/* `each`: between cores. */
static xy_costs_t *make_sloped(double each)
{
    xy_costs_t *store;
    xy_message_model_t *m;

    assert_int_equal(xy_costs_create("test", "test", &store), XY_OK);
    m = add_sloped(store, XY_COSTS_LOCAL, "Xylem 1.0", 400e-9, each);
    m->barrier = 300e-9;
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

/* Many on a core: a small broadcast needs no switch for each of them. */
static void small_broadcasts_of_many(void **state)
{
    xy_costs_t *store = make_store();
    double seconds = collective(16, 2, store, NULL, XY_COLL_BCAST, 64);

    (void)state;
    /* 160 ns are two processes of one core. */
    assert_true(seconds < 250e-9 + 7 * (80e-9 + 25e-9)); /* 50 ns a switch */
    assert_close(collective(2, 1, store, NULL, XY_COLL_BCAST, 64), 160e-9, 0.1);
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

    (void)state;
    assert_close(stream(2, DO_SEND, store), gap, 0.1);
    assert_true(stream(1, DO_ISEND, store) > 1.5 * gap);
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

/* Rounds in which two cores send each other a large message, and each one to itself. */
static double exchange_large(bool has_self, const xy_costs_t *store)
{
    static testing_act_t acts[2][5 * ROUNDS + 1];
    testing_act_t *all[2] = {acts[0], acts[1]};

    for (int p = 0; p < 2; p++)
        for (int i = 0, n = 0; i < ROUNDS; i++) {
            acts[p][n++] = (testing_act_t){.kind = DO_IRECV, .peer = 1 - p, .bytes = BULK};
            if (has_self)
                acts[p][n++] = (testing_act_t){.kind = DO_IRECV, .peer = p, .bytes = 9000};
            acts[p][n++] = (testing_act_t){.kind = DO_ISEND, .peer = 1 - p, .bytes = BULK};
            if (has_self)
                acts[p][n++] = (testing_act_t){.kind = DO_ISEND, .peer = p, .bytes = 9000};
            acts[p][n++] = (testing_act_t){.kind = DO_WAIT};
            acts[p][n] = (testing_act_t){.kind = DO_END};
        }
    return run_all(2, 2, store, NULL, all) / ROUNDS;
}

/* The extra time of an exchange of large messages is work: nothing else hides in it. */
static void large_messages_that_cross_are_work(void **state)
{
    const double self = 150e-9 + 9000 * 0.1e-9 - 50e-9; /* inside a core, and no switch */
    xy_costs_t *store = make_store();
    xy_message_model_t *between = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;
    double without;

    (void)state;
    for (size_t i = 0; i < between->count; i++)
        between->samples[i].gap = between->samples[i].blocking; /* all of it is work */
    fit_again(between, XY_MESSAGE_GAP);
    without = exchange_large(false, store);
    assert_close(without, 1.2 * (400e-9 + 0.1e-9 * BULK), 0.05);
    assert_true(exchange_large(true, store) - without > 0.3 * self); /* its latency is 0.3 us */
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

/* An alltoall of many processes takes what was measured. */
static void alltoalls_take_what_was_measured(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 1).model;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        xy_message_model_t *b = &XY_VEC_AT(&store->messages, xy_message_cost_t, i).model;

        b->barrier = i == 0 ? 300e-9 : 120e-9;
        b->small_bcast = b->small_allreduce = i == 0 ? 350e-9 : 200e-9;
    }
    m->alltoall = 8e-6;
    assert_close(collective(16, 2, store, NULL, XY_COLL_ALLTOALL, 64), 8e-6, 0.1);
    /* Of an allgather only the first process of a core puts the blocks together. */
    assert_true(collective(16, 2, store, NULL, XY_COLL_ALLGATHER, 64) < 0.5 * 8e-6);
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
    double several = linear(7, BULK, store), one = linear(1, BULK, store);

    (void)state;
    assert_close(linear(0, BULK, store), several, 1e-9);
    assert_true(one < 0.75 * several && one > 0.6 * several);
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
    double bcast = collective(2, 2, store, NULL, XY_COLL_BCAST, BULK);

    (void)state;
    /* A message of 64 KiB takes 6.6 us, and they are `gap` apart. */
    assert_true(bcast < 1000e-9 + gap);
    assert_true(collective(2, 2, store, NULL, XY_COLL_ALLTOALL, BULK) > 6e-6);
    xy_costs_destroy(store);
}

/* An allreduce of two takes what was measured, also where a broadcast takes longer. */
static void sums_take_what_was_measured(void **state)
{
    xy_costs_t *store = make_store();
    xy_message_model_t *m = &XY_VEC_AT(&store->messages, xy_message_cost_t, 0).model;

    (void)state;
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
        cmocka_unit_test(blocks_of_a_core_are_left_together),
        cmocka_unit_test(who_leaves_much_lets_others_run),
        cmocka_unit_test(nonblocking_ones_take_more),
        cmocka_unit_test(large_messages_that_cross_are_work),
        cmocka_unit_test(alltoalls_take_what_was_measured),
        cmocka_unit_test(roots_of_gathers_do_both),
        cmocka_unit_test(one_buffer_to_many),
        cmocka_unit_test(further_lines_for_a_root),
        cmocka_unit_test(roots_copy_as_streams),
        cmocka_unit_test(sums_take_what_was_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
