/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the component: the executor itself. */
#ifndef XY_EXEC_EXEC_PRIVATE_H
#define XY_EXEC_EXEC_PRIVATE_H

#include <stdatomic.h>

#include "exec/exec.h"
#include "exec/ready.h"

enum { EXEC_RANKS_MAX = 4 };

struct xy_exec {
    const xy_graph_t *graph;
    xy_exec_options_t options;
    int ranks, buffers;
    int common;  /* the common queue, after the private ones */
    char **base; /* [ranks * buffers]; user buffers are written by xy_exec_arrive, before the
                    operations that use them are released */
    char *temporaries;

    /* The plan, made once. */
    int32_t *waits;      /* [ops]: predecessors and arrivals that an operation waits for */
    int32_t *queue_of;   /* [ops]: a private queue, or `common` */
    int32_t *gate_start; /* [ranks + 1] */
    xy_op_id_t *gates;   /* operations that an arrival releases, by rank */
    int32_t *owns;       /* [ranks]: operations that touch its own buffers, plus 1 */

    /* The run. */
    _Atomic int32_t left;       /* operations and arrivals */
    _Atomic int32_t *pending;   /* [ops] */
    _Atomic int32_t *rank_left; /* [ranks] */
    _Atomic int32_t *slots;     /* [ops], of all queues */
    exec_ready_t *queues;       /* [common + 1] */
    _Atomic int32_t offered;    /* in private queues; counted before an operation can be taken, so
                                   that 0 means that there is none */
    void *run_memory;           /* all of these; the queues are aligned in it */
};

static inline char **exec_base(const xy_exec_t *e, int rank, int buffer)
{
    return &e->base[(size_t)rank * (size_t)e->buffers + (size_t)buffer];
}

/* The distinct ranks whose own buffers, send and receive but not temporaries, an operation touches:
 * at most EXEC_RANKS_MAX. */
int exec_op_owners(const xy_op_t *op, int ranks[EXEC_RANKS_MAX]);

#endif
