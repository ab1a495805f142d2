/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of simulated jobs: what they cost, and which receive they meet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/sim_job.h"

#define TWO_NODES "node:2(latency=1us bandwidth=10GB/s) core:8"
#define LATENCY   2e-6 /* up and down */

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

static const xy_costs_t *store; /* or NULL */

/* Seconds until process 1 has received `bytes` from process 0. */
static double one_message(const char *machine, int receiver, uint64_t bytes, xy_vjob_mode_t mode)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1, .bytes = bytes, .mode = mode}, {0}};
    testing_act_t receive[] = {{.kind = DO_RECV, .peer = 0, .bytes = bytes}, {0}};
    int32_t cores[] = {0, receiver};
    testing_job_t t;
    double end;

    testing_job_init(&t, machine, 2);
    t.config.core_of = cores;
    t.config.store = store;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[1].times[0];
    testing_job_cleanup(&t);
    return end;
}

static void a_message_takes_its_formula(void **state)
{
    static const uint64_t sizes[] = {0, 8, 1000, 4096, 4097, 65536, 65537, 1 << 24};
    xy_vjob_costs_t c;

    (void)state;
    xy_vjob_costs_default(&c);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double n = (double)sizes[i], copy = n / c.copy, link = n / 10e9;
        double node = c.send + copy + c.latency + c.receive + copy, net;

        if (sizes[i] > c.eager)
            node = c.send + c.latency + c.receive + copy;
        net = c.send + copy + LATENCY + link + c.receive + copy;
        if (sizes[i] > c.eager_net)
            net = 2 * c.send + 3 * LATENCY + link + 2 * c.receive;
        assert_close(one_message(TWO_NODES, 1, sizes[i], XY_VJOB_STANDARD), node);
        assert_close(one_message(TWO_NODES, 8, sizes[i], XY_VJOB_STANDARD), net);
    }
    assert_close(one_message(TWO_NODES, 8, 8, XY_VJOB_SYNCHRONOUS),
                 2 * c.send + 3 * LATENCY + 8 / 10e9 + 2 * c.receive);
}

/* ---- Models of messages ---- */

static double modelled(double bytes)
{
    return bytes <= 16384 ? 5e-6 + bytes * 1e-9 : 9e-6 + bytes * 0.8e-9;
}

/* Between the clusters of both nodes, and inside each. */
static xy_costs_t *make_store(double factor)
{
    xy_message_sample_t samples[12];
    xy_costs_t *costs;

    for (int i = 0; i < 12; i++) {
        samples[i] = (xy_message_sample_t){.bytes = i == 0 ? 0 : 64 << (2 * i - 2)};
        samples[i].blocking = factor * modelled(samples[i].bytes);
    }
    assert_int_equal(xy_costs_create("test", "test", &costs), XY_OK);
    for (int k = 0; k < 2; k++) {
        xy_message_cost_t m = {.cluster1 = xy_strdup("local"),
                               .cluster2 = xy_strdup(k == 0 ? "local" : "other"),
                               .library = xy_strdup("test")};

        assert_int_equal(xy_message_fit(samples, 12, &m.model), XY_OK);
        assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
    }
    return costs;
}

static void a_message_takes_what_was_measured(void **state)
{
    static const uint64_t sizes[] = {0, 64, 4096, 16384, 65536, 1 << 20, 1 << 24};
    xy_costs_t *costs = make_store(1);

    (void)state;
    store = costs;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const xy_message_cost_t *m = xy_costs_message(costs, "local", "local");
        double n = (double)sizes[i];
        double wanted = xy_message_value(&m->model, NULL, XY_MESSAGE_BLOCKING, n).seconds;

        assert_close(one_message(TWO_NODES, 1, sizes[i], XY_VJOB_STANDARD), wanted);
        /* Also where asking and answering would take longer. */
        assert_close(one_message(TWO_NODES, 8, sizes[i], XY_VJOB_STANDARD), wanted);
    }
    store = NULL;
    xy_costs_destroy(costs);
}

#define CLUSTER                                                                                    \
    "<machine><cluster name=\"C1\"><node count=\"2\" latency=\"1us\" bandwidth=\"10GB/s\">"        \
    "<core count=\"8\"/></node></cluster></machine>"

/* Between two nodes of a cluster: what was measured there. Inside one: not that. */
static void nodes_of_a_cluster_are_no_node(void **state)
{
    char path[] = "/tmp/xylem-cluster-XXXXXX";
    xy_costs_t *costs = make_store(1);
    double without, between;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, CLUSTER, strlen(CLUSTER)), (ssize_t)strlen(CLUSTER));
    close(fd);
    without = one_message(path, 1, 4096, XY_VJOB_STANDARD);
    for (int k = 0; k < 2; k++) {
        xy_message_cost_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, k);

        xy_free(m->cluster1);
        xy_free(m->cluster2);
        m->cluster1 = xy_strdup("C1");
        m->cluster2 = xy_strdup(k == 0 ? "C1" : "other");
    }
    store = costs;
    between = xy_message_value(&xy_costs_message(costs, "C1", "C1")->model, NULL,
                               XY_MESSAGE_BLOCKING, 4096)
                  .seconds;
    assert_close(one_message(path, 8, 4096, XY_VJOB_STANDARD), between);
    assert_close(one_message(path, 1, 4096, XY_VJOB_STANDARD), without);
    /* Now it was measured inside a node, too. */
    strcpy(XY_VEC_AT(&costs->messages, xy_message_cost_t, 1).cluster2, XY_COSTS_LOCAL);
    assert_close(one_message(path, 1, 4096, XY_VJOB_STANDARD), between);
    store = NULL;
    unlink(path);
    xy_costs_destroy(costs);
}

