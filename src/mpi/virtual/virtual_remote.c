/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations in virtual time. An operation changes memory when its call is made, in the
 * order of the clock; it costs what a message of its size costs (sim/job.h: xy_vjob_remote), and it
 * is complete that much later: a flush, a fence or the end of an epoch waits until then.
 */
#include "mpi/p2p/p2p.h"
#include "mpi/virtual/private.h"

void mpi_virtual_sync(mpi_rank_t *self)
{
    virtual_enter(self);
    if (!xy_vjob_sync(virtual.job, virtual_number(self)))
        virtual_give_way(self);
    virtual_leave(self);
}

double mpi_virtual_access(mpi_rank_t *self, const mpi_virtual_access_t *access)
{
    xy_vjob_remote_t remote = {.peer = access->target,
                               .bytes = access->there,
                               .is_answered = access->is_answered,
                               .answer_bytes = access->back,
                               .is_hidden = access->is_hidden};
    double end;

    virtual_enter(self);
    if (!xy_vjob_remote(virtual.job, virtual_number(self), &remote, &end))
        virtual_fail();
    virtual_leave(self);
    return end;
}

static xy_vreq_t *until(const mpi_rank_t *self, double time)
{
    xy_vreq_t *request = xy_vjob_until(virtual.job, virtual_number(self), time);

    if (request == NULL)
        virtual_fail();
    return request;
}

void mpi_virtual_until(mpi_rank_t *self, double time)
{
    xy_vreq_t *request;

    virtual_enter(self);
    request = until(self, time);
    if (!xy_vjob_wait(virtual.job, virtual_number(self), &request, 1, XY_VJOB_ALL))
        virtual_give_way(self);
    xy_vjob_release(virtual.job, request);
    virtual_leave(self);
}

void mpi_virtual_request(mpi_rank_t *self, mpi_request_t *request, double time)
{
    request->engine = until(self, time);
}
