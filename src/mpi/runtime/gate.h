/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate of a worker: who may touch what belongs to it.
 *
 * Matching, requests and ready lists belong to one worker, so a large message that arrives while
 * all its ranks compute would wait until one of them calls MPI. With communication cores it does
 * not: the sender notifies such a core, which comes in through the gate while the worker is in the
 * program's code, matches what the rings hold, and leaves; it copies outside.
 *
 *   worker                                    guest (one communication core for each worker)
 *   close: is_inside := 1; wait for guest = 0  guest := 1; is_inside = 0? then match; guest := 0
 *   open:  is_inside := 0; look? then close,   else guest := 0; look := 1;
 *          match, open again                        is_inside = 0? then try again
 *
 * All of these are sequentially consistent: of two that raise their flags at the same time at least
 * one sees the other. When the guest finds the worker inside, either the worker sees `look` when it
 * opens, or the guest sees it gone.
 *
 * A worker is inside whenever it runs the library or changes fibers, so the gate is closed around
 * every MPI call and around the calls of the C library that let other ranks run; calls may nest
 * (`depth`). There is a gate only where it is needed: with communication cores and at least two
 * other workers.
 */
#ifndef XY_MPI_RUNTIME_GATE_H
#define XY_MPI_RUNTIME_GATE_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct mpi_gate {
    _Alignas(128) _Atomic uint32_t is_inside;
    _Atomic uint32_t guest;
    _Atomic uint32_t look;
} mpi_gate_t;

struct mpi_worker;

void mpi_gate_await_guest(mpi_gate_t *gate);
void mpi_gate_look(struct mpi_worker *worker);

static inline void mpi_gate_close(mpi_gate_t *gate)
{
    atomic_store(&gate->is_inside, 1);
    if (__builtin_expect(atomic_load(&gate->guest) != 0, 0))
        mpi_gate_await_guest(gate);
}

static inline void mpi_gate_open(mpi_gate_t *gate, struct mpi_worker *worker)
{
    atomic_store(&gate->is_inside, 0);
    if (__builtin_expect(atomic_load(&gate->look) != 0, 0))
        mpi_gate_look(worker);
}

/* On a communication core: match what waits in the rings of `worker`, if it is not inside. */
void mpi_gate_visit(struct mpi_worker *worker);

#endif
