/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of simulated jobs: their times, and what they do with data. */
#include <math.h>

#include "testing/sim_job.h"

static const xy_coll_link_t textbook = {1e-6, 1e-9, 5e-10, 2.5e-10};

/* One collective of `procs` processes, all beginning at 0: when the last one has it. */
static double collective(testing_job_t *t, const char *machine, int procs,
                         const testing_act_t *acts, const char *algorithm,
                         const xy_coll_link_t *link)
{
    double end;

    testing_job_init(t, machine, procs);
    t->config.algorithm = algorithm;
    t->config.link = link;
    for (int i = 0; i < procs; i++)
        t->procs[i].acts = acts;
    end = testing_job_run(t);
    assert_int_equal(t->status, XY_OK);
    return end;
}

static double counted(const xy_coll_request_t *q, const xy_coll_algorithm_t *a)
{
    xy_graph_t *g;
    double seconds;

    assert_int_equal(xy_coll_build(q, &textbook, a, &g), XY_OK);
    seconds = xy_coll_count(g, &textbook);
    xy_graph_destroy(g);
    return seconds;
}

static bool is_equal_blocks(xy_collective_t c)
{
    return c != XY_COLL_GATHERV && c != XY_COLL_SCATTERV && c != XY_COLL_ALLGATHERV &&
           c != XY_COLL_ALLTOALLV && c != XY_COLL_ALLTOALLW && c != XY_COLL_REDUCE_SCATTER;
}

static void every_algorithm_takes_its_formula(void **state)
{
    static const int procs[] = {1, 2, 3, 5, 8, 13, 16};
    static const int nodes[16];                   /* one */
    static const uint64_t parts[] = {1, 12, 512}; /* equal ones, of any number of ranks */
    const xy_coll_algorithm_t *const *list = xy_coll_algorithms();

    (void)state;
    for (int i = 0; list[i] != NULL; i++)
        for (int c = 0; c < XY_COLL_COUNT; c++)
            for (int k = 0; k < 21; k++) {
                xy_coll_request_t q = {.collective = (xy_collective_t)c,
                                       .procs = procs[k % 7],
                                       .root = procs[k % 7] / 2,
                                       .count = parts[k / 7] * (uint64_t)procs[k % 7] * 16,
                                       .element = 8,
                                       .is_commutative = true,
                                       .nodes = nodes};
                testing_act_t acts[] = {{.kind = DO_COLL,
                                         .coll = {.collective = q.collective,
                                                  .root = q.root,
                                                  .count = q.count,
                                                  .element = 8,
                                                  .is_commutative = true}},
                                        {0}};
                testing_job_t t;
                double end;

                if (!is_equal_blocks(q.collective) || !xy_coll_is_applicable(list[i], &q))
                    continue;
                end = collective(&t, "core:16", q.procs, acts, list[i]->name, &textbook);
                if (fabs(end - counted(&q, list[i])) > 1e-12 * end)
                    fail_msg("%s %s of %d: %g, not %g", list[i]->name, xy_coll_name(c), q.procs,
                             end, counted(&q, list[i]));
                if (fabs(end - list[i]->cost(&q, &textbook)) > 1e-12 * end)
                    fail_msg("%s %s of %d: %g, formula %g", list[i]->name, xy_coll_name(c), q.procs,
                             end, list[i]->cost(&q, &textbook));
                testing_job_cleanup(&t);
            }
}

/* Data that direct collectives read is in the matrix, as the monitor of a real run counts it. */
static void direct_ones_are_in_the_matrix(void **state)
{
    static const testing_act_t acts[] = {
        {.kind = DO_COLL,
         .coll = {.collective = XY_COLL_BCAST, .root = 1, .count = 1000, .element = 8}},
        {.kind = DO_COLL,
         .coll = {.collective = XY_COLL_ALLREDUCE,
                  .count = 1000,
                  .element = 8,
                  .is_commutative = true}},
        {.kind = DO_COLL,
         .coll =
             {.collective = XY_COLL_ALLREDUCE, .count = 2, .element = 8, .is_commutative = true}},
        {.kind = DO_COLL,
         .coll = {.collective = XY_COLL_ALLREDUCE,
                  .count = 1,
                  .element = 8,
                  .is_commutative = true,
                  .is_agreement = true}},
        {.kind = DO_COLL,
         .coll = {.collective = XY_COLL_GATHER, .root = 2, .count = 3, .element = 8}},
        {0}};
    xy_vec_t pairs = XY_VEC_INIT(xy_vjob_pair_t);
    testing_job_t t;

    (void)state;
    testing_job_init(&t, "core:4", 4);
    t.config.has_matrix = true;
    for (int i = 0; i < 4; i++)
        t.procs[i].acts = acts;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(xy_vjob_matrix(t.job, &pairs), XY_OK);
    assert_int_equal(pairs.count, 12);
    for (size_t i = 0; i < pairs.count; i++) {
        const xy_vjob_pair_t *p = &XY_VEC_AT(&pairs, xy_vjob_pair_t, i);
        /* Slices of a quarter, there and back; then two numbers of all to all. */
        uint64_t bytes = 2 * 2000 + 16, messages = 3;

        bytes += p->from == 1 ? 8000 : 0;
        messages += p->from == 1;
        bytes += p->to == 2 ? 24 : 0;
        messages += p->to == 2;
        assert_int_equal(p->coll_bytes, bytes);
        assert_int_equal(p->coll_messages, messages);
        assert_int_equal(p->messages, 0);
    }
    xy_vec_cleanup(&pairs);
    testing_job_cleanup(&t);
}

