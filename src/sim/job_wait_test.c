/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated jobs: waiting, testing, probing, cancelling, taking turns, and never continuing. */
#include <math.h>

#include "testing/sim_job.h"

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

static testing_job_t t;

static double run2(const testing_act_t *first, const testing_act_t *second)
{
    testing_job_init(&t, "core:8", 2);
    t.procs[0].acts = first;
    t.procs[1].acts = second;
    return testing_job_run(&t);
}

static void a_failed_test_takes_its_time(void **state)
{
    testing_act_t send[] = {
        {.kind = DO_COMPUTE, .seconds = 1e-3}, {.kind = DO_SEND, .peer = 1, .bytes = 8}, {0}};
    testing_act_t poll[] = {{.kind = DO_IRECV, .peer = 0}, {.kind = DO_POLL}, {0}};

    (void)state;
    run2(send, poll);
    assert_int_equal(t.status, XY_OK);
    /* It arrives 201 ns after the millisecond: the test at 1001 us finds it. */
    assert_int_equal(t.procs[1].tests, 1002);
    assert_true(fabs(t.procs[1].times[1] - (1001e-6 + 101e-9)) < 1e-11);
    testing_job_cleanup(&t);
}

static void a_test_depends_on_the_clock_alone(void **state)
{
    testing_act_t send[] = {
        {.kind = DO_COMPUTE, .seconds = 1e-3}, {.kind = DO_SEND, .peer = 1, .bytes = 8}, {0}};
    testing_act_t test[] = {{.kind = DO_IRECV, .peer = 0},
                            {.kind = DO_COMPUTE, .seconds = 2e-3},
                            {.kind = DO_TEST},
                            {.kind = DO_WAIT},
                            {0}};

    (void)state;
    run2(send, test); /* the receiver is far ahead of the clock when it tests */
    assert_true(t.procs[1].flag);
    testing_job_cleanup(&t);
    test[1].seconds = 0.5e-3;
    run2(send, test);
    assert_false(t.procs[1].flag);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
}

static void probes_find_messages(void **state)
{
    testing_act_t send[] = {{.kind = DO_COMPUTE, .seconds = 1e-4},
                            {.kind = DO_SEND, .peer = 1, .tag = 5, .bytes = 8},
                            {.kind = DO_SEND, .peer = 1, .tag = 6, .bytes = 16},
                            {.kind = DO_SEND, .peer = 1, .tag = 7, .bytes = 24},
                            {0}};
    testing_act_t probe[] = {{.kind = DO_PROBE, .peer = XY_VJOB_ANY, .tag = 6},
                             {.kind = DO_IPROBE, .peer = 0, .tag = XY_VJOB_ANY},
                             {.kind = DO_MRECV, .peer = 0, .tag = 7},
                             {.kind = DO_RECV, .peer = XY_VJOB_ANY, .tag = XY_VJOB_ANY},
                             {.kind = DO_RECV, .peer = XY_VJOB_ANY, .tag = XY_VJOB_ANY},
                             {0}};
    static const int tags[] = {6, 5, 7, 5, 6};

    (void)state;
    run2(send, probe);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(t.procs[1].received, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(t.procs[1].tags[i], tags[i]);
    testing_job_cleanup(&t);
}

static void one_of_many_is_enough(void **state)
{
    testing_act_t send[] = {{.kind = DO_COMPUTE, .seconds = 1e-4},
                            {.kind = DO_SEND, .peer = 1, .tag = 2, .bytes = 8},
                            {.kind = DO_COMPUTE, .seconds = 1e-4},
                            {.kind = DO_SEND, .peer = 1, .tag = 1, .bytes = 8},
                            {0}};
    testing_act_t receive[] = {{.kind = DO_IRECV, .peer = 0, .tag = 1},
                               {.kind = DO_IRECV, .peer = 0, .tag = 2},
                               {.kind = DO_WAIT_ONE},
                               {.kind = DO_WAIT_ONE},
                               {0}};

    (void)state;
    run2(send, receive);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(t.procs[1].tags[0], 2);
    assert_int_equal(t.procs[1].tags[1], 1);
    assert_true(t.procs[1].times[2] < 1.1e-4 && t.procs[1].times[3] > 2e-4);
    testing_job_cleanup(&t);
}

static void receives_and_sends_are_cancelled(void **state)
{
    testing_act_t receive[] = {
        {.kind = DO_IRECV, .peer = 0}, {.kind = DO_CANCEL}, {.kind = DO_WAIT}, {0}};
    testing_act_t send[] = {{.kind = DO_ISEND, .peer = 1, .bytes = 1 << 20},
                            {.kind = DO_COMPUTE, .seconds = 1},
                            {.kind = DO_CANCEL},
                            {.kind = DO_WAIT},
                            {0}};
    testing_act_t early[] = {{.kind = DO_ISEND, .peer = 1, .bytes = 1 << 20},
                             {.kind = DO_CANCEL},
                             {.kind = DO_WAIT},
                             {0}};
    testing_act_t late[] = {{.kind = DO_COMPUTE, .seconds = 2},
                            {.kind = DO_IRECV, .peer = 0},
                            {.kind = DO_COMPUTE, .seconds = 1},
                            {.kind = DO_CANCEL},
                            {.kind = DO_WAIT},
                            {0}};
    testing_act_t met[] = {{.kind = DO_ISEND, .peer = 1, .bytes = 8}, {.kind = DO_WAIT}, {0}};

    (void)state;
    run2(send, receive);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[0].is_cancelled && t.procs[1].is_cancelled);
    testing_job_cleanup(&t);
    run2(early, late);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[0].is_cancelled && t.procs[1].is_cancelled);
    testing_job_cleanup(&t);
    run2(met, late); /* a message that was received is not cancelled */
    assert_int_equal(t.status, XY_OK);
    assert_false(t.procs[1].is_cancelled);
    testing_job_cleanup(&t);
}

