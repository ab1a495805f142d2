/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between processes: which members are in which process, trees of them, and the start
 * of a call. The members of one process meet: the last one to come begins a schedule that works for
 * all of them, on the worker of the member that speaks with other processes. All their buffers are
 * in this address space.
 */
#include "mpi/coll/interprocess.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/p2p/p2p.h"
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

void coll_interprocess_destroy(coll_interprocess_t *interprocess)
{
    if (interprocess == NULL)
        return;
    xy_free(interprocess->layout.part_of);
    xy_free(interprocess->layout.first);
    xy_free(interprocess->layout.place);
    xy_free(interprocess->layout.member);
    xy_free(interprocess->layout.begin);
    interprocess_adapt_cleanup(interprocess);
    xy_free(interprocess);
}

/* Parts in the order of their first members. */
static void find_parts(const mpi_group_t *group, interprocess_layout_t *s, int *part_of_process)
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
    for (int p = 0; p < s->parts; p++)
        s->begin[p + 1] += s->begin[p];
    s->is_ordered = true;
    for (int r = 0; r < group->size; r++) {
        s->member[s->begin[s->part_of[r]] + s->place[r]] = r;
        s->is_ordered = s->is_ordered && (r == 0 || s->part_of[r] >= s->part_of[r - 1]);
    }
}

xy_status_t coll_interprocess_create(const mpi_group_t *group, coll_interprocess_t **interprocess_p)
{
    size_t n = (size_t)group->size, processes = (size_t)mpi_job->reach;
    interprocess_layout_t *layout;
    coll_interprocess_t *s;
    int *part_of_process;

    /* In a job that survives, each member is a part of its own, which may fail alone. */
    if (mpi_survives ? n == 1 : processes == 1 || is_in_one_process(group))
        return XY_OK;
    s = xy_calloc(1, sizeof(*s));
    part_of_process = xy_calloc(processes, sizeof(int));
    if (s == NULL || part_of_process == NULL)
        goto fail;
    layout = &s->layout;
    layout->part_of = xy_calloc(n, sizeof(int));
    layout->place = xy_calloc(n, sizeof(int));
    layout->member = xy_calloc(n, sizeof(int));
    layout->first = xy_calloc(processes, sizeof(int));
    layout->begin = xy_calloc(processes + 1, sizeof(int));
    if (layout->part_of == NULL || layout->place == NULL || layout->member == NULL ||
        layout->first == NULL || layout->begin == NULL)
        goto fail;
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->told, -1);
    find_parts(group, layout, part_of_process);
    s->own = part_of_process[mpi_job->process] - 1;
    s->link = mpi_link_of(group);
    xy_free(part_of_process);
    *interprocess_p = s;
    return XY_OK;

fail:
    xy_free(part_of_process);
    coll_interprocess_destroy(s);
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

int interprocess_speaker(const interprocess_layout_t *s, int part, int root)
{
    return part == s->part_of[root] ? root : s->first[part];
}

/* The same in a chain. */
static int chain(int i, int n, int *parent, int children[])
{
    *parent = i - 1;
    children[0] = i + 1;
    return i + 1 < n ? 1 : 0;
}

void interprocess_tree_parts(const interprocess_layout_t *s, int part, int top, int root,
                             bool is_chain, interprocess_tree_t *tree)
{
    int parent, found[INTERPROCESS_CHILDREN];
    int n =
        (is_chain ? chain : binomial)((part - top + s->parts) % s->parts, s->parts, &parent, found);

    tree->parent = parent < 0 ? -1 : interprocess_speaker(s, (parent + top) % s->parts, root);
    tree->children = n;
    for (int i = 0; i < n; i++)
        tree->child[i] = interprocess_speaker(s, (found[i] + top) % s->parts, root);
}

void interprocess_tree_ordered(int first, int end, int rank, interprocess_tree_t *tree)
{
    tree->children = binomial(rank - first, end - first, &tree->parent, tree->child);
    tree->parent += tree->parent >= 0 ? first : 0;
    for (int i = 0; i < tree->children; i++)
        tree->child[i] += first;
}

