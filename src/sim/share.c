/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/share.h"

static void plan(xy_share_t *share)
{
    const xy_heap_item_t *first = xy_heap_peek(&share->users);

    share->rate = share->load > share->capacity ? share->capacity / share->load : 1;
    if (first == NULL)
        xy_event_cancel(&share->event);
    else
        xy_vclock_set(share->clock, &share->event,
                      share->clock->now + fmax(0, first->key - share->work) / share->rate);
}

static void due(xy_event_t *event)
{
    xy_share_t *share = event->owner;
    double work;
    xy_share_user_t *user = xy_heap_pop(&share->users, &work);

    share->load = share->users.count > 0 ? share->load - user->weight : 0;
    share->work = work; /* exactly, whatever rounding says */
    share->since = share->clock->now;
    plan(share);
    user->done(user);
}

void xy_share_init(xy_share_t *share, xy_vclock_t *clock, double capacity)
{
    *share = (xy_share_t){.capacity = capacity, .clock = clock};
    xy_event_init(&share->event, due, share, 0);
    xy_share_reset(share);
}

void xy_share_cleanup(xy_share_t *share)
{
    xy_heap_cleanup(&share->users);
}

void xy_share_reset(xy_share_t *share)
{
    share->users.count = 0;
    share->load = 0;
    share->work = share->since = 0;
    share->rate = 1;
}

void xy_share_start(xy_share_t *share, xy_share_user_t *user, double seconds)
{
    double now = share->clock->now;

    share->work += (now - share->since) * share->rate;
    share->since = now;
    share->load += user->weight;
    if (xy_heap_push(&share->users, share->work + seconds, user) != XY_OK)
        xy_vclock_out_of_memory(share->clock);
    plan(share);
}
