/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedules of collectives between processes: how they are made and run. */
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/interprocess.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

typedef enum { SEND, RECEIVE, WAIT, COPY, REDUCE, REDUCE_AFTER, DO } step_kind_t;

typedef struct {
    step_kind_t kind;
    int lane;
    int peer;
    void *buffer; /* to send, receive into, copy to or reduce to; of DO: the argument */
    int64_t count;
    const mpi_type_t *type;
    const void *from; /* to copy or reduce from */
    int64_t from_count;
    const mpi_type_t *from_type;
    schedule_fn fn;
} step_t;

typedef struct block {
    struct block *next;
    _Alignas(16) char data[];
} block_t;

typedef struct {
    schedule_t *schedule;
    int pending; /* messages */
} lane_t;

struct schedule {
    coll_call_t *call;
    mpi_rank_t *self;
    interprocess_meeting_t *meeting; /* it works for all members of it; NULL: for one */
    mpi_comm_t hidden;
    mpi_call_t named; /* the call that reports name for its messages */
    int tag;
    xy_vec_t steps; /* step_t */
    size_t next;
    int lane; /* of the steps that are added */
    lane_t lanes[SCHEDULE_LANES];
    int error;       /* a member has failed: it waits for its messages, and does no more */
    bool is_waiting; /* for messages that are pending */
    bool is_queued;
    block_t *blocks;
    struct schedule *next_ready;
};

/* Schedules of a worker that can continue. One runs at a time: a message that completes lets
 * another one continue when this one yields, not inside it. */
typedef struct {
    _Alignas(XMPI_LINES) schedule_t *first;
    schedule_t **last;
    bool is_busy;
    schedule_t *staying; /* that only the worker itself may run */
} ready_t;

static ready_t *ready; /* [workers] */

xy_status_t coll_interprocess_begin(const mpi_job_t *job)
{
    size_t bytes = (size_t)job->workers * sizeof(*ready);

    if (!mpi_survives && job->processes == 1 && job->numbers == job->capacity)
        return XY_OK;
    ready = aligned_alloc(XMPI_LINES, bytes);
    if (ready == NULL)
        return XY_ENOMEM;
    memset((void *)ready, 0, bytes);
    return XY_OK;
}

void coll_interprocess_end(void)
{
    free(ready);
    ready = NULL;
}

void coll_interprocess_out_of_memory(void)
{
    xy_fail_memory("working on a collective between processes");
    mpi_job->abort(1);
    abort(); /* not reached: the launcher ended the process */
}

/* ---- Making ---- */

schedule_t *schedule_new(coll_call_t *call, const mpi_call_t *named,
                         interprocess_meeting_t *meeting)
{
    schedule_t *s = xy_calloc(1, sizeof(*s));

    if (s == NULL)
        coll_interprocess_out_of_memory();
    s->call = call;
    s->self = call->comm->owner;
    s->meeting = meeting;
    s->hidden = mpi_comm_shadow(call->comm, XMPI_CONTEXT_COLLECTIVE);
    s->hidden.remote = NULL;
    s->named = *named;
    s->tag = coll_interprocess_tag(call);
    coll_interprocess_claim(call, s->hidden.claim);
    s->hidden.meeting = s->self->account != NULL ? call->request->buffer : NULL;
    s->steps = XY_VEC_INIT(step_t);
    for (int i = 0; i < SCHEDULE_LANES; i++)
        s->lanes[i].schedule = s;
    return s;
}

static step_t *add(schedule_t *s, step_kind_t kind)
{
    step_t *step = xy_vec_push(&s->steps);

    if (step == NULL)
        coll_interprocess_out_of_memory();
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    step->lane = s->lane;
    return step;
}

static void add_message(schedule_t *s, step_kind_t kind, int peer, const void *buffer,
                        int64_t count, const mpi_type_t *type)
{
    step_t *step = add(s, kind);

    step->peer = peer;
    step->buffer = (void *)(uintptr_t)buffer;
    step->count = count;
    step->type = type;
}

void schedule_send(schedule_t *s, int peer, const void *buffer, int64_t count,
                   const mpi_type_t *type)
{
    add_message(s, SEND, peer, buffer, count, type);
}

void schedule_receive(schedule_t *s, int peer, void *buffer, int64_t count, const mpi_type_t *type)
{
    add_message(s, RECEIVE, peer, buffer, count, type);
}

void schedule_lane(schedule_t *s, int64_t lane)
{
    s->lane = (int)(lane % SCHEDULE_LANES);
}

void schedule_wait_lane(schedule_t *s, int64_t lane)
{
    add(s, WAIT)->lane = (int)(lane % SCHEDULE_LANES);
}

void schedule_wait(schedule_t *s)
{
    for (int i = 0; i < SCHEDULE_LANES; i++)
        schedule_wait_lane(s, i);
}

