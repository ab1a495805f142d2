/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of other libraries take in the simulation what they were measured to take. */
#include "testing/sim_job_models.h"

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

static const char *const others[][2] = {{"openmpi", "Open MPI 4.1"}, {"mpich", "MPICH 4.0"}};

static xy_message_model_t *make_other(int k, xy_costs_t **store_p)
{
    xy_message_model_t *m;

    assert_int_equal(xy_costs_create("test", "test", store_p), XY_OK);
    m = add_model(*store_p, XY_COSTS_LOCAL, others[k][1], 400e-9);
    m->reduce = m->copy = 100e-9;
    return m;
}

/* Calls of other libraries take, beside their messages, what was measured of 64 bytes: each kind
 * has a figure of its own, and all others that of a broadcast. */
static void calls_take_what_was_measured(void **state)
{
    static const struct {
        xy_collective_t of;
        size_t figure;
    } calls[] = {{XY_COLL_BCAST, offsetof(xy_message_model_t, small_bcast)},
                 {XY_COLL_REDUCE, offsetof(xy_message_model_t, small_reduce)},
                 {XY_COLL_SCATTER, offsetof(xy_message_model_t, small_scatter)},
                 {XY_COLL_GATHER, offsetof(xy_message_model_t, small_gather)},
                 {XY_COLL_ALLREDUCE, offsetof(xy_message_model_t, small_allreduce)}};

    (void)state;
    for (int i = 0; i < 10; i++) {
        const xy_vjob_coll_t small = call_of(calls[i / 2].of, XY_MESSAGE_SMALL);
        const xy_vjob_coll_t large = call_of(calls[i / 2].of, XY_MESSAGE_BCAST);
        const xy_vjob_coll_t other = call_of(XY_COLL_ALLGATHER, XY_MESSAGE_SMALL);
        bool is_exchange = calls[i / 2].of == XY_COLL_ALLREDUCE;
        const char *name = others[i % 2][0];
        const double more = 300e-9;
        xy_costs_t *plain, *store;
        xy_message_model_t *m = make_other(i % 2, &store);
        double messages = is_exchange ? 1.2 * (400e-9 + 64 * 0.1e-9) : gap;

        make_other(i % 2, &plain);
        *(double *)(void *)((char *)m + calls[i / 2].figure) = messages + more;
        assert_close(rounds_of(store, name, &small, true) - rounds_of(plain, name, &small, true),
                     more, 0.2);
        assert_close(rounds_of(store, name, &large, true) - rounds_of(plain, name, &large, true),
                     more, 0.2);
        assert_close(rounds_of(store, name, &other, false) - rounds_of(plain, name, &other, false) +
                         more,
                     calls[i / 2].of == XY_COLL_BCAST ? 2 * more : more, 0.2);
        xy_costs_destroy(plain);
        xy_costs_destroy(store);
    }
}

static void set_gap(xy_message_model_t *m, double seconds)
{
    for (size_t i = 0; i < m->count; i++)
        m->samples[i].gap = seconds;
    fit_again(m, XY_MESSAGE_GAP);
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
        cmocka_unit_test(calls_take_what_was_measured),
        cmocka_unit_test(calls_one_way_are_a_stream),
        cmocka_unit_test(late_receives_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