/* An alltoall of long blocks of four processes, two on each of two cores, of which those of one
 * come so much later, one after the other: seconds from then on. */
static double late_alltoall(int late_core, double late)
{
    static const int32_t cores[] = {0, 0, 1, 1};
    testing_act_t acts[2][3];
    testing_job_t t;
    double end;

    for (int i = 0; i < 2; i++) {
        acts[i][0] = (testing_act_t){.kind = DO_COMPUTE, .seconds = i == late_core ? late : 0};
        acts[i][1] = (testing_act_t){
            .kind = DO_COLL,
            .coll = {.collective = XY_COLL_ALLTOALL, .count = 64 << 10, .element = 1}};
        acts[i][2] = (testing_act_t){0};
    }
    testing_job_init(&t, "node:1 core:2", 4);
    t.config.core_of = cores;
    for (int i = 0; i < 4; i++)
        t.procs[i].acts = acts[cores[i]];
    end = testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
    return end - 2 * late;
}

/* The core that comes last finds all others there. They copy while it does: it tells them so before
 * it begins. */
static void who_comes_last_lets_others_work(void **state)
{
    double one = late_alltoall(0, 0), block = (64 << 10) / 8e9;

    (void)state;
    assert_true(one > 8 * block && one < 9 * block);
    for (int core = 0; core < 2; core++)
        assert_true(fabs(late_alltoall(core, 1e-3) - one) < block);
}

static const testing_act_t three_sums[] = {
    {.kind = DO_COLL,
     .coll = {.collective = XY_COLL_ALLREDUCE, .count = 500, .element = 8, .is_commutative = true}},
    {.kind = DO_COLL,
     .coll = {.collective = XY_COLL_ALLREDUCE, .count = 300, .element = 8, .is_commutative = true}},
    {.kind = DO_COLL,
     .coll = {.collective = XY_COLL_ALLREDUCE,
              .count = 500,
              .element = 8,
              .is_commutative = true,
              .is_agreement = true}},
    {0}};

static double run_sums(testing_job_t *t, const char *machine, const xy_coll_picks_t *picks)
{
    double end;

    testing_job_init(t, machine, 8);
    t->config.picks = picks;
    for (int i = 0; i < 8; i++)
        t->procs[i].acts = three_sums;
    end = testing_job_run(t);
    assert_int_equal(t->status, XY_OK);
    return end;
}

/* 500 and 300 doubles are of one step; what makes a communicator is not picked for. */
static void picked_algorithms_run_and_are_counted(void **state)
{
    static const char machine[] = "node:2(latency=5us bandwidth=1GB/s) core:4";
    const xy_coll_algorithm_t *a = xy_coll_find(XY_COLL_ALLREDUCE, "ring");
    xy_coll_pick_t list = {XY_COLL_ALLREDUCE, 8, xy_coll_step(4000), a};
    xy_coll_picks_t picks = {&list, 1};
    testing_job_t usual, picked;
    double default_end = run_sums(&usual, machine, NULL);
    double picked_end = run_sums(&picked, machine, &picks), alone = 0, alone_picked = 0;
    xy_vec_t calls = XY_VEC_INIT(xy_vjob_calls_t), other = XY_VEC_INIT(xy_vjob_calls_t);
    const xy_vjob_calls_t *c;

    (void)state;
    assert_true(picked_end > default_end);
    assert_int_equal(xy_vjob_calls(usual.job, &calls), XY_OK);
    assert_int_equal(calls.count, 1);
    c = &XY_VEC_AT(&calls, xy_vjob_calls_t, 0);
    assert_int_equal(c->calls, 2);
    assert_int_equal(c->nodes, 2);
    assert_ptr_not_equal(c->algorithm, a);
    assert_true(c->seconds > 0 && c->seconds < default_end);
    assert_int_equal(xy_vjob_calls(picked.job, &other), XY_OK);
    assert_ptr_equal(XY_VEC_AT(&other, xy_vjob_calls_t, 0).algorithm, a);
    assert_int_equal(xy_vjob_try(usual.job, c, c->algorithm, &alone), XY_OK);
    assert_int_equal(xy_vjob_try(usual.job, c, a, &alone_picked), XY_OK);
    assert_true(alone > 0 && alone < c->seconds && alone_picked > alone);
    assert_true(alone_picked - alone < picked_end - default_end);
    testing_job_cleanup(&usual);
    testing_job_cleanup(&picked);
    /* In one node nothing but direct ones block. */
    assert_true(run_sums(&usual, "core:8", NULL) == run_sums(&picked, "core:8", &picks));
    calls.count = 0;
    assert_int_equal(xy_vjob_calls(usual.job, &calls), XY_OK);
    assert_int_equal(calls.count, 0);
    xy_vec_cleanup(&calls);
    xy_vec_cleanup(&other);
    testing_job_cleanup(&usual);
    testing_job_cleanup(&picked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_takes_its_formula),
        cmocka_unit_test(direct_ones_are_in_the_matrix),
        cmocka_unit_test(who_comes_last_lets_others_work),
        cmocka_unit_test(picked_algorithms_run_and_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
