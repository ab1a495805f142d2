/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting and testing. The job is asked about what is pending, and only about that. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

/* It is complete in the job: take its results. */
static void finish(walker_t *w, walk_request_t *r)
{
    if (r->kind == WALK_COLLECTIVE) {
        if (r->kept != NULL)
            walk_data_take(w, r);
    } else {
        xy_vjob_status_t status;

        xy_vjob_status(w->walk->job, r->vreq, &status);
        if (r->kind == WALK_RECEIVE && status.bytes > r->status.bytes)
            process_fail(&w->process,
                         "a message of %llu bytes from process %d, tag %d, has arrived for a "
                         "receive of %llu",
                         (unsigned long long)status.bytes, status.source, status.tag,
                         (unsigned long long)r->status.bytes);
        r->status = (walk_status_t){status.source, status.tag, status.bytes};
    }
    xy_vjob_release(w->walk->job, r->vreq);
    r->vreq = NULL;
    r->is_done = true;
}

/* Enlarges the lists of requests that a rank waits for. */
static bool grow_list(walker_t *w, size_t count)
{
    size_t capacity = count < 4 ? 4 : count * 2;
    xy_vreq_t **list;
    int32_t *of_list;

    if (count <= w->list_capacity)
        return true;
    list = xy_realloc_array(w->list, capacity, sizeof(xy_vreq_t *));
    if (list != NULL)
        w->list = list;
    of_list = xy_realloc_array(w->of_list, capacity, sizeof(*of_list));
    if (of_list != NULL)
        w->of_list = of_list;
    if (list == NULL || of_list == NULL)
        return process_fail_memory(&w->process);
    w->list_capacity = capacity;
    return true;
}

static bool is_pending(const walk_request_t *r)
{
    return r->is_active && !r->is_done;
}

/* Complete the requests that the job has completed. */
static void sweep(walker_t *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        walk_request_t *r = walk_request_at(w, w->of_list[i]);

        if (is_pending(r) && xy_vjob_is_done(w->walk->job, r->vreq))
            finish(w, r);
    }
}

/* Add to the list a pending request, or its pending messages if it has several. */
static void list_pending(walker_t *w, int32_t index, size_t *n)
{
    const walk_request_t *r = walk_request_at(w, index);

    if (!is_pending(r))
        return;
    for (uint64_t i = 0; r->kind == WALK_SEVERAL && i < r->number; i++)
        list_pending(w, (int32_t)r->kept->args[i], n);
    if (r->kind == WALK_SEVERAL)
        return;
    w->of_list[*n] = index;
    w->list[(*n)++] = r->vreq;
}

/* The pending ones to the list; their number, or -1. */
static int64_t gather(walker_t *w, const int32_t *requests, int32_t count)
{
    size_t n = 0, most = 0;

    for (int32_t i = 0; i < count; i++)
        if (requests[i] >= 0)
            most += walk_request_at(w, requests[i])->kind == WALK_SEVERAL
                        ? walk_request_at(w, requests[i])->number
                        : 1;
    if (!grow_list(w, most))
        return -1;
    for (int32_t i = 0; i < count; i++)
        if (requests[i] >= 0)
            list_pending(w, requests[i], &n);
    w->list_count = n;
    return (int64_t)n;
}

void walk_settle(walker_t *w, walk_request_t *r)
{
    bool is_done = r->kind == WALK_SEVERAL && is_pending(r);

    for (uint64_t i = 0; is_done && i < r->number; i++)
        is_done = walk_request_at(w, (int32_t)r->kept->args[i])->is_done;
    for (uint64_t i = 0; is_done && i < r->number; i++)
        walk_request_free(w, walk_request_at(w, (int32_t)r->kept->args[i]));
    r->is_done |= is_done;
}

/* Sweep the list and settle these requests; false after an error. */
static bool take_done(walker_t *w, const int32_t *requests, int32_t count)
{
    sweep(w, w->list_count);
    for (int32_t i = 0; i < count; i++)
        if (requests[i] >= 0)
            walk_settle(w, walk_request_at(w, requests[i]));
    return w->process.status == XY_OK;
}

bool walk_wait(walker_t *w, const int32_t *requests, int32_t count, bool any)
{
    if (!w->is_waiting) {
        int64_t n = gather(w, requests, count);

        if (n <= 0)
            return n == 0;
        w->is_waiting = true;
        if (!xy_vjob_wait(w->walk->job, w->rank, w->list, (size_t)n,
                          any ? XY_VJOB_ONE : XY_VJOB_ALL))
            return false;
    }
    w->is_waiting = false;
    return take_done(w, requests, count);
}

const walk_request_t *walk_wait_begun(walker_t *w, int32_t index)
{
    walk_request_t *r;

    if (w->process.phase == 0) {
        if (index < 0)
            return NULL;
        w->current[0] = index;
        w->process.phase = 1;
    }
    if (!walk_wait(w, w->current, 1, false))
        return NULL;
    r = walk_request_at(w, w->current[0]);
    walk_request_free(w, r);
    return r;
}

