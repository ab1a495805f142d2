/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/nbc/nbc.h"

#include <stdio.h>
#include <string.h>

#include "mpi/nbc/progress_thread.h"
#include "mpi/object/error.h"
#include "mpi/runtime/monitor.h"
#include "mpi/runtime/trace.h"

enum { IDLE_PLANS = 16 }; /* kept for the next time, in each communicator */

static void fail(void)
{
    mpi_job->abort(1);
}

/* ---- Of a communicator ---- */

xy_status_t mpi_flows_create(mpi_coll_t *coll)
{
    coll->flows = xy_calloc(1, sizeof(*coll->flows));
    if (coll->flows == NULL)
        return XY_ENOMEM;
    pthread_mutex_init(&coll->flows->lock, NULL);
    return XY_OK;
}

void mpi_flows_destroy(mpi_coll_t *coll)
{
    if (coll->flows == NULL)
        return;
    for (flow_plan_t *plan = coll->flows->idle, *next; plan != NULL; plan = next) {
        next = plan->next;
        flow_plan_destroy(plan);
    }
    pthread_mutex_destroy(&coll->flows->lock);
    xy_free(coll->flows);
}

static bool is_same(const flow_shape_t *a, const flow_shape_t *b)
{
    return a->collective == b->collective && a->is_in_place == b->is_in_place &&
           a->is_threads == b->is_threads && a->root == b->root && a->split == b->split &&
           a->count == b->count && a->element == b->element && a->algorithm == b->algorithm;
}

/* An idle plan of this shape, taken out; NULL: none. Under the lock. */
static flow_plan_t *take_plan(mpi_flows_t *flows, const flow_shape_t *shape)
{
    flow_plan_t **link = &flows->idle, *plan;

    while (*link != NULL && !is_same(&(*link)->shape, shape))
        link = &(*link)->next;
    plan = *link;
    if (plan != NULL) {
        *link = plan->next;
        flows->idle_count--;
    }
    return plan;
}

/* Keep `plan`; the one that nobody used for longest goes instead, or NULL. Under the lock. */
static flow_plan_t *keep_plan(mpi_flows_t *flows, flow_plan_t *plan)
{
    flow_plan_t **link = &flows->idle, *last;

    if (!plan->shape.is_kept)
        return plan;
    plan->next = flows->idle;
    flows->idle = plan;
    if (++flows->idle_count <= IDLE_PLANS)
        return NULL;
    while ((*link)->next != NULL)
        link = &(*link)->next;
    last = *link;
    *link = NULL;
    flows->idle_count--;
    return last;
}

/* ---- All that run ---- */

