/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cost/measure.h"

enum { NOT_STARTED = 127, TOO_LATE = 124 };

/* In the child: `out` < 0 means nothing is wanted. */
static void become(char *const argv[], int out, pid_t parent)
{
    int null = open("/dev/null", O_RDWR);

    setpgid(0, 0);
    /* When we are killed, a launcher still ends its processes on other hosts. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(NOT_STARTED);
    dup2(null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    if (out < 0)
        dup2(null, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], argv);
    _exit(NOT_STARTED);
}

pid_t cost_command_start(char *const argv[])
{
    pid_t parent = getpid(), pid = fork();

    if (pid == 0)
        become(argv, -1, parent);
    return pid;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cost_command_wait(pid_t pid, double deadline)
{
    int status, sent = 0;

    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return sent != 0 ? TOO_LATE : code_of(status);
        if (got < 0 && errno != EINTR)
            return NOT_STARTED;
        if (cost_now() > deadline) {
            /* A launcher that is asked to end tells its processes elsewhere; if it does not, it is
             * not asked again. */
            sent = sent == 0 ? SIGTERM : SIGKILL;
            deadline = cost_now() + 2;
            kill(-pid, sent);
            kill(pid, sent);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Give whole lines to the reader; what is left of the last one stays. */
static xy_status_t take_lines(xy_text_t *text, cost_line_fn line, void *arg)
{
    char *begin = text->s, *end;
    xy_status_t st = XY_OK;

    while (st == XY_OK && begin != NULL && (end = strchr(begin, '\n')) != NULL) {
        *end = '\0';
        st = line(arg, begin);
        begin = end + 1;
    }
    if (begin != NULL && begin != text->s) {
        text->length -= (size_t)(begin - text->s);
        memmove(text->s, begin, text->length + 1);
    }
    return st;
}

static xy_status_t read_output(int fd, double deadline, cost_line_fn line, void *arg)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st = XY_OK;
    char buffer[4096];

    while (st == XY_OK && cost_now() < deadline) {
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
        xy_text_add_bytes(&text, buffer, (size_t)n);
        st = text.failed ? xy_fail_memory("reading what a command prints")
                         : take_lines(&text, line, arg);
    }
    xy_text_cleanup(&text);
    return st;
}

xy_status_t cost_command_run(char *const argv[], double seconds, cost_line_fn line, void *arg,
                             int *code_p)
{
    double deadline = cost_now() + seconds;
    int ends[2];
    pid_t parent = getpid(), pid;
    xy_status_t st;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_fail_errno(errno, "a pipe", "make");
    pid = fork();
    if (pid == 0)
        become(argv, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return xy_fail_errno(errno, argv[0], "start");
    }
    st = read_output(ends[0], deadline, line, arg);
    close(ends[0]);
    *code_p = cost_command_wait(pid, st == XY_OK ? deadline : 0);
    return st;
}
