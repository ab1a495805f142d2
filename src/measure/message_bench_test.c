/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages measured by a probe: here a shell script that says what a probe would, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/launcher.h"
#include "measure/measure_hosts.h"
#include "measure/message_bench.h"
#include "measure/messages.h"
#include "testing/cost.h"

/* "pair A B SIZES ..." answered by 1 us + 1 ns per byte, and 100 us more from 10000 bytes on. */
static char good[] = "echo library A library 1.0; echo step 1 2; IFS=,; for s in $3; do "
                     "t=$(awk -v s=$s 'BEGIN {print 1e-6 + s * 1e-9 + (s >= 10000) * 1e-4}'); "
                     "echo message 0 1 $s $t $t 1e-7 2e-7 3e-7 4e-6; done; echo step 2 2; "
                     "echo meet 2e-7 6e-8 7e-8";

/* The number of the launch: what is drawn by it is the same in each run of the test. */
#define COUNT "echo x >> $LAUNCHES; n=$(wc -l < $LAUNCHES); "

static xy_status_t measure(const char *script, const xy_vec_t *sizes, xy_message_cost_t *m)
{
    const char *const list[] = {"sh", "-c", script};
    xy_vec_t words = XY_VEC_INIT(const char *);
    measure_bench_t pair = {.words = &words, .b = 1, .largest = 65536, .sizes = sizes};
    char path[] = "/tmp/xylem-launches-XXXXXX";
    int file = mkstemp(path);
    xy_status_t st;

    assert_true(file >= 0);
    close(file);
    setenv("LAUNCHES", path, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(xy_vec_append(&words, &list[i]), XY_OK);
    st = measure_bench_run(&pair, m);
    unlink(path);
    xy_vec_cleanup(&words);
    return st;
}

/* Two jumps, one up at 10000 bytes by much, one down at 30000 by a quarter; launches that differ.
 */
static char jumps[] =
    COUNT "echo library A library 1.0; IFS=,; for s in $3; do "
          "t=$(awk -v s=$s -v seed=$n 'BEGIN {srand(seed + s); t = 1e-5 + s * 1e-9; "
          "if (s >= 10000) t *= 2; if (s >= 30000) t *= 0.75; print t * (1 + 0.02 * rand())}'); "
          "echo message 0 1 $s $t $t 1e-7 2e-7 3e-7; done";

static double time_with_jumps(double bytes)
{
    return (1e-5 + bytes * 1e-9) * (bytes >= 10000 ? 2 : 1) * (bytes >= 30000 ? 0.75 : 1) * 1.01;
}

/* A jump is found, and lies between two samples that are 5 % apart. */
static void expect_bracket(const xy_message_model_t *m, double at)
{
    for (size_t i = 1; i < m->count; i++)
        if (m->samples[i].bytes >= at && m->samples[i - 1].bytes < at) {
            assert_true(m->samples[i].bytes <= 1.051 * m->samples[i - 1].bytes);
            return;
        }
    fail();
}

/* Two on one core, while others are busy: 1 us + 1 ns per byte. Alone: 2 ns per byte. */
static char busy[] =
    "[ $0 = among ] || exit 1; echo library X; IFS=,; for s in $3; do t=$(awk -v s=$s "
    "'BEGIN {print 1e-6 + s * 1e-9}'); echo message 0 1 $s $t $t 1e-7 2e-7 3e-7 0; "
    "done";
static char lonely[] =
    "[ $0 = alone ] || exit 1; echo library X; IFS=,; for s in $3; do t=$(awk -v s=$s "
    "'BEGIN {print 1e-6 + s * 2e-9}'); echo message 0 1 $s $t $t 1e-7 2e-7 3e-7 "
    "0; done";

/* What keeps the sender of large messages counts in units of them, of those that a socket takes. */
static void test_hold(void **state)
{
    static char script[] =
        "echo library X; IFS=,; for s in $3; do t=$(awk -v s=$s 'BEGIN {print 1e-6 + s * 1e-9}'); "
        "h=$(awk -v s=$s 'BEGIN {print (s > 4096 ? 0.75 * (1e-6 + s * 1e-9) : 0)}'); "
        "echo message 0 1 $s $t $t 1e-7 2e-7 3e-7 0 $h; done; echo eager 4096";
    xy_message_cost_t m;

    (void)state;
    assert_int_equal(measure(script, NULL, &m), XY_OK);
    assert_true(fabs(m.model.hold - 0.75) < 1e-3);
    xy_message_cost_cleanup(&m);
}

/* One line has the times of both together; missing ones were not measured. */
static void test_meetings(void **state)
{
    char longer[1024];
    xy_message_cost_t a, b;

    (void)state;
    snprintf(longer, sizeof(longer), "%s 5e-7 3e-7 4e-7 6e-8 1e-6 2e-6 3e-6 4e-6", good);
    assert_int_equal(measure(good, NULL, &a), XY_OK);
    assert_int_equal(measure(longer, NULL, &b), XY_OK);
    assert_true(a.model.barrier == 2e-7 && a.model.reduce == 7e-8);
    assert_true(a.model.allreduce == 0 && a.model.small_gather == 0);
    assert_true(b.model.allreduce == 5e-7 && b.model.issue == 6e-8);
    assert_true(b.model.small_bcast == 3e-7 && b.model.small_allreduce == 4e-7);
    assert_true(b.model.small_reduce == 1e-6 && b.model.small_scatter == 2e-6);
    assert_true(b.model.small_gather == 3e-6 && b.model.small_bcast_back == 4e-6);
    xy_message_cost_cleanup(&a);
    xy_message_cost_cleanup(&b);
}

/* Large messages of a core are those of the core alone, up to 64 MiB, which no cache holds. */
/* Means are longer than medians by what others have the cores for: all times are. */
static void test_pace(void **state)
{
    char paced[1024];
    xy_message_cost_t a, b;

    (void)state;
    snprintf(paced, sizeof(paced), "%s; echo pace 1.25 1.5", good);
    assert_int_equal(measure(good, NULL, &a), XY_OK);
    assert_int_equal(measure(paced, NULL, &b), XY_OK);
    assert_true(a.model.pace == 0 && b.model.pace == 1.25 && b.model.compute == 1.5);
    assert_true(b.model.barrier == 1.25 * a.model.barrier);
    assert_true(b.model.samples[3].gap == 1.25 * a.model.samples[3].gap);
    assert_true(b.model.samples[3].blocking == 1.25 * a.model.samples[3].blocking);
    assert_true(b.model.samples[3].bytes == a.model.samples[3].bytes);
    xy_message_cost_cleanup(&b);
    /* Where other work takes the cores, medians count. */
    snprintf(paced, sizeof(paced), "%s; echo pace 1.7 3", good);
    assert_int_equal(measure(paced, NULL, &b), XY_OK);
    assert_true(b.model.barrier == a.model.barrier && b.model.compute == 0);
    xy_message_cost_cleanup(&a);
    xy_message_cost_cleanup(&b);
}

static void test_alone(void **state)
{
    const char *const list[] = {"sh", "-c", busy, "sh", "-c", lonely};
    xy_vec_t words = XY_VEC_INIT(const char *), alone = XY_VEC_INIT(const char *);
    measure_bench_t pair = {.words = &words, .alone = &alone, .b = 1, .largest = 262144};
    xy_message_cost_t m = {0};

    (void)state;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(xy_vec_append(i < 3 ? &words : &alone, &list[i]), XY_OK);
    assert_int_equal(measure_bench_run(&pair, &m), XY_OK);
    for (size_t i = 0; i < m.model.count; i++) {
        const xy_message_sample_t *s = &m.model.samples[i];

        assert_true(fabs(s->blocking - 1e-6 - s->bytes * (s->bytes > 131072 ? 2e-9 : 1e-9)) <
                    1e-3 * s->blocking);
    }
    if (sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) >> 10) > 4 << 20)
        assert_true(m.model.samples[m.model.count - 1].bytes == 64 << 20);
    xy_message_cost_cleanup(&m);
    xy_vec_cleanup(&words);
    xy_vec_cleanup(&alone);
}

