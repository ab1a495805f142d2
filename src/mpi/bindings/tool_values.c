/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The performance variables of a rank, and their values: what it has sent, as --monitor counts it,
 * how many messages and receives wait for each other, how long cores work on progress, and how much
 * memory the library has for the rank. Nothing is counted or timed before a handle asks for it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/bindings/tool.h"
#include "mpi/p2p/p2p.h"

/* ---- What was sent ---- */

static mpi_sent_t sent(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    mpi_sent_t total;

    if (comm)
        mpi_monitor_total_on(self, comm->context, &total);
    else
        mpi_monitor_total(self, &total);
    return total;
}

static uint64_t messages_sent(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    return sent(self, comm).messages[0];
}

static uint64_t bytes_sent(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    return sent(self, comm).bytes[0];
}

static uint64_t collective_messages(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    return sent(self, comm).messages[1];
}

static uint64_t collective_bytes(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    return sent(self, comm).bytes[1];
}

static mpi_sent_t sent_to(const mpi_rank_t *self, const mpi_comm_t *comm, int peer)
{
    mpi_sent_t total;

    mpi_monitor_total_to(self, comm->context, mpi_comm_world_rank(comm, peer), &total);
    return total;
}

static uint64_t messages_sent_to(const mpi_rank_t *self, const mpi_comm_t *comm, int peer)
{
    return sent_to(self, comm, peer).messages[0];
}

static uint64_t bytes_sent_to(const mpi_rank_t *self, const mpi_comm_t *comm, int peer)
{
    return sent_to(self, comm, peer).bytes[0];
}

/* ---- What waits ---- */

static const mpi_message_t *message_of(const xy_match_entry_t *entry)
{
    return (const mpi_message_t *)entry;
}

static uint64_t unexpected_messages(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    uint64_t count = 0;

    if (!comm)
        return self->match.unexpected.count;
    for (const xy_match_entry_t *e = self->match.first; e; e = e->list_next)
        count += e->envelope.context == comm->context;
    return count;
}

static uint64_t posted_receives(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    uint64_t count = 0;

    if (!comm)
        return self->match.posted.count;
    for (uint32_t i = 0; i <= self->match.posted.mask; i++)
        for (const xy_match_entry_t *e = self->match.posted.buckets[i].head; e; e = e->next)
            count += e->envelope.context == comm->context;
    return count;
}

/* The bytes of messages that have come whole: the bytes of large ones stay with their senders. */
static uint64_t unexpected_bytes(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    uint64_t bytes = 0;

    for (const xy_match_entry_t *e = self->match.first; e; e = e->list_next)
        if (!message_of(e)->sender && (!comm || e->envelope.context == comm->context))
            bytes += message_of(e)->bytes;
    return bytes;
}

static uint64_t pending_requests(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    uint64_t count = 0;

    (void)comm;
    for (const mpi_request_t *r = self->worker->all_requests; r; r = r->next_made)
        count += r->owner == self && r->is_active && !r->is_done;
    return count;
}

/* ---- Progress, in nanoseconds ---- */

static uint64_t progress_time(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    (void)comm;
    return atomic_load_explicit(&self->worker->progress_ns, memory_order_relaxed);
}

static uint64_t comm_core_time(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    uint64_t sum = 0;

    (void)self, (void)comm;
    for (int w = mpi_job->workers - mpi_job->comm_workers; w < mpi_job->workers; w++)
        sum += atomic_load_explicit(&mpi_job->worker[w].progress_ns, memory_order_relaxed);
    return sum;
}

static void time_own_core(const mpi_rank_t *self, bool on)
{
    (on ? mpi_progress_time_start : mpi_progress_time_stop)(self->worker);
}

static void time_comm_cores(const mpi_rank_t *self, bool on)
{
    (void)self;
    for (int w = mpi_job->workers - mpi_job->comm_workers; w < mpi_job->workers; w++)
        (on ? mpi_progress_time_start : mpi_progress_time_stop)(&mpi_job->worker[w]);
}

/* ---- Memory ---- */

/* In use: those of the pool that the rank had last do not count. */
static uint64_t request_bytes(const mpi_rank_t *self)
{
    uint64_t count = 0;

    for (const mpi_request_t *r = self->worker->all_requests; r; r = r->next_made)
        count += r->owner == self;
    for (const mpi_request_t *r = self->worker->free_requests; r; r = r->next_free)
        count -= r->owner == self;
    return count * sizeof(mpi_request_t);
}

/* Bytes that the library has for a rank: its tables, requests, unexpected messages and
 * communicators. */
static uint64_t library_memory(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    const xy_match_t *match = &self->match;
    uint64_t buckets = (uint64_t)match->posted.mask + match->unexpected.mask + 2;
    uint64_t bytes = sizeof(*self) + buckets * sizeof(xy_match_bucket_t) + request_bytes(self) +
                     match->unexpected.count * sizeof(mpi_message_t) + mpi_monitor_rank_bytes(self);

    (void)comm;
    for (const xy_match_entry_t *e = match->first; e; e = e->list_next)
        if (!message_of(e)->sender && message_of(e)->data != message_of(e)->small)
            bytes += message_of(e)->bytes;
    for (const mpi_comm_t *c = self->comms; c; c = c->next)
        bytes += sizeof(*c);
    return bytes;
}

