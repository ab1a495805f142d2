/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks run on one worker, so that one list has the operations of all that are not over at
 * their target. Two of them that meet are concurrent, whatever the order of this run:
 *
 *   fences   between two of them the operations of all members
 *   groups   those of all origins, until the target ends its epoch (MPI_Win_wait)
 *   locks    those of an origin until it unlocks or flushes
 *
 * Windows are known by the contexts of their communicators, which are never used again.
 */
#include "mpi/check/conflicts.h"

#include <stdio.h>
#include <string.h>

#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/rma/rma.h"

typedef enum { READ, WRITE, UPDATE } what_t;
typedef enum { FENCES, GROUPS, LOCKS } epoch_t;

typedef struct {
    uint32_t window;
    epoch_t epoch;
    uint32_t turn;      /* fences of the origin before */
    int origin, target; /* a rank of the world, and one of the window */
    what_t what;
    const mpi_op_t *op; /* of MPI_Accumulate and MPI_Get_accumulate */
    check_area_t area;
    mpi_type_t *type; /* held */
    uint64_t hash;    /* of what was written */
    bool is_told;
    const char *call;
    const void *site;
} access_t;

static xy_vec_t list = XY_VEC_INIT(access_t);

/* What a member has called so far. */
typedef struct {
    uint32_t fences;
} member_t;

static xy_hash_t members; /* of member_t, by window and rank */

static access_t *at(size_t i)
{
    return &XY_VEC_AT(&list, access_t, i);
}

static uint64_t key_of(const mpi_win_t *win)
{
    return (uint64_t)win->comm->context << 32 | (uint32_t)win->owner->world;
}

/* NULL: memory ran out, and nothing is compared. */
static member_t *member_of(const mpi_win_t *win)
{
    member_t *m = xy_hash_get(&members, key_of(win));

    if (m != NULL)
        return m;
    m = xy_calloc(1, sizeof(*m));
    if (m != NULL && xy_hash_set(&members, key_of(win), m) != XY_OK) {
        xy_free(m);
        return NULL;
    }
    return m;
}

static what_t what_of(const char *call)
{
    if (strncmp(call, "MPI_Put", 7) == 0 || strncmp(call, "MPI_Rput", 8) == 0)
        return WRITE;
    if (strcmp(call, "MPI_Get") == 0 || strcmp(call, "MPI_Get_c") == 0 ||
        strncmp(call, "MPI_Rget", 8) == 0)
        return strncmp(call, "MPI_Rget_", 9) == 0 && call[9] == 'a' ? UPDATE : READ;
    return UPDATE;
}

/* May both happen in any order? What is in the list is not over. */
static bool is_open(const access_t *a, const access_t *b)
{
    return a->window == b->window && a->epoch == b->epoch &&
           (a->epoch != FENCES || a->turn == b->turn);
}

/* Operations that compute: others, MPI_REPLACE among them, are used together in algorithms. */
static bool computes(const access_t *a)
{
    return a->op != NULL && a->op->kind != XMPI_OP_KIND_REPLACE &&
           a->op->kind != XMPI_OP_KIND_NO_OP;
}

/* Accumulates of one origin are done in their order. */
static bool has_other_operation(const access_t *a, const access_t *b)
{
    return computes(a) && computes(b) && a->op->kind != b->op->kind && a->origin != b->origin;
}

static bool is_conflict(const access_t *a, const access_t *b)
{
    if (a->target != b->target || !is_open(a, b))
        return false;
    if (a->what == b->what && a->what != WRITE && !has_other_operation(a, b))
        return false;
    return check_area_overlaps(&a->area, &b->area);
}

static const char *place_of(const void *site, char text[160])
{
    mpi_caller_describe(site, text, 160);
    return text[0] != '\0' ? text : "at a place that is not known";
}

static const char *cure_of(const access_t *now, const access_t *before)
{
    if (now->what == UPDATE && before->what == UPDATE)
        return "accumulates that meet must have the same operation";
    if (now->epoch == FENCES)
        return "put MPI_Win_fence between them, or use MPI_Accumulate";
    if (now->epoch == LOCKS && now->origin != before->origin)
        return "lock it exclusively, or use MPI_Accumulate";
    return "put a flush or the end of the epoch between them, or use MPI_Accumulate";
}

static void report_conflict(access_t *now, access_t *before, const mpi_win_t *win)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = now->origin,
                             .other = before->origin,
                             .sites = {now->site, before->site}};
    const char *low = now->area.low > before->area.low ? now->area.low : before->area.low;
    char here[160], there[160], by[48] = "", byte[64] = "";

    now->is_told = before->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    if (before->origin != now->origin)
        snprintf(by, sizeof(by), " of rank %d", before->origin);
    if (win->shared->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        snprintf(byte, sizeof(byte), " (byte %lld of its window)",
                 (long long)(low - win->shared->places[now->target].base));
    mpi_finding_add(&finding, "%s %s and %s%s %s use the same memory of rank %d in one epoch%s; %s",
                    now->call, place_of(now->site, here), before->call, by,
                    place_of(before->site, there), mpi_comm_world_rank(win->comm, now->target),
                    byte, cure_of(now, before));
}