void schedule_copy(schedule_t *s, void *to, int64_t to_count, const mpi_type_t *to_type,
                   const void *from, int64_t from_count, const mpi_type_t *from_type)
{
    step_t *step = add(s, COPY);

    step->buffer = to;
    step->count = to_count;
    step->type = to_type;
    step->from = from;
    step->from_count = from_count;
    step->from_type = from_type;
}

static void add_reduction(schedule_t *s, step_kind_t kind, const void *in, void *inout,
                          int64_t count)
{
    step_t *step = add(s, kind);

    step->buffer = inout;
    step->from = in;
    step->count = count;
}

void schedule_reduce(schedule_t *s, const void *in, void *inout, int64_t count)
{
    add_reduction(s, REDUCE, in, inout, count);
}

void schedule_reduce_after(schedule_t *s, void *inout, void *in, int64_t count)
{
    add_reduction(s, REDUCE_AFTER, in, inout, count);
}

void schedule_do(schedule_t *s, schedule_fn fn, void *arg)
{
    step_t *step = add(s, DO);

    step->fn = fn;
    step->buffer = arg;
}

void *schedule_memory(schedule_t *s, size_t bytes)
{
    block_t *block = xy_malloc(sizeof(*block) + bytes);

    if (block == NULL)
        coll_interprocess_out_of_memory();
    block->next = s->blocks;
    s->blocks = block;
    return block->data;
}

void *schedule_vector(schedule_t *s, int64_t count, const mpi_type_t *type)
{
    size_t bytes = count > 0 ? (size_t)(count - 1) *
                                       (size_t)(type->extent < 0 ? -type->extent : type->extent) +
                                   (size_t)type->true_extent
                             : 0;
    char *memory = schedule_memory(s, bytes);

    /* With a negative extent the elements lie below the first one. */
    if (type->extent < 0 && count > 0)
        memory += (size_t)(count - 1) * (size_t)-type->extent;
    return memory - type->true_lb;
}

/* ---- Running ---- */

/* End a schedule: free it and complete the requests of its members. */
static void finish(schedule_t *s)
{
    interprocess_meeting_t *meeting = s->meeting;
    mpi_request_t *request = s->call->request;

    if (s->error != MPI_SUCCESS)
        request->completion.error = s->error;
    else if (s->self->match.unexpected.count > 0)
        coll_interprocess_look_back(s->call);
    for (block_t *b = s->blocks, *next; b != NULL; b = next) {
        next = b->next;
        xy_free(b);
    }
    xy_vec_cleanup(&s->steps);
    xy_free(s);
    if (meeting != NULL)
        interprocess_meeting_end(meeting);
    else
        mpi_request_complete(request);
}

/* More has come than there is room for: members give different sizes. */
static __attribute__((noinline, cold)) void refuse(const schedule_t *s, const mpi_request_t *part)
{
    const mpi_completion_t *c = &part->completion;
    char here[160], there[160], peer[XMPI_RANK_TEXT];

    mpi_report_claim();
    mpi_caller_describe(s->named.caller, here, sizeof(here));
    mpi_caller_describe(c->sent_at, there, sizeof(there));
    xy_fail(
        XY_EINVAL,
        "rank %d: %s on %s: %s gives %llu bytes%s%s, and there is room for %llu%s%s; all members "
        "must give the same sizes",
        s->self->world, s->named.name, mpi_comm_name(s->call->comm),
        mpi_comm_describe_rank(s->call->comm, c->source, peer),
        (unsigned long long)(c->bytes + c->truncated_bytes), there[0] != '\0' ? " " : "", there,
        (unsigned long long)c->bytes, here[0] != '\0' ? " " : "", here);
    mpi_job->abort(1);
}

/* Messages that keep it from continuing. */
static bool is_blocked(const schedule_t *s)
{
    const step_t *step = s->next < s->steps.count ? &XY_VEC_AT(&s->steps, step_t, s->next) : NULL;

    if (step != NULL && s->error == MPI_SUCCESS)
        return step->kind == WAIT && s->lanes[step->lane].pending > 0;
    for (int i = 0; i < SCHEDULE_LANES; i++)
        if (s->lanes[i].pending > 0)
            return true;
    return false;
}

/* The helper of a worker runs its schedules at the gate while its ranks compute (gate.h), but not
 * the program's own operations: those stay with the worker. */
static bool may_run_here(const schedule_t *s)
{
    const mpi_op_t *op = s->call->op;

    return op == NULL || op->is_predefined || xy_worker_self() == s->self->worker->base;
}

static void run(schedule_t *s);

