/* SPDX-License-Identifier: BSD-3-Clause */
/* How members are spread over processes, and the scripts of their collectives. */
#include "mpi/coll/spread.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/runtime/runtime.h"

/* ---- Who is where ---- */

static int process_of(const mpi_group_t *group, int rank)
{
    return mpi_job->process_of[group->ranks != NULL ? group->ranks[rank] : rank];
}

static bool is_in_one_process(const mpi_group_t *group)
{
    for (int r = 0; r < group->size; r++)
        if (process_of(group, r) != mpi_job->process)
            return false;
    return true;
}

void coll_spread_destroy(coll_spread_t *spread)
{
    if (spread == NULL)
        return;
    xy_free(spread->part_of);
    xy_free(spread->first);
    xy_free(spread->place);
    xy_free(spread->member);
    xy_free(spread->begin);
    xy_free(spread);
}

/* Parts in the order of their first members. */
static void find_parts(const mpi_group_t *group, coll_spread_t *s, int *part_of_process)
{
    for (int r = 0; r < group->size; r++) {
        int *part = &part_of_process[process_of(group, r)];

        if (*part == 0) {
            s->first[s->parts] = r;
            *part = ++s->parts;
        }
        s->part_of[r] = *part - 1;
        s->place[r] = s->begin[*part]++; /* counts members, for now */
    }
    s->own = part_of_process[mpi_job->process] - 1;
    for (int p = 0; p < s->parts; p++)
        s->begin[p + 1] += s->begin[p];
    s->is_ordered = true;
    for (int r = 0; r < group->size; r++) {
        s->member[s->begin[s->part_of[r]] + s->place[r]] = r;
        s->is_ordered = s->is_ordered && (r == 0 || s->part_of[r] >= s->part_of[r - 1]);
    }
}

xy_status_t coll_spread_create(const mpi_group_t *group, coll_spread_t **spread_p)
{
    size_t n = (size_t)group->size, processes = (size_t)mpi_job->processes;
    coll_spread_t *s;
    int *part_of_process;

    if (mpi_job->processes == 1 || is_in_one_process(group))
        return XY_OK;
    s = xy_calloc(1, sizeof(*s));
    part_of_process = xy_calloc(processes, sizeof(int));
    if (s == NULL || part_of_process == NULL)
        goto fail;
    s->part_of = xy_calloc(n, sizeof(int));
    s->place = xy_calloc(n, sizeof(int));
    s->member = xy_calloc(n, sizeof(int));
    s->first = xy_calloc(processes, sizeof(int));
    s->begin = xy_calloc(processes + 1, sizeof(int));
    if (s->part_of == NULL || s->place == NULL || s->member == NULL || s->first == NULL ||
        s->begin == NULL)
        goto fail;
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->told, -1);
    find_parts(group, s, part_of_process);
    xy_free(part_of_process);
    *spread_p = s;
    return XY_OK;

fail:
    xy_free(part_of_process);
    coll_spread_destroy(s);
    return XY_ENOMEM;
}

/* ---- Trees ---- */

/* Position `i` of `n` in a binomial tree: below it are those with one more bit, below its lowest
 * one. The largest of them comes first: it has most below itself. Returns their number. */
static int binomial(int i, int n, int *parent, int children[])
{
    int count = 0, bit = 1;

    while (bit < n && (i & bit) == 0)
        bit <<= 1;
    *parent = i > 0 ? i & (i - 1) : -1;
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (i + bit < n)
            children[count++] = i + bit;
    return count;
}

/* The member of a part that speaks with other parts. */
static int speaker(const coll_spread_t *s, int part, int root)
{
    return part == s->part_of[root] ? root : s->first[part];
}

/* Places of a part, with the speaker's exchanged with the first. */
static int member_at(const coll_spread_t *s, int part, int root, int place)
{
    int own = s->place[speaker(s, part, root)];

    place = place == 0 ? own : place == own ? 0 : place;
    return s->member[s->begin[part] + place];
}

static void add_speakers(const coll_spread_t *s, int part, int root, spread_tree_t *tree)
{
    int from = s->part_of[root], parent, found[SPREAD_CHILDREN];
    int n = binomial((part - from + s->parts) % s->parts, s->parts, &parent, found);

    tree->parent = parent < 0 ? -1 : speaker(s, (parent + from) % s->parts, root);
    for (int i = 0; i < n; i++)
        tree->child[tree->children++] = speaker(s, (found[i] + from) % s->parts, root);
}

/* Among the members of its part, below the one that speaks for it. */
static void add_part(const coll_spread_t *s, int rank, int root, spread_tree_t *tree)
{
    int part = s->part_of[rank], own = s->place[speaker(s, part, root)], place = s->place[rank];
    int parent, found[SPREAD_CHILDREN], n;

    place = place == own ? 0 : place == 0 ? own : place;
    n = binomial(place, s->begin[part + 1] - s->begin[part], &parent, found);
    if (parent >= 0)
        tree->parent = member_at(s, part, root, parent);
    for (int i = 0; i < n; i++)
        tree->child[tree->children++] = member_at(s, part, root, found[i]);
}

