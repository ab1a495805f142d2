/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and operations on them, as in runs in virtual time: an operation moves the data when its
 * call is made, in the order of the clock; it costs what a message of its size costs, and is
 * complete that much later. Memory that is not kept on one side makes the other side unknown.
 */
#include "program/walk_window.h"

#include <mpi.h>
#include <string.h>

#include "program/walk_coll.h"

walk_win_t *walk_window(walker_t *w, int64_t handle)
{
    int64_t index = handle - WALK_WINDOW_FIRST;

    if (index >= 0 && (uint64_t)index < w->windows.count &&
        XY_VEC_AT(&w->windows, walk_win_t, index).shared != NULL)
        return &XY_VEC_AT(&w->windows, walk_win_t, index);
    process_fail(&w->process, "no window");
    return NULL;
}

int32_t walk_until(walker_t *w, double time)
{
    int32_t index = walk_request_new(w);
    walk_request_t *r;

    if (index < 0)
        return -1;
    r = walk_request_at(w, index);
    r->kind = WALK_SEND;
    r->vreq = xy_vjob_until(w->walk->job, w->rank, time);
    if (r->vreq == NULL)
        process_stop(&w->process);
    return r->vreq != NULL ? index : -1;
}

bool walk_wait_one(walker_t *w, int32_t index)
{
    if (index < 0 || !walk_wait(w, &index, 1, false))
        return false;
    walk_request_free(w, walk_request_at(w, index));
    return true;
}

/* ---- Making and freeing ---- */

/* The shared part, made by the first member that leaves the agreement: no other has left its call,
 * and all offers are there. NULL: memory ran out (reported). */
static walk_window_t *shared_window(walker_t *w, walk_comm_t *comm)
{
    xy_arena_t *arena = w->walk->arena;
    size_t size = (size_t)comm->size;
    walk_window_t *shared = comm->window;

    if (shared != NULL)
        return shared;
    shared = xy_arena_alloc(arena, sizeof(*shared));
    if (shared != NULL) {
        shared->places = xy_arena_alloc(arena, size * sizeof(*shared->places));
        shared->owners = xy_arena_alloc(arena, size * sizeof(*shared->owners));
        shared->sharers = xy_arena_alloc(arena, size * sizeof(*shared->sharers));
    }
    if (shared == NULL || shared->places == NULL || shared->owners == NULL ||
        shared->sharers == NULL) {
        process_fail_memory(&w->process);
        return NULL;
    }
    for (int32_t r = 0; r < comm->size; r++) {
        shared->places[r] = w->walk->walkers[walk_comm_proc(comm, r)].offer;
        shared->owners[r] = -1;
    }
    shared->end = &shared->first;
    comm->window = shared;
    return shared;
}

/* Agree on a window whose memory here is the offer, and give its handle to the program. */
static bool make(walker_t *w, int64_t comm, int64_t handle_at, bool is_allocated)
{
    const walk_member_t *m = walk_intracomm(w, comm);
    walk_win_t win = {.is_allocated = is_allocated};
    walk_made_t made = {0};

    if (m == NULL || !walk_split(w, comm, 0, m->rank, &made))
        return false;
    win.member = (walk_member_t){.comm = made.comm, .rank = made.rank};
    win.shared = shared_window(w, made.comm);
    if (win.shared == NULL)
        return false;
    if (xy_vec_append(&w->windows, &win) != XY_OK)
        return process_fail_memory(&w->process);
    return walk_set_handle(w, handle_at, WALK_WINDOW_FIRST + (int64_t)w->windows.count - 1);
}

static bool check_size(walker_t *w, int64_t size, int64_t unit)
{
    return (size >= 0 && unit > 0) ||
           process_fail(&w->process, "the window has %lld bytes in units of %lld", (long long)size,
                        (long long)unit);
}

/* MPI_Win_create. */
static bool win_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    if (w->process.phase == 0) {
        if (!check_size(w, args[1], args[2]))
            return false;
        w->offer = (walk_place_t){.address = (site->given & 1) != 0 ? (uint64_t)args[0] : 0,
                                  .size = args[1],
                                  .unit = args[2]};
    }
    return make(w, args[4], args[5], false);
}

/* New memory whose address the program keeps at `pointer`; 0 where there is none. */
static bool allocate(walker_t *w, int64_t pointer, int64_t size, uint64_t *address_p)
{
    *address_p = 0;
    if (pointer == 0)
        return true;
    if (size > 0) {
        *address_p = process_allocate(&w->process, (uint64_t)size);
        if (*address_p == 0)
            return false;
    }
    return walk_set_handle(w, pointer, (int64_t)*address_p);
}

