/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/partitioned.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p_engine.h"

/* ---- Which partitions are missing ---- */

/* The messages that partition i of a receive lies in: from *first to *last. Without any data, all
 * of them; behind the data, the last one. */
static void messages_of(const mpi_partitioned_t *p, int i, int *first, int *last)
{
    *first = 0;
    *last = p->head.partitions - 1;
    if (p->bytes == 0 || p->head.bytes == 0 || p->head.partitions == 0)
        return;
    *first = (int)((uint64_t)i * p->bytes / p->head.bytes);
    *last = (int)((((uint64_t)i + 1) * p->bytes - 1) / p->head.bytes);
    if (*last >= p->head.partitions)
        *last = p->head.partitions - 1;
    if (*first > *last)
        *first = *last;
}

bool mpi_partitioned_misses(const mpi_partitioned_t *p, bool is_receive, const unsigned char *over,
                            int i)
{
    int first = i, last = i;

    if (is_receive && !p->is_met)
        return true;
    if (is_receive)
        messages_of(p, i, &first, &last);
    for (int m = first; m <= last; m++)
        if (!over[m])
            return true;
    return false;
}

bool mpi_partitioned_list_missing(const mpi_partitioned_t *p, bool is_receive,
                                  const unsigned char *over, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0, end; i < p->partitions; i = end) {
        end = i + 1;
        if (!mpi_partitioned_misses(p, is_receive, over, i))
            continue;
        while (end < p->partitions && mpi_partitioned_misses(p, is_receive, over, end))
            end++;
        if (length + 32 > size) {
            snprintf(text + length, size - length, ", ...");
            return true;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%d", length > 0 ? ", " : "", i);
        if (end > i + 1)
            length += (size_t)snprintf(text + length, size - length, "-%d", end - 1);
    }
    return length > 0;
}

/* ---- The object ---- */

static void unuse(mpi_partitioned_t *p)
{
    if (--p->users > 0)
        return;
    xy_free(p->staging);
    xy_free(p->over);
    xy_free(p);
}

static void unlist(mpi_partitioned_t *p)
{
    mpi_comm_t *comm = p->whole->comm;

    if (p->next != NULL)
        p->next->previous = p->previous;
    if (p->previous != NULL)
        p->previous->next = p->next;
    else if (comm->partitioned == p)
        comm->partitioned = p->next;
}

/* The program has freed the request. A head that is still under way takes part in the order. */
static void release(mpi_request_t *whole)
{
    mpi_partitioned_t *p = whole->extra;

    if (whole->kind == XMPI_KIND_PSEND)
        unlist(p);
    p->whole = NULL;
    if (p->hello != NULL && mpi_p2p_engine != NULL)
        mpi_p2p_engine->free(p->hello);
    unuse(p);
}

/* The first of `partitions` tags that no living send of the rank on the communicator has; -1: there
 * are not so many. Tags come again only after all were in use. */
static int take_tags(mpi_comm_t *comm, int partitions)
{
    int64_t first = comm->partition_tag;
    const mpi_partitioned_t *p = NULL;
    int wraps = 0;

    do {
        if (first + partitions > INT_MAX) {
            first = 0;
            comm->partition_tags_wrapped = true;
            if (++wraps > 1)
                return -1;
        }
        for (p = comm->partition_tags_wrapped ? comm->partitioned : NULL; p != NULL; p = p->next)
            if (first < (int64_t)p->head.first_tag + p->partitions &&
                p->head.first_tag < first + partitions)
                break;
        if (p != NULL)
            first = (int64_t)p->head.first_tag + p->partitions;
    } while (p != NULL);
    comm->partition_tag = (int)(first + partitions);
    return (int)first;
}

/* ---- Messages ---- */

/* The data that the sender gives in a round. */
static uint64_t sent_bytes(const mpi_partitioned_t *p)
{
    return (uint64_t)p->head.partitions * p->head.bytes;
}

static void less(mpi_partitioned_t *p)
{
    if (--p->pending > 0)
        return;
    if (p->is_met)
        p->whole->completion.bytes =
            p->is_wrong ? (uint64_t)p->partitions * p->bytes : sent_bytes(p);
    if (p->is_wrong)
        p->whole->completion.error = MPI_ERR_TRUNCATE;
    mpi_request_complete(p->whole);
}

static bool is_staged(const mpi_partitioned_t *p)
{
    return p->staging != NULL;
}

/* Message `part` is complete; the tag says which it is. */
static void note(mpi_partitioned_t *p, const mpi_request_t *part)
{
    const mpi_request_t *whole = p->whole;
    int m = part->tag - p->head.first_tag;

    if (part->kind == XMPI_KIND_SEND)
        return;
    p->over[m] = 1;
    if (mpi_p2p_engine != NULL && mpi_p2p_engine->part_over != NULL && whole != NULL)
        mpi_p2p_engine->part_over(whole, part->buffer);
    if (is_staged(p))
        mpi_type_unpack(whole->buffer, whole->count * p->partitions, whole->type,
                        p->staging + (uint64_t)m * p->head.bytes, (uint64_t)m * p->head.bytes,
                        p->head.bytes);
}

