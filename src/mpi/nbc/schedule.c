/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/nbc/nbc.h"

#include <string.h>

#include "mpi/nbc/progress_thread.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

enum { IDLE_SCHEDULES = 16 }; /* kept for the next time, in each communicator */

static void fail(void)
{
    mpi_job->abort(1);
}

/* ---- Of a communicator ---- */

static xy_status_t comm_create(mpi_coll_t *coll)
{
    nbc_comm_t *nbc = xy_calloc(1, sizeof(*nbc));

    if (nbc == NULL)
        return XY_ENOMEM;
    pthread_mutex_init(&nbc->lock, NULL);
    coll->scheduled = nbc;
    return XY_OK;
}

static void comm_destroy(mpi_coll_t *coll)
{
    nbc_comm_t *nbc = nbc_of(coll);

    for (nbc_cached_schedule_t *cached = nbc->idle, *next; cached != NULL; cached = next) {
        next = cached->next;
        nbc_cached_destroy(cached);
    }
    nbc_model_forget(nbc);
    pthread_mutex_destroy(&nbc->lock);
    xy_free(nbc);
}

static bool is_same(const nbc_shape_t *a, const nbc_shape_t *b)
{
    return a->collective == b->collective && a->is_in_place == b->is_in_place &&
           a->is_threads == b->is_threads && a->root == b->root && a->split == b->split &&
           a->count == b->count && a->element == b->element && a->algorithm == b->algorithm;
}

/* An idle schedule of this shape, taken out; NULL: none. Under the lock. */
static nbc_cached_schedule_t *take_cached(nbc_comm_t *nbc, const nbc_shape_t *shape)
{
    nbc_cached_schedule_t **link = &nbc->idle, *cached;

    while (*link != NULL && !is_same(&(*link)->shape, shape))
        link = &(*link)->next;
    cached = *link;
    if (cached != NULL) {
        *link = cached->next;
        nbc->idle_count--;
    }
    return cached;
}

/* Keep `cached`; returns the least recently used one in its place, or NULL. Under the lock. */
static nbc_cached_schedule_t *keep_cached(nbc_comm_t *nbc, nbc_cached_schedule_t *cached)
{
    nbc_cached_schedule_t **link = &nbc->idle, *last;

    if (!cached->shape.is_kept)
        return cached;
    cached->next = nbc->idle;
    nbc->idle = cached;
    if (++nbc->idle_count <= IDLE_SCHEDULES)
        return NULL;
    while ((*link)->next != NULL)
        link = &(*link)->next;
    last = *link;
    *link = NULL;
    nbc->idle_count--;
    return last;
}

/* ---- All that run ---- */

