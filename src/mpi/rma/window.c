/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making windows and freeing them, which are collectives. One member makes what all share; each
 * then makes its own object, with a communicator of the window's own.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/p2p/p2p.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/element.h"
#include "mpi/rma/rma_survive.h"
#include "mpi/virtual/virtual.h"

enum { LINE = 64 };

typedef struct {
    mpi_plan_t plan;      /* first, likewise */
    rma_shared_t *shared; /* NULL: memory ran out */
} answer_t;

/* ---- What all members share ---- */

static void *lines_alloc(size_t bytes)
{
    size_t whole = (bytes + XMPI_LINES - 1) & ~(size_t)(XMPI_LINES - 1);
    void *memory = aligned_alloc(XMPI_LINES, whole);

    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

static void shared_destroy(rma_shared_t *shared)
{
    rma_spread_unmap(shared);
    for (int r = 0; shared->targets != NULL && r < shared->size; r++)
        xy_vec_cleanup(&shared->targets[r].regions);
    free(shared->targets);
    free(shared->memory);
    xy_free(shared->places);
    xy_free(shared->far);
    xy_free(shared->doors);
    free(shared);
}

static size_t aligned(size_t offset, size_t alignment)
{
    return alignment == 0 ? offset : (offset + alignment - 1) & ~(alignment - 1);
}

/* Where the part of each member begins in one block: after the one before, or on cache lines of its
 * own. Returns the size of the block, 0 where that is no number. */
static size_t place_parts(rma_shared_t *shared, void *const *inputs, char *block)
{
    size_t bytes = 0;

    for (int r = 0; r < shared->size; r++) {
        const rma_wish_t *wish = inputs[r];

        if (__builtin_add_overflow(bytes, wish->alignment, &bytes))
            return 0;
        bytes = aligned(bytes - wish->alignment, wish->alignment);
        if (block != NULL && wish->place.size > 0)
            shared->places[r].base = block + bytes;
        if (__builtin_add_overflow(bytes, (size_t)wish->place.size, &bytes))
            return 0;
    }
    return bytes > 0 ? bytes : 1;
}

/* Pages come from the kernel when they are touched, on the core of the rank that does. */
static bool place_shared_memory(rma_shared_t *shared, void *const *inputs)
{
    size_t bytes = place_parts(shared, inputs, NULL), most = LINE;

    for (int r = 0; r < shared->size; r++)
        if (((const rma_wish_t *)inputs[r])->alignment > most)
            most = ((const rma_wish_t *)inputs[r])->alignment;
    if (bytes == 0 || posix_memalign(&shared->memory, most, bytes) != 0) {
        shared->memory = NULL;
        return false;
    }
    place_parts(shared, inputs, shared->memory);
    return true;
}

rma_shared_t *rma_shared_new(int size, int flavor, int members)
{
    rma_shared_t *shared = lines_alloc(sizeof(*shared));

    if (shared == NULL)
        return NULL;
    shared->size = size;
    shared->flavor = flavor;
    atomic_init(&shared->references, members);
    shared->places = xy_calloc((size_t)size, sizeof(*shared->places));
    shared->targets = lines_alloc((size_t)size * sizeof(*shared->targets));
    if (shared->places == NULL || shared->targets == NULL) {
        shared_destroy(shared);
        return NULL;
    }
    for (int r = 0; r < size; r++)
        shared->targets[r].regions = XY_VEC_INIT(rma_region_t);
    rma_locks_init(shared);
    rma_elements_prepare();
    return shared;
}

/* Create what all members of a window in this process share; NULL without memory. */
static rma_shared_t *shared_make(void *const *inputs, int size)
{
    const rma_wish_t *first = inputs[0];
    rma_shared_t *shared = rma_shared_new(size, first->flavor, size);

    for (int r = 0; shared != NULL && r < size; r++)
        shared->places[r] = ((const rma_wish_t *)inputs[r])->place;
    if (shared != NULL && first->flavor == MPI_WIN_FLAVOR_SHARED &&
        !place_shared_memory(shared, inputs)) {
        shared_destroy(shared);
        return NULL;
    }
    return shared;
}

static void shared_release(rma_shared_t *shared)
{
    /* acq_rel: what the others did with it happens before it is freed */
    if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) == 1)
        shared_destroy(shared);
}

