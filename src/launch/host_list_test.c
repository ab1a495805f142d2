/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "launch/host_list.h"
#include "testing/base.h"

/* "a:4 b:0": what was read, as text. */
static const char *shown(const mpi_hosts_t *hosts)
{
    static char text[1000];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < hosts->count; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%ld", i > 0 ? " " : "",
                              hosts->all[i].name, hosts->all[i].slots);
    return text;
}

static void lists(void **state)
{
    static const struct {
        const char *list, *expected;
    } good[] = {{"", ""},
                {"a", "a:0"},
                {"a:4,b", "a:4 b:0"},
                {"a,a,b", "a:2 b:0"},
                {"a:4,a:2", "a:6"},
                {"a,a:3", "a:4"},
                {"a:3,a", "a:4"},
                {"A,a", "A:2"},
                {",a,,b,", "a:0 b:0"},
                {"::1,user@b.example:2", "::1:0 user@b.example:2"},
                {"[fe80::2]:8,[::3]", "fe80::2:8 ::3:0"}};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        mpi_hosts_t hosts = {0};

        assert_int_equal(mpi_hosts_add_list(&hosts, good[i].list, "--hosts"), XY_OK);
        assert_string_equal(shown(&hosts), good[i].expected);
        mpi_hosts_cleanup(&hosts);
    }
}

static void wrong_lists(void **state)
{
    static const char *const bad[] = {"a:",   "a:0",    "a:-1", "a:x", "-oProxyCommand=x",
                                      "a b",  "a;ls",   "$a",   "a/b", "a:99999999",
                                      "[::1", "[::1]x", ":4"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        mpi_hosts_t hosts = {0};

        testing_listen();
        assert_int_equal(mpi_hosts_add_list(&hosts, bad[i], "--hosts"), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        assert_non_null(strstr(testing_said, "--hosts: "));
        mpi_hosts_cleanup(&hosts);
    }
}

static void files(void **state)
{
    static const char text[] = "# the machines\n"
                               "a slots=4 max_slots=8\n"
                               "\n"
                               "  b:2   # MPICH\r\n"
                               "c\n"
                               "c\n"
                               "d cpus=3\n"
                               "f count=5\n"
                               "g slots=0\n"
                               "h user=me slots=2\n"
                               "e";
    mpi_hosts_t hosts = {0};

    (void)state;
    assert_int_equal(mpi_hosts_add_file(&hosts, text, "hosts"), XY_OK);
    assert_string_equal(shown(&hosts), "a:4 b:2 c:2 d:3 f:5 me@h:2 e:0");
    mpi_hosts_cleanup(&hosts);
}

static void wrong_files(void **state)
{
    static const char *const bad[] = {"a\nb slots=x",
                                      "a\nb slots=",
                                      "a\nb colour=red",
                                      "a\nb:x",
                                      "a\n-b",
                                      "a\nb ifname=ib0",
                                      "a\nb user=",
                                      "a\nb slots=0 colour=red",
                                      "a slots=0\nb slots=0"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        mpi_hosts_t hosts = {0};

        testing_listen();
        assert_int_equal(mpi_hosts_add_file(&hosts, bad[i], "hosts"), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        assert_non_null(strstr(testing_said, "hosts:2: "));
        mpi_hosts_cleanup(&hosts);
    }
}

static void lists_of_slurm(void **state)
{
    static const struct {
        const char *list, *tasks, *expected;
    } good[] = {{"a", NULL, "a:0"},
                {"n[1-3]", "4(x3)", "n1:4 n2:4 n3:4"},
                {"n[08-10,12],login", "4(x2),3", "n08:4 n09:4 n10:3 n12:0 login:0"},
                {"r[1-2]-ib", "16(x2)", "r1-ib:16 r2-ib:16"},
                {"a,b", "x", "a:0 b:0"}};
    static const char *const bad[] = {"n[1-", "n[a]",          "n[3-1]", "n[1-2",
                                      "n[]",  "n[1-99999999]", "n[1;2]"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        mpi_hosts_t hosts = {0};

        assert_int_equal(mpi_hosts_add_slurm(&hosts, good[i].list, good[i].tasks), XY_OK);
        assert_string_equal(shown(&hosts), good[i].expected);
        mpi_hosts_cleanup(&hosts);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        mpi_hosts_t hosts = {0};

        testing_listen();
        assert_int_equal(mpi_hosts_add_slurm(&hosts, bad[i], NULL), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        mpi_hosts_cleanup(&hosts);
    }
}

static void without_memory(void **state)
{
    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        mpi_hosts_t hosts = {0};

        assert_null(testing_fail_fault(&k, mpi_hosts_add_file(&hosts, "a\nb slots=2\n", "hosts")));
        mpi_hosts_cleanup(&hosts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),          cmocka_unit_test(wrong_lists),
        cmocka_unit_test(files),          cmocka_unit_test(wrong_files),
        cmocka_unit_test(lists_of_slurm), cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
