/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to this part: a process with one rank in a job of many such. */
#ifndef XY_MPI_BINDINGS_JOIN_H
#define XY_MPI_BINDINGS_JOIN_H

#include <stdbool.h>

#include "mpi/runtime/runtime.h"
#include "net/net.h"

typedef struct {
    char socket[64];  /* where they meet: an abstract name */
    char address[64]; /* of this machine; or "" */
    char library[16]; /* of an installed MPI; or "" */
    bool is_launched; /* by another launcher, which has a key-value space instead of a socket */
    int rank, size;
} mpi_others_t;

/* MPI_Init in a process that is no rank: are there others like it, of mpiexec or of another
 * launcher? Ends the process, with a message, when it is one of several and cannot meet them. */
bool mpi_is_one_of_several(mpi_others_t *others);

/* The data that the processes of a job share. */
typedef struct {
    const char *transport;
    const char **hosts; /* [size]; NULL: this machine */
    uint8_t secret[XY_SECRET_BYTES];
    bool is_local;
    double deadlock_after, polling_after;
} mpi_join_facts_t;

/* With another launcher: settings come from the environment, the rest from its key-value space. */
xy_status_t mpi_launcher_meet(mpi_others_t *others, mpi_join_facts_t *facts);
xy_status_t mpi_launcher_exchange(void *unused, const char *card, char **cards);
bool mpi_launcher_is_there(void);
/* ... ends all of its processes, if it can; */
void mpi_launcher_abort(int code);
/* ... is not needed any more. */
void mpi_launcher_leave(void);

/* Meet the others: their number, the processes of ranks, and the network between them are set in
 * `config`. Waits for all of them. */
xy_status_t mpi_join(mpi_others_t *others, mpi_job_config_t *config);
/* ... when the job is made, and before its rank runs: look for ranks that wait for each other. */
xy_status_t mpi_join_watch(mpi_job_t *job);
/* All ranks have finalized: the network is closed, and the process may end. Without effect in a
 * process that has not joined others. */
void mpi_join_leave(void);
/* The process is about to end, and the job is to end with this exit code: say so, and give mpiexec
 * a moment to end it. An installed MPI would end the others first, and nobody would know why. */
void mpi_join_fail(int code);
bool mpi_join_is_in(void);   /* it has joined others, */
bool mpi_join_is_over(void); /* and left them: there is no way back */

#endif
