/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of other libraries take in the simulation what they were measured to take. */
#include "testing/sim_job_models.h"

/* An allreduce of two processes of another library takes what it was measured to take. */
static void others_exchange_as_was_measured(void **state)
{
    static const char *const libraries[][2] = {{"openmpi", "Open MPI 4.1"}, {"mpich", "MPICH 4.0"}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        xy_costs_t *store;
        xy_message_model_t *m;
        double least, more;

        assert_int_equal(xy_costs_create("test", "test", &store), XY_OK);
        m = add_model(store, XY_COSTS_LOCAL, libraries[k][1], 400e-9);
        m->reduce = m->copy = 100e-9;
        least = collective(2, 2, store, libraries[k][0], XY_COLL_ALLREDUCE, 64);
        m->small_allreduce = 2e-6;
        m->allreduce = 6e-6;
        more = collective(2, 2, store, libraries[k][0], XY_COLL_ALLREDUCE, 64);
        assert_true(least < 1.5e-6 && more > least + 0.3e-6 && more < 2.2e-6);
        more = collective(2, 2, store, libraries[k][0], XY_COLL_ALLREDUCE, XY_MESSAGE_BCAST);
        assert_true(more > 3e-6 && more < 6.6e-6);
        xy_costs_destroy(store);
    }
}

/* Two rounds of exchanges take twice what one does: what comes behind a message that was waited
 * for is no burst. */
static void rounds_are_no_burst(void **state)
{
    xy_message_model_t *m;
    xy_costs_t *store;

    (void)state;
    assert_int_equal(xy_costs_create("test", "test", &store), XY_OK);
    m = add_model(store, XY_COSTS_LOCAL, "MPICH 4.0", 400e-9);
    m->reduce = m->copy = 1e-9;
    m->small_allreduce = 2e-6;
    m->allreduce = 3e-6;
    assert_close(collective(2, 2, store, "mpich", XY_COLL_ALLREDUCE, 64), 2e-6, 0.05);
    assert_close(collective(2, 2, store, "mpich", XY_COLL_ALLREDUCE, XY_MESSAGE_BCAST), 3e-6, 0.05);
    xy_costs_destroy(store);
}

/* MPICH sends a rank's own block of a short alltoall to itself. */
static void own_blocks_are_messages(void **state)
{
    double copied, sent;
    xy_costs_t *store;
    xy_message_model_t *m;

    (void)state;
    assert_int_equal(xy_costs_create("test", "test", &store), XY_OK);
    m = add_model(store, XY_COSTS_LOCAL, "MPICH 4.0", 400e-9);
    m->copy = 1e-9;
    copied = collective(2, 2, store, "mpich", XY_COLL_ALLTOALL, 64);
    for (size_t i = 0; i < m->count; i++)
        m->samples[i].self = 300e-9;
    sent = collective(2, 2, store, "mpich", XY_COLL_ALLTOALL, 64);
    assert_true(sent > copied + 0.5 * 300e-9 && sent < copied + 1.1 * 300e-9);
    assert_true(collective(2, 2, store, "mpich", XY_COLL_ALLGATHER, 64) < sent);
    xy_costs_destroy(store);
}

/* Seconds of one of many rounds of two processes: a collective, with a message of as many bytes the
 * other way before the next one, or without. */
static double rounds_of(const xy_costs_t *store, const char *library, const xy_vjob_coll_t *call,
                        bool is_back)
{
    testing_act_t acts[2][2 * ROUNDS + 1] = {{{0}}}, *all[2] = {acts[0], acts[1]};
    bool is_up = call->collective == XY_COLL_REDUCE || call->collective == XY_COLL_GATHER;
    int n = 0;

    for (int i = 0; i < ROUNDS; i++)
        for (int step = 0; step < 2; step++) {
            bool is_call = (step == 0) == is_up;

            for (int p = 0; p < 2 && (is_call || is_back); p++)
                acts[p][n] = (testing_act_t){.kind = is_call             ? DO_COLL
                                                     : (p == 0) == is_up ? DO_SEND
                                                                         : DO_RECV,
                                             .peer = !p,
                                             .bytes = call->count * call->element,
                                             .coll = *call};
            n += is_call || is_back;
        }
    return run_all(2, 2, store, library, all) / ROUNDS;
}

static xy_vjob_coll_t call_of(xy_collective_t which, uint64_t bytes)
{
    return (xy_vjob_coll_t){
        .collective = which, .count = bytes / 8, .element = 8, .is_commutative = true};
}

