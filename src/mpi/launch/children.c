/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that do not use MPI (a script, hostname): N processes of their own, with the rank in
 * their environment, so that `mpiexec -n 4 hostname` does what people expect. Their lines are
 * collected through pipes and written whole, with tags if wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/launch/launch.h"
#include "mpi/launch/libc/libc.h"

typedef struct {
    pid_t pid;
    int pipes[2]; /* reading ends of its output and error; -1: closed */
    mpi_process_t process;
} child_t;

static child_t *children;
static volatile sig_atomic_t child_count;

/* Forward signals that end or notify a job. */
static void forward(int number)
{
    for (int i = 0; i < child_count; i++)
        if (children[i].pid > 0)
            kill(children[i].pid, number);
}

static void become(const mpi_part_t *part, char **environment, int rank, int pipes[2][2])
{
    int nothing = rank == 0 ? -1 : open("/dev/null", O_RDONLY);

    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(pipes[0][1], STDOUT_FILENO);
    dup2(pipes[1][1], STDERR_FILENO);
    execve(part->path, part->argv, environment);
    if (errno == ENOEXEC) { /* a script without its first line: the shell's */
        char **argv = xy_calloc((size_t)part->argc + 2, sizeof(char *));

        if (argv != NULL) {
            argv[0] = xy_strdup("/bin/sh");
            argv[1] = part->path;
            memcpy(argv + 2, part->argv + 1, (size_t)part->argc * sizeof(char *));
            execve("/bin/sh", argv, environment);
        }
    }
    xy_fail_errno(errno, part->path, "execute");
    _exit(XMPI_EXIT_NOT_EXECUTABLE);
}

static xy_status_t start(const mpi_part_t *part, int rank, int size)
{
    child_t *child = &children[rank];
    char **environment = mpi_launch_rank_environment(part, rank, size);
    int pipes[2][2];

    if (environment == NULL)
        return xy_fail_memory("starting a process");
    for (int i = 0; i < 2; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return xy_fail(XY_ELIMIT,
                           "rank %d: no pipe (%s); raise 'ulimit -n' or start fewer ranks", rank,
                           strerror(errno));
        child->pipes[i] = pipes[i][0];
    }
    child->process.world = rank;
    child->process.out = (mpi_stream_t){.process = &child->process, .fd = STDOUT_FILENO};
    child->process.err = (mpi_stream_t){.process = &child->process, .fd = STDERR_FILENO};
    child->pid = fork();
    if (child->pid == 0)
        become(part, environment, rank, pipes);
    xy_free(environment);
    close(pipes[0][1]);
    close(pipes[1][1]);
    if (child->pid < 0)
        return xy_fail_errno(errno, part->path, "start a process for");
    child_count = rank + 1;
    return XY_OK;
}

/* Read once; false: the other end was closed. */
static bool drain(child_t *child, int which)
{
    mpi_stream_t *stream = which == 0 ? &child->process.out : &child->process.err;
    char bytes[16384];
    ssize_t n = read(child->pipes[which], bytes, sizeof(bytes));

    if (n > 0)
        mpi_stream_take(stream, bytes, (size_t)n);
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return true;
    mpi_stream_flush(stream);
    close(child->pipes[which]);
    child->pipes[which] = -1;
    return false;
}

static xy_status_t collect(int size)
{
    struct pollfd *fds = xy_calloc(2 * (size_t)size, sizeof(*fds));
    int open_count = 2 * size;

    if (fds == NULL)
        return xy_fail_memory("reading from processes");
    for (int i = 0; i < 2 * size; i++)
        fds[i] = (struct pollfd){.fd = children[i / 2].pipes[i % 2], .events = POLLIN};
    while (open_count > 0) {
        if (poll(fds, 2 * (nfds_t)size, -1) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2 * size; i++)
            if (fds[i].fd >= 0 && fds[i].revents != 0 && !drain(&children[i / 2], i % 2)) {
                fds[i].fd = -1;
                open_count--;
            }
    }
    xy_free(fds);
    return XY_OK;
}

static int wait_for_all(int size)
{
    int first = 0;

    for (int i = 0; i < size; i++) {
        int status = 0, code;

        while (waitpid(children[i].pid, &status, 0) < 0 && errno == EINTR)
            ;
        code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        children[i].pid = 0;
        if (code != 0 && first == 0) {
            first = code;
            if (WIFSIGNALED(status))
                mpi_launch_say("rank %d was ended by signal %d", i, WTERMSIG(status));
            else
                mpi_launch_say("rank %d ended with exit code %d", i, code);
        }
    }
    return first;
}

int mpi_launch_children(const xy_vec_t *parts, int size)
{
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    const mpi_launch_values_t *values = XY_VEC_AT(parts, mpi_part_t, 0).values;
    xy_status_t st = XY_OK;

    mpi_streams_setup(values->tag_output     ? XMPI_TAG_STREAM
                      : values->prepend_rank ? XMPI_TAG_RANK
                                             : XMPI_TAG_NONE);
    children = xy_calloc((size_t)size, sizeof(*children));
    if (children == NULL)
        return xy_status_exit_code(xy_fail_memory("starting processes"));
    if (values->timeout > 0)
        alarm((unsigned)(values->timeout < 1 ? 1 : values->timeout));
    for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
        signal(forwarded[i], forward);
    for (size_t p = 0; p < parts->count && st == XY_OK; p++) {
        const mpi_part_t *part = &XY_VEC_AT(parts, mpi_part_t, p);

        for (int r = part->first; r < part->first + part->count && st == XY_OK; r++)
            st = start(part, r, size);
    }
    if (st == XY_OK)
        st = collect(size);
    if (st != XY_OK) {
        forward(SIGTERM);
        return xy_status_exit_code(st);
    }
    return wait_for_all(size);
}