/* The limit that was measured holds, unless the user gives another. A send of 10000 bytes whose
 * receive comes a second later is complete at once, or when it comes. */
static double send_ends(double measured, bool keeps)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1, .bytes = 10000}, {0}};
    testing_act_t receive[] = {
        {.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_RECV, .peer = 0, .bytes = 10000}, {0}};
    int32_t cores[] = {0, 8};
    xy_costs_t *costs = make_store(1);
    testing_job_t t;
    double end;

    XY_VEC_AT(&costs->messages, xy_message_cost_t, 0).model.eager = measured;
    testing_job_init(&t, TWO_NODES, 2);
    t.config.core_of = cores;
    t.config.store = costs;
    t.config.costs.keeps_eager = keeps;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[0].times[0];
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

static void measured_limits_hold(void **state)
{
    (void)state;
    assert_true(send_ends(0, false) < 0.1); /* not measured: 64 KiB */
    assert_true(send_ends(10000, false) < 0.1);
    assert_true(send_ends(9999, false) > 1);
    assert_true(send_ends(9999, true) < 0.1);
}

/* A large message between nodes that was asked for is the system's: its send is complete before its
 * data has crossed, and four of them share the link. What a socket does not take keeps its sender.
 */
static double four_sends(bool has_model, uint64_t bytes, double *last_p)
{
    testing_act_t send[5], receive[] = {{.kind = DO_RECV, .peer = 0, .bytes = bytes}, {0}};
    int32_t cores[] = {0, 8, 9, 10, 11};
    xy_costs_t *costs = make_store(1);
    testing_job_t t;
    double end;

    for (int i = 0; i < 4; i++)
        send[i] = (testing_act_t){.kind = DO_SEND, .peer = 1 + i, .bytes = bytes};
    send[4] = (testing_act_t){0};
    testing_job_init(&t, TWO_NODES, 5);
    t.config.core_of = cores;
    t.config.store = has_model ? costs : NULL;
    t.procs[0].acts = send;
    for (int i = 1; i < 5; i++)
        t.procs[i].acts = receive;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    end = t.procs[0].times[3];
    *last_p = t.procs[4].times[0];
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

static void sockets_take_what_is_sent(void **state)
{
    double last, end = four_sends(true, 1 << 20, &last);

    (void)state;
    /* Questions wait for 128 KiB of each message before: 6/32 of the data of all. */
    assert_true(end < 0.22 * last);
    end = four_sends(true, (1 << 20) + 1, &last);
    assert_true(end > 0.9 * last);
    end = four_sends(false, 1 << 20, &last);
    assert_true(end > 0.9 * last);
}

#define FOUR_NODES "node:4(latency=1us bandwidth=1GB/s) core:1"

/* Two packets for node 1, and one for node 3 behind the second: that waits in front of the line of
 * node 1, and its own line is free again when it has left it. */
static void a_waiting_packet_blocks_no_other_line(void **state)
{
    testing_act_t first[] = {{.kind = DO_SEND, .peer = 1, .tag = 1, .bytes = 60000}, {0}};
    testing_act_t second[] = {{.kind = DO_SEND, .peer = 1, .tag = 2, .bytes = 60000},
                              {.kind = DO_SEND, .peer = 3, .bytes = 8},
                              {0}};
    testing_act_t two[] = {
        {.kind = DO_RECV, .peer = 0, .tag = 1}, {.kind = DO_RECV, .peer = 2, .tag = 2}, {0}};
    testing_act_t one[] = {{.kind = DO_RECV, .peer = 2}, {0}};
    testing_job_t t;

    (void)state;
    testing_job_init(&t, FOUR_NODES, 4);
    t.procs[0].acts = first;
    t.procs[1].acts = two;
    t.procs[2].acts = second;
    t.procs[3].acts = one;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    /* 60 us on the line, copies of 7.5 us, latencies and overheads of a few. */
    assert_true(t.procs[3].times[0] > 60e-6 && t.procs[3].times[0] < 85e-6);
    assert_true(t.procs[1].times[1] > 120e-6 && t.procs[1].times[1] < 145e-6);
    testing_job_cleanup(&t);
}

/* Where the model is faster than the overheads, they shrink. */
static void measured_messages_may_be_fast(void **state)
{
    xy_costs_t *costs = make_store(0.01);

    (void)state;
    store = costs;
    assert_close(one_message(TWO_NODES, 1, 0, XY_VJOB_STANDARD),
                 xy_message_value(&xy_costs_message(costs, "local", "local")->model, NULL,
                                  XY_MESSAGE_BLOCKING, 0)
                     .seconds);
    store = NULL;
    xy_costs_destroy(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_takes_its_formula),
        cmocka_unit_test(a_message_takes_what_was_measured),
        cmocka_unit_test(measured_messages_may_be_fast),
        cmocka_unit_test(nodes_of_a_cluster_are_no_node),
        cmocka_unit_test(measured_limits_hold),
        cmocka_unit_test(sockets_take_what_is_sent),
        cmocka_unit_test(a_waiting_packet_blocks_no_other_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
