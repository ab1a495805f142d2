/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem advise: what would make a recorded run faster, and by how much. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "advise/advise.h"
#include "site_line.h"
#include "verbs.h"

enum { WORDS = 4096, TRIES_MAX = 1000 };

typedef struct {
    const char *machine, *costs;
    uint64_t eager;
    long rounds;
    bool json, verify;
} values_t;

static const xy_option_t options[] = {
    {"verify", 0, XY_OPT_FLAG, .offset = offsetof(values_t, verify), XY_COMMON("verify"),
     .help = "run the command after -- again, with and without each remedy that is an option of "
             "mpiexec, and print the measured gain"},
    {"rounds", 0, XY_OPT_LONG, "N", offsetof(values_t, rounds), XY_COMMON("verify"), .min = 1,
     .max = TRIES_MAX, .preset = "5", .needs = "verify",
     .help = "with --verify: run each N times, in turn; the gain is the median of the rounds, "
             "and is reported as noise if they differ by more"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print everything as JSON"},
    {"machine", 'm', XY_OPT_STRING, "MACHINE", offsetof(values_t, machine), XY_COMMON("model"),
     .complete = "file",
     .help = "replay on this machine, such as 'core:8', instead of the cores of the run"},
    {"costs", 0, XY_OPT_STRING, "FILE", offsetof(values_t, costs), XY_ADVANCED("model"),
     .complete = "file",
     .help = "take costs of messages from a file of 'xylem calibrate' instead of fitting them to "
             "the run"},
    {"eager", 0, XY_OPT_SIZE, "SIZE", offsetof(values_t, eager), XY_ADVANCED("model"),
     .help = "the eager limit of the run, where it was not the default"},
    {0}};

/* ---- Running again ---- */

typedef struct {
    char **command; /* from mpiexec on */
    int words;
    char profile[64]; /* file that a run writes */
} again_t;

/* An option that the command has already makes room for that of the remedy: its first words up to
 * the program are looked at. */
static int skip_given(char *const *words, int at, const char *option)
{
    size_t length = strcspn(option, " ");

    if (strncmp(words[at], option, length) != 0)
        return 0;
    if (words[at][length] == '=')
        return 1;
    return words[at][length] == '\0' ? 2 : 0;
}

/* mpiexec --report=FILE OPTION... and the rest of the command. `copy` keeps the option's words. */
static void make_command(const again_t *g, const char *option, char *copy, char *report,
                         char *argv[WORDS])
{
    int n = 0;
    bool has_skipped = false;

    argv[n++] = g->command[0];
    argv[n++] = report;
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        argv[n++] = word;
    for (int i = 1; i < g->words && n < WORDS - 1;) {
        int skip = has_skipped || *option == '\0' ? 0 : skip_given(g->command, i, option);

        has_skipped |= skip > 0;
        i += skip;
        if (skip == 0)
            argv[n++] = g->command[i++];
    }
    argv[n] = NULL;
}

/* A remedy that the command does not accept, as some in virtual time, is left out: NAN. */
static xy_status_t run_once(const again_t *g, const char *option, double *seconds_p)
{
    char copy[160], report[96], *argv[WORDS];
    xy_profile_t *profile;
    int code = 0, null;
    pid_t child;
    xy_status_t st;

    snprintf(copy, sizeof(copy), "%s", option);
    snprintf(report, sizeof(report), "--report=%s", g->profile);
    make_command(g, option, copy, report, argv);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0)
        return xy_fail_errno(errno, g->command[0], "start");
    while (waitpid(child, &code, 0) < 0 && errno == EINTR)
        ;
    if (code != 0 && *option != '\0') {
        xy_warn("'%s %s ...' failed; run it without 'xylem advise' to see why", g->command[0],
                option);
        *seconds_p = NAN;
        return XY_OK;
    }
    if (code != 0)
        return xy_fail(XY_EINVAL, "'%s ...' failed; run it without 'xylem advise' to see why",
                       g->command[0]);
    st = xy_profile_read(g->profile, &profile);
    if (st != XY_OK)
        return st;
    *seconds_p = 0;
    for (size_t r = 0; r < profile->ranks.count; r++)
        *seconds_p =
            fmax(*seconds_p, 1e-9 * (double)XY_VEC_AT(&profile->ranks, xy_profile_rank_t, r).ns);
    xy_profile_destroy(profile);
    return XY_OK;
}

