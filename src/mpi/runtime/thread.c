/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/thread.h"

#include <pthread.h>

#include "mpi.h"
#include "mpi/runtime/call.h"
#include "mpi/runtime/caller.h"
#include "mpi/runtime/finding.h"
#include "mpi/runtime/job_clock.h"

_Thread_local mpi_thread_t *mpi_thread_here;

int mpi_thread_level_most(void)
{
    return mpi_job == NULL || mpi_job->moves == NULL ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

/* ---- How many there are ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool may_call(const mpi_rank_t *rank)
{
    return rank->thread_level >= MPI_THREAD_SERIALIZED;
}

/* Does the clock give the threads of ranks turns? Then it knows whether any can move. */
static bool has_turns(void)
{
    return mpi_job->clock != NULL;
}

void mpi_thread_count(mpi_rank_t *rank, int change)
{
    pthread_mutex_lock(&lock);
    rank->thread_count += change;
    if (may_call(rank) && !has_turns())
        xy_pool_outside_add(mpi_job->pool, change);
    pthread_mutex_unlock(&lock);
}

/* Threads of a program without a launcher are not known before they call, and counted from then on:
 * it is as if one more ran all the time. */
static void begin_to_count(mpi_rank_t *rank, int level)
{
    pthread_mutex_lock(&lock);
    rank->thread_level = level;
    if (!has_turns())
        xy_pool_outside_add(mpi_job->pool, rank->thread_count + (mpi_job->adopted != NULL ? 1 : 0));
    pthread_mutex_unlock(&lock);
}

/* ---- The records of threads ---- */

static mpi_thread_t *find_unused(const mpi_rank_t *rank)
{
    for (mpi_thread_t *t = rank->threads; t != NULL; t = t->next)
        if (!t->is_used && !t->is_main)
            return t;
    return NULL;
}

/* Requests may name its waiter as long as the rank lives: it is used again, and not freed. */
static mpi_thread_t *make(mpi_rank_t *rank, xy_fiber_t *fiber)
{
    mpi_thread_t *t = xy_calloc(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    if (fiber == NULL && xy_visitor_create(rank->worker->base, rank, &fiber) != XY_OK) {
        xy_free(t);
        return NULL;
    }
    t->fiber = t->waiter.fiber = fiber;
    t->rank = rank;
    t->next = rank->threads;
    rank->threads = t;
    return t;
}

static pthread_key_t at_end;
static pthread_once_t has_key = PTHREAD_ONCE_INIT;

static void leave(void *thread)
{
    mpi_thread_t *t = thread;

    mpi_thread_here = NULL;
    pthread_mutex_lock(&lock);
    t->is_used = false;
    if (mpi_job->adopted != NULL)
        xy_pool_outside_add(mpi_job->pool, -1);
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&at_end, leave);
}

void mpi_thread_end(void)
{
    mpi_thread_t *t = mpi_thread_here;

    if (t == NULL || t->is_main || has_turns())
        return;
    pthread_setspecific(at_end, NULL);
    leave(t);
}

/* A record for a thread of the rank; ends the job without memory. */
static mpi_thread_t *take_record(mpi_rank_t *rank)
{
    mpi_thread_t *t;

    pthread_mutex_lock(&lock);
    t = find_unused(rank);
    if (t == NULL)
        t = make(rank, NULL);
    if (t != NULL) {
        t->is_used = true;
        if (mpi_job->adopted != NULL)
            xy_pool_outside_add(mpi_job->pool, 1);
    }
    pthread_mutex_unlock(&lock);
    if (t == NULL) {
        xy_fail_memory("letting a thread call MPI");
        mpi_job->abort(1);
    }
    return t;
}

/* Register this thread as a caller of MPI for a rank; ends the job without memory. */
static mpi_thread_t *thread_of(mpi_rank_t *rank)
{
    mpi_thread_t *t = take_record(rank);

    pthread_once(&has_key, make_key);
    mpi_thread_here = t;
    pthread_setspecific(at_end, t);
    return t;
}

/* ---- Threads with turns ---- */

mpi_thread_t *mpi_thread_make(mpi_rank_t *rank, int number)
{
    mpi_thread_t *t = take_record(rank);

    t->number = number;
    return t;
}

void mpi_thread_begin_turns(mpi_thread_t *thread)
{
    mpi_thread_here = thread;
    xy_visitor_await_turn(thread->fiber);
}

void mpi_thread_end_turns(mpi_thread_t *thread)
{
    thread->is_used = false;
    xy_visitor_return_turn(thread->fiber);
    mpi_thread_here = NULL;
}

/* Threads that waited when their rank ended wait for ever. */
static bool waits_for_turn(const mpi_thread_t *thread)
{
    return has_turns() && thread->is_used;
}

void mpi_threads_cleanup(mpi_rank_t *rank)
{
    for (mpi_thread_t *t = rank->threads, *next; t != NULL; t = next) {
        next = t->next;
        if (waits_for_turn(t))
            continue;
        if (!t->is_main)
            xy_visitor_destroy(t->fiber);
        xy_free(t);
    }
    rank->threads = NULL;
}

/* ---- Calls ---- */

/* The rank for which the calling thread may call MPI, or NULL. */
static mpi_rank_t *rank_of_thread(void)
{
    mpi_rank_t *rank = mpi_thread_owner;

    if (rank == NULL && mpi_job != NULL)
        rank = mpi_job->adopted;
    if (rank == NULL || !mpi_phase_is_running(rank->phase) || !may_call(rank) || has_turns())
        return NULL;
    return rank;
}

static bool come_in(mpi_rank_t *rank)
{
    if (rank == NULL)
        return false;
    if (mpi_thread_here == NULL)
        thread_of(rank);
    mpi_gate_go_inside(rank);
    return true;
}

mpi_rank_t *mpi_enter_thread(const char *name, const void *site)
{
    mpi_rank_t *rank = mpi_self == NULL ? rank_of_thread() : NULL;

    if (!come_in(rank))
        mpi_enter_refused(name, site);
    mpi_call_note(rank, name, site);
    return rank;
}

mpi_rank_t *mpi_enter_query_thread(const char *name, const void *site)
{
    mpi_rank_t *self = mpi_self;

    if (self == NULL || self->phase != XMPI_RANK_IN_OPERATION)
        return mpi_enter_thread(name, site);
    mpi_call_begin(self, name, site);
    return self;
}

mpi_rank_t *mpi_enter_any_thread(const char *name, const void *site)
{
    mpi_rank_t *rank = rank_of_thread();

    if (!come_in(rank)) {
        mpi_thread_call = name;
        return NULL;
    }
    mpi_call_note(rank, name, site);
    return rank;
}

/* A call of the rank that another thread is in; or NULL. What the rank's own fiber does is kept by
 * the visitor that is in. */
static const mpi_call_t *find_call_of_other(const mpi_rank_t *rank)
{
    const mpi_thread_t *here = mpi_thread_here;

    if (here != NULL && !here->is_main && here->call.name != NULL)
        return &here->call;
    for (const mpi_thread_t *t = rank->threads; t != NULL; t = t->next)
        if (t != here && !t->is_main && t->call.name != NULL)
            return &t->call;
    return NULL;
}

void mpi_thread_be_alone(const mpi_rank_t *rank, const char *cure)
{
    const mpi_call_t *other = find_call_of_other(rank);
    mpi_finding_t finding = {.kind = XMPI_FINDING_WRONG_TIME,
                             .rank = rank->world,
                             .other = -1,
                             .sites = {rank->call.caller}};
    char here[160], there[160];

    if (other == NULL)
        return;
    finding.sites[1] = other->caller;
    mpi_report_claim();
    mpi_caller_describe(rank->call.caller, here, sizeof(here));
    mpi_caller_describe(other->caller, there, sizeof(there));
    mpi_finding_end(&finding, "rank %d: %s %s was called while another thread is in %s %s; %s",
                    rank->world, rank->call.name, here, other->name, there, cure);
    mpi_job->abort(1);
}

static void exchange_calls(mpi_call_t *a, mpi_call_t *b)
{
    mpi_call_t c = *a;

    *a = *b;
    *b = c;
}

static void go_in(mpi_thread_t *t, mpi_rank_t *rank)
{
    mpi_self = rank;
    if (rank->worker->trace != NULL)
        t->state = mpi_trace_state(rank->worker->trace);
    if (t->is_main)
        return;
    exchange_calls(&rank->call, &t->call);
    rank->waiter = &t->waiter;
    rank->fiber = t->fiber;
}

static void go_away(mpi_thread_t *t, mpi_rank_t *rank)
{
    mpi_trace_end(rank->worker->trace, t->state);
    if (t->is_main)
        return;
    exchange_calls(&rank->call, &t->call);
    rank->waiter = &rank->own;
    rank->fiber = rank->own.fiber;
    mpi_self = NULL;
}

/* A turn of a thread begins or ends. In it, the thread is in a call or in the program's code. */
static void change_turn(mpi_thread_t *t, mpi_rank_t *rank, bool begins)
{
    int depth = rank->depth;

    rank->depth = t->depth;
    t->depth = depth;
    if (begins)
        go_in(t, rank);
    else
        go_away(t, rank);
    if (begins && !may_call(rank))
        mpi_self = NULL;
}

void mpi_thread_visit(xy_worker_t *w, xy_fiber_t *visitor, bool enters)
{
    mpi_thread_t *t = mpi_thread_here;
    mpi_rank_t *rank = t->rank;
    bool is_out = xy_worker_is_out(w);

    (void)visitor;
    if (has_turns()) {
        change_turn(t, rank, enters);
        return;
    }
    if (enters) {
        if (is_out)
            mpi_gate_close(&rank->worker->gate);
        go_in(t, rank);
    } else {
        go_away(t, rank);
        if (is_out)
            mpi_gate_open(&rank->worker->gate, rank->worker);
    }
}

/* ---- Beginning ---- */

/* Ranks of this worker that are in a call, or in a wait of the C library, leave it as if they had
 * closed the gate. */
static void share_worker(mpi_rank_t *self)
{
    mpi_worker_t *worker = self->worker;

    if (worker->gate.is_shared)
        return;
    for (int r = 0; r < mpi_job->size; r++) {
        mpi_rank_t *rank = &mpi_job->ranks[r];

        if (mpi_job->home[r] != worker->index || rank->gate != NULL)
            continue;
        rank->gate = &worker->gate;
        rank->depth += rank->call.name != NULL;
    }
    worker->gate.is_shared = true;
    xy_worker_share(worker->base);
}

static bool shares_worker(const mpi_rank_t *self)
{
    if (mpi_job->has_progress_threads) /* any of them may come to live here */
        return true;
    for (int r = 0; r < mpi_job->size; r++)
        if (r != self->world && mpi_job->home[r] == self->worker->index)
            return true;
    return false;
}

/* The calling code continues on the thread that `detach` has begun. */
static xy_status_t move_to_thread(mpi_rank_t *self)
{
    mpi_thread_t *t = make(self, self->fiber);
    xy_status_t st;

    if (t == NULL)
        return xy_fail_memory("giving a rank a thread of its own");
    t->is_main = t->has_begun = true;
    t->depth = 1;
    self->main_thread = t;
    st = mpi_job->threads.detach(self->process);
    if (st != XY_OK)
        return st;
    mpi_self = NULL; /* no rank's code runs on this thread until the next switch */
    xy_fiber_detach();
    return XY_OK;
}

xy_status_t mpi_threads_begin(mpi_rank_t *self, int level)
{
    xy_status_t st = XY_OK;

    begin_to_count(self, level);
    if (has_turns())
        return XY_OK;
    share_worker(self);
    if (mpi_job->threads.detach != NULL && self->main_thread == NULL && shares_worker(self))
        st = move_to_thread(self);
    return st;
}

bool mpi_thread_must_carry(const mpi_rank_t *rank)
{
    if (mpi_job->threads.carry == NULL || !rank->worker->gate.is_shared)
        return false;
    for (int r = 0; r < mpi_job->size; r++) {
        const mpi_rank_t *other = &mpi_job->ranks[r];

        if (other != rank && mpi_job->home[r] == rank->worker->index && may_call(other) &&
            other->main_thread == NULL && mpi_phase_is_running(other->phase))
            return true;
    }
    return false;
}

xy_status_t mpi_thread_begin_away(mpi_rank_t *rank)
{
    mpi_thread_t *t = make(rank, rank->own.fiber);

    if (t == NULL)
        return xy_fail_memory("giving a rank a thread of its own");
    t->is_main = true;
    t->depth = 1;
    rank->main_thread = t;
    return mpi_job->threads.carry(rank->process);
}

/* One that began on a thread of its own, and had no others, leaves nothing. */
bool mpi_thread_has_left(const mpi_rank_t *rank)
{
    return rank->threads != NULL && (may_call(rank) || rank->threads->next != NULL);
}

void mpi_thread_carry(mpi_rank_t *rank, xy_fiber_moved_fn moved)
{
    mpi_thread_here = rank->main_thread;
    xy_fiber_carry(rank->own.fiber, rank->main_thread->has_begun ? moved : NULL, rank->process);
    mpi_thread_here = NULL;
    mpi_self = NULL;
}

void mpi_thread_come_home(mpi_rank_t *rank)
{
    const mpi_thread_t *t = mpi_thread_here;

    if (t == NULL || !t->is_main)
        return;
    mpi_gate_go_inside(rank);
    mpi_job->threads.attach();
    rank->depth = 1;
    xy_fiber_attach();
}

void mpi_thread_rank_begins(mpi_rank_t *self)
{
    if (mpi_thread_here != NULL) { /* on a thread of its own */
        mpi_gate_go_outside(self);
        return;
    }
    if (self->gate == NULL || !self->gate->is_shared)
        return;
    self->depth = 1;
    mpi_gate_go_outside(self);
}