/* MPI_Win_allocate, and MPI_Win_allocate_shared (extra), whose memory is not kept for others. */
static bool win_allocate(walker_t *w, const code_site_t *site, int64_t *args)
{
    bool is_shared = walk_extra(site) != 0;

    if (w->process.phase == 0) {
        w->offer = (walk_place_t){.size = args[0], .unit = args[1]};
        if (!check_size(w, args[0], args[1]) ||
            !allocate(w, (site->given & 1 << 4) != 0 ? args[4] : 0, args[0], &w->offer.address))
            return false;
        if (is_shared)
            w->offer.address = 0;
    }
    return make(w, args[3], args[5], !is_shared);
}

/* MPI_Win_shared_query: of MPI_PROC_NULL, the first member with memory. The address is one of own
 * memory, since nothing is followed there. */
static bool shared_query(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_win_t *win = walk_window(w, args[0]);
    walk_place_t place = {.unit = 1};
    uint64_t address;
    int32_t size = win != NULL ? win->member.comm->size : 0;

    if (win == NULL)
        return false;
    if (args[1] != MPI_PROC_NULL && (args[1] < 0 || args[1] >= size))
        return process_fail(&w->process, "rank %lld does not exist; the window has %d",
                            (long long)args[1], size);
    if (args[1] != MPI_PROC_NULL)
        place = win->shared->places[args[1]];
    for (int32_t r = 0; args[1] == MPI_PROC_NULL && place.size == 0 && r < size; r++)
        if (win->shared->places[r].size > 0)
            place = win->shared->places[r];
    return allocate(w, (site->given & 1 << 4) != 0 ? args[4] : 0, place.size > 0, &address) &&
           walk_set_handle(w, args[2], place.size) && walk_set_int(w, args[3], (int32_t)place.unit);
}

/* MPI_Alloc_mem. */
static bool alloc_mem(walker_t *w, const code_site_t *site, int64_t *args)
{
    uint64_t address;

    if (args[0] < 0)
        return process_fail(&w->process, "the size is %lld", (long long)args[0]);
    return allocate(w, (site->given & 1 << 2) != 0 ? args[2] : 0, args[0], &address);
}

/* MPI_Win_free: all come, as when a communicator is made. */
static bool win_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_place_t *own;
    walk_win_t *win;
    int64_t handle;

    (void)site;
    if (!walk_get_handle(w, args[0], 0, &handle))
        return false;
    win = walk_window(w, handle);
    if (win == NULL || !walk_agree(w, &win->member, 0))
        return false;
    own = &win->shared->places[win->member.rank];
    if (win->is_allocated && own->address != 0 && !process_release(&w->process, own->address))
        return false;
    win->shared = NULL;
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_WIN_NULL);
}

/* ---- Operations ---- */

/* Where the arguments of an operation are; -1: there is none, and the count is 1. */
typedef struct {
    int origin, origin_count, origin_type;
    int result, result_count, result_type;
    int target, disp, count, type;
    int op, compare, win;
} layout_t;

enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP, WITH_REQUEST = 8 };

static const layout_t layouts[] = {
    [PUT] = {0, 1, 2, -1, -1, -1, 3, 4, 5, 6, -1, -1, 7},
    [GET] = {-1, -1, -1, 0, 1, 2, 3, 4, 5, 6, -1, -1, 7},
    [ACCUMULATE] = {0, 1, 2, -1, -1, -1, 3, 4, 5, 6, 7, -1, 8},
    [GET_ACCUMULATE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, 11},
    [FETCH] = {0, -1, 2, 1, -1, 2, 3, 4, -1, 2, 5, -1, 6},
    [SWAP] = {0, -1, 3, 2, -1, 3, 4, 5, -1, 3, -1, 1, 6},
};

/* The data on one side of an operation. */
typedef struct {
    walker_t *owner;
    uint64_t address, bytes, span; /* address 0: it is not kept, or there is none */
    walk_type_t type;
    bool is_there; /* the operation has this side */
} side_t;

/* Sets one side of an operation from the arguments of these numbers; without a type there is none.
 */