static void processes_that_wait_for_each_other_are_stuck(void **state)
{
    testing_act_t a[] = {{.kind = DO_COMPUTE, .seconds = 1, .line = 3},
                         {.kind = DO_RECV, .peer = 1, .line = 4},
                         {.kind = DO_SEND, .peer = 1},
                         {0}};
    testing_act_t b[] = {
        {.kind = DO_RECV, .peer = 0, .line = 9}, {.kind = DO_SEND, .peer = 0}, {0}};
    testing_act_t large[] = {
        {.kind = DO_SEND, .peer = 1, .bytes = 1 << 20}, {.kind = DO_RECV, .peer = 1}, {0}};
    testing_act_t other[] = {
        {.kind = DO_SEND, .peer = 0, .bytes = 1 << 20}, {.kind = DO_RECV, .peer = 0}, {0}};
    xy_vjob_proc_t p;

    (void)state;
    run2(a, b);
    assert_int_equal(t.status, XY_EINVAL);
    assert_int_equal(t.stuck, 1);
    xy_vjob_proc(t.job, 0, &p);
    assert_true(p.is_waiting);
    assert_int_equal(p.line, 4);
    xy_vjob_proc(t.job, 1, &p);
    assert_int_equal(p.line, 9);
    testing_job_cleanup(&t);
    run2(large, other);
    assert_int_equal(t.stuck, 1);
    testing_job_cleanup(&t);
    large[0].bytes = other[0].bytes = 1024; /* eager ones do not wait */
    run2(large, other);
    assert_int_equal(t.stuck, 0);
    testing_job_cleanup(&t);
}

static void count_unmet(void *count, const void *send_data)
{
    (void)send_data;
    ++*(int *)count;
}

static int unmet(int32_t proc)
{
    int count = 0;

    xy_vjob_each_unmet(t.job, proc, count_unmet, &count);
    return count;
}

/* When nothing moves, what has come is there, and nothing is under way. */
static void what_has_not_met_is_known(void **state)
{
    testing_act_t a[] = {{.kind = DO_SEND, .peer = 1, .tag = 8, .bytes = 8},
                         {.kind = DO_SEND, .peer = 1, .tag = 9, .bytes = 8},
                         {.kind = DO_RECV, .peer = 1, .tag = 1},
                         {0}};
    testing_act_t b[] = {{.kind = DO_RECV, .peer = 0, .tag = 9},
                         {.kind = DO_IRECV, .peer = 0, .tag = 7},
                         {.kind = DO_WAIT},
                         {0}};

    (void)state;
    run2(a, b);
    assert_int_equal(t.stuck, 1);
    assert_true(xy_vjob_is_quiet(t.job, 0) && xy_vjob_is_quiet(t.job, 1));
    assert_int_equal(unmet(0), 0);
    assert_int_equal(unmet(1), 1);
    assert_int_equal(xy_vjob_incoming(t.job, 0), 0);
    assert_int_equal(xy_vjob_incoming(t.job, 1), 4); /* two were sent, and have arrived */
    assert_true(xy_vjob_is_unmet(t.procs[1].requests[t.procs[1].count - 1]));
    assert_false(xy_vjob_is_probing(t.job, 1));
    testing_job_cleanup(&t);
    b[1] = (testing_act_t){.kind = DO_PROBE, .peer = 0, .tag = 7};
    run2(a, b);
    assert_true(xy_vjob_is_probing(t.job, 1));
    testing_job_cleanup(&t);
    a[2] = b[1] = (testing_act_t){0};
    run2(a, b);
    assert_int_equal(t.status, XY_OK);
    assert_true(xy_vjob_is_quiet(t.job, 1));
    testing_job_cleanup(&t);
}

static void synchronous_sends_wait_for_their_receive(void **state)
{
    testing_act_t send[] = {{.kind = DO_SEND, .peer = 1, .bytes = 8, .mode = XY_VJOB_SYNCHRONOUS},
                            {0}};
    testing_act_t receive[] = {
        {.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_RECV, .peer = 0}, {0}};

    (void)state;
    run2(send, receive);
    assert_true(t.procs[0].times[0] > 1 && t.procs[0].times[0] < 1.00001);
    testing_job_cleanup(&t);
    send[0].mode = XY_VJOB_BUFFERED;
    send[0].bytes = 1 << 20;
    run2(send, receive);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[0].times[0] < 1e-3);
    testing_job_cleanup(&t);
}

