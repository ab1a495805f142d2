/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one rank each that make one job: those that have connected, the data that they
 * exchange, and those that are missing. They meet any number of times one after the other, at a
 * socket of mpiexec (meet_jobs.h) or, on several hosts, at one on each, whose process forwards
 * their messages (node_children.c, head_children.c).
 */
#ifndef XY_LAUNCH_JOINED_H
#define XY_LAUNCH_JOINED_H

#include <stdbool.h>

#include "base/base.h"
#include "launch/options.h"
#include "net/net.h"

typedef struct {
    int size;
    const mpi_launch_values_t *values;
    bool is_local;            /* all are on this machine */
    const char *const *hosts; /* [size] of ranks; NULL: this machine */
    void (*send)(uint32_t kind, const void *bytes, size_t size); /* to all */
} mpi_joined_config_t;

typedef struct mpi_member mpi_member_t;

/* The configuration is the caller's, and stays. */
xy_status_t mpi_joined_begin(const mpi_joined_config_t *config);
/* A process has come. NULL: memory ran out. */
mpi_member_t *mpi_joined_come(void);
/* It says something. False: the job cannot continue (reported). */
bool mpi_joined_said(mpi_member_t *member, xy_frame_t *frame);
/* It has closed its connection. */
void mpi_joined_gone(mpi_member_t *member);

/* ---- Ends of processes ---- */

/* As waitpid says it. */
void mpi_joined_note_end(int rank, int status);
/* May the others continue? Not when one of them waits in MPI_Init for a process that has ended, or
 * a rank is gone without MPI_Finalize. Then the exit code (reported), else -1. */
int mpi_joined_judge(void);
/* Is a rank gone whose process may still say why? Look again soon. */
bool mpi_joined_is_uncertain(void);
/* All have ended: the exit code of the first that failed, in the order of ranks (reported), or 0.
 */
int mpi_joined_code(void);
/* "  ranks 0,2-3: running", and those that have ended. */
void mpi_joined_report(void);

#endif
