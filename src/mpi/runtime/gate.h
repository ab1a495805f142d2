/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate of a worker: access to its data.
 *
 * Matching, requests and ready lists belong to one worker, so a large message that arrives while
 * all its ranks compute would wait until one of them calls MPI. With communication cores it does
 * not: the sender notifies such a core, which comes in through the gate while the worker is in the
 * program's code, matches what the rings hold, and leaves; it copies outside.
 *
 *   worker                         helper (one for each worker)
 *   close: is_inside := 1;         is_helping := 1; is_inside = 0? then match, is_helping := 0
 *          wait for !is_helping    else is_helping := 0; is_pending := 1;
 *   open:  is_inside := 0;              is_inside = 0? then try again
 *          is_pending? then close,
 *          match, open again
 *
 * All of these are sequentially consistent: of two that raise their flags at the same time at least
 * one sees the other. When the helper finds the worker inside, either the worker sees `is_pending`
 * when it opens, or the helper sees it gone.
 *
 * A worker is inside whenever it runs the library or changes fibers, so the gate is closed around
 * every MPI call and around the calls of the C library that let other ranks run; calls may nest
 * (`depth`). There is a gate only where it is needed: with communication cores and at least two
 * other workers, where a job has several processes, or where threads of ranks may call MPI
 * (thread.h). With threads a lock of the worker goes with it, which each has before it closes the
 * gate.
 *
 * Messages of other processes are handled at the gate as well. Without communication cores the
 * thread of the network (p2p/p2p_network.c) is the helper of all workers.
 */
#ifndef XY_MPI_RUNTIME_GATE_H
#define XY_MPI_RUNTIME_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mpi_gate {
    _Alignas(128) _Atomic uint32_t is_inside;
    _Atomic uint32_t is_helping; /* the helper is inside */
    _Atomic uint32_t is_pending; /* the helper came in vain: the worker has to match */
    bool is_shared;              /* threads of its ranks come in, too */
} mpi_gate_t;

struct mpi_worker;
struct mpi_rank;

/* mpi_go_inside and mpi_go_outside (rank.h) of ranks with a gate. */
void mpi_gate_go_inside(struct mpi_rank *self);
void mpi_gate_go_outside(struct mpi_rank *self);

void mpi_gate_await_helper(mpi_gate_t *gate);
void mpi_gate_match_pending(struct mpi_worker *worker);

static inline void mpi_gate_close(mpi_gate_t *gate)
{
    atomic_store(&gate->is_inside, 1);
    if (__builtin_expect(atomic_load(&gate->is_helping) != 0, 0))
        mpi_gate_await_helper(gate);
}

static inline void mpi_gate_open(mpi_gate_t *gate, struct mpi_worker *worker)
{
    atomic_store(&gate->is_inside, 0);
    if (__builtin_expect(atomic_load(&gate->is_pending) != 0, 0))
        mpi_gate_match_pending(worker);
}

/* On the helper of `worker`: fn(worker) at its gate, if it is not inside. */
void mpi_gate_try(struct mpi_worker *worker, void (*fn)(struct mpi_worker *worker));
/* The same on a communication core: match what waits in the rings of `worker`. */
void mpi_gate_try_match(struct mpi_worker *worker);

/* Something was left for `worker`. True: it is not inside, and its helper has to be called;
 * otherwise it will look before it leaves. */
static inline bool mpi_gate_needs_helper(mpi_gate_t *gate)
{
    atomic_store(&gate->is_pending, 1);
    return atomic_load(&gate->is_inside) == 0;
}

#endif
