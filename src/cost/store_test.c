/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "cost/store.h"
#include "testing/cost.h"

static char *print(const xy_costs_t *costs)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    xy_costs_print_xml(costs, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static xy_status_t parse(const char *text, xy_costs_t **costs_p)
{
    testing_listen();
    return xy_costs_parse(text, strlen(text), "f.xml", costs_p);
}

static xy_status_t add_kernel(xy_costs_t *c, const char *name, long threads, uint64_t *seed)
{
    xy_kernel_cost_t k = {.name = xy_strdup(name),
                          .cluster = xy_strdup("C1"),
                          .unit = xy_strdup("n"),
                          .threads = threads};

    k.samples = xy_calloc(3, sizeof(*k.samples));
    k.fit.intervals = xy_calloc(2, sizeof(*k.fit.intervals));
    if (k.name == NULL || k.cluster == NULL || k.unit == NULL || k.samples == NULL ||
        k.fit.intervals == NULL) {
        xy_kernel_cost_cleanup(&k);
        return xy_fail_memory("testing");
    }
    k.fit.count = 2;
    k.fit.samples = (long)(k.sample_count = 3);
    for (int i = 0; i < 2; i++) {
        xy_interval_t *v = &k.fit.intervals[i];

        v->start = 100 + 0.1 * i;
        v->end = 100 + 0.1 * (i + 1);
        v->degree = (int)(testing_random(seed) % 6);
        v->samples = 2 - i;
        for (int d = 0; d <= v->degree; d++)
            v->params[d] = testing_noise(seed) * pow(10, -3.0 * d);
        v->error_max = (1 + testing_noise(seed)) / 30;
    }
    k.fit.intervals[1].start = k.fit.intervals[0].end;
    for (int i = 0; i < 3; i++)
        k.samples[i] = (xy_sample_t){
            .x = i + 1, .t = 2 + testing_noise(seed), .spread = i * 0.01, .repetitions = i};
    return xy_costs_set_kernel(c, &k);
}

static xy_status_t add_message(xy_costs_t *c, uint64_t *seed)
{
    xy_message_sample_t samples[12];
    xy_message_cost_t m = {.cluster1 = xy_strdup("C1"), .cluster2 = xy_strdup("C<2>&\"")};
    xy_status_t st;

    for (int i = 0; i < 12; i++)
        samples[i] = (xy_message_sample_t){.bytes = ldexp(1, i),
                                           .blocking = 1 + i + 0.1 * testing_noise(seed),
                                           .nonblocking = 2 + 3 * i,
                                           .gap = 0.25,
                                           .send = i % 2 ? 0.125 : 0,
                                           .hold = i > 8 ? 0.75 + i : 0,
                                           .pieces = i > 8 ? 0.5 + i : 0};
    if (m.cluster1 == NULL || m.cluster2 == NULL) {
        xy_message_cost_cleanup(&m);
        return xy_fail_memory("testing");
    }
    st = xy_message_fit(samples, 12, &m.model);
    m.model.eager = 4040;
    m.model.barrier = 3e-7;
    m.model.bcast = 1.2e-6;
    m.model.reduce = 2e-7;
    m.model.crowd = (xy_crowd_t){.message = 4e-7,
                                 .large = 5e-7,
                                 .across = 1e-7,
                                 .medium_across = 2e-7,
                                 .large_across = 3e-7,
                                 .barrier = 6e-7,
                                 .bcast = 7e-7,
                                 .alltoall = 8e-7,
                                 .left = 6.5e-7,
                                 .bulk = 9e-7,
                                 .block = 2e-7,
                                 .some = 1.5e-7,
                                 .few = 1.2e-7,
                                 .ordered = 1.8e-7};
    m.model.throng = (xy_crowd_t){.message = 5e-7,
                                  .large = 6e-7,
                                  .across = 2e-7,
                                  .medium_across = 3e-7,
                                  .large_across = 4e-7,
                                  .barrier = 7e-7,
                                  .bcast = 8e-7,
                                  .alltoall = 9e-7,
                                  .bulk = 1e-6,
                                  .block = 3e-7,
                                  .ordered = 2.5e-7};
    m.model.issue = 4e-8;
    m.model.read = 0.8;
    m.model.pace = 1.1;
    m.model.compute = 1.2;
    m.model.allreduce = 6e-7;
    m.model.small_bcast = 7e-7;
    m.model.small_allreduce = 8e-7;
    m.model.reduce_back = 1.3e-6;
    m.model.small_reduce_back = 9e-7;
    m.model.reduce_stream = 1.4e-6;
    m.model.small_reduce_stream = 1.5e-6;
    m.model.small_bcast_back = 1.1e-6;
    m.model.small_scatter_stream = 1.6e-6;
    m.model.small_gather_stream = 1.7e-6;
    m.model.copy = 5e-8;
    if (st == XY_OK)
        return xy_costs_set_message(c, &m);
    xy_message_cost_cleanup(&m);
    return st;
}

/* One with everything in it. */
static xy_status_t make_store(xy_costs_t **costs_p)
{
    xy_costs_t *c;
    uint64_t seed = 17;
    xy_status_t st = xy_costs_create("host", "8 cores of \"some\" kind", &c);

    if (st != XY_OK)
        return st;
    st = add_kernel(c, "dgemm", 1, &seed);
    if (st == XY_OK)
        st = add_kernel(c, "dgemm", 2, &seed);
    if (st == XY_OK)
        st = add_message(c, &seed);
    if (st == XY_OK)
        st = xy_costs_set_constant(c, "handover", 0, 1, 89e-9, 0.01, 100);
    if (st == XY_OK)
        st = xy_costs_set_host(c, "n1", "C1");
    if (st == XY_OK)
        st = xy_machine_synthetic("site:1 cluster:2 node:2(latency=1us bandwidth=1GB/s) core:2",
                                  &c->platform);
    if (st == XY_OK)
        *costs_p = c;
    else
        xy_costs_destroy(c);
    return st;
}

static void test_round_trip(void **state)
{
    xy_costs_t *a, *b;
    char *first, *second;
    const xy_kernel_cost_t *k;
    const xy_message_cost_t *m;

    (void)state;
    testing_listen();
    assert_int_equal(make_store(&a), XY_OK);
    first = print(a);
    assert_int_equal(parse(first, &b), XY_OK);
    second = print(b);
    assert_string_equal(first, second);
    assert_non_null(b->platform);
    assert_int_equal(b->platform->leaves, 8);
    k = xy_costs_kernel(b, "dgemm", NULL, 2);
    assert_non_null(k);
    assert_memory_equal(k->fit.intervals, xy_costs_kernel(a, "dgemm", "C1", 2)->fit.intervals,
                        2 * sizeof(xy_interval_t));
    assert_memory_equal(k->samples, xy_costs_kernel(a, "dgemm", "C1", 2)->samples,
                        3 * sizeof(xy_sample_t));
    assert_null(xy_costs_kernel(b, "dgemm", "C2", 0));
    assert_null(xy_costs_kernel(b, "dgemm", NULL, 3));
    m = xy_costs_message(b, "C<2>&\"", "C1");
    assert_non_null(m);
    assert_true(m->model.eager == 4040);
    assert_true(m->model.barrier == 3e-7 && m->model.bcast == 1.2e-6);
    assert_true(m->model.reduce == 2e-7 && m->model.allreduce == 6e-7);
    assert_true(m->model.crowd.message == 4e-7 && m->model.crowd.large == 5e-7);
    assert_true(m->model.crowd.barrier == 6e-7 && m->model.crowd.bcast == 7e-7);
    assert_true(m->model.crowd.across == 1e-7 && m->model.crowd.large_across == 3e-7);
    assert_true(m->model.throng.across == 2e-7 && m->model.throng.large_across == 4e-7);
    assert_true(m->model.issue == 4e-8);
    assert_true(m->model.crowd.medium_across == 2e-7 && m->model.throng.medium_across == 3e-7);
    assert_true(m->model.crowd.block == 2e-7 && m->model.throng.block == 3e-7);
    assert_true(m->model.crowd.ordered == 1.8e-7 && m->model.throng.ordered == 2.5e-7);
    assert_true(m->model.crowd.left == 6.5e-7 && m->model.throng.alltoall == 9e-7);
    assert_true(m->model.crowd.some == 1.5e-7 && m->model.crowd.few == 1.2e-7);
    assert_true(m->model.crowd.alltoall == 8e-7 && m->model.throng.message == 5e-7);
    assert_true(m->model.throng.large == 6e-7 && m->model.throng.barrier == 7e-7);
    assert_true(m->model.throng.bcast == 8e-7 && m->model.read == 0.8);
    assert_true(m->model.pace == 1.1 && m->model.compute == 1.2);
    assert_true(m->model.small_bcast == 7e-7 && m->model.small_allreduce == 8e-7);
    assert_true(m->model.reduce_back == 1.3e-6 && m->model.small_reduce_back == 9e-7);
    assert_true(m->model.reduce_stream == 1.4e-6 && m->model.small_reduce_stream == 1.5e-6);
    assert_true(m->model.small_bcast_back == 1.1e-6);
    assert_true(m->model.small_scatter_stream == 1.6e-6);
    assert_true(m->model.small_gather_stream == 1.7e-6);
    assert_true(m->model.copy == 5e-8);
    assert_true(xy_message_hold(&m->model, 1024) == 10.75);
    assert_true(xy_message_pieces(&m->model, 1024) == 10.5);
    for (double bytes = 1; bytes < 5000; bytes *= 1.3)
        for (const char *const *name = xy_message_models(); *name != NULL; name++)
            for (int kind = 0; kind < 2; kind++) {
                const xy_message_model_t *old = &xy_costs_message(a, "C1", "C<2>&\"")->model;

                assert_true(
                    xy_message_value(old, *name, (xy_message_kind_t)kind, bytes).seconds ==
                    xy_message_value(&m->model, *name, (xy_message_kind_t)kind, bytes).seconds);
            }
    assert_null(xy_costs_message(b, "C1", "C1"));
    assert_true(xy_costs_constant(b, "handover")->seconds == 89e-9);
    assert_null(xy_costs_constant(b, "hand"));
    free(first);
    free(second);
    xy_costs_destroy(a);
    xy_costs_destroy(b);
}

/* Measuring again replaces, and only what was measured. */
static void test_replaces(void **state)
{
    xy_costs_t *c;
    uint64_t seed = 99;

    (void)state;
    testing_listen();
    assert_int_equal(make_store(&c), XY_OK);
    assert_int_equal(add_kernel(c, "dgemm", 2, &seed), XY_OK);
    assert_int_equal(c->kernels.count, 2);
    assert_int_equal(add_kernel(c, "dtrtri", 2, &seed), XY_OK);
    assert_int_equal(c->kernels.count, 3);
    assert_int_equal(add_message(c, &seed), XY_OK);
    assert_int_equal(c->messages.count, 1);
    assert_int_equal(xy_costs_set_constant(c, "handover", 0, 1, 1, 0, 1), XY_OK);
    assert_int_equal(xy_costs_set_constant(c, "handover", 0, 2, 2, 0, 1), XY_OK);
    assert_int_equal(c->constants.count, 2);
    assert_true(xy_costs_constant(c, "handover")->seconds == 1);
    xy_costs_destroy(c);
}

#define HEAD "<XylemCosts version='1'>"
#define K    HEAD "<SeqKernel Name='k'><Cluster Name='c'>"
#define M    HEAD "<Message Cluster1='a' Cluster2='b'>"

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"<costs/>", "<costs> is not a file of costs"},
        {"<XylemCosts/>", "version (none); this Xylem reads version 1: calibrate again"},
        {"<XylemCosts version='2'/>", "version 2; this Xylem reads version 1"},
        {HEAD "<Kernel/></XylemCosts>", "unknown element 'Kernel'"},
        {HEAD "<SeqKernel/></XylemCosts>", "no Name"},
        {HEAD "<SeqKernel Name='k'><x/></SeqKernel></XylemCosts>", "not expected in a SeqKernel"},
        {K "<x/></Cluster></SeqKernel></XylemCosts>", "not expected in a Cluster"},
        {K "<Interval Start='1'/></Cluster></SeqKernel></XylemCosts>", "has no End"},
        {K "<Interval Start='1' End='2'/></Cluster></SeqKernel></XylemCosts>", "no Degree"},
        {K "<Interval Start='1' End='2' Degree='6'/></Cluster></SeqKernel></XylemCosts>", "Degree"},
        {K "<Interval Start='1' End='2' Degree='1'/></Cluster></SeqKernel></XylemCosts>",
         "no Params"},
        {K "<Interval Start='1' End='2' Degree='1'><Params>1</Params></Interval></Cluster>"
           "</SeqKernel></XylemCosts>",
         "one number more"},
        {K "<Interval Start='1' End='2' Degree='0'><Params>1 2</Params></Interval></Cluster>"
           "</SeqKernel></XylemCosts>",
         "one number more"},
        {K "<Interval Start='1' End='2' Degree='0'><Params>nan</Params></Interval></Cluster>"
           "</SeqKernel></XylemCosts>",
         "one number more"},
        {K "<Interval Start='3' End='2' Degree='0'><Params>1</Params></Interval></Cluster>"
           "</SeqKernel></XylemCosts>",
         "does not start where"},
        {K "<Sample Size='0' Seconds='1'/></Cluster></SeqKernel></XylemCosts>", "Size"},
        {K "<Sample Size='1' Seconds='-1'/></Cluster></SeqKernel></XylemCosts>", "Seconds"},
        {HEAD "<Message Cluster1='a'/></XylemCosts>", "needs Cluster1 and Cluster2"},
        {M "</Message></XylemCosts>", "has no Sample"},
        {M "<Blocking/></Message></XylemCosts>", "needs a Latency"},
        {M "<Blocking><Latency>-1</Latency></Blocking></Message></XylemCosts>", "not a positive"},
        {M "<x/></Message></XylemCosts>", "not expected in a Message"},
        {M "<Sample Size='2'/><Sample Size='1'/></Message></XylemCosts>", "a larger size"},
        {HEAD "<Constant Seconds='1'/></XylemCosts>", "no Name"},
        {HEAD "<Constant Name='x'/></XylemCosts>", "has no Seconds"},
        {HEAD "<Machine Name='x'/></XylemCosts>", "needs Name and Cluster"},
        {HEAD, "f.xml"},
    };
    xy_costs_t *c = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(parse(bad[i].text, &c), XY_OK);
        assert_int_equal(testing_said_count, 1);
        if (strstr(testing_said, bad[i].said) == NULL)
            fail_msg("'%s' was answered by '%s'", bad[i].text, testing_said);
        assert_null(c);
    }
}

