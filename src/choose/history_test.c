/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of histories: what is written is read, by many at once, whatever is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "choose/choose_internal.h"
#include "testing/base.h"
#include "testing/choose.h"

static char path[64];

static int setup(void **state)
{
    (void)state;
    testing_path(path);
    unlink(path);
    testing_listen();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    testing_history_remove(path);
    return 0;
}

static const xy_parameter_t size[] = {{"n", 4096}, {"p", 16}};

static xy_run_t make_run(const char *problem, const char *host, int64_t time)
{
    return (xy_run_t){.instance = {problem, host, size, 2},
                      .time = time,
                      .alternative = "columns",
                      .predicted = 1.2,
                      .measured = 1.0 / 3};
}

static void put(const char *text)
{
    FILE *f = fopen(path, "a");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static xy_history_t *load(const char *problem, const char *host)
{
    xy_history_t *h;

    assert_int_equal(xy_history_load(path, problem, host, &h), XY_OK);
    return h;
}

static void test_round_trip(void **state)
{
    xy_run_t runs[] = {make_run("matmul", "a", 7), make_run("sort", "b", 8)};
    xy_history_t *h;

    (void)state;
    runs[1].instance.count = 0;
    runs[1].instead = 0.25;
    assert_int_equal(xy_history_append(path, runs, 2), XY_OK);
    h = load(NULL, NULL);
    assert_int_equal(h->runs.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(choose_line_equal(&runs[i], &XY_VEC_AT(&h->runs, xy_run_t, i)));
    xy_history_destroy(h);
    h = load("sort", NULL);
    assert_int_equal(h->runs.count, 1);
    xy_history_destroy(h);
    h = load("sort", "a");
    assert_int_equal(h->runs.count, 0);
    xy_history_destroy(h);
    assert_int_equal(testing_said_count, 0);
}

static void test_missing_is_empty(void **state)
{
    xy_history_t *h = load("matmul", "a");

    (void)state;
    assert_int_equal(h->runs.count, 0);
    assert_int_equal(testing_said_count, 0);
    xy_history_destroy(h);
}

static void test_bad_lines(void **state)
{
    static const char *const bad[] = {
        "",
        "hello",
        "2 7 a matmul n=1 columns 1 1 0",
        "1 7 a matmul n=1 columns 1 1",
        "1 7 a matmul n=1 columns 1 1 0 0",
        "1 7 a matmul n=1  columns 1 1 0",
        "1 -7 a matmul n=1 columns 1 1 0",
        "1 7 a matmul n columns 1 1 0",
        "1 7 a matmul n=x columns 1 1 0",
        "1 7 a matmul n=1, columns 1 1 0",
        "1 7 a matmul =1 columns 1 1 0",
        "1 7 a matmul n=1 columns 0 1 0",
        "1 7 a matmul n=1 columns 1 nan 0",
        "1 7 a matmul n=1 columns 1 inf 0",
        "1 7 a matmul n=1 columns 1 1 -1",
        "1 7 a mat,mul n=1 columns 1 1 0", /* of another problem: passed over */
    };
    xy_history_t *h;

    (void)state;
    put("1 7 a matmul n=1 columns 1 1 0\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(choose_history_parse(bad[i], strlen(bad[i]), "x", CHOOSE_REFUSE, &h),
                         *bad[i] == '\0' ? XY_OK : XY_EPARSE);
        if (*bad[i] == '\0')
            xy_history_destroy(h);
        put(bad[i]);
        put("\n");
    }
    put("1 7 a matmul n=2 columns 1 1 0\n1 7 a matmul n=2 columns 1 1"); /* cut off */
    testing_listen();
    h = load("matmul", "a");
    assert_int_equal(h->runs.count, 2);
    assert_int_equal(testing_said_count, 1); /* for all of them */
    assert_non_null(
        strstr(testing_said, ":2: not a line of a history; 16 such lines are left out"));
    xy_history_destroy(h);
}

/* A line that was cut off must not eat the next one. */
static void test_append_behind_cut(void **state)
{
    xy_run_t run = make_run("matmul", "a", 7);
    xy_history_t *h;

    (void)state;
    put("1 7 a matmul n=2 columns 1 1.2");
    assert_int_equal(xy_history_append(path, &run, 1), XY_OK);
    h = load("matmul", "a");
    assert_int_equal(h->runs.count, 1);
    xy_history_destroy(h);
}

static void test_words_that_cannot_be(void **state)
{
    static const char *const bad[] = {"", "two words", "a,b", "a=b", "caf\xc3\xa9", "a\nb"};
    xy_run_t run = make_run("matmul", "a", 7);

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        run.alternative = bad[i];
        testing_listen();
        assert_int_equal(xy_history_append(path, &run, 1), XY_EINVAL);
        assert_int_equal(testing_said_count, 1);
    }
    assert_int_equal(access(path, F_OK), -1);
}

