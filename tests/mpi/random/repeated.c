/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives: made in one step, started in it and again in later ones, with other data.
 * Each rank starts those of a step in an order of its own.
 *
 * A start looks back: a rank waits for the last one before it starts again. All others have come to
 * that, or will, since it belongs to an earlier step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

enum { REPEATED_MAX = 6 };

/* All ranks have the same ones, members or not. */
typedef struct {
    bool is_used;
    const kind_t *kind; /* NULL: this rank is no member */
    call_t call;
    comm_t comm; /* its rank and size, when the communicator is gone */
    int step, turns;
    random_t shared, own; /* as they were when the buffers were made */
} repeated_t;

static repeated_t repeated[REPEATED_MAX];

static void stop(repeated_t *r)
{
    if (r->is_used && r->kind != NULL) {
        if (r->call.pending->is_active)
            pending_await(r->call.pending);
        MPI_Request_free(&r->call.request);
        pending_destroy(r->call.pending);
    }
    *r = (repeated_t){.is_used = false};
}

void repeated_end(void)
{
    for (int i = 0; i < REPEATED_MAX; i++)
        stop(&repeated[i]);
}

/* New data of the next turn, by making all buffers again. */
static void refill(repeated_t *r)
{
    random_t shared = shared_random, own = own_random;
    call_t call = r->call;
    int now = step;

    step = r->step;
    turn = ++r->turns;
    shared_random = r->shared;
    own_random = r->own;
    call.how = REFILL;
    call.pending = pending_create(r->kind->name);
    collective_run(r->kind, &call);
    step = now;
    turn = 0;
    shared_random = shared;
    own_random = own;
    buffer_refill(&r->call.pending->send, &call.pending->send);
    buffer_refill(&r->call.pending->receive, &call.pending->receive);
    pending_destroy(call.pending);
}

static void started(repeated_t *r)
{
    r->call.pending->step = step;
    collective_finish(&r->call);
}

/* A collective of any kind: on a communicator, with neighbours, or between two groups. */
static const kind_t *draw_any(call_t *call)
{
    switch (draw(&shared_random, 6)) {
    case 0:
        return neighbors_draw(call);
    case 1:
        return inter_draw(call);
    default:
        return collective_draw(call);
    }
}

void step_repeated(void)
{
    repeated_t *r = &repeated[draw(&shared_random, REPEATED_MAX)];

    stop(r);
    r->is_used = true;
    r->kind = draw_any(&r->call);
    if (r->kind == NULL)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: persistent %s\n", rank, step, r->kind->name);
    r->comm = *r->call.comm;
    r->call.comm = &r->comm;
    r->call.how = PERSISTENT;
    r->call.pending = pending_create(r->kind->name);
    r->call.pending->is_persistent = true;
    r->step = step;
    r->shared = shared_random;
    r->own = own_random;
    collective_run(r->kind, &r->call);
    MPI_Start(&r->call.request);
    started(r);
}

/* This rank's part in those of a step, in its own order. */
static void start_all(repeated_t **list, int n)
{
    MPI_Request requests[REPEATED_MAX];

    for (int i = n - 1; i > 0; i--) {
        int j = draw(&own_random, i + 1);
        repeated_t *other = list[i];

        list[i] = list[j];
        list[j] = other;
    }
    for (int i = 0; i < n; i++)
        requests[i] = list[i]->call.request;
    if (chance(&own_random, 50)) {
        MPI_Startall(n, requests);
    } else {
        for (int i = 0; i < n; i++)
            MPI_Start(&requests[i]);
    }
    for (int i = 0; i < n; i++)
        started(list[i]);
}

void step_repeat(void)
{
    int percent = 30 + draw(&shared_random, 70), n = 0;
    repeated_t *list[REPEATED_MAX];

    for (int i = 0; i < REPEATED_MAX; i++) {
        bool is_wanted = chance(&shared_random, percent);

        if (is_wanted && repeated[i].is_used && repeated[i].kind != NULL)
            list[n++] = &repeated[i];
    }
    if (is_verbose && n > 0)
        fprintf(stderr, "%d: step %d: %d persistent collectives again\n", rank, step, n);
    for (int i = 0; i < n; i++) {
        if (list[i]->call.pending->is_active)
            pending_await(list[i]->call.pending);
        refill(list[i]);
    }
    start_all(list, n);
}
