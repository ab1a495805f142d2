/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication. The memory of a window is memory that every member in this process can
 * load from and store to: an operation is done by its origin at once, and a target never has to
 * help. Members in other processes are `far`. Their memory is mapped here if MPI_Win_allocate made
 * it on this machine (rma_spread.c); otherwise operations are requested by letters (far.h). Locks
 * of far members are asked for by letters.
 *
 * A window is one rma_shared_t for all members (where the memory of each is, its locks) and one
 * mpi_win_t per member, which belongs to its rank: handle, attributes, and the epochs that this
 * rank has opened. An operation does this:
 *
 *   mpi_win_t *win = mpi_win_of(handle);
 *
 *   if (win == NULL)
 *       return mpi_win_refuse(handle);
 *   error = rma_check_access(win, target);                     (is there an epoch?)
 *   if (error == MPI_SUCCESS)
 *       error = rma_find(win, target, disp, count, type, &address);     (where, and is it inside?)
 *   if (error == MPI_SUCCESS)
 *       mpi_type_copy(address, count, type, ...);
 *
 * ---- Order of memory ----
 *
 * Operations are plain copies, or atomics, of the origin's thread. The following synchronisation
 * makes them visible; each has a release that another rank's call acquires:
 *
 *   fence               the barrier of the window's communicator (coll.h: packets, release/acquire)
 *   post -> start       a message without data: the packet's `turn`, release/acquire
 *   complete -> wait    likewise
 *   unlock -> lock      rma_shared_t.guard, released by the unlock and acquired by the next lock;
 *                       a rank that had to wait acquires with the message that grants the lock
 *   flush -> ...        a sequentially consistent fence; the program then tells the target, by a
 *                       message or by an atomic operation, which the target acquires
 *   accumulate          rma_target_t.updates, or the atomic instruction that did it
 *
 * ---- Who may touch what ----
 *
 * mpi_win_t: its rank. rma_place_t: written before any member has the window, constant after that.
 * The regions of dynamic windows: under rma_target_t.regions_guard. Locks: under
 * rma_shared_t.guard. A guard is held for some instructions or one accumulate, never while a fiber
 * parks.
 */
#ifndef XY_MPI_RMA_RMA_H
#define XY_MPI_RMA_RMA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "net/net.h"

/* ---- Guards ---- */

/* A lock for a few instructions. The holder does not park. */
typedef struct {
    _Atomic int is_held;
} rma_guard_t;

static inline void rma_guard_acquire(rma_guard_t *guard)
{
    unsigned looks = 0;

    while (atomic_exchange_explicit(&guard->is_held, 1, memory_order_acquire) != 0)
        while (atomic_load_explicit(&guard->is_held, memory_order_relaxed) != 0)
            xy_back_off(&looks);
}

/* Release: acquired by the next rma_guard_acquire. */
static inline void rma_guard_release(rma_guard_t *guard)
{
    atomic_store_explicit(&guard->is_held, 0, memory_order_release);
}

/* ---- What all members share ---- */

/* The memory of one member; not of dynamic windows. */
typedef struct {
    char *base;
    MPI_Aint size, unit; /* bytes; of the displacements of others */
} rma_place_t;

/* The memory that MPI_Win_allocate has made for a member: pages that other processes can map, or
 * else from malloc, or none. */
typedef struct {
    xy_net_memory_t pages;
    void *block;
} rma_memory_t;

/* The same of a member of another process. */
typedef struct {
    rma_place_t place; /* addresses there */
    uint64_t window;   /* its mpi_win_t; 0: the member is in this process */
    int world, process;
} rma_far_place_t;

/* Memory attached to a dynamic window. */
typedef struct {
    char *base;
    MPI_Aint size;
} rma_region_t;

