/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A resource that many users share equally: the memory of a NUMA node, a link that all cross. It
 * feeds `capacity` users at full speed, more of those that take less (their weight is below 1);
 * when there are too many, all are slowed down alike.
 *
 *   xy_share_t memory;
 *   xy_share_init(&memory, &clock, 32);
 *   xy_share_start(&memory, &core->user, 2e-3);   (2 ms at full speed; then core->user.done())
 *   xy_share_cleanup(&memory);
 *
 * One clock of its own serves all users: it runs at the speed at which each of them advances, and a
 * user that begins at c and needs s seconds alone is complete at c + s. Who comes or goes changes
 * the speed, not the order; so a change costs O(log users), where links that are crossed by
 * different routes (flow.h) must look at all of them.
 */
#ifndef XY_SIM_SHARE_H
#define XY_SIM_SHARE_H

#include "sim/event.h"

/* The first member of what uses a share. */
typedef struct xy_share_user {
    double weight; /* of the speed of a user at full speed, what this one takes */
    void (*done)(struct xy_share_user *user);
} xy_share_user_t;

typedef struct {
    double capacity;          /* users at full speed */
    double load;              /* the sum of the users' weights */
    double work, since, rate; /* seconds that each user got up to `since`, and gets since then */
    xy_heap_t users;          /* by the work at which they are complete */
    xy_event_t event;
    xy_vclock_t *clock;
} xy_share_t;

void xy_share_init(xy_share_t *share, xy_vclock_t *clock, double capacity);
void xy_share_cleanup(xy_share_t *share);
/* Without users, as in the beginning; the clock was reset. */
void xy_share_reset(xy_share_t *share);
/* Begin what takes `seconds` at full speed. Running out of memory is noted by the clock. */
void xy_share_start(xy_share_t *share, xy_share_user_t *user, double seconds);

#endif