void spread_tree(const mpi_coll_t *coll, int rank, int root, spread_tree_t *tree)
{
    const coll_spread_t *s = coll->spread;
    int part = s->part_of[rank];

    tree->parent = -1;
    tree->children = 0;
    if (rank == speaker(s, part, root))
        add_speakers(s, part, root, tree);
    add_part(s, rank, root, tree);
}

void spread_tree_part(const mpi_coll_t *coll, int rank, spread_tree_t *tree)
{
    const coll_spread_t *s = coll->spread;

    tree->parent = -1;
    tree->children = 0;
    add_part(s, rank, s->first[s->part_of[rank]], tree);
}

void spread_tree_ordered(int first, int end, int rank, spread_tree_t *tree)
{
    tree->children = binomial(rank - first, end - first, &tree->parent, tree->child);
    tree->parent += tree->parent >= 0 ? first : 0;
    for (int i = 0; i < tree->children; i++)
        tree->child[i] += first;
}

/* ---- Scripts ---- */

typedef enum { SEND, RECEIVE, WAIT, COPY, REDUCE } step_kind_t;

typedef struct {
    step_kind_t kind;
    int peer;
    void *buffer; /* what is sent or received; what is copied or reduced to */
    int64_t count;
    const mpi_type_t *type;
    const void *from; /* what is copied or reduced */
    int64_t from_count;
    const mpi_type_t *from_type;
} step_t;

typedef struct block {
    struct block *next;
    _Alignas(16) char data[];
} block_t;

struct script {
    coll_call_t *call;
    mpi_rank_t *self;
    mpi_comm_t hidden;
    mpi_call_t named; /* what reports call its messages */
    int tag;
    xy_vec_t steps; /* step_t */
    size_t next;
    int pending;
    bool is_waiting; /* for messages that are pending */
    bool is_queued;
    block_t *blocks;
    struct script *next_ready;
};

/* Scripts of a worker that can go on. One runs at a time: the end of a message lets another one go
 * on when this one has given way, not inside it. */
typedef struct {
    _Alignas(XMPI_LINES) script_t *first;
    script_t **last;
    bool is_busy;
    script_t *staying; /* that only the worker itself may run */
} ready_t;

static ready_t *ready; /* [workers] */

/* The helper of a worker runs its scripts at the gate while its ranks compute (gate.h), but not the
 * program's own operations: those stay with the worker. */
static bool may_run_here(const script_t *s)
{
    const mpi_op_t *op = s->call->op;

    return op == NULL || op->is_predefined || xy_worker_self() == s->self->worker->base;
}

static bool run_staying(mpi_worker_t *worker);

xy_status_t coll_spread_begin(const mpi_job_t *job)
{
    size_t bytes = (size_t)job->workers * sizeof(*ready);

    if (job->processes == 1)
        return XY_OK;
    mpi_remote_differs = coll_spread_differs;
    mpi_network_more = run_staying;
    ready = aligned_alloc(XMPI_LINES, bytes);
    if (ready == NULL)
        return XY_ENOMEM;
    memset((void *)ready, 0, bytes);
    return XY_OK;
}

void coll_spread_end(void)
{
    free(ready);
    ready = NULL;
}

static void out_of_memory(void)
{
    xy_fail_memory("working on a collective between processes");
    mpi_job->abort(1);
}

static step_t *add(script_t *s, step_kind_t kind)
{
    step_t *step = xy_vec_push(&s->steps);

    if (step == NULL)
        out_of_memory();
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    return step;
}

static void add_message(script_t *s, step_kind_t kind, int peer, const void *buffer, int64_t count,
                        const mpi_type_t *type)
{
    step_t *step = add(s, kind);

    step->peer = peer;
    step->buffer = (void *)(uintptr_t)buffer;
    step->count = count;
    step->type = type;
}

void script_send(script_t *s, int peer, const void *buffer, int64_t count, const mpi_type_t *type)
{
    add_message(s, SEND, peer, buffer, count, type);
}

void script_receive(script_t *s, int peer, void *buffer, int64_t count, const mpi_type_t *type)
{
    add_message(s, RECEIVE, peer, buffer, count, type);
}

void script_wait(script_t *s)
{
    add(s, WAIT);
}

