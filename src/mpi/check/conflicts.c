/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks run on one worker, so that one list has the operations of all. Between two fences those
 * of all members are compared; in the other epochs, whose order among ranks is not known here,
 * those of one origin. Windows are known by the contexts of their communicators, which are never
 * used again.
 */
#include "mpi/check/conflicts.h"

#include <stdio.h>
#include <string.h>

#include "mpi/check/area.h"
#include "mpi/check/check.h"
#include "mpi/rma/rma.h"

typedef enum { READ, WRITE, UPDATE } what_t;

typedef struct {
    uint32_t window;
    uint32_t turn;  /* fences, or completions, of the origin before */
    bool is_fenced; /* the epoch is one of fences; else of the origin alone */
    int origin, target;
    what_t what;
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
    uint32_t fences, completions;
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

/* May both happen in any order? */
static bool is_open(const access_t *a, const access_t *b)
{
    if (a->window != b->window || a->is_fenced != b->is_fenced || a->turn != b->turn)
        return false;
    return a->is_fenced || a->origin == b->origin;
}

static bool is_conflict(const access_t *a, const access_t *b)
{
    if (a->target != b->target || (a->what == b->what && a->what != WRITE) || !is_open(a, b))
        return false;
    return check_area_overlaps(&a->area, &b->area);
}

static const char *place_of(const void *site, char text[160])
{
    mpi_caller_describe(site, text, 160);
    return text[0] != '\0' ? text : "at a place that is not known";
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
    mpi_finding_add(&finding,
                    "%s %s and %s%s %s use the same memory of rank %d in one epoch%s; put %s "
                    "between them, or use MPI_Accumulate",
                    now->call, place_of(now->site, here), before->call, by,
                    place_of(before->site, there), mpi_comm_world_rank(win->comm, now->target),
                    byte, now->is_fenced ? "MPI_Win_fence" : "a flush or the end of the epoch");
}

static void on_operation(mpi_rank_t *self, mpi_win_t *win, int target, const void *address,
                         int64_t count, mpi_type_t *type)
{
    const member_t *member = member_of(win);
    bool is_fenced = win->access == RMA_ACCESS_FENCE_USED;
    access_t now = {.window = win->comm->context,
                    .is_fenced = is_fenced,
                    .origin = self->world,
                    .target = target,
                    .what = what_of(self->call.name),
                    .area = check_area_make(address, count, type),
                    .type = type,
                    .call = self->call.name,
                    .site = self->call.caller};

    if (now.area.low == now.area.high || member == NULL)
        return;
    now.turn = is_fenced ? member->fences : member->completions;
    for (size_t i = 0; i < list.count; i++)
        if (is_conflict(at(i), &now)) {
            report_conflict(&now, at(i), win);
            break;
        }
    now.hash = check_area_hash(&now.area);
    if (xy_vec_append(&list, &now) == XY_OK) /* else it is not compared */
        mpi_type_hold(type);
}

/* The owner of the memory has stored to what another has put there since the last fence. */
static void report_store(access_t *a, const mpi_rank_t *self)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_RMA_CONFLICT,
                             .rank = self->world,
                             .other = a->origin,
                             .sites = {self->call.caller, a->site}};
    char here[160], there[160];

    a->is_told = true;
    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(&finding,
                    "its own code has changed memory of its window that %s of "
                    "rank %d %s wrote to, "
                    "before %s %s",
                    a->call, a->origin, place_of(a->site, there), self->call.name,
                    place_of(self->call.caller, here));
}

static void look_for_stores(const mpi_win_t *win, uint32_t turn)
{
    for (size_t i = 0; i < list.count; i++)
        if (at(i)->window == win->comm->context && at(i)->target == win->rank && at(i)->is_fenced &&
            at(i)->what == WRITE && !at(i)->is_told && at(i)->turn == turn &&
            check_area_hash(&at(i)->area) != at(i)->hash)
            report_store(at(i), win->owner);
}

/* What was done before the fence that began this turn is over for all; of the epochs of the member
 * alone, all. */
static void forget(const mpi_win_t *win, uint32_t turn)
{
    size_t kept = 0;

    for (size_t i = 0; i < list.count; i++) {
        const access_t *a = at(i);
        bool is_over = a->window == win->comm->context &&
                       (a->is_fenced ? a->turn < turn : a->origin == win->owner->world);

        if (is_over)
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
    forget(win, member->fences);
    if (win->access <= RMA_ACCESS_FENCE_USED)
        look_for_stores(win, member->fences++);
    else
        member->completions++;
}

void check_conflicts_begin(void)
{
    static const rma_watch_t watch = {.operation = on_operation, .settle = on_settle};

    xy_hash_init(&members, XY_HASH_U64);
    for (int r = 0; r < mpi_job->size; r++)
        mpi_job->ranks[r].is_watched = true;
    rma_watch = &watch;
}
