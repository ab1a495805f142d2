/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Freed blocks wait in a queue before the C library gets them back. Until then no other block has
 * their addresses, and a buffer in one of them is certainly freed.
 *
 * The C library gives each thread a heap of its own, of 64 MiB at a multiple of 64 MiB. So threads
 * seldom meet where each such part of the addresses has a lock.
 */
#include "mpi/check/allocations.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/check/check.h"
#include "mpi/check/elements.h"
#include "mpi/check/findings.h"
#include "mpi/check/span.h"

enum { PARTS = 16, PART_BITS = 26, SPREAD = PARTS }; /* SPREAD: of blocks in several parts */
enum { CELL_BITS = 7, CELLS = 16384 };               /* of the addresses of small blocks */
enum { QUEUE = 2048, QUEUED_BYTES = 8 << 20, KEPT_BYTES = 1 << 20, AT_ONCE = 4 };

typedef struct known {
    check_span_t span; /* first */
    check_block_t block;
    struct known *next; /* of a cell, or of those that are free */
} known_t;

/* Blocks do not overlap. Small ones are in the list of the cell of their first byte, others in a
 * tree: most blocks are small, and lists are short. */
static struct {
    _Alignas(64) pthread_mutex_t lock;
    known_t *cells[CELLS]; /* [number of the cell % CELLS] */
    check_spans_t spans;   /* of known_t */
    known_t *spare;
    void *queue[QUEUE];
    size_t first, count, bytes;
} parts[PARTS + 1] = {[0 ... PARTS] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static _Atomic uint64_t changes;
static _Atomic bool has_spread;

uint64_t check_allocations_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_relaxed);
}

static int part_of(const char *address)
{
    return (int)(xy_hash_u64((uintptr_t)address >> PART_BITS) % PARTS);
}

/* Where a block is. */
static int part_of_block(const char *low, const char *high)
{
    return (uintptr_t)low >> PART_BITS == (uintptr_t)(high - 1) >> PART_BITS ? part_of(low)
                                                                             : SPREAD;
}

static bool is_small(const char *low, const char *high)
{
    return high - low <= 1 << CELL_BITS;
}

/* The list of small blocks that begin there. */
static known_t **cell_of(int part, const char *low)
{
    return &parts[part].cells[((uintptr_t)low >> CELL_BITS) % CELLS];
}

/* A small block begins in the cell of the byte or in the one before. */
static known_t *find_small(int part, const char *low, const char *high)
{
    uintptr_t cell = (uintptr_t)low >> CELL_BITS, end = ((uintptr_t)(high - 1) >> CELL_BITS) + 1;

    for (uintptr_t i = cell - 1; i < end && i - cell + 1 < CELLS; i++)
        for (known_t *k = parts[part].cells[i % CELLS]; k != NULL; k = k->next)
            if (k->block.low < high && k->block.high > low)
                return k;
    return NULL;
}

/* With the lock held. */
static void insert(int part, known_t *known)
{
    known_t **cell = cell_of(part, known->block.low);

    if (!is_small(known->block.low, known->block.high)) {
        known->span = (check_span_t){.low = known->block.low, .high = known->block.high};
        check_spans_add(&parts[part].spans, &known->span);
        return;
    }
    known->next = *cell;
    *cell = known;
}

/* With the lock held. */
static void forget(int part, known_t *known)
{
    known_t **link = cell_of(part, known->block.low);

    if (!is_small(known->block.low, known->block.high)) {
        check_spans_remove(&parts[part].spans, &known->span);
    } else {
        while (*link != known)
            link = &(*link)->next;
        *link = known->next;
    }
    known->next = parts[part].spare;
    parts[part].spare = known;
}

/* Blocks of the part with a byte of the range; with its lock held. Of two that overlap, the C
 * library has freed the older one by itself. */
static known_t *find(int part, const char *low, const char *high)
{
    known_t *small = find_small(part, low, high);
    known_t *large = (known_t *)check_spans_find(parts[part].spans, low, high);
    known_t *older;

    if (small == NULL || large == NULL)
        return small != NULL ? small : large;
    if (small->block.low >= large->block.high || large->block.low >= small->block.high)
        return small;
    older = small->block.number < large->block.number ? small : large;
    forget(part, older);
    return older == small ? large : small;
}

/* The C library has freed blocks of this range by itself. */
static void forget_range(int part, const char *low, const char *high)
{
    known_t *known;

    pthread_mutex_lock(&parts[part].lock);
    while ((known = find(part, low, high)) != NULL)
        forget(part, known);
    pthread_mutex_unlock(&parts[part].lock);
}

/* The same for a new block there. Small ones in a large one are many cells to look at: `find` will
 * forget them. */
static known_t *find_older(int part, const char *low, const char *high)
{
    return is_small(low, high) ? find(part, low, high)
                               : (known_t *)check_spans_find(parts[part].spans, low, high);
}

static known_t *new_known(int part)
{
    known_t *known = parts[part].spare;

    if (known == NULL)
        return xy_malloc(sizeof(*known));
    parts[part].spare = known->next;
    return known;
}

