/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: one member computes for all, as the making of a communicator does. */
#include "mpi/coll/coll.h"

static void lead(coll_local_t *local, coll_slot_t *slot, int64_t piece)
{
    int n = local->coll->size;
    void **pointers;

    (void)piece;
    if (local->index != 0)
        return;
    pointers = coll_scratch(2 * (size_t)n * sizeof(*pointers));
    for (int r = 0; r < n; r++) {
        coll_call_t *call = coll_call_of(local, slot, r);

        pointers[r] = (void *)(uintptr_t)call->send;
        pointers[n + r] = call->receive;
    }
    slot->calls[0]->leader(pointers, n, pointers + n);
}

const coll_ops_t coll_agree = {.name = "the making of a communicator",
                               .collective = XY_COLL_COUNT,
                               .piece = lead,
                               .needs_exit_barrier = coll_exit_always};

int mpi_coll_agree(mpi_comm_t *comm, const void *input, void *output, mpi_leader_fn leader)
{
    coll_call_t call = {.kind = &coll_agree,
                        .comm = comm,
                        .send = input,
                        .receive = output,
                        .leader = leader,
                        .agreed = coll_agree_name(mpi_self)};

    mpi_self->call.comm = comm;
    mpi_self->call.peer = MPI_UNDEFINED;
    coll_run(mpi_self, &call);
    return MPI_SUCCESS;
}
