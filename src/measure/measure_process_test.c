/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: lines, exit codes, limits, and no child that outlives its parent. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/measure_process.h"
#include "measure/timing.h"
#include "testing/cost.h"

static char lines[512];

static xy_status_t keep(void *arg, char *line)
{
    (void)arg;
    snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "<%s>", line);
    return strcmp(line, "refuse") == 0 ? XY_EPARSE : XY_OK;
}

static int run(const char *text, double seconds, xy_status_t *st_p)
{
    char sh[] = "sh", c[] = "-c", script[256];
    char *argv[] = {sh, c, script, NULL};
    int code = -1;

    snprintf(script, sizeof(script), "%s", text);
    lines[0] = '\0';
    *st_p = measure_command_run(argv, seconds, keep, NULL, &code);
    return code;
}

static void test_lines(void **state)
{
    xy_status_t st;

    (void)state;
    assert_int_equal(run("echo one; printf 'two '; sleep 0.05; echo three; exit 3", 60, &st), 3);
    assert_int_equal(st, XY_OK);
    assert_string_equal(lines, "<one><two three>");
    /* An unterminated rest is not a line. */
    run("echo a; printf b", 60, &st);
    assert_string_equal(lines, "<a>");
    assert_int_equal(run("kill -9 $$", 60, &st), 128 + SIGKILL);
}

static void test_missing(void **state)
{
    char name[] = "/nonexistent/command";
    char *argv[] = {name, NULL};
    int code = 0;

    (void)state;
    assert_int_equal(measure_command_run(argv, 60, keep, NULL, &code), XY_OK);
    assert_int_equal(code, 127);
}

static void test_refused(void **state)
{
    xy_status_t st;
    double begin = measure_now();

    (void)state;
    run("echo refuse; sleep 100", 60, &st);
    assert_int_equal(st, XY_EPARSE);
    assert_true(measure_now() - begin < 50);
}

/* It is asked to end, and made to when it does not listen. */
static void test_limit(void **state)
{
    xy_status_t st;

    (void)state;
    assert_int_equal(run("sleep 100", 0.1, &st), 124);
    assert_int_equal(run("trap 'echo bye' TERM; sleep 100 & wait; exit 5", 0.1, &st), 124);
    assert_int_equal(run("trap '' TERM; sleep 100 & wait; wait", 0.1, &st), 124);
}

/* After its last line it may end as it likes, or not at all. */
static void test_last(void **state)
{
    static const char *const scripts[] = {"echo a; echo end", "echo a; echo end; exit 3",
                                          "echo a; echo end; sleep 100",
                                          "echo a; echo end; kill -9 $$"};
    char sh[] = "sh", c[] = "-c", script[64];
    char *argv[] = {sh, c, script, NULL};
    const measure_last_t last = {.line = "end", .grace = 0.2};
    double begin = measure_now();
    int code;

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        snprintf(script, sizeof(script), "%s", scripts[i]);
        lines[0] = '\0';
        code = -1;
        assert_int_equal(measure_command_run_to(argv, 90, &last, keep, NULL, &code), XY_OK);
        assert_int_equal(code, 0);
        assert_string_equal(lines, "<a>");
    }
    assert_true(measure_now() - begin < 50);
    /* Without it, it counts how it ends. */
    snprintf(script, sizeof(script), "echo a; exit 3");
    assert_int_equal(measure_command_run_to(argv, 90, &last, keep, NULL, &code), XY_OK);
    assert_int_equal(code, 3);
}

/* Killed without a chance to clean up: its command goes, too. */
static void test_orphan(void **state)
{
    int ends[2];
    pid_t parent, child = 0;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    parent = fork();
    if (parent == 0) {
        char sleep[] = "sleep", long_time[] = "1000";
        char *argv[] = {sleep, long_time, NULL};

        child = measure_command_start(argv, NULL);
        if (write(ends[1], &child, sizeof(child)) != sizeof(child))
            _exit(1);
        pause();
    }
    assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_int_equal(kill(child, 0), 0);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    /* It may not be reaped: a zombie has ended, too. */
    for (int i = 0; i < 3000; i++) {
        char path[64], text[256] = "";
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
        file = fopen(path, "re");
        if (file == NULL || fgets(text, sizeof(text), file) == NULL || strstr(text, ") Z ")) {
            if (file != NULL)
                fclose(file);
            close(ends[0]);
            close(ends[1]);
            return;
        }
        fclose(file);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the command is still there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_missing),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_orphan),  cmocka_unit_test(test_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
