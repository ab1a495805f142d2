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

/* The communicator of one part of a split. */
static bool make_part(walk_t *walk, walk_meeting_t *meeting, const xy_split_entry_t *entries,
                      int32_t count, int32_t lows)
{
    int32_t *procs = xy_malloc((size_t)count * sizeof(*procs));
    walk_comm_t *comm;

    for (int32_t i = 0; procs != NULL && i < count; i++)
        procs[i] = entries[i].process;
    comm = procs != NULL ? walk_comm_new(walk, procs, count) : NULL;
    xy_free(procs);
    if (comm != NULL)
        comm->lows = lows;
    for (int32_t i = 0; comm != NULL && i < count; i++)
        meeting->made[entries[i].member] = (walk_made_t){comm, i};
    return comm != NULL;
}

/* All have come: make the communicators. */
static bool split_all(walk_t *walk, walk_meeting_t *meeting, int32_t size, bool is_inter)
{
    xy_split_entry_t *entries = xy_malloc((size_t)size * sizeof(*entries));
    bool is_ok = entries != NULL;
    xy_split_part_t part = {0};
    int32_t count;

    meeting->made = xy_calloc((size_t)size, sizeof(*meeting->made));
    if (meeting->made == NULL)
        is_ok = false;
    for (int32_t r = 0; is_ok && r < size; r++)
        memcpy(&entries[r], meeting->given[r], sizeof(*entries));
    count = is_ok ? xy_split_sort(entries, size) : 0;
    while (is_ok && xy_split_next(entries, count, is_inter, &part))
        is_ok = make_part(walk, meeting, entries + part.first, part.end - part.first,
                          is_inter ? part.high - part.first : 0);
    xy_free(entries);
    return is_ok;
}

/* The entry of this member of the communicator in a split; true: *made_p has what it gets. */
static bool agree_on(walker_t *w, int64_t handle, const xy_split_entry_t *entry, bool is_inter,
                     walk_made_t *made_p)
{
    xy_vjob_coll_t agree = {.collective = XY_COLL_ALLREDUCE,
                            .count = 1,
                            .element = 8,
                            .is_agreement = true,
                            .is_commutative = true};
    walk_member_t *m = walk_comm(w, handle);
    walk_meeting_t *meeting;

    if (w->process.phase == 0) {
        meeting = walk_meet(w, m, m->number, entry, sizeof(*entry));
        if (meeting == NULL)
            return false;
        if (meeting->arrived == m->comm->size &&
            !split_all(w->walk, meeting, m->comm->size, is_inter))
            return process_fail_memory(&w->process);
        if (!walk_coll_start(w, m, &agree, &w->current[0]))
            return false;
        w->process.phase = 1;
    }
    if (!walk_wait(w, w->current, 1, false))
        return false;
    meeting = walk_meeting_find(m->comm, m->number - 1);
    if (meeting == NULL || meeting->made == NULL)
        return process_fail(&w->process, "other members of the communicator make another call: "
                                         "all must make the same calls in the same order");
    *made_p = meeting->made[m->rank];
    walk_meeting_leave(m->comm, meeting);
    walk_request_free(w, walk_request_at(w, w->current[0]));
    return true;
}

bool walk_split(walker_t *w, int64_t handle, int32_t color, int32_t key, walk_made_t *made_p)
{
    const walk_member_t *m = walk_comm(w, handle);
    xy_split_entry_t entry = {.color = color, .key = key, .process = w->rank};

    if (m == NULL)
        return false;
    entry.member = m->rank;
    entry.is_high = m->comm->lows > 0 && m->rank >= m->comm->lows;
    return agree_on(w, handle, &entry, m->comm->lows > 0, made_p);
}

bool walk_merge(walker_t *w, int64_t handle, int32_t key, walk_made_t *made_p)
{
    const walk_member_t *m = walk_comm(w, handle);

    return m != NULL &&
           agree_on(w, handle,
                    &(xy_split_entry_t){.key = key, .process = w->rank, .member = m->rank}, false,
                    made_p);
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
    m = walk_comm(w, args[0]);
    made.comm->cart = m->comm->cart;
    made.comm->graphs = m->comm->graphs;
    return walk_give(w, args[1], &made);
}

static bool comm_rank(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);

    return m != NULL && walk_set_int(w, args[1],
                                     walk_extra(site) ? walk_own(m->comm, m->rank)
                                                      : m->rank - walk_own_first(m->comm, m->rank));
}

/* MPI_Comm_free: the handle becomes MPI_COMM_NULL; predefined communicators are refused. */
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

/* MPI_Comm_compare, by local and remote groups. */
static bool comm_compare(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *a = walk_comm(w, args[0]), *b = a != NULL ? walk_comm(w, args[1]) : NULL;
    int answer = MPI_UNEQUAL;

    (void)site;
    if (b == NULL)
        return false;
    if (a->comm == b->comm)
        return walk_set_int(w, args[2], MPI_IDENT);
    if ((a->comm->lows > 0) == (b->comm->lows > 0))
        answer = xy_members_compare(walk_group(a->comm, a->rank, false),
                                    walk_group(b->comm, b->rank, false), w->walk->procs);
    if (a->comm->lows > 0 && b->comm->lows > 0)
        answer = xy_members_weaker(answer, xy_members_compare(walk_group(a->comm, a->rank, true),
                                                              walk_group(b->comm, b->rank, true),
                                                              w->walk->procs));
    if (answer < 0)
        return process_fail_memory(&w->process);
    return walk_set_int(w, args[2], answer == MPI_IDENT ? MPI_CONGRUENT : answer);
}

const walk_call_t walk_calls_comm[] = {
    {"Comm_rank", comm_rank, 0},       {"Comm_size", comm_rank, 1},
    {"Comm_split", comm_split, 0},     {"Comm_split_type", comm_split_type, 0},
    {"Comm_dup", comm_dup, 0},         {"Comm_free", comm_free, 0},
    {"Comm_compare", comm_compare, 0}, {0}};
