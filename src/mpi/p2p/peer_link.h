/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links to other jobs: they make a rank of another job look like one of another process of this
 * job.
 *
 *   mpi_link_open();                                       (this process listens from now on)
 *   process = mpi_link_connect(id, 0, card, secret, why);  (process 0 there has to listen)
 *   rank = mpi_link_rank(process, 5);                      (rank 5 of the other job, as known here)
 *
 * Processes. Each process of a job connects to those of the other that have ranks it shares a
 * communicator with, over a hub of its own (net/net.h). Such a process has a number here, from
 * mpi_job_t.processes on, and another one in its own job.
 *
 * Numbers. A rank of another job has a number in this process, from mpi_job_t.capacity on, and
 * another one in its own job. Messages between jobs carry the numbers of the receiving job in `to`
 * and of the sending job in `owner`; they are exchanged here, so that nothing above knows of it. In
 * data for other processes ranks are *names*: the job, and the number there.
 *
 * Contexts. All communicators with ranks of one other job have contexts of a block that belongs to
 * the *link*, and lies elsewhere in each of the two jobs: on the way they are counted from the
 * beginning of the first block (*wire*). Each process takes new ones from a part of its own. A link
 * has the same number in all processes of a job: process 0 gives them out.
 *
 * A link stays until one of the jobs ends. While a communicator uses it (mpi_link_hold), the future
 * of the other job is unknown: no deadlock is reported.
 */
#ifndef XY_MPI_P2P_PEER_LINK_H
#define XY_MPI_P2P_PEER_LINK_H

#include "mpi/p2p/remote.h"
#include "net/net.h"

/* A rank, for all jobs. */
typedef struct {
    uint64_t job;
    int32_t rank;
    int32_t process; /* where it is */
} mpi_rank_name_t;

/* Listen for other jobs; safe to repeat. XY_EUNSUPPORTED (silent): this one cannot be connected. */
xy_status_t mpi_link_open(void);
/* Where this process listens, and the secret as text. NULL: it does not. Lives as long as the job.
 */
const char *mpi_link_card(void);
const char *mpi_link_secret(void);
/* Process `there` of the job `id`, as it is known here; connected to if it is not, yet. -1, with
 * half a line of why. Parks. */
int mpi_link_connect(uint64_t id, int there, const char *card, const char *secret,
                     char why[XY_WHY_SIZE]);
/* The same if that one connects to this. Parks. */
int mpi_link_await(uint64_t id, int there, char why[XY_WHY_SIZE]);
/* The same if it has; otherwise -1. */
int mpi_link_find(uint64_t id, int there);
/* The link that a process of another job belongs to. */
int mpi_link_to(int process);
/* Is this the second of the two jobs of a link? The other one says that it is not. */
bool mpi_link_is_high(int link);

/* The rank of the job of `process` that has that number there, and is there; -1: too many are
 * known. */
int mpi_link_rank(int process, int number);
mpi_rank_name_t mpi_rank_name(int rank);
/* The rank with that name; -1: it is of a process that this one is not connected to. */
int mpi_rank_named(const mpi_rank_name_t *name);

/* The link of a communicator of these ranks: 0: all are of this job; -1: of several other ones. */
int mpi_link_of(const mpi_group_t *group);
/* New contexts for communicators that use `link` (0: none), in the form for other members, and the
 * local context of such a one. */
uint32_t mpi_link_context_new(int link, int count);
uint32_t mpi_link_context(int link, uint32_t wire);
/* The link whose context it is; 0: none. */
int mpi_link_of_context(uint32_t context);
/* A communicator has a context of the link; `is_used`: it has ranks of the other job, too. */
void mpi_link_hold(int link, bool is_used);
void mpi_link_release(int link, bool is_used);
/* A rank waits for another job to come (1), or no longer (-1). */
void mpi_link_expect(int change);

/* ---- For the network ---- */

/* Its number in the other job; on the way out, and in. False: it is no message for a rank
 * here. */
void mpi_link_head_out(int process, remote_head_t *head);
bool mpi_link_head_in(int process, remote_head_t *head);
/* The first message of a process of another job. */
void mpi_link_hello(int process, const void *data, size_t size);
/* About the number of a link, from another process of this job. */
void mpi_link_message(int from, const void *data, size_t size);
/* A process of another job is gone; `why` NULL: in order. */
void mpi_link_lost(int process, const char *why);
/* The job has ended. */
void mpi_link_end(void);

#endif
