/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks do not overlap, so the C library's search tree finds the one that has an address: a byte
 * compares equal to the block around it.
 *
 * Freed blocks wait in a queue before the C library gets them back. Until then no other block has
 * their addresses, and a buffer in one of them is certainly freed.
 */
#include "mpi/check/allocations.h"

#include <malloc.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/check/check.h"
#include "mpi/check/elements.h"
#include "mpi/check/findings.h"

enum { QUEUE = 4096, QUEUED_BYTES = 32 << 20, KEPT_BYTES = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *tree; /* of check_block_t */
static _Atomic uint64_t changes;
static struct {
    void *blocks[QUEUE];
    size_t first, count, bytes;
} queue;

static int compare(const void *a, const void *b)
{
    const check_block_t *x = a, *y = b;

    return x->high <= y->low ? -1 : x->low >= y->high ? 1 : 0;
}

uint64_t check_allocations_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_relaxed);
}

static check_block_t *find(const void *address)
{
    check_block_t key = {.low = address, .high = (const char *)address + 1};
    check_block_t **found = tfind(&key, &tree, compare);

    return found != NULL ? *found : NULL;
}

static void forget(check_block_t *block)
{
    tdelete(block, &tree, compare);
    xy_free(block);
}

void check_allocations_add(void *memory, size_t size, const void *site)
{
    check_block_t *block = memory != NULL ? xy_malloc(sizeof(*block)) : NULL, **there;

    if (block == NULL)
        return;
    *block = (check_block_t){.low = memory,
                             .high = (const char *)memory + (size > 0 ? size : 1),
                             .size = size,
                             .usable = malloc_usable_size(memory),
                             .allocated = site};
    pthread_mutex_lock(&lock);
    block->number = ++changes;
    while ((there = tfind(block, &tree, compare)) != NULL)
        forget(*there); /* the C library has freed it by itself */
    if (tsearch(block, &tree, compare) == NULL)
        xy_free(block);
    pthread_mutex_unlock(&lock);
}

bool check_allocations_remove(const void *memory)
{
    check_block_t *block;

    pthread_mutex_lock(&lock);
    changes++;
    block = find(memory);
    if (block != NULL && block->low == memory && block->freed == NULL)
        forget(block);
    else
        block = NULL;
    pthread_mutex_unlock(&lock);
    return block != NULL;
}

/* The oldest block of the queue, which nobody knows any more; or NULL. With the lock held. */
static void *take_oldest(void)
{
    void *memory = queue.blocks[queue.first];
    check_block_t *block = find(memory);

    queue.first = (queue.first + 1) % QUEUE;
    queue.count--;
    if (block == NULL)
        return NULL;
    queue.bytes -= block->usable;
    forget(block);
    return memory;
}

bool check_allocations_free(const void *memory, const void *site)
{
    check_block_t *block;
    bool waits;

    pthread_mutex_lock(&lock);
    changes++;
    block = find(memory);
    if (block != NULL && block->low == memory && block->freed != NULL) {
        /* Freed twice: the C library is to notice, when the caller frees it. */
        queue.bytes -= block->usable;
        forget(block);
        block = NULL;
        free((void *)(uintptr_t)memory);
    }
    waits = block != NULL && block->low == memory && block->freed == NULL &&
            block->usable <= KEPT_BYTES &&
            malloc_usable_size((void *)(uintptr_t)memory) == block->usable;
    if (waits) {
        while (queue.count == QUEUE || (queue.count > 0 && queue.bytes > QUEUED_BYTES))
            free(take_oldest());
        block->freed = site;
        queue.blocks[(queue.first + queue.count++) % QUEUE] = (void *)(uintptr_t)memory;
        queue.bytes += block->usable;
    } else if (block != NULL && block->low == memory && block->freed == NULL) {
        forget(block);
    }
    pthread_mutex_unlock(&lock);
    return waits;
}

