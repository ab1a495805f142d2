/* SPDX-License-Identifier: BSD-3-Clause */
/* When sends of large messages between nodes are complete, by what was measured of them; and in
 * which order collectives of other libraries send. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "testing/sim_job.h"

enum { HOSTS = 4, EAGER = 1000, LARGE = 100000 };

#define GRID                                                                                       \
    "<machine><cluster id=\"C1\" name=\"C1\"><node count=\"4\" latency=\"500us\" "                 \
    "bandwidth=\"10MB/s\"><core/></node></cluster></machine>"

static const double latency = 1e-3, rate = 10e6;

#define assert_about(a, b) assert_true(fabs((a) - (b)) <= 0.03 * fabs(b))

/* The time of a large message in latencies, and until its send is complete. */
typedef struct {
    double all, hold;
    bool is_written; /* the send is complete before the data is there */
} protocol_t;

static const protocol_t written = {3, 2, true}, noticed = {3, 4, false}, held = {5, 4, false};

static double seconds_of(double bytes, double latencies)
{
    return latencies * latency + bytes / rate;
}

static xy_costs_t *make_store(const protocol_t *p)
{
    static const double sizes[] = {0,     8,     100,    500,    1000,  1001,
                                   10000, 50000, 100000, 200000, 400000};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    xy_message_cost_t m = {
        .cluster1 = xy_strdup("C1"), .cluster2 = xy_strdup("C1"), .library = xy_strdup("MPICH 4")};
    xy_message_sample_t samples[COUNT];
    xy_costs_t *costs;

    for (int i = 0; i < COUNT; i++) {
        bool is_eager = sizes[i] <= EAGER;

        samples[i] = (xy_message_sample_t){.bytes = sizes[i],
                                           .blocking = seconds_of(sizes[i], is_eager ? 1 : p->all),
                                           .send = 1e-6,
                                           .receive = 1e-6};
    }
    assert_int_equal(xy_costs_create("test", "test", &costs), XY_OK);
    assert_int_equal(xy_message_fit(samples, COUNT, &m.model), XY_OK);
    m.model.eager = EAGER;
    m.model.hold = seconds_of(p->is_written ? 0 : sizes[COUNT - 1], p->hold) /
                   seconds_of(sizes[COUNT - 1], p->all);
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
    return costs;
}

/* Each host follows its script; those without one do nothing. */
static void run(testing_job_t *t, xy_costs_t *costs, const char *library,
                const testing_act_t *acts[HOSTS])
{
    static const testing_act_t nothing[] = {{0}};
    char path[] = "/tmp/xylem-held-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, GRID, strlen(GRID)), (ssize_t)strlen(GRID));
    close(fd);
    testing_job_init(t, path, HOSTS);
    unlink(path);
    t->config.store = costs;
    t->config.library = library;
    for (int i = 0; i < HOSTS; i++)
        t->procs[i].acts = acts[i] != NULL ? acts[i] : nothing;
    testing_job_run(t);
    assert_int_equal(t->status, XY_OK);
}

/* When the k-th send of a root to one after the other is complete, and when it was received. */
static void send_to_all(const protocol_t *p, double sent[HOSTS], double received[HOSTS])
{
    testing_act_t root[HOSTS] = {{0}}, receive[] = {{.kind = DO_RECV, .bytes = LARGE}, {0}};
    const testing_act_t *acts[HOSTS] = {root, receive, receive, receive};
    xy_costs_t *costs = make_store(p);
    testing_job_t t;

    for (int i = 1; i < HOSTS; i++)
        root[i - 1] = (testing_act_t){.kind = DO_SEND, .peer = i, .bytes = LARGE};
    run(&t, costs, "mpich", acts);
    for (int i = 1; i < HOSTS; i++) {
        sent[i] = t.procs[0].times[i - 1];
        received[i] = t.procs[i].times[0];
    }
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
}