static struct {
    pthread_mutex_t lock;
    mpi_flow_t *first, *last; /* the oldest first */
    _Atomic int running;      /* how many; looked at before the lock is */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list(mpi_flow_t *flow)
{
    pthread_mutex_lock(&all.lock);
    flow->later = NULL;
    flow->earlier = all.last;
    if (all.last != NULL)
        all.last->later = flow;
    else
        all.first = flow;
    all.last = flow;
    pthread_mutex_unlock(&all.lock);
    atomic_fetch_add_explicit(&all.running, 1, memory_order_release);
}

static void unlist(mpi_flow_t *flow)
{
    pthread_mutex_lock(&all.lock);
    if (flow->earlier != NULL)
        flow->earlier->later = flow->later;
    else
        all.first = flow->later;
    if (flow->later != NULL)
        flow->later->earlier = flow->earlier;
    else
        all.last = flow->earlier;
    pthread_mutex_unlock(&all.lock);
    atomic_fetch_sub_explicit(&all.running, 1, memory_order_relaxed);
}

void flow_hold(mpi_flow_t *flow)
{
    atomic_fetch_add_explicit(&flow->references, 1, memory_order_relaxed);
}

void flow_release(mpi_flow_t *flow)
{
    mpi_coll_t *coll = flow->coll;
    flow_plan_t *old;

    /* acq_rel: what others did with the flow happens before it goes. */
    if (atomic_fetch_sub_explicit(&flow->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&coll->flows->lock);
    old = keep_plan(coll->flows, flow->plan);
    pthread_mutex_unlock(&coll->flows->lock);
    flow_plan_destroy(old);
    if (flow->type != NULL)
        mpi_type_release(flow->type);
    xy_free(flow);
    mpi_coll_release(coll);
}

/* ---- What the executor tells ---- */

void flow_over(void *arg)
{
    unlist(arg);
    flow_release(arg);
}

static mpi_rank_t *rank_of(const mpi_flow_t *flow, int rank)
{
    const mpi_group_t *group = flow->coll->group;

    return &mpi_job->ranks[group->ranks != NULL ? group->ranks[rank] : rank];
}

void flow_ready(void *arg, int queue)
{
    mpi_flow_t *flow = arg;
    int rank = queue - FLOW_QUEUE_RANKS;

    if (queue == FLOW_QUEUE_START) {
        atomic_fetch_add_explicit(&flow->start_ready, 1, memory_order_release);
    } else if (rank < flow->coll->size) {
        atomic_fetch_add_explicit(&flow->wait_ready, 1, memory_order_release);
        xy_worker_notify(rank_of(flow, rank)->worker->base);
    } else {
        mpi_thread_post(rank_of(flow, rank - flow->coll->size)->progress_thread);
    }
}

/* Messages of the graph that this member sends. */
static void count_messages(const coll_call_t *call)
{
    const xy_graph_t *graph = call->flow->plan->graph;
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
    mpi_flow_t *flow = call->flow;

    if (call->comm->owner->monitor != NULL)
        count_messages(call);
    flow_member_finish(call);
    call->comm->owner->flows--;
    call->request = NULL;
    call->flow = NULL;
    flow_release(flow);
    mpi_request_complete(request);
}

void flow_rank_over(void *arg, int rank)
{
    mpi_flow_t *flow = arg;
    coll_call_t *call = flow->calls[rank];
    mpi_worker_t *worker = call->comm->owner->worker;

    if (worker->base == xy_worker_self()) {
        finish_call(call);
        return;
    }
    call->next = atomic_load_explicit(&worker->over, memory_order_relaxed);
    /* release: pairs with the acquire in mpi_flow_complete */
    while (!atomic_compare_exchange_weak_explicit(&worker->over, &call->next, call,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    xy_worker_notify(worker->base);
}

void mpi_flow_complete(mpi_worker_t *worker)
{
    coll_call_t *call = atomic_exchange_explicit(&worker->over, NULL, memory_order_acquire);

    while (call != NULL) {
        coll_call_t *next = call->next;

        finish_call(call);
        call = next;
    }
}

/* ---- Doing operations ---- */

/* `count` operations are there for anybody: get somebody out of bed. */
static void wake(const mpi_flow_t *flow, int count)
{
    int comm = flow->progress == XMPI_PROGRESS_TASKS ? mpi_job->comm_workers : 0;

    for (int i = 0; i < comm && i < count; i++)
        xy_worker_notify(mpi_job->worker[mpi_job->workers - 1 - i].base);
    for (int p = 0; comm == 0 && p < flow->coll->parts; p++)
        xy_worker_notify(flow->coll->part[p]->worker->base);
}

/* The operation was under way for the cores of both its ranks. */
static void trace_op(mpi_trace_t *trace, const mpi_flow_t *flow, const xy_op_t *op)
{
    const mpi_worker_t *from, *to;

    if (op->kind < XY_OP_MOVE)
        return;
    from = rank_of(flow, op->from.rank)->worker;
    to = rank_of(flow, op->to.rank)->worker;
    mpi_trace_put_message(trace, from, op->bytes);
    if (to != from)
        mpi_trace_put_message(trace, to, op->bytes);
}

void flow_do(mpi_flow_t *flow, xy_op_id_t op)
{
    mpi_trace_t *trace = ((mpi_worker_t *)xy_worker_user(xy_worker_self()))->trace;
    mpi_trace_state_t before = mpi_trace_begin(trace, flow->kind->name);
    int ready = xy_exec_do(flow->plan->exec, op);

    if (__builtin_expect(trace != NULL, 0))
        trace_op(trace, flow, xy_graph_op(flow->plan->graph, op));
    mpi_trace_end(trace, before);
    if (ready > 0)
        wake(flow, ready);
}

static bool take_start(mpi_flow_t *flow, xy_op_id_t *op_p)
{
    if (atomic_load_explicit(&flow->start_ready, memory_order_acquire) <= 0 ||
        !xy_exec_take_own(flow->plan->exec, FLOW_QUEUE_START, op_p))
        return false;
    atomic_fetch_sub_explicit(&flow->start_ready, 1, memory_order_relaxed);
    return true;
}

/* What ranks do when they wait: those of this worker first. */
static bool take_wait(mpi_flow_t *flow, const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    const mpi_coll_t *coll = flow->coll;

    if (atomic_load_explicit(&flow->wait_ready, memory_order_acquire) <= 0)
        return false;
    for (int turn = 0; turn < 2; turn++)
        for (int r = 0; r < coll->size; r++)
            if ((coll->part[coll->part_of[r]]->worker == worker) == (turn == 0) &&
                xy_exec_take_own(flow->plan->exec, FLOW_QUEUE_RANKS + r, op_p)) {
                atomic_fetch_sub_explicit(&flow->wait_ready, 1, memory_order_relaxed);
                return true;
            }
    return false;
}

/* An operation that this worker may do when its ranks have nothing better to do. */
static bool take(mpi_flow_t *flow, const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    bool has_ranks = worker->index < mpi_job->workers - mpi_job->comm_workers;

    if (has_ranks && (take_start(flow, op_p) || take_wait(flow, worker, op_p)))
        return true;
    if (!has_ranks && flow->progress == XMPI_PROGRESS_NONE)
        return false;
    return xy_exec_take(flow->plan->exec, op_p);
}

/* The oldest flow in which there is something for `worker`, held, and an operation of it. */
static mpi_flow_t *find_work(const mpi_worker_t *worker, xy_op_id_t *op_p)
{
    mpi_flow_t *flow, *found = NULL;

    pthread_mutex_lock(&all.lock);
    for (flow = all.first; flow != NULL; flow = flow->later)
        if (take(flow, worker, op_p)) {
            found = flow;
            break;
        }
    if (found != NULL)
        flow_hold(found);
    pthread_mutex_unlock(&all.lock);
    return found;
}

bool mpi_flow_help(mpi_worker_t *worker)
{
    enum { AT_ONCE = 16 }; /* operations before the worker looks at its rings again */
    xy_op_id_t op;
    mpi_flow_t *flow;
    int done = 0;

    if (atomic_load_explicit(&all.running, memory_order_acquire) == 0)
        return false;
    while (done < AT_ONCE && (flow = find_work(worker, &op)) != NULL) {
        do {
            flow_do(flow, op);
            done++;
        } while (done < AT_ONCE && take(flow, worker, &op));
        flow_release(flow);
    }
    return done > 0;
}

void mpi_flow_progress(mpi_rank_t *self)
{
    mpi_flow_complete(self->worker);
    mpi_flow_help(self->worker);
}

void mpi_flow_wait(mpi_rank_t *self, const MPI_Request requests[], int count)
{
    for (int i = 0; i < count; i++) {
        const mpi_request_t *r =
            requests[i] != MPI_REQUEST_NULL ? mpi_request_of(requests[i]) : NULL;
        coll_call_t *call = r != NULL && r->has_call ? r->extra : NULL;

        if (call != NULL && call->left > 0.0)
            mpi_flow_measure(call);
    }
    mpi_flow_progress(self);
}

/* ---- Starting ---- */

static void disagree(const mpi_flow_t *flow, const coll_call_t *call)
{
    char a[64] = "", b[64] = "";

    if (flow->kind == call->kind && flow->root != call->root) {
        snprintf(a, sizeof(a), " with root %d", flow->root);
        snprintf(b, sizeof(b), " with root %d", call->root);
    } else if (flow->kind == call->kind) {
        snprintf(a, sizeof(a), " with %llu bytes", (unsigned long long)flow->bytes);
        snprintf(b, sizeof(b), " with %llu bytes", (unsigned long long)call->bytes);
    }
    xy_fail(XY_EINVAL,
            "ranks disagree about nonblocking collective %llu of a communicator of %d ranks: rank "
            "%d calls %s%s, rank %d calls %s%s; all members must make the same calls in the same "
            "order",
            (unsigned long long)flow->number + 1, flow->coll->size,
            rank_of(flow, flow->first)->world, flow->kind->name, a,
            rank_of(flow, call->rank)->world, call->kind->name, b);
    fail();
}

static mpi_flow_t *flow_new(const coll_call_t *call, uint64_t number)
{
    mpi_coll_t *coll = call->comm->coll;
    mpi_flow_t *flow = xy_calloc(1, sizeof(*flow) + (size_t)coll->size * sizeof(flow->calls[0]));

    if (flow == NULL)
        return NULL;
    flow->coll = coll;
    flow->number = number;
    flow->kind = call->kind;
    flow->root = call->root;
    flow->first = call->rank;
    flow->bytes = call->bytes;
    flow->op = call->op;
    if (call->op != NULL) {
        flow->type = call->receive_type;
        mpi_type_hold(flow->type);
    }
    flow->progress = mpi_settings_of(call->comm)->progress;
    atomic_init(&flow->references, 1);
    mpi_coll_hold(coll);
    flow->next = coll->flows->open;
    coll->flows->open = flow;
    return flow;
}

/* A plan for the flow, fresh or used before; the flow can be worked on afterwards. */
static xy_status_t give_plan(mpi_flow_t *flow, const flow_shape_t *shape, const coll_call_t *call)
{
    flow->plan = shape->is_kept ? take_plan(flow->coll->flows, shape) : NULL;
    if (flow->plan != NULL)
        xy_exec_reset(flow->plan->exec, flow);
    else if (flow_plan_make(flow, shape, call, &flow->plan) != XY_OK)
        return XY_ENOMEM;
    list(flow);
    return XY_OK;
}

/* The flow of this call, which becomes one of its members; *is_last_p: all are there. */
static mpi_flow_t *join(coll_call_t *call, bool *is_last_p)
{
    mpi_flows_t *flows = call->comm->coll->flows;
    uint64_t number = call->comm->flow_seq++;
    mpi_flow_t **link = &flows->open, *flow;
    flow_shape_t shape;

    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    flow = *link;
    if (flow == NULL) {
        flow = flow_new(call, number);
        if (flow != NULL && !flow_is_late(call)) {
            flow_shape_make(call, &shape);
            if (give_plan(flow, &shape, call) != XY_OK)
                return NULL;
        }
        link = &flows->open;
    }
    if (flow == NULL)
        return NULL;
    if (flow->kind != call->kind || flow->root != call->root || flow->bytes != call->bytes)
        disagree(flow, call);
    flow->calls[call->rank] = call;
    call->flow = flow;
    /* One for the call, one for the caller. */
    atomic_fetch_add_explicit(&flow->references, 2, memory_order_relaxed);
    *is_last_p = ++flow->arrived == flow->coll->size;
    if (*is_last_p)
        *link = flow->next;
    return flow;
}

static int arrive(mpi_flow_t *flow, int rank)
{
    const flow_member_t *m = flow->calls[rank]->member;
    int queue = FLOW_QUEUE_RANKS + flow->coll->size + rank;

    if (flow->plan->shape.is_threads && xy_exec_queue_ops(flow->plan->exec, queue) > 0)
        mpi_thread_add(rank_of(flow, rank)->progress_thread, flow, queue);
    return xy_exec_arrive(flow->plan->exec, rank, m->send.base, m->receive.base);
}

/* Everybody's counts are known: the last one builds the graph, and all arrive at once. */
static int arrive_all(mpi_flow_t *flow, const coll_call_t *call)
{
    flow_shape_t shape;
    int ready = 0;

    flow_shape_make(call, &shape);
    if (give_plan(flow, &shape, call) != XY_OK) {
        fail();
        return 0;
    }
    for (int r = 0; r < flow->coll->size; r++)
        ready += arrive(flow, r);
    return ready;
}

static void start(mpi_flow_t *flow, coll_call_t *call, bool is_last)
{
    bool is_late = flow_is_late(call);
    xy_op_id_t op;
    int ready = 0;

    if (!is_late && flow_member_adjust(call, flow->plan->shape.is_in_place) != XY_OK) {
        xy_fail_memory("starting a collective");
        fail();
    } else if (!is_late) {
        ready = arrive(flow, call->rank);
    } else if (is_last) {
        ready = arrive_all(flow, call);
    }
    /* Others may be at work on the plan of a flow that is not complete. */
    if (is_late && !is_last)
        return;
    if (ready > 0)
        wake(flow, ready);
    while (take_start(flow, &op))
        flow_do(flow, op);
}

/* Other ranks of the worker reach their start before this one computes: see coll.c. */
static void let_arrive(const mpi_rank_t *self, const coll_part_t *part, bool is_last)
{
    if (mpi_job->lets_arrive && mpi_job->comm_workers > 0 && !is_last && part->members > 1 &&
        xy_worker_has_ready(self->worker->base))
        xy_fiber_yield();
}

void mpi_flow_start(mpi_rank_t *self, coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    bool is_last = false;
    mpi_flow_t *flow;

    call->rank = call->comm->rank;
    if (flow_member_make(call) != XY_OK) {
        xy_fail_memory("starting a collective");
        fail();
        return;
    }
    self->flows++;
    pthread_mutex_lock(&coll->flows->lock);
    flow = join(call, &is_last);
    pthread_mutex_unlock(&coll->flows->lock);
    if (flow == NULL) {
        fail();
        return;
    }
    start(flow, call, is_last);
    flow_release(flow);
    let_arrive(self, coll->part[coll->part_of[call->rank]], is_last);
}
