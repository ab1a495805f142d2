/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks. They are cut from slabs, large mappings that cost address space only: a page of a stack
 * comes into being when it is touched. Below each stack lies its guard:
 *
 *   | guard | stack 0 ........ | guard | stack 1 ........ |        (addresses grow to the right)
 *
 * A frame that is larger than the guard could jump over it, into the stack below. Guards are as
 * large as the kernel's own below the stack of a process, 1 MiB, or an eighth of a smaller stack;
 * code that was compiled with -fstack-clash-protection, as mpicc does, touches every page on its
 * way and never jumps; and what has jumped is noticed at the next switch (worker.c).
 *
 * The kernel allows a process 65530 mappings by default (vm.max_map_count). Guards made by
 * MADV_GUARD_INSTALL (Linux 6.13) are marks in the page table and cost none; guards made by
 * mprotect cost two per stack. A page table covers 2 MiB: large stacks are laid out so that a guard
 * and the top of the stack below it, which is in use, share one. Ended fibers' stacks are used
 * again, last in first out: the one still in the cache comes first.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fiber/fiber_private.h"
#include "fiber/sanitize.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
    GUARD_LEAST = 64 << 10,
    GUARD_MOST = 1 << 20,
    TABLE_BYTES = 2 << 20, /* range of a page table, with pages of 4 KiB */
    SLAB_FIRST = 4,
    SLAB_LARGEST = 64,
    COLOURS = 8, /* tops of stacks fall on different cache sets: */
    COLOUR_BYTES = 256
};

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static size_t guard_size(size_t stack)
{
    size_t guard = stack / 8 > GUARD_LEAST ? stack / 8 : GUARD_LEAST;

    guard = guard < GUARD_MOST ? guard : GUARD_MOST;
    return round_up(guard, (size_t)sysconf(_SC_PAGESIZE));
}

/* From one stack to the next. */
static size_t stride_of(size_t stack, size_t guard)
{
    return guard < GUARD_MOST ? stack + guard : round_up(stack + guard, TABLE_BYTES);
}

/* Does the kernel refuse to write there? Emulators accept advice they do not know, so the answer of
 * madvise is not enough. */
static bool is_guarded(void *p)
{
    return syscall(SYS_getrandom, p, 1, 0) < 0 && errno == EFAULT;
}

/* Install a guard by madvise; false, then and for all later guards, on kernels without
 * MADV_GUARD_INSTALL. */
