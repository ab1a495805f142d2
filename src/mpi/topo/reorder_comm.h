/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering: a new communicator whose ranks are numbered so that partners are near each other.
 *
 * A rank never leaves its core, so only the numbers move: a pattern gives the bytes that rank i of
 * the new communicator will send to rank j, the placement (place/strategy.h) finds a core for each
 * of these numbers, with as many on a core as it has members, and a member of that core gets the
 * number. Numbers stay as they are when no other order is better.
 *
 *   code = mpi_comm_reorder(comm, points, &(mpi_pattern_t){grid_pattern, NULL, &grid}, NULL,
 * &made);
 *
 * Over several processes, numbers are dealt to processes first, and then each process orders its
 * own by the tree of its cores: the levels of one tree, from the top.
 *
 * The machine is the tree of the workers' cores, read from /sys when the first communicator is
 * reordered; or the one given to the launcher (--machine), where world rank r sits at
 * leaf r, and again from the first when there are more ranks.
 */
#ifndef XY_MPI_TOPO_REORDER_COMM_H
#define XY_MPI_TOPO_REORDER_COMM_H

#include "mpi/object/object.h"
#include "mpi/topo/topology.h"
#include "place/place.h"

/* Append what ranks of the new communicator send to each other (xy_matrix_entry_t); args[i] is what
 * member i gave. Runs once, on the stack of one member, while all are there. Silent ENOMEM. */
typedef xy_status_t (*mpi_pattern_fn)(void *const *args, int size, xy_vec_t *entries);

/* The future messages of the ranks of a new communicator. `own` appends what the caller, member
 * `rank`, knows alone, where members of several processes have to tell each other; NULL: all
 * members give the same, and `all` looks at args[0] only. */
typedef struct {
    mpi_pattern_fn all;
    xy_status_t (*own)(const void *arg, int rank, xy_vec_t *entries);
    const void *arg;
} mpi_pattern_t;

/* The first `points` ranks of a communicator over members of `comm`; *comm_p is NULL for members
 * that are left over. `topology`: NULL, or in: that of the node with the caller's old rank, out:
 * that of its new rank; it is owned by the caller before and after. Collective; parks. */
int mpi_comm_reorder(mpi_comm_t *comm, int points, const mpi_pattern_t *pattern,
                     mpi_topology_t **topology, mpi_comm_t **comm_p);
/* The same where members are in several processes. */
int mpi_comm_reorder_spread(mpi_comm_t *comm, int points, const mpi_pattern_t *pattern,
                            mpi_topology_t **topology, mpi_comm_t **comm_p);

/* The number that the caller would get from mpi_comm_reorder with a pattern that looks at args[0]
 * alone; MPI_UNDEFINED: none. Local; does not park. */
int mpi_reorder_map(mpi_comm_t *comm, int points, mpi_pattern_fn pattern, const void *arg,
                    int *rank_p);

/* The leader's part: member[i] becomes the rank in `group` of the one that gets number i. The
 * entries are sorted in place. */
void mpi_reorder(const mpi_group_t *group, int points, xy_vec_t *entries, int *member);

/* Is it the text of a machine to imagine? EUSAGE and others are reported. */
xy_status_t mpi_reorder_check(const char *text);
/* Imagine this machine, whatever the text is; it outlives the job. Before ranks run. */
xy_status_t mpi_reorder_imagine(const xy_machine_t *m);
/* Forget the tree of the machine; with the job. */
void mpi_reorder_cleanup(void);
/* Forget the order that mpi_reorder_map keeps; part of the clean-up. */
void mpi_reorder_forget(void);

#endif