static bool read_side(walker_t *w, const code_site_t *site, const int64_t *args, int buffer,
                      int count, int type, side_t *side)
{
    int64_t n = count >= 0 ? args[count] : 1;

    *side = (side_t){.owner = w};
    if (type < 0)
        return true;
    if (!walk_type(w, args[type], &side->type))
        return false;
    if (n < 0)
        return process_fail(&w->process, "the count is %lld", (long long)n);
    side->is_there = true;
    side->bytes = (uint64_t)n * side->type.map.size;
    side->span = walk_type_span(&side->type, n);
    if (buffer >= 0 && (site->given & 1u << buffer) != 0 && side->bytes > 0)
        side->address = (uint64_t)args[buffer];
    return true;
}

/* The memory of the target; false (reported): it is not inside the window. */
static bool read_target(walker_t *w, const code_site_t *site, const int64_t *args,
                        const layout_t *l, const walk_win_t *win, side_t *side)
{
    const walk_place_t *place;
    int64_t offset, end;

    if (args[l->target] < 0 || args[l->target] >= win->member.comm->size)
        return process_fail(&w->process, "rank %lld does not exist; the window has %d",
                            (long long)args[l->target], win->member.comm->size);
    if (!read_side(w, site, args, -1, l->count, l->type, side))
        return false;
    place = &win->shared->places[args[l->target]];
    side->owner = &w->walk->walkers[walk_comm_proc(win->member.comm, (int32_t)args[l->target])];
    if (side->bytes == 0)
        return true;
    if (__builtin_mul_overflow(args[l->disp], place->unit, &offset) ||
        offset + side->type.map.true_lb < 0 ||
        __builtin_add_overflow(offset, (int64_t)side->span, &end) || end > place->size)
        return process_fail(
            &w->process, "displacement %lld is not inside the %lld bytes of rank %lld",
            (long long)args[l->disp], (long long)place->size, (long long)args[l->target]);
    if (place->address != 0)
        side->address = place->address + (uint64_t)offset;
    return true;
}

/* The memory of a side; NULL: it is not kept, has gaps, or cannot be reached. */
static uint8_t *memory_of(const side_t *side, uint64_t bytes)
{
    return side->address != 0 && walk_type_is_dense(&side->type)
               ? process_at(&side->owner->process, side->address, bytes)
               : NULL;
}

/* Nothing is known of it any more. */
static void lose(const side_t *side)
{
    if (side->address != 0)
        walk_data_lose(side->owner, side->address, side->span);
}

static void copy(const side_t *to, const side_t *from, uint64_t bytes)
{
    const uint8_t *in = memory_of(from, bytes);
    uint8_t *out = in != NULL ? memory_of(to, bytes) : NULL;

    if (out != NULL)
        memmove(out, in, bytes);
    else
        lose(to);
}

/* target = target op origin */
static void update(const side_t *target, const side_t *origin, int64_t op)
{
    const uint8_t *in = memory_of(origin, origin->bytes);
    uint8_t *out = in != NULL ? memory_of(target, origin->bytes) : NULL;

    if (op == (int64_t)(intptr_t)MPI_REPLACE)
        copy(target, origin, origin->bytes);
    else if (out == NULL || !walk_reduce(op, target->type.basic,
                                         origin->bytes / walk_type_element(&target->type), out, in))
        lose(target);
}

/* target = origin where it is what `compare` is */
static void swap(const side_t *target, const side_t *origin, const side_t *compare)
{
    uint64_t bytes = target->bytes;
    const uint8_t *other = memory_of(compare, bytes);
    const uint8_t *there = memory_of(target, bytes);

    if (other == NULL || there == NULL || process_is_blank(other, bytes) ||
        process_is_blank(there, bytes))
        lose(target);
    else if (memcmp(other, there, bytes) == 0)
        copy(target, origin, bytes);
}

/* The three sides of an operation, and what it moves. */
typedef struct {
    walk_win_t *win;
    side_t origin, result, target;
    bool has_origin;
    double end;
} operation_t;

/* Sets the sides of an operation, and checks that they fit. */
static bool read_operation(walker_t *w, const code_site_t *site, const int64_t *args,
                           const layout_t *l, operation_t *o)
{
    if (!read_side(w, site, args, l->origin, l->origin_count, l->origin_type, &o->origin) ||
        !read_side(w, site, args, l->result, l->result_count, l->result_type, &o->result) ||
        !read_target(w, site, args, l, o->win, &o->target))
        return false;
    o->has_origin =
        o->origin.is_there && (l->op < 0 || args[l->op] != (int64_t)(intptr_t)MPI_NO_OP);
    if (o->has_origin && o->origin.bytes > o->target.bytes)
        return process_fail(&w->process, "%llu bytes of the origin do not fit into %llu",
                            (unsigned long long)o->origin.bytes,
                            (unsigned long long)o->target.bytes);
    if (o->has_origin) /* the target may have room for more */
        o->target.bytes = o->origin.bytes;
    if (o->result.is_there && o->result.bytes < o->target.bytes)
        return process_fail(&w->process, "%llu bytes of the target do not fit into %llu",
                            (unsigned long long)o->target.bytes,
                            (unsigned long long)o->result.bytes);
    return true;
}