static bool guard_by_advice(char *guard, size_t bytes)
{
    static _Atomic int works = -1; /* -1: not tried yet */
    int known = atomic_load_explicit(&works, memory_order_relaxed);

    if (known == 0)
        return false;
    if (madvise(guard, bytes, MADV_GUARD_INSTALL) != 0 || (known < 0 && !is_guarded(guard))) {
        atomic_store_explicit(&works, 0, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&works, 1, memory_order_relaxed);
    return true;
}

/* Report that stacks do not fit into the address space, with the limit of the process if it has
 * one. */
static xy_status_t fail_map(size_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return xy_fail(XY_ENOMEM,
                       "no address space for %zu MiB of stacks; the limit is %zu MiB: raise it "
                       "(ulimit -v unlimited) or choose smaller stacks",
                       bytes >> 20, (size_t)limit.rlim_cur >> 20);
    return xy_fail(XY_ENOMEM,
                   "no address space for %zu MiB of stacks; choose smaller stacks, raise "
                   "vm.max_map_count, or set vm.overcommit_memory to 0 or 1 (sysctl)",
                   bytes >> 20);
}

static xy_status_t slab_map(size_t bytes, char **base_p)
{
    char *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (base == (char *)MAP_FAILED)
        return fail_map(bytes);
    /* A huge page per stack would turn 4 KiB of touched memory into 2 MiB. Kernels without huge
     * pages refuse the advice; nothing is lost then. */
    madvise(base, bytes, MADV_NOHUGEPAGE);
    *base_p = base;
    return XY_OK;
}

static xy_status_t slab_guard(fiber_slab_t *slab, size_t stride, size_t guard)
{
    for (int i = 0; i < slab->count; i++) {
        char *p = slab->first + (size_t)i * stride;

        if (!guard_by_advice(p, guard) && mprotect(p, guard, PROT_NONE) != 0)
            return xy_fail(XY_ELIMIT,
                           "cannot guard a stack: the kernel's limit on mappings is reached; raise "
                           "it (sysctl vm.max_map_count=1000000) or start fewer fibers");
    }
    return XY_OK;
}

/* Put the stacks of a mapped slab on the free list and the slab on the list of slabs. */
static void slab_cut(fiber_stacks_t *stacks, fiber_slab_t *slab, size_t stride, size_t guard)
{
    /* Backwards, so that the free list hands them out upwards. */
    for (int i = slab->count - 1; i >= 0; i--) {
        fiber_stack_t *stack = &slab->stacks[i];

        stack->guard = slab->first + (size_t)i * stride;
        stack->low = stack->guard + guard;
        stack->high = stack->guard + stride;
        stack->high -= (stacks->made + i) % COLOURS * COLOUR_BYTES;
        stack->used_before = false;
        stack->valgrind_id = fiber_sanitize_stack_begin(stack->low, stack->high);
        stack->next = stacks->free;
        stacks->free = stack;
    }
    stacks->made += slab->count;
    slab->next = stacks->slabs;
    stacks->slabs = slab;
}

/* Map a slab of stacks with their guards and put them on the free list; slabs grow with the number
 * of stacks made. */
static xy_status_t slab_create(fiber_stacks_t *stacks)
{
    size_t guard = guard_size(stacks->size), stride = stride_of(stacks->size, guard);
    size_t spare = guard < GUARD_MOST ? 0 : TABLE_BYTES;
    int count = stacks->made < SLAB_FIRST     ? SLAB_FIRST
                : stacks->made > SLAB_LARGEST ? SLAB_LARGEST
                                              : stacks->made;
    fiber_slab_t *slab = xy_malloc(sizeof(*slab) + (size_t)count * sizeof(slab->stacks[0]));
    xy_status_t st;

    if (slab == NULL)
        return xy_fail_memory("making stacks");
    slab->count = count;
    slab->bytes = (size_t)count * stride + spare;
    st = slab_map(slab->bytes, &slab->base);
    if (st != XY_OK)
        goto free_slab;
    slab->first = slab->base;
    if (spare > 0) /* the upper half of a page table's range */
        slab->first = slab->base + (TABLE_BYTES / 2 - (uintptr_t)slab->base) % TABLE_BYTES;
    st = slab_guard(slab, stride, guard);
    if (st != XY_OK)
        goto unmap;
    slab_cut(stacks, slab, stride, guard);
    return XY_OK;

unmap:
    munmap(slab->base, slab->bytes);
free_slab:
    xy_free(slab);
    return st;
}

xy_status_t fiber_stack_get(fiber_stacks_t *stacks, fiber_stack_t **stack_p)
{
    fiber_stack_t *stack;

    if (stacks->free == NULL) {
        xy_status_t st = slab_create(stacks);

        if (st != XY_OK)
            return st;
    }
    stack = stacks->free;
    stacks->free = stack->next;
    if (stack->used_before)
        fiber_sanitize_stack_clear(stack->low, stack->high);
    stack->used_before = true;
    *stack_p = stack;
    return XY_OK;
}

bool fiber_stacks_contain(const fiber_stacks_t *stacks, const void *address)
{
    const char *p = address;

    for (const fiber_slab_t *slab = stacks->slabs; slab != NULL; slab = slab->next)
        if (p >= slab->base && p < slab->base + slab->bytes)
            return true;
    return false;
}

void fiber_stack_put(fiber_stacks_t *stacks, fiber_stack_t *stack)
{
    stack->next = stacks->free;
    stacks->free = stack;
}

void fiber_stacks_cleanup(fiber_stacks_t *stacks)
{
    for (fiber_slab_t *slab = stacks->slabs, *next; slab != NULL; slab = next) {
        next = slab->next;
        for (int i = 0; i < slab->count; i++) {
            fiber_stack_t *stack = &slab->stacks[i];

            fiber_sanitize_stack_end(stack->valgrind_id);
            if (stack->used_before)
                fiber_sanitize_stack_clear(stack->low, stack->high);
        }
        munmap(slab->base, slab->bytes);
        xy_free(slab);
    }
    *stacks = (fiber_stacks_t){.size = stacks->size};
}
