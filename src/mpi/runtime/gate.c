/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/gate.h"

#include "mpi/runtime/packet.h"
#include "mpi/runtime/rank.h"

void mpi_gate_await_helper(mpi_gate_t *gate)
{
    unsigned looks = 0;

    while (atomic_load(&gate->is_helping) != 0)
        xy_back_off(&looks);
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

void mpi_gate_try_match(mpi_worker_t *worker)
{
    mpi_gate_t *gate = &worker->gate;

    do {
        atomic_store(&gate->is_helping, 1);
        if (atomic_load(&gate->is_inside) == 0) {
            mpi_ring_drain_at_gate(worker);
            atomic_store(&gate->is_helping, 0);
            return;
        }
        atomic_store(&gate->is_helping, 0);
        atomic_store(&gate->is_pending, 1);
    } while (atomic_load(&gate->is_inside) == 0);
}