static void create_leader(void *const *inputs, int size, void *const *outputs)
{
    bool has_failed = false;
    rma_shared_t *shared;

    mpi_comm_duplicate_leader(inputs, size, outputs);
    for (int r = 0; r < size; r++)
        has_failed |= ((const rma_wish_t *)inputs[r])->has_failed;
    has_failed |= ((const answer_t *)outputs[0])->plan.status != XY_OK;
    shared = has_failed ? NULL : shared_make(inputs, size);
    for (int r = 0; r < size; r++)
        ((answer_t *)outputs[r])->shared = shared;
}

/* ---- A member's object ---- */

static void memory_free(rma_memory_t *memory)
{
    xy_net_memory_free(&memory->pages);
    free(memory->block);
}

void rma_win_destroy(mpi_win_t *win, bool is_whole)
{
    rma_far_destroy(win);
    if (win->shared != NULL)
        shared_release(win->shared);
    memory_free(&win->memory);
    mpi_info_destroy(win->info);
    mpi_attributes_drop(win->attributes);
    xy_free(win->reached);
    if (win->comm != NULL) {
        win->comm->window = NULL;
        mpi_comm_release(win->comm);
    }
    mpi_life_end(&win->life);
    rma_survive_end(win, is_whole);
}

static void win_describe(mpi_win_t *win, const rma_place_t *place)
{
    win->base = win->shared->places[win->rank].base;
    win->bytes = place->size;
    win->unit = place->unit > INT_MAX ? INT_MAX : (int)place->unit;
    win->flavor = win->shared->flavor;
    win->model = MPI_WIN_UNIFIED;
}

int rma_win_new(mpi_comm_t *parent, const mpi_plan_t *plan, rma_shared_t *shared, mpi_win_t **win_p)
{
    mpi_win_t *win = xy_calloc(1, sizeof(*win));
    mpi_comm_t *comm = NULL;
    int error = mpi_comm_from_plan(parent, plan, &comm);

    if (error == MPI_SUCCESS && win == NULL) {
        mpi_comm_release(comm);
        error = mpi_error_memory(parent, "a window");
    }
    if (error != MPI_SUCCESS) {
        if (plan->status == XY_OK && shared != NULL)
            shared_release(shared);
        xy_free(win);
        return error;
    }
    mpi_life_begin(&win->life, XMPI_LIFE_WINDOW);
    win->comm = comm;
    mpi_errhandler_release(mpi_errhandler_of(win->comm->errhandler));
    win->comm->errhandler = MPI_ERRORS_ARE_FATAL;
    win->comm->context |= XMPI_CONTEXT_SHADOW;
    win->comm->window = mpi_win_handle(win);
    strcpy(win->comm->name, "a window");
    win->shared = shared;
    win->owner = parent->owner;
    win->rank = win->comm->rank;
    win->size = win->comm->size;
    if (mpi_survives)
        rma_survive_begin(win);
    *win_p = win;
    return MPI_SUCCESS;
}

/* All members come here with their wishes; one makes what they share. */
static int agree(mpi_comm_t *parent, rma_wish_t *wish, mpi_win_t **win_p)
{
    answer_t answer;
    int error;

    wish->comm = parent;
    rma_note_meeting(parent);
    error = mpi_coll_agree(parent, wish, &answer, create_leader);
    if (error == MPI_SUCCESS)
        error = rma_win_new(parent, &answer.plan, answer.shared, win_p);
    return error;
}

/* In virtual time nodes have no memory in common, although all ranks have. */
static bool has_nodes(const mpi_comm_t *comm)
{
    int first = mpi_job->clock != NULL ? mpi_virtual_node(comm->owner->world) : 0;

    for (int i = 0; mpi_job->clock != NULL && i < comm->size; i++)
        if (mpi_virtual_node(mpi_group_world(comm->group, i)) != first)
            return true;
    return false;
}

