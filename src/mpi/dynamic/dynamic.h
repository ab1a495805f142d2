/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic processes: ranks that are spawned while the job runs, and intercommunicators between
 * groups that share only a port, a name or a socket.
 *
 *   spawn.c     MPI_Comm_spawn and MPI_Comm_spawn_multiple; what a spawned rank does in MPI_Init
 *   spawn_job.c the same for ranks on other hosts, which are a job of their own
 *   port.c      ports, MPI_Comm_accept, MPI_Comm_connect
 *   welcome.c   connects that give up after a time
 *   place.c     their names
 *   name.c      names that ranks publish for ports
 *   name_file.c the same in files, for other jobs
 *   dynamic_join.c      MPI_Comm_join
 *   soft.c      the numbers of processes that the info key "soft" allows
 *
 * Every rank has a number in the job: spawned ranks get the next ones, or those of ranks that have
 * ended. Reports, traces and the tags of output name ranks by it. The launcher makes the ranks
 * (mpi_spawner_t); here they get their world, and their worker begins them.
 *
 * Ranks of another job are ranks of this one with other numbers (p2p/peer_link.h). All meetings are
 * the same: two leaders know each other's number in the job and an unused context. That makes a
 * communicator of two, the bridge, and over it the two groups make their intercommunicator as
 * MPI_Intercomm_create does.
 */
#ifndef XY_MPI_DYNAMIC_DYNAMIC_H
#define XY_MPI_DYNAMIC_DYNAMIC_H

#include <limits.h>

#include "mpi/comm/comm.h"
#include "mpi/dynamic/place.h"
#include "mpi/runtime/runtime.h"

extern const mpi_layer_t mpi_dynamic_layer;

/* A spawned job finds here the port of those that have spawned it. */
#define XMPI_PARENT "XYLEM_PARENT"
/* Options for the mpiexec of a spawned job on hosts, one word per line. */
#define XMPI_SPAWN_OPTIONS "XYLEM_SPAWN_OPTIONS"
/* The mpiexec that belongs to this library; false: there is none. */
bool mpi_find_mpiexec(char path[PATH_MAX]);

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

/* The result of the root of a call, for all members. */
enum { DYNAMIC_WHY = XMPI_SPAWN_WHY };
typedef struct {
    int code; /* an error class */
    uint32_t context;
    int other;   /* number of the other leader */
    int count;   /* of programs, in a spawn */
    bool is_job; /* the new ranks are a job of their own, which has connected to this one */
    char why[DYNAMIC_WHY];
} dynamic_found_t;

void dynamic_fail(dynamic_found_t *found, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The communicator and root of a collective call are good; *comm_p is set. */
int dynamic_check(MPI_Comm handle, int root, mpi_comm_t **comm_p);
/* The root tells the others what it has found, and all raise it when it is an error. */
int dynamic_tell(mpi_comm_t *comm, int root, dynamic_found_t *found);

/* Before reading and changing data of all ranks: in virtual time, take the time of asking for it,
 * after all that others have done before. */
void dynamic_ask(mpi_rank_t *self);

/* Are these ranks to be a job of their own? And start it: at the root, until it has connected. */
bool dynamic_needs_job(const mpi_spawn_part_t *parts, int count);
/* mpi_far_t.spawned_code */
int dynamic_spawned_code(void);
/* A job was spawned by a rank of another process. */
void dynamic_spawned_by_other(void);
void dynamic_spawn_job(mpi_comm_t *comm, const mpi_spawn_part_t *parts, int count,
                       dynamic_found_t *found);
/* Ranks of such a job meet those that have spawned them; in MPI_Init. */
int dynamic_parent_meet(mpi_rank_t *self);
#define DYNAMIC_PARENT_NAME "MPI_COMM_PARENT"

/* A process number that `text` allows, the largest of at most `most`: a list of numbers and ranges
 * "from:to" or "from:to:step", between commas. -1: it allows none; -2: it is not such a list. */
int dynamic_soft(const char *text, int most);

/* A rank of this job and a context at it, which other jobs find if this one can be connected. */
dynamic_place_t dynamic_place(int rank, uint32_t context);
/* Is it a place of this job, at a rank that there may be? */
bool dynamic_place_is_own(const dynamic_place_t *place);

/* Publish `service` in the directory that XYLEM_NAMES names. False: there is none (`why` is ""), or
 * it cannot be done (a line). */
enum { DYNAMIC_NAME_WHY = 400 };
bool dynamic_name_file_write(const char *service, const char *port, char why[DYNAMIC_NAME_WHY]);
bool dynamic_name_file_read(const char *service, char port[MPI_MAX_PORT_NAME]);
void dynamic_name_file_remove(const char *service, const char *port);
/* Answer the question of another process for a name (mpi_far_t). */
size_t dynamic_name_answer(const char *question, size_t size, char *answer);
/* Remove the names that ranks have forgotten to unpublish; the job has ended. */
void dynamic_names_end(void);

/* How long a connect waits, by the info key "timeout" or XYLEM_CONNECT_TIMEOUT; negative: until it
 * is accepted. False: it is no time. */
bool dynamic_limit(MPI_Info info, double *seconds_p, dynamic_found_t *found);
/* `comm`'s rank has knocked at the port of found->other; that nobody has accepted in time is an
 * error in `found`. */
void dynamic_welcome_await(const mpi_comm_t *comm, double seconds, const char *name,
                           dynamic_found_t *found);
/* found->other has knocked: is it still there? */
bool dynamic_welcome_give(const mpi_comm_t *comm, const dynamic_found_t *found);

/* At the root: wait at its own port until a rank of another job knocks, as long as `goes_on` does;
 * otherwise that notes why. Expects another job (mpi_link_expect) from then on. */
void dynamic_port_await(mpi_comm_t *comm, const char *name,
                        bool (*goes_on)(void *arg, dynamic_found_t *found), void *arg,
                        dynamic_found_t *found);
/* Connect to a port, as MPI_Comm_connect does. */
int dynamic_port_connect(mpi_comm_t *comm, const char *name, mpi_comm_t **made_p);
/* Answer another job that asks whether a port is open (mpi_far_t). */
uint64_t dynamic_port_answer(uint64_t question);
/* Close the ports that the rank has opened. */
void dynamic_ports_close(const mpi_rank_t *rank);
#endif
