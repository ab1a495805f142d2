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
#include <stdlib.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/wait.h"
#include "mpi/object/object.h"

enum { LINKS_SHOWN = 4 };

/* The first of the requests that are still pending; the only one that ends the wait. */
static check_wait_t wait_of_requests(const mpi_rank_t *rank)
{
    check_wait_t wait = {.kind = CHECK_WAIT_NONE};

    if (check_waits_for_any(rank))
        return wait;
    for (int i = 0; i < mpi_waiter_requests(&rank->own); i++)
        if (check_wait_of(rank, i, &wait))
            break;
    check_wait_of_part(rank, &wait);
    return wait;
}

static check_wait_t find_wait(const mpi_rank_t *rank)
{
    if (!check_is_waiting(rank))
        return (check_wait_t){.kind = CHECK_WAIT_NONE};
    return check_is_probing(rank) ? check_wait_of_probe(rank) : wait_of_requests(rank);
}

/* The first member that is not in a collective of this communicator; -1: all are. */
static int missing_member(const check_graph_t *graph, const mpi_comm_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        int world = comm->group->ranks ? comm->group->ranks[r] : r;
        const check_wait_t *wait = &graph->wait[world];

        if (wait->kind != CHECK_WAIT_COLLECTIVE || wait->is_part ||
            wait->comm->context != comm->context)
            return world;
    }
    return -1;
}

static bool is_ending(const check_graph_t *graph, int rank)
{
    return graph->told != NULL ? graph->told[rank].is_ending
                               : check_is_ending(&graph->job->ranks[rank]);
}

/* Does it wait for what no rank that waits can bring? It points at itself then. */
static bool is_alone(const check_wait_t *wait)
{
    return wait->kind == CHECK_WAIT_READY || wait->kind == CHECK_WAIT_OWN ||
           wait->kind == CHECK_WAIT_PORT;
}