static epoch_t epoch_of(const mpi_win_t *win)
{
    return win->access <= RMA_ACCESS_FENCE_USED ? FENCES
           : win->access == RMA_ACCESS_START    ? GROUPS
                                                : LOCKS;
}

static void on_operation(mpi_rank_t *self, mpi_win_t *win, int target, const void *address,
                         int64_t count, mpi_type_t *type, const mpi_op_t *op)
{
    const member_t *member = member_of(win);
    access_t now = {.window = win->comm->context,
                    .epoch = epoch_of(win),
                    .op = op,
                    .origin = self->world,
                    .target = target,
                    .what = what_of(self->call.name),
                    .area = check_area_make(address, count, type),
                    .type = type,
                    .call = self->call.name,
                    .site = self->call.caller};

    if (now.area.low == now.area.high || member == NULL)
        return;
    now.turn = member->fences;
    for (size_t i = 0; i < list.count; i++)
        if (is_conflict(at(i), &now)) {
            report_conflict(&now, at(i), win);
            break;
        }
    now.hash = check_area_hash(&now.area);
    if (xy_vec_append(&list, &now) == XY_OK) /* else it is not compared */
        mpi_type_hold(type);
}

/* The owner of the memory has stored to what another has put there, before that was over. */
static void report_store(access_t *a, const mpi_win_t *win)
{
    int owner = mpi_comm_world_rank(win->comm, a->target);
    const mpi_rank_t *self = win->owner;
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = owner,
                             .other = a->origin,
                             .sites = {self->call.caller, a->site}};
    char here[160], there[160], by[48] = "";

    a->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    if (self->world != owner)
        snprintf(by, sizeof(by), " of rank %d", self->world);
    mpi_finding_add(&finding,
                    "its own code has changed memory of its window that %s of rank %d %s wrote to, "
                    "before %s%s %s",
                    a->call, a->origin, place_of(a->site, there), self->call.name, by,
                    place_of(self->call.caller, here));
}

static void look_for_store(access_t *a, const mpi_win_t *win)
{
    if (a->what == WRITE && !a->is_told && check_area_hash(&a->area) != a->hash)
        report_store(a, win);
}

typedef bool (*is_over_fn)(const access_t *a, const mpi_win_t *win, uint32_t turn);

/* Between the fence that began this turn and the next, at this target. */
static bool is_fenced_here(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    return a->epoch == FENCES && a->turn == turn && a->target == win->rank;
}

/* Before the fence that began this turn: over for all. */
static bool is_fenced_before(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    (void)win;
    return a->epoch == FENCES && a->turn < turn;
}

static bool is_exposed_here(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    (void)turn;
    return a->epoch == GROUPS && a->target == win->rank;
}

static bool is_locked_by(const access_t *a, const mpi_win_t *win, uint32_t turn)
{
    (void)turn;
    return a->epoch == LOCKS && a->origin == win->owner->world;
}

static void look(const mpi_win_t *win, uint32_t turn, is_over_fn is_over)
{
    for (size_t i = 0; i < list.count; i++)
        if (at(i)->window == win->comm->context && is_over(at(i), win, turn))
            look_for_store(at(i), win);
}

static void forget(const mpi_win_t *win, uint32_t turn, is_over_fn is_over)
{
    size_t kept = 0;

    for (size_t i = 0; i < list.count; i++) {
        const access_t *a = at(i);

        if (a->window == win->comm->context && is_over(a, win, turn))
            mpi_type_release(a->type);
        else
            *at(kept++) = *a;
    }
    while (list.count > kept)
        xy_vec_pop(&list);
}

/* The member has completed its operations: at a fence all members do. */
static void on_settle(mpi_win_t *win)
{
    member_t *member = member_of(win);

    if (member == NULL)
        return;
    forget(win, member->fences, is_fenced_before);
    if (epoch_of(win) == FENCES)
        look(win, member->fences++, is_fenced_here);
    look(win, 0, is_locked_by);
    forget(win, 0, is_locked_by);
}

static void on_exposed(mpi_win_t *win)
{
    look(win, 0, is_exposed_here);
    forget(win, 0, is_exposed_here);
}

void check_conflicts_begin(void)
{
    static const rma_watch_t watch = {
        .operation = on_operation, .settle = on_settle, .exposed = on_exposed};

    xy_hash_init(&members, XY_HASH_U64);
    for (int r = 0; r < mpi_job->size; r++)
        mpi_job->ranks[r].is_watched = true;
    rma_watch = &watch;
}
