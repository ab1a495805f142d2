/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem top: what the ranks of a running job do. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "net/net.h"
#include "top.h"
#include "verbs.h"

enum { ANSWER_SECONDS = 10 };

typedef struct {
    bool once, json, all;
    double interval;
    const char *sort;
} values_t;

static const char *const orders[] = {"time", "rank", "bytes", NULL}; /* as xy_live_order_t */

static const xy_option_t options[] = {
    {"once", 0, XY_OPT_FLAG, .offset = offsetof(values_t, once), XY_COMMON("options"),
     .help = "print once and end, as where the output is not a terminal"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("options"),
     .help = "print once, all ranks, as JSON"},
    {"all", 'a', XY_OPT_FLAG, .offset = offsetof(values_t, all), XY_COMMON("options"),
     .help = "print a line for each rank; else ranks that do the same share one"},
    {"sort", 0, XY_OPT_CHOICE, "BY", offsetof(values_t, sort), XY_COMMON("options"),
     .help = "choose the order of lines; time (those waited for, then the longest), rank or bytes",
     .preset = "time", .choices = orders},
    {"interval", 'i', XY_OPT_SECONDS, "TIME", offsetof(values_t, interval), XY_COMMON("options"),
     .help = "set the time between two queries; at least 0.1 s (default: 1 s, with --once 0.5 s)"},
    {0}};

/* ---- Looking ---- */

/* Read until the other side closes. */
static xy_status_t read_all(int fd, xy_text_t *text)
{
    const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    char piece[65536];
    ssize_t n;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while ((n = recv(fd, piece, sizeof(piece), 0)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            xy_text_add_bytes(text, piece, (size_t)n);
    if (n < 0)
        return xy_fail(XY_EIO, "mpiexec has not answered for %d s: it is stopped, or ends",
                       ANSWER_SECONDS);
    if (text->failed)
        return xy_fail_memory("looking at ranks");
    return text->length > 0 ? XY_OK : xy_fail(XY_EIO, "mpiexec has ended meanwhile");
}

xy_status_t top_look(long pid, xy_live_t **live_p)
{
    xy_text_t text = XY_TEXT_INIT;
    int fd;
    xy_status_t st = xy_door_connect(pid, &fd);

    if (st != XY_OK)
        return st;
    st = read_all(fd, &text);
    close(fd);
    if (st == XY_OK)
        st = xy_live_parse(text.s, live_p);
    if (st == XY_OK)
        xy_live_settle(*live_p);
    xy_text_cleanup(&text);
    return st;
}

static void silence(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    (void)status;
    (void)message;
}

bool top_look_again(long pid, xy_live_t **live_p)
{
    xy_status_t st;

    xy_error_handler_set(silence, NULL);
    st = top_look(pid, live_p);
    xy_error_handler_set(NULL, NULL);
    return st == XY_OK;
}

/* ---- Which job ---- */

/* The command line of a process. */
static void print_command(long pid)
{
    char path[64], line[160];
    FILE *file;
    size_t n = 0;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    file = fopen(path, "re");
    if (file != NULL) {
        n = fread(line, 1, sizeof(line) - 1, file);
        fclose(file);
    }
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[n] = '\0';
    printf("%8ld  %s\n", pid, line);
}

/* Finds the only job of this user; prints a list and fails if there are several. */
static xy_status_t find_job(long *pid_p)
{
    xy_vec_t pids = XY_VEC_INIT(long);
    xy_status_t st = xy_door_list(&pids);

    if (st == XY_OK && pids.count == 0)
        st = xy_fail(XY_ENOENT, "no job of yours runs here; start one with 'mpiexec', or give the "
                                "process id of its mpiexec");
    if (st == XY_OK && pids.count > 1) {
        for (size_t i = 0; i < pids.count; i++)
            print_command(XY_VEC_AT(&pids, long, i));
        fflush(stdout);
        st = xy_fail(XY_EUSAGE, "%zu jobs of yours run here; give the process id of one",
                     pids.count);
    }
    if (st == XY_OK)
        *pid_p = XY_VEC_AT(&pids, long, 0);
    xy_vec_cleanup(&pids);
    return st;
}

static xy_status_t choose_job(int argc, char **argv, long *pid_p)
{
    if (argc == 0)
        return find_job(pid_p);
    if (!xy_parse_long(argv[0], pid_p) || *pid_p < 1 || *pid_p > INT_MAX)
        return xy_fail(XY_EUSAGE, "'%s' is not a process id; see 'xylem top --help'", argv[0]);
    return XY_OK;
}

/* ---- Printing ---- */

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static bool is_coloured(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return (no == NULL || no[0] == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

/* A job that ends between two looks has no rates. */
static xy_status_t print_once(const values_t *v, long pid, const xy_live_style_t *style)
{
    xy_live_t *first, *second = NULL;
    int rows;
    xy_status_t st = top_look(pid, &first);

    if (st != XY_OK)
        return st;
    pause_for(xy_options_given("interval") ? v->interval : 0.5);
    if (top_look_again(pid, &second)) {
        xy_live_rates(second, first);
        xy_live_destroy(first);
        first = second;
    }
    if (v->json)
        xy_live_json(first, stdout);
    else
        st = xy_live_text(first, style, stdout, &rows);
    xy_live_destroy(first);
    return st;
}

/* Entry point of 'xylem top': shows a job on the terminal, or prints it once. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *v = values_p;
    xy_live_style_t style = {.is_unfolded = v->all};
    xy_live_t *live;
    long pid = 0;
    xy_status_t st;

    (void)command;
    while (strcmp(orders[style.order], v->sort) != 0)
        style.order++;
    if (xy_options_given("interval") && v->interval < 0.1)
        return xy_fail(XY_EUSAGE, "--interval %gs: at least 0.1 s are needed between two queries",
                       v->interval);
    st = choose_job(argc, argv, &pid);
    if (st != XY_OK)
        return st;
    if (v->once || v->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return print_once(v, pid, &style);
    style.is_coloured = is_coloured();
    st = top_look(pid, &live);
    return st == XY_OK ? top_show(pid, xy_options_given("interval") ? v->interval : 1, &style, live)
                       : st;
}

static const xy_section_t sections[] = {{"keys", "- q: quit.\n\n- s: change the order.\n\n"
                                                 "- f: show each rank, or one line for ranks that "
                                                 "do the same.\n\n- arrows, j, k, space: scroll."},
                                        {0}};

const xy_command_t verb_top = {
    .name = "top",
    .summary = "show what the ranks of a running job do",
    .synopsis = "[PID]",
    .description =
        "Shows for each rank of a running job what it does and for how long, how many calls it "
        "makes and messages it sends per second, and whom it waits for. PID is that of mpiexec "
        "(default: your only job on this machine). Only the user who started a job may look at it. "
        "Ranks in other processes and on other hosts are shown as well.\n\n"
        "Ranks record the start of their calls from the first query until ten seconds after the "
        "last one. A time with '>' is a lower bound: the call began before the first query. At "
        "other times a job spends nothing on this.",
    .examples =
        "xylem top\n    show your only job, until you press q\n"
        "xylem top --once\n    print what its ranks do now\n"
        "xylem top 4711 --json\n    the same for a script, of the mpiexec with that number\n",
    .options = options,
    .sections = sections,
    .values_size = sizeof(values_t),
    .positional_max = 1,
    .run = run,
};