/* Make the window of a wish, whose memory is its own from now on; returns an MPI error code. */
static int create(mpi_comm_t *parent, rma_wish_t *wish, MPI_Info info, mpi_win_t **win_p)
{
    mpi_win_t *win;
    int error;

    if (mpi_link_of(parent->group) != 0)
        error = mpi_error(parent, MPI_ERR_UNSUPPORTED_OPERATION,
                          "%s has ranks of another job; a window needs those of one job",
                          mpi_comm_name(parent));
    else if (wish->flavor == MPI_WIN_FLAVOR_SHARED && has_nodes(parent))
        error = mpi_error(parent, MPI_ERR_RMA_SHARED,
                          "%s has ranks on several nodes, which have no memory in common; use "
                          "MPI_Win_allocate, or a communicator of MPI_Comm_split_type with "
                          "MPI_COMM_TYPE_SHARED",
                          mpi_comm_name(parent));
    else
        error = mpi_comm_is_spread(parent) ? rma_spread_create(parent, wish, &win)
                                           : agree(parent, wish, &win);
    if (error != MPI_SUCCESS) {
        memory_free(&wish->memory);
        return error;
    }
    win->memory = wish->memory;
    if (win->shared == NULL || rma_info_apply(win, mpi_info_of(info)) != XY_OK) {
        rma_win_destroy(win, true);
        return mpi_error_memory(parent, "a window");
    }
    win_describe(win, &wish->place);
    *win_p = win;
    return MPI_SUCCESS;
}

/* ---- The calls ---- */

/* Check the arguments that all window constructors have. */
static int check_arguments(MPI_Comm handle, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                           const MPI_Win *win, mpi_comm_t **comm_p)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (comm == NULL)
        return mpi_comm_refuse(handle);
    mpi_self->call.comm = comm;
    mpi_self->call.peer = MPI_UNDEFINED;
    if (win == NULL)
        return mpi_error_null(comm, "win");
    if (comm->remote != NULL)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator: a window needs one group",
                         mpi_comm_name(comm));
    if (size < 0)
        return mpi_error(comm, MPI_ERR_SIZE, "the size of the window is %lld bytes",
                         (long long)size);
    if (unit <= 0)
        return mpi_error(comm, MPI_ERR_DISP, "the displacement unit is %lld; it must be at least 1",
                         (long long)unit);
    if (mpi_info_check(comm, info) != MPI_SUCCESS)
        return MPI_ERR_INFO;
    *comm_p = comm;
    return MPI_SUCCESS;
}

int impl_win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle,
                      MPI_Win *handle_p)
{
    rma_wish_t wish = {.flavor = MPI_WIN_FLAVOR_CREATE, .place = {base, size, disp_unit}};
    mpi_comm_t *comm;
    mpi_win_t *win;
    int error = check_arguments(handle, size, disp_unit, info, handle_p, &comm);

    if (error == MPI_SUCCESS && base == NULL && size > 0)
        error = mpi_error(comm, MPI_ERR_ARG,
                          "the argument base is NULL, and the size is %lld bytes", (long long)size);
    if (error == MPI_SUCCESS)
        error = create(comm, &wish, info, &win);
    if (error == MPI_SUCCESS)
        *handle_p = mpi_win_handle(win);
    return error;
}

/* The memory of a member of MPI_Win_allocate. */
static void allocate(const mpi_comm_t *comm, size_t size, size_t alignment, rma_wish_t *wish)
{
    rma_memory_t *memory = &wish->memory;

    if (size == 0)
        return;
    if (!rma_spread_allocate(comm, size, alignment, memory) &&
        posix_memalign(&memory->block, alignment, size) != 0) {
        memory->block = NULL;
        wish->has_failed = true;
    }
    wish->place.base = memory->block != NULL ? memory->block : memory->pages.base;
}

