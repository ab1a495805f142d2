/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows whose members are in several processes. Those of one process share one rma_shared_t: the
 * first to come makes it, the others find it by the context of the window's communicator. Then all
 * exchange cards: where the memory of each is, and where its window is in its process. When a
 * member has the cards of all, all have their windows, so that letters find them. A member that has
 * no memory for its part ends the job: the others wait for it.
 *
 * Members that are reached through shared memory map what MPI_Win_allocate makes, so that puts and
 * gets are copies and updates of numbers atomic instructions of the origin. Everything else is left
 * to the process of the target, and none of it changes a number without an atomic instruction:
 *
 *   elements under the guard of the target    by letters, as if nothing were mapped
 *   long updates, which keep others out       element by element, in all processes
 *   locks                                     by letters
 *
 * So there is no lock in the memory, which could stay locked when a process dies. Nothing is mapped
 * where a watch or a trace has to see the operations at their target, and in a job that survives,
 * in which they fail with it.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/rma/rma_survive.h"

typedef struct {
    uint64_t window, base;
    int64_t size, unit;
    int32_t flavor, fd; /* of memory that others map; -1: it is not */
    uint64_t has_failed;
} card_t;

/* A window that not all members here have asked for. */
typedef struct meeting {
    struct meeting *next;
    uint32_t context;
    int left;
    rma_shared_t *shared;
} meeting_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of `far` of all */
static meeting_t *meetings;

static int members_here(const mpi_comm_t *comm)
{
    int members = 0;

    for (int r = 0; r < comm->size; r++)
        members += mpi_rank_is_here(mpi_job, mpi_comm_world_rank(comm, r));
    return members;
}

static meeting_t *meeting_new(const mpi_comm_t *parent, uint32_t context, int flavor)
{
    meeting_t *m = rma_far_memory(xy_malloc(sizeof(*m)));

    m->next = meetings;
    m->context = context;
    m->left = members_here(parent);
    m->shared = rma_far_memory(rma_shared_new(parent->size, flavor, m->left));
    return m;
}

/* The data that the members here share. */
static rma_shared_t *join(const mpi_comm_t *parent, uint32_t context, int flavor)
{
    meeting_t **link = &meetings, *m;
    rma_shared_t *shared;

    pthread_mutex_lock(&lock);
    while (*link != NULL && (*link)->context != context)
        link = &(*link)->next;
    if (*link == NULL) {
        meetings = meeting_new(parent, context, flavor);
        link = &meetings;
    }
    m = *link;
    shared = m->shared;
    if (--m->left == 0) {
        *link = m->next;
        xy_free(m);
    }
    pthread_mutex_unlock(&lock);
    return shared;
}

/* ---- Cards ---- */

static rma_far_place_t far_place(int world, const card_t *card)
{
    rma_place_t place = {(char *)(uintptr_t)card->base, card->size, card->unit};

    return (rma_far_place_t){.place = place,
                             .window = mpi_rank_is_here(mpi_job, world) ? 0 : card->window,
                             .world = world,
                             .process = mpi_job->process_of[world]};
}

/* The first member of each other process. */
static void find_doors(rma_shared_t *shared)
{
    bool *is_seen = rma_far_memory(xy_calloc((size_t)mpi_job->processes, sizeof(*is_seen)));

    shared->doors = rma_far_memory(xy_calloc((size_t)mpi_job->processes, sizeof(*shared->doors)));
    for (int r = 0; r < shared->size; r++) {
        int process = shared->far[r].process;

        if (process != mpi_job->process && !is_seen[process])
            shared->doors[shared->door_count++] = r;
        is_seen[process] = true;
    }
    xy_free(is_seen);
}

/* Map the memory of a member of another process, where it can be. */
static void map(rma_shared_t *shared, int rank, const card_t *card)
{
    char *base =
        xy_net_memory_map(mpi_job->net, shared->far[rank].process, card->fd, (size_t)card->size);

    if (base != NULL)
        shared->places[rank] = (rma_place_t){base, card->size, card->unit};
}

void rma_spread_unmap(rma_shared_t *shared)
{
    for (int r = 0; shared->far != NULL && r < shared->size; r++)
        if (shared->far[r].window != 0 && shared->places[r].base != NULL)
            munmap(shared->places[r].base, (size_t)shared->places[r].size);
}

/* The first member here to know the cards does it for all. */
static void keep_cards(const mpi_win_t *win, const card_t *cards)
{
    rma_shared_t *shared = win->shared;

    pthread_mutex_lock(&lock);
    if (shared->far == NULL) {
        rma_far_place_t *far = rma_far_memory(xy_calloc((size_t)win->size, sizeof(*far)));

        for (int r = 0; r < win->size; r++) {
            far[r] = far_place(mpi_comm_world_rank(win->comm, r), &cards[r]);
            if (far[r].window != 0)
                shared->places[r] = (rma_place_t){.unit = far[r].place.unit};
            shared->targets[r].updates.is_mapped = cards[r].fd >= 0;
        }
        shared->far = far;
        find_doors(shared);
        for (int r = 0; r < win->size; r++)
            if (far[r].window != 0 && cards[r].fd >= 0)
                map(shared, r, &cards[r]);
    }
    pthread_mutex_unlock(&lock);
}

