/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of reports. */
#ifndef XY_MPI_CHECK_DEADLOCK_H
#define XY_MPI_CHECK_DEADLOCK_H

#include <stdio.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum { CHECK_NAME_SIZE = 64, CHECK_PARTITIONS_TEXT = 160 };

/* A call with its own copies of what it points to. */
typedef struct {
    char name[CHECK_NAME_SIZE]; /* "": none */
    char comm[MPI_MAX_OBJECT_NAME];
    const void *caller;
    int peer, tag;
    int world; /* the peer's number in MPI_COMM_WORLD, where that is known and another one; or -1 */
    bool is_started; /* by MPI_Start: `name` is the call that made the request */
    char partitions[CHECK_PARTITIONS_TEXT]; /* of partitioned communication: what is missing */
} check_place_t;

void check_copy_call(const mpi_call_t *call, check_place_t *place);
/* Copy request `i` of those that one waits for; false: it is not pending any more. */
bool check_copy_request(const mpi_waiter_t *waiter, int i, mpi_request_t *request);
/* Does no rank have this number: one that was not spawned yet, or that ended and is not known to
 * any other rank? */
bool check_is_gone(const mpi_job_t *job, int r);

/* The number in MPI_COMM_WORLD of rank `peer` of a communicator that may be gone; -1: the same, or
 * not known. */
int check_world_rank(const mpi_comm_t *comm, int peer);
/* As mpi_job_report, of this process alone, as a text; NULL: memory ran out. The caller frees. */
char *check_report_text(void);
/* The lines of this process alone; and on standard error, followed by those of others. */
void check_report_write(FILE *out);
void check_report(const mpi_job_t *job, int at_most, char *const *reports);

#endif