/* Its pages that are in memory: from the deepest to the top. */
static uint64_t stack_memory(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    enum { PAGES = 256 }; /* at once */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), count = 0;
    unsigned char is_there[PAGES];
    void *low, *high;

    (void)comm;
    xy_fiber_stack(self->own.fiber, &low, &high);
    for (char *at = low; at < (char *)high; at += PAGES * page) {
        uint64_t pages = ((uint64_t)((char *)high - at) + page - 1) / page;

        pages = pages < PAGES ? pages : PAGES;
        if (mincore(at, pages * page, is_there) != 0)
            return count * page;
        for (uint64_t i = 0; i < pages; i++)
            count += is_there[i] & 1;
    }
    return count * page;
}

#define COUNTER MPI_T_PVAR_CLASS_COUNTER
#define LEVEL   MPI_T_PVAR_CLASS_LEVEL
#define TIMER   MPI_T_PVAR_CLASS_TIMER

static const tool_variable_t table[] = {
    {"xylem_messages_sent", "messages that the program has sent", COUNTER, TOOL_MESSAGES, false,
     messages_sent, NULL, false, NULL},
    {"xylem_bytes_sent", "bytes that the program has sent", COUNTER, TOOL_MESSAGES, false,
     bytes_sent, NULL, false, NULL},
    {"xylem_collective_messages", "messages sent inside collectives", COUNTER, TOOL_MESSAGES, false,
     collective_messages, NULL, false, NULL},
    {"xylem_collective_bytes", "bytes sent inside collectives", COUNTER, TOOL_MESSAGES, false,
     collective_bytes, NULL, false, NULL},
    {"xylem_unexpected_messages", "messages that no receive was posted for yet", LEVEL,
     TOOL_MESSAGES, false, unexpected_messages, NULL, false, NULL},
    {"xylem_posted_receives", "receives that wait for their messages", LEVEL, TOOL_MESSAGES, false,
     posted_receives, NULL, false, NULL},
    {"xylem_unexpected_bytes", "bytes of messages that are kept until a receive is posted", LEVEL,
     TOOL_MESSAGES, false, unexpected_bytes, NULL, false, NULL},
    {"xylem_pending_requests", "requests that are active and not complete", LEVEL, TOOL_MESSAGES,
     false, pending_requests, NULL, false, NULL},
    {"xylem_comm_messages_sent", "messages that the program has sent on the communicator", COUNTER,
     TOOL_MESSAGES, true, messages_sent, NULL, false, NULL},
    {"xylem_comm_bytes_sent", "bytes that the program has sent on the communicator", COUNTER,
     TOOL_MESSAGES, true, bytes_sent, NULL, false, NULL},
    {"xylem_peer_messages_sent",
     "messages that the program has sent to each rank of the communicator", COUNTER, TOOL_MESSAGES,
     true, NULL, NULL, false, messages_sent_to},
    {"xylem_peer_bytes_sent", "bytes that the program has sent to each rank of the communicator",
     COUNTER, TOOL_MESSAGES, true, NULL, NULL, false, bytes_sent_to},
    {"xylem_comm_unexpected_messages",
     "messages on the communicator that no receive was posted for yet", LEVEL, TOOL_MESSAGES, true,
     unexpected_messages, NULL, false, NULL},
    {"xylem_comm_unexpected_bytes",
     "bytes of messages on the communicator that are kept until a receive is posted", LEVEL,
     TOOL_MESSAGES, true, unexpected_bytes, NULL, false, NULL},
    {"xylem_comm_posted_receives", "receives on the communicator that wait for their messages",
     LEVEL, TOOL_MESSAGES, true, posted_receives, NULL, false, NULL},
    {"xylem_progress_time",
     "seconds in which the core of the rank has handled what came for its ranks", TIMER,
     TOOL_PROGRESS, false, progress_time, time_own_core, false, NULL},
    {"xylem_comm_core_time", "seconds in which the communication cores of the process have worked",
     TIMER, TOOL_PROGRESS, false, comm_core_time, time_comm_cores, false, NULL},
    {"xylem_memory",
     "bytes that the library has for the rank: requests, communicators, messages, tables", LEVEL,
     TOOL_MEMORY, false, library_memory, NULL, false, NULL},
    {"xylem_stack_memory", "bytes of the rank's stack that have been used", LEVEL, TOOL_MEMORY,
     false, stack_memory, NULL, true, NULL},
};

int tool_perform_count(void)
{
    return sizeof table / sizeof table[0];
}

const tool_variable_t *tool_variable(int index)
{
    return &table[index];
}