void schedule_run_soon(schedule_t *s)
{
    ready_t *r = &ready[s->self->worker->index];

    s->is_queued = true;
    s->next_ready = NULL;
    if (r->first == NULL)
        r->last = &r->first;
    *r->last = s;
    r->last = &s->next_ready;
    if (r->is_busy)
        return;
    r->is_busy = true;
    while (r->first != NULL) {
        schedule_t *first = r->first;

        r->first = first->next_ready;
        if (may_run_here(first)) {
            first->is_queued = false;
            run(first);
        } else {
            first->next_ready = r->staying;
            r->staying = first;
        }
    }
    r->is_busy = false;
}

bool coll_interprocess_run_staying(mpi_worker_t *worker)
{
    ready_t *r = ready != NULL ? &ready[worker->index] : NULL;
    schedule_t *s = r != NULL ? r->staying : NULL;

    if (s == NULL || r->is_busy)
        return false;
    r->staying = s->next_ready;
    schedule_run_soon(s);
    return true;
}

/* End a message of the schedule; a failed member or a wrong amount becomes its error. */
static void part_over(mpi_request_t *part)
{
    lane_t *lane = part->extra;
    schedule_t *s = lane->schedule;

    part->comm = NULL; /* the schedule's own */
    part->type = NULL;
    if (mpi_survive_is_class(part->completion.error))
        s->error = part->completion.error;
    else if (part->completion.error != MPI_SUCCESS)
        refuse(s, part);
    lane->pending--;
    if (s->is_waiting && !s->is_queued && !is_blocked(s))
        schedule_run_soon(s);
}

/* Its messages are described as the call of the program, whatever the rank does meanwhile. */
static void start_message(schedule_t *s, const step_t *step)
{
    mpi_transfer_t t = {.comm = &s->hidden,
                        .buffer = step->buffer,
                        .count = step->count,
                        .type = (mpi_type_t *)(uintptr_t)step->type,
                        .peer = step->peer,
                        .tag = s->tag};
    mpi_request_t *part =
        mpi_request_new(s->self, step->kind == SEND ? XMPI_KIND_SEND : XMPI_KIND_RECV);
    const mpi_call_t now = s->self->call;
    bool is_over;

    if (part == NULL)
        coll_interprocess_out_of_memory();
    s->self->call = s->named;
    mpi_request_describe(part, &t);
    part->extra = &s->lanes[step->lane];
    if (step->kind == SEND) {
        is_over = mpi_send_start(s->self, &t, part, false) || part->is_done;
    } else {
        mpi_recv_start(s->self, &t, part, false);
        is_over = part->is_done;
    }
    s->self->call = now;
    part->release = part_over;
    s->lanes[step->lane].pending++;
    if (is_over)
        mpi_request_free(part);
    else
        part->is_freed = true;
}

/* inout = inout op in; a program's own operation leaves the result in its second argument. */
static void reduce_after(const coll_call_t *call, void *inout, void *in, int64_t count)
{
    const mpi_type_t *type = call->receive_type;

    if (call->op->is_predefined) {
        mpi_op_apply2(call->op, inout, in, inout, count, type);
        return;
    }
    mpi_op_apply(call->op, inout, in, count, type);
    coll_copy(inout, count, type, in, count, type);
}

/* Execute one step of a schedule; messages are only started. */
static void do_step(schedule_t *s, const step_t *step)
{
    const coll_call_t *call = s->call;

    switch (step->kind) {
    case COPY:
        coll_copy(step->buffer, step->count, step->type, step->from, step->from_count,
                  step->from_type);
        break;
    case REDUCE:
        mpi_op_apply(call->op, step->from, step->buffer, step->count, call->receive_type);
        break;
    case REDUCE_AFTER:
        reduce_after(call, step->buffer, (void *)(uintptr_t)step->from, step->count);
        break;
    case DO:
        step->fn(step->buffer);
        break;
    default:
        start_message(s, step);
    }
}

/* Until it waits or is complete. */
static void run(schedule_t *s)
{
    s->is_waiting = false;
    while (s->next < s->steps.count && s->error == MPI_SUCCESS && !is_blocked(s)) {
        const step_t *step = &XY_VEC_AT(&s->steps, step_t, s->next);

        s->next++;
        if (step->kind != WAIT)
            do_step(s, step);
    }
    if ((s->next == s->steps.count || s->error != MPI_SUCCESS) && !is_blocked(s))
        finish(s);
    else
        s->is_waiting = true;
}

/* Messages of one collective do not meet those of another. Persistent ones are started in any
 * order, so their number among those comes into it. */
int coll_interprocess_tag(const coll_call_t *call)
{
    enum { PERSISTENT = 1 << 30, STARTS = 15 };

    if (call->how != COLL_PERSISTENT)
        return (int)(call->number & (PERSISTENT - 1));
    return PERSISTENT | (int)(call->comm->persistent & ((1 << STARTS) - 1)) << STARTS |
           (int)(call->number & ((1 << STARTS) - 1));
}

const coll_call_t *schedule_call_of(const mpi_request_t *part)
{
    return ((const lane_t *)part->extra)->schedule->call;
}
