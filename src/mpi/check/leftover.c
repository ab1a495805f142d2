/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that are left when a rank ends: messages that it never received, requests that it never
 * completed, and, where leaks are looked for, objects that it never freed. The program may have got
 * away with it, so these are warnings.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/wait.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum { TEXT = 192 };

/* " on MPI_COMM_SELF"; world need not be named. */
static void describe_comm(const mpi_rank_t *self, const mpi_comm_t *comm, char text[TEXT])
{
    text[0] = '\0';
    if (comm == NULL)
        snprintf(text, TEXT, " on a communicator that was freed");
    else if (comm != self->comm_world)
        snprintf(text, TEXT, " on %s%s", mpi_comm_name(comm),
                 comm->mark == XMPI_COMM_FREED ? ", which was freed" : "");
}

/* ", sent at ring.c:12"; "" where that is not known. */
static void describe_site(const char *what, const void *at, char text[TEXT])
{
    char site[TEXT];

    mpi_caller_describe(at, site, sizeof(site));
    snprintf(text, TEXT, "%.47s%.130s", site[0] != '\0' ? what : "", site);
}

/* ", sent by MPI_Isend at ring.c:12"; "" where that is not known. */
static void describe_send(const void *at, char text[TEXT])
{
    char by[48] = ", sent ";
    const char *call = mpi_caller_function(at);

    if (call != NULL)
        snprintf(by, sizeof(by), ", sent by %.30s ", call);
    describe_site(by, at, text);
}

/* Report messages with their fate: "never received", "taken by MPI_Mprobe and never received". */
static void report_messages(const mpi_rank_t *self, const mpi_left_t *first, int count,
                            const char *what, const void *taken_at)
{
    const xy_envelope_t *e = &first->envelope;
    const mpi_comm_t *comm = mpi_comm_find(self, e->context);
    int source = comm != NULL ? mpi_comm_world_rank(comm, e->source) : e->source;
    mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_RECEIVED,
                             .rank = self->world,
                             .other = comm != NULL ? source : -1,
                             .sites = {first->site, taken_at}};
    char sent[TEXT], taken[TEXT], on[TEXT];

    if (mpi_finding_is_known(&finding))
        return;
    describe_comm(self, comm, on);
    describe_send(first->site, sent);
    describe_site(", taken ", taken_at, taken);
    mpi_finding_add(&finding, "%d message%s %s%s from rank %d, tag %d%s, %llu bytes%s%s", count,
                    count > 1 ? "s" : "", what, count > 1 ? "; the first:" : ":", source, e->tag,
                    on, (unsigned long long)first->bytes, sent, taken);
}

typedef struct {
    const mpi_rank_t *self;
    bool of_partitions;
    mpi_left_t first;
    int count;
} unreceived_t;

/* Will a receive take it that was started and is not over? In virtual time messages may be under
 * way when all ranks have called MPI_Finalize. */
static bool is_expected(const mpi_rank_t *self, const xy_envelope_t *e)
{
    for (const mpi_request_t *r = self->worker->all_requests; r != NULL; r = r->next_made) {
        const xy_envelope_t *wanted = &r->entry.envelope;

        if (r->owner == self && r->is_active && !r->is_done && r->kind == XMPI_KIND_RECV &&
            wanted->context == e->context &&
            (wanted->source == MPI_ANY_SOURCE || wanted->source == e->source) &&
            (wanted->tag == MPI_ANY_TAG || wanted->tag == e->tag))
            return true;
    }
    return false;
}

/* Is the message part of a partitioned send: its partitions, or the word of MPI_Psend_init that
 * they will come? */
static bool is_partition(const mpi_left_t *message)
{
    return message->envelope.context & XMPI_CONTEXT_PARTITIONED;
}

static bool count_left(void *user, const mpi_left_t *message)
{
    unreceived_t *all = user;

    if ((all->of_partitions ? !is_partition(message) : !check_is_own(message)) ||
        (mpi_job->clock != NULL && is_expected(all->self, &message->envelope)))
        return true;
    if (all->count++ == 0)
        all->first = *message;
    return true;
}

void mpi_rank_look_ahead(mpi_rank_t *self)
{
    char site[TEXT];

    for (xy_match_entry_t *e = self->match.first; e != NULL && mpi_job->processes > 1;
         e = e->list_next) {
        mpi_message_t *m = (mpi_message_t *)e;

        if (m->sender != &mpi_remote_sender || e->envelope.context & XMPI_CONTEXT_BITS)
            continue;
        m->site = mpi_remote_site((const remote_letter_t *)(const void *)m->data);
        mpi_caller_describe(m->site, site, sizeof(site)); /* and is known from now on */
        return;
    }
}

static void look_for_messages(const mpi_rank_t *self)
{
    unreceived_t all = {.self = self};

    check_each_left(self, count_left, &all);
    if (all.count > 0)
        report_messages(self, &all.first, all.count, "never received", NULL);
}