static void part_over(mpi_request_t *part)
{
    mpi_partitioned_t *p = part->extra;

    mpi_comm_release(part->comm);
    part->comm = NULL;
    note(p, part);
    less(p);
}

/* A message has begun, and may be over. */
static void started(mpi_partitioned_t *p, mpi_request_t *part)
{
    if (part->is_done) {
        note(p, part);
        mpi_request_free(part);
        less(p);
        return;
    }
    part->extra = p;
    part->release = part_over;
    part->is_freed = true;
    part->next_part = p->parts;
    p->parts = part;
}

/* Where message `m` of the sender goes: elements of the program's type where it begins with one. A
 * message of a send that gives another amount goes nowhere. */
static mpi_transfer_t place_of(mpi_partitioned_t *p, int m)
{
    const mpi_request_t *whole = p->whole;
    uint64_t size = mpi_type_size(whole->type);
    mpi_transfer_t t = {.comm = &p->data,
                        .type = mpi_type_of(MPI_BYTE),
                        .peer = whole->peer,
                        .tag = p->head.first_tag + m};

    if (p->is_wrong || p->head.bytes == 0)
        return t;
    if (is_staged(p)) {
        t.buffer = p->staging + (uint64_t)m * p->head.bytes;
        t.count = (int64_t)p->head.bytes;
        return t;
    }
    t.type = whole->type;
    t.count = (int64_t)(p->head.bytes / size);
    t.buffer = (char *)whole->buffer + (int64_t)m * t.count * whole->type->extent;
    return t;
}

/* All messages of a round. Reports name the call that made the request. */
static void receive_all(mpi_partitioned_t *p)
{
    mpi_rank_t *self = p->whole->owner;
    const mpi_call_t now = self->call;

    self->call = p->whole->call;
    for (int m = 0; m < p->head.partitions; m++) {
        mpi_transfer_t t = place_of(p, m);
        mpi_request_t *part;

        p->pending++;
        if (mpi_p2p_engine != NULL && mpi_p2p_engine->part != NULL && !is_staged(p))
            mpi_p2p_engine->part(p->whole, &t, true);
        if (mpi_irecv(self, &t, &part) != MPI_SUCCESS) {
            xy_fail_memory("receiving partitions");
            mpi_job->abort(1);
        }
        started(p, part);
    }
    self->call = now;
}

/* The head has come: what the messages of all rounds need. */
static void meet(mpi_partitioned_t *p)
{
    uint64_t size = mpi_type_size(p->whole->type);
    bool needs_staging;

    p->is_met = true;
    p->is_wrong = sent_bytes(p) > (uint64_t)p->partitions * p->bytes;
    needs_staging = !p->is_wrong && p->head.bytes > 0 && p->head.bytes % size != 0;
    p->over = xy_calloc((size_t)p->head.partitions + 1, 1);
    if (needs_staging)
        p->staging = xy_malloc((uint64_t)p->partitions * p->bytes);
    if (p->over == NULL || (needs_staging && p->staging == NULL)) {
        xy_fail_memory("receiving partitions");
        mpi_job->abort(1);
    }
}

/* The greeting of a partitioned transfer is complete: start what waited for it. */
static void head_over(mpi_request_t *hello)
{
    mpi_partitioned_t *p = hello->extra;

    mpi_comm_release(hello->comm);
    hello->comm = NULL;
    p->hello = NULL;
    if (hello->kind == XMPI_KIND_RECV && p->whole != NULL) {
        meet(p);
        if (p->whole->is_active && !p->whole->is_done) {
            receive_all(p);
            less(p);
        }
    }
    unuse(p);
}

/* The head leaves, or is waited for. */
static int say_hello(mpi_rank_t *self, mpi_partitioned_t *p, bool is_receive)
{
    mpi_transfer_t t = {.comm = &p->heads,
                        .buffer = &p->head,
                        .count = sizeof(p->head),
                        .type = mpi_type_of(MPI_BYTE),
                        .peer = p->whole->peer,
                        .tag = p->whole->tag};
    mpi_request_t *hello;
    int error = is_receive ? mpi_irecv(self, &t, &hello) : mpi_isend(self, &t, &hello);

    if (error != MPI_SUCCESS)
        return error;
    if (hello->is_done) {
        mpi_request_free(hello);
        if (is_receive)
            meet(p);
        return MPI_SUCCESS;
    }
    p->users++;
    p->hello = hello;
    hello->extra = p;
    hello->release = head_over;
    hello->is_freed = true;
    if (!is_receive && mpi_p2p_engine != NULL)
        mpi_p2p_engine->free(hello); /* nobody will ask whether it has left */
    return MPI_SUCCESS;
}

/* ---- MPI_Start ---- */

static void start_send(mpi_request_t *whole)
{
    mpi_partitioned_t *p = whole->extra;

    memset(p->over, 0, (size_t)p->partitions);
    p->ready = 0;
    p->parts = NULL;
    p->pending = p->partitions;
    whole->is_done = whole->peer == MPI_PROC_NULL || p->partitions == 0;
}

