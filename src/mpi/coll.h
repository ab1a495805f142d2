/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, the short path: all members live in this process and see each other's memory.
 *
 * Every member deposits a descriptor of its call; the last member of a worker to arrive moves the
 * worker's part on; workers exchange cells. Nothing blocks: a blocking collective is a started one
 * that is waited for.
 */
#ifndef XY_MPI_COLL_H
#define XY_MPI_COLL_H

#include <stdint.h>

#include "mpi/comm.h"
#include "mpi/request.h"
#include "mpi/ring.h"

/* The shared part of a communicator over `group`. Called once per communicator, by one member,
 * before any other uses it. */
xy_status_t mpi_coll_create(mpi_group_t *group, uint32_t context, mpi_coll_t **coll_p);
void mpi_coll_hold(mpi_coll_t *coll);    /* one per member; any thread */
void mpi_coll_release(mpi_coll_t *coll); /* the last release frees */

/* For the making of communicators: gather `bytes` from every member, let one member compute on all
 * of it, and give everybody what it made.
 *
 * All members call it with the same `bytes` and `leader`. When all have arrived, leader(arg of
 * one member, inputs, size, outputs) runs once: inputs[i] is member i's `input`, outputs[i] member
 * i's `output` (memory the leader may write). Then all return. Parks. */
typedef void (*mpi_leader_fn)(void *const *inputs, int size, void *const *outputs);
int mpi_coll_agree(mpi_comm_t *comm, const void *input, void *output, mpi_leader_fn leader);

/* Handler of MPI_CELL_COLL. */
void mpi_coll_cell(mpi_worker_t *worker, int from, mpi_cell_t *cell);

#endif