/* Moves the data of an operation, as far as it is kept. */
static void move(const code_site_t *site, const int64_t *args, const layout_t *l,
                 const operation_t *o)
{
    side_t compare = o->target;

    if (o->target.bytes == 0)
        return;
    if (o->result.is_there)
        copy(&o->result, &o->target, o->target.bytes);
    if (l->compare >= 0) {
        compare.owner = o->origin.owner;
        compare.address = (site->given & 1u << l->compare) != 0 ? (uint64_t)args[l->compare] : 0;
        swap(&o->target, &o->origin, &compare);
    } else if (o->has_origin && l->op < 0) {
        copy(&o->target, &o->origin, o->target.bytes);
    } else if (o->has_origin) {
        update(&o->target, &o->origin, args[l->op]);
    }
}

/* The operation takes place: its data moves, and it is charged. */
static bool act(walker_t *w, const code_site_t *site, const int64_t *args, const layout_t *l,
                operation_t *o)
{
    uint64_t there = o->has_origin ? o->target.bytes : 0;
    xy_vjob_remote_t remote = {.peer = o->target.owner->rank,
                               .bytes = l->compare >= 0 ? 2 * there : there,
                               .is_answered = o->result.is_there,
                               .answer_bytes = o->result.is_there ? o->target.bytes : 0};

    move(site, args, l, o);
    if (w->process.status != XY_OK || o->target.owner->process.status != XY_OK ||
        !xy_vjob_remote(w->walk->job, w->rank, &remote, &o->end))
        return process_stop(&w->process);
    if (o->end > o->win->over)
        o->win->over = o->end;
    return true;
}

/* The request of an operation is complete when its bytes have moved. */
static bool give_request(walker_t *w, int64_t at, double end)
{
    int32_t index = end > 0 ? walk_until(w, end) : walk_request_new(w);

    if (index < 0)
        return false;
    walk_request_at(w, index)->kind = WALK_SEND;
    walk_request_at(w, index)->is_done = end <= 0;
    return walk_set_handle(w, at, WALK_REQUEST_FIRST + index);
}

/* MPI_Put and its like. */
static bool operation(walker_t *w, const code_site_t *site, int64_t *args)
{
    const layout_t *l = &layouts[walk_extra(site) & (WITH_REQUEST - 1)];
    operation_t o = {.win = walk_window(w, args[l->win])};
    bool is_nobody = args[l->target] == MPI_PROC_NULL;

    if (o.win == NULL || (!is_nobody && !read_operation(w, site, args, l, &o)))
        return false;
    /* Operations of others that are earlier by the clock come first.
     */
    if (w->process.phase == 0 && !is_nobody && !(l->op >= 0 && o.target.bytes == 0)) {
        w->process.phase = 1;
        if (!xy_vjob_sync(w->walk->job, w->rank))
            return false;
    }
    return (is_nobody || act(w, site, args, l, &o)) &&
           ((walk_extra(site) & WITH_REQUEST) == 0 ||
            give_request(w, args[site->count - 1], o.end));
}

const walk_call_t walk_calls_window[] = {
    {"Win_create", win_create, 0},
    {"Win_allocate", win_allocate, 0},
    {"Win_allocate_shared", win_allocate, 1},
    {"Win_shared_query", shared_query, 0},
    {"Win_free", win_free, 0},
    {"Alloc_mem", alloc_mem, 0},
    {"Put", operation, PUT},
    {"Rput", operation, PUT | WITH_REQUEST},
    {"Get", operation, GET},
    {"Rget", operation, GET | WITH_REQUEST},
    {"Accumulate", operation, ACCUMULATE},
    {"Raccumulate", operation, ACCUMULATE | WITH_REQUEST},
    {"Get_accumulate", operation, GET_ACCUMULATE},
    {"Rget_accumulate", operation, GET_ACCUMULATE | WITH_REQUEST},
    {"Fetch_and_op", operation, FETCH},
    {"Compare_and_swap", operation, SWAP},
    {0}};