typedef struct rma_waiter rma_waiter_t;     /* for a lock: locks.c */
typedef struct rma_peer rma_peer_t;         /* far.h */
typedef struct rma_answers rma_answers_t;   /* far.h */
typedef struct rma_pending rma_pending_t;   /* far.h */
typedef struct rma_holder rma_holder_t;     /* rma_survive.h */
typedef struct rma_question rma_question_t; /* rma_survive.h */

/* How accumulates to one target keep out of each other's way: element.h. */
typedef struct {
    rma_guard_t guard;   /* around what is no atomic instruction */
    _Atomic int is_long; /* there are none without it */
    int shorts;          /* under the guard: of them since the last long update */
    bool is_mapped;      /* other processes update it, too, without the guard */
} rma_updates_t;

/* The changing data of one target. */
typedef struct {
    _Alignas(64) rma_updates_t updates;
    _Alignas(64) rma_guard_t regions_guard;
    xy_vec_t regions; /* of rma_region_t, by address */
    /* Under rma_shared_t.guard: */
    int sharers;                /* shared locks, without those of MPI_Win_lock_all */
    int owner;                  /* rank with the exclusive lock; -1: none */
    rma_waiter_t *first, **end; /* in the order of their calls */
} rma_target_t;

typedef struct {
    int size;
    int flavor;             /* MPI_WIN_FLAVOR_... */
    rma_place_t *places;    /* [size]; of far members without memory, unless it is mapped */
    rma_far_place_t *far;   /* [size]; NULL: all members are in this process */
    int *doors, door_count; /* far members, one of each process */
    rma_target_t *targets;  /* [size] */
    void *memory;           /* of MPI_Win_allocate_shared: one block for all; or NULL */
    _Atomic int references;
    _Alignas(XMPI_LINES) rma_guard_t guard; /* of the locks of all targets, and of: */
    int all;                                /* members inside MPI_Win_lock_all */
    int exclusives;                         /* targets that are locked exclusively */
    uint64_t tickets;                       /* waiters so far */
    rma_waiter_t *first_all, **end_all;     /* that wait in MPI_Win_lock_all */
    rma_waiter_t *exclusive;                /* that wait for exclusive locks, oldest first */
    rma_waiter_t **end_exclusive;
    rma_holder_t *holders; /* of locks, in a job that survives */
} rma_shared_t;

/* ---- A member's window ---- */

/* Its data about far members. */
typedef struct {
    int pending;            /* operations that are not over */
    rma_answers_t *waiting; /* until none is */
    rma_peer_t **peers;     /* [size]; NULL: nothing was done so far */
    rma_peer_t *dirty;      /* that may have to be flushed */
    /* In a job that survives: */
    struct mpi_win *next_here; /* of this process */
    rma_question_t *questions; /* without an answer */
    rma_pending_t *pendings;   /* operations that are not over */
    bool has_lost;             /* something for a rank that has failed was lost */
} rma_far_t;

/* The epoch that the member has opened as an origin. */
typedef enum {
    RMA_ACCESS_NONE,
    RMA_ACCESS_FENCE,      /* MPI_Win_fence was called, and nothing was done since: other epochs */
    RMA_ACCESS_FENCE_USED, /* may begin; operations were done, so that a fence must follow */
    RMA_ACCESS_START,      /* MPI_Win_start: the targets in `reached` */
    RMA_ACCESS_LOCK,       /* MPI_Win_lock: likewise */
    RMA_ACCESS_LOCK_ALL,
} rma_access_t;

