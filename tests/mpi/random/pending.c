/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "random.h"

/* Eight floods of a rank to itself, and more. */
enum { PENDING_MAX = 1 << 16, CROWDED = 200 };

/* Requests before `early` may be waited for at any time, the others at the end. */
static MPI_Request requests[PENDING_MAX];
static pending_t *pendings[PENDING_MAX];
static bool late[PENDING_MAX];
static int count;
static pending_t *forgotten[PENDING_MAX];
static int forgotten_count;

pending_t *pending_create(const char *name)
{
    pending_t *p = calloc(1, sizeof(*p));

    if (p == NULL)
        fail("no memory for a call");
    p->name = name;
    p->step = step;
    return p;
}

void pending_destroy(pending_t *p)
{
    buffer_destroy(&p->send);
    buffer_destroy(&p->receive);
    free(p->arrays);
    free(p);
}

/* Any message to this rank may have come: the status says which. */
static void expect_wild(pending_t *p, const MPI_Status *status)
{
    int elements;

    MPI_Get_count(status, MPI_BYTE, &elements);
    for (int i = 0; i < elements; i++)
        buffer_expect(&p->receive, i, value_at(status->MPI_TAG, status->MPI_SOURCE, rank, i));
}

static void check_status(const pending_t *p, const MPI_Status *status)
{
    int bytes;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    if ((p->source != MPI_ANY_SOURCE && status->MPI_SOURCE != p->source) ||
        status->MPI_TAG != p->tag || bytes != p->bytes)
        fail("%s of step %d: source %d, tag %d, %d bytes instead of %d, %d, %d", p->name, p->step,
             status->MPI_SOURCE, status->MPI_TAG, bytes, p->source, p->tag, p->bytes);
}

void pending_finish(pending_t *p, const MPI_Status *status)
{
    if (p->is_wild)
        expect_wild(p, status);
    else if (p->has_status)
        check_status(p, status);
    buffer_check(&p->send, p->name);
    buffer_check(&p->receive, p->name);
    p->is_active = false;
    if (!p->is_persistent)
        pending_destroy(p);
}

void pending_add(pending_t *p, MPI_Request request, bool is_late)
{
    if (count == PENDING_MAX)
        fail("more than %d calls are pending", PENDING_MAX);
    requests[count] = request;
    pendings[count] = p;
    late[count++] = is_late;
}

void pending_forget(pending_t *p)
{
    if (forgotten_count == PENDING_MAX)
        fail("more than %d calls are forgotten", PENDING_MAX);
    forgotten[forgotten_count++] = p;
}

void pending_keep(void *memory)
{
    pending_t *p = pending_create("memory");

    p->arrays = memory;
    pending_forget(p);
}

/* ThreadSanitizer sees no locks inside a sleep, where here other ranks run. */
static void sleep_a_little(int microseconds)
{
#ifdef __SANITIZE_THREAD__
    (void)microseconds;
#else
    usleep((useconds_t)microseconds);
#endif
}

void pause_somehow(void)
{
    int flag;

    switch (draw(&own_random, 8)) {
    case 0:
        sched_yield();
        break;
    case 1:
        sleep_a_little(draw(&own_random, 50));
        break;
    case 2:
        MPI_Iprobe(MPI_ANY_SOURCE, STEPS_MAX, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        break;
    }
}

void wait_somehow(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, how = draw(&own_random, 4);

    while (how < 2 && !flag) {
        if (how == 0)
            MPI_Test(request, &flag, status);
        else
            MPI_Request_get_status(*request, &flag, status);
        if (!flag)
            pause_somehow();
    }
    if (how != 0)
        MPI_Wait(request, status);
}

/* ---- Completing some of them ---- */

/* Take out entry i, which is over. */
static void finish(int i, const MPI_Status *status)
{
    pending_t *p = pendings[i];

    count--;
    requests[i] = requests[count];
    pendings[i] = pendings[count];
    late[i] = late[count];
    pending_finish(p, status);
}

static void swap(int i, int j)
{
    MPI_Request request = requests[i];
    pending_t *p = pendings[i];
    bool is_late = late[i];

    requests[i] = requests[j];
    pendings[i] = pendings[j];
    late[i] = late[j];
    requests[j] = request;
    pendings[j] = p;
    late[j] = is_late;
}

void pending_await(pending_t *p)
{
    MPI_Status status;
    int i = 0;

    while (i < count && pendings[i] != p)
        i++;
    if (i == count)
        fail("%s of step %d is not pending", p->name, p->step);
    wait_somehow(&requests[i], &status);
    finish(i, &status);
}

/* Put the ones that may be waited for in front, in a random order; returns their number. */
static int shuffle(bool with_late)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        if (with_late || !late[i])
            swap(i, n++);
    for (int i = n - 1; i > 0; i--)
        swap(i, draw(&own_random, i + 1));
    return n;
}