void check_allocations_add(void *memory, size_t size, const void *site)
{
    const char *low = memory, *high = low + (size > 0 ? size : 1);
    int part = part_of_block(low, high);
    known_t *known;

    if (memory == NULL)
        return;
    for (int other = 0; part == SPREAD && other < PARTS; other++)
        forget_range(other, low, high);
    if (part == SPREAD)
        has_spread = true;
    else if (has_spread)
        forget_range(SPREAD, low, high);
    pthread_mutex_lock(&parts[part].lock);
    while ((known = find_older(part, low, high)) != NULL)
        forget(part, known);
    known = new_known(part);
    if (known != NULL) {
        known->block = (check_block_t){.low = low,
                                       .high = high,
                                       .size = size,
                                       .usable = malloc_usable_size(memory),
                                       .allocated = site,
                                       .number = ++changes};
        insert(part, known);
    }
    pthread_mutex_unlock(&parts[part].lock);
}

/* The block that begins there; its part is locked then. NULL: none does. */
static known_t *lock_block(const void *memory, int *part_p)
{
    const char *low = memory;

    for (int i = 0; i < 1 + has_spread; i++) {
        int part = i == 0 ? part_of(low) : SPREAD;
        known_t *known;

        pthread_mutex_lock(&parts[part].lock);
        known = find(part, low, low + 1);
        *part_p = part;
        if (known != NULL && known->block.low == low)
            return known;
        pthread_mutex_unlock(&parts[part].lock);
    }
    return NULL;
}

bool check_allocations_remove(const void *memory)
{
    int part;
    known_t *known = lock_block(memory, &part);
    bool is_used = known != NULL && known->block.freed == NULL;

    changes++;
    if (is_used)
        forget(part, known);
    if (known != NULL)
        pthread_mutex_unlock(&parts[part].lock);
    return is_used;
}

/* The oldest block of the queue, which nobody knows any more; or NULL. With the lock held. */
static void *take_oldest(int part)
{
    char *memory = parts[part].queue[parts[part].first];
    known_t *known = find(part, memory, memory + 1);

    parts[part].first = (parts[part].first + 1) % QUEUE;
    parts[part].count--;
    if (known == NULL)
        return NULL;
    parts[part].bytes -= known->block.usable;
    forget(part, known);
    return memory;
}

/* Free it later, and the oldest ones, which are in `old`, now. With the lock held. */
static void queue(int part, known_t *known, void *old[AT_ONCE])
{
    for (int i = 0; i < AT_ONCE; i++)
        old[i] = parts[part].count == QUEUE ||
                         (parts[part].count > 0 && parts[part].bytes > QUEUED_BYTES)
                     ? take_oldest(part)
                     : NULL;
    parts[part].queue[(parts[part].first + parts[part].count++) % QUEUE] =
        (void *)(uintptr_t)known->block.low;
    parts[part].bytes += known->block.usable;
}

bool check_allocations_free(const void *memory, const void *site)
{
    void *old[AT_ONCE] = {NULL}, *twice = NULL;
    int part;
    known_t *known = lock_block(memory, &part);
    bool waits = false;

    changes++;
    if (known == NULL)
        return false;
    if (known->block.freed != NULL) {
        /* Freed twice: the C library is to notice, when the caller frees it. */
        parts[part].bytes -= known->block.usable;
        twice = (void *)(uintptr_t)memory;
    } else if (known->block.usable <= KEPT_BYTES &&
               malloc_usable_size((void *)(uintptr_t)memory) == known->block.usable) {
        known->block.freed = site;
        queue(part, known, old);
        waits = true;
    }
    if (!waits)
        forget(part, known);
    pthread_mutex_unlock(&parts[part].lock);
    for (int i = 0; i < AT_ONCE; i++)
        free(old[i]);
    free(twice);
    return waits;
}

/* A copy of the block of a part that has a byte of the range. False: the part has none. */
static bool find_in_part(int part, const char *low, const char *high, check_block_t *block)
{
    known_t *known;

    pthread_mutex_lock(&parts[part].lock);
    known = find(part, low, high);
    if (known != NULL && known->block.freed == NULL &&
        malloc_usable_size((void *)(uintptr_t)known->block.low) != known->block.usable) {
        forget(part, known); /* the C library has resized or freed it by itself */
        known = NULL;
    }
    if (known != NULL)
        *block = known->block;
    pthread_mutex_unlock(&parts[part].lock);
    return known != NULL;
}

/* The block that has a byte of the range. */
static bool find_in(const char *low, const char *high, check_block_t *block)
{
    int first = part_of(low), last = part_of(high - 1);

    return find_in_part(first, low, high, block) ||
           (last != first && find_in_part(last, low, high, block)) ||
           (has_spread && find_in_part(SPREAD, low, high, block));
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

bool check_allocations_look(const mpi_rank_t *self, const check_area_t *area, bool is_receive,
                            bool is_heap_only)
{
    look_t look = {
        .self = self, .area = area, .is_receive = is_receive, .is_heap_only = is_heap_only};

    if (!is_heap_only && report_left(self, area, self->call.name, self->call.caller))
        return false;
    if (area->low != area->buffer && !check_allocations_find(area->buffer, &look.first))
        look.first = (check_block_t){0};
    if (area->type->layout.blocks <= 1) /* an array, perhaps with gaps */
        look_at(area->low, (size_t)(area->high - area->low), &look);
    else /* each part may lie in a variable of its own */
        check_area_each(area, look_at, &look);
    return area->low >= look.block.low && area->high <= look.block.high;
}