const mpi_type_t *interprocess_bytes_type(void)
{
    return mpi_type_of(MPI_BYTE);
}

void interprocess_copy(void *to, const void *from, size_t bytes, uint64_t all)
{
    if (all >= XMPI_STREAM_FROM)
        mpi_copy_stream(to, from, bytes);
    else
        mpi_copy(to, from, bytes);
}

/* ---- Members of one process meet ---- */

bool interprocess_is_together(const coll_call_t *call)
{
    const interprocess_layout_t *layout = &call->comm->coll->interprocess->layout;
    xy_collective_t c = call->kind->collective;

    if (call->kind->is_inter)
        return false;
    if (c == XY_COLL_SCAN || c == XY_COLL_EXSCAN)
        return layout->is_ordered;
    return call->op == NULL || call->op->is_commutative || layout->is_ordered;
}

static void build(schedule_t *s, const interprocess_part_t *part)
{
    if (coll_is_reduction(part->call->kind))
        interprocess_build_reduction(s, part);
    else
        interprocess_build_move(s, part);
    interprocess_adapt_end(s, part);
}

/* The members on one worker, to be notified of the end. */
typedef struct {
    remote_errand_t errand; /* must be first */
    interprocess_meeting_t *meeting;
    const coll_local_t *local;
} notice_t;

struct interprocess_meeting {
    remote_errand_t begin; /* must be first */
    interprocess_meeting_t *next;
    int tag;
    int arrived;
    mpi_coll_t *coll;
    mpi_call_t named; /* the speaker's call, for reports */
    interprocess_part_t part;
    _Atomic int unnotified; /* workers whose members have not been notified of the end */
    notice_t *notices;      /* [local groups] */
    coll_call_t *calls[];
};

/* Allocate the meeting of a process's members for one collective; ends the job without memory. */
static interprocess_meeting_t *meeting_new(mpi_coll_t *coll, int tag)
{
    const coll_interprocess_t *interprocess = coll->interprocess;
    const interprocess_layout_t *layout = &interprocess->layout;
    int members = layout->begin[interprocess->own + 1] - layout->begin[interprocess->own];
    size_t calls = (size_t)members * sizeof(coll_call_t *);
    interprocess_meeting_t *m =
        xy_malloc(sizeof(*m) + calls + (size_t)coll->locals * sizeof(notice_t));

    if (m == NULL)
        coll_interprocess_out_of_memory();
    memset((void *)m, 0, sizeof(*m));
    m->tag = tag;
    m->coll = coll;
    m->notices = (notice_t *)(void *)((char *)m->calls + calls);
    m->part = (interprocess_part_t){
        .layout = layout, .own = interprocess->own, .members = members, .calls = m->calls};
    return m;
}

static interprocess_meeting_t **find(coll_interprocess_t *interprocess, int tag)
{
    interprocess_meeting_t **link = &interprocess->meetings;

    while (*link != NULL && (*link)->tag != tag)
        link = &(*link)->next;
    return link;
}

static int speaker_of(const coll_call_t *call)
{
    const coll_interprocess_t *interprocess = call->comm->coll->interprocess;

    return call->kind->is_rooted
               ? interprocess_speaker(&interprocess->layout, interprocess->own, call->root)
               : interprocess->layout.first[interprocess->own];
}

/* All are here: on the worker of the speaker, or at its gate. */
static void begin(remote_errand_t *errand)
{
    interprocess_meeting_t *m = (interprocess_meeting_t *)(void *)errand;
    schedule_t *s;

    m->part.call = m->calls[m->part.layout->place[speaker_of(m->calls[0])]];
    s = schedule_new(m->part.call, &m->named, m);
    build(s, &m->part);
    schedule_run_soon(s);
}

