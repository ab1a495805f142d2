/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, and how members agree on new ones. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "program/walk.h"

walk_member_t *walk_comm_find(const walker_t *w, int64_t handle)
{
    int64_t index = handle == (int64_t)(intptr_t)MPI_COMM_WORLD  ? 0
                    : handle == (int64_t)(intptr_t)MPI_COMM_SELF ? 1
                                                                 : handle - WALK_COMM_FIRST;

    if (index < 0 || (uint64_t)index >= w->comms.count)
        return NULL;
    return &XY_VEC_AT(&w->comms, walk_member_t, index);
}

walk_member_t *walk_comm(walker_t *w, int64_t handle)
{
    walk_member_t *m = walk_comm_find(w, handle);

    if (m != NULL && m->comm != NULL)
        return m;
    process_fail(&w->process, m != NULL ? "the communicator has been freed"
                              : handle == (int64_t)(intptr_t)MPI_COMM_NULL
                                  ? "the communicator is MPI_COMM_NULL"
                                  : "no communicator");
    return NULL;
}

walk_member_t *walk_intracomm(walker_t *w, int64_t handle)
{
    walk_member_t *m = walk_comm(w, handle);

    if (m == NULL || m->comm->lows == 0)
        return m;
    process_fail(&w->process, "an intercommunicator is not possible here");
    return NULL;
}

walk_comm_t *walk_comm_new(walk_t *walk, const int32_t *procs, int32_t size)
{
    walk_comm_t *comm = xy_arena_alloc(walk->arena, sizeof(*comm));

    if (comm != NULL && procs != NULL) {
        comm->procs = xy_arena_alloc(walk->arena, (size_t)size * sizeof(*procs));
        if (comm->procs != NULL)
            memcpy(comm->procs, procs, (size_t)size * sizeof(*procs));
    }
    if (comm == NULL || (procs != NULL && comm->procs == NULL)) {
        if (walk->status == XY_OK)
            walk->status = xy_fail_memory("making a communicator");
        return NULL;
    }
    comm->size = size;
    comm->context = walk->next_context++;
    comm->next = walk->comms;
    walk->comms = comm;
    return comm;
}

static int64_t comm_handle(walker_t *w, walk_comm_t *comm, int32_t rank)
{
    walk_member_t m = {.comm = comm, .rank = rank};

    if (xy_vec_append(&w->comms, &m) == XY_OK)
        return WALK_COMM_FIRST + (int64_t)w->comms.count - 1;
    process_fail_memory(&w->process);
    return 0;
}

int32_t walk_comm_proc(const walk_comm_t *comm, int32_t rank)
{
    return comm->procs != NULL ? comm->procs[rank] : rank;
}

