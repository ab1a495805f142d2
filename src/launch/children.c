/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that are not linked with MPI (a script, hostname, an interpreter): N processes of their
 * own, with the rank in their environment, so that `mpiexec -n 4 hostname` does what people expect.
 * Their lines are collected through pipes and written whole, with tags if wanted. What they run may
 * use MPI after all: then they join (joined.c), and one that fails ends the others.
 *
 * A process between mpiexec and the N, the collector, starts and reads them. It adopts what they
 * leave behind (a subreaper) and holds one end of a pipe whose other end mpiexec holds: whatever
 * ends the job, a time limit or SIGKILL for mpiexec, no process of the job is left.
 *
 * On several hosts there is a collector on each, which does what the head says (node_children.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/children.h"
#include "launch/joined.h"
#include "launch/launch.h"
#include "launch/meet_jobs.h"
#include "launch/process_tree.h"
#include "process/process.h"

enum { EXIT_TIME_LIMIT = 124, GRACE_SECONDS = 2 };
#define LOOK_SECONDS 0.05

typedef struct {
    pid_t pid;    /* 0: has ended */
    int pipes[2]; /* reading ends of its output and error; -1: closed */
    process_t process;
} child_t;

/* The descriptors that poll waits for: these, then the pipes of the children. */
enum { SIGNALS, LIFELINE, JOINED, HEAD, FIRST_PIPE };

static struct {
    const xy_vec_t *parts;
    const mpi_node_job_t *node; /* NULL: all processes are here */
    int size;                   /* of the job */
    int count;                  /* of processes here */
    child_t *children;          /* [count] */
    int running, open_pipes;
    bool closes_input; /* of each, which is its own */
    int lifeline;      /* closed by the end of mpiexec */
    sigset_t mask_before;
    struct pollfd *fds; /* [FIRST_PIPE + 2 * count] */
} job;

/* In the child: connect the streams and execute the program, by the shell if it has no first line;
 * does not return. */
static void become(const mpi_part_t *part, char **environment, int input, int pipes[2][2])
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &job.mask_before, NULL);
    if (input > STDIN_FILENO)
        dup2(input, STDIN_FILENO);
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

/* Ranks of the same machine: those before it, and all. */
static void count_neighbours(int rank, int *before_p, int *count_p)
{
    const mpi_node_job_t *node = job.node;

    *before_p = node == NULL ? rank : 0;
    *count_p = node == NULL ? job.size : 0;
    for (int r = 0; node != NULL && r < job.size; r++)
        if (strcmp(node->hosts[node->process_of[r]], node->hosts[node->process]) == 0) {
            *before_p += r < rank;
            ++*count_p;
        }
}

/* The `index`-th that is started here. */
static xy_status_t start(const mpi_part_t *part, int index)
{
    child_t *child = &job.children[index];
    int rank = job.node != NULL ? job.node->own[index] : index, pipes[2][2], before, count;
    char **environment;
    int input;
    xy_status_t st;

    count_neighbours(rank, &before, &count);
    environment = mpi_launch_rank_environment(part, rank, job.size, rank - before, count);

    if (environment == NULL)
        return xy_fail_memory("starting a process");
    for (int i = 0; i < 2; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return xy_fail(
                XY_ELIMIT,
                "rank %d: cannot create a pipe (%s); raise 'ulimit -n' or start fewer ranks", rank,
                strerror(errno));
        child->pipes[i] = pipes[i][0];
        job.fds[FIRST_PIPE + 2 * index + i] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
    }
    child->process.number = rank;
    child->process.out = (process_stream_t){.process = &child->process, .fd = STDOUT_FILENO};
    child->process.err = (process_stream_t){.process = &child->process, .fd = STDERR_FILENO};
    st = process_streams_begin(&child->process);
    if (st != XY_OK)
        return st;
    input = process_streams_input(rank);
    child->pid = fork();
    if (child->pid == 0)
        become(part, environment, input, pipes);
    if (input > STDERR_FILENO && job.closes_input)
        close(input);
    xy_free(environment);
    close(pipes[0][1]);
    close(pipes[1][1]);
    if (child->pid < 0)
        return xy_fail_errno(errno, part->path, "start");
    job.running++;
    job.open_pipes += 2;
    return XY_OK;
}

/* Start the processes of this host, in the order of parts. */
static xy_status_t start_all(void)
{
    xy_status_t st = XY_OK;

    job.closes_input = XY_VEC_AT(job.parts, mpi_part_t, 0).values->stdin_to != NULL &&
                       strcmp(XY_VEC_AT(job.parts, mpi_part_t, 0).values->stdin_to, "all") == 0;
    for (size_t p = 0; p < job.parts->count && st == XY_OK; p++) {
        const mpi_part_t *part = &XY_VEC_AT(job.parts, mpi_part_t, p);

        for (int i = 0; i < part->count_here && st == XY_OK; i++)
            st = start(part, part->own_first + i);
    }
    return st == XY_OK ? process_input_share() : st;
}

