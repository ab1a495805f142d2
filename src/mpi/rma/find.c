/* SPDX-License-Identifier: BSD-3-Clause */
/* Find an operation's epoch and the memory of its target. */
#include <string.h>

#include "mpi/rma/calls.h"
#include "mpi/rma/far.h"
#include "mpi/virtual/virtual.h"

int mpi_win_refuse(MPI_Win handle)
{
    return mpi_error(NULL, MPI_ERR_WIN, "the window is %s",
                     handle == MPI_WIN_NULL ? "MPI_WIN_NULL: it was not made, or has been freed"
                                            : "not a window");
}

int mpi_win_refuse_null(const char *name, const void *site, MPI_Win handle, const char *argument)
{
    mpi_rank_t *self = mpi_enter_any(name, site);
    mpi_win_t *win = self && mpi_phase_is_running(self->phase) ? mpi_win_of(handle) : NULL;

    return mpi_leave_any(self, mpi_error_null_on(win ? win->comm : NULL, argument));
}

/* ---- Epochs ---- */

const char *rma_access_name(const mpi_win_t *win)
{
    static const char *const names[] = {
        [RMA_ACCESS_NONE] = "no epoch",
        [RMA_ACCESS_FENCE] = "the epoch after MPI_Win_fence",
        [RMA_ACCESS_FENCE_USED] =
            "the epoch after MPI_Win_fence, with operations that a fence has to complete,",
        [RMA_ACCESS_START] = "an access epoch of MPI_Win_start",
        [RMA_ACCESS_LOCK] = "an access epoch of MPI_Win_lock",
        [RMA_ACCESS_LOCK_ALL] = "an access epoch of MPI_Win_lock_all",
    };

    return names[win->access];
}

static int refuse_rank(mpi_win_t *win, int target)
{
    return mpi_error(win->comm, MPI_ERR_RANK, "the target is rank %d; the window has ranks 0 to %d",
                     mpi_number_passed(target), win->size - 1);
}

int rma_refuse_access(mpi_win_t *win, int target)
{
    if ((unsigned)target >= (unsigned)win->size)
        return refuse_rank(win, target);
    if (win->access == RMA_ACCESS_START)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "rank %d is not in the group of MPI_Win_start, whose epoch is open",
                         target);
    if (win->access == RMA_ACCESS_LOCK)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "rank %d is not locked by this rank, which has locked others", target);
    return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                     "no epoch is open; MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
                     "MPI_Win_lock_all opens one");
}

int rma_check_passive(mpi_win_t *win, int target)
{
    if ((unsigned)target >= (unsigned)win->size)
        return refuse_rank(win, target);
    if (win->access == RMA_ACCESS_LOCK_ALL ||
        (win->access == RMA_ACCESS_LOCK && rma_is_reached(win, target)))
        return MPI_SUCCESS;
    if (win->access == RMA_ACCESS_LOCK)
        return rma_refuse_access(win, target);
    return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                     "rank %d is not locked: this call needs an epoch of MPI_Win_lock or "
                     "MPI_Win_lock_all",
                     target);
}

xy_status_t rma_reach(mpi_win_t *win, int target)
{
    if (win->reached == NULL)
        win->reached = xy_calloc(((size_t)win->size + 63) / 64, sizeof(*win->reached));
    if (win->reached == NULL)
        return XY_ENOMEM;
    win->reached[target / 64] |= UINT64_C(1) << (target % 64);
    return XY_OK;
}

void rma_unreach(mpi_win_t *win, int target)
{
    win->reached[target / 64] &= ~(UINT64_C(1) << (target % 64));
}

/* ---- The end of operations ---- */

const rma_watch_t *rma_watch;

void rma_settle(mpi_win_t *win, int target, bool is_local)
{
    if (__builtin_expect(rma_watch != NULL, 0))
        rma_watch->settle(win, target, is_local);
    if (__builtin_expect(mpi_job->clock != NULL, 0) && win->over > 0) {
        mpi_virtual_until(win->owner, win->over);
        win->over = 0;
    }
}

/* ---- Memory ---- */