void check_graph_fill(check_graph_t *graph)
{
    const mpi_comm_t *asked = NULL; /* ranks of one communicator often follow each other */
    int missing = -1;

    for (int r = 0; r < graph->job->size; r++)
        if (mpi_rank_is_here(graph->job, r))
            graph->wait[r] = find_wait(&graph->job->ranks[r]);
    for (int r = 0; r < graph->job->size; r++) {
        const check_wait_t *wait = &graph->wait[r];

        if (wait->kind == CHECK_WAIT_NONE || check_is_ending(&graph->job->ranks[r]))
            continue;
        if (is_alone(wait)) {
            graph->next[r] = r;
            continue;
        }
        if (wait->kind != CHECK_WAIT_COLLECTIVE || wait->is_part) {
            if (wait->peer >= 0)
                graph->next[r] = mpi_comm_world_rank(wait->comm, wait->peer);
            continue;
        }
        if (graph->job->processes > 1) /* members in other processes are not known here */
            continue;
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
    vsnprintf(text + length, CHECK_SENTENCE - length, format, arguments);
    va_end(arguments);
}

/* Ranks that poll are anywhere when the table of ranks is made: here is the line. */
static void add_place(char *text, const void *polled_at)
{
    char site[160];

    if (polled_at == NULL)
        return;
    mpi_caller_describe(polled_at, site, sizeof(site));
    if (site[0] != '\0')
        add(text, " (%s)", site);
}

/* "rank 2 waits for a partitioned send with tag 7 whose partitions 1-3 it has not marked ready". */
static void add_ready(char *text, const check_wait_t *wait, int rank, const char *verb)
{
    const mpi_partitioned_t *p = mpi_partitioned_of(wait->request);
    char missing[128];

    mpi_partitioned_list_missing(p, false, p->over, missing, sizeof(missing));
    add(text,
        "rank %d %s for a partitioned send with tag %d, and has not marked its partitions %s "
        "ready",
        rank, verb, wait->tag, missing);
}

/* "rank 2 waits for a message with tag 7 from rank 0". */
void check_graph_add_link(char *text, const check_graph_t *graph, int rank)
{
    const check_wait_t *wait = &graph->wait[rank];
    int partner = graph->next[rank];
    const char *verb = wait->polled_at != NULL ? "polls" : "waits";
    char tag[48] = "", from[32] = "any rank";

    if (wait->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof(tag), " with tag %d", wait->tag);
    if (partner >= 0)
        snprintf(from, sizeof(from), "rank %d", partner);
    if (wait->kind == CHECK_WAIT_RECEIVE)
        add(text, "rank %d %s for a message%s from %s", rank, verb, tag, from);
    else if (wait->kind == CHECK_WAIT_READY)
        add_ready(text, wait, rank, verb);
    else if (wait->kind == CHECK_WAIT_OWN)
        add(text, "rank %d %s for a generalized request, and MPI_Grequest_complete was not called",
            rank, verb);
    else if (wait->kind == CHECK_WAIT_PORT)
        add(text, "rank %d %s in %s, and no rank calls MPI_Comm_connect", rank, verb, wait->call);
    else if (wait->kind == CHECK_WAIT_SEND)
        add(text, "rank %d %s until %s receives its message%s", rank, verb, from, tag);
    else if (wait->kind == CHECK_WAIT_WINDOW && wait->target >= 0)
        add(text, "rank %d waits in %s on %s for rank %d, which %s has locked", rank, wait->call,
            mpi_comm_name(wait->comm), mpi_comm_world_rank(wait->comm, wait->target), from);
    else
        add(text, "rank %d %s in %s on %s for %s", rank, verb, wait->call,
            mpi_comm_name(wait->comm), from);
    add_place(text, wait->polled_at);
}

/* A message that this receive does not take: it was meant, perhaps. False: there is none. */
bool check_graph_add_other(char *text, const check_graph_t *graph, int rank)
{
    const check_other_t *other = &graph->wait[rank].other;
    char site[160];

    if (!other->is_there)
        return false;
    mpi_caller_describe(other->site, site, sizeof(site));
    add(text, "; a message with tag %d", other->tag);
    if (other->source >= 0)
        add(text, " from rank %d", other->source);
    add(text, " is there%s", other->is_elsewhere ? " on another communicator" : "");
    if (other->is_elsewhere && other->comm != NULL && other->comm->name[0] != '\0')
        add(text, ", %s", other->comm->name);
    add(text, "%s%s", site[0] != '\0' ? ", sent " : "", site);
    return true;
}

/* The same about a rank of any process. */
static void tell_link(char *text, const check_graph_t *graph, int rank)
{
    const check_told_t *told = graph->told != NULL ? &graph->told[rank] : NULL;

    if (told == NULL)
        check_graph_add_link(text, graph, rank);
    else if (told->collective != 0 && graph->next[rank] >= 0)
        add(text, "%s for rank %d", told->link, graph->next[rank]);
    else
        add(text, "%s", told->link);
}

static bool tell_other(char *text, const check_graph_t *graph, int rank)
{
    if (graph->told == NULL)
        return check_graph_add_other(text, graph, rank);
    add(text, "%s", graph->told[rank].other);
    return graph->told[rank].other[0] != '\0';
}

static bool takes_any(const check_graph_t *graph, int rank)
{
    if (graph->told != NULL)
        return graph->told[rank].takes_any;
    return graph->wait[rank].kind == CHECK_WAIT_RECEIVE && graph->wait[rank].peer == MPI_ANY_SOURCE;
}

/* A rank whose partner has ended. */
static bool explain_missing(const check_graph_t *graph, char *text)
{
    for (int r = 0; r < graph->job->size; r++) {
        int partner = graph->next[r];

        if (partner < 0 || !is_ending(graph, partner))
            continue;
        tell_link(text, graph, r);
        add(text, "; rank %d has called MPI_Finalize", partner);
        tell_other(text, graph, r);
        return true;
    }
    return false;
}

/* The lowest rank of a circle; -1: there is none. `seen` has a zero for each rank. */
static int find_circle(const check_graph_t *graph, int *seen)
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

/* Describe a circle of waiting ranks and one thing that would break it. */
static void explain_circle(const check_graph_t *graph, int first, char *text)
{
    int shown = 0, at = first;

    do {
        if (shown < LINKS_SHOWN) {
            add(text, "%s", shown > 0 ? ", " : "");
            tell_link(text, graph, at);
        }
        shown++;
        at = graph->next[at];
    } while (at != first);
    if (shown > LINKS_SHOWN)
        add(text, " and so on, %d ranks in all", shown);
    do {
        if (tell_other(text, graph, at)) /* one is enough */
            return;
        at = graph->next[at];
    } while (at != first);
}

/* A rank that takes a message from any: none sends one. */
static void explain_any(const check_graph_t *graph, char *text)
{
    for (int r = 0; r < graph->job->size; r++)
        if (takes_any(graph, r)) {
            tell_link(text, graph, r);
            if (!tell_other(text, graph, r))
                add(text, "; no rank will send one");
            return;
        }
}

static void explain(const check_graph_t *graph, int *seen, char *text)
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

bool check_graph_init(check_graph_t *graph, const mpi_job_t *job)
{
    size_t size = (size_t)job->numbers;

    *graph = (check_graph_t){.job = job,
                             .wait = xy_calloc(size, sizeof(*graph->wait)),
                             .next = xy_malloc(size * sizeof(*graph->next))};
    if (graph->wait == NULL || graph->next == NULL)
        return false;
    for (int r = 0; r < job->numbers; r++)
        graph->next[r] = -1;
    return true;
}

void check_graph_cleanup(check_graph_t *graph)
{
    xy_free(graph->wait);
    xy_free(graph->next);
}

void check_graph_explain(const check_graph_t *graph, char *cause, size_t room)
{
    int *seen = xy_calloc((size_t)graph->job->numbers, sizeof(*seen));
    char text[CHECK_SENTENCE] = "";

    if (seen != NULL)
        explain(graph, seen, text);
    snprintf(cause, room, "%s", text);
    xy_free(seen);
}

static char *own_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    check_told_write(out);
    fclose(out);
    return text;
}

void mpi_job_explain(const mpi_job_t *job, char *cause, size_t room)
{
    char *own;
    check_graph_t graph;

    cause[0] = '\0';
    if (job->processes > 1 && job->reports == NULL) /* the partners of others are not known here */
        return;
    if (check_graph_init(&graph, job)) {
        check_graph_fill(&graph);
        own = job->processes > 1 ? own_text() : NULL;
        if (job->processes == 1 || check_told_read(&graph, own, job->reports))
            check_graph_explain(&graph, cause, room);
        check_told_cleanup(&graph);
        free(own);
    }
    check_graph_cleanup(&graph);
}
