/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head of a job that survives: it notes which processes and ranks have failed, tells all, and
 * answers agreements (consensus.h). All processes get notices and answers in the same order.
 */
#include <limits.h>
#include <signal.h>

#include "launch/consensus.h"
#include "launch/head.h"
#include "launch/spawn_ranks.h"
#include "process/process.h"

static head_t *head;

static void send_all(node_kind_t kind, const void *bytes, size_t size)
{
    for (int i = 0; i < head->count; i++)
        if (head->processes[i].link.fd >= 0 && !head->processes[i].has_failed)
            xy_channel_send(&head->processes[i].link, kind, bytes, size);
}

static void decide(const mpi_agree_answer_t *answer, void *arg)
{
    (void)arg;
    send_all(NODE_AGREE, answer, sizeof(*answer));
}

static consensus_t consensus = {.decide = decide};

static void begin(head_t *own)
{
    head = own;
    consensus.ranks = own->size + XMPI_SPAWN_ROOM_NODE * own->count;
}

bool head_survives(const head_t *own)
{
    return own->values->survive;
}

/* The process of a rank; ranks that a process may spawn follow all that are started
 * (spawn_ranks.h). */
static int process_of(int rank)
{
    int process = 0;

    if (rank >= head->size)
        return (rank - head->size) / XMPI_SPAWN_ROOM_NODE;
    if (head->process_of != NULL)
        return head->process_of[rank];
    while (rank >= head->processes[process].ranks)
        rank -= head->processes[process++].ranks;
    return process;
}

static void tell_failure(bool is_process, int number)
{
    char fields[32];
    int n = snprintf(fields, sizeof(fields), "%d%c%d", is_process, '\0', number);

    send_all(NODE_FAILED, fields, (size_t)n + 1);
}

/* Do processes that live still run? */
static bool has_survivors(void)
{
    for (int i = 0; i < head->count; i++)
        if (!head->processes[i].has_failed && head->processes[i].link.fd >= 0)
            return true;
    return false;
}

bool head_survive_process(head_t *own, int process)
{
    head_process_t *p = &own->processes[process];

    begin(own);
    if (p->has_failed)
        return true;
    p->has_failed = true;
    if (p->pid > 0)
        kill(p->pid, SIGKILL); /* it may be stopped, or out of reach */
    xy_channel_close(&p->link);
    for (int r = 0; r < consensus.ranks; r++)
        if (process_of(r) == process)
            consensus_fail(&consensus, r);
    tell_failure(true, process);
    consensus_settle(&consensus);
    return has_survivors();
}

/* A rank that has ended before MPI_Finalize, of a process that still runs. */
static void take_rank(int process, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long rank;

    if (!node_field_number(&fields, 0, consensus.ranks - 1, &rank) ||
        process_of((int)rank) != process || !consensus_fail(&consensus, (int)rank))
        return;
    tell_failure(false, (int)rank);
    consensus_settle(&consensus);
}

int head_survive_take(head_t *own, int process, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long number;

    begin(own);
    if (!own->values->survive || own->processes[process].has_failed)
        return -1;
    if (frame->kind == NODE_FAILED)
        take_rank(process, frame);
    else if (frame->kind == NODE_REVOKE)
        send_all(NODE_REVOKE, frame->bytes, frame->size);
    else if (frame->kind == NODE_AGREE)
        consensus_ask(&consensus, frame->bytes, frame->size);
    else if (node_field_number(&fields, 0, own->count - 1, &number) &&
             !own->processes[number].has_failed && !own->processes[number].has_left)
        return (int)number;
    return -1;
}
