/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why no rank can move, in one sentence. Each rank that waits points at one that it waits for:
 *
 *   0 -> 1 -> 2 -> 0           a circle
 *   3 -> 0, which has ended    a partner that is missing
 *
 * A rank that waits for any of several points at none. A partner that has called MPI_Finalize is
 * the better answer: a circle may be what it left behind. All workers are asleep, so what ranks own
 * can be read as it is.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/windows.h"
#include "mpi/coll/coll.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

enum { SENTENCE = 1200, LINKS_SHOWN = 4 };

typedef enum { WAIT_NONE, WAIT_RECEIVE, WAIT_SEND, WAIT_COLLECTIVE, WAIT_WINDOW } wait_kind_t;

/* What a rank waits for. */
typedef struct {
    wait_kind_t kind; /* WAIT_NONE: for nothing, or for one of several */
    const mpi_comm_t *comm;
    int peer; /* rank in comm, or MPI_ANY_SOURCE */
    int tag;
    const char *call;
    int target; /* of a lock that `peer` has: rank in comm; or MPI_UNDEFINED */
} wait_t;

static bool is_ending(const mpi_rank_t *rank)
{
    return rank->phase == XMPI_RANK_FINALIZED ||
           (rank->call.name != NULL && strcmp(rank->call.name, "MPI_Finalize") == 0);
}

static wait_t wait_of_request(const mpi_rank_t *rank, const mpi_request_t *request)
{
    bool is_blocking = strncmp(rank->call.name, "MPI_Wait", 8) != 0;

    wait_t wait = {.kind = request->kind == XMPI_KIND_RECV   ? WAIT_RECEIVE
                           : request->kind == XMPI_KIND_SEND ? WAIT_SEND
                           : request->kind == XMPI_KIND_COLL ? WAIT_COLLECTIVE
                                                             : WAIT_NONE,
                   .comm = request->comm,
                   .peer = request->peer,
                   .tag = request->tag,
                   .call = is_blocking ? rank->call.name : request->call.name};

    if (request->comm == NULL)
        wait.kind = WAIT_NONE;
    else if (request->comm->window != NULL && wait.kind == WAIT_RECEIVE) {
        wait.kind = WAIT_WINDOW;
        wait.target = MPI_UNDEFINED;
        if (wait.peer == MPI_ANY_SOURCE)
            wait.peer = check_lock_owner(&rank->call, &wait.target);
    }
    return wait;
}

/* The first of the requests that are still pending; the only one that ends the wait. */
static wait_t wait_of_requests(const mpi_rank_t *rank)
{
    const mpi_waiter_t *waiter = &rank->own;
    wait_t wait = {.kind = WAIT_NONE};
    int pending = 0;

    for (int i = 0; i < waiter->waits_count; i++) {
        const mpi_request_t *request = waiter->waits[i];

        if (request == mpi_request_of(MPI_REQUEST_NULL) || request->is_done ||
            request->waiter != waiter)
            continue;
        if (pending++ == 0)
            wait = wait_of_request(rank, request);
    }
    if (waiter->count < pending) /* Waitany, Waitsome */
        wait.kind = WAIT_NONE;
    return wait;
}

static bool is_probing(const mpi_rank_t *rank)
{
    const mpi_waiter_t *waiter = rank->probers;

    while (waiter != NULL && waiter != &rank->own)
        waiter = waiter->next;
    return waiter != NULL;
}

/* Where threads of a rank call MPI, any of them may be what others wait for. */
static wait_t find_wait(const mpi_rank_t *rank)
{
    if (rank->call.name == NULL || rank->threads != NULL || rank->phase != XMPI_RANK_RUNNING)
        return (wait_t){.kind = WAIT_NONE};
    if (is_probing(rank))
        return (wait_t){.kind = WAIT_RECEIVE,
                        .comm = rank->call.comm,
                        .peer = rank->call.peer,
                        .tag = rank->call.tag,
                        .call = rank->call.name};
    if (rank->own.count > 0)
        return wait_of_requests(rank);
    return (wait_t){.kind = WAIT_NONE};
}

/* All of it: what each rank waits for, and the rank of the world that it points at; -1: none. */
typedef struct {
    const mpi_job_t *job;
    wait_t *wait;
    int *next;
} graph_t;

/* The first member that is not in a collective of this communicator; -1: all are. */
static int missing_member(const graph_t *graph, const mpi_comm_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        int world = comm->group->ranks ? comm->group->ranks[r] : r;
        const wait_t *wait = &graph->wait[world];

        if (wait->kind != WAIT_COLLECTIVE || wait->comm->context != comm->context)
            return world;
    }
    return -1;
}

static void graph_fill(graph_t *graph)
{
    const mpi_comm_t *asked = NULL; /* ranks of one communicator often follow each other */
    int missing = -1;

    for (int r = 0; r < graph->job->size; r++)
        graph->wait[r] = find_wait(&graph->job->ranks[r]);
    for (int r = 0; r < graph->job->size; r++) {
        const wait_t *wait = &graph->wait[r];

        graph->next[r] = -1;
        if (wait->kind == WAIT_NONE || is_ending(&graph->job->ranks[r]))
            continue;
        if (wait->kind != WAIT_COLLECTIVE) {
            if (wait->peer >= 0)
                graph->next[r] = mpi_comm_world_rank(wait->comm, wait->peer);
            continue;
        }
        if (asked == NULL || asked->context != wait->comm->context)
            missing = missing_member(graph, wait->comm);
        asked = wait->comm;
        graph->next[r] = missing;
    }
}

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, SENTENCE - length, format, arguments);
    va_end(arguments);
}