typedef struct mpi_win {
    mpi_life_t life;
    rma_shared_t *shared;
    rma_access_t access;
    int rank, size;
    uint64_t *reached; /* bit t: target t is locked or started; NULL: never needed so far */
    mpi_comm_t *comm;  /* the window's own: barriers, messages that the program never sees, and the
                        * error handler; its name is the window's */
    mpi_rank_t *owner;
    double over;    /* virtual time: when all operations so far are complete */
    unsigned looks; /* rma_look */
    rma_far_t far;
    /* From here on: not in operations. */
    int lock_count;           /* RMA_ACCESS_LOCK: targets in `reached` */
    mpi_group_t *started;     /* of MPI_Win_start, or NULL; */
    int *goals;               /* [started->size]: the ranks in the window */
    mpi_group_t *posted;      /* of MPI_Win_post, or NULL */
    MPI_Request *completions; /* [posted->size]: MPI_Win_complete of each, */
    int *origins;             /* and its rank in the window; one piece of memory */
    bool has_no_locks;        /* hint */
    rma_memory_t memory;      /* of MPI_Win_allocate */
    void *base;               /* as the attributes say */
    MPI_Aint bytes;
    int unit, flavor, model;
    mpi_attributes_t *attributes;
    mpi_info_t *info; /* the hints that are known, with their values */
    char name[MPI_MAX_OBJECT_NAME];
} mpi_win_t;

/* NULL for MPI_WIN_NULL, for one that was freed and for what is no handle. */
static inline mpi_win_t *mpi_win_of(MPI_Win handle)
{
    mpi_win_t *win = (mpi_win_t *)(void *)handle;

    if (__builtin_expect((uintptr_t)handle < 4096, 0))
        return NULL;
    return __builtin_expect(mpi_life_is(&win->life, XMPI_LIFE_WINDOW), 1)
               ? win
               : mpi_life_refuse(&win->life, XMPI_LIFE_WINDOW);
}

static inline MPI_Win mpi_win_handle(const mpi_win_t *win)
{
    return (MPI_Win)(void *)(uintptr_t)win;
}

/* ---- Errors ---- */

/* An error of a window is raised on its communicator, `win->comm`, with mpi_error and related
 * functions: the communicator has the window's error handler, which gets the window.
 *
 * Raise MPI_ERR_WIN for a handle that mpi_win_of refused. */
int mpi_win_refuse(MPI_Win handle);
/* The result of the MPI function `name` for a NULL argument, before it is entered: see
 * mpi_refuse_null. */
int mpi_win_refuse_null(const char *name, const void *site, MPI_Win handle, const char *argument)
    __attribute__((cold));

/* ---- For operations ---- */

/* Is the member in another process? */
static inline bool rma_is_far(const mpi_win_t *win, int rank)
{
    return win->shared->far != NULL && win->shared->far[rank].window != 0;
}

/* Can this process not load from and store to the memory of the member? */
static inline bool rma_is_remote(const mpi_win_t *win, int rank)
{
    return rma_is_far(win, rank) && win->shared->places[rank].base == NULL;
}

/* The memory of a member; the address of a remote one is that in its process. */
static inline const rma_place_t *rma_place_of(const mpi_win_t *win, int rank)
{
    return rma_is_remote(win, rank) ? &win->shared->far[rank].place : &win->shared->places[rank];
}

static inline bool rma_is_reached(const mpi_win_t *win, int target)
{
    return win->reached != NULL && (win->reached[target / 64] >> (target % 64) & 1) != 0;
}

/* Raise what is wrong: no epoch, another epoch, a target outside of it or of the window. */
int rma_refuse_access(mpi_win_t *win, int target);

/* May the rank start an operation on `target` (not MPI_PROC_NULL: such an operation does nothing)?
 * MPI_SUCCESS or what was raised. */
static inline int rma_check_access(mpi_win_t *win, int target)
{
    if (__builtin_expect((unsigned)target >= (unsigned)win->size, 0))
        return rma_refuse_access(win, target);
    switch (win->access) {
    case RMA_ACCESS_FENCE:
        win->access = RMA_ACCESS_FENCE_USED;
        return MPI_SUCCESS;
    case RMA_ACCESS_FENCE_USED:
    case RMA_ACCESS_LOCK_ALL:
        return MPI_SUCCESS;
    case RMA_ACCESS_START:
    case RMA_ACCESS_LOCK:
        if (rma_is_reached(win, target))
            return MPI_SUCCESS;
        break;
    case RMA_ACCESS_NONE:
        break;
    }
    return rma_refuse_access(win, target);
}

