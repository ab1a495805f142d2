/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/gate.h"

#include "mpi/runtime/packet.h"
#include "mpi/runtime/rank.h"
#include "mpi/runtime/thread.h"

void mpi_gate_await_helper(mpi_gate_t *gate)
{
    unsigned looks = 0;

    while (atomic_load(&gate->is_helping) != 0)
        xy_back_off(&looks);
}

void mpi_gate_go_inside(mpi_rank_t *self)
{
    mpi_thread_t *thread = mpi_thread_here;

    if (thread != NULL) {
        if (thread->depth++ == 0)
            xy_visitor_come_in(thread->fiber);
        return;
    }
    if (self->depth++ > 0)
        return;
    if (self->gate->is_shared)
        xy_worker_come_in(self->worker->base);
    mpi_gate_close(self->gate);
}

/* The depth falls to 0 last: what handlers of messages call nests, and does not open the gate. */
void mpi_gate_go_outside(mpi_rank_t *self)
{
    mpi_thread_t *thread = mpi_thread_here;
    mpi_gate_t *gate = self->gate;

    if (thread != NULL) {
        if (thread->depth == 1)
            xy_visitor_go_out(thread->fiber);
        thread->depth--;
        return;
    }
    if (self->depth > 1) {
        self->depth--;
        return;
    }
    if (gate->is_shared)
        xy_worker_go_out(self->worker->base);
    mpi_gate_open(gate, self->worker);
    self->depth = 0;
    if (gate->is_shared)
        xy_worker_unlock(self->worker->base);
}

void mpi_gate_match_pending(mpi_worker_t *worker)
{
    mpi_gate_t *gate = &worker->gate;

    do {
        mpi_gate_close(gate);
        atomic_store(&gate->is_pending, 0);
        mpi_ring_drain_at_gate(worker);
        atomic_store(&gate->is_inside, 0);
    } while (atomic_load(&gate->is_pending) != 0);
}

/* Both threads of the network help: one at a time. */
static void begin_to_help(mpi_gate_t *gate)
{
    unsigned looks = 0;

    while (atomic_exchange(&gate->is_helping, 1) != 0)
        xy_back_off(&looks);
}

void mpi_gate_try(mpi_worker_t *worker, void (*fn)(mpi_worker_t *worker))
{
    mpi_gate_t *gate = &worker->gate;

    do {
        begin_to_help(gate);
        if (atomic_load(&gate->is_inside) == 0) {
            fn(worker);
            atomic_store(&gate->is_helping, 0);
            return;
        }
        atomic_store(&gate->is_helping, 0);
        atomic_store(&gate->is_pending, 1);
    } while (atomic_load(&gate->is_inside) == 0);
}

void mpi_gate_try_match(mpi_worker_t *worker)
{
    mpi_gate_try(worker, mpi_ring_drain_at_gate);
}