bool walk_test(walker_t *w, const int32_t *requests, int32_t count, bool any)
{
    if (!w->is_waiting) {
        int64_t n = gather(w, requests, count);

        if (n <= 0)
            return n == 0;
        w->is_waiting = true;
        if (!xy_vjob_test(w->walk->job, w->rank, w->list, (size_t)n,
                          any ? XY_VJOB_ONE : XY_VJOB_ALL))
            return false;
    }
    w->is_waiting = false;
    return !xy_vjob_flag(w->walk->job, w->rank) || take_done(w, requests, count);
}

/* The arguments of a call about several requests. */
typedef struct {
    int64_t at; /* of the handles */
    int32_t count;
    int32_t *index; /* [count]: their numbers; -1: MPI_REQUEST_NULL, or not active. All processes
                       share it: none runs before the call of another has returned. */
} several_t;

/* Enlarges the array of request numbers that all ranks share. */
static bool grow_several(walker_t *w, size_t count)
{
    walk_t *walk = w->walk;
    size_t capacity = count < 16 ? 16 : count * 2;
    int32_t *several;

    if (count <= walk->several_capacity)
        return true;
    several = xy_realloc_array(walk->several, capacity, sizeof(*several));
    if (several == NULL)
        return process_fail_memory(&w->process);
    walk->several = several;
    walk->several_capacity = capacity;
    return true;
}

/* Reads an array of request handles; inactive and null ones get the index -1. */
static bool several_read(walker_t *w, int64_t at, int64_t count, several_t *s)
{
    *s = (several_t){.at = at, .count = (int32_t)count};
    if (count < 0 || count > INT32_MAX)
        return process_fail(&w->process, "the number of requests is %lld", (long long)count);
    if (!grow_several(w, (size_t)count + 1))
        return false;
    s->index = w->walk->several;
    for (int32_t i = 0; i < s->count; i++) {
        walk_request_t *r = NULL;
        int64_t handle;

        if (walk_get_handle(w, at, i, &handle) && handle != (int64_t)(intptr_t)MPI_REQUEST_NULL)
            r = walk_request(w, handle);
        if (w->process.status != XY_OK)
            return false;
        s->index[i] = r != NULL && r->is_active ? (int32_t)(handle - WALK_REQUEST_FIRST) : -1;
    }
    return true;
}

/* The first that is done; -1: none; MPI_UNDEFINED: nothing is active. */
static int32_t find_ready(walker_t *w, const several_t *s)
{
    int32_t none = MPI_UNDEFINED;

    for (int32_t i = 0; i < s->count; i++) {
        if (s->index[i] < 0)
            continue;
        if (walk_request_at(w, s->index[i])->is_done)
            return i;
        none = -1;
    }
    return none;
}

static bool are_all_done(walker_t *w, const several_t *s)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->index[i] >= 0 && !walk_request_at(w, s->index[i])->is_done)
            return false;
    return true;
}