/* The same for operations with a request (MPI_Rput ...): inside MPI_Win_lock or lock_all only. */
int rma_check_passive(mpi_win_t *win, int target);

/* Raise that `target` has failed, or, for RMA_EVERYWHERE, that something was lost; or nothing. */
int rma_survive_raise(mpi_win_t *win, int target);
static inline int rma_survive_check(mpi_win_t *win, int target)
{
    return __builtin_expect(mpi_survives, 0) ? rma_survive_raise(win, target) : MPI_SUCCESS;
}

/* Where `count` elements of `type` lie at displacement `disp` of `target`: the address that the
 * type is relative to. MPI_ERR_RMA_RANGE is raised when a byte of them is outside of the target's
 * memory, or, in a dynamic window, not attached. Without data: any displacement will do, and
 * *address_p is not to be used. */
int rma_find(mpi_win_t *win, int target, MPI_Aint disp, int64_t count, const mpi_type_t *type,
             char **address_p);

/* Are these bytes of a dynamic window attached by the target, which is in this process? Elements
 * with holes between them may lie in several regions: their ends are looked at. Any thread. */
bool rma_is_attached(rma_target_t *t, uintptr_t from, uintptr_t to, bool has_holes);

/* In virtual time: an operation on `target` is complete at `end`; what completes it waits until
 * then.
 */
static inline void rma_charge(mpi_win_t *win, int target, double end)
{
    (void)target;
    if (end > win->over)
        win->over = end;
}

/* A program may wait for another rank in a loop of calls that have nothing to wait for, and that
 * rank may need this core: now and then others run. */
enum { RMA_LOOK_EVERY = 8 };
static inline void rma_look(mpi_win_t *win)
{
    if (++win->looks % RMA_LOOK_EVERY == 0)
        mpi_clock_look(win->owner);
}

/* The call is about this target; for reports. */
static inline void rma_note(mpi_win_t *win, int target)
{
    mpi_self->call.comm = win->comm;
    mpi_self->call.peer = target;
}

/* One element of the predefined type has all its data in front, and the padding behind. */
static inline bool rma_is_in_front(const mpi_type_t *type)
{
    return type->is_predefined && type->true_lb == 0 && (size_t)type->true_extent == type->size;
}

/* ---- With --check ---- */

/* A note from the watch of one process to that of another about an operation, or (`is_over`) the
 * completion of the operation of this number, or with 0 of all those of the origin. The watch
 * assigns the numbers. */
typedef struct {
    bool is_over;
    const void *address; /* in the process of the target */
    int64_t count;
    mpi_type_t *type;
    const mpi_op_t *op; /* of the predefined ones, or NULL */
    uint32_t epoch, what, turn, number;
    bool is_written; /* the data is in the memory of the target */
    uint64_t site;   /* of the call, in the process of the origin */
    char call[48];
} rma_told_t;

/* Callbacks of a watch on the operations of ranks: where `count` elements of `type` are at the
 * target, and the operation of MPI_Accumulate and its like, or NULL; at their completion at a
 * target or RMA_EVERYWHERE, before other ranks hear of it (`is_local`: only for the caller's own
 * buffers); and when an exposure epoch of MPI_Win_post ends. */
typedef struct {
    void (*operation)(mpi_rank_t *self, mpi_win_t *win, int target, const void *address,
                      int64_t count, mpi_type_t *type, const mpi_op_t *op);
    /* A buffer of the caller, which the call names so ("origin", "compare", "result"). */
    void (*side)(const mpi_rank_t *self, const char *name, const void *address, int64_t count,
                 const mpi_type_t *type);
    /* The operation before on `target` has this request. */
    void (*request)(mpi_win_t *win, int target, mpi_request_t *request);
    void (*settle)(mpi_win_t *win, int target, bool is_local);
    void (*exposed)(mpi_win_t *win);
    /* A member comes to a place that no member leaves before all have come. */
    void (*meet)(const mpi_comm_t *comm);
    /* A message of the watch of process `from` to member `win` of this one, after the operations of
     * `origin` that it is about. */
    void (*told)(mpi_win_t *win, int from, int origin, const rma_told_t *told);
} rma_watch_t;