enum { WRITERS = 4, EACH = 50 };

static void write_many(int writer)
{
    for (int i = 0; i < EACH; i++) {
        xy_run_t run = make_run("matmul", "a", writer * EACH + i);

        if (xy_history_append(path, &run, 1) != XY_OK)
            _exit(1);
    }
    _exit(0);
}

/* No line is lost, and none is torn. */
static void test_writers_at_once(void **state)
{
    xy_history_t *h;
    long long sum = 0;
    int status;

    (void)state;
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0)
            write_many(w);
    for (int w = 0; w < WRITERS; w++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    h = load("matmul", NULL);
    assert_int_equal(testing_said_count, 0);
    assert_int_equal(h->runs.count, WRITERS * EACH);
    for (size_t i = 0; i < h->runs.count; i++)
        sum += XY_VEC_AT(&h->runs, xy_run_t, i).time;
    assert_int_equal(sum, (WRITERS * EACH - 1) * WRITERS * EACH / 2);
    xy_history_destroy(h);
}

/* It does not grow for ever; the newest runs stay. */
static void test_old_half_goes(void **state)
{
    enum { COUNT = 20000 };
    xy_run_t *runs = calloc(COUNT, sizeof(*runs));
    xy_history_t *h;
    struct stat s;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        runs[i] = make_run("matmul", "a", i);
    assert_int_equal(xy_history_append(path, runs, COUNT), XY_OK);
    assert_int_equal(stat(path, &s), 0);
    assert_in_range(s.st_size, 1, 1 << 20);
    h = load(NULL, NULL);
    assert_int_equal(h->runs.count, COUNT / 2);
    assert_int_equal(XY_VEC_AT(&h->runs, xy_run_t, h->runs.count - 1).time, COUNT - 1);
    xy_history_destroy(h);
    h = load("matmul", NULL);
    assert_int_equal(h->runs.count, XY_HISTORY_RECENT);
    assert_int_equal(XY_VEC_AT(&h->runs, xy_run_t, 0).time, COUNT - XY_HISTORY_RECENT);
    xy_history_destroy(h);
    free(runs);
}

static void test_import_once(void **state)
{
    xy_run_t runs[] = {make_run("matmul", "a", 7), make_run("matmul", "b", 8)};
    char other[64];
    size_t added;
    FILE *f;

    (void)state;
    assert_int_equal(xy_history_append(path, runs, 1), XY_OK);
    testing_path(other);
    f = fopen(other, "w");
    xy_history_print(&(xy_history_t){.runs = {.data = runs, .count = 2, .size = sizeof(xy_run_t)}},
                     f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(xy_history_import(path, other, &added), XY_OK);
    assert_int_equal(added, 1);
    assert_int_equal(xy_history_import(path, other, &added), XY_OK);
    assert_int_equal(added, 0);
    f = fopen(other, "a");
    fputs("nonsense\n", f);
    fclose(f);
    testing_listen();
    assert_int_equal(xy_history_import(path, other, &added), XY_EPARSE);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, ":3: not a line of a history"));
    unlink(other);
}