/* ---- While they run ---- */

/* Read once; false: the other end was closed, or there is nothing and none waits for more. */
static bool drain(int index, int which)
{
    child_t *child = &job.children[index];
    process_stream_t *stream = which == 0 ? &child->process.out : &child->process.err;
    char bytes[16384];
    ssize_t n = read(child->pipes[which], bytes, sizeof(bytes));

    if (n > 0)
        process_stream_take(stream, bytes, (size_t)n);
    if (n > 0 || (n < 0 && errno == EINTR))
        return true;
    process_stream_flush(stream);
    close(child->pipes[which]);
    child->pipes[which] = -1;
    job.fds[FIRST_PIPE + 2 * index + which].fd = -1;
    job.open_pipes--;
    return false;
}

static void note_end(pid_t pid, int status)
{
    for (int i = 0; i < job.count; i++)
        if (job.children[i].pid == pid) {
            job.children[i].pid = 0;
            job.running--;
            if (job.node != NULL)
                node_children_tell_end(job.children[i].process.number, status);
            else
                mpi_joined_note_end(i, status);
            return;
        }
}

static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note_end(pid, status);
}

static void forward(int number)
{
    for (int i = 0; i < job.count; i++)
        if (job.children[i].pid > 0)
            kill(job.children[i].pid, number);
}

static void take_signals(void)
{
    struct signalfd_siginfo info;

    while (read(job.fds[SIGNALS].fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap();
        else if (info.ssi_code != SI_KERNEL) /* the terminal's go to all processes */
            forward((int)info.ssi_signo);
    }
}

/* ---- Ends ---- */

/* All processes of the job, politely first; what they still print is printed. */
static void end_all(void)
{
    forward(SIGTERM);
    mpi_tree_end(GRACE_SECONDS, &job.running, note_end);
    for (int c = 0; c < job.count; c++)
        for (int i = 0; i < 2; i++)
            if (job.children[c].pipes[i] >= 0 &&
                fcntl(job.children[c].pipes[i], F_SETFL, O_NONBLOCK) == 0)
                while (drain(c, i))
                    ;
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int end_at_limit(double seconds)
{
    process_say("the time limit of %g s has passed", seconds);
    mpi_joined_report();
    end_all();
    return EXIT_TIME_LIMIT;
}

/* ---- The collector ---- */

static sigset_t handled_signals(void)
{
    static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        sigaddset(&set, wanted[i]);
    return set;
}

/* They are blocked already. */
static xy_status_t watch_signals(void)
{
    sigset_t set = handled_signals();

    job.fds[SIGNALS] =
        (struct pollfd){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN};
    return job.fds[SIGNALS].fd >= 0 ? XY_OK : xy_fail_errno(errno, "signals", "watch");
}

/* Wait for something to happen, and handle it. False: the job ends, with *code_p. */
static bool attend(double seconds, int *code_p)
{
    int n = poll(job.fds, FIRST_PIPE + 2 * (nfds_t)job.count, (int)(fmin(seconds, 1e6) * 1000) + 1);

    *code_p = 1;
    if (n < 0 && errno != EINTR) {
        *code_p = xy_status_exit_code(xy_fail_errno(errno, "the pipes of the processes", "read"));
        return false;
    }
    if (n <= 0)
        return true;
    if (job.fds[LIFELINE].revents != 0 && job.node != NULL) {
        take_signals(); /* signals came before it; messages after it do not */
        mpi_meet_take();
        mpi_node_hand_over();
    }
    if (job.fds[LIFELINE].revents != 0 || (job.fds[JOINED].revents != 0 && !mpi_meet_take()) ||
        (job.fds[HEAD].revents != 0 && !node_children_listen(forward)))
        return false;
    take_signals();
    for (int i = 0; i < 2 * job.count; i++)
        if (job.fds[FIRST_PIPE + i].fd >= 0 && job.fds[FIRST_PIPE + i].revents != 0)
            drain(i / 2, i % 2);
    return true;
}

/* The exit code. Of a host's, only what the head wants to know: it judges. */
static int collect(double limit)
{
    double deadline = xy_now() + limit;

    while (job.running > 0 || job.open_pipes > 0) {
        double left = limit > 0 ? deadline - xy_now() : 1e6;
        int code;

        if (left <= 0)
            return end_at_limit(limit);
        code = job.node == NULL ? mpi_joined_judge() : -1;
        if (job.node == NULL && mpi_joined_is_uncertain())
            left = LOOK_SECONDS;
        if (code >= 0 || !attend(left, &code)) {
            end_all();
            return code;
        }
    }
    return job.node == NULL ? mpi_joined_code() : 0;
}

/* Start the processes and follow them until all have ended; returns the exit code of the collector.
 */
static int run_collector(double limit)
{
    xy_status_t st;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (job.node != NULL && job.node->has_launcher)
        setpgid(0, 0); /* the end of its parent's group leaves it time to end the processes */
    job.children = xy_calloc((size_t)job.count, sizeof(*job.children));
    job.fds = xy_calloc(FIRST_PIPE + 2 * (size_t)job.count, sizeof(*job.fds));
    if (job.children == NULL || job.fds == NULL)
        return xy_status_exit_code(xy_fail_memory("starting processes"));
    for (int i = 0; i < FIRST_PIPE + 2 * job.count; i++)
        job.fds[i] = (struct pollfd){.fd = -1};
    for (int i = 0; i < job.count; i++)
        job.children[i].pipes[0] = job.children[i].pipes[1] = -1;
    job.fds[LIFELINE] = (struct pollfd){.fd = job.lifeline, .events = POLLIN};
    job.fds[JOINED] = (struct pollfd){.fd = mpi_meet_fd(), .events = POLLIN};
    st = watch_signals();
    if (st == XY_OK && job.node != NULL)
        st = node_children_begin(&job.fds[HEAD]);
    if (st == XY_OK)
        st = start_all();
    if (st == XY_OK && job.node != NULL)
        st = node_children_ready();
    if (st == XY_OK)
        return collect(limit);
    end_all();
    return xy_status_exit_code(st);
}

/* ---- mpiexec itself ---- */

static volatile sig_atomic_t collector;

static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != SI_KERNEL)
        kill((pid_t)collector, number);
}