static void add_on_core(xy_costs_t *costs)
{
    const xy_message_sample_t samples[] = {{.bytes = 1, .blocking = 1e-7},
                                           {.bytes = 1000, .blocking = 2e-7}};
    xy_message_cost_t m = {.cluster1 = xy_strdup(XY_COSTS_PU),
                           .cluster2 = xy_strdup(XY_COSTS_PU),
                           .library = xy_strdup("Xylem")};

    assert_int_equal(xy_message_fit(samples, 2, &m.model), XY_OK);
    assert_int_equal(xy_costs_set_message(costs, &m), XY_OK);
}

/* The median of three launches, in the model of one core; without that nothing is launched. */
static void test_crowd(void **state)
{
    static char script[] = "echo x >> $LAUNCHES; n=$(wc -l < $LAUNCHES); "
                           "echo crowd ${n}e-7";
    const char *const list[] = {"sh", "-c", script};
    xy_vec_t words = XY_VEC_INIT(const char *);
    char path[] = "/tmp/xylem-crowd-XXXXXX";
    const xy_message_model_t *model;
    xy_costs_t *costs;
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    setenv("LAUNCHES", path, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(xy_vec_append(&words, &list[i]), XY_OK);
    assert_int_equal(xy_costs_create("test", "test", &costs), XY_OK);
    assert_int_equal(xy_calibrate_crowd(&words, costs), XY_OK);
    add_on_core(costs);
    assert_int_equal(xy_calibrate_crowd(&words, costs), XY_OK);
    model = &xy_costs_message(costs, XY_COSTS_PU, XY_COSTS_PU)->model;
    assert_true(model->alltoall == 2e-7);
    xy_costs_destroy(costs);
    xy_vec_cleanup(&words);
    unlink(path);
}

static void test_good(void **state)
{
    xy_message_cost_t m = {0};

    (void)state;
    assert_int_equal(measure(good, NULL, &m), XY_OK);
    assert_string_equal(m.library, "A library 1.0");
    for (double bytes = 1; bytes <= 65536; bytes *= 1.7) {
        double t = 1e-6 + bytes * 1e-9 + (bytes >= 10000) * 1e-4;
        double e = xy_message_value(&m.model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds;

        assert_true(fabs(e - t) < 0.03 * t);
    }
    expect_bracket(&m.model, 10000);
    assert_true(m.model.barrier == 2e-7 && m.model.copy == 6e-8);
    assert_true(m.model.reduce == 7e-8 && m.model.samples[0].exchange == 4e-6);
    xy_message_cost_cleanup(&m);
}

static void test_jumps(void **state)
{
    xy_message_cost_t m = {0};

    (void)state;
    assert_int_equal(measure(jumps, NULL, &m), XY_OK);
    expect_bracket(&m.model, 10000);
    expect_bracket(&m.model, 30000);
    for (double bytes = 1; bytes <= 65536; bytes *= 1.03) {
        double e = xy_message_value(&m.model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds;
        bool is_near = fabs(bytes / 10000 - 1) < 0.055 || fabs(bytes / 30000 - 1) < 0.055;

        assert_true(fabs(e / time_with_jumps(bytes) - 1) < (is_near ? 1.05 : 0.05));
    }
    xy_message_cost_cleanup(&m);
}

/* A held-out size is measured twice, and the model does not see it. */
static void test_held_out(void **state)
{
    const char *const list[] = {"sh", "-c", good};
    xy_vec_t words = XY_VEC_INIT(const char *), held_out = XY_VEC_INIT(uint64_t);
    xy_vec_t held = XY_VEC_INIT(xy_message_sample_t);
    measure_bench_t pair = {
        .words = &words, .b = 1, .largest = 65536, .held_out = &held_out, .held = &held};
    uint64_t sizes[] = {100, 9000, 33333};
    xy_message_cost_t m = {0};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(xy_vec_append(&words, &list[i]), XY_OK);
        assert_int_equal(xy_vec_append(&held_out, &sizes[i]), XY_OK);
    }
    assert_int_equal(measure_bench_run(&pair, &m), XY_OK);
    assert_int_equal(held.count, 6);
    for (size_t i = 0; i < 6; i++) {
        size_t size = i / 2; /* blocking and not */

        assert_true(XY_VEC_AT(&held, xy_message_sample_t, i).bytes == (double)sizes[size]);
    }
    for (size_t i = 0; i < m.model.count; i++)
        for (size_t k = 0; k < 3; k++)
            assert_true(m.model.samples[i].bytes != (double)sizes[k]);
    xy_message_cost_cleanup(&m);
    xy_vec_cleanup(&held);
    xy_vec_cleanup(&held_out);
    xy_vec_cleanup(&words);
}

/* A launch that would not end in time is not begun; the first one is, whatever it takes. */
static void test_budget(void **state)
{
    char path[] = "/tmp/xylem-launches-XXXXXX", line[64];
    const char *const list[] = {
        "sh", "-c",
        ("echo launch >> $LAUNCHES; sleep 0.3; echo message 0 1 8 1e-6 1e-6 0 0 0; "
         "echo message 0 1 16 1.1e-6 1.1e-6 0 0 0")};
    xy_vec_t words = XY_VEC_INIT(const char *);
    measure_bench_t pair = {.words = &words, .b = 1, .largest = 16, .launches = 9, .budget = 0.1};
    xy_message_cost_t m = {0};
    int fd = mkstemp(path), lines = 0;
    FILE *launches;

    (void)state;
    assert_true(fd >= 0);
    setenv("LAUNCHES", path, 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(xy_vec_append(&words, &list[i]), XY_OK);
    assert_int_equal(measure_bench_run(&pair, &m), XY_OK);
    launches = fdopen(fd, "r");
    assert_non_null(launches);
    while (fgets(line, sizeof(line), launches) != NULL)
        lines++;
    assert_int_equal(lines, 1);
    fclose(launches);
    unlink(path);
    xy_message_cost_cleanup(&m);
    xy_vec_cleanup(&words);
}

static void test_given_sizes(void **state)
{
    xy_vec_t sizes = XY_VEC_INIT(uint64_t);
    uint64_t list[] = {3, 20000};
    xy_message_cost_t m = {0};

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(xy_vec_append(&sizes, &list[i]), XY_OK);
    assert_int_equal(measure(good, &sizes, &m), XY_OK);
    assert_int_equal(m.model.count, 2);
    assert_true(m.model.samples[0].bytes == 3 && m.model.samples[1].bytes == 20000);
    xy_message_cost_cleanup(&m);
    xy_vec_cleanup(&sizes);
}

/* One timing in twelve takes 2 to 600 times as long, another one in each launch. */
static char spikes[] = COUNT
    "echo library A library 1.0; IFS=,; for s in $3; do "
    "t=$(awk -v s=$s -v seed=$n 'BEGIN {srand(seed * 131 + s * 17); t = (1e-6 + s * 1e-9) * "
    "(1 + 0.01 * rand()); if (rand() < 1 / 12) t *= exp(log(2) + log(300) * rand()); print t}'); "
    "echo message 0 1 $s $t $t 1e-7 2e-7 3e-7; done";

/* No two timings of one size agree. */
static char chaos[] =
    COUNT "echo library A library 1.0; IFS=,; for s in $3; do "
          "t=$(awk -v s=$s -v seed=$n 'BEGIN {srand(seed * 131 + s * 17); print 1e-6 * "
          "exp(7 * rand())}'); "
          "echo message 0 1 $s $t $t 1e-7 2e-7 3e-7; done";

/* Disturbed samples are measured again; a model that cannot be trusted is refused. */
static void test_noisy(void **state)
{
    xy_message_cost_t m = {0};

    (void)state;
    assert_int_equal(measure(spikes, NULL, &m), XY_OK);
    for (double bytes = 1; bytes <= 65536; bytes *= 1.3) {
        double e = xy_message_value(&m.model, NULL, XY_MESSAGE_BLOCKING, bytes).seconds;

        assert_true(fabs(e / (1e-6 + bytes * 1e-9) - 1) < 0.1);
    }
    assert_true(m.model.kind[0].held_count >= 4 && m.model.kind[0].held_out < 0.3);
    assert_true(m.model.kind[0].time.count <= 4);
    xy_message_cost_cleanup(&m);
    testing_listen();
    assert_int_equal(measure(chaos, NULL, &m), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "too noisy: messages of A library 1.0"));
    assert_null(m.library);
    xy_error_handler_set(NULL, NULL);
}

static void test_bad(void **state)
{
    xy_message_cost_t m = {0};

    (void)state;
    testing_listen();
    assert_int_equal(measure("exit 3", NULL, &m), XY_EIO);
    assert_int_equal(testing_said_count, 1);
    assert_int_equal(measure("kill -9 $$", NULL, &m), XY_EIO);
    /* It ends well, but has said nothing, or nonsense. */
    assert_int_equal(measure("echo hello", NULL, &m), XY_EINVAL);
    assert_int_equal(measure("echo message 0 1 8 -1 -1 0 0 0", NULL, &m), XY_EINVAL);
    assert_null(m.library);
    xy_error_handler_set(NULL, NULL);
}

static void test_launchers(void **state)
{
    measure_launcher_t l;

    (void)state;
    testing_listen();
    assert_int_equal(measure_launcher_find("/nonexistent/mpirun", &l), XY_ENOENT);
    assert_int_equal(measure_launcher_find("true", &l), XY_ENOENT);
    assert_int_equal(testing_said_count, 2);
    xy_error_handler_set(NULL, NULL);
}

static void expect_words(measure_launcher_kind_t kind, const char *hostfile, const char *agent,
                         const char *expected)
{
    measure_launcher_t l = {.kind = kind, .command = "run", .program = "probe", .per_host = 1};
    xy_vec_t words = XY_VEC_INIT(char *);
    char all[512] = "";

    snprintf(l.hostfile, sizeof(l.hostfile), "%s", hostfile);
    assert_int_equal(measure_launcher_words(&l, 4, agent, NULL, &words), XY_OK);
    for (size_t i = 0; i < words.count; i++) {
        const char *word = XY_VEC_AT(&words, char *, i);

        if (strcmp(word, "--allow-run-as-root") != 0)
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ", word);
    }
    assert_string_equal(all, expected);
    measure_words_cleanup(&words);
}

static void test_words(void **state)
{
    (void)state;
    expect_words(COST_OPEN_MPI, "", NULL, "run -np 4 probe ");
    expect_words(COST_OPEN_MPI, "h", "ssh2",
                 "run -np 4 --hostfile h --mca plm_rsh_agent ssh2 probe ");
    expect_words(COST_HYDRA, "", NULL, "run -n 4 probe ");
    expect_words(COST_HYDRA, "h", "ssh2",
                 "run -n 4 -f h -ppn 1 -launcher ssh -launcher-exec ssh2 probe ");
    expect_words(COST_SLURM, "h", NULL, "run --ntasks 4 --distribution=arbitrary probe ");
}

static xy_status_t calibrate(const char *text, const char *launcher)
{
    char path[] = "/tmp/xylem-hosts-XXXXXX";
    xy_hosts_calibration_t c = {.hosts = path, .launcher = launcher, .agent = "false"};
    int fd = mkstemp(path), failed = 0;
    xy_costs_t *costs;
    xy_status_t st;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    assert_int_equal(xy_costs_create("hosts", "hosts", &costs), XY_OK);
    st = xy_calibrate_hosts(&c, costs, &failed);
    assert_int_equal(costs->messages.count, 0);
    xy_costs_destroy(costs);
    unlink(path);
    return st;
}

static void test_bad_hosts(void **state)
{
    (void)state;
    testing_listen();
    assert_int_equal(calibrate("", NULL), XY_EPARSE);
    assert_int_equal(calibrate("# nobody\n\n", NULL), XY_EPARSE);
    assert_int_equal(calibrate("good\n-oProxyCommand=reboot\n", NULL), XY_EPARSE);
    assert_non_null(strstr(testing_said, "not a host name"));
    assert_int_equal(calibrate("a\nb\n", "/nonexistent/mpirun"), XY_ENOENT);
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meetings),    cmocka_unit_test(test_hold),
        cmocka_unit_test(test_pace),        cmocka_unit_test(test_good),
        cmocka_unit_test(test_alone),       cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_jumps),       cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_noisy),       cmocka_unit_test(test_budget),
        cmocka_unit_test(test_given_sizes), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_launchers),   cmocka_unit_test(test_words),
        cmocka_unit_test(test_bad_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