static struct {
    pthread_mutex_t lock;
    nbc_schedule_t *first, *last; /* the oldest first */
    _Atomic int running;          /* how many; looked at before the lock is */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list(nbc_schedule_t *schedule)
{
    pthread_mutex_lock(&all.lock);
    schedule->later = NULL;
    schedule->earlier = all.last;
    if (all.last != NULL)
        all.last->later = schedule;
    else
        all.first = schedule;
    all.last = schedule;
    pthread_mutex_unlock(&all.lock);
    atomic_fetch_add_explicit(&all.running, 1, memory_order_release);
}

/* Remove a schedule from the list of running ones; takes the lock. */
static void unlist(nbc_schedule_t *schedule)
{
    pthread_mutex_lock(&all.lock);
    if (schedule->earlier != NULL)
        schedule->earlier->later = schedule->later;
    else
        all.first = schedule->later;
    if (schedule->later != NULL)
        schedule->later->earlier = schedule->earlier;
    else
        all.last = schedule->earlier;
    pthread_mutex_unlock(&all.lock);
    atomic_fetch_sub_explicit(&all.running, 1, memory_order_relaxed);
}

void nbc_schedule_hold(nbc_schedule_t *schedule)
{
    atomic_fetch_add_explicit(&schedule->references, 1, memory_order_relaxed);
}

void nbc_schedule_release(nbc_schedule_t *schedule)
{
    mpi_coll_t *coll = schedule->coll;
    nbc_cached_schedule_t *old;

    /* acq_rel: what others did with the schedule happens before it goes. */
    if (atomic_fetch_sub_explicit(&schedule->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&nbc_of(coll)->lock);
    old = keep_cached(nbc_of(coll), schedule->cached);
    pthread_mutex_unlock(&nbc_of(coll)->lock);
    nbc_cached_destroy(old);
    if (schedule->type != NULL)
        mpi_type_release(schedule->type);
    xy_free(schedule);
    mpi_coll_release(coll);
}

/* ---- Callbacks of the executor ---- */

void nbc_on_over(void *arg)
{
    unlist(arg);
    nbc_schedule_release(arg);
}

static mpi_rank_t *rank_of(const nbc_schedule_t *schedule, int rank)
{
    const mpi_group_t *group = schedule->coll->group;

    return &mpi_job->ranks[group->ranks != NULL ? group->ranks[rank] : rank];
}

static nbc_thread_t *thread_of(const nbc_schedule_t *schedule, int rank)
{
    return &schedule->family->threads[rank_of(schedule, rank)->world];
}

void nbc_on_ready(void *arg, int queue)
{
    nbc_schedule_t *schedule = arg;
    int rank = queue - NBC_QUEUE_RANKS;

    if (queue == NBC_QUEUE_START)
        return; /* the thread that made it ready looks for more */
    if (rank < schedule->coll->size)
        xy_worker_notify(rank_of(schedule, rank)->worker->base);
    else
        nbc_thread_post(thread_of(schedule, rank - schedule->coll->size));
}

/* Messages of the graph that this member sends. */
static void count_messages(const coll_call_t *call)
{
    const nbc_schedule_t *schedule = call->schedule;
    const xy_graph_t *graph = schedule->cached->graph;
    mpi_rank_t *self = call->comm->owner;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_op_t *op = xy_graph_op(graph, i);

        if (op->kind >= XY_OP_MOVE && op->from.rank == call->rank && op->to.rank != call->rank)
            mpi_monitor_add(self, mpi_comm_world_rank(call->comm, op->to.rank), call->comm->context,
                            op->bytes, true);
    }
}

/* On the worker of its rank. */
static void finish_call(coll_call_t *call)
{
    mpi_request_t *request = call->request;
    nbc_schedule_t *schedule = call->schedule;

    if (call->comm->owner->monitor != NULL)
        count_messages(call);
    nbc_rank_args_finish(call);
    call->comm->owner->schedules--;
    call->request = NULL;
    call->schedule = NULL;
    nbc_schedule_release(schedule);
    mpi_request_complete(request);
}

/* Does the calling thread run this worker, and may it touch its rank? One that is on its way to
 * another core is nobody's: it finds its mail there. */
static bool is_here(const mpi_worker_t *worker)
{
    const xy_worker_t *self = xy_worker_self();
    const mpi_worker_t *here = self != NULL ? xy_worker_user(self) : NULL;

    if (here == NULL || mpi_job->moves == NULL)
        return here == worker;
    return __atomic_load_n(&worker->core, __ATOMIC_ACQUIRE) == here->core;
}

void nbc_on_rank_over(void *arg, int rank)
{
    nbc_schedule_t *schedule = arg;
    coll_call_t *call = schedule->calls[rank];
    mpi_worker_t *worker = call->comm->owner->worker;
    void *first;

    if (is_here(worker)) {
        finish_call(call);
        return;
    }
    first = atomic_load_explicit(&worker->mail[XMPI_MAIL_FINISHED], memory_order_relaxed);
    /* release: pairs with the acquire in nbc_complete */
    do
        call->next = first;
    while (!atomic_compare_exchange_weak_explicit(&worker->mail[XMPI_MAIL_FINISHED], &first, call,
                                                  memory_order_release, memory_order_relaxed));
    xy_worker_notify(worker->base);
}

void nbc_complete(mpi_worker_t *worker)
{
    coll_call_t *call =
        atomic_exchange_explicit(&worker->mail[XMPI_MAIL_FINISHED], NULL, memory_order_acquire);

    while (call != NULL) {
        coll_call_t *next = call->next;

        finish_call(call);
        call = next;
    }
}

/* ---- Doing operations ---- */

/* `count` operations became ready for any worker: wake some that may sleep. */
static void wake(const nbc_schedule_t *schedule, int count)
{
    int comm = schedule->progress == XMPI_PROGRESS_TASKS ? mpi_job->comm_workers : 0;

    for (int i = 0; i < comm && i < count; i++)
        xy_worker_notify(mpi_job->worker[mpi_job->workers - 1 - i].base);
    for (int p = 0; comm == 0 && p < schedule->coll->locals; p++)
        xy_worker_notify(schedule->coll->local[p]->worker->base);
}

static const mpi_worker_t *worker_of(const mpi_coll_t *coll, int rank)
{
    return coll->local[coll->local_of[rank]]->worker;
}

/* The operation was in progress for the cores of both its ranks. It is complete, and with it
 * perhaps the communicator and its group: only what the schedule holds is there. */
static void trace_op(mpi_trace_t *trace, const nbc_schedule_t *schedule, const xy_op_t *op)
{
    const mpi_worker_t *from, *to;

    if (op->kind < XY_OP_MOVE)
        return;
    from = worker_of(schedule->coll, op->from.rank);
    to = worker_of(schedule->coll, op->to.rank);
    mpi_trace_put_message(trace, from, op->bytes);
    if (to != from)
        mpi_trace_put_message(trace, to, op->bytes);
}

void nbc_do_op(nbc_schedule_t *schedule, xy_op_id_t op)
{
    mpi_trace_t *trace = ((mpi_worker_t *)xy_worker_user(xy_worker_self()))->trace;
    mpi_trace_state_t before = mpi_trace_begin(trace, schedule->claim.kind->name);
    int ready = xy_exec_do(schedule->cached->exec, op);

    if (__builtin_expect(trace != NULL, 0))
        trace_op(trace, schedule, xy_graph_op(schedule->cached->graph, op));
    mpi_trace_end(trace, before);
    if (ready > 0)
        wake(schedule, ready);
}

static bool take_start(nbc_schedule_t *schedule, xy_op_id_t *op_p)
{
    return xy_exec_take_own(schedule->cached->exec, NBC_QUEUE_START, op_p);
}

/* Take an operation for a waiting rank: those of this worker first. */
static bool take_wait(nbc_schedule_t *schedule, const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    const mpi_coll_t *coll = schedule->coll;

    if (schedule->cached->shape.split <= 0 || !xy_exec_has_own(schedule->cached->exec))
        return false;
    for (int turn = 0; turn < 2; turn++)
        for (int r = 0; r < coll->size; r++)
            if ((coll->local[coll->local_of[r]]->worker == worker) == (turn == 0) &&
                xy_exec_take_own(schedule->cached->exec, NBC_QUEUE_RANKS + r, op_p))
                return true;
    return false;
}

/* An operation that this worker may do when its ranks have nothing better to do. */
static bool take(nbc_schedule_t *schedule, const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    bool has_ranks = worker->index < mpi_job->workers - mpi_job->comm_workers;

    if (has_ranks && (take_start(schedule, op_p) || take_wait(schedule, worker, op_p)))
        return true;
    if (!has_ranks && schedule->progress == XMPI_PROGRESS_NONE)
        return false;
    return xy_exec_take(schedule->cached->exec, op_p);
}

/* The oldest schedule in which there is something for `worker`, held, and an operation of it. */
static nbc_schedule_t *find_work(const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    nbc_schedule_t *schedule, *found = NULL;

    pthread_mutex_lock(&all.lock);
    for (schedule = all.first; schedule != NULL; schedule = schedule->later)
        if (take(schedule, worker, op_p)) {
            found = schedule;
            break;
        }
    if (found != NULL)
        nbc_schedule_hold(found);
    pthread_mutex_unlock(&all.lock);
    return found;
}

bool nbc_help(mpi_worker_t *worker)
{
    enum { AT_ONCE = 16 }; /* operations before the worker looks at its rings again */
    xy_op_id_t op;
    nbc_schedule_t *schedule;
    int done = 0;

    if (atomic_load_explicit(&all.running, memory_order_acquire) == 0)
        return false;
    while (done < AT_ONCE && (schedule = find_work(worker, &op)) != NULL) {
        do {
            nbc_do_op(schedule, op);
            done++;
        } while (done < AT_ONCE && take(schedule, worker, &op));
        nbc_schedule_release(schedule);
    }
    return done > 0;
}

void nbc_progress(mpi_rank_t *self)
{
    nbc_complete(self->worker);
    nbc_help(self->worker);
}

/* ---- Starting ---- */

/* Create the schedule of a collective for its first caller; NULL without memory. Under the lock of
 * the communicator. */
static nbc_schedule_t *schedule_new(const coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    nbc_schedule_t *schedule =
        xy_calloc(1, sizeof(*schedule) + (size_t)coll->size * sizeof(schedule->calls[0]));

    if (schedule == NULL)
        return NULL;
    schedule->coll = coll;
    schedule->number = call->number;
    schedule->claim = coll_claim_of(call);
    schedule->op = call->op;
    if (call->op != NULL) {
        schedule->type = call->receive_type;
        mpi_type_hold(schedule->type);
    }
    schedule->progress = mpi_settings_of(call->comm)->progress;
    atomic_init(&schedule->references, 1);
    mpi_coll_hold(coll);
    schedule->next = nbc_of(coll)->open;
    nbc_of(coll)->open = schedule;
    /* release: pairs with the acquire of direct collectives that compare their number. */
    atomic_fetch_add_explicit(&coll->open_schedules, 1, memory_order_release);
    return schedule;
}

/* A graph and executor for the schedule, fresh or used before; the schedule can be worked on
 * afterwards. */
static xy_status_t give_cached(nbc_schedule_t *schedule, nbc_shape_t *shape,
                               const coll_call_t *call)
{
    nbc_way_t way = {0};

    nbc_shape_make(call, shape);
    nbc_shape_choose(call, shape, &way);
    if (shape->is_threads) {
        schedule->family = nbc_family_find(&way);
        if (schedule->family == NULL)
            return XY_ENOMEM;
        atomic_fetch_add_explicit(&schedule->family->calls[shape->collective], 1,
                                  memory_order_relaxed);
    }
    schedule->cached = shape->is_kept ? take_cached(nbc_of(schedule->coll), shape) : NULL;
    if (schedule->cached != NULL)
        xy_exec_reset(schedule->cached->exec, schedule);
    else if (nbc_cached_make(schedule, shape, call, &schedule->cached) != XY_OK)
        return XY_ENOMEM;
    list(schedule);
    return XY_OK;
}

/* The link to the open schedule of this number, or to NULL. Under the lock. */
static nbc_schedule_t **find_open(nbc_comm_t *nbc, uint64_t number)
{
    nbc_schedule_t **link = &nbc->open;

    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

/* The schedule of this call, which becomes one of its members; *is_last_p: all are there. */
static nbc_schedule_t *join(coll_call_t *call, bool *is_last_p)
{
    nbc_comm_t *nbc = nbc_of(call->comm->coll);
    nbc_schedule_t **link = find_open(nbc, call->number), *schedule;
    coll_claim_t claim = coll_claim_of(call);
    nbc_shape_t shape;

    schedule = *link;
    if (schedule == NULL) {
        schedule = schedule_new(call);
        if (schedule != NULL && !nbc_needs_all_counts(call)) {
            if (give_cached(schedule, &shape, call) != XY_OK)
                return NULL;
        }
        link = &nbc->open;
    }
    if (schedule == NULL)
        return NULL;
    if (!coll_is_same_claim(&claim, &schedule->claim) &&
        !coll_claims_agree(schedule->coll, call->number, &schedule->claim, &claim))
        coll_disagree(schedule->coll, call->number, &schedule->claim, &claim);
    schedule->calls[call->rank] = call;
    call->schedule = schedule;
    /* One for the call, one for the caller. */
    atomic_fetch_add_explicit(&schedule->references, 2, memory_order_relaxed);
    *is_last_p = ++schedule->arrived == schedule->coll->size;
    if (*is_last_p) {
        *link = schedule->next;
        atomic_fetch_sub_explicit(&schedule->coll->open_schedules, 1, memory_order_relaxed);
    }
    return schedule;
}

static int arrive(nbc_schedule_t *schedule, int rank)
{
    const nbc_rank_args_t *m = schedule->calls[rank]->rank_args;
    int queue = NBC_QUEUE_RANKS + schedule->coll->size + rank;

    if (schedule->cached->shape.is_threads && xy_exec_queue_ops(schedule->cached->exec, queue) > 0)
        nbc_thread_add(thread_of(schedule, rank), schedule, queue);
    return xy_exec_arrive(schedule->cached->exec, rank, m->send.base, m->receive.base);
}

/* The counts of all ranks are known: the last one builds the graph, and all arrive at once. */
static int arrive_all(nbc_schedule_t *schedule, const coll_call_t *call)
{
    nbc_comm_t *nbc = nbc_of(schedule->coll);
    nbc_shape_t shape;
    xy_status_t st;
    int ready = 0;

    pthread_mutex_lock(&nbc->lock);
    st = give_cached(schedule, &shape, call);
    pthread_mutex_unlock(&nbc->lock);
    if (st != XY_OK) {
        fail();
        return 0;
    }
    for (int r = 0; r < schedule->coll->size; r++)
        ready += arrive(schedule, r);
    return ready;
}

/* Take part in a schedule: mark this member as arrived, wake threads and do what must run at the
 * start. */
static void join_in(nbc_schedule_t *schedule, coll_call_t *call, bool is_last)
{
    bool needs_all = nbc_needs_all_counts(call);
    xy_op_id_t op;
    int ready = 0;

    if (!needs_all && nbc_rank_args_adjust(call, schedule->cached->shape.is_in_place) != XY_OK) {
        xy_fail_memory("starting a collective");
        fail();
    } else if (!needs_all) {
        ready = arrive(schedule, call->rank);
    } else if (is_last) {
        ready = arrive_all(schedule, call);
    }
    /* Others may be at work on the graph of a schedule that is not complete. */
    if (needs_all && !is_last)
        return;
    if (ready > 0)
        wake(schedule, ready);
    while (take_start(schedule, &op))
        nbc_do_op(schedule, op);
}

/* Start a scheduled collective; true if other members are still missing. */
static bool start(mpi_rank_t *self, coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    bool is_last = false;
    nbc_schedule_t *schedule;

    if (nbc_rank_args_make(call) != XY_OK) {
        xy_fail_memory("starting a collective");
        fail();
        return false;
    }
    self->schedules++;
    pthread_mutex_lock(&nbc_of(coll)->lock);
    schedule = join(call, &is_last);
    pthread_mutex_unlock(&nbc_of(coll)->lock);
    if (schedule == NULL) {
        fail();
        return false;
    }
    join_in(schedule, call, is_last);
    nbc_schedule_release(schedule);
    return !is_last;
}

static bool find(mpi_coll_t *coll, uint64_t number, coll_claim_t *claim_p)
{
    nbc_comm_t *nbc = nbc_of(coll);
    nbc_schedule_t *schedule;

    pthread_mutex_lock(&nbc->lock);
    schedule = *find_open(nbc, number);
    if (schedule != NULL)
        *claim_p = schedule->claim;
    pthread_mutex_unlock(&nbc->lock);
    return schedule != NULL;
}

const coll_engine_ops_t nbc_engine = {.name = "scheduled",
                                      .wants = nbc_wants,
                                      .start = start,
                                      .find = find,
                                      .measured = nbc_measured_call,
                                      .forget = nbc_rank_args_destroy,
                                      .comm_create = comm_create,
                                      .comm_destroy = comm_destroy};