static void processes_of_a_core_take_turns(void **state)
{
    testing_act_t a[] = {{.kind = DO_COMPUTE, .seconds = 1},
                         {.kind = DO_SEND, .peer = 1, .bytes = 8},
                         {.kind = DO_RECV, .peer = 1},
                         {.kind = DO_COMPUTE, .seconds = 1},
                         {0}};
    testing_act_t b[] = {{.kind = DO_COMPUTE, .seconds = 2},
                         {.kind = DO_SEND, .peer = 0, .bytes = 8},
                         {.kind = DO_RECV, .peer = 0},
                         {.kind = DO_COMPUTE, .seconds = 2},
                         {0}};
    testing_act_t poll[] = {{.kind = DO_IRECV, .peer = 1}, {.kind = DO_POLL}, {0}};
    testing_act_t send[] = {
        {.kind = DO_COMPUTE, .seconds = 1e-3}, {.kind = DO_SEND, .peer = 0, .bytes = 8}, {0}};
    int32_t together[] = {0, 0};

    (void)state;
    testing_job_init(&t, "core:8", 2);
    t.config.core_of = together;
    t.procs[0].acts = a;
    t.procs[1].acts = b;
    assert_true(testing_job_run(&t) >= 6);
    assert_true(xy_vjob_end(t.job) < 6.001);
    testing_job_cleanup(&t);
    testing_job_init(&t, "core:8", 2);
    t.config.core_of = together;
    t.procs[0].acts = poll; /* the polling process lets the other one compute */
    t.procs[1].acts = send;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[0].tests < 5);
    testing_job_cleanup(&t);
}

static void sleepers_leave_their_core(void **state)
{
    testing_act_t sleep[] = {{.kind = DO_SLEEP, .seconds = 1}, {0}};
    testing_act_t compute[] = {{.kind = DO_COMPUTE, .seconds = 1}, {0}};
    int32_t together[] = {0, 0};

    (void)state;
    testing_job_init(&t, "core:8", 2);
    t.config.core_of = together;
    t.procs[0].acts = sleep;
    t.procs[1].acts = compute;
    assert_true(testing_job_run(&t) < 1.001);
    testing_job_cleanup(&t);
}

static int in_flight, most_in_flight;

static void count_captured(void *owner, void *send_data)
{
    (void)owner, (void)send_data;
    most_in_flight = ++in_flight > most_in_flight ? in_flight : most_in_flight;
}

static void count_copied(void *owner, void *send_data, void *receive_data)
{
    (void)owner, (void)send_data, (void)receive_data;
    in_flight--;
}

/* However far a sender could be ahead, and with what it does in no time. */
static void messages_in_flight_are_bounded(void **state)
{
    enum { COUNT = 3000 };
    static testing_act_t send[COUNT + 1], receive[COUNT + 1];
    const xy_vjob_costs_t *c = &t.config.costs;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        send[i] = (testing_act_t){.kind = DO_SEND, .peer = 1, .bytes = 8};
        receive[i] = (testing_act_t){.kind = DO_RECV, .peer = 0};
    }
    testing_job_init(&t, "core:8", 2);
    t.config.capture = count_captured;
    t.config.copy = count_copied;
    t.procs[0].acts = send;
    t.procs[1].acts = receive;
    in_flight = most_in_flight = 0;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(in_flight, 0);
    assert_true(most_in_flight >= 2 && most_in_flight < 600);
    assert_true(fabs(t.procs[0].times[COUNT - 1] - COUNT * (c->send + 8 / c->copy)) < 1e-15);
    testing_job_cleanup(&t);
}

static void cores_that_are_not_there_are_refused(void **state)
{
    int32_t cores[] = {0, 8};

    (void)state;
    testing_job_init(&t, "core:8", 2);
    t.config.core_of = cores;
    testing_listen();
    assert_int_equal(testing_job_make(&t), XY_EINVAL);
    cores[1] = 1;
    t.config.library = "lam";
    assert_int_equal(testing_job_make(&t), XY_EUSAGE);
    testing_job_cleanup(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_test_takes_its_time),
        cmocka_unit_test(a_test_depends_on_the_clock_alone),
        cmocka_unit_test(probes_find_messages),
        cmocka_unit_test(one_of_many_is_enough),
        cmocka_unit_test(receives_and_sends_are_cancelled),
        cmocka_unit_test(processes_that_wait_for_each_other_are_stuck),
        cmocka_unit_test(what_has_not_met_is_known),
        cmocka_unit_test(synchronous_sends_wait_for_their_receive),
        cmocka_unit_test(processes_of_a_core_take_turns),
        cmocka_unit_test(sleepers_leave_their_core),
        cmocka_unit_test(messages_in_flight_are_bounded),
        cmocka_unit_test(cores_that_are_not_there_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