/* The bytes that `count` elements of `type` occupy, relative to their address: [*low, *high).
 * False: beyond what numbers hold. */
static bool find_range(int64_t count, const mpi_type_t *type, MPI_Aint *low, MPI_Aint *high)
{
    MPI_Aint last;

    *low = type->true_lb;
    if (__builtin_mul_overflow((MPI_Aint)(count - 1), type->extent, &last) ||
        __builtin_add_overflow(type->true_lb, type->true_extent, high))
        return false;
    return last < 0 ? !__builtin_add_overflow(*low, last, low)
                    : !__builtin_add_overflow(*high, last, high);
}

static int refuse_range(mpi_win_t *win, int target, MPI_Aint disp, int64_t count,
                        const mpi_type_t *type)
{
    const rma_place_t *place = rma_place_of(win, target);

    return mpi_error(win->comm, MPI_ERR_RMA_RANGE,
                     "%lld x %s at displacement %lld (in units of %lld bytes) is not inside the "
                     "%lld bytes of rank %d",
                     (long long)count, mpi_type_name(type), (long long)disp, (long long)place->unit,
                     (long long)place->size, target);
}

static int refuse_address(mpi_win_t *win, int target, MPI_Aint disp, int64_t count,
                          const mpi_type_t *type)
{
    return mpi_error(win->comm, MPI_ERR_RMA_RANGE,
                     "%lld x %s at address 0x%llx: that is not memory that rank %d has attached",
                     (long long)count, mpi_type_name(type), (unsigned long long)disp, target);
}

/* How far the memory around `from` is attached, as one past its last byte; 0: it is not. Regions
 * that touch are one. */
static uintptr_t attached_until(const rma_target_t *t, uintptr_t from)
{
    uintptr_t end = 0;

    for (size_t i = 0; i < t->regions.count; i++) {
        const rma_region_t *region = &XY_VEC_AT(&t->regions, rma_region_t, i);
        uintptr_t base = (uintptr_t)region->base;

        if (end == 0 ? base <= from && from < base + (uintptr_t)region->size : base == end)
            end = base + (uintptr_t)region->size;
        else if (end != 0)
            break;
    }
    return end;
}

bool rma_is_attached(rma_target_t *t, uintptr_t from, uintptr_t to, bool has_holes)
{
    uintptr_t end;

    rma_guard_acquire(&t->regions_guard);
    end = attached_until(t, from);
    if (end != 0 && end < to && has_holes)
        end = attached_until(t, to - 1);
    rma_guard_release(&t->regions_guard);
    return end >= to;
}

static bool is_attached(mpi_win_t *win, int target, MPI_Aint low, MPI_Aint high, bool has_holes)
{
    if (rma_is_far(win, target))
        return rma_far_is_attached(win, target, (uint64_t)low, (uint64_t)high, has_holes);
    return rma_is_attached(&win->shared->targets[target], (uintptr_t)low, (uintptr_t)high,
                           has_holes);
}

/* The same in a dynamic window, whose displacements are addresses. */
static int find_dynamic(mpi_win_t *win, int target, MPI_Aint disp, int64_t count,
                        const mpi_type_t *type, char **address_p)
{
    MPI_Aint low, high;
    int error;

    if (!find_range(count, type, &low, &high) || __builtin_add_overflow(disp, low, &low) ||
        __builtin_add_overflow(disp, high, &high) ||
        !is_attached(win, target, low, high, !mpi_type_is_contiguous(type))) {
        error = rma_survive_check(win, target);
        return error != MPI_SUCCESS ? error : refuse_address(win, target, disp, count, type);
    }
    *address_p = (char *)(intptr_t)disp;
    return MPI_SUCCESS;
}