void script_copy(script_t *s, void *to, int64_t to_count, const mpi_type_t *to_type,
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

void script_reduce(script_t *s, const void *in, void *inout, int64_t count)
{
    step_t *step = add(s, REDUCE);

    step->buffer = inout;
    step->from = in;
    step->count = count;
}

void *script_memory(script_t *s, size_t bytes)
{
    block_t *block = xy_malloc(sizeof(*block) + bytes);

    if (block == NULL)
        out_of_memory();
    block->next = s->blocks;
    s->blocks = block;
    return block->data;
}

void *script_vector(script_t *s, int64_t count, const mpi_type_t *type)
{
    size_t bytes = count > 0 ? (size_t)(count - 1) *
                                       (size_t)(type->extent < 0 ? -type->extent : type->extent) +
                                   (size_t)type->true_extent
                             : 0;
    char *memory = script_memory(s, bytes);

    /* With a negative extent the elements lie below the first one. */
    if (type->extent < 0 && count > 0)
        memory += (size_t)(count - 1) * (size_t)-type->extent;
    return memory - type->true_lb;
}

/* ---- Running ---- */

static void finish(script_t *s)
{
    mpi_request_t *request = s->call->request;

    if (s->self->match.unexpected.count > 0)
        coll_spread_look_back(s->call);
    for (block_t *b = s->blocks, *next; b != NULL; b = next) {
        next = b->next;
        xy_free(b);
    }
    xy_vec_cleanup(&s->steps);
    xy_free(s);
    mpi_request_complete(request);
}

/* More has come than there is room for: members give different sizes. */
static __attribute__((noinline, cold)) void refuse(const script_t *s, const mpi_request_t *part)
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

static void run(script_t *s);

static void run_soon(script_t *s)
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
        script_t *first = r->first;

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

static bool run_staying(mpi_worker_t *worker)
{
    ready_t *r = &ready[worker->index];
    script_t *s = r->staying;

    if (s == NULL || r->is_busy)
        return false;
    r->staying = s->next_ready;
    run_soon(s);
    return true;
}

static void part_over(mpi_request_t *part)
{
    script_t *s = part->extra;

    part->comm = NULL; /* the script's own */
    part->type = NULL;
    if (part->completion.error != MPI_SUCCESS)
        refuse(s, part);
    if (--s->pending == 0 && s->is_waiting && !s->is_queued)
        run_soon(s);
}

/* Its messages are described as the call of the program, whatever the rank does meanwhile. */
static void start_message(script_t *s, const step_t *step)
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
        out_of_memory();
    s->self->call = s->named;
    mpi_request_describe(part, &t);
    part->extra = s;
    if (step->kind == SEND) {
        is_over = mpi_send_start(s->self, &t, part, false);
    } else {
        mpi_recv_start(s->self, &t, part, false);
        is_over = part->is_done;
    }
    s->self->call = now;
    part->release = part_over;
    s->pending++;
    if (is_over)
        mpi_request_free(part);
    else
        part->is_freed = true;
}

static void do_step(script_t *s, const step_t *step)
{
    const coll_call_t *call = s->call;

    if (step->kind == COPY)
        coll_copy(step->buffer, step->count, step->type, step->from, step->from_count,
                  step->from_type);
    else if (step->kind == REDUCE)
        mpi_op_apply(call->op, step->from, step->buffer, step->count, call->receive_type);
    else
        start_message(s, step);
}

/* Until it waits, or is over. */
static void run(script_t *s)
{
    s->is_waiting = false;
    while (s->next < s->steps.count) {
        const step_t *step = &XY_VEC_AT(&s->steps, step_t, s->next);

        if (step->kind == WAIT && s->pending > 0)
            break;
        s->next++;
        if (step->kind != WAIT)
            do_step(s, step);
    }
    if (s->next == s->steps.count && s->pending == 0)
        finish(s);
    else
        s->is_waiting = true;
}

/* Messages of one collective do not meet those of another. Persistent ones are started in any
 * order, so their number among those comes into it. */
int coll_spread_tag(const coll_call_t *call)
{
    enum { PERSISTENT = 1 << 30, STARTS = 15 };

    if (call->how != COLL_PERSISTENT)
        return (int)(call->number & (PERSISTENT - 1));
    return PERSISTENT | (int)(call->comm->persistent & ((1 << STARTS) - 1)) << STARTS |
           (int)(call->number & ((1 << STARTS) - 1));
}

const coll_call_t *script_call_of(const mpi_request_t *part)
{
    return ((const script_t *)part->extra)->call;
}

void coll_spread_start(mpi_rank_t *self, coll_call_t *call)
{
    script_t *s = xy_calloc(1, sizeof(*s));

    if (s == NULL)
        out_of_memory();
    s->call = call;
    s->self = self;
    s->hidden = mpi_comm_shadow(call->comm, XMPI_CONTEXT_COLLECTIVE);
    s->hidden.remote = NULL;
    s->named = self->call;
    s->tag = coll_spread_tag(call);
    coll_spread_say(call, s->hidden.claim);
    s->steps = XY_VEC_INIT(step_t);
    if (call->kind->is_inter)
        spread_build_inter(s, call);
    else
        spread_build(s, call);
    run_soon(s);
}
