/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of clusters, by hosts that answer with what is written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/hosts_internal.h"
#include "testing/cost.h"

/* AGENT HOST COMMAND ... --seconds S --output FILE: hosts m1, m2, ... take 1, 2, ... seconds, but
 * m3 is broken, and m4 has said that something was too noisy. */
static const char agent_text[] =
    "#!/bin/sh\n"
    "host=${1#m}\n"
    "[ \"$1\" = m3 ] && exit 127\n"
    "echo \"$@\" >>\"${0%/*}/log\"\n"
    "for word; do last=$word; done\n"
    "cat >\"$last\" <<END\n"
    "<XylemCosts version=\"1\"><SeqKernel Name=\"dgemm\" Threads=\"1\" Unit=\"n\">"
    "<Cluster Name=\"local\" Samples=\"2\">"
    "<Interval Start=\"1\" End=\"9\" Degree=\"0\" Samples=\"2\"><Params>$host</Params></Interval>"
    "<Sample Size=\"1\" Seconds=\"$host\"/><Sample Size=\"9\" Seconds=\"$host\"/>"
    "</Cluster></SeqKernel></XylemCosts>\n"
    "END\n"
    "[ \"$1\" = m4 ] && exit 1\n"
    "exit 0\n";

typedef struct {
    hosts_session_t s;
    xy_hosts_calibration_t c;
    xy_vec_t command;
    xy_costs_t *costs;
    char agent[128];
} fixture_t;

/* `count` hosts in clusters of two that are near. */
static void begin(fixture_t *f, uint32_t count, bool on_every_host)
{
    static const char *const words[] = {"/bin/xylem", "calibrate"};
    FILE *file;

    *f = (fixture_t){.command = XY_VEC_INIT(const char *)};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(xy_vec_append(&f->command, &words[i]), XY_OK);
    snprintf(f->s.launcher.directory, sizeof(f->s.launcher.directory), "/tmp/xylem-kernels-XXXXXX");
    assert_non_null(mkdtemp(f->s.launcher.directory));
    snprintf(f->agent, sizeof(f->agent), "%s/agent", f->s.launcher.directory);
    file = fopen(f->agent, "w");
    assert_non_null(file);
    fputs(agent_text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(f->agent, 0755), 0);
    f->c = (xy_hosts_calibration_t){.agent = f->agent,
                                    .kernels = &f->command,
                                    .kernel_seconds = 6,
                                    .on_every_host = on_every_host};
    f->s.c = &f->c;
    f->s.launcher.kind = COST_OPEN_MPI;
    assert_int_equal(xy_latency_create(count, &f->s.matrix), XY_OK);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            f->s.matrix->second[i * count + j] = i / 2 == j / 2 ? 1e-6 : 5e-6;
    assert_int_equal(xy_eco_compute(f->s.matrix, XY_ECO_RHO, XY_ECO_RHO_SITE, &f->s.eco), XY_OK);
    assert_int_equal(xy_costs_create("hosts", "hosts", &f->costs), XY_OK);
    testing_listen();
}

static double seconds_on(const fixture_t *f, const char *cluster)
{
    const xy_kernel_cost_t *k = xy_costs_kernel(f->costs, "dgemm", cluster, 1);

    return k != NULL ? xy_fit_value(&k->fit, 5).seconds : 0;
}

static void end(fixture_t *f)
{
    char log[128];

    snprintf(log, sizeof(log), "%s/log", f->s.launcher.directory);
    unlink(log);
    unlink(f->agent);
    assert_int_equal(rmdir(f->s.launcher.directory), 0); /* nothing was left behind */
    xy_vec_cleanup(&f->command);
    xy_costs_destroy(f->costs);
    xy_eco_destroy(f->s.eco);
    xy_latency_destroy(f->s.matrix);
}

/* One host of each cluster; what it could not do is reported and counted. */
static void test_one_each(void **state)
{
    fixture_t f;
    char log[128], line[512] = "";
    FILE *file;

    (void)state;
    begin(&f, 6, false);
    assert_int_equal(f.s.eco->clusters, 3);
    assert_int_equal(hosts_measure_kernels(&f.s, f.costs), XY_OK);
    assert_true(seconds_on(&f, "C1") == 1);
    assert_true(seconds_on(&f, "C2") == 0); /* m3 is broken */
    assert_true(seconds_on(&f, "C3") == 5);
    assert_null(xy_costs_kernel(f.costs, "dgemm", XY_COSTS_LOCAL, 1));
    assert_int_equal(f.s.failed, 1);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, "host m3 measured no kernels"));
    snprintf(log, sizeof(log), "%s/log", f.s.launcher.directory);
    file = fopen(log, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_memory_equal(line, "m1 /bin/xylem calibrate --seconds 2000ms --output ", 50);
    end(&f);
}

/* All: the one in the middle stands for its cluster. */
static void test_every_host(void **state)
{
    fixture_t f;

    (void)state;
    begin(&f, 4, true);
    assert_int_equal(hosts_measure_kernels(&f.s, f.costs), XY_OK);
    assert_true(seconds_on(&f, "C1") == 1);
    assert_true(seconds_on(&f, "C2") == 4); /* m4's other models are there */
    assert_int_equal(f.s.failed, 2);
    assert_int_equal(testing_said_count, 2); /* m2 is slower than m1, m3 is broken */
    end(&f);
}

static void test_none(void **state)
{
    fixture_t f;

    (void)state;
    begin(&f, 2, false);
    f.command.count = 0;
    assert_int_equal(hosts_measure_kernels(&f.s, f.costs), XY_OK);
    assert_int_equal(f.costs->kernels.count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_each),
        cmocka_unit_test(test_every_host),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
