/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard input of a job on other hosts: the head reads it and sends it to the process that has
 * the rank that reads it (rank 0, or that of --stdin), a piece at a time; the next one is read when
 * that has been taken.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "launch/head.h"

enum { PIECE = 32 << 10 };

/* In the background of a terminal, reading is an error and not a reason to stop. */
void head_input_begin(head_t *head)
{
    signal(SIGTTIN, SIG_IGN);
    head->input = head->is_input_sent ? STDIN_FILENO : -1;
}

/* The process of the rank that reads standard input. */
static int input_process(const head_t *head)
{
    int process = 0, first = 0;

    if (head->process_of != NULL)
        return head->process_of[head->input_rank];
    while (process + 1 < head->count && head->input_rank >= first + head->processes[process].ranks)
        first += head->processes[process++].ranks;
    return process;
}

/* The descriptor to wait for; -1: not now. */
int head_input_fd(const head_t *head)
{
    return head->is_input_away || !head->processes[input_process(head)].is_running ? -1
                                                                                   : head->input;
}

void head_input_read(head_t *head)
{
    char bytes[PIECE];
    ssize_t n = read(head->input, bytes, sizeof(bytes));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        n = 0;
        head->input = -1;
    }
    head->is_input_away = true;
    xy_channel_send(&head->processes[input_process(head)].link, NODE_INPUT, bytes, (size_t)n);
}
