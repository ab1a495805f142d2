/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of several ranks: what is one, what is printed, and the exit code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/check/findings.h"

enum { RANKS = 8, TEXT = 16384 };

static char said[TEXT], json[TEXT];
static const char *suppressions; /* the text of a file; NULL: none */

static void end_here(int code)
{
    _exit(mpi_check_finish(code));
}

static void read_text(const char *path, char text[TEXT])
{
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(text, 1, TEXT - 1, file) : 0;

    text[n] = '\0';
    if (file != NULL)
        fclose(file);
}

static void begin(char *const paths[3], const char *checks)
{
    static mpi_rank_t ranks[RANKS];
    static mpi_job_t job = {
        .size = RANKS, .capacity = RANKS, .numbers = RANKS, .ranks = ranks, .abort = end_here};
    static mpi_check_config_t config = {.program = "ring", .ranks = RANKS};
    char why[XMPI_CHECK_WHY];
    int fd = open(paths[0], O_WRONLY | O_CREAT, 0600);

    dup2(fd, STDERR_FILENO);
    mpi_job = &job;
    config.json = paths[1];
    config.suppress = suppressions != NULL ? paths[2] : NULL;
    if (!mpi_checks_parse(checks, &mpi_checks, why) || mpi_check_begin(&config) != XY_OK)
        _exit(99);
}

/* The exit code of a job that finds what `find` adds, in a process of its own: there is one set of
 * findings in a process. What it prints is in `said`, its file in `json`. */
static int run(void (*find)(void), const char *checks)
{
    char directory[] = "/tmp/xylem-findings-XXXXXX", paths_of[3][64], *paths[3];
    static const char *const names[3] = {"said", "json", "rules"};
    int status;
    pid_t child;

    assert_non_null(mkdtemp(directory));
    for (int i = 0; i < 3; i++) {
        snprintf(paths_of[i], sizeof(paths_of[i]), "%s/%s", directory, names[i]);
        paths[i] = paths_of[i];
    }
    if (suppressions != NULL) {
        FILE *file = fopen(paths[2], "w");

        assert_non_null(file);
        fputs(suppressions, file);
        fclose(file);
    }
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        begin(paths, checks);
        find();
        end_here(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    read_text(paths[0], said);
    read_text(paths[1], json);
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
    rmdir(directory);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

static int lines_said(void)
{
    int lines = 0;

    for (const char *at = said; *at != '\0'; at++)
        lines += *at == '\n';
    return lines;
}

static void warn(int rank, const char *message)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_WILDCARD, .rank = rank, .other = -1};

    if (!mpi_finding_is_known(&finding))
        mpi_finding_add(&finding, "%s", message);
}

static void find_nothing(void) {}

static void test_nothing(void **state)
{
    (void)state;
    assert_int_equal(run(find_nothing, ""), 0);
    assert_string_equal(said, "");
    says(json, "\"findings\": []");
    says(json, "\"program_exit_code\": 0");
}

static void find_three_times(void)
{
    warn(5, "it may take another");
    warn(2, "it may take another");
    warn(3, "it may take another");
    warn(3, "put into other words"); /* known */
}

static void test_many_ranks_are_one(void **state)
{
    (void)state;
    assert_int_equal(run(find_three_times, ""), 0);
    assert_int_equal(lines_said(), 1);
    assert_int_equal(run(find_three_times, "strict"), XMPI_EXIT_WARNINGS);
    says(said, "warning: ranks 2-3,5: it may take another [wildcard]\n");
    assert_int_equal(lines_said(), 1);
    says(json, "\"count\": 3");
    says(json, "\"warnings\": 1");
    says(json, "\"exit_code\": 120");
}

static void find_two(void)
{
    mpi_finding_t other = {.kind = XMPI_FINDING_NEVER_FREED, .rank = 1, .other = -1};

    warn(1, "it may take another");
    mpi_finding_add(&other, "it may take another");
}