/* Set the measured times of reduces and broadcasts of `m`: so much longer than in the simulation of
 * messages, the former of 64 bytes and of 4 KiB. */
static void set_calls(const xy_costs_t *store, const char *library, xy_message_model_t *m,
                      const double reduce[2], double bcast)
{
    const xy_vjob_coll_t small = call_of(XY_COLL_REDUCE, XY_MESSAGE_SMALL);
    const xy_vjob_coll_t large = call_of(XY_COLL_REDUCE, XY_MESSAGE_BCAST);
    const xy_vjob_coll_t root = call_of(XY_COLL_BCAST, XY_MESSAGE_SMALL);
    double figures[5] = {reduce[0] + rounds_of(store, library, &small, false),
                         reduce[1] + rounds_of(store, library, &large, false),
                         reduce[0] + rounds_of(store, library, &small, true),
                         reduce[1] + rounds_of(store, library, &large, true),
                         bcast + rounds_of(store, library, &root, true)};

    m->small_reduce_stream = figures[0];
    m->reduce_stream = figures[1];
    m->small_reduce_back = figures[2];
    m->reduce_back = figures[3];
    m->small_bcast_back = figures[4];
}

static const char *const others[][2] = {{"openmpi", "Open MPI 4.1"}, {"mpich", "MPICH 4.0"}};

static xy_message_model_t *make_other(int k, xy_costs_t **store_p)
{
    xy_message_model_t *m;

    assert_int_equal(xy_costs_create("test", "test", store_p), XY_OK);
    m = add_model(*store_p, XY_COSTS_LOCAL, others[k][1], 400e-9);
    m->reduce = m->copy = 100e-9;
    return m;
}

/* Reduces and broadcasts of other libraries take, beside their messages, what was measured. */
static void calls_take_what_was_measured(void **state)
{
    (void)state;
    for (int i = 0; i < (testing_is_soak() ? 20 : 8); i++) {
        const double reduce[2] = {50e-9 * (1 + i % 5), 150e-9 * (1 + i % 7)}, bcast = 30e-9 * i;
        const uint64_t sizes[] = {8, 64, 2080, 4096, 65536};
        xy_costs_t *plain, *store;
        int k = i % 2;
        const char *name = others[k][0];

        make_other(k, &plain);
        set_calls(plain, name, make_other(k, &store), reduce, bcast);
        for (int s = 0; s < 5; s++) {
            xy_vjob_coll_t call = call_of(XY_COLL_REDUCE, sizes[s]);
            double more = reduce[0] + (reduce[1] - reduce[0]) * (s < 2 ? 0 : s == 2 ? 0.5 : 1);

            for (int back = 0; back < 2; back++)
                assert_true(fabs(rounds_of(store, name, &call, back) -
                                 rounds_of(plain, name, &call, back) - more) < 15e-9);
            call.collective = XY_COLL_BCAST;
            assert_true(fabs(rounds_of(store, name, &call, true) -
                             rounds_of(plain, name, &call, true) - bcast) < 15e-9);
            /* One of a stream, and one that does not wait, are others. */
            assert_true(rounds_of(store, name, &call, false) ==
                        rounds_of(plain, name, &call, false));
            call.collective = XY_COLL_REDUCE;
            call.is_nonblocking = true;
            assert_true(rounds_of(store, name, &call, true) == rounds_of(plain, name, &call, true));
        }
        xy_costs_destroy(plain);
        xy_costs_destroy(store);
    }
}

/* So do scatters and gathers, which have one figure each, for all sizes. */
static void scatters_and_gathers_as_measured(void **state)
{
    const xy_collective_t ways[] = {XY_COLL_SCATTER, XY_COLL_GATHER};

    (void)state;
    for (int i = 0; i < 4; i++) {
        const xy_vjob_coll_t small = call_of(ways[i % 2], XY_MESSAGE_SMALL);
        const xy_vjob_coll_t large = call_of(ways[i % 2], XY_MESSAGE_BCAST);
        const xy_vjob_coll_t other = call_of(ways[(i + 1) % 2], XY_MESSAGE_SMALL);
        const char *name = others[i / 2][0];
        xy_costs_t *plain, *store;
        xy_message_model_t *m = make_other(i / 2, &store);
        double *figure = i % 2 == 0 ? &m->small_scatter_stream : &m->small_gather_stream;

        make_other(i / 2, &plain);
        *figure = rounds_of(plain, name, &small, false) + 200e-9;
        assert_true(fabs(rounds_of(store, name, &small, false) - *figure) < 25e-9);
        assert_true(fabs(rounds_of(store, name, &large, true) -
                         rounds_of(plain, name, &large, true) - 200e-9) < 25e-9);
        assert_true(rounds_of(store, name, &other, false) == rounds_of(plain, name, &other, false));
        xy_costs_destroy(plain);
        xy_costs_destroy(store);
    }
}

