/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library that `xylem monitor` puts in front of Open MPI or MPICH: it counts what each rank
 * sends and hands every call on (PMPI). It is compiled with that MPI's own compiler wrapper;
 * of Xylem it has only the algorithms of collectives in it (schedule.h), hidden from the program.
 * At MPI_Finalize each rank writes $XYLEM_MONITOR_DIRECTORY/RANK.csv:
 *
 *   # ranks 8 slice 0
 *   1,4096,2,0,0,0,0,0          target, bytes, messages, of the program (0); phase, slice of time,
 *   3,16,2,1,0,0,4,1            and communicator; (1): sent inside collectives
 *
 * With $XYLEM_MONITOR_PROFILE it also measures where the time goes, and writes RANK.xyp
 * (profile.c).
 */
#ifndef XY_TOOLS_MONITOR_H
#define XY_TOOLS_MONITOR_H

#include <stddef.h>
#include <stdio.h>

#include <mpi.h>

#include "schedule.h"

/* Nothing of this is the program's to see. */
#pragma GCC visibility push(hidden)

enum { MONITOR_PROGRAM, MONITOR_COLLECTIVE, MONITOR_KINDS };

/* A communicator: the world rank of its first member and that one's number for it. The world is 0,
 * 0.
 */
typedef struct {
    int first, number;
} monitor_name_t;

/* May several threads be in MPI at once? Then nothing may be remembered from call to call. */
int monitor_is_threaded(void);
/* Is time cut into slices? Then the clock is read for every message. */
int monitor_is_sliced(void);

/* Sent messages and bytes. */
typedef struct {
    long long bytes[MONITOR_KINDS], messages[MONITOR_KINDS];
} monitor_sent_t;

/* Count messages of `bytes` in all to a rank of MPI_COMM_WORLD; where they were counted, or NULL:
 * nowhere. */
monitor_sent_t *monitor_count(int partner, monitor_name_t comm, double bytes, int messages,
                              int kind);
/* Count them to rank `to` of a communicator (of its remote group between two groups); where.
 * Nothing is counted for MPI_PROC_NULL. */
monitor_sent_t *monitor_bytes(MPI_Comm comm, int to, double bytes, int messages, int kind);

/* ---- Profiles (profile.c) ---- */

/* The part of its time that a call is in. */
typedef enum {
    MONITOR_LIBRARY,
    MONITOR_TRANSFER,
    MONITOR_LATE_SENDER, /* it waits for the message of rank `who` of the world */
    MONITOR_LATE_MEMBER  /* it waits for the last member of a collective */
} monitor_part_t;

/* The call that the rank is in. */
typedef struct {
    int is_on; /* times are measured */
    int depth; /* calls inside each other: the outermost counts */
    monitor_part_t part;
    int who; /* -1: not known */
    MPI_Comm comm;
    double bytes; /* bytes known before the call is counted */
} monitor_call_t;
extern monitor_call_t monitor_call;

void monitor_profile_begin(void);
/* Write the file; `pairs` adds what was sent to whom. */
void monitor_profile_end(const char *directory, int rank, int size,
                         void (*pairs)(int, int, FILE *));
void monitor_profile_forget(MPI_Comm comm);
void monitor_enter_timed(const char *name, const void *site);
int monitor_leave_timed(int rc);

/* Hand a call on, as one that does `as` all the time. */
#define MONITOR_CALL_AS(as, call)                                                                  \
    (__builtin_expect(monitor_call.is_on, 0)                                                       \
         ? (monitor_enter_timed(__func__, __builtin_return_address(0)), monitor_call.part = (as),  \
            monitor_leave_timed(call))                                                             \
         : (call))
#define MONITOR_CALL(call) MONITOR_CALL_AS(MONITOR_LIBRARY, call)

/* The number in the world of a rank of a communicator; -1: not known. */
int monitor_world_rank(MPI_Comm comm, int rank);

/* The message before: most are like it. `sent` is NULL when nothing may be remembered: several
 * threads, slices of time, a new phase, a table that moved, a handle that may come back as another
 * one. */
typedef struct {
    monitor_sent_t *sent;
    MPI_Comm comm;
    MPI_Datatype type;
    int to, size; /* size: of the type */
} monitor_before_t;
extern monitor_before_t monitor_before;

/* With several threads nothing is remembered and nothing written. */
static inline void monitor_forget(void)
{
    if (monitor_before.sent != NULL)
        monitor_before.sent = NULL;
}

double monitor_bytes_of(int count, MPI_Datatype type);
void monitor_other_message(MPI_Comm comm, int to, int count, MPI_Datatype type);

/* Count a message of the program of `count` elements. */
static inline void monitor_message(MPI_Comm comm, int to, int count, MPI_Datatype type)
{
    const monitor_before_t *b = &monitor_before;

    if (__builtin_expect(monitor_call.is_on, 0)) {
        monitor_call.comm = comm;
        monitor_call.bytes += monitor_bytes_of(count, type);
    }
    if (__builtin_expect(b->to == to && b->comm == comm && b->type == type && b->sent != NULL, 1)) {
        b->sent->bytes[MONITOR_PROGRAM] += (long long)b->size * count;
        b->sent->messages[MONITOR_PROGRAM]++;
    } else {
        monitor_other_message(comm, to, count, type);
    }
}

/* Count what the rank sends inside a collective operation (schedule.h); root 0 where there is none.
 * What is given is the vector (bcast, reductions) or the block of one rank, and looked at only by
 * ranks that send and in one group. */
void monitor_collective(MPI_Comm comm, xy_collective_t collective, int root, int count,
                        MPI_Datatype type);
/* With counts[r] for rank r: scatterv, alltoallv, reduce_scatter. */
void monitor_collective_v(MPI_Comm comm, xy_collective_t collective, int root, const int *counts,
                          MPI_Datatype type);
/* With counts[r] from rank r: allgatherv. */
void monitor_ring_v(MPI_Comm comm, const int *counts, MPI_Datatype type);

#pragma GCC visibility pop

#endif