/* Install handlers that pass signals on to the collector; ignored signals stay ignored. */
static void pass_on_signals(void)
{
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action, old;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        /* Signals that the shell ignores (nohup) stay ignored. */
        if (sigaction(passed_on[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
}

static int follow(void)
{
    int status = 0;

    while (waitpid((pid_t)collector, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) { /* a broken pipe: end as the collector did */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return code_of(status);
}

/* ---- Where they meet, on this machine ---- */

static void *come(long number)
{
    (void)number;
    return mpi_joined_come();
}

static bool said(void *member, xy_frame_t *frame)
{
    return mpi_joined_said(member, frame);
}

static void gone(void *member)
{
    mpi_joined_gone(member);
}

static const mpi_meet_events_t meet_events = {come, said, gone};

static char *open_meeting(const mpi_launch_values_t *values)
{
    static mpi_joined_config_t config;

    if (job.node != NULL)
        return node_children_meet();
    config = (mpi_joined_config_t){
        .size = job.size, .values = values, .is_local = true, .send = mpi_meet_send};
    return mpi_joined_begin(&config) == XY_OK ? mpi_meet_open(&meet_events, "", "") : NULL;
}

static xy_status_t make_environments(const xy_vec_t *parts, const mpi_launch_values_t *values)
{
    char *as = open_meeting(values);
    xy_status_t st = as == NULL ? xy_fail_memory("starting processes") : XY_OK;

    for (size_t i = 0; i < parts->count && st == XY_OK; i++)
        st = mpi_launch_environment(&XY_VEC_AT(parts, mpi_part_t, i), values, as);
    return st;
}

static void become_collector(double limit)
{
    int code = run_collector(limit);

    fflush(NULL);
    if (code == 0 && process_streams_failed())
        code = 1;
    if (job.node != NULL)
        node_children_leave(code);
    _exit(job.node != NULL ? 0 : code);
}

/* Fork the collector and follow it; returns the exit code of mpiexec. */
static int launch(const xy_vec_t *parts)
{
    const mpi_launch_values_t *values = XY_VEC_AT(parts, mpi_part_t, 0).values;
    sigset_t set = handled_signals();
    xy_status_t st;
    int ends[2];

    st = make_environments(parts, values);
    if (st != XY_OK)
        return xy_status_exit_code(st);
    st = mpi_launch_output(values, job.size, job.node);
    if (st != XY_OK)
        return xy_status_exit_code(st);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_status_exit_code(xy_fail_errno(errno, "a pipe to the processes", "create"));
    job.lifeline = ends[0];
    fflush(NULL);
    /* Until both can handle them: a program may run before mpiexec does again. */
    sigprocmask(SIG_BLOCK, &set, &job.mask_before);
    collector = fork();
    if (collector < 0)
        return xy_status_exit_code(xy_fail_errno(errno, "the processes", "start"));
    if (collector == 0) {
        close(ends[1]);
        become_collector(values->timeout);
    }
    if (job.node != NULL)
        mpi_node_hand_over();
    pass_on_signals();
    sigprocmask(SIG_SETMASK, &job.mask_before, NULL);
    return follow();
}

int mpi_launch_children(const xy_vec_t *parts, int size, const mpi_node_job_t *node)
{
    int code;

    job.parts = parts;
    job.node = node;
    job.size = size;
    job.count = node != NULL ? node->count : size;
    code = launch(parts);
    if (node != NULL && code != 0)
        node_children_leave(code); /* unless the collector has said it */
    return code;
}
