/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connect that does not wait for ever. Who connects with a time limit knocks, and waits for the
 * welcome of who accepts, which it answers: it is here. When its time has passed it answers at
 * once, without a welcome: it is gone. Who accepts welcomes each such guest and takes the one
 * answer that it gets; from one that is gone it turns to the next. So both always know the same.
 *
 *   connects   knock  ............... welcome | here        knock ... (time) gone |
 *   accepts           accept welcome .......... here | meet                         accept welcome
 * gone
 */
#include <stdlib.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"

enum { WELCOME = 1, ANSWER = 2 }; /* tags on the bridge: meetings have 0 */

#define FIRST_PAUSE   20e-6
#define LONGEST_PAUSE 5e-3

bool dynamic_limit(MPI_Info info, double *seconds_p, dynamic_found_t *found)
{
    const char *text = info == MPI_INFO_NULL ? NULL : mpi_info_value(mpi_info_of(info), "timeout");
    const char *from = text ? "the info key \"timeout\"" : "XYLEM_CONNECT_TIMEOUT";

    *seconds_p = -1;
    if (!text)
        text = getenv("XYLEM_CONNECT_TIMEOUT");
    if (!text || text[0] == '\0')
        return true;
    if (xy_parse_seconds(text, seconds_p) && *seconds_p >= 0)
        return true;
    dynamic_fail(found, MPI_ERR_INFO_VALUE,
                 "%s is '%.60s'; it is how many seconds a connect waits, as in '20'", from, text);
    return false;
}

static double now(mpi_rank_t *self)
{
    return mpi_job->clock ? mpi_job->clock->now(self) : xy_clock_seconds(CLOCK_MONOTONIC);
}

static void give_way(mpi_rank_t *self, double seconds)
{
    if (mpi_job->clock)
        mpi_job->clock->sleep(self, seconds, true);
    else
        xy_fiber_sleep(seconds);
}

/* Until the request is complete, or the time. */
static void await(mpi_rank_t *self, const mpi_request_t *request, double seconds)
{
    double end = now(self) + seconds, pause = FIRST_PAUSE;

    while (!request->is_done) {
        double left = end - now(self);

        if (left <= 0)
            return;
        give_way(self, pause < left ? pause : left);
        pause = pause < LONGEST_PAUSE ? 2 * pause : pause;
    }
}

/* The bridge, with the messages of its welcome: those that nobody takes are no mistake. */
static MPI_Comm welcome_comm(dynamic_bridge_t *bridge, const mpi_comm_t *comm,
                             const dynamic_found_t *found, bool connects)
{
    int own = comm->owner->world;

    dynamic_bridge(bridge, comm, found->context | XMPI_CONTEXT_SHADOW,
                   connects ? own : found->other, connects ? found->other : own);
    return (MPI_Comm)(void *)&bridge->comm;
}

void dynamic_welcome_await(const mpi_comm_t *comm, double seconds, const char *name,
                           dynamic_found_t *found)
{
    mpi_rank_t *self = comm->owner;
    const mpi_call_t call = self->call;
    dynamic_bridge_t bridge;
    MPI_Comm port = welcome_comm(&bridge, comm, found, true);
    MPI_Request request;
    MPI_Status status;
    int word = 0, is_gone = 0;

    found->code = impl_irecv(self, &word, 1, MPI_INT, 1, WELCOME, port, &request);
    if (found->code != MPI_SUCCESS)
        return;
    await(self, mpi_request_of(request), seconds);
    if (!mpi_request_of(request)->is_done)
        impl_cancel(self, &request);
    impl_wait(self, &request, &status);
    impl_test_cancelled(&status, &is_gone);
    word = !is_gone;
    impl_send(self, &word, 1, MPI_INT, 1, ANSWER, port);
    self->call = call;
    if (is_gone)
        dynamic_fail(found, MPI_ERR_PORT, "nobody accepted at the port '%.60s' within %g s", name,
                     seconds);
}

bool dynamic_welcome_give(const mpi_comm_t *comm, const dynamic_found_t *found)
{
    mpi_rank_t *self = comm->owner;
    const mpi_call_t call = self->call;
    dynamic_bridge_t bridge;
    MPI_Comm port = welcome_comm(&bridge, comm, found, false);
    int word = 1;

    impl_send(self, &word, 1, MPI_INT, 0, WELCOME, port);
    impl_recv(self, &word, 1, MPI_INT, 0, ANSWER, port, MPI_STATUS_IGNORE);
    self->call = call;
    return word != 0;
}