/* The first n are over: their requests have been completed. */
static void finish_first(int n, const MPI_Status *statuses)
{
    for (int i = n - 1; i >= 0; i--)
        finish(i, &statuses[i]);
}

static void finish_listed(int n, const int *indices, const MPI_Status *statuses)
{
    bool is_over[PENDING_MAX] = {false};
    int from[PENDING_MAX];

    for (int i = 0; i < n; i++) {
        is_over[indices[i]] = true;
        from[indices[i]] = i;
    }
    for (int i = count - 1; i >= 0; i--)
        if (is_over[i])
            finish(i, &statuses[from[i]]);
}

static MPI_Status statuses[PENDING_MAX];
static int indices[PENDING_MAX];

static void complete_all(int n)
{
    int flag = 0;

    if (chance(&own_random, 50)) {
        MPI_Waitall(n, requests, statuses);
    } else {
        while (MPI_Testall(n, requests, &flag, statuses), !flag)
            pause_somehow();
    }
    finish_first(n, statuses);
}

static void complete_any(int n)
{
    int flag = 0, index;

    if (chance(&own_random, 50)) {
        MPI_Waitany(n, requests, &index, statuses);
    } else {
        while (MPI_Testany(n, requests, &index, &flag, statuses), !flag)
            pause_somehow();
    }
    finish(index, statuses);
}

static void complete_several(int n)
{
    int done = 0;

    if (chance(&own_random, 50)) {
        MPI_Waitsome(n, requests, &done, indices, statuses);
    } else {
        while (MPI_Testsome(n, requests, &done, indices, statuses), done == 0)
            pause_somehow();
    }
    finish_listed(done, indices, statuses);
}

static void complete_one(void)
{
    wait_somehow(&requests[0], statuses);
    finish(0, statuses);
}

/* Test a request that may not be waited for. */
static void look_at_late(void)
{
    int flag, i = draw(&own_random, count);

    MPI_Test(&requests[i], &flag, statuses);
    if (flag)
        finish(i, statuses);
}

/* Some programs complete things soon, some leave everything to the end. */
static int eagerness(void)
{
    static int percent = -1;

    if (percent < 0)
        percent = (int)(hash(own_random.state, 9, 9, (uint64_t)rank) % 4) * 25;
    return percent;
}

void pending_complete_some(void)
{
    int n;

    if (count > 0 && chance(&own_random, 10))
        look_at_late();
    if (count < CROWDED && !chance(&own_random, eagerness()))
        return;
    n = shuffle(false);
    if (n == 0)
        return;
    switch (draw(&own_random, 4)) {
    case 0:
        complete_all(1 + draw(&own_random, n));
        break;
    case 1:
        complete_any(1 + draw(&own_random, n));
        break;
    case 2:
        complete_several(1 + draw(&own_random, n));
        break;
    default:
        complete_one();
    }
}

void pending_complete(bool with_late)
{
    int n;

    while ((n = shuffle(with_late)) > 0)
        switch (draw(&own_random, 4)) {
        case 0:
            complete_all(n);
            break;
        case 1:
            complete_any(n);
            break;
        case 2:
            complete_several(n);
            break;
        default:
            complete_one();
        }
}

void pending_end(void)
{
    while (forgotten_count > 0)
        pending_destroy(forgotten[--forgotten_count]);
}
