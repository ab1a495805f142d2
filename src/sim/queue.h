/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of the clock: the least key comes first, equal keys in the order in which they came. It
 * is meant for keys that are never less than the last one that came out, as those of a clock are; a
 * key that is less is right, too, and costs O(log of such keys).
 *
 *   sim_queue_t q = SIM_QUEUE_INIT;
 *   st = sim_queue_push(&q, 3.5, event);
 *   event = sim_queue_pop(&q, &key);      (NULL: empty)
 *   sim_queue_cleanup(&q);
 *
 * A radix heap. Keys of doubles that are not negative are ordered as their bits are. An entry lies
 * in the list of the highest digit of its key that differs from the last key that came out, and of
 * that digit's value; keys in lower digits are less. The first list is taken apart when its turn
 * has come: the least key in it becomes the last one, and the others get into lists of lower
 * digits. An entry moves once for each digit in which it differs from its neighbours, about log n /
 * SIM_DIGIT times, and a whole list of equal keys at once.
 */
#ifndef XY_SIM_QUEUE_H
#define XY_SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
    SIM_DIGIT = 4, /* bits */
    SIM_DIGITS = (64 + SIM_DIGIT - 1) / SIM_DIGIT,
    SIM_VALUES = 1 << SIM_DIGIT,
};

typedef struct {
    double key;
    void *value;
    uint32_t next; /* in the list; of the free ones; 0: none */
} sim_queue_entry_t;

typedef struct {
    uint32_t head, tail;
} sim_queue_list_t;

typedef struct {
    size_t count;
    uint64_t last; /* bits of the last key that came out of the lists */
    sim_queue_list_t now;
    uint32_t digits;             /* bit d: there are entries that differ in digit d first */
    uint64_t values[SIM_DIGITS]; /* bit v: ... and have the value v there */
    uint32_t free, used, capacity;
    sim_queue_entry_t *entries; /* [capacity]; 0 is none */
    sim_queue_list_t lists[SIM_DIGITS][SIM_VALUES];
    xy_heap_t early; /* keys before the last one */
} sim_queue_t;

#define SIM_QUEUE_INIT ((sim_queue_t){0})

/* `key` is a number, `value` is not NULL. XY_ENOMEM in silence. */
xy_status_t sim_queue_push(sim_queue_t *queue, double key, void *value);
void *sim_queue_pop(sim_queue_t *queue, double *key_p); /* NULL: empty */
/* The first entry, where its key is at most `key`, which came out last; left in; NULL: there is
 * none. */
void *sim_queue_peek(const sim_queue_t *queue, double key, double *key_p);
/* The likely next element, and the one after it; NULL: not known. */
void *sim_queue_guess(const sim_queue_t *queue, void **after_p);
/* Keep the entries that `keep` wants; they come out in the same order. O(entries). */
void sim_queue_filter(sim_queue_t *queue, bool (*keep)(const xy_heap_item_t *item));
void sim_queue_clear(sim_queue_t *queue);
void sim_queue_cleanup(sim_queue_t *queue);

#endif
