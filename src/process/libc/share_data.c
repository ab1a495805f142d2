/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --share-data: large blocks that all processes allocate are one block. The n-th block of a size
 * that a process allocates at one place of the program is the same memory for every process; it is
 * freed when all that have it have freed it. What processes write there they write to each other:
 * results are wrong by design, and times in virtual time are those of a program that does not look
 * at its data.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/libc.h"
#include "process/libc/share_data.h"

enum { PAGE = 4096 };

typedef struct {
    uint64_t site, size, number; /* where in the program, bytes, which of them */
    char *memory;                /* NULL: no process has it */
    long users;
} block_t;

static struct {
    pthread_mutex_t lock;
    size_t least;         /* bytes */
    xy_hash_t numbers;    /* of process, site and size: blocks so far */
    xy_hash_t by_site;    /* of site, size and number: block_t */
    xy_hash_t by_address; /* that a block has or had */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .numbers = {.kind = XY_HASH_U64},
         .by_site = {.kind = XY_HASH_U64},
         .by_address = {.kind = XY_HASH_U64}};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2)));

    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    return (x ^ x >> 33) | 1; /* 0 is no key */
}

static bool is_large(size_t size)
{
    return size >= all.least && process_is_main();
}

/* The same for all processes: from the beginning of the image. */
static uint64_t site_of(const void *caller)
{
    const char *image = process_self->image;
    size_t stride = process_self->program->stride;
    const char *at = caller;

    return at >= image && at < image + stride ? (uint64_t)(at - image) : (uint64_t)(uintptr_t)at;
}

static uintptr_t next_number(uint64_t site, size_t size)
{
    uint64_t key = mix(mix(site, size), (uint64_t)process_self->number);
    uintptr_t number = (uintptr_t)xy_hash_get(&all.numbers, key) + 1;

    return xy_hash_set(&all.numbers, key, (void *)number) == XY_OK ? number : 0;
}

static block_t *new_block(uint64_t key, uint64_t site, size_t size, uintptr_t number)
{
    block_t *b = xy_malloc(sizeof(*b));

    if (b == NULL)
        return NULL;
    *b = (block_t){.site = site, .size = size, .number = number};
    if (xy_hash_set(&all.by_site, key, b) == XY_OK)
        return b;
    xy_free(b);
    return NULL;
}

static block_t *find_block(uint64_t site, size_t size)
{
    uintptr_t number = next_number(site, size);
    uint64_t key = mix(mix(site, size), number);
    block_t *b = number != 0 ? xy_hash_get(&all.by_site, key) : NULL;

    if (b == NULL && number != 0)
        b = new_block(key, site, size, number);
    return b != NULL && b->site == site && b->size == size && b->number == number ? b : NULL;
}

static bool fill(block_t *b)
{
    b->memory = aligned_alloc(PAGE, (b->size + PAGE - 1) / PAGE * PAGE);
    if (b->memory != NULL && xy_hash_set(&all.by_address, (uintptr_t)b->memory, b) == XY_OK)
        return true;
    free(b->memory);
    b->memory = NULL;
    return false;
}

/* The block at an address, or NULL. */
static block_t *block_at(void *memory)
{
    block_t *b = xy_hash_get(&all.by_address, (uintptr_t)memory);

    return b != NULL && b->memory == memory ? b : NULL;
}

/* NULL: take memory of one's own. *is_new_p: no process has written to it. */
static void *share(size_t size, const void *caller, bool *is_new_p)
{
    void *memory = NULL;
    block_t *b;

    pthread_mutex_lock(&all.lock);
    b = find_block(site_of(caller), size);
    *is_new_p = b != NULL && b->memory == NULL;
    if (b != NULL && (b->memory != NULL || fill(b))) {
        b->users++;
        memory = b->memory;
    }
    pthread_mutex_unlock(&all.lock);
    return memory;
}

/* False: it is no shared block. */
static bool give_back(void *memory)
{
    block_t *b;

    if (memory == NULL || (uintptr_t)memory % PAGE != 0)
        return false;
    pthread_mutex_lock(&all.lock);
    b = block_at(memory);
    if (b != NULL && --b->users == 0) {
        free(b->memory);
        b->memory = NULL;
    }
    pthread_mutex_unlock(&all.lock);
    return b != NULL;
}

static size_t shared_size(void *memory)
{
    const block_t *b;
    size_t size;

    if (memory == NULL || (uintptr_t)memory % PAGE != 0)
        return 0;
    pthread_mutex_lock(&all.lock);
    b = block_at(memory);
    size = b != NULL ? b->size : 0;
    pthread_mutex_unlock(&all.lock);
    return size;
}

/* ---- What programs get ---- */

#define SHARE(size, is_new) share(size, __builtin_return_address(0), is_new)

static void *share_malloc(size_t size)
{
    bool is_new;
    void *memory = is_large(size) ? SHARE(size, &is_new) : NULL;

    return memory != NULL ? memory : malloc(size);
}

static void *share_calloc(size_t count, size_t size)
{
    size_t bytes;
    bool is_new;
    void *memory = NULL;

    if (!__builtin_mul_overflow(count, size, &bytes) && is_large(bytes))
        memory = SHARE(bytes, &is_new);
    if (memory != NULL && is_new)
        memset(memory, 0, bytes);
    return memory != NULL ? memory : calloc(count, size);
}

static void share_free(void *memory)
{
    if (!give_back(memory))
        free(memory);
}

/* realloc() for a block that is shared or becomes large enough to be; contents are copied to the
 * new block. */
static void *share_realloc(void *old, size_t size)
{
    size_t before = shared_size(old);
    bool is_new;
    void *memory;

    if (before == 0 && (old != NULL || !is_large(size)))
        return realloc(old, size);
    memory = is_large(size) ? SHARE(size, &is_new) : NULL;
    if (memory == NULL)
        memory = malloc(size);
    if (memory != NULL && old != NULL) {
        memmove(memory, old, before < size ? before : size);
        give_back(old);
    }
    return memory;
}

static int share_posix_memalign(void **memory_p, size_t align, size_t size)
{
    bool is_new;
    void *memory = align <= PAGE && is_large(size) ? SHARE(size, &is_new) : NULL;

    if (memory == NULL)
        return posix_memalign(memory_p, align, size);
    *memory_p = memory;
    return 0;
}

static void *share_aligned_alloc(size_t align, size_t size)
{
    bool is_new;
    void *memory = align <= PAGE && is_large(size) ? SHARE(size, &is_new) : NULL;

    return memory != NULL ? memory : aligned_alloc(align, size);
}

void *process_share_data_substitute(const char *name, void *found)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"malloc", (void *)share_malloc},
        {"calloc", (void *)share_calloc},
        {"realloc", (void *)share_realloc},
        {"free", (void *)share_free},
        {"posix_memalign", (void *)share_posix_memalign},
        {"aligned_alloc", (void *)share_aligned_alloc},
        {"memalign", (void *)share_aligned_alloc},
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].function;
    return found;
}

void process_share_data_from(size_t least)
{
    all.least = least > PAGE ? least : PAGE;
}