/* All in turn: what else the machine does meets all of them. */
static xy_status_t run_turns(const again_t *g, const xy_advice_t *advice, long rounds,
                             double *seconds)
{
    xy_status_t st = XY_OK;

    for (long round = 0; round < rounds && st == XY_OK; round++)
        for (size_t i = 0; i <= advice->remedies.count && st == XY_OK; i++) {
            const char *option =
                i > 0 ? XY_VEC_AT(&advice->remedies, xy_remedy_t, i - 1).option : "";

            bool has_failed = round > 0 && isnan(seconds[i * (size_t)rounds]);

            if (has_failed)
                seconds[i * (size_t)rounds + (size_t)round] = NAN;
            else if (i == 0 || *option != '\0')
                st = run_once(g, option, &seconds[i * (size_t)rounds + (size_t)round]);
        }
    return st;
}

/* Runs the command with each remedy in turn and sets the measured gains. */
static xy_status_t verify(xy_advice_t *advice, char **command, int words, long rounds)
{
    again_t g = {.command = command, .words = words, .profile = "/tmp/xylem-advise-XXXXXX"};
    double *seconds = xy_calloc((advice->remedies.count + 1) * (size_t)rounds, sizeof(*seconds));
    int fd = seconds != NULL ? mkstemp(g.profile) : -1;
    xy_status_t st = seconds != NULL ? XY_OK : xy_fail_memory("verifying");

    if (st == XY_OK && fd < 0)
        st = xy_fail_errno(errno, g.profile, "make");
    if (st == XY_OK)
        st = run_turns(&g, advice, rounds, seconds);
    if (st == XY_OK)
        for (size_t i = 0; i < advice->remedies.count; i++) {
            xy_remedy_t *r = &XY_VEC_AT(&advice->remedies, xy_remedy_t, i);

            if (r->option[0] != '\0')
                xy_remedy_measure(r, seconds, &seconds[(i + 1) * (size_t)rounds], (size_t)rounds);
        }
    if (fd >= 0) {
        close(fd);
        unlink(g.profile);
    }
    xy_free(seconds);
    return st;
}

/* ---- All of it ---- */

/* Reads a trace, computes the advice and prints it. */
static xy_status_t advise(const values_t *v, const char *path, char **command, int words)
{
    xy_advise_options_t o = {.machine = v->machine, .eager = v->eager};
    xy_costs_t *costs = NULL;
    xy_profile_t *profile = NULL;
    xy_advice_t *advice = NULL;
    xy_trace_log_t *log;
    xy_status_t st = xy_trace_read(path, &log);

    if (st != XY_OK)
        return st;
    st = xy_profile_from_trace(log, site_line_find, &profile);
    if (st == XY_OK && v->costs != NULL)
        st = xy_costs_load(v->costs, &costs);
    o.store = costs;
    if (st == XY_OK)
        st = xy_advise(log, profile, &o, &advice);
    if (st == XY_OK && v->verify)
        st = verify(advice, command, words, v->rounds);
    if (st == XY_OK && v->json)
        xy_advice_json(advice, stdout);
    else if (st == XY_OK)
        xy_advice_text(advice, stdout);
    xy_advice_destroy(advice);
    xy_profile_destroy(profile);
    xy_costs_destroy(costs);
    xy_trace_log_free(log);
    return st;
}

/* Entry point of 'xylem advise': checks the arguments. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *v = values_p;

    (void)command;
    if (v->verify && argc < 3)
        return xy_fail(XY_EUSAGE, "--verify needs the command of the run after --: xylem advise "
                                  "run.xyt --verify -- mpiexec -n 4 ./a.out");
    if (!v->verify && argc > 1)
        return xy_fail(XY_EUSAGE, "a command is run again with --verify only");
    if (argc > WORDS - 32)
        return xy_fail(XY_EUSAGE, "the command has more than %d words", WORDS - 32);
    return advise(v, argv[0], argv + 1, argc - 1);
}

const xy_command_t verb_advise = {
    .name = "advise",
    .summary = "predict what would make a run faster, and by how much",
    .synopsis = "TRACE [-- COMMAND...]",
    .description =
        "Reads what 'mpiexec --trace FILE' recorded and replays the run by the virtual clock with "
        "one thing changed at a time: the number of cores, cores for communication, the placement "
        "of ranks, the eager limit, the algorithm of a collective; a blocking call that becomes a "
        "nonblocking one, small messages that are merged, computation that is balanced. Prints "
        "those that gain 1 % or more, the largest gain first, with its range, the reason, and the "
        "option or the line to change.\n\n"
        "With --verify the command is run again with each remedy that is an option of mpiexec.",
    .examples =
        "xylem advise run.xyt\n    print what would help\n"
        "xylem advise run.xyt --verify -- mpiexec -n 16 ./a.out\n    also measure the gains\n",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = WORDS,
    .run = run,
};
