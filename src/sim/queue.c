/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/queue.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* The bits of a key; -0 has those of 0. */
static uint64_t bits_of(double key)
{
    uint64_t bits;

    key += 0.0;
    memcpy(&bits, &key, sizeof(bits));
    return bits;
}

static double key_of(uint64_t bits)
{
    double key;

    memcpy(&key, &bits, sizeof(key));
    return key;
}

/* ---- Lists ---- */

/* Doubles the entries of a queue; returns false without memory. */
static bool grow(sim_queue_t *q)
{
    uint32_t capacity = q->capacity == 0 ? FIRST_CAPACITY : 2 * q->capacity;
    sim_queue_entry_t *entries;

    if (capacity < q->capacity)
        return false;
    entries = xy_realloc_array(q->entries, capacity, sizeof(*entries));
    if (entries == NULL)
        return false;
    q->entries = entries;
    q->capacity = capacity;
    if (q->used == 0)
        q->used = 1; /* number 0 is none */
    return true;
}

static inline void append(sim_queue_entry_t *entries, sim_queue_list_t *list, uint32_t i)
{
    if (list->head == 0)
        list->head = i;
    else
        entries[list->tail].next = i;
    list->tail = i;
}

/* To the list where it belongs; its key is not before the last one. */
static inline void put(sim_queue_t *q, uint32_t i, uint64_t bits)
{
    uint64_t differ = bits ^ q->last;
    unsigned digit, value;

    if (differ == 0) {
        append(q->entries, &q->now, i);
        return;
    }
    digit = (63 - (unsigned)__builtin_clzll(differ)) / SIM_DIGIT;
    value = (unsigned)(bits >> (digit * SIM_DIGIT)) % SIM_VALUES;
    q->digits |= UINT32_C(1) << digit;
    q->values[digit] |= UINT64_C(1) << value;
    append(q->entries, &q->lists[digit][value], i);
}

xy_status_t sim_queue_push(sim_queue_t *q, double key, void *value)
{
    uint64_t bits = bits_of(key);
    uint32_t i = q->free;

    if (key < key_of(q->last)) {
        if (xy_heap_push(&q->early, key, value) != XY_OK)
            return XY_ENOMEM;
        q->count++;
        return XY_OK;
    }
    if (i == 0) {
        if (q->used == q->capacity && !grow(q))
            return XY_ENOMEM;
        i = q->used++;
    } else {
        q->free = q->entries[i].next;
    }
    q->entries[i] = (sim_queue_entry_t){.key = key, .value = value};
    q->count++;
    put(q, i, bits);
    return XY_OK;
}

/* The list of the least keys, out of its place. There is one. */
static uint32_t take_list(sim_queue_t *q)
{
    unsigned digit = (unsigned)__builtin_ctz(q->digits);
    unsigned value = (unsigned)__builtin_ctzll(q->values[digit]);
    sim_queue_list_t *list = &q->lists[digit][value];
    uint32_t head = list->head;

    *list = (sim_queue_list_t){0};
    q->values[digit] &= q->values[digit] - 1;
    if (q->values[digit] == 0)
        q->digits &= q->digits - 1;
    return head;
}

/* The least keys become those of now. There are some. */
static void advance(sim_queue_t *q)
{
    sim_queue_entry_t *entries = q->entries;
    uint32_t head = take_list(q);
    uint64_t least = bits_of(entries[head].key);

    if (entries[head].next == 0) {
        q->last = least;
        q->now = (sim_queue_list_t){head, head};
        return;
    }
    for (uint32_t i = entries[head].next; i != 0; i = entries[i].next) {
        uint64_t bits = bits_of(entries[i].key);

        least = bits < least ? bits : least;
    }
    q->last = least;
    while (head != 0) {
        uint32_t next = entries[head].next;

        entries[head].next = 0;
        put(q, head, bits_of(entries[head].key));
        head = next;
    }
}

void *sim_queue_pop(sim_queue_t *q, double *key_p)
{
    sim_queue_entry_t *entry;
    uint32_t i;

    if (q->count == 0)
        return NULL;
    q->count--;
    if (q->early.count > 0)
        return xy_heap_pop(&q->early, key_p);
    if (q->now.head == 0)
        advance(q);
    i = q->now.head;
    entry = &q->entries[i];
    q->now.head = entry->next;
    entry->next = q->free;
    q->free = i;
    *key_p = entry->key;
    return entry->value;
}

/* ---- Looking ---- */

void *sim_queue_peek(const sim_queue_t *q, double key, double *key_p)
{
    const xy_heap_item_t *first = xy_heap_peek(&q->early);
    const sim_queue_entry_t *entry;

    if (first != NULL) {
        *key_p = first->key;
        return first->key <= key ? first->value : NULL;
    }
    if (q->now.head == 0)
        return NULL; /* the others are later than the last one */
    entry = &q->entries[q->now.head];
    *key_p = entry->key;
    return entry->key <= key ? entry->value : NULL;
}

void *sim_queue_guess(const sim_queue_t *q, void **after_p)
{
    uint32_t i = q->now.head, after;

    if (i == 0 && q->digits != 0) {
        unsigned digit = (unsigned)__builtin_ctz(q->digits);

        i = q->lists[digit][__builtin_ctzll(q->values[digit])].head;
    }
    *after_p = NULL;
    if (i == 0)
        return NULL;
    after = q->entries[i].next;
    if (after != 0)
        *after_p = q->entries[after].value;
    return q->entries[i].value;
}

/* ---- All of them ---- */

/* Removes the entries of a list that `keep` refuses. */
static void filter_list(sim_queue_t *q, sim_queue_list_t *list,
                        bool (*keep)(const xy_heap_item_t *item))
{
    uint32_t i = list->head;

    *list = (sim_queue_list_t){0};
    while (i != 0) {
        sim_queue_entry_t *entry = &q->entries[i];
        uint32_t next = entry->next;

        if (keep(&(xy_heap_item_t){.key = entry->key, .value = entry->value})) {
            entry->next = 0;
            append(q->entries, list, i);
        } else {
            entry->next = q->free;
            q->free = i;
            q->count--;
        }
        i = next;
    }
}

void sim_queue_filter(sim_queue_t *q, bool (*keep)(const xy_heap_item_t *item))
{
    q->count -= q->early.count;
    xy_heap_filter(&q->early, keep);
    q->count += q->early.count;
    filter_list(q, &q->now, keep);
    q->digits = 0;
    for (unsigned d = 0; d < SIM_DIGITS; d++) {
        uint64_t values = q->values[d];

        q->values[d] = 0;
        for (; values != 0; values &= values - 1) {
            unsigned v = (unsigned)__builtin_ctzll(values);

            filter_list(q, &q->lists[d][v], keep);
            if (q->lists[d][v].head != 0)
                q->values[d] |= UINT64_C(1) << v;
        }
        if (q->values[d] != 0)
            q->digits |= UINT32_C(1) << d;
    }
}

void sim_queue_clear(sim_queue_t *q)
{
    sim_queue_t empty = {.entries = q->entries, .capacity = q->capacity, .early = q->early};

    empty.used = q->capacity > 0 ? 1 : 0;
    empty.early.count = 0;
    *q = empty;
}

void sim_queue_cleanup(sim_queue_t *q)
{
    xy_free(q->entries);
    xy_heap_cleanup(&q->early);
    *q = SIM_QUEUE_INIT;
}