static int check_cards(mpi_comm_t *parent, const card_t *own, const card_t *cards)
{
    for (int r = 0; r < parent->size; r++) {
        if (cards[r].flavor != own->flavor)
            return mpi_error(parent, MPI_ERR_RMA_FLAVOR,
                             "rank %d makes a window of another kind; all members must call the "
                             "same function",
                             r);
        if (cards[r].has_failed)
            return mpi_error_memory(parent, "a window");
    }
    return MPI_SUCCESS;
}

/* ---- Making ---- */

bool rma_spread_allocate(const mpi_comm_t *parent, size_t size, size_t alignment,
                         rma_memory_t *memory)
{
    return mpi_comm_is_spread(parent) && rma_watch == NULL && !mpi_survives &&
           parent->owner->trace == NULL && /* the target records its part of gets and updates */
           alignment <= (size_t)sysconf(_SC_PAGESIZE) && xy_net_near(mpi_job->net) > 0 &&
           xy_net_memory_make(size, &memory->pages) == 0;
}

/* On the parent: the context of the window is not heard of anywhere before. */
static int exchange(mpi_comm_t *parent, const card_t *own, card_t *cards)
{
    return mpi_spread_allgather(parent, own, sizeof(*own), cards);
}

/* Keep the memory of members open until all have mapped it. */
static int seal(mpi_comm_t *parent, rma_memory_t *memory, const card_t *cards)
{
    int error = MPI_SUCCESS;
    bool is_mapped = false;
    char *all;

    for (int r = 0; r < parent->size; r++)
        is_mapped |= cards[r].fd >= 0;
    if (is_mapped) {
        all = rma_far_memory(xy_malloc((size_t)parent->size));
        error = mpi_spread_allgather(parent, "", 1, all);
        xy_free(all);
    }
    xy_net_memory_seal(&memory->pages);
    return error;
}

/* In a job that survives: all live members have the window, or none, which one that knows of no
 * failure raises here. */
static int agree(mpi_comm_t *parent, int error)
{
    bool is_whole;

    if (!mpi_survives || mpi_agree_all(parent->owner, parent, error == MPI_SUCCESS, &is_whole) ||
        error != MPI_SUCCESS)
        return error;
    return mpi_survive_raise(parent, MPIX_ERR_PROC_FAILED);
}

static int refuse_shared(mpi_comm_t *parent)
{
    return mpi_error(parent, MPI_ERR_RMA_SHARED,
                     "%s has ranks in several processes, which have no memory in common; use "
                     "MPI_Win_allocate, or a communicator of MPI_Comm_split_type with "
                     "MPI_COMM_TYPE_SHARED",
                     mpi_comm_name(parent));
}

int rma_spread_create(mpi_comm_t *parent, rma_wish_t *wish, mpi_win_t **win_p)
{
    card_t own = {.base = (uint64_t)(uintptr_t)wish->place.base,
                  .size = wish->place.size,
                  .unit = wish->place.unit,
                  .flavor = wish->flavor,
                  .fd = wish->memory.pages.bytes > 0 ? wish->memory.pages.fd : -1,
                  .has_failed = wish->has_failed};
    card_t *cards = rma_far_memory(xy_malloc((size_t)parent->size * sizeof(*cards)));
    mpi_win_t *win = NULL;
    mpi_plan_t plan;
    uint32_t context;
    int error = MPIX_ERR_PROC_FAILED;

    if (wish->flavor == MPI_WIN_FLAVOR_SHARED) {
        xy_free(cards);
        return refuse_shared(parent);
    }
    context = mpi_spread_context(parent, 1);
    if (context != XMPI_CONTEXT_NONE) { /* otherwise a failure was raised */
        plan = mpi_plan_spread_duplicate(parent, context);
        if (rma_win_new(parent, &plan, join(parent, context, wish->flavor), &win) != MPI_SUCCESS)
            rma_far_memory(NULL);
        win->shared->places[win->rank] = wish->place;
        own.window = (uint64_t)(uintptr_t)win;
        error = exchange(parent, &own, cards);
    }
    error = agree(parent, error);
    if (error == MPI_SUCCESS)
        error = check_cards(parent, &own, cards);
    if (error == MPI_SUCCESS)
        keep_cards(win, cards);
    if (error == MPI_SUCCESS)
        error = seal(parent, &wish->memory, cards);
    if (error == MPI_SUCCESS && mpi_survives && mpi_survive_count() > 0)
        mpi_survive_look(); /* letters may have come before the cards */
    if (error != MPI_SUCCESS && win != NULL)
        rma_win_destroy(win, !mpi_survives);
    xy_free(cards);
    *win_p = win;
    return error;
}

/* ---- The layer ---- */

const mpi_layer_t mpi_rma_layer = {.far = {.one_sided = rma_far_serve, .failed = rma_survive_look},
                                   .job_end = rma_survive_cleanup};