static void test_clear(void **state)
{
    xy_run_t runs[] = {make_run("matmul", "a", 7), make_run("matmul", "b", 8),
                       make_run("sort", "a", 9)};
    xy_history_t *h;
    size_t removed;

    (void)state;
    assert_int_equal(xy_history_append(path, runs, 3), XY_OK);
    put("nonsense\n");
    assert_int_equal(xy_history_clear(path, "matmul", "a", &removed), XY_OK);
    assert_int_equal(removed, 2); /* and the line that is none */
    h = load(NULL, NULL);
    assert_int_equal(h->runs.count, 2);
    xy_history_destroy(h);
    assert_int_equal(xy_history_clear(path, NULL, NULL, &removed), XY_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(testing_said_count, 0);
}

static bool is_there(const char *name)
{
    char file[160];

    snprintf(file, sizeof(file), "%s.profiles/%s", path, name);
    return access(file, F_OK) == 0;
}

static void put_profile(const char *name)
{
    char file[160];
    FILE *f;

    snprintf(file, sizeof(file), "%s.profiles", path);
    mkdir(file, 0700);
    snprintf(file, sizeof(file), "%s.profiles/%s", path, name);
    f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
}

/* Profiles of mpiexec --adapt go with the runs of their problem; other files stay. */
static void test_clear_profiles(void **state)
{
    static const char *const names[] = {"x:1@a", "x:1@a.csv", "x:1@b", "x:12@a", "other"};
    size_t removed;
    char file[160];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put_profile(names[i]);
    assert_int_equal(xy_history_clear(path, "x:1", "a", &removed), XY_OK); /* not mpiexec's */
    assert_true(is_there("x:1@a"));
    assert_int_equal(xy_history_clear(path, "mpiexec:x:1", "a", &removed), XY_OK);
    assert_true(!is_there("x:1@a") && !is_there("x:1@a.csv"));
    assert_true(is_there("x:1@b") && is_there("x:12@a") && is_there("other"));
    assert_int_equal(xy_history_clear(path, "mpiexec:x:12", NULL, &removed), XY_OK);
    assert_true(!is_there("x:12@a") && is_there("x:1@b"));
    assert_int_equal(xy_history_clear(path, NULL, NULL, &removed), XY_OK);
    assert_true(!is_there("x:1@b") && is_there("other"));
    snprintf(file, sizeof(file), "%s.profiles/other", path);
    unlink(file);
    put_profile("x:1@b");
    assert_int_equal(xy_history_clear(path, NULL, NULL, &removed), XY_OK);
    snprintf(file, sizeof(file), "%s.profiles", path);
    assert_int_not_equal(access(file, F_OK), 0); /* it is gone with the last one */
}

/* The runs of one problem on one host are the last of those that the whole file has. */
static void test_recent(void **state)
{
    static const char *const problems[] = {"a", "aa", "b"}, *const hosts[] = {"h", "a"};
    xy_history_t *all, *some;
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < 2500; i++) {
        char line[80];

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        snprintf(line, sizeof(line), "1 %d %s %s n=%d a 1 1 0\n", i, hosts[random >> 40 & 1],
                 problems[(random >> 50) % 3], i % 9);
        put(line);
    }
    all = load(NULL, NULL);
    assert_int_equal(all->runs.count, 2500);
    for (int p = 0; p < 3; p++)
        for (int h = 0; h < 2; h++) {
            size_t at;

            some = load(problems[p], hosts[h]);
            assert_int_equal(some->runs.count, XY_HISTORY_RECENT);
            at = some->runs.count;
            for (size_t i = all->runs.count; i-- > 0 && at > 0;) {
                const xy_run_t *run = &XY_VEC_AT(&all->runs, xy_run_t, i);

                if (strcmp(run->instance.problem, problems[p]) == 0 &&
                    strcmp(run->instance.host, hosts[h]) == 0)
                    assert_true(choose_line_equal(run, &XY_VEC_AT(&some->runs, xy_run_t, --at)));
            }
            assert_int_equal(at, 0);
            xy_history_destroy(some);
        }
    xy_history_destroy(all);
}

static void test_memory(void **state)
{
    xy_run_t run = make_run("matmul", "a", 7);
    xy_history_t *h;

    (void)state;
    for (long k = 0; testing_fail_next(&k);)
        assert_null(testing_fail_fault(&k, xy_history_append(path, &run, 1)));
    for (long k = 0; testing_fail_next(&k);) {
        xy_status_t st = xy_history_load(path, "matmul", "a", &h);

        if (st == XY_OK)
            xy_history_destroy(h);
        if (st == XY_OK && xy_memory_fail_hit())
            continue; /* without a lock */
        assert_null(testing_fail_fault(&k, st));
    }
}

/* The other runs stay where there is no memory to write them again. */
static void test_clear_without_memory(void **state)
{
    xy_run_t runs[] = {make_run("matmul", "a", 7), make_run("sort", "a", 9)};
    size_t removed;

    (void)state;
    assert_int_equal(xy_history_append(path, runs, 2), XY_OK);
    for (long k = 0; testing_fail_next(&k);) {
        xy_status_t st = xy_history_clear(path, "matmul", "a", &removed);
        xy_history_t *h;

        assert_null(testing_fail_fault(&k, st));
        xy_memory_fail_at(0);
        h = load(NULL, NULL);
        assert_in_range(h->runs.count, 1, st == XY_OK ? 1 : 2);
        xy_history_destroy(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_is_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_append_behind_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words_that_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writers_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_old_half_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_import_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clear, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clear_profiles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clear_without_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
