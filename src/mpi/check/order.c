/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/order.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mpi.h"
#include "mpi/check/conflicts.h"
#include "mpi/check/cores.h"
#include "mpi/check/facts.h"
#include "mpi/check/pending.h"

/* Members of a communicator are seldom further apart than this many collectives. */
enum { MEETINGS = 16 };

/* The last collectives of a communicator: when the last member so far has entered each. */
typedef struct {
    uint64_t numbers[MEETINGS], times[MEETINGS];
} meetings_t;

/* Other ranks write only what is atomic, with times of the clock, which never go back by much: a
 * rank that has heard too much is not reported. */
typedef struct {
    uint64_t heard;
    _Atomic uint64_t sent;           /* the last message to this rank */
    _Atomic uint64_t written;        /* the last operation that has changed memory of its windows */
    const char *call;                /* in which it is; NULL: none */
    const char *anchor;              /* frame of on_call when it was entered */
    meetings_t *meetings;            /* of the collective in that call; NULL: none */
    uint64_t number;                 /* its number */
    check_meeting_t entered_barrier; /* the collective in that call, if it is one */
    check_meeting_t barrier;         /* check_order_barrier */
    xy_hash_t entered;               /* by context: how many collectives, as a pointer */
} state_t;

static _Atomic uint64_t now;
static state_t *states; /* [count] */
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of meetings */
static xy_hash_t communicators;                          /* of meetings_t, by context */
static _Atomic bool is_hidden;   /* ranks may see what others do in another way: */
static _Atomic bool has_windows; /* ... of other processes */

uint64_t check_order_now(void)
{
    return atomic_fetch_add(&now, 1) + 1;
}

/* A program may read its memory at any time. */
uint64_t check_order_heard(const mpi_rank_t *self)
{
    const state_t *s = self->world < count ? &states[self->world] : NULL;

    uint64_t written;

    if (s == NULL || !mpi_is_observed(self) || check_has_threads(self) || is_hidden)
        return UINT64_MAX;
    written = s->written;
    return s->heard > written ? s->heard : written;
}

const char *check_order_anchor(const mpi_rank_t *self)
{
    return self->world < count && !check_has_threads(self) ? states[self->world].anchor : NULL;
}

bool check_order_is_outer(const mpi_rank_t *self, const char *frame)
{
    state_t *s = self->world < count ? &states[self->world] : NULL;

    if (s == NULL || (s->call != NULL && s->call != self->call.name))
        return false;
    if (s->call == NULL)
        s->anchor = frame;
    return true;
}

void check_order_hear_all(const mpi_rank_t *self)
{
    if (self->world < count)
        states[self->world].heard = now;
}

void check_order_send(int to)
{
    if (to >= 0 && to < count)
        states[to].sent = now; /* all events so far are before it */
}

void check_order_write(int to)
{
    if (to >= 0 && to < count)
        states[to].written = now;
}

static meetings_t *meetings_of(uint32_t context)
{
    meetings_t *m = xy_hash_get(&communicators, context);

    if (m != NULL)
        return m;
    m = xy_calloc(1, sizeof(*m));
    if (m != NULL && xy_hash_set(&communicators, context, m) != XY_OK) {
        xy_free(m);
        m = NULL;
    }
    return m;
}

check_meeting_t check_order_barrier(const mpi_rank_t *self)
{
    bool is_known = self->world < count && mpi_is_observed(self) && !check_has_threads(self) &&
                    !is_hidden && !has_windows;

    return is_known ? states[self->world].barrier : (check_meeting_t){0, 0};
}

/* Contexts of some communicators are those of other groups, too. */
static uint64_t name_of(const mpi_comm_t *comm)
{
    uint64_t members =
        (uint64_t)(unsigned)comm->size << 32 | (unsigned)mpi_comm_world_rank(comm, 0);

    return xy_hash_u64(members ^ xy_hash_u64(comm->context));
}