/* Cut anywhere, a file is refused with one message. */
static void test_truncated(void **state)
{
    xy_costs_t *a, *b = NULL;
    char *text;
    size_t length;

    (void)state;
    testing_listen();
    assert_int_equal(make_store(&a), XY_OK);
    text = print(a);
    length = strlen(text) - 2;
    for (size_t n = 0; n < length; n += 7) {
        testing_listen();
        assert_int_not_equal(xy_costs_parse(text, n, "f.xml", &b), XY_OK);
        assert_int_equal(testing_said_count, 1);
        assert_null(b);
    }
    free(text);
    xy_costs_destroy(a);
}

static void test_files(void **state)
{
    char directory[] = "/tmp/xylem-store-XXXXXX", path[256];
    xy_machine_t *m;
    xy_costs_t *c, *back = NULL;
    struct stat info;

    (void)state;
    testing_listen();
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/cache", directory);
    unsetenv("XYLEM_COSTS");
    setenv("XDG_CACHE_HOME", path, 1);
    assert_int_equal(xy_costs_load(NULL, &back), XY_ENOENT);
    assert_non_null(strstr(testing_said, "xylem calibrate"));
    assert_int_equal(make_store(&c), XY_OK);
    assert_int_equal(xy_costs_save(c, NULL), XY_OK);
    assert_int_equal(strlen(c->date), 20);
    assert_int_equal(xy_costs_load(NULL, &back), XY_OK);
    assert_string_equal(back->date, c->date);
    /* Another machine is noticed. */
    assert_int_equal(xy_machine_live(&m), XY_OK);
    testing_listen();
    assert_false(xy_costs_check(back, m, "f.xml"));
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "was measured on host"));
    xy_free(back->hardware);
    xy_free(back->machine);
    assert_int_equal(xy_costs_describe(m, &back->machine, &back->hardware), XY_OK);
    assert_true(xy_costs_check(back, m, "f.xml"));
    xy_machine_destroy(m);
    /* A full disk, and a directory that cannot be. */
    testing_listen();
    if (stat("/dev/full", &info) == 0) {
        assert_int_equal(xy_costs_save(c, "/dev/full"), XY_EIO);
        assert_int_equal(testing_said_count, 1);
    }
    setenv("XDG_CACHE_HOME", "/dev/null/x", 1);
    assert_int_not_equal(xy_costs_save(c, NULL), XY_OK);
    xy_costs_destroy(back);
    xy_costs_destroy(c);
    snprintf(path, sizeof(path), "rm -r %s", directory);
    assert_int_equal(system(path), 0);
}

