/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of simulated jobs: what they cost, and which receive they meet. */
#include <math.h>

#include "sim/job_testing.h"

#define TWO_NODES "node:2(latency=1us bandwidth=10GB/s) core:8"
#define LATENCY   2e-6 /* up and down */

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_takes_its_formula),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
