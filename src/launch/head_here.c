/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a job on this machine, for trials and tests: no launcher is needed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/head.h"

/* The c-th part of the cores, in machine order; one that is shared where there are too few: two
 * processes bound to one core by chance would take turns of milliseconds. */
xy_status_t head_share_cores(head_t *head)
{
    xy_cores_t cores;
    xy_status_t st = mpi_placement_cores(head->values, &cores);

    if (st != XY_OK)
        return st;
    head->shares_cores = head->count > cores.count;
    for (int p = 0; p < head->count && st == XY_OK; p++) {
        int begin = (int)((long)p * cores.count / head->count);
        int end = (int)((long)(p + 1) * cores.count / head->count);
        xy_text_t list = XY_TEXT_INIT;

        if (end == begin)
            end = begin + 1;
        head->processes[p].cpus = xy_calloc((size_t)(end - begin), sizeof(xy_target_cpu_t));
        for (int c = begin; c < end; c++, head->processes[p].cpu_count++)
            if (head->processes[p].cpus != NULL && head_wants_cpus(head))
                head->processes[p].cpus[c - begin] = xy_target_cpu(cores.cpu[c]);
        for (int c = begin; c < end; c++)
            xy_text_addf(&list, "%s%d", c > begin ? "," : "", cores.cpu[c]);
        head->processes[p].cores = list.s;
        head->processes[p].cores_there = end - begin;
        if (list.failed || head->processes[p].cpus == NULL)
            st = xy_fail_memory("sharing the cores");
    }
    xy_cores_cleanup(&cores);
    return st;
}

/* In the child: set up its streams and signals and execute mpiexec as a node; does not return. */
static void become_node(bool has_input, int fd)
{
    int nothing = has_input ? -1 : open("/dev/null", O_RDONLY);
    sigset_t none;
    char text[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing > STDIN_FILENO) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    fcntl(fd, F_SETFD, 0);
    snprintf(text, sizeof(text), "%d", fd);
    if (setenv(XMPI_NODE_VARIABLE, text, 1) == 0)
        mpi_restart_as_node();
    _exit(XMPI_EXIT_NOT_EXECUTABLE);
}

/* Start one process of the job with a socket pair as its connection. */
static xy_status_t start(head_t *head, int process)
{
    head_process_t *p = &head->processes[process];
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return xy_fail_errno(errno, "a connection to a process", "make");
    xy_channel_init(&p->link, fds[0], NULL);
    p->is_reached = true;
    p->pid = fork();
    if (p->pid == 0)
        become_node(process == 0 && !head->is_input_sent, fds[1]);
    close(fds[1]);
    if (p->pid < 0)
        return xy_fail_errno(errno, "a process of the job", "start");
    return XY_OK;
}

xy_status_t head_start_here(head_t *head)
{
    xy_status_t st = XY_OK;

    fflush(NULL);
    for (int p = 0; p < head->count && st == XY_OK; p++)
        st = start(head, p);
    return st;
}