static int by_proc(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static bool sort_members(walk_comm_t *comm)
{
    comm->sorted = xy_malloc(2 * (size_t)comm->size * sizeof(*comm->sorted));
    if (comm->sorted == NULL)
        return false;
    for (int32_t r = 0; r < comm->size; r++) {
        comm->sorted[2 * r] = comm->procs[r];
        comm->sorted[2 * r + 1] = r;
    }
    qsort(comm->sorted, (size_t)comm->size, 2 * sizeof(*comm->sorted), by_proc);
    return true;
}

int32_t walk_comm_rank(walk_comm_t *comm, int32_t proc)
{
    const int32_t *found;

    if (comm->procs == NULL)
        return proc;
    if (comm->sorted == NULL && !sort_members(comm))
        return -1;
    found = bsearch(&proc, comm->sorted, (size_t)comm->size, 2 * sizeof(*found), by_proc);
    return found != NULL ? found[1] : -1;
}

xy_vcomm_t *walk_vcomm(walker_t *w, walk_comm_t *comm)
{
    int32_t *all = comm->procs;

    if (comm->vcomm != NULL)
        return comm->vcomm;
    if (all == NULL) {
        all = xy_malloc((size_t)comm->size * sizeof(*all));
        for (int32_t r = 0; all != NULL && r < comm->size; r++)
            all[r] = r;
    }
    if (all == NULL)
        process_fail_memory(&w->process);
    else
        comm->vcomm = xy_vjob_comm(w->walk->job, comm->context, all, comm->size);
    if (all != comm->procs)
        xy_free(all);
    if (comm->vcomm == NULL)
        process_stop(&w->process);
    return comm->vcomm;
}

/* ---- Agreements ---- */

/* What a member asks for. A grid has no color: the first `points` are in it. */
typedef struct {
    int32_t color, key, proc, member;
    bool is_inter, is_high; /* the groups stay apart; it is of the high one */
} wish_t;

static int by_color_side_key(const void *left, const void *right)
{
    const wish_t *a = left, *b = right;

    if (a->color != b->color)
        return a->color < b->color ? -1 : 1;
    if (a->is_high != b->is_high)
        return a->is_high ? 1 : -1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->member < b->member ? -1 : a->member > b->member;
}

static bool make_color(walk_t *walk, walk_meeting_t *meeting, const wish_t *wishes, int32_t count)
{
    int32_t *procs, lows = 0;
    walk_comm_t *comm;

    while (wishes[0].is_inter && lows < count && !wishes[lows].is_high)
        lows++;
    if (wishes[0].is_inter && (lows == 0 || lows == count))
        return true; /* one of the groups has none: MPI_COMM_NULL */
    procs = xy_malloc((size_t)count * sizeof(*procs));
    for (int32_t i = 0; procs != NULL && i < count; i++)
        procs[i] = wishes[i].proc;
    comm = procs != NULL ? walk_comm_new(walk, procs, count) : NULL;
    xy_free(procs);
    if (comm != NULL)
        comm->lows = lows;
    for (int32_t i = 0; comm != NULL && i < count; i++)
        meeting->made[wishes[i].member] = (walk_made_t){comm, i};
    return comm != NULL;
}

/* All have come: make the communicators. */
static bool split_all(walk_t *walk, walk_meeting_t *meeting, int32_t size)
{
    wish_t *wishes = xy_malloc((size_t)size * sizeof(*wishes));
    int32_t count = 0, last;
    bool is_ok = wishes != NULL;

    meeting->made = xy_calloc((size_t)size, sizeof(*meeting->made));
    if (meeting->made == NULL)
        is_ok = false;
    for (int32_t r = 0; is_ok && r < size; r++) {
        wish_t wish;

        memcpy(&wish, meeting->given[r], sizeof(wish));
        if (wish.color != MPI_UNDEFINED)
            wishes[count++] = wish;
    }
    if (is_ok)
        qsort(wishes, (size_t)count, sizeof(*wishes), by_color_side_key);
    for (int32_t first = 0; is_ok && first < count; first = last) {
        for (last = first + 1; last < count && wishes[last].color == wishes[first].color;)
            last++;
        is_ok = make_color(walk, meeting, wishes + first, last - first);
    }
    xy_free(wishes);
    return is_ok;
}

/* The wish of this member of the communicator; true: *made_p has what it gets. */
static bool agree_on(walker_t *w, int64_t handle, const wish_t *wish, walk_made_t *made_p)
{
    xy_vjob_coll_t agree = {.collective = XY_COLL_ALLREDUCE,
                            .count = 1,
                            .element = 8,
                            .is_agreement = true,
                            .is_commutative = true};
    walk_member_t *m = walk_comm(w, handle);
    walk_meeting_t *meeting;

    if (w->process.phase == 0) {
        meeting = walk_meet(w, m, m->number, wish, sizeof(*wish));
        if (meeting == NULL)
            return false;
        if (meeting->arrived == m->comm->size && !split_all(w->walk, meeting, m->comm->size))
            return process_fail_memory(&w->process);
        if (!walk_coll_start(w, m, &agree, &w->current[0]))
            return false;
        w->process.phase = 1;
    }
    if (!walk_wait(w, w->current, 1, false))
        return false;
    meeting = walk_meeting_find(m->comm, m->number - 1);
    *made_p = meeting->made[m->rank];
    walk_meeting_leave(m->comm, meeting);
    walk_request_free(w, walk_request_at(w, w->current[0]));
    return true;
}

bool walk_split(walker_t *w, int64_t handle, int32_t color, int32_t key, walk_made_t *made_p)
{
    const walk_member_t *m = walk_comm(w, handle);
    wish_t wish = {.color = color, .key = key, .proc = w->rank};

    if (m == NULL)
        return false;
    wish.member = m->rank;
    wish.is_inter = m->comm->lows > 0;
    wish.is_high = wish.is_inter && m->rank >= m->comm->lows;
    return agree_on(w, handle, &wish, made_p);
}

bool walk_merge(walker_t *w, int64_t handle, int32_t key, walk_made_t *made_p)
{
    const walk_member_t *m = walk_comm(w, handle);

    return m != NULL &&
           agree_on(w, handle, &(wish_t){.key = key, .proc = w->rank, .member = m->rank}, made_p);
}

/* Give the handle to the program. */
bool walk_give(walker_t *w, int64_t address, const walk_made_t *made)
{
    int64_t handle = (int64_t)(intptr_t)MPI_COMM_NULL;

    if (made->comm != NULL) {
        handle = comm_handle(w, made->comm, made->rank);
        if (handle == 0)
            return false;
    }
    return walk_set_handle(w, address, handle);
}

static bool comm_split(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_made_t made = {0};

    (void)site;
    if (args[1] < 0 && args[1] != MPI_UNDEFINED)
        return process_fail(&w->process, "the color is %lld", (long long)args[1]);
    return walk_split(w, args[0], (int32_t)args[1], (int32_t)args[2], &made) &&
           walk_give(w, args[3], &made);
}

/* By node: processes that share its memory. */
static bool comm_split_type(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t color = args[1] == MPI_UNDEFINED           ? MPI_UNDEFINED
                    : w->walk->config->node_of != NULL ? w->walk->config->node_of[w->rank]
                                                       : 0;
    walk_made_t made = {0};

    (void)site;
    return walk_split(w, args[0], color, (int32_t)args[2], &made) && walk_give(w, args[4], &made);
}

static bool comm_dup(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_member_t *m = walk_comm(w, args[0]);
    walk_made_t made = {0};

    (void)site;
    if (m == NULL || !walk_split(w, args[0], 0, m->rank, &made))
        return false;
    made.comm->cart = walk_comm(w, args[0])->comm->cart;
    return walk_give(w, args[1], &made);
}

static bool comm_rank(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);

    return m != NULL && walk_set_int(w, args[1],
                                     walk_extra(site) ? walk_own(m->comm, m->rank)
                                                      : m->rank - walk_own_first(m->comm, m->rank));
}