static void sends_are_over_as_measured(void **state)
{
    double sent[HOSTS], received[HOSTS], data = LARGE / rate;

    (void)state;
    send_to_all(&written, sent, received);
    assert_about(sent[1], 2 * latency);
    /* The question waits for two packets of the data that was written before, on the own link. */
    assert_about(sent[2], 4 * latency + 2 * (2 / 1024. + (1 << 16) / 8. / rate));
    assert_true(received[3] < 7 * latency + 3 * data + latency);
    send_to_all(&noticed, sent, received);
    assert_about(received[1], 3 * latency + data);
    assert_about(sent[1], 4 * latency + data);
    assert_about(received[3], 2 * sent[1] + received[1]);
    send_to_all(&held, sent, received);
    assert_about(received[1], 5 * latency + data);
    assert_about(sent[1], 4 * latency + data);
    assert_about(received[3], 2 * sent[1] + received[1]);
}

/* Two that send to each other: what acknowledges the data of one comes behind the data of the
 * other, which was written before and is longer. */
static void acknowledgements_wait_behind_data(void **state)
{
    enum { LONGER = 4 };
    testing_act_t both[2][5];
    const testing_act_t *acts[HOSTS] = {both[0], both[1]};
    xy_costs_t *costs = make_store(&held);
    testing_job_t t;

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t mine = i == 0 ? LARGE : LONGER * LARGE, others = i == 1 ? LARGE : LONGER * LARGE;

        both[i][0] = (testing_act_t){.kind = DO_IRECV, .peer = !i, .bytes = others};
        both[i][1] = (testing_act_t){.kind = DO_ISEND, .peer = !i, .bytes = mine};
        both[i][2] = (testing_act_t){.kind = DO_WAIT_ONE};
        both[i][3] = (testing_act_t){.kind = DO_WAIT};
        both[i][4] = (testing_act_t){0};
    }
    run(&t, costs, "mpich", acts);
    /* The short send, and its receive a latency later. */
    assert_about(t.procs[0].times[2], seconds_of(LONGER * LARGE, 3));
    assert_about(t.procs[1].times[2], seconds_of(LONGER * LARGE, 4));
    assert_about(xy_vjob_end(t.job), seconds_of(LONGER * LARGE, 5));
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
}

/* The end of a collective of all hosts. */
static double collective(const protocol_t *p, const char *library, xy_collective_t which,
                         uint64_t bytes)
{
    testing_act_t act[] = {
        {.kind = DO_COLL, .coll = {.collective = which, .count = bytes, .element = 1}}, {0}};
    const testing_act_t *acts[HOSTS] = {act, act, act, act};
    xy_costs_t *costs = make_store(p);
    testing_job_t t;
    double end;

    run(&t, costs, library, acts);
    end = xy_vjob_end(t.job);
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
    return end;
}

/* The second message of a root waits for the first one; rounds of an exchange follow each other. */
static void calls_follow_each_other(void **state)
{
    double scatter = collective(&held, "mpich", XY_COLL_SCATTER, LARGE);
    double alltoall = collective(&held, "mpich", XY_COLL_ALLTOALL, LARGE);

    (void)state;
    /* Two blocks to one half, then one to the neighbour. */
    assert_about(scatter, seconds_of(2 * LARGE, 4) + seconds_of(LARGE, 5));
    assert_true(alltoall > 2.9 * seconds_of(LARGE, 5));
    /* All at once: questions of all go out together. */
    assert_true(collective(&held, "openmpi", XY_COLL_ALLTOALL, LARGE) < alltoall - 5 * latency);
}

/* A message to the memory of another process takes as long as any. */
static void one_sided_takes_the_same(void **state)
{
    testing_act_t put[] = {{.kind = DO_PUT, .peer = 1, .bytes = LARGE}, {.kind = DO_WAIT}, {0}};
    const testing_act_t *acts[HOSTS] = {put};
    xy_costs_t *costs = make_store(&held);
    testing_job_t t;

    (void)state;
    run(&t, costs, "mpich", acts);
    assert_about(t.procs[0].times[1], seconds_of(LARGE, 5));
    testing_job_cleanup(&t);
    xy_costs_destroy(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_are_over_as_measured),
        cmocka_unit_test(acknowledgements_wait_behind_data),
        cmocka_unit_test(calls_follow_each_other),
        cmocka_unit_test(one_sided_takes_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
