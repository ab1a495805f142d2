/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cores of the ranks: idle ones, and orders from one to another.
 *
 * The data of a rank is touched by its worker only. A worker that finds that a rank of another one
 * may continue leaves an order there:
 *
 *   check_cores_order(home, (check_order_t){CHECK_ORDER_MATCH, rank});
 *   ...
 *   while (check_cores_take(worker, &order))         (there)
 *       ...
 */
#ifndef XY_MPI_CHECK_CORES_H
#define XY_MPI_CHECK_CORES_H

#include "mpi/runtime/runtime.h"

typedef enum {
    CHECK_ORDER_NONE,
    CHECK_ORDER_MATCH,     /* give a late receive of the rank its message */
    CHECK_ORDER_MATCH_ANY, /* the same of any rank, there or on a later worker */
    CHECK_ORDER_RELEASE    /* let the first send to the rank go that waits because of --check */
} check_order_kind_t;

typedef struct {
    check_order_kind_t kind;
    int rank;
} check_order_t;

xy_status_t check_cores_begin(void);
/* Workers that run ranks: 0 to one less. */
int check_cores_count(void);
/* Do ranks run at the same time, on several workers or in several processes? */
bool check_is_parallel(void);
/* May threads of the rank call MPI? Then what is parked may move all the same. */
bool check_has_threads(const mpi_rank_t *rank);

/* On its worker: a rank sends or receives. */
void check_cores_act(const mpi_worker_t *worker);
/* On its worker: a rank has looked for a message in vain. True: all ranks only look, or are parked,
 * and nothing has been sent since each has looked at least once. */
bool check_cores_look(const mpi_worker_t *worker);
/* On its worker: `more` or, negative, fewer receives wait there. And on how many. Any thread. */
void check_cores_late(const mpi_worker_t *worker, int more);
int check_cores_has_late(int worker);

/* Any thread. False: another order is there. */
bool check_cores_order(int worker, check_order_t order);
/* On the worker. False: there is none. */
bool check_cores_take(const mpi_worker_t *worker, check_order_t *order);

#endif
