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

/* Another one for each. */
static double figure_of(const xy_figure_t *f)
{
    return 1e-7 * (double)(f - xy_message_figures() + 1);
}

static void set_figures(xy_message_model_t *m)
{
    for (const xy_figure_t *f = xy_message_figures(); f->name != NULL; f++)
        *xy_figure_place(m, f) = figure_of(f);
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
                                           .exchange = i > 8 ? 0.75 + i : 0};
    if (m.cluster1 == NULL || m.cluster2 == NULL) {
        xy_message_cost_cleanup(&m);
        return xy_fail_memory("testing");
    }
    st = xy_message_fit(samples, 12, &m.model);
    set_figures(&m.model);
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
    for (int i = 1; i <= 2 && st == XY_OK; i++) /* the second one counts */
        st = xy_costs_set_figure(c, "send", i * 1e-7);
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
    assert_int_equal(b->figures.count, 1);
    assert_string_equal(XY_VEC_AT(&b->figures, xy_figure_cost_t, 0).name, "send");
    assert_true(XY_VEC_AT(&b->figures, xy_figure_cost_t, 0).value == 2e-7);
    for (double bytes = 1; bytes < 5000; bytes *= 1.3)
        for (const char *const *name = xy_message_models(); *name != NULL; name++)
            for (int kind = 0; kind < XY_MESSAGE_KINDS; kind++) {
                const xy_message_model_t *old = &xy_costs_message(a, "C1", "C<2>&\"")->model;

                if (!xy_message_has(&m->model, *name, (xy_message_kind_t)kind))
                    continue;
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

/* A file has the figures of the places that its messages are between, at most twelve. */
static void test_figures(void **state)
{
    static const char *const pairs[XY_PAIRS][3] = {[XY_PAIR_CORE] = {"pu", "pu", "Xylem 1"},
                                                   [XY_PAIR_CORES] = {"local", "local", "Xylem 1"},
                                                   [XY_PAIR_OTHER] = {"C1", "local", "MPICH"},
                                                   [XY_PAIR_HOSTS] = {"C1", "C2", "MPICH"}};
    const xy_message_sample_t sample = {.bytes = 1, .blocking = 1e-6};

    (void)state;
    testing_listen();
    for (int place = 0; place < XY_PAIRS; place++) {
        xy_message_cost_t m = {.cluster1 = xy_strdup(pairs[place][0]),
                               .cluster2 = xy_strdup(pairs[place][1]),
                               .library = xy_strdup(pairs[place][2])};
        xy_costs_t *a, *b;
        char *text;
        int count = 0;

        assert_int_equal(xy_message_fit(&sample, 1, &m.model), XY_OK);
        set_figures(&m.model);
        assert_int_equal(xy_costs_create("host", "", &a), XY_OK);
        assert_int_equal(xy_costs_set_message(a, &m), XY_OK);
        text = print(a);
        assert_int_equal(parse(text, &b), XY_OK);
        m = XY_VEC_AT(&b->messages, xy_message_cost_t, 0);
        assert_int_equal(xy_costs_pair(&m), place);
        for (const xy_figure_t *f = xy_message_figures(); f->name != NULL; f++) {
            bool belongs = (f->pairs >> place & 1) != 0;

            assert_true(*xy_figure_place(&m.model, f) == (belongs ? figure_of(f) : 0));
            count += belongs;
        }
        assert_in_range(count, 1, 12);
        free(text);
        xy_costs_destroy(a);
        xy_costs_destroy(b);
    }
}

/* Files of version 1 have samples of all curves and lines of two; figures that are gone are
 * ignored.
 */
static void test_version_1(void **state)
{
    static const char text[] =
        "<XylemCosts version='1'><Message Cluster1='a' Cluster2='b' Eager='100' LargeCrowd='1e-6'>"
        "<Blocking><Latency>1e-6</Latency><Time><Interval Start='1' End='9' a='0' b='1e-6'/></Time>"
        "</Blocking><Sample Size='1' Blocking='1e-6' Gap='2e-7' Burst='1e-5'/>"
        "<Sample Size='9' Blocking='1e-6' Gap='1e-6' Burst='1e-5'/></Message></XylemCosts>";
    const xy_message_model_t *m;
    xy_costs_t *c;

    (void)state;
    testing_listen();
    assert_int_equal(parse(text, &c), XY_OK);
    m = &xy_costs_message(c, "a", "b")->model;
    assert_true(m->eager == 100);
    assert_true(xy_message_curve(m, XY_MESSAGE_BLOCKING, 5) == 1e-6);
    assert_true(fabs(xy_message_curve(m, XY_MESSAGE_GAP, 5) - 6e-7) < 1e-9);
    assert_true(xy_message_curve(m, XY_MESSAGE_EXCHANGE, 5) == 0);
    xy_costs_destroy(c);
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

#define HEAD "<XylemCosts version='2'>"
#define K    HEAD "<SeqKernel Name='k'><Cluster Name='c'>"
#define M    HEAD "<Message Cluster1='a' Cluster2='b'>"

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"<costs/>", "<costs> is not a file of costs"},
        {"<XylemCosts/>", "version (none); this Xylem reads versions 1 to 2"},
        {"<XylemCosts version='3'/>", "version 3; this Xylem reads versions 1 to 2: measure again "
                                      "with 'xylem calibrate'"},
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
        {HEAD "<Figure Name='send'/></XylemCosts>", "has no Value"},
        {HEAD "<Figure Value='1'/></XylemCosts>", "needs a Name"},
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
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_figures),
        cmocka_unit_test(test_version_1),  cmocka_unit_test(test_replaces),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_teams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
