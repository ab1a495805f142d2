/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket for processes of this machine that call MPI_Init behind a wrapper or in an
 * interpreter: the other half of bindings/join.c. Their messages are handled by joined.c in the
 * same process, or by the head.
 */
#ifndef XY_LAUNCH_MEET_H
#define XY_LAUNCH_MEET_H

#include <stdbool.h>

#include "net/net.h"

typedef struct {
    /* Someone has come, the `number`-th; NULL: not wanted. */
    void *(*come)(long number);
    /* It says something; what it takes from the frame it sets to NULL. False: the job has ended. */
    bool (*said)(void *member, xy_frame_t *frame);
    void (*gone)(void *member);
} mpi_meet_events_t;

/* The value of XYLEM_LAUNCHED for processes, in memory of its own; NULL: memory ran out. `address`
 * is this machine's, that others are most likely to reach, and `library` that of an installed MPI
 * ("": either is not known). Where there can be no such socket processes refuse to run several
 * ranks. */
char *mpi_meet_open(const mpi_meet_events_t *events, const char *address, const char *library);
/* Readable when there is something to do; -1: never. */
int mpi_meet_fd(void);
/* Do it. False: the job cannot continue (reported). */
bool mpi_meet_take(void);
/* To all that have said HELLO and not LEAVE. */
void mpi_meet_send(uint32_t kind, const void *bytes, size_t size);

#endif
