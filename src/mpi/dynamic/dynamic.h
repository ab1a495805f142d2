/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic processes: ranks that are spawned while the job runs, and intercommunicators between
 * groups that have nothing in common but a port, a name or a socket.
 *
 *   spawn.c     MPI_Comm_spawn and MPI_Comm_spawn_multiple; what a spawned rank does in MPI_Init
 *   port.c      ports, MPI_Comm_accept, MPI_Comm_connect
 *   name.c      names of ports
 *   join.c      MPI_Comm_join
 *   soft.c      the numbers of processes that the info key "soft" allows
 *
 * Every rank has a number in the job, which grows with it: spawned ranks get the next ones, or
 * those of others that are over. Reports, traces and the tags of output name ranks by it. The
 * launcher makes the ranks (mpi_spawner_t); here they get their world, and their worker begins
 * them.
 *
 * All meetings are the same: two leaders know each other's number in the job and a context that
 * nobody else uses. That makes a communicator of two, the bridge, and over it the two groups make
 * their intercommunicator as MPI_Intercomm_create does.
 */
#ifndef XY_MPI_DYNAMIC_DYNAMIC_H
#define XY_MPI_DYNAMIC_DYNAMIC_H

#include "mpi/comm/comm.h"
#include "mpi/runtime/runtime.h"

extern const mpi_layer_t mpi_dynamic_layer;

/* A rank that was spawned meets those that have spawned it; in MPI_Init. */
int mpi_origin_meet(mpi_rank_t *self);

/* ---- Between the files of this part ---- */

/* Two leaders: a communicator that exists for one meeting. */
typedef struct {
    mpi_comm_t comm;
    mpi_group_t group;
    int ranks[2];
} dynamic_bridge_t;

/* `self` is one of the two; `like` has the error handler. */
void dynamic_bridge(dynamic_bridge_t *bridge, const mpi_comm_t *like, uint32_t context, int first,
                    int second);

/* What the root of a call has found, for all members. */
enum { DYNAMIC_WHY = XMPI_SPAWN_WHY };
typedef struct {
    int code; /* an error class */
    uint32_t context;
    int other; /* number of the other leader */
    int count; /* of programs, in a spawn */
    char why[DYNAMIC_WHY];
} dynamic_found_t;

void dynamic_fail(dynamic_found_t *found, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The communicator and root of a collective call are good; *comm_p is set. */
int dynamic_check(MPI_Comm handle, int root, mpi_comm_t **comm_p);
/* The root tells the others what it has found, and all raise it when it is an error. */
int dynamic_tell(mpi_comm_t *comm, int root, dynamic_found_t *found);

/* A process number that `text` allows, the largest of at most `most`: a list of numbers and ranges
 * "from:to" or "from:to:step", between commas. -1: it allows none; -2: it is not such a list. */
int dynamic_soft(const char *text, int most);

/* A rank of this job and a context at it, as text that begins with `prefix`. */
void dynamic_place_write(char *text, size_t room, const char *prefix, int rank, uint32_t context);
/* False: it is no such text, or of another job. */
bool dynamic_place_read(const char *text, const char *prefix, int *rank_p, uint32_t *context_p);

/* Those that the rank has opened. */
void dynamic_ports_close(const mpi_rank_t *rank);
#endif