int rma_find(mpi_win_t *win, int target, MPI_Aint disp, int64_t count, const mpi_type_t *type,
             char **address_p)
{
    const rma_place_t *place = rma_place_of(win, target);
    MPI_Aint offset, low, high;

    if (count == 0 || type->size == 0) {
        *address_p = place->base;
        return MPI_SUCCESS;
    }
    if (win->shared->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return find_dynamic(win, target, disp, count, type, address_p);
    if (__builtin_mul_overflow(disp, place->unit, &offset) ||
        !find_range(count, type, &low, &high) || __builtin_add_overflow(offset, low, &low) ||
        __builtin_add_overflow(offset, high, &high) || low < 0 || high > place->size)
        return refuse_range(win, target, disp, count, type);
    *address_p = place->base + offset;
    return MPI_SUCCESS;
}

/* ---- Memory that is attached and detached ---- */

static int check_dynamic(MPI_Win handle, const mpi_win_t *win)
{
    if (win == NULL)
        return mpi_win_refuse(handle);
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return mpi_error(win->comm, MPI_ERR_RMA_FLAVOR, "%s was not made by MPI_Win_create_dynamic",
                         win->comm->name);
    return MPI_SUCCESS;
}

/* The first region that ends after `base`. */
static size_t find_region(const rma_target_t *t, const char *base)
{
    size_t i = 0;

    while (i < t->regions.count && XY_VEC_AT(&t->regions, rma_region_t, i).base +
                                           XY_VEC_AT(&t->regions, rma_region_t, i).size <=
                                       base)
        i++;
    return i;
}

/* Keeps them by address. XY_EINVAL: it overlaps another. */
static xy_status_t insert_region(rma_target_t *t, char *base, MPI_Aint size)
{
    size_t i = find_region(t, base);
    rma_region_t *region;

    if (i < t->regions.count && XY_VEC_AT(&t->regions, rma_region_t, i).base < base + size)
        return XY_EINVAL;
    if (xy_vec_push(&t->regions) == NULL)
        return XY_ENOMEM;
    region = &XY_VEC_AT(&t->regions, rma_region_t, i);
    memmove(region + 1, region, (t->regions.count - 1 - i) * sizeof(*region));
    *region = (rma_region_t){base, size};
    return XY_OK;
}

int impl_win_attach(MPI_Win handle, void *base, MPI_Aint size)
{
    mpi_win_t *win = mpi_win_of(handle);
    rma_target_t *t;
    xy_status_t st;
    int error = check_dynamic(handle, win);

    if (error != MPI_SUCCESS)
        return error;
    if (size < 0)
        return mpi_error(win->comm, MPI_ERR_SIZE, "the size is %lld bytes", (long long)size);
    if (size == 0)
        return MPI_SUCCESS;
    if (base == NULL)
        return mpi_error_null(win->comm, "base");
    t = &win->shared->targets[win->rank];
    rma_guard_acquire(&t->regions_guard);
    st = insert_region(t, base, size);
    rma_guard_release(&t->regions_guard);
    if (st == XY_ENOMEM)
        return mpi_error_memory(win->comm, "attached memory");
    if (st != XY_OK)
        return mpi_error(win->comm, MPI_ERR_RMA_ATTACH,
                         "%lld bytes at %p overlap memory that is attached already",
                         (long long)size, base);
    return MPI_SUCCESS;
}

int impl_win_detach(MPI_Win handle, const void *base)
{
    mpi_win_t *win = mpi_win_of(handle);
    rma_target_t *t;
    rma_region_t *region;
    bool is_found;
    int error = check_dynamic(handle, win);
    size_t i;

    if (error != MPI_SUCCESS)
        return error;
    if (base == NULL) /* possible after MPI_Win_attach of no bytes */
        return MPI_SUCCESS;
    t = &win->shared->targets[win->rank];
    rma_guard_acquire(&t->regions_guard);
    i = find_region(t, base);
    is_found = i < t->regions.count && XY_VEC_AT(&t->regions, rma_region_t, i).base == base;
    if (is_found) {
        region = &XY_VEC_AT(&t->regions, rma_region_t, i);
        memmove(region, region + 1, (t->regions.count - 1 - i) * sizeof(*region));
        xy_vec_pop(&t->regions);
    }
    rma_guard_release(&t->regions_guard);
    if (!is_found)
        return mpi_error(win->comm, MPI_ERR_RMA_ATTACH, "no memory was attached at %p", base);
    return MPI_SUCCESS;
}
