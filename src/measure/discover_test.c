/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts: read from a file, asked all at once; those that are silent or known already go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/discover.h"
#include "measure/timing.h"
#include "testing/cost.h"

/* A stand-in for ssh: AGENT HOST uname -n. */
static const char answers[] = "#!/bin/sh\n"
                              "[ \"$2 $3\" = 'uname -n' ] || exit 9\n"
                              "case $1 in\n"
                              "one) echo node1;;\n"
                              "two) echo Welcome to node7!; echo; echo node2;;\n"
                              "alias) echo node1;;\n"
                              "empty) ;;\n"
                              "refuses) echo node3; exit 255;;\n"
                              "hangs) sleep 100;;\n"
                              "esac\n";

static char text[4096];

static void keep(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", message);
}

static void write_file(char *path, const char *data)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, strlen(data)), (ssize_t)strlen(data));
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
}

/* Read and ask the hosts of a file with these lines. */
static xy_status_t ask(const char *lines, double patience, measure_discovery_t *hosts)
{
    char list[] = "/tmp/xylem-list-XXXXXX", agent[] = "/tmp/xylem-agent-XXXXXX";
    xy_status_t st;

    write_file(list, lines);
    write_file(agent, answers);
    text[0] = '\0';
    xy_error_handler_set(keep, NULL);
    *hosts = MEASURE_DISCOVERY_INIT;
    st = measure_discovery_read(list, hosts);
    if (st == XY_OK)
        st = measure_discover(list, agent, patience, hosts);
    xy_error_handler_set(NULL, NULL);
    unlink(list);
    unlink(agent);
    return st;
}

static const char *name(const measure_discovery_t *hosts, size_t i)
{
    return XY_VEC_AT(&hosts->names, char *, i);
}

static void test_answers(void **state)
{
    measure_discovery_t hosts;

    (void)state;
    assert_int_equal(ask("# all of them\n refuses\n\none # the first\nempty\n"
                         "two\r\nalias\none\n",
                         60, &hosts),
                     XY_OK);
    assert_int_equal(hosts.names.count, 2);
    assert_int_equal(hosts.called.count, 2);
    assert_string_equal(name(&hosts, 0), "one");
    assert_string_equal(name(&hosts, 1), "two");
    assert_string_equal(XY_VEC_AT(&hosts.called, char *, 1), "node2");
    assert_non_null(strstr(text, "host refuses does not answer"));
    assert_non_null(strstr(text, "host empty does not answer"));
    assert_non_null(strstr(text, "host alias is left out: it calls itself node1, and so does one"));
    measure_discovery_cleanup(&hosts);
}

/* It is asked with the others, and named when the patience has passed. */
static void test_silent(void **state)
{
    measure_discovery_t hosts;
    double begin = measure_now();

    (void)state;
    assert_int_equal(ask("hangs\n", 0.1, &hosts), XY_ENOENT);
    assert_true(measure_now() - begin < 50);
    assert_int_equal(hosts.names.count, 0);
    assert_non_null(strstr(text, "host hangs does not answer"));
    assert_non_null(strstr(text, "no host of"));
    measure_discovery_cleanup(&hosts);
}

static void test_memory(void **state)
{
    bool is_over = false;

    (void)state;
    for (long k = 1; !is_over; k++) {
        measure_discovery_t hosts;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = ask("one\ntwo\nalias\n", 60, &hosts);
        is_over = !xy_memory_fail_hit();
        xy_memory_fail_at(0);
        /* A host whose name does not fit into memory counts as silent. */
        assert_true(st == XY_ENOMEM || (st == XY_OK && hosts.names.count >= 1));
        assert_true(st != XY_OK || hosts.names.count == hosts.called.count);
        measure_discovery_cleanup(&hosts);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