/* The last member to arrive starts. The communicator lives until all have been notified. */
static void all_are_here(mpi_rank_t *self, interprocess_meeting_t *m)
{
    int speaker = speaker_of(m->calls[0]);
    const coll_call_t *call = m->calls[m->part.layout->place[speaker]];
    mpi_worker_t *worker = call->comm->owner->worker;

    mpi_coll_hold(m->coll);
    m->begin.run = begin;
    if (worker == self->worker)
        begin(&m->begin);
    else
        mpi_network_post(worker, &m->begin);
}

/* A member has come; the last one begins. */
static void join(mpi_rank_t *self, coll_call_t *call)
{
    mpi_coll_t *coll = call->comm->coll;
    coll_interprocess_t *interprocess = coll->interprocess;
    int tag = coll_interprocess_tag(call);
    interprocess_meeting_t **link, *m;
    bool is_last;

    pthread_mutex_lock(&interprocess->lock);
    link = find(interprocess, tag);
    if (*link == NULL)
        *link = meeting_new(coll, tag);
    m = *link;
    m->calls[interprocess->layout.place[call->rank]] = call;
    if (call->rank == speaker_of(call))
        m->named = *coll_noted(call);
    is_last = ++m->arrived == m->part.members;
    if (is_last)
        *link = m->next;
    pthread_mutex_unlock(&interprocess->lock);
    if (is_last)
        all_are_here(self, m);
}

/* ---- The end ---- */

/* On the worker of the members, or at its gate. */
static void tell(remote_errand_t *errand)
{
    notice_t *notice = (notice_t *)(void *)errand;
    interprocess_meeting_t *m = notice->meeting;
    const coll_local_t *local = notice->local;
    mpi_coll_t *coll = m->coll;

    for (int i = 0; i < local->members; i++)
        mpi_request_complete(m->calls[m->part.layout->place[local->member[i]]]->request);
    if (atomic_fetch_sub_explicit(&m->unnotified, 1, memory_order_acq_rel) == 1) {
        xy_free(m);
        mpi_coll_release(coll);
    }
}

void interprocess_meeting_end(interprocess_meeting_t *m)
{
    const mpi_coll_t *coll = m->coll;
    const mpi_worker_t *own = m->part.call->comm->owner->worker;
    int locals = coll->locals, here = -1;

    atomic_init(&m->unnotified, locals);
    for (int i = 0; i < locals; i++) {
        m->notices[i] = (notice_t){{.run = tell}, m, coll->local[i]};
        if (coll->local[i]->worker == own)
            here = i;
        else
            mpi_network_post(coll->local[i]->worker, &m->notices[i].errand);
    }
    tell(&m->notices[here].errand);
}

/* ---- Start ---- */

/* The part that is the member of `call` alone, in a layout of such parts. */
static const interprocess_part_t *part_of_one(schedule_t *s, coll_call_t *call)
{
    struct {
        interprocess_part_t part;
        interprocess_layout_t layout;
        coll_call_t *calls[1];
    } *one = schedule_memory(s, sizeof(*one));
    int size = call->comm->size, *numbers = schedule_memory(s, ((size_t)size + 1) * sizeof(int));
    int *zeros = schedule_memory(s, (size_t)size * sizeof(int));

    for (int r = 0; r <= size; r++)
        numbers[r] = r;
    memset(zeros, 0, (size_t)size * sizeof(int));
    one->calls[0] = call;
    one->layout = (interprocess_layout_t){.parts = size,
                                          .part_of = numbers,
                                          .first = numbers,
                                          .place = zeros,
                                          .member = numbers,
                                          .begin = numbers,
                                          .is_ordered = true};
    one->part = (interprocess_part_t){
        .layout = &one->layout, .own = call->rank, .members = 1, .calls = one->calls, .call = call};
    return &one->part;
}

void coll_interprocess_start(mpi_rank_t *self, coll_call_t *call)
{
    schedule_t *s;

    coll_interprocess_say(call);
    if (!mpi_survives && interprocess_is_together(call)) {
        join(self, call);
        return;
    }
    s = schedule_new(call, coll_noted(call), NULL);
    if (call->kind->is_inter)
        interprocess_build_inter(s, call);
    else
        build(s, part_of_one(s, call));
    schedule_run_soon(s);
}
