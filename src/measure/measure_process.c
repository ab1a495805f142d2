/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/measure_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/timing.h"

enum { NOT_STARTED = 127, TOO_LATE = 124 };

/* In the child: `out` < 0 means that what it prints is not wanted. */
static void become(char *const argv[], int out, bool says_errors, pid_t parent)
{
    int null = open("/dev/null", O_RDWR);

    setpgid(0, 0);
    /* When we are killed, a launcher still ends its processes on other hosts. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(NOT_STARTED);
    dup2(null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    if (!says_errors)
        dup2(null, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], argv);
    _exit(NOT_STARTED);
}

pid_t measure_command_start(char *const argv[], int *out_p)
{
    int ends[2] = {-1, -1};
    pid_t parent = getpid(), pid;

    if (out_p != NULL && pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become(argv, ends[1], false, parent);
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid > 0 && out_p != NULL)
        *out_p = ends[0];
    else if (ends[0] >= 0)
        close(ends[0]);
    return pid;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int measure_command_wait(pid_t pid, double deadline)
{
    int status, sent = 0;

    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return sent != 0 ? TOO_LATE : code_of(status);
        if (got < 0 && errno != EINTR)
            return NOT_STARTED;
        if (measure_now() > deadline) {
            /* A launcher that is asked to end signals its remote processes; if it does not, it is
             * not asked again. */
            sent = sent == 0 ? SIGTERM : SIGKILL;
            deadline = measure_now() + 2;
            kill(-pid, sent);
            kill(pid, sent);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* The output of a command, and its time limit. */
typedef struct {
    xy_text_t text; /* not yet given to the reader */
    measure_line_fn line;
    void *arg;
    const measure_last_t *last; /* NULL: any line may be the last one */
    bool is_over;               /* the last one came */
    double deadline;
} reading_t;

/* Give whole lines to the reader; what is left of the last one stays. */
static xy_status_t take_lines(reading_t *r)
{
    xy_text_t *text = &r->text;
    char *begin = text->s, *end;
    xy_status_t st = XY_OK;

    while (st == XY_OK && begin != NULL && (end = strchr(begin, '\n')) != NULL) {
        *end = '\0';
        if (r->last != NULL && !r->is_over && strcmp(begin, r->last->line) == 0) {
            r->is_over = true;
            r->deadline = fmin(r->deadline, measure_now() + r->last->grace);
        } else {
            st = r->line(r->arg, begin);
        }
        begin = end + 1;
    }
    if (begin != NULL && begin != text->s) {
        text->length -= (size_t)(begin - text->s);
        memmove(text->s, begin, text->length + 1);
    }
    return st;
}

/* Passes the lines of a command's output to the reader until its end or the deadline. */
static xy_status_t read_output(int fd, reading_t *r)
{
    xy_status_t st = XY_OK;
    char buffer[4096];

    while (st == XY_OK && measure_now() < r->deadline) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, 200);
        ssize_t n;

        if (ready <= 0)
            continue;
        n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        xy_text_add_bytes(&r->text, buffer, (size_t)n);
        st = r->text.failed ? xy_fail_memory("reading what a command prints") : take_lines(r);
    }
    xy_text_cleanup(&r->text);
    return st;
}

xy_status_t measure_command_run(char *const argv[], double seconds, measure_line_fn line, void *arg,
                                int *code_p)
{
    return measure_command_run_to(argv, seconds, NULL, line, arg, code_p);
}

xy_status_t measure_command_run_to(char *const argv[], double seconds, const measure_last_t *last,
                                   measure_line_fn line, void *arg, int *code_p)
{
    reading_t r = {.text = XY_TEXT_INIT,
                   .line = line,
                   .arg = arg,
                   .last = last,
                   .deadline = measure_now() + seconds};
    int ends[2];
    pid_t parent = getpid(), pid;
    xy_status_t st;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_fail_errno(errno, "a pipe", "make");
    pid = fork();
    if (pid == 0)
        become(argv, ends[1], true, parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return xy_fail_errno(errno, argv[0], "start");
    }
    st = read_output(ends[0], &r);
    close(ends[0]);
    *code_p = measure_command_wait(pid, st == XY_OK ? r.deadline : 0);
    if (r.is_over)
        *code_p = 0;
    return st;
}