/* The block that has a byte of the range. */
static bool find_in(const char *low, const char *high, check_block_t *block)
{
    check_block_t key = {.low = low, .high = high}, **place, *found;

    pthread_mutex_lock(&lock);
    place = tfind(&key, &tree, compare);
    found = place != NULL ? *place : NULL;
    if (found != NULL && found->freed == NULL &&
        malloc_usable_size((void *)(uintptr_t)found->low) != found->usable) {
        forget(found); /* the C library has resized or freed it by itself */
        found = NULL;
    }
    if (found != NULL)
        *block = *found;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

bool check_allocations_find(const void *address, check_block_t *block)
{
    return find_in(address, (const char *)address + 1, block);
}

/* Does memory that no block has begin where the C library keeps its own words behind a block? */
static bool find_in_front(const char *address, check_block_t *block)
{
    enum { WORDS = 24, HEADER = 8 };

    return find_in(address - WORDS, address, block) &&
           address < block->low + block->usable + HEADER;
}

/* ---- Reports ---- */

/* Report a buffer in memory that was freed. */
static void report_freed(const mpi_rank_t *self, const check_block_t *block, bool is_receive)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_FREED,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, block->freed}};
    char here[160], allocated[160], freed[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(
        &finding, "%s%s %s %s memory that was freed %s: a block of %zu bytes, allocated %s",
        mpi_call_start_of(self->call.name), self->call.name,
        check_place_text(self->call.caller, here), check_area_verb(self->call.name, is_receive),
        check_place_text(block->freed, freed), block->size,
        check_place_text(block->allocated, allocated));
}

/* `what`: "a block of 40 bytes, allocated at ring.c:12". */
static void report_short(const mpi_rank_t *self, const check_area_t *area, const char *end,
                         const char *what, const void *site, bool is_receive)
{
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TOO_SMALL,
                             .rank = self->world,
                             .other = -1,
                             .sites = {self->call.caller, site}};
    char here[160];

    if (mpi_finding_is_known(&finding))
        return;
    mpi_finding_add(
        &finding, "%s%s %s %s %s; its count and datatype reach %lld bytes beyond the end",
        mpi_call_start_of(self->call.name), self->call.name,
        check_place_text(self->call.caller, here), check_area_verb(self->call.name, is_receive),
        what, (long long)(area->high - end));
}

typedef struct {
    const mpi_rank_t *self;
    const check_area_t *area;
    bool is_receive, is_heap_only;
    check_block_t block; /* of the last run */
    check_block_t first; /* of the address that the program has passed */
    mpi_variable_t variable;
} look_t;

/* Report a buffer that is freed or ends behind its block; true if the run lies inside the block. */
static bool report_block(const look_t *look, const char *run, size_t length)
{
    const check_block_t *block = &look->block;
    char what[256], place[160];

    if (block->freed != NULL) {
        report_freed(look->self, block, look->is_receive);
        return false;
    }
    if (run + length <= block->low + block->size)
        return true;
    snprintf(what, sizeof(what), "a block of %zu bytes, allocated %s", block->size,
             check_place_text(block->allocated, place));
    report_short(look->self, look->area, block->low + block->size, what, block->allocated,
                 look->is_receive);
    return false;
}

static bool report_variable(const look_t *look, const char *run, size_t length)
{
    const mpi_variable_t *v = &look->variable;
    char what[256];

    if (run + length <= v->low + v->size)
        return true;
    snprintf(what, sizeof(what), "the variable '%s' of %zu bytes", v->name, v->size);
    report_short(look->self, look->area, v->low + v->size, what, NULL, look->is_receive);
    return false;
}

/* A run in no known block, but just before or behind the one that the buffer lies in. */
static bool report_outside(const look_t *look, const char *run, size_t length)
{
    enum { NEAR = 4096 };
    const check_block_t *block = &look->first;
    const char *end = block->low + block->size;
    mpi_finding_t finding = {.kind = XMPI_FINDING_BUFFER_TOO_SMALL,
                             .rank = look->self->world,
                             .other = -1,
                             .sites = {look->self->call.caller, block->allocated}};
    bool is_before = run < block->low;
    int64_t bytes = is_before ? block->low - run : run + length - end;
    char here[160], place[160];

    if (block->low == NULL || block->freed != NULL || bytes > NEAR)
        return true;
    if (!mpi_finding_is_known(&finding))
        mpi_finding_add(
            &finding,
            "%s%s %s %s a block of %zu bytes, allocated %s; its datatype reaches %lld bytes %s",
            mpi_call_start_of(look->self->call.name), look->self->call.name,
            check_place_text(look->self->call.caller, here),
            check_area_verb(look->self->call.name, look->is_receive), block->size,
            check_place_text(block->allocated, place), (long long)bytes,
            is_before ? "in front of it" : "beyond the end");
    return false;
}

/* Report a buffer on the stack of a function that has returned; `call`: the one that was given it.
 */