/* Give the result of the i-th to the program; its handle becomes MPI_REQUEST_NULL. */
static bool deliver(walker_t *w, const several_t *s, int32_t i, int64_t status)
{
    walk_request_t *r;
    int32_t source;

    if (s->index[i] < 0)
        return walk_set_status(w, status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    r = walk_request_at(w, s->index[i]);
    source = r->status.source;
    if (r->kind != WALK_RECEIVE)
        r->status = (walk_status_t){.source = MPI_ANY_SOURCE,
                                    .tag = MPI_ANY_TAG,
                                    .bytes = r->kind == WALK_FILE ? r->number : 0};
    else if (source >= 0)
        r->status.source = walk_comm_rank(r->comm, source) - r->first;
    if (!walk_set_status(w, status, r->status.source, r->status.tag, r->status.bytes))
        return false;
    r->is_active = r->is_done = false;
    if (r->is_persistent)
        return true;
    walk_request_free(w, r);
    return walk_set_handle(w, s->at + 8 * (int64_t)i, (int64_t)(intptr_t)MPI_REQUEST_NULL);
}

static int64_t status_at(int64_t statuses, int64_t i)
{
    return statuses != 0 ? statuses + 32 * i : 0;
}

static bool deliver_all(walker_t *w, const several_t *s, int64_t statuses)
{
    for (int32_t i = 0; i < s->count; i++)
        if (!deliver(w, s, i, status_at(statuses, i)))
            return false;
    return true;
}

/* Deliver the completed requests as Waitsome and Testsome do. */
static bool deliver_some(walker_t *w, const several_t *s, const int64_t *args)
{
    int32_t count = 0;

    for (int32_t i = 0; i < s->count; i++)
        if (s->index[i] >= 0 && walk_request_at(w, s->index[i])->is_done) {
            if (!deliver(w, s, i, status_at(args[4], count)) ||
                !walk_set_int(w, args[3] + 4 * (int64_t)count, i))
                return false;
            count++;
        }
    return walk_set_int(w, args[2], count);
}

/* ---- The calls. Each reads its requests again when it continues. ---- */

static bool run_all(walker_t *w, const several_t *s, const int64_t *args)
{
    return walk_wait(w, s->index, s->count, false) && deliver_all(w, s, args[2]);
}

static bool run_one(walker_t *w, const several_t *s, const int64_t *args)
{
    return walk_wait(w, s->index, 1, false) && deliver(w, s, 0, args[1]);
}

/* Until one is complete, or none is active: one of several messages of a request is not enough. */
static bool wait_ready(walker_t *w, const several_t *s, int32_t *ready_p)
{
    *ready_p = w->is_waiting ? -1 : find_ready(w, s);
    while (*ready_p == -1) {
        if (!walk_wait(w, s->index, s->count, true))
            return false;
        *ready_p = find_ready(w, s);
    }
    return true;
}

/* MPI_Waitany: MPI_UNDEFINED if no request is active. */
static bool run_any(walker_t *w, const several_t *s, const int64_t *args)
{
    int32_t ready;

    if (!wait_ready(w, s, &ready))
        return false;
    if (ready == MPI_UNDEFINED)
        return walk_set_int(w, args[2], ready) &&
               walk_set_status(w, args[3], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    return walk_set_int(w, args[2], ready) && deliver(w, s, ready, args[3]);
}

static bool run_some(walker_t *w, const several_t *s, const int64_t *args)
{
    int32_t ready;

    if (!wait_ready(w, s, &ready))
        return false;
    if (ready == MPI_UNDEFINED)
        return walk_set_int(w, args[2], MPI_UNDEFINED);
    return deliver_some(w, s, args);
}

static bool run_test(walker_t *w, const several_t *s, const int64_t *args)
{
    bool is_done;

    if ((w->is_waiting || !are_all_done(w, s)) && !walk_test(w, s->index, s->count, false))
        return false;
    is_done = are_all_done(w, s);
    return walk_set_int(w, args[1], is_done) && (!is_done || deliver(w, s, 0, args[2]));
}

static bool run_testall(walker_t *w, const several_t *s, const int64_t *args)
{
    bool is_done;

    if ((w->is_waiting || !are_all_done(w, s)) && !walk_test(w, s->index, s->count, false))
        return false;
    is_done = are_all_done(w, s);
    return walk_set_int(w, args[2], is_done) && (!is_done || deliver_all(w, s, args[3]));
}

/* MPI_Testany: flag and MPI_UNDEFINED if no request is active. */
static bool run_testany(walker_t *w, const several_t *s, const int64_t *args)
{
    int32_t ready = w->is_waiting ? -1 : find_ready(w, s);

    if (ready == -1) {
        if (!walk_test(w, s->index, s->count, true))
            return false;
        ready = find_ready(w, s);
    }
    if (!walk_set_int(w, args[3], ready != -1) ||
        !walk_set_int(w, args[2], ready == -1 ? MPI_UNDEFINED : ready))
        return false;
    if (ready == MPI_UNDEFINED)
        return walk_set_status(w, args[4], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    return ready == -1 || deliver(w, s, ready, args[4]);
}

static bool run_testsome(walker_t *w, const several_t *s, const int64_t *args)
{
    int32_t ready = w->is_waiting ? -1 : find_ready(w, s);

    if (ready == MPI_UNDEFINED)
        return walk_set_int(w, args[2], MPI_UNDEFINED);
    if (ready == -1 && !walk_test(w, s->index, s->count, true))
        return false;
    return deliver_some(w, s, args);
}

typedef bool (*run_fn)(walker_t *w, const several_t *s, const int64_t *args);
static const run_fn runs[] = {run_one,  run_test,    run_all,     run_any,
                              run_some, run_testall, run_testany, run_testsome};

/* One request (the first two) or an array. */
static bool wait_call(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t extra = walk_extra(site);
    several_t s;

    return several_read(w, extra < 2 ? args[0] : args[1], extra < 2 ? 1 : args[0], &s) &&
           runs[extra](w, &s, args);
}

/* MPI_Request_free: fails for incomplete collectives. */
static bool request_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_request_t *r;
    int64_t handle;

    (void)site;
    if (!walk_get_handle(w, args[0], 0, &handle))
        return false;
    r = walk_request(w, handle);
    if (r == NULL)
        return false;
    if ((r->vreq != NULL && r->kind == WALK_COLLECTIVE) || (r->kind == WALK_SEVERAL && !r->is_done))
        return process_fail(&w->process, "a collective cannot be freed before it is complete");
    xy_vjob_release(w->walk->job, r->vreq);
    walk_request_free(w, r);
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_REQUEST_NULL);
}

const walk_call_t walk_calls_wait[] = {{"Wait", wait_call, 0},
                                       {"Test", wait_call, 1},
                                       {"Waitall", wait_call, 2},
                                       {"Waitany", wait_call, 3},
                                       {"Waitsome", wait_call, 4},
                                       {"Testall", wait_call, 5},
                                       {"Testany", wait_call, 6},
                                       {"Testsome", wait_call, 7},
                                       {"Request_free", request_free, 0},
                                       {0}};
