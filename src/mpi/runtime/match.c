/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/match.h"

#include <stddef.h>

#include "mpi.h"

enum { BUCKETS_FIRST = 8 };

/* Bit 0: any source, bit 1: any tag. */
static unsigned wildcard_class(const mpi_envelope_t *e)
{
    return (e->source == MPI_ANY_SOURCE ? 1u : 0u) | (e->tag == MPI_ANY_TAG ? 2u : 0u);
}

static uint32_t hash_of(const mpi_envelope_t *e)
{
    uint64_t key = ((uint64_t)e->context << 32 | (uint32_t)e->source) * 0x9e3779b97f4a7c15u;

    key = (key ^ (uint32_t)e->tag) * 0xff51afd7ed558ccdu;
    return (uint32_t)(key >> 32);
}

static bool same_envelope(const mpi_envelope_t *a, const mpi_envelope_t *b)
{
    return a->source == b->source && a->tag == b->tag && a->context == b->context;
}

static xy_status_t table_init(mpi_table_t *table, uint32_t buckets)
{
    mpi_entry_t **heads = xy_calloc(2 * (size_t)buckets, sizeof(*heads));

    if (heads == NULL)
        return XY_ENOMEM;
    table->heads = heads;
    table->tails = heads + buckets;
    table->mask = buckets - 1;
    return XY_OK;
}

static void bucket_append(mpi_table_t *table, mpi_entry_t *entry)
{
    uint32_t b = entry->hash & table->mask;

    entry->next = NULL;
    entry->previous = table->tails[b];
    if (table->tails[b] != NULL)
        table->tails[b]->next = entry;
    else
        table->heads[b] = entry;
    table->tails[b] = entry;
}

/* Twice the buckets; entries of one hash keep their order. When memory runs out the table stays as
 * it is: slower, still right. */
static void table_grow(mpi_table_t *table)
{
    mpi_table_t old = *table;

    if (table_init(table, 2 * (old.mask + 1)) != XY_OK)
        return;
    for (uint32_t b = 0; b <= old.mask; b++)
        for (mpi_entry_t *e = old.heads[b], *next; e != NULL; e = next) {
            next = e->next;
            bucket_append(table, e);
        }
    xy_free(old.heads);
}

static void table_add(mpi_table_t *table, mpi_entry_t *entry)
{
    if (table->count++ > 2 * table->mask)
        table_grow(table);
    bucket_append(table, entry);
}

static void table_remove(mpi_table_t *table, mpi_entry_t *entry)
{
    uint32_t b = entry->hash & table->mask;

    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        table->heads[b] = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    else
        table->tails[b] = entry->previous;
    table->count--;
}

static mpi_entry_t *table_first(const mpi_table_t *table, const mpi_envelope_t *envelope)
{
    mpi_entry_t *e = table->heads[hash_of(envelope) & table->mask];

    while (e != NULL && !same_envelope(&e->envelope, envelope))
        e = e->next;
    return e;
}

xy_status_t mpi_match_init(mpi_match_t *match)
{
    *match = (mpi_match_t){0};
    if (table_init(&match->posted, BUCKETS_FIRST) != XY_OK)
        return XY_ENOMEM;
    if (table_init(&match->unexpected, BUCKETS_FIRST) != XY_OK) {
        xy_free(match->posted.heads);
        return XY_ENOMEM;
    }
    return XY_OK;
}

void mpi_match_cleanup(mpi_match_t *match)
{
    xy_free(match->posted.heads);
    xy_free(match->unexpected.heads);
}

void mpi_match_post(mpi_match_t *match, mpi_entry_t *receive)
{
    receive->hash = hash_of(&receive->envelope);
    receive->order = match->order++;
    match->wildcards[wildcard_class(&receive->envelope)]++;
    table_add(&match->posted, receive);
}

void mpi_match_unpost(mpi_match_t *match, mpi_entry_t *receive)
{
    match->wildcards[wildcard_class(&receive->envelope)]--;
    table_remove(&match->posted, receive);
}

mpi_entry_t *mpi_match_arrive(mpi_match_t *match, const mpi_envelope_t *envelope)
{
    mpi_entry_t *best = NULL;

    if (match->posted.count == 0)
        return NULL;
    if ((match->wildcards[1] | match->wildcards[2] | match->wildcards[3]) == 0) {
        best = table_first(&match->posted, envelope);
        if (best != NULL) {
            match->wildcards[0]--;
            table_remove(&match->posted, best);
        }
        return best;
    }
    for (unsigned kind = 0; kind < 4; kind++) {
        mpi_envelope_t key = *envelope;
        mpi_entry_t *e;

        if (match->wildcards[kind] == 0)
            continue;
        if (kind & 1)
            key.source = MPI_ANY_SOURCE;
        if (kind & 2)
            key.tag = MPI_ANY_TAG;
        e = table_first(&match->posted, &key);
        if (e != NULL && (best == NULL || e->order < best->order))
            best = e;
    }
    if (best != NULL)
        mpi_match_unpost(match, best);
    return best;
}

void mpi_match_keep(mpi_match_t *match, mpi_entry_t *message)
{
    message->hash = hash_of(&message->envelope);
    message->order = match->order++;
    table_add(&match->unexpected, message);
    message->list_next = NULL;
    message->list_previous = match->last;
    if (match->last != NULL)
        match->last->list_next = message;
    else
        match->first = message;
    match->last = message;
}

void mpi_match_drop(mpi_match_t *match, mpi_entry_t *message)
{
    table_remove(&match->unexpected, message);
    if (message->list_previous != NULL)
        message->list_previous->list_next = message->list_next;
    else
        match->first = message->list_next;
    if (message->list_next != NULL)
        message->list_next->list_previous = message->list_previous;
    else
        match->last = message->list_previous;
}

static bool accepts(const mpi_envelope_t *receive, const mpi_envelope_t *message)
{
    return receive->context == message->context &&
           (receive->source == MPI_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

mpi_entry_t *mpi_match_find(const mpi_match_t *match, const mpi_envelope_t *envelope)
{
    if (match->unexpected.count == 0)
        return NULL;
    if (wildcard_class(envelope) == 0)
        return table_first(&match->unexpected, envelope);
    for (mpi_entry_t *e = match->first; e != NULL; e = e->list_next)
        if (accepts(envelope, &e->envelope))
            return e;
    return NULL;
}