static bool report_left(const mpi_rank_t *self, const check_area_t *area, const char *call,
                        const void *site)
{
    mpi_finding_t finding = {
        .kind = XMPI_FINDING_BUFFER_FREED, .rank = self->world, .other = -1, .sites = {site, NULL}};
    char here[160], there[160], when[200] = "";

    if (!check_elements_left(self, area->low))
        return false;
    if (site != self->call.caller)
        snprintf(when, sizeof(when), " before %s %s", self->call.name,
                 check_place_text(self->call.caller, there));
    if (!mpi_finding_is_known(&finding))
        mpi_finding_add(&finding,
                        "the buffer of %s%s %s is a local variable of a function that has "
                        "returned%s",
                        mpi_call_start_of(call), call, check_place_text(site, here), when);
    return true;
}

bool check_allocations_pending(const mpi_rank_t *self, const check_area_t *area, const char *call,
                               const void *site)
{
    check_block_t block;
    mpi_finding_t finding = {
        .kind = XMPI_FINDING_BUFFER_FREED, .rank = self->world, .other = -1, .sites = {site, NULL}};
    char start[160], freed[160], end[160];

    if (!check_allocations_find(area->low, &block) || block.freed == NULL)
        return report_left(self, area, call, site);
    finding.sites[1] = block.freed;
    if (!mpi_finding_is_known(&finding))
        mpi_finding_add(&finding,
                        "the buffer of %s%s %s was freed %s, before %s %s: a block of %zu bytes",
                        mpi_call_start_of(call), call, check_place_text(site, start),
                        check_place_text(block.freed, freed),
                        self->call.name != NULL ? self->call.name : "the end",
                        check_place_text(self->call.caller, end), block.size);
    return true;
}

/* The heap block of a window ends before the bytes that a call uses, or was freed. */
static void report_window(const mpi_rank_t *self, const check_area_t *area, int owner,
                          const check_block_t *block)
{
    bool is_freed = block->freed != NULL;
    mpi_finding_t finding = {
        .kind = is_freed ? XMPI_FINDING_BUFFER_FREED : XMPI_FINDING_BUFFER_TOO_SMALL,
        .rank = self->world,
        .other = owner,
        .sites = {self->call.caller, is_freed ? block->freed : block->allocated}};
    char here[160], allocated[160], freed[160], more[80];

    if (mpi_finding_is_known(&finding))
        return;
    snprintf(more, sizeof(more), "; it ends %lld bytes before the end of the access",
             (long long)(area->high - (block->low + block->size)));
    mpi_finding_add(
        &finding,
        "%s %s uses memory of the window of rank %d%s%s: a block of %zu bytes, allocated %s%s",
        self->call.name, check_place_text(self->call.caller, here), owner,
        is_freed ? " that was freed " : "", is_freed ? check_place_text(block->freed, freed) : "",
        block->size, check_place_text(block->allocated, allocated), is_freed ? "" : more);
}

void check_allocations_window(const mpi_rank_t *self, const check_area_t *area, const char *base,
                              int owner)
{
    check_block_t block;

    if ((check_allocations_find(area->low, &block) || find_in_front(area->low, &block) ||
         (base != NULL && check_allocations_find(base, &block))) &&
        (block.freed != NULL || area->high > block.low + block.size))
        report_window(self, area, owner, &block);
}

/* One run of bytes. False: a report was made, and one is enough. */
static bool look_at(const char *run, size_t length, void *argument)
{
    look_t *look = argument;

    if (look->variable.low != NULL && run >= look->variable.low &&
        run < look->variable.low + look->variable.size)
        return report_variable(look, run, length);
    if ((run >= look->block.low && run < look->block.high) ||
        check_allocations_find(run, &look->block))
        return report_block(look, run, length);
    look->block = (check_block_t){0};
    if (look->first.low == NULL && !find_in_front(run, &look->first))
        look->first = (check_block_t){0};
    if (!report_outside(look, run, length))
        return false;
    return look->is_heap_only ||
           (!check_elements_local(look->self, run, length, &look->variable) &&
            !mpi_caller_variable(run, &look->variable)) ||
           report_variable(look, run, length);
}

void check_allocations_look(const mpi_rank_t *self, const check_area_t *area, bool is_receive,
                            bool is_heap_only)
{
    look_t look = {
        .self = self, .area = area, .is_receive = is_receive, .is_heap_only = is_heap_only};

    if (!is_heap_only && report_left(self, area, self->call.name, self->call.caller))
        return;
    if (area->low != area->buffer && !check_allocations_find(area->buffer, &look.first))
        look.first = (check_block_t){0};
    if (area->type->layout.blocks <= 1) /* an array, perhaps with gaps */
        look_at(area->low, (size_t)(area->high - area->low), &look);
    else /* each part may lie in a variable of its own */
        check_area_each(area, look_at, &look);
}
