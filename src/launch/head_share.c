/* SPDX-License-Identifier: BSD-3-Clause */
/* Give ranks to processes: blocks in the order of the processes. */
#include "launch/head.h"

/* How many it has room for: what --ppn or its slots say, or its cores. 0: not known yet. */
static long room_of(const head_t *h, int i)
{
    const head_process_t *p = &h->processes[i];

    return h->values->ppn > 0 ? h->values->ppn : p->slots > 0 ? p->slots : p->cores_there;
}

static bool is_said(const head_t *h)
{
    for (int i = 0; i < h->count; i++)
        if (h->values->ppn <= 0 && h->processes[i].slots <= 0)
            return false;
    return true;
}

/* One after the other, as slots are filled; the rest gets nothing. */
static void fill(head_t *h)
{
    int left = h->size;

    for (int i = 0; i < h->count; i++) {
        long room = room_of(h, i);

        h->processes[i].ranks = room < left ? (int)room : left;
        left -= h->processes[i].ranks;
    }
}

/* In proportion to the room, at least one each. */
static void divide(head_t *h, long total)
{
    long before = 0;
    int given = 0;

    for (int i = 0; i < h->count; i++) {
        int left = h->count - i - 1, end;

        before += room_of(h, i);
        end = (int)(((double)h->size * (double)before) / (double)total + 0.5);
        if (end > h->size - left || left == 0)
            end = h->size - left;
        if (end < given + 1)
            end = given + 1;
        h->processes[i].ranks = end - given;
        given = end;
    }
}

void head_share_ranks(head_t *h)
{
    long total = 0;

    for (int i = 0; i < h->count; i++)
        total += room_of(h, i);
    if (h->size == 0)
        h->size = (int)total;
    if (is_said(h) && h->size <= total)
        fill(h);
    else
        divide(h, total);
}

void head_leave_out(head_t *h)
{
    if (h->size > 0 && is_said(h)) {
        head_share_ranks(h);
        while (h->count > 1 && h->processes[h->count - 1].ranks == 0)
            h->count--;
    }
    if (h->size > 0 && h->count > h->size)
        h->count = h->size;
}
