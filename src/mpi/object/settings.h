/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of nonblocking collectives: those of the job come from the command line, and info keys
 * change them for one communicator.
 *
 *   xylem_progress           tasks, threads or none
 *   xylem_progress_place     where progress threads live: a place of sched/threads.h or auto, for
 *                            all collectives or COLLECTIVE=PLACE: "numa,scan=odd-even"
 *   xylem_progress_order     the same of sched/thread_order.h: "bcast=priority"
 *   xylem_progress_priority  0 to 20, for the order `priority`
 *   xylem_split              a number of levels, auto, adaptive or off
 *   xylem_algorithm          COLLECTIVE=ALGORITHM, several with commas:
 * "allreduce=ring,bcast=chain"
 *
 * All members must give the same values at the same point of their program, as for every hint: each
 * member decides by its own settings how a call is made.
 */
#ifndef XY_MPI_OBJECT_SETTINGS_H
#define XY_MPI_OBJECT_SETTINGS_H

#include "coll/coll.h"
#include "mpi.h"
#include "mpi/runtime/runtime.h"
#include "sched/sched.h"

/* How nonblocking collectives make progress: see coll/ and nbc/. */
typedef enum { XMPI_PROGRESS_TASKS, XMPI_PROGRESS_NONE, XMPI_PROGRESS_THREADS } mpi_progress_t;

/* Split-tree: a number of levels, or one of these. */
enum { XMPI_SPLIT_OFF = -1, XMPI_SPLIT_AUTO = -2, XMPI_SPLIT_ADAPTIVE = -3 };

typedef struct mpi_settings {
    mpi_progress_t progress;
    int split;
    int priority; /* of progress threads, with the order `priority` */
    /* Places and orders of progress threads; NULL: the best by the model. */
    const xy_threads_t *place[XY_COLL_COUNT];
    const xy_order_t *order[XY_COLL_COUNT];
    const xy_coll_algorithm_t *algorithm[XY_COLL_COUNT]; /* forced; NULL: the chooser's */
    const xy_coll_picks_t *picks;           /* for some calls that none is forced for; or NULL */
    const xy_coll_reconsider_t *reconsider; /* ... while the job runs; or NULL */
} mpi_settings_t;

struct mpi_info;

enum { XMPI_SETTINGS_WHY = 256 };

/* Read one of them from `text`. False: `why` describes the error and the valid values. */
bool mpi_settings_progress(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);
bool mpi_settings_place(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);
bool mpi_settings_order(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);
bool mpi_settings_split(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);
/* Let blocking collectives of the job look for named algorithms, if these settings name any. */
void mpi_settings_mark(const mpi_settings_t *s, mpi_job_t *job);
bool mpi_settings_algorithm(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);

/* Number of a place in xy_threads_all. */
int mpi_settings_place_index(const xy_threads_t *place);

/* The settings in force for a communicator. */
const mpi_settings_t *mpi_settings_of(const mpi_comm_t *comm);

/* The job's settings with the keys of `info` (NULL: none), which have just become `comm`'s. An MPI
 * error code, raised: a key has an expression without a value. */
int mpi_settings_apply(mpi_comm_t *comm, const struct mpi_info *info);
/* Write what is in force into an info object that the program asked for. XY_ENOMEM is silent. */
xy_status_t mpi_settings_tell(const mpi_comm_t *comm, struct mpi_info *info);

#endif