static bool comm_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_member_t *m;
    int64_t handle;

    (void)site;
    if (!walk_get_handle(w, args[0], 0, &handle))
        return false;
    m = walk_comm(w, handle);
    if (m == NULL)
        return false;
    if (handle < WALK_COMM_FIRST)
        return process_fail(&w->process, "this communicator cannot be freed");
    m->comm = NULL; /* the object stays for messages on their way; it goes with the walk */
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_COMM_NULL);
}

static bool comm_compare(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *a = walk_comm(w, args[0]), *b = a != NULL ? walk_comm(w, args[1]) : NULL;
    bool is_same;

    (void)site;
    if (b == NULL)
        return false;
    is_same = a->comm->size == b->comm->size && a->comm->lows == b->comm->lows;
    for (int32_t r = 0; is_same && r < a->comm->size; r++)
        is_same = walk_comm_proc(a->comm, r) == walk_comm_proc(b->comm, r);
    return walk_set_int(w, args[2],
                        a->comm == b->comm ? MPI_IDENT
                        : is_same          ? MPI_CONGRUENT
                                           : MPI_UNEQUAL);
}

const walk_call_t walk_calls_comm[] = {
    {"Comm_rank", comm_rank, 0},       {"Comm_size", comm_rank, 1},
    {"Comm_split", comm_split, 0},     {"Comm_split_type", comm_split_type, 0},
    {"Comm_dup", comm_dup, 0},         {"Comm_free", comm_free, 0},
    {"Comm_compare", comm_compare, 0}, {0}};
