/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left when a rank ends: messages that it never received, and requests that it never
 * completed. The program may have got away with it, so these are warnings, and few.
 */
#include <stdio.h>

#include "mpi/check/check.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum { LINES_MOST = 8 }; /* of all ranks */

/* May another line be printed? The last one says that it is the last. */
static bool may_warn(const char **end_p)
{
    static _Atomic int lines;
    int before = atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed);

    *end_p = before == LINES_MOST - 1 ? "; more of this kind is not shown" : "";
    return before < LINES_MOST;
}

/* Messages of the library itself are none of the program's. */
static bool is_own(const xy_match_entry_t *entry)
{
    return (entry->envelope.context & (XMPI_CONTEXT_SHADOW | XMPI_CONTEXT_NEIGHBORS)) == 0;
}

static void warn_message(const mpi_rank_t *self, const mpi_message_t *first, int count)
{
    const xy_envelope_t *e = &first->entry.envelope;
    char site[160], from[64];
    const char *end;

    if (!may_warn(&end))
        return;
    mpi_caller_describe(first->site, site, sizeof(site));
    if (e->context == self->comm_world->context)
        snprintf(from, sizeof(from), "from rank %d", e->source);
    else
        snprintf(from, sizeof(from), "from rank %d of its communicator", e->source);
    xy_warn("rank %d: %d message%s never received%s %s, tag %d, %llu bytes%s%s%s", self->world,
            count, count > 1 ? "s" : "", count > 1 ? "; the first:" : ":", from, e->tag,
            (unsigned long long)first->bytes, site[0] != '\0' ? ", sent " : "", site, end);
}

static void look_for_messages(mpi_rank_t *self)
{
    const mpi_message_t *first = NULL;
    int count = 0;

    for (const xy_match_entry_t *e = self->match.first; e != NULL; e = e->list_next)
        if (is_own(e)) {
            first = first == NULL ? (const mpi_message_t *)e : first;
            count++;
        }
    if (count > 0)
        warn_message(self, first, count);
}

static bool is_left(const mpi_request_t *request)
{
    /* Messages that a collective or a window has sent have `extra`: they are part of another. */
    bool is_part = request->extra != NULL && request->kind <= XMPI_KIND_RECV;

    return request->is_active && !request->is_freed && !is_part && request->call.name != NULL;
}

/* Those of one rank; false: no more lines may be printed. */
static bool warn_requests(const mpi_worker_t *worker, const mpi_rank_t *rank)
{
    const mpi_request_t *first = NULL;
    char site[160];
    const char *end;
    int count = 0;

    for (const mpi_request_t *r = worker->all_requests; r != NULL; r = r->next_made)
        if (is_left(r) && r->owner == rank) {
            first = r; /* the one whose memory was made first is the last of the list */
            count++;
        }
    if (count == 0)
        return true;
    if (!may_warn(&end))
        return false;
    mpi_caller_describe(first->call.caller, site, sizeof(site));
    xy_warn("rank %d: %d request%s never completed%s %s%s%s%s; complete it with MPI_Wait or "
            "MPI_Test before MPI_Finalize%s",
            rank->world, count, count > 1 ? "s" : "", count > 1 ? "; one of them:" : ": that of",
            first->call.name, site[0] != '\0' ? " (" : "", site, site[0] != '\0' ? ")" : "", end);
    return true;
}

/* All ranks are in MPI_Finalize: the first to come here looks for all of its worker. */
static void look_for_requests(mpi_worker_t *worker)
{
    bool has_some = false;

    if (worker->has_looked_back)
        return;
    worker->has_looked_back = true;
    for (const mpi_request_t *r = worker->all_requests; r != NULL && !has_some; r = r->next_made)
        has_some = is_left(r);
    for (int r = 0; has_some && r < mpi_job->size; r++)
        if (mpi_job->home[r] == worker->index)
            has_some = warn_requests(worker, &mpi_job->ranks[r]);
}

void mpi_rank_look_back(mpi_rank_t *self)
{
    if (mpi_p2p_engine != NULL)
        return;                   /* virtual time: its messages are elsewhere */
    mpi_poll(self->worker->base); /* what was sent before the others came here has arrived */
    if (self->match.first != NULL)
        look_for_messages(self);
    look_for_requests(self->worker);
}