int impl_win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle,
                        void *baseptr, MPI_Win *handle_p)
{
    rma_wish_t wish = {.flavor = MPI_WIN_FLAVOR_ALLOCATE, .place = {NULL, size, disp_unit}};
    mpi_comm_t *comm;
    mpi_win_t *win;
    int error = check_arguments(handle, size, disp_unit, info, handle_p, &comm);

    if (error == MPI_SUCCESS && baseptr == NULL)
        error = mpi_error_null(comm, "baseptr");
    if (error != MPI_SUCCESS)
        return error;
    allocate(comm, (size_t)size, mpi_info_alignment(mpi_info_of(info)), &wish);
    error = create(comm, &wish, info, &win);
    if (error == MPI_SUCCESS) {
        memcpy(baseptr, &win->base, sizeof(win->base));
        *handle_p = mpi_win_handle(win);
    }
    return error;
}

static bool is_true(const mpi_info_t *info, const char *key)
{
    const char *value = mpi_info_value(info, key);

    return value != NULL && strcmp(value, "true") == 0;
}

int impl_win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm handle,
                               void *baseptr, MPI_Win *handle_p)
{
    rma_wish_t wish = {.flavor = MPI_WIN_FLAVOR_SHARED, .place = {NULL, size, disp_unit}};
    mpi_comm_t *comm;
    mpi_win_t *win;
    int error = check_arguments(handle, size, disp_unit, info, handle_p, &comm);

    if (error == MPI_SUCCESS && baseptr == NULL)
        error = mpi_error_null(comm, "baseptr");
    if (error != MPI_SUCCESS)
        return error;
    if (is_true(mpi_info_of(info), "alloc_shared_noncontig") || comm->rank == 0)
        wish.alignment = mpi_info_alignment(mpi_info_of(info));
    error = create(comm, &wish, info, &win);
    if (error == MPI_SUCCESS) {
        memcpy(baseptr, &win->base, sizeof(win->base));
        *handle_p = mpi_win_handle(win);
    }
    return error;
}

int impl_win_create_dynamic(MPI_Info info, MPI_Comm handle, MPI_Win *handle_p)
{
    rma_wish_t wish = {.flavor = MPI_WIN_FLAVOR_DYNAMIC, .place = {NULL, 0, 1}};
    mpi_comm_t *comm;
    mpi_win_t *win;
    int error = check_arguments(handle, 0, 1, info, handle_p, &comm);

    if (error == MPI_SUCCESS)
        error = create(comm, &wish, info, &win);
    if (error == MPI_SUCCESS)
        *handle_p = mpi_win_handle(win);
    return error;
}

static void nothing(void *const *inputs, int size, void *const *outputs)
{
    (void)inputs;
    (void)size;
    (void)outputs;
}

static int refuse_open_epoch(mpi_win_t *win)
{
    if (win->access != RMA_ACCESS_NONE && win->access != RMA_ACCESS_FENCE)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    if (win->posted != NULL)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "an exposure epoch of MPI_Win_post is open; MPI_Win_wait ends it");
    return MPI_SUCCESS;
}

/* When all members have come here, no operation of theirs is on its way. False: some have failed,
 * and theirs may still arrive. */
static bool meet(mpi_win_t *win)
{
    coll_call_t call = {.kind = &coll_window_free, .comm = win->comm};
    bool is_whole = true;

    rma_note_meeting(win->comm);
    if (win->shared->far == NULL)
        mpi_coll_agree(win->comm, NULL, NULL, nothing);
    else if (mpi_survives)
        mpi_agree_all(win->owner, win->comm, true, &is_whole);
    else
        coll_run(win->owner, &call);
    return is_whole;
}

int impl_win_free(MPI_Win *handle_p)
{
    mpi_win_t *win = handle_p != NULL ? mpi_win_of(*handle_p) : NULL;
    int error;

    if (handle_p == NULL)
        return mpi_error_null(NULL, "win");
    if (win == NULL)
        return mpi_win_refuse(*handle_p);
    mpi_self->call.comm = win->comm;
    mpi_self->call.peer = MPI_UNDEFINED;
    error = refuse_open_epoch(win);
    if (error != MPI_SUCCESS)
        return error;
    error = mpi_attributes_delete(XMPI_ATTR_WIN, *handle_p, &win->attributes);
    if (error != MPI_SUCCESS)
        return mpi_error_raise(win->comm, error, "the delete function of an attribute failed");
    rma_win_destroy(win, meet(win));
    *handle_p = MPI_WIN_NULL;
    return MPI_SUCCESS;
}