/* Start a partitioned receive, which may have to wait for the greeting of its sender. */
static void start_receive(mpi_request_t *whole)
{
    mpi_partitioned_t *p = whole->extra;

    whole->completion.source = whole->peer;
    whole->completion.tag = whole->tag;
    if (whole->peer == MPI_PROC_NULL) {
        whole->completion = mpi_completion_null_peer;
        whole->is_done = true;
        return;
    }
    p->pending = 1;
    p->parts = p->hello;
    if (!p->is_met) {
        p->hello->next_part = NULL;
        return;
    }
    memset(p->over, 0, (size_t)p->head.partitions);
    receive_all(p);
    less(p);
}

/* ---- What calls do ---- */

int mpi_partitioned_ready(mpi_rank_t *self, mpi_request_t *request, int i)
{
    mpi_partitioned_t *p = request->extra;
    mpi_transfer_t t = {.comm = &p->data,
                        .buffer = (char *)request->buffer +
                                  (int64_t)i * request->count * request->type->extent,
                        .count = request->count,
                        .type = request->type,
                        .peer = request->peer,
                        .tag = p->head.first_tag + i};
    mpi_request_t *part;
    int error;

    p->over[i] = 1;
    p->ready++;
    if (request->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (mpi_p2p_engine != NULL && mpi_p2p_engine->part != NULL)
        mpi_p2p_engine->part(request, &t, false);
    error = mpi_isend(self, &t, &part);
    if (error == MPI_SUCCESS)
        started(p, part);
    return error;
}

int mpi_partitioned_raise(const mpi_request_t *request)
{
    const mpi_partitioned_t *p = request->extra;
    char peer[XMPI_RANK_TEXT], site[160] = "";

    if (mpi_rank_is_here(mpi_job, mpi_comm_world_rank(request->comm, request->peer)))
        mpi_caller_describe(p->head.site, site, sizeof(site));
    return mpi_error(request->comm, MPI_ERR_TRUNCATE,
                     "%s sends %d partitions of %llu bytes with tag %d%s%s%s; this receive has %d "
                     "of %llu, less in all",
                     mpi_comm_describe_rank(request->comm, request->peer, peer), p->head.partitions,
                     (unsigned long long)p->head.bytes, request->tag, site[0] ? " (" : "", site,
                     site[0] ? ")" : "", p->partitions, (unsigned long long)p->bytes);
}

/* Allocate the state of a partitioned transfer; NULL without memory. */
static mpi_partitioned_t *object_new(const mpi_transfer_t *t, int partitions, bool is_receive)
{
    mpi_partitioned_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    p->users = 1;
    p->partitions = partitions;
    p->bytes = (uint64_t)t->count * mpi_type_size(t->type);
    p->heads = mpi_comm_shadow(t->comm, XMPI_CONTEXT_PARTITIONED | XMPI_CONTEXT_SHADOW);
    p->data = mpi_comm_shadow(t->comm, XMPI_CONTEXT_PARTITIONED);
    if (is_receive)
        return p;
    p->is_met = true;
    p->over = xy_calloc((size_t)partitions + 1, 1);
    if (p->over == NULL) {
        xy_free(p);
        return NULL;
    }
    return p;
}

/* Take tags for the partitions and list the transfer in its communicator; returns an MPI error
 * code. */
static int enlist(mpi_partitioned_t *p, mpi_comm_t *comm)
{
    int first = take_tags(comm, p->partitions);

    if (first < 0)
        return mpi_error(comm, MPI_ERR_NO_MEM,
                         "all tags of partitions are in use; free requests that are not needed");
    p->head = (mpi_partitioned_head_t){.partitions = p->partitions,
                                       .first_tag = first,
                                       .bytes = p->bytes,
                                       .site = p->whole->call.caller};
    p->next = comm->partitioned;
    if (p->next != NULL)
        p->next->previous = p;
    comm->partitioned = p;
    return MPI_SUCCESS;
}

int mpi_partitioned_new(mpi_rank_t *self, const mpi_transfer_t *t, int partitions, bool is_receive,
                        mpi_request_t **request_p)
{
    mpi_request_t *whole = mpi_request_new(self, is_receive ? XMPI_KIND_PRECV : XMPI_KIND_PSEND);
    mpi_partitioned_t *p = whole ? object_new(t, partitions, is_receive) : NULL;
    int error = MPI_SUCCESS;

    if (p == NULL) {
        if (whole != NULL)
            mpi_request_free(whole);
        return mpi_error_memory(t->comm, "a request");
    }
    mpi_request_describe(whole, t);
    mpi_comm_hold(t->comm);
    mpi_type_hold(t->type);
    whole->is_persistent = true;
    whole->is_active = false;
    whole->start = is_receive ? start_receive : start_send;
    whole->release = release;
    whole->extra = p;
    whole->engine = NULL;
    p->whole = whole;
    if (!is_receive)
        error = enlist(p, t->comm);
    if (error == MPI_SUCCESS && t->peer != MPI_PROC_NULL)
        error = say_hello(self, p, is_receive);
    if (error != MPI_SUCCESS) {
        mpi_request_free(whole);
        return error;
    }
    *request_p = whole;
    return MPI_SUCCESS;
}