/* The first is the word of an init call that no other has matched, if there is one. */
static void look_for_partitions(const mpi_rank_t *self)
{
    unreceived_t all = {.self = self, .of_partitions = true};
    const xy_envelope_t *e = &all.first.envelope;
    mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_RECEIVED, .rank = self->world, .other = -1};
    const mpi_comm_t *comm;
    char sent[TEXT], on[TEXT];

    check_each_left(self, count_left, &all);
    if (all.count == 0)
        return;
    finding.sites[0] = all.first.site;
    comm = mpi_comm_find(self, e->context & ~XMPI_CONTEXT_BITS);
    if (comm != NULL)
        finding.other = mpi_comm_world_rank(comm, e->source);
    if (mpi_finding_is_known(&finding))
        return;
    describe_comm(self, comm, on);
    describe_site(", sent ", all.first.site, sent);
    if (e->context & XMPI_CONTEXT_SHADOW)
        mpi_finding_add(&finding,
                        "MPI_Psend_init of rank %d, tag %d%s, was matched by no MPI_Precv_init%s",
                        finding.other, e->tag, on, sent);
    else
        mpi_finding_add(&finding, "%d partition%s never received%s from rank %d%s, %llu bytes%s",
                        all.count, all.count > 1 ? "s" : "", all.count > 1 ? "; the first:" : ":",
                        finding.other, on, (unsigned long long)all.first.bytes, sent);
}

/* Report messages taken by MPI_Mprobe and never received. */
static void look_for_taken(const mpi_rank_t *self)
{
    const mpi_message_t *first = self->first_taken;
    int count = 0;
    mpi_left_t left;

    for (const mpi_message_t *m = first; m != NULL; m = m->next_taken)
        count++;
    if (count == 0)
        return;
    left = (mpi_left_t){first->entry.envelope, first->bytes, first->site, NULL};
    report_messages(self, &left, count, "taken by MPI_Mprobe and never received by MPI_Mrecv",
                    first->taken_at);
}

static bool is_left(const mpi_request_t *request)
{
    /* Messages that a collective or a window has sent have `extra`: they are part of another. */
    bool is_part = request->extra != NULL && request->kind <= XMPI_KIND_RECV;

    return request->is_active && !request->is_freed && !is_part && request->call.name != NULL;
}

/* Is it one of the rank that was started where `like` was? */
static bool is_left_at(const mpi_request_t *request, const mpi_rank_t *rank,
                       const mpi_request_t *like)
{
    return is_left(request) && request->owner == rank &&
           request->call.caller == like->call.caller && request->call.name == like->call.name;
}

/* Report the requests of the rank that were started where `like` was; `like` is the first of them
 * in the list. */
static void report_requests(const mpi_worker_t *worker, const mpi_rank_t *rank,
                            const mpi_request_t *like)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_COMPLETED,
                             .rank = rank->world,
                             .other = -1,
                             .sites = {like->call.caller, NULL}};
    char site[160];
    int count = 0;

    if (mpi_finding_is_known(&finding))
        return;
    for (const mpi_request_t *r = worker->all_requests; r != NULL; r = r->next_made)
        count += is_left_at(r, rank, like);
    mpi_caller_describe(like->call.caller, site, sizeof(site));
    mpi_finding_add(&finding,
                    "%d request%s never completed: %s of %s%s%s%s%s; complete %s with MPI_Wait or "
                    "MPI_Test before MPI_Finalize",
                    count, count > 1 ? "s" : "", count > 1 ? "those" : "that",
                    mpi_call_start_of(like->call.name), like->call.name,
                    site[0] != '\0' ? " (" : "", site, site[0] != '\0' ? ")" : "",
                    count > 1 ? "them" : "it");
}

/* If all ranks are in MPI_Finalize, the first to come here looks for all of its worker. */
static void look_for_requests(const mpi_rank_t *self, bool is_together)
{
    mpi_worker_t *worker = self->worker;

    if (worker->has_looked_back)
        return;
    worker->has_looked_back = is_together;
    for (const mpi_request_t *r = worker->all_requests; r != NULL; r = r->next_made)
        if (is_left(r) && (is_together || r->owner == self))
            report_requests(worker, r->owner, r);
}

/* How many others the same line has made. */
static int count_made(const xy_vec_t *all, const mpi_made_t *made)
{
    int count = 0;

    for (size_t i = 0; i < all->count; i++)
        count += XY_VEC_AT(all, mpi_made_t, i).site == made->site;
    return count;
}

/* Report objects that one place of the program made and never freed. */
static void report_made(const mpi_rank_t *self, const xy_vec_t *all, const mpi_made_t *made)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_FREED,
                             .rank = self->world,
                             .other = -1,
                             .sites = {made->site, NULL}};
    char site[160];
    int count;

    if (mpi_finding_is_known(&finding))
        return;
    count = count_made(all, made);
    mpi_caller_describe(made->site, site, sizeof(site));
    mpi_finding_add(&finding, "%d %s%s never %s: made by %s%s%s%s", count, made->what,
                    count > 1 ? "s" : "", strcmp(made->what, "file") == 0 ? "closed" : "freed",
                    made->call, site[0] != '\0' ? " (" : "", site, site[0] != '\0' ? ")" : "");
}

static void look_for_leaks(const mpi_rank_t *self)
{
    const mpi_env_t *env = self->env;

    for (size_t i = 0; env != NULL && i < env->made.count; i++)
        report_made(self, &env->made, &XY_VEC_AT(&env->made, mpi_made_t, i));
}

void mpi_rank_look_back(mpi_rank_t *self, bool is_together)
{
    if (mpi_made_is_noted)
        look_for_leaks(self);
    if (mpi_survives && mpi_survive_count() > 0) /* calls that failed have left some */
        return;
    if (mpi_job->clock == NULL)
        mpi_poll(self->worker->base); /* messages sent before the others came here have arrived */
    look_for_messages(self);
    look_for_partitions(self);
    look_for_taken(self);
    look_for_requests(self, is_together);
}