static void test_classes_are_apart(void **state)
{
    (void)state;
    assert_int_equal(run(find_two, ""), XMPI_EXIT_WARNINGS);
    assert_int_equal(lines_said(), 2);
    says(said, "[never-freed]");
    says(json, "\"warnings\": 2");
}

static void find_error(void)
{
    mpi_finding_t error = {.kind = XMPI_FINDING_BUFFER_CHANGED, .rank = 1, .other = -1};

    warn(0, "before");
    mpi_finding_add(&error, "it was changed");
    warn(0, "after");
    warn(1, "after");
}

static void test_errors_end_the_job(void **state)
{
    (void)state;
    assert_int_equal(run(find_error, ""), XMPI_EXIT_ERRORS);
    says(said, "error: rank 1: it was changed [buffer-changed]\n");
    says(said, "before");
    assert_null(strstr(said, "after"));
    says(json, "\"program_exit_code\": null");
    assert_int_equal(run(find_error, "go-on"), XMPI_EXIT_ERRORS);
    says(said, "after");
    says(json, "\"program_exit_code\": 0");
}

static void test_suppressed(void **state)
{
    (void)state;
    suppressions = "buffer-changed *\n";
    assert_int_equal(run(find_error, "strict"), XMPI_EXIT_WARNINGS);
    assert_null(strstr(said, "it was changed"));
    says(json, "\"suppressed\": true");
    says(json, "\"errors\": 0");
    suppressions = "* *\n";
    assert_int_equal(run(find_error, ""), 0);
    assert_string_equal(said, "");
    suppressions = NULL;
}

static void find_own_code(void)
{
    warn(0, "it may take another");
    end_here(7);
}

static void test_own_code_goes_before(void **state)
{
    (void)state;
    assert_int_equal(run(find_own_code, ""), 7);
    says(said, "[wildcard]");
    says(json, "\"program_exit_code\": 7");
}

static void find_end(void)
{
    mpi_finding_t end = {.kind = XMPI_FINDING_DISAGREEMENT, .rank = 1, .other = 6};

    mpi_finding_end(&end, "rank %d: it disagrees", 1);
    end_here(1);
}

/* It cannot be suppressed, and its line has its rank once. */
static void test_end(void **state)
{
    (void)state;
    suppressions = "* *\n";
    assert_int_equal(run(find_end, ""), 1);
    suppressions = NULL;
    says(said, "rank 1: it disagrees\n");
    assert_int_equal(lines_said(), 1);
    says(json, "\"message\": \"it disagrees\"");
    says(json, "\"class\": \"disagreement\"");
    says(json, "\"errors\": 1");
    says(json, "\"suppressed\": false");
    says(json, "\"program_exit_code\": null");
}

static void find_deadlock(void)
{
    static const bool stuck[RANKS] = {[2] = true, [4] = true};
    xy_bitset_t set;

    if (xy_bitset_init(&set, RANKS) != XY_OK)
        _exit(98);
    xy_bitset_set(&set, 4);
    check_line_add(&set, "in MPI_Recv", NULL);
    xy_bitset_cleanup(&set);
    mpi_check_end(&(mpi_check_end_t){.kind = XMPI_FINDING_DEADLOCK,
                                     .rank = -1,
                                     .other = -1,
                                     .ranks = stuck,
                                     .places = {"ring.c:12"},
                                     .message = "they wait"});
    end_here(1);
}

static void test_table_of_ranks(void **state)
{
    (void)state;
    assert_int_equal(run(find_deadlock, ""), 1);
    assert_string_equal(said, ""); /* it was printed before */
    says(json, "\"state\": \"in MPI_Recv\"");
    says(json, "\"file\": \"ring.c\"");
    says(json, "\"line\": 12");
    says(json, "\"message\": \"they wait\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_many_ranks_are_one),
        cmocka_unit_test(test_classes_are_apart),
        cmocka_unit_test(test_errors_end_the_job),
        cmocka_unit_test(test_suppressed),
        cmocka_unit_test(test_own_code_goes_before),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_table_of_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
