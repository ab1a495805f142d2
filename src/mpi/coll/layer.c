/* SPDX-License-Identifier: BSD-3-Clause */
/* What direct collectives add to the runtime. */
#include "mpi/coll/coll.h"

static void on_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    (void)requests;
    (void)count;
    if (self->deferred != NULL)
        coll_flush_deferred(self);
}

static void comm_end(mpi_comm_t *comm)
{
    if (comm->coll != NULL)
        mpi_coll_release(comm->coll);
}

const mpi_layer_t mpi_coll_layer = {
    .packet = {[XMPI_PACKET_COLL] = mpi_coll_packet}, .wait = on_wait, .comm_end = comm_end};
