/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/match.h"

#include <stddef.h>

enum { BUCKETS_FIRST = 8 };

/* Bit 0: any source, bit 1: any tag. */
static unsigned wildcard_class(const xy_envelope_t *e)
{
    return (e->source == XY_MATCH_ANY_SOURCE ? 1u : 0u) | (e->tag == XY_MATCH_ANY_TAG ? 2u : 0u);
}

static uint32_t hash_of(const xy_envelope_t *e)
{
    uint64_t key = ((uint64_t)e->context << 32 | (uint32_t)e->source) * 0x9e3779b97f4a7c15u;

    key = (key ^ (uint32_t)e->tag) * 0xff51afd7ed558ccdu;
    return (uint32_t)(key >> 32);
}

static bool same_envelope(const xy_envelope_t *a, const xy_envelope_t *b)
{
    return a->source == b->source && a->tag == b->tag && a->context == b->context;
}

static xy_status_t table_init(xy_match_table_t *table, uint32_t buckets)
{
    table->buckets = xy_calloc(buckets, sizeof(*table->buckets));
    if (table->buckets == NULL)
        return XY_ENOMEM;
    table->mask = buckets - 1;
    return XY_OK;
}

static void bucket_append(xy_match_table_t *table, xy_match_entry_t *entry)
{
    xy_match_bucket_t *b = &table->buckets[entry->hash & table->mask];

    entry->next = NULL;
    entry->previous = b->tail;
    if (b->tail != NULL)
        b->tail->next = entry;
    else
        b->head = entry;
    b->tail = entry;
}

/* Twice the buckets; entries of one hash keep their order. When memory runs out the table stays as
 * it is: slower, still right. */
static void table_grow(xy_match_table_t *table)
{
    xy_match_table_t old = *table;

    if (table_init(table, 2 * (old.mask + 1)) != XY_OK) {
        *table = old;
        return;
    }
    for (uint32_t b = 0; b <= old.mask; b++)
        for (xy_match_entry_t *e = old.buckets[b].head, *next; e != NULL; e = next) {
            next = e->next;
            bucket_append(table, e);
        }
    xy_free(old.buckets);
}

static void table_add(xy_match_table_t *table, xy_match_entry_t *entry)
{
    if (table->count++ > 2 * table->mask)
        table_grow(table);
    bucket_append(table, entry);
}

/* Unlink an entry from its bucket; it stays allocated and belongs to the caller. */
static void table_remove(xy_match_table_t *table, xy_match_entry_t *entry)
{
    xy_match_bucket_t *b = &table->buckets[entry->hash & table->mask];

    if (entry->previous != NULL)
        entry->previous->next = entry->next;
    else
        b->head = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    else
        b->tail = entry->previous;
    table->count--;
}

static xy_match_entry_t *table_first(const xy_match_table_t *table, const xy_envelope_t *envelope)
{
    xy_match_entry_t *e = table->buckets[hash_of(envelope) & table->mask].head;

    while (e != NULL && !same_envelope(&e->envelope, envelope))
        e = e->next;
    return e;
}

xy_status_t xy_match_init(xy_match_t *match)
{
    *match = (xy_match_t){0};
    if (table_init(&match->posted, BUCKETS_FIRST) != XY_OK)
        return XY_ENOMEM;
    if (table_init(&match->unexpected, BUCKETS_FIRST) != XY_OK) {
        xy_free(match->posted.buckets);
        match->posted.buckets = NULL;
        return XY_ENOMEM;
    }
    return XY_OK;
}

void xy_match_cleanup(xy_match_t *match)
{
    xy_free(match->posted.buckets);
    xy_free(match->unexpected.buckets);
}

void xy_match_post(xy_match_t *match, xy_match_entry_t *receive)
{
    receive->hash = hash_of(&receive->envelope);
    receive->order = match->order++;
    match->wildcards[wildcard_class(&receive->envelope)]++;
    table_add(&match->posted, receive);
}

void xy_match_unpost(xy_match_t *match, xy_match_entry_t *receive)
{
    match->wildcards[wildcard_class(&receive->envelope)]--;
    table_remove(&match->posted, receive);
}

xy_match_entry_t *xy_match_arrive(xy_match_t *match, const xy_envelope_t *envelope)
{
    xy_match_entry_t *best = NULL;

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
        xy_envelope_t key = *envelope;
        xy_match_entry_t *e;

        if (match->wildcards[kind] == 0)
            continue;
        if (kind & 1)
            key.source = XY_MATCH_ANY_SOURCE;
        if (kind & 2)
            key.tag = XY_MATCH_ANY_TAG;
        e = table_first(&match->posted, &key);
        if (e != NULL && (best == NULL || e->order < best->order))
            best = e;
    }
    if (best != NULL)
        xy_match_unpost(match, best);
    return best;
}

void xy_match_keep(xy_match_t *match, xy_match_entry_t *message)
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

void xy_match_drop(xy_match_t *match, xy_match_entry_t *message)
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

static bool accepts(const xy_envelope_t *receive, const xy_envelope_t *message)
{
    return receive->context == message->context &&
           (receive->source == XY_MATCH_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == XY_MATCH_ANY_TAG || receive->tag == message->tag);
}

xy_match_entry_t *xy_match_find(const xy_match_t *match, const xy_envelope_t *envelope)
{
    if (match->unexpected.count == 0)
        return NULL;
    if (wildcard_class(envelope) == 0)
        return table_first(&match->unexpected, envelope);
    for (xy_match_entry_t *e = match->first; e != NULL; e = e->list_next)
        if (accepts(envelope, &e->envelope))
            return e;
    return NULL;
}