/* To member `target`, of another process: see rma_watch_t.told. */
void rma_far_tell(mpi_win_t *win, int target, const rma_told_t *told);
/* Does a put of so many bytes into a window of another process need one letter? */
bool rma_far_is_small(uint64_t bytes);

/* NULL: nothing does. Written before ranks run. */
extern const rma_watch_t *rma_watch;

static inline void rma_note_meeting(const mpi_comm_t *comm)
{
    if (__builtin_expect(rma_watch != NULL, 0))
        rma_watch->meet(comm);
}

/* ---- Between the files of the windows ---- */

/* The name of the open epoch of the origin: "an access epoch of MPI_Win_start". */
const char *rma_access_name(const mpi_win_t *win);
/* Note that `target` is reached; XY_ENOMEM is silent. And that it is no more. */
xy_status_t rma_reach(mpi_win_t *win, int target);
void rma_unreach(mpi_win_t *win, int target);
/* The hints in `info` that are known, as far as their values make sense; the others keep theirs.
 * XY_ENOMEM is silent. */
xy_status_t rma_info_apply(mpi_win_t *win, const mpi_info_t *info);
void rma_locks_init(rma_shared_t *shared);
/* The operations of the rank on `target` must be over, or `is_local`, its buffers free: in virtual
 * time, wait for all. RMA_EVERYWHERE: on all targets. */
enum { RMA_EVERYWHERE = -1 };
void rma_settle(mpi_win_t *win, int target, bool is_local);
/* Wait for operations on far members: their results have come, and the buffers are the program's
 * again; and, in addition, they are done at `target`. Park. */
void rma_far_settle(mpi_rank_t *self, mpi_win_t *win);
void rma_far_flush(mpi_rank_t *self, mpi_win_t *win, int target);
/* The shared data of the members of one process, for a window of `size` members, of which `members`
 * will release it; without places. NULL: memory ran out. */
rma_shared_t *rma_shared_new(int size, int flavor, int members);

/* The data of a member of a new window. */
typedef struct {
    mpi_comm_t *comm; /* first: for mpi_comm_duplicate_leader */
    int flavor;
    rma_place_t place;   /* shared memory: without a base */
    rma_memory_t memory; /* the window's own from now on */
    size_t alignment;    /* of its part of shared memory; 0: it follows the one before */
    bool has_failed;     /* there was no memory for it */
} rma_wish_t;

/* The member's object over the communicator of `plan`, which has the default handler of windows,
 * and `shared`, whose reference it takes. Raises on `parent`. */
int rma_win_new(mpi_comm_t *parent, const mpi_plan_t *plan, rma_shared_t *shared,
                mpi_win_t **win_p);
/* `is_whole`: none of its members has failed (rma_survive.h). */
void rma_win_destroy(mpi_win_t *win, bool is_whole);
/* Make memory that other processes can map for a member of a window over `parent`. False: `memory`
 * is untouched, and other memory will do. */
bool rma_spread_allocate(const mpi_comm_t *parent, size_t size, size_t alignment,
                         rma_memory_t *memory);
/* Make a window whose members are in several processes. Raises on `parent`. */
int rma_spread_create(mpi_comm_t *parent, rma_wish_t *wish, mpi_win_t **win_p);
/* Unmap the memory of members of other processes. */
void rma_spread_unmap(rma_shared_t *shared);

extern const mpi_layer_t mpi_rma_layer;

#endif