/* "rank 2 waits for a message with tag 7 from rank 0". */
static void add_link(char *text, const graph_t *graph, int rank)
{
    const wait_t *wait = &graph->wait[rank];
    int partner = graph->next[rank];
    char tag[48] = "", from[32] = "any rank";

    if (wait->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof(tag), " with tag %d", wait->tag);
    if (partner >= 0)
        snprintf(from, sizeof(from), "rank %d", partner);
    if (wait->kind == WAIT_RECEIVE)
        add(text, "rank %d waits for a message%s from %s", rank, tag, from);
    else if (wait->kind == WAIT_SEND)
        add(text, "rank %d waits until %s receives its message%s", rank, from, tag);
    else if (wait->kind == WAIT_WINDOW && wait->target >= 0)
        add(text, "rank %d waits in %s on %s for rank %d, which %s has locked", rank, wait->call,
            mpi_comm_name(wait->comm), mpi_comm_world_rank(wait->comm, wait->target), from);
    else
        add(text, "rank %d waits in %s on %s for %s", rank, wait->call, mpi_comm_name(wait->comm),
            from);
}

/* A message that this receive does not take: it was meant, perhaps. False: there is none. */
static bool add_other_message(char *text, const graph_t *graph, int rank)
{
    const wait_t *wait = &graph->wait[rank];
    const xy_match_entry_t *e = graph->job->ranks[rank].match.first;
    char site[160];

    if (wait->kind != WAIT_RECEIVE || mpi_job->clock != NULL)
        return false;
    while (e != NULL && (e->envelope.context != wait->comm->context ||
                         (wait->peer >= 0 && e->envelope.source != wait->peer)))
        e = e->list_next;
    if (e == NULL)
        return false;
    mpi_caller_describe(((const mpi_message_t *)e)->site, site, sizeof(site));
    add(text, "; a message with tag %d from rank %d is there%s%s", e->envelope.tag,
        mpi_comm_world_rank(wait->comm, e->envelope.source), site[0] != '\0' ? ", sent " : "",
        site);
    return true;
}

/* A rank whose partner has ended. */
static bool explain_missing(const graph_t *graph, char *text)
{
    for (int r = 0; r < graph->job->size; r++) {
        int partner = graph->next[r];

        if (partner < 0 || !is_ending(&graph->job->ranks[partner]))
            continue;
        add_link(text, graph, r);
        add(text, "; rank %d has called MPI_Finalize", partner);
        add_other_message(text, graph, r);
        return true;
    }
    return false;
}

/* The lowest rank of a circle; -1: there is none. `seen` has a zero for each rank. */
static int find_circle(const graph_t *graph, int *seen)
{
    for (int r = 0; r < graph->job->size; r++) {
        int at = r, lowest;

        while (at >= 0 && seen[at] == 0) {
            seen[at] = r + 1;
            at = graph->next[at];
        }
        if (at < 0 || seen[at] != r + 1)
            continue;
        lowest = at;
        for (int other = graph->next[at]; other != at; other = graph->next[other])
            lowest = other < lowest ? other : lowest;
        return lowest;
    }
    return -1;
}

static void explain_circle(const graph_t *graph, int first, char *text)
{
    int shown = 0, at = first;

    do {
        if (shown < LINKS_SHOWN) {
            add(text, "%s", shown > 0 ? ", " : "");
            add_link(text, graph, at);
        }
        shown++;
        at = graph->next[at];
    } while (at != first);
    if (shown > LINKS_SHOWN)
        add(text, " and so on, %d ranks in all", shown);
    do {
        if (add_other_message(text, graph, at)) /* one is enough */
            return;
        at = graph->next[at];
    } while (at != first);
}

/* A rank that takes a message from any: none sends one. */
static void explain_any(const graph_t *graph, char *text)
{
    for (int r = 0; r < graph->job->size; r++)
        if (graph->wait[r].kind == WAIT_RECEIVE && graph->wait[r].peer == MPI_ANY_SOURCE) {
            add_link(text, graph, r);
            if (!add_other_message(text, graph, r))
                add(text, "; no rank will send one");
            return;
        }
}

static void explain(const graph_t *graph, int *seen, char *text)
{
    int circle;

    if (!explain_missing(graph, text)) {
        circle = find_circle(graph, seen);
        if (circle >= 0)
            explain_circle(graph, circle, text);
        else
            explain_any(graph, text);
    }
}

void mpi_job_explain(const mpi_job_t *job, char *cause, size_t room)
{
    size_t size = (size_t)job->size;
    char text[SENTENCE] = "";
    graph_t graph = {.job = job,
                     .wait = xy_calloc(size, sizeof(*graph.wait)),
                     .next = xy_malloc(size * sizeof(*graph.next))};
    int *seen = xy_calloc(size, sizeof(*seen));

    if (graph.wait != NULL && graph.next != NULL && seen != NULL) {
        graph_fill(&graph);
        explain(&graph, seen, text);
    }
    snprintf(cause, room, "%s", text);
    xy_free(graph.wait);
    xy_free(graph.next);
    xy_free(seen);
}