/* All members count their collectives alike. */
void check_order_meet(const mpi_rank_t *self, const mpi_comm_t *comm, bool is_barrier)
{
    const uint32_t context = comm->context;
    state_t *s = self->world < count ? &states[self->world] : NULL;
    meetings_t *m;
    int slot;

    if (s == NULL)
        return;
    s->number = (uintptr_t)xy_hash_get(&s->entered, context) + 1;
    slot = (int)(s->number % MEETINGS);
    pthread_mutex_lock(&lock);
    m = meetings_of(context);
    if (m != NULL && m->numbers[slot] <= s->number) {
        m->numbers[slot] = s->number;
        m->times[slot] = now;
    }
    pthread_mutex_unlock(&lock);
    s->meetings = m;
    s->entered_barrier = /* ... unless a member may have failed */
        is_barrier && !mpi_survives ? (check_meeting_t){name_of(comm), s->number}
                                    : (check_meeting_t){0, 0};
    if (m == NULL || xy_hash_set(&s->entered, context, (void *)(uintptr_t)s->number) != XY_OK)
        is_hidden = true; /* no memory */
}

/* ---- Calls ---- */

/* Members that are far ahead may have taken the place. */
static uint64_t heard_of_members(const state_t *s)
{
    int slot = (int)(s->number % MEETINGS);
    uint64_t heard = now;

    if (s->meetings == NULL || mpi_job->processes > 1)
        return heard;
    pthread_mutex_lock(&lock);
    if (s->meetings->numbers[slot] == s->number)
        heard = s->meetings->times[slot];
    pthread_mutex_unlock(&lock);
    return heard;
}

/* The events that come before the rank's return from its call. */
static uint64_t heard_in(const state_t *s, check_hears_t hears)
{
    switch (hears) {
    case CHECK_HEARS_NOTHING:
        return 0;
    case CHECK_HEARS_MESSAGES:
        return mpi_job->processes > 1 ? now : s->sent; /* by another process */
    case CHECK_HEARS_MEMBERS:
        return heard_of_members(s);
    default:
        return now;
    }
}

/* The call has returned: note what its rank has heard of others in it. */
static void note_end(state_t *s)
{
    const check_facts_t *facts = check_facts_of(s->call);
    uint64_t heard = heard_in(s, facts->hears);

    s->heard = heard > s->heard ? heard : s->heard;
    if (facts->hears != CHECK_HEARS_NOTHING)
        s->barrier =
            facts->hears == CHECK_HEARS_MEMBERS ? s->entered_barrier : (check_meeting_t){0, 0};
    s->meetings = NULL;
    s->entered_barrier = (check_meeting_t){0, 0};
    if (facts->is_hidden)
        is_hidden = true;
    if (mpi_job->processes > 1 && facts->is_window)
        has_windows = true;
}

/* Called at the beginning and end of each MPI call. */
static void on_call(mpi_rank_t *self)
{
    state_t *s = self->world < count ? &states[self->world] : NULL;

    if (s == NULL)
        return;
    if (self->call.name == NULL && s->call != NULL)
        note_end(s);
    if (self->call.name != NULL && self->thread_level == MPI_THREAD_SERIALIZED)
        mpi_thread_be_alone(self, "MPI_THREAD_SERIALIZED lets one thread call at a time, ask for "
                                  "MPI_THREAD_MULTIPLE");
    check_conflicts_call(self);
    check_pending_call(self);
    s->call = self->call.name;
    s->anchor = __builtin_frame_address(0);
}

xy_status_t check_order_begin(int ranks)
{
    states = xy_calloc((size_t)ranks, sizeof(*states));
    if (states == NULL)
        return xy_fail_memory("checking the program");
    for (int r = 0; r < ranks; r++)
        xy_hash_init(&states[r].entered, XY_HASH_U64);
    xy_hash_init(&communicators, XY_HASH_U64);
    count = ranks;
    for (int r = 0; r < mpi_job->size; r++)
        mpi_job->ranks[r].observed |= XMPI_LOOK_RECORD;
    mpi_dispatch.check.call = on_call;
    return XY_OK;
}