static void test_memory(void **state)
{
    xy_costs_t *whole;
    char *text;

    (void)state;
    testing_listen();
    assert_int_equal(make_store(&whole), XY_OK);
    text = print(whole);
    for (int round = 0; round < 2; round++)
        for (long k = 0; testing_fail_next(&k);) {
            xy_costs_t *c = NULL;
            xy_status_t st;

            st = round == 0 ? make_store(&c) : xy_costs_parse(text, strlen(text), "f.xml", &c);
            assert_null(testing_fail_fault(&k, st));
            if (st == XY_OK)
                xy_costs_destroy(c);
        }
    free(text);
    xy_costs_destroy(whole);
}

/* Costs of teams between, below and above the measured numbers of threads. */
static void test_teams(void **state)
{
    static const double at[][2] = {{1, 1}, {2, 2}, {3, 4}, {4, 6}, {8, 8}, {12, 10}, {16, 12}};
    xy_costs_t *c;

    (void)state;
    assert_int_equal(xy_costs_create("m", "h", &c), XY_OK);
    assert_true(xy_costs_team(c, XY_COSTS_TEAM, 4) == 0);
    assert_int_equal(xy_costs_set_constant(c, XY_COSTS_TEAM, 4, -1, 6, 0, 1), XY_OK);
    assert_true(xy_costs_team(c, XY_COSTS_TEAM, 9) == 6);
    assert_int_equal(xy_costs_set_constant(c, XY_COSTS_TEAM, 8, -1, 8, 0, 1), XY_OK);
    assert_int_equal(xy_costs_set_constant(c, XY_COSTS_CHUNK, 9, -1, 90, 0, 1), XY_OK);
    assert_true(xy_costs_team(c, XY_COSTS_TEAM, 2) == 5);
    assert_int_equal(xy_costs_set_constant(c, XY_COSTS_TEAM, 2, -1, 2, 0, 1), XY_OK);
    assert_int_equal(xy_costs_set_constant(c, XY_COSTS_TEAM, 1, -1, 1, 0, 1), XY_OK);
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
        if (xy_costs_team(c, XY_COSTS_TEAM, at[i][0]) != at[i][1])
            fail_msg("%g threads: %g, not %g", at[i][0], xy_costs_team(c, XY_COSTS_TEAM, at[i][0]),
                     at[i][1]);
    xy_costs_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_replaces),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_teams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
