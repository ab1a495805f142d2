/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime of CUDA has something to keep for each context, and gives it to the driver, by
 * functions that the driver exports in a table without names. The driver has a list for each
 * context, which it changes without a lock (580.159): a process has one runtime, seldom two. A job
 * has one per process. All add to the list of the same context when they begin, look through it in
 * each call, and delete from it when they end, where one of 137 jobs of 8 to 64 processes crashed.
 *
 * So a process has a list of its own, with what its runtime keeps for contexts that processes
 * share. What is kept for other contexts is the driver's, which tells the runtime when such a
 * context is destroyed; one process at a time uses its list.
 */
#include "process/libc/device_storage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "fiber/fiber.h"
#include "process/libc/block.h"
#include "process/libc/device_wait.h"

typedef uintptr_t word_t;

enum { SUCCESS = 0, NO_MEMORY = 2 };

/* In calls, 0 is the current context. */
typedef struct {
    int (*put)(word_t context, word_t key, word_t value, word_t destroy);
    int (*drop)(word_t context, word_t key);
    int (*get)(word_t *value_p, word_t context, word_t key);
    word_t more; /* the table has four words: what the last one is for is not known */
} table_t;

static table_t driver;
static int (*context_get)(void **);
static bool (*is_shared)(void);

void process_device_storage_setup(int (*get)(void **), bool (*shared)(void))
{
    context_get = get;
    is_shared = shared;
}

/* ---- What a process keeps ---- */

typedef struct {
    word_t context, key, value;
} entry_t;

struct process_storage {
    pthread_mutex_t lock; /* threads of the process */
    xy_vec_t entries;
};

/* The driver storage of a process, created on first use; NULL without memory. */
static struct process_storage *storage_of(process_t *process)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    struct process_storage *made;

    process_block_lock(&making);
    if (process->device_storage == NULL) {
        made = xy_calloc(1, sizeof(*made));
        if (made != NULL) {
            pthread_mutex_init(&made->lock, NULL);
            made->entries = (xy_vec_t)XY_VEC_INIT(entry_t);
            process->device_storage = made;
        }
    }
    process_block_unlock(&making);
    return process->device_storage;
}

static word_t context_of(word_t context)
{
    void *current = NULL;

    if (context == 0)
        context_get(&current);
    return context != 0 ? context : (word_t)current;
}

/* entries.count: it is not there. With the lock. */
static size_t find(const struct process_storage *s, word_t context, word_t key)
{
    size_t i = 0;

    while (i < s->entries.count && (XY_VEC_AT(&s->entries, entry_t, i).context != context ||
                                    XY_VEC_AT(&s->entries, entry_t, i).key != key))
        i++;
    return i;
}

/* *value_p: what the process has there. With `is_last` it has it no more. */
static bool look_up(word_t context, word_t key, bool is_last, word_t *value_p)
{
    struct process_storage *s = process_self != NULL ? process_self->device_storage : NULL;
    bool is_there;
    size_t i;

    if (s == NULL)
        return false;
    context = context_of(context);
    process_block_lock(&s->lock);
    i = find(s, context, key);
    is_there = i < s->entries.count;
    if (is_there)
        *value_p = XY_VEC_AT(&s->entries, entry_t, i).value;
    if (is_there && is_last) {
        s->entries.count--;
        XY_VEC_AT(&s->entries, entry_t, i) = XY_VEC_AT(&s->entries, entry_t, s->entries.count);
    }
    process_block_unlock(&s->lock);
    return is_there;
}

/* Store the entry of a context and key in place of an earlier one; returns a code of CUDA. */
static int keep(struct process_storage *s, const entry_t *entry)
{
    int result = SUCCESS;
    size_t i;

    process_block_lock(&s->lock);
    i = find(s, entry->context, entry->key);
    if (i < s->entries.count)
        XY_VEC_AT(&s->entries, entry_t, i) = *entry;
    else if (xy_vec_append(&s->entries, entry) != XY_OK)
        result = NO_MEMORY;
    process_block_unlock(&s->lock);
    return result;
}

/* ---- What the driver keeps ---- */

static _Atomic bool is_taken;

/* The process that has it does not give up its core in there: see thread_locals.c. */
static void take(void)
{
    unsigned looks = 0;

    while (atomic_exchange_explicit(&is_taken, true, memory_order_acquire))
        xy_back_off(&looks);
}

static int leave(int result)
{
    atomic_store_explicit(&is_taken, false, memory_order_release);
    return result;
}

/* ---- The functions that are given out ---- */

static int put(word_t context, word_t key, word_t value, word_t destroy)
{
    entry_t entry = {context_of(0), key, value};
    struct process_storage *s;

    if (process_self != NULL && entry.context != 0 && (context == 0 || context == entry.context) &&
        is_shared()) {
        s = storage_of(process_self);
        return s != NULL ? keep(s, &entry) : NO_MEMORY;
    }
    take();
    return leave(driver.put(context, key, value, destroy));
}

static int drop(word_t context, word_t key)
{
    word_t value;

    if (look_up(context, key, true, &value))
        return SUCCESS;
    take();
    return leave(driver.drop(context, key));
}

static int get(word_t *value_p, word_t context, word_t key)
{
    if (look_up(context, key, false, value_p))
        return SUCCESS;
    take();
    return leave(driver.get(value_p, context, key));
}

const void *process_device_storage(const void *table, const void *id)
{
    static const unsigned char own_id[] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                           0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static table_t ours = {.put = put, .drop = drop, .get = get};

    if (table == NULL || memcmp(id, own_id, sizeof(own_id)) != 0)
        return table;
    process_block_lock(&lock);
    if (driver.get == NULL) {
        memcpy(&driver, table, sizeof(driver));
        ours.more = driver.more;
    }
    process_block_unlock(&lock);
    return &ours;
}
