/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of a job that survives: what it and the head say about failures. */
#include <limits.h>
#include <string.h>

#include "launch/launch_node.h"
#include "launch/spawn_ranks.h"
#include "mpi/p2p/p2p.h"

static void tell_number(node_kind_t kind, long number)
{
    char field[32];
    int n = snprintf(field, sizeof(field), "%ld", number);

    node_send(kind, field, (size_t)n + 1);
}

static void lost(int process)
{
    tell_number(NODE_LOST, process);
}

static void failed(int rank)
{
    tell_number(NODE_FAILED, rank);
}

static void revoke(uint32_t context)
{
    tell_number(NODE_REVOKE, (long)context);
}

static void agree(const void *ask, size_t size)
{
    node_send(NODE_AGREE, ask, size);
}

static const mpi_survive_ops_t ops = {lost, failed, revoke, agree};

xy_status_t mpi_node_survive(const mpi_node_job_t *job)
{
    return mpi_survive_setup(&ops, job->process_of, job->size, XMPI_SPAWN_ROOM_NODE,
                             job->processes);
}

static void take_failure(const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long is_process, number;

    if (!node_field_number(&fields, 0, 1, &is_process) ||
        !node_field_number(&fields, 0, INT_MAX, &number))
        return;
    if (is_process)
        mpi_survive_fail_process((int)number);
    else
        mpi_survive_fail_rank((int)number);
}

void node_survive_take(const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    mpi_agree_answer_t answer;
    long context;

    if (frame->kind == NODE_FAILED) {
        take_failure(frame);
    } else if (frame->kind == NODE_REVOKE) {
        if (node_field_number(&fields, 0, UINT32_MAX, &context))
            mpi_survive_revoke((uint32_t)context);
    } else if (frame->kind == NODE_AGREE && frame->size == sizeof(answer)) {
        memcpy(&answer, frame->bytes, sizeof(answer));
        mpi_survive_agreed(&answer);
    }
}
