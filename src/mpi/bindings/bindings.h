/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The top of the library: the MPI functions themselves, the list of its layers, and programs that
 * run without a launcher.
 *
 *   mpi_job_config_t config = {.layers = mpi_layers, ...};     (the launcher, and singletons)
 *
 * Entry points are generated from functions.def when the build is configured: each checks that the
 * caller is a rank, and calls the function of the layer that does the work. No other part calls
 * them.
 */
#ifndef XY_MPI_BINDINGS_BINDINGS_H
#define XY_MPI_BINDINGS_BINDINGS_H

#include "mpi/bindings/services.h"
#include "mpi/runtime/runtime.h"

/* For mpi_job_config_t: all layers, the lowest first. */
extern const mpi_layer_t *const mpi_layers[];

/* The variable that says what mpiexec has made of a process: a rank (its children inherit that), or
 * "process:SOCKET,ADDRESS,LIBRARY", one of N processes of a program that is not linked with MPI:
 * where they meet, an address of this machine, and the installed MPI whose launcher has started it,
 * "openmpi" or "mpich". The last two may be empty. */
#define XMPI_LAUNCHED      "XYLEM_LAUNCHED"
#define XMPI_LAUNCHED_RANK "rank"

/* The messages between such processes and mpiexec when the processes turn out to use MPI:
 *
 *   process: HELLO      mpiexec, when all have said so: ALL
 *   process: CARD       mpiexec, when all have sent theirs: CARDS; any number of times
 *   process: LEAVE      after MPI_Finalize; one that goes without it has failed
 *   process: FAIL       it is about to end with this exit code, and the job with it
 */
enum {
    XMPI_JOIN_HELLO = 1, /* rank, a space, version */
    XMPI_JOIN_ALL,       /* texts, each with its NUL: the secret of the network between them, the
                            transport, "1" if all are on one machine, seconds of --deadlock-after
                            and --polling-after; on several hosts, that of each rank */
    XMPI_JOIN_CARD,
    XMPI_JOIN_CARDS, /* each with its NUL */
    XMPI_JOIN_LEAVE,
    XMPI_JOIN_FAIL /* exit code */
};

/* MPI_Init and MPI_Session_init: the calling rank, which a program without a launcher becomes here.
 * NULL: it could not, *code_p is the error. */
mpi_rank_t *mpi_rank_begin(const char *name, const void *site, int *code_p);
/* The level of threads that a rank gets that asks for `required`; it has been made RUNNING. */
int mpi_rank_grant(mpi_rank_t *self, int required);
/* One session less. */
void mpi_rank_end_session(mpi_rank_t *self);
/* The phase of MPI_Init, MPI_Finalize and sessions for other calls, after one of them has changed
 * it. Threads read the phase as they enter: it is written only when it changes. */
void mpi_rank_set_phase(mpi_rank_t *self);

/* The result of the MPI function `name` of a session for a NULL argument, as mpi_refuse_null. */
int mpi_session_refuse_null(const char *name, const void *site, MPI_Session session,
                            const char *argument) __attribute__((cold));

/* A program that is a process of its own calls MPI_Init: the calling thread becomes rank 0 of 1, or
 * joins the other processes that mpiexec has started. */
xy_status_t mpi_singleton_begin(void);

#endif
