/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of thread-specific data. The C library has 1024 for a process, which a thousand processes
 * with private libraries use up: those that code of an image creates are the process's, with
 * numbers of their own. A value belongs to a key and to a thread of the process, or to the process
 * itself. Keys that shared libraries create are the C library's.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

enum { OWN = 1 << 30, MOST = PTHREAD_KEYS_MAX, ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };

typedef void (*end_fn)(void *);

/* A key that is not in use has an even generation; a value is one of a generation of its key. */
typedef struct {
    _Atomic unsigned generation;
    end_fn end;
} process_key_t;

struct process_keys {
    process_key_t keys[MOST];
};

typedef struct {
    void *value;
    unsigned generation;
} value_t;

struct process_key_values {
    value_t values[MOST];
};

static _Thread_local struct process_key_values *of_thread; /* of a thread of a process */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct process_key_values **values_here(void)
{
    return process_is_main() ? &process_self->key_values : &of_thread;
}

static bool is_of_image(const void *caller)
{
    const process_program_t *program;
    const process_module_t *module;

    return process_self != NULL && process_image_find(caller, &program, &module) != NULL;
}

/* The key with a number of this process's, if it is in use. */
static process_key_t *find(pthread_key_t key)
{
    struct process_keys *keys = process_self != NULL ? process_self->keys : NULL;
    unsigned number = key - OWN;

    if (keys == NULL || number >= MOST || (keys->keys[number].generation & 1) == 0)
        return NULL;
    return &keys->keys[number];
}

/* Create a key of the process; EAGAIN if all are in use or memory is short. */
static int create(process_t *process, pthread_key_t *key_p, end_fn end)
{
    int code = EAGAIN;

    pthread_mutex_lock(&lock);
    if (process->keys == NULL)
        process->keys = xy_calloc(1, sizeof(*process->keys));
    for (unsigned i = 0; process->keys != NULL && i < MOST && code != 0; i++) {
        process_key_t *key = &process->keys->keys[i];

        if ((key->generation & 1) != 0)
            continue;
        key->end = end;
        key->generation++;
        *key_p = OWN + i;
        code = 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

XY_INTERPOSE int pthread_key_create(pthread_key_t *key_p, end_fn end)
{
    return is_of_image(__builtin_return_address(0)) ? create(process_self, key_p, end)
                                                    : XY_NEXT(pthread_key_create)(key_p, end);
}

static int delete (pthread_key_t key)
{
    process_key_t *found = find(key);

    if (found == NULL)
        return EINVAL;
    found->generation++;
    return 0;
}

XY_INTERPOSE int pthread_key_delete(pthread_key_t key)
{
    return key >= OWN ? delete (key) : XY_NEXT(pthread_key_delete)(key);
}

static void *get(pthread_key_t key)
{
    const struct process_key_values *here = *values_here();
    const process_key_t *found = find(key);

    if (here == NULL || found == NULL || here->values[key - OWN].generation != found->generation)
        return NULL;
    return here->values[key - OWN].value;
}

XY_INTERPOSE void *pthread_getspecific(pthread_key_t key)
{
    return key >= OWN ? get(key) : XY_NEXT(pthread_getspecific)(key);
}

/* Set the value of a key for this thread or process; returns an errno value. */
static int set(pthread_key_t key, uintptr_t value)
{
    struct process_key_values **here = values_here();
    const process_key_t *found = find(key);

    if (found == NULL)
        return EINVAL;
    if (*here == NULL)
        *here = xy_calloc(1, sizeof(**here));
    if (*here == NULL)
        return ENOMEM;
    (*here)->values[key - OWN] = (value_t){.value = (void *)value, .generation = found->generation};
    return 0;
}

XY_INTERPOSE int pthread_setspecific(pthread_key_t key, const void *value)
{
    return key >= OWN ? set(key, (uintptr_t)value) : XY_NEXT(pthread_setspecific)(key, value);
}

/* ---- The same of C11 ---- */

XY_INTERPOSE int tss_create(tss_t *key_p, tss_dtor_t end)
{
    if (!is_of_image(__builtin_return_address(0)))
        return XY_NEXT(tss_create)(key_p, end);
    return create(process_self, key_p, end) == 0 ? thrd_success : thrd_error;
}

XY_INTERPOSE void tss_delete(tss_t key)
{
    if (key < OWN)
        XY_NEXT(tss_delete)(key);
    else
        delete (key);
}

XY_INTERPOSE void *tss_get(tss_t key)
{
    return key >= OWN ? get(key) : XY_NEXT(tss_get)(key);
}

XY_INTERPOSE int tss_set(tss_t key, void *value)
{
    if (key < OWN)
        return XY_NEXT(tss_set)(key, value);
    return set(key, (uintptr_t)value) == 0 ? thrd_success : thrd_error;
}

/* ---- Destructors ---- */

/* One round of destructors; returns whether any was called. */
static bool end_values(struct process_key_values *here)
{
    bool has_ended = false;

    for (unsigned i = 0; i < MOST; i++) {
        const process_key_t *key = find(OWN + i);
        void *value = here->values[i].value;

        if (key == NULL || value == NULL || here->values[i].generation != key->generation)
            continue;
        here->values[i].value = NULL;
        if (key->end != NULL) {
            key->end(value);
            has_ended = true;
        }
    }
    return has_ended;
}

void process_keys_end(void)
{
    struct process_key_values **here = values_here();

    for (int round = 0; *here != NULL && round < ROUNDS && end_values(*here); round++)
        ;
    xy_free(*here);
    *here = NULL;
}
