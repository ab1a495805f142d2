/* SPDX-License-Identifier: BSD-3-Clause */
/* A process's getopt against the C library's, on command lines of all shapes. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <dlfcn.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "process/libc/process_state.h"

_Thread_local process_t *process_self;
_Thread_local process_t *process_main;

enum { MOST = 12, RESULTS = 64 };

typedef struct {
    int value, index, place, unknown;
    char argument[32];
} step_t;

typedef struct {
    step_t steps[RESULTS];
    int count;
    char *argv[MOST + 2];
} outcome_t;

static int flagged;
static const struct option table[] = {{"size", required_argument, NULL, 's'},
                                      {"side", no_argument, NULL, 'd'},
                                      {"flag", no_argument, &flagged, 42},
                                      {"maybe", optional_argument, NULL, 'm'},
                                      {"a", required_argument, NULL, 1000},
                                      {"sizes", no_argument, NULL, 1001},
                                      {NULL, 0, NULL, 0}};

typedef int (*getopt_fn)(int, char *const[], const char *, const struct option *, int *);

static int short_only(int argc, char *const argv[], const char *letters,
                      const struct option *options, int *index_p)
{
    (void)options;
    (void)index_p;
    return getopt(argc, argv, letters);
}

static const getopt_fn ways[] = {short_only, getopt_long, getopt_long_only};

/* Run to the end; `at` are the variables that the function uses. */
static void run(getopt_fn next, int argc, char **argv, const char *letters, outcome_t *outcome,
                char **argument, int *index, int *unknown)
{
    memset(outcome, 0, sizeof(*outcome));
    while (outcome->count < RESULTS) {
        step_t *step = &outcome->steps[outcome->count++];

        step->index = -1;
        step->value = next(argc, argv, letters, table, &step->index);
        step->place = *index;
        step->unknown = step->value == '?' || step->value == ':' ? *unknown : 0;
        snprintf(step->argument, sizeof(step->argument), "%s",
                 step->value != '?' && *argument != NULL ? *argument : "-");
        if (step->value == -1)
            break;
    }
    memcpy(outcome->argv, argv, (size_t)argc * sizeof(char *));
}

static void run_library(getopt_fn next, int argc, char **argv, const char *letters,
                        outcome_t *outcome)
{
    process_self = NULL;
    optind = 0;
    opterr = 0;
    run(next, argc, argv, letters, outcome, &optarg, &optind, &optopt);
}

static void run_process(getopt_fn next, int argc, char **argv, const char *letters,
                        outcome_t *outcome)
{
    static process_t process;

    memset(&process, 0, sizeof(process));
    process.variables[PROCESS_VARIABLE_OPTARG] = &process.own.optarg;
    process.variables[PROCESS_VARIABLE_OPTIND] = &process.own.optind;
    process.variables[PROCESS_VARIABLE_OPTERR] = &process.own.opterr;
    process.variables[PROCESS_VARIABLE_OPTOPT] = &process.own.optopt;
    process.own.optind = 1;
    process_self = &process;
    run(next, argc, argv, letters, outcome, &process.own.optarg, &process.own.optind,
        &process.own.optopt);
    process_self = NULL;
}

static void compare(int way, int argc, char **words, const char *letters)
{
    static outcome_t expected, got;
    char *argv[MOST + 2];
    char text[512] = "";

    for (int i = 0; i < argc; i++) {
        strncat(text, words[i], sizeof(text) - strlen(text) - 2);
        strcat(text, " ");
    }
    memcpy(argv, words, ((size_t)argc + 1) * sizeof(char *));
    run_library(ways[way], argc, argv, letters, &expected);
    memcpy(argv, words, ((size_t)argc + 1) * sizeof(char *));
    run_process(ways[way], argc, argv, letters, &got);
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
    if (memcmp(&expected, &got, sizeof(got)) == 0)
        return;
    for (int i = 0; i < expected.count || i < got.count; i++)
        print_error("%d: %d (%d) '%s' at %d, %d   got %d (%d) '%s' at %d, %d\n", i,
                    expected.steps[i].value, expected.steps[i].index, expected.steps[i].argument,
                    expected.steps[i].place, expected.steps[i].unknown, got.steps[i].value,
                    got.steps[i].index, got.steps[i].argument, got.steps[i].place,
                    got.steps[i].unknown);
    fail_msg("way %d, letters \"%s\": %s", way, letters, text);
}

static void test_like_the_library(void **state)
{
    static char elements[][16] = {"-a",      "-b",        "-ab",    "-bx",    "-abc", "-c",
                                  "-cv",     "x",         "y",      "-",      "--",   "--size",
                                  "--size=", "--size=3",  "--siz",  "--flag", "--fl", "--flag=1",
                                  "--maybe", "--maybe=q", "--none", "-z",     "-az",  "--s",
                                  "--a",     "-side",     "-size",  "-m",     "-s",   "-W"};
    static const char *const letters[] = {"ab:c::", "+ab:c::", "-ab:c::", ":ab:c::", "abcs:m", ""};
    static char name[] = "program";
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 60000; round++) {
        char *words[MOST + 2] = {name};
        int argc = 1;

        random = xy_hash_u64(random + (uint64_t)round);
        for (int n = (int)(random % MOST); argc <= n; argc++) {
            random = xy_hash_u64(random);
            words[argc] = elements[random % (sizeof(elements) / sizeof(elements[0]))];
        }
        words[argc] = NULL;
        for (int way = 0; way < 3; way++)
            compare(way, argc, words, letters[random % 6]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_the_library)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