/* The mean of both ways to measure a reduce; nothing where messages and sums take longer; and
 * without one of the figures, or another core of the node, calls are as any. */
static void calls_of_some_figures(void **state)
{
    const double reduce[2] = {300e-9, 300e-9};
    const xy_vjob_coll_t call = call_of(XY_COLL_REDUCE, 64);

    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *name = others[k][0];
        xy_costs_t *store;
        xy_message_model_t *m = make_other(k, &store);
        double plain = rounds_of(store, name, &call, true);
        testing_job_t t;

        set_calls(store, name, m, reduce, 0);
        m->small_reduce_stream += 200e-9;
        assert_true(fabs(rounds_of(store, name, &call, true) - plain - 400e-9) < 15e-9);
        m->small_reduce_stream = m->small_reduce_back = 1e-9;
        assert_true(rounds_of(store, name, &call, true) == plain);
        m->small_reduce_stream = 2e-6;
        m->reduce_back = 0;
        assert_true(rounds_of(store, name, &call, true) == plain);
        m->reduce_back = 3e-6;
        testing_job_init(&t, "node:2(latency=1us bandwidth=1GB/s) core:1", 2);
        t.config.store = store;
        t.config.library = name;
        t.procs[0].acts = t.procs[1].acts = (testing_act_t[]){{.kind = DO_COLL, .coll = call}, {0}};
        assert_true(testing_job_run(&t) > 0 && t.status == XY_OK);
        testing_job_cleanup(&t);
        xy_costs_destroy(store);
    }
}

static void set_gap(xy_message_model_t *m, double seconds)
{
    for (size_t i = 0; i < m->count; i++)
        m->samples[i].gap = seconds;
}

/* Collectives of another library whose data goes one way are a stream of messages, one after the
 * other; where each has an answer they are not. */
static void calls_one_way_are_a_stream(void **state)
{
    const xy_collective_t ways[] = {XY_COLL_BCAST, XY_COLL_SCATTER, XY_COLL_GATHER, XY_COLL_REDUCE};

    (void)state;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4; i++) {
            const xy_vjob_coll_t call = call_of(ways[i], 512);
            xy_costs_t *store;
            xy_message_model_t *m = make_other(k, &store);
            double answered = rounds_of(store, others[k][0], &call, true);

            for (double apart = 0.5e-6; apart < 4e-6; apart *= 2) {
                set_gap(m, apart);
                assert_close(rounds_of(store, others[k][0], &call, false), apart, 0.15);
                assert_close(rounds_of(store, others[k][0], &call, true), answered, 0.02);
            }
            xy_costs_destroy(store);
        }
}

/* A message that has waited for its receiver takes as long there as outside of collectives. */
static void late_receives_of_others(void **state)
{
    const xy_vjob_coll_t call = call_of(XY_COLL_BCAST, 64);
    const double late = 20e-6;
    testing_act_t root[] = {{.kind = DO_COLL, .coll = call}, {0}};
    testing_act_t leaf[] = {
        {.kind = DO_COMPUTE, .seconds = late}, {.kind = DO_COLL, .coll = call}, {0}};
    testing_act_t *all[] = {root, leaf};

    (void)state;
    for (int k = 0; k < 2; k++) {
        xy_costs_t *store;

        set_gap(make_other(k, &store), 2e-6);
        assert_close(run_all(2, 2, store, others[k][0], all), late + 2e-6, 0.01);
        xy_costs_destroy(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_exchange_as_was_measured),
        cmocka_unit_test(rounds_are_no_burst),
        cmocka_unit_test(own_blocks_are_messages),
        cmocka_unit_test(calls_take_what_was_measured),
        cmocka_unit_test(scatters_and_gathers_as_measured),
        cmocka_unit_test(calls_of_some_figures),
        cmocka_unit_test(calls_one_way_are_a_stream),
        cmocka_unit_test(late_receives_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
