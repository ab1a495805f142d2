/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of eager messages. Each worker keeps a short list of free buffers per power of two; a
 * buffer goes back to the list of the worker that frees it, which need not be the one that took it.
 * Where messages go one way, one worker takes all of them and another gives all back: a list that
 * is full goes to the shelf of the job as a whole, and a worker that has none takes one from there.
 * The C library's heap would have both wait for each other's lock with each message.
 */
#include "mpi/runtime/buffer.h"

enum { SMALLEST_LOG = 7, BATCH = 64, SHELF_BYTES = 8 << 20 /* of one class */ };

/* While it is free, and the first of a batch on the shelf, its data begins with the next batch. */
typedef struct buffer {
    union {
        struct buffer *next; /* while free */
        uint64_t class;      /* while taken */
    };
    _Alignas(16) struct buffer *batch;
} buffer_t;

static size_t size_of(unsigned class)
{
    return (size_t)1 << (SMALLEST_LOG + class);
}

/* ---- The shelf ---- */

static void shelf_put(unsigned class, buffer_t *batch)
{
    void *head = atomic_load_explicit(&mpi_job->shelf[class], memory_order_relaxed);

    do
        batch->batch = head;
    while (!atomic_compare_exchange_weak_explicit(&mpi_job->shelf[class], &head, batch,
                                                  memory_order_release, memory_order_relaxed));
}

/* Many batches, to a shelf that was empty a moment ago: what has come since is short and goes in
 * front of them. */
static void shelf_put_back(unsigned class, buffer_t *first)
{
    for (;;) {
        void *none = NULL;
        buffer_t *newer, *last;

        if (atomic_compare_exchange_strong_explicit(&mpi_job->shelf[class], &none, first,
                                                    memory_order_release, memory_order_relaxed))
            return;
        newer = atomic_exchange_explicit(&mpi_job->shelf[class], NULL, memory_order_acquire);
        if (newer == NULL)
            continue;
        for (last = newer; last->batch != NULL;)
            last = last->batch;
        last->batch = first;
        first = newer;
    }
}

/* All batches are taken down and those behind the first put back: a single one cannot be taken
 * safely, as others may take and put back what follows it meanwhile. */
static buffer_t *shelf_take(unsigned class)
{
    buffer_t *first;

    if (atomic_load_explicit(&mpi_job->shelf[class], memory_order_relaxed) == NULL)
        return NULL;
    first = atomic_exchange_explicit(&mpi_job->shelf[class], NULL, memory_order_acquire);
    if (first == NULL)
        return NULL;
    atomic_fetch_sub_explicit(&mpi_job->shelved[class], 1, memory_order_relaxed);
    if (first->batch != NULL)
        shelf_put_back(class, first->batch);
    return first;
}

static void free_list(buffer_t *b)
{
    while (b != NULL) {
        buffer_t *next = b->next;

        xy_free(b);
        b = next;
    }
}

/* The list of a worker is full. */
static void shelve(mpi_worker_t *worker, unsigned class)
{
    buffer_t *batch = worker->free_buffers[class];
    int most = (int)(SHELF_BYTES / (BATCH * size_of(class)));

    worker->free_buffers[class] = NULL;
    worker->free_buffer_count[class] = 0;
    if (atomic_fetch_add_explicit(&mpi_job->shelved[class], 1, memory_order_relaxed) < most) {
        shelf_put(class, batch);
        return;
    }
    atomic_fetch_sub_explicit(&mpi_job->shelved[class], 1, memory_order_relaxed);
    free_list(batch);
}

/* ---- The lists of a worker ---- */

/* Its list is empty. NULL: memory ran out. */
static buffer_t *take_more(mpi_worker_t *worker, unsigned class)
{
    buffer_t *b = shelf_take(class);

    if (b == NULL)
        return xy_malloc(offsetof(buffer_t, batch) + size_of(class));
    worker->free_buffers[class] = b->next;
    worker->free_buffer_count[class] = BATCH - 1;
    return b;
}

void *mpi_buffer_take(mpi_worker_t *worker, size_t bytes)
{
    unsigned class = 0;
    buffer_t *b;

    while (class < XMPI_BUFFER_CLASSES && size_of(class) < bytes)
        class ++;
    if (class == XMPI_BUFFER_CLASSES) {
        b = xy_malloc(offsetof(buffer_t, batch) + bytes);
    } else if (worker->free_buffers[class] != NULL) {
        b = worker->free_buffers[class];
        worker->free_buffers[class] = b->next;
        worker->free_buffer_count[class]--;
    } else {
        b = take_more(worker, class);
    }
    if (b == NULL)
        return NULL;
    b->class = class;
    return &b->batch;
}

void mpi_buffer_give(mpi_worker_t *worker, void *buffer)
{
    buffer_t *b = (buffer_t *)((char *)buffer - offsetof(buffer_t, batch));
    uint64_t class = b->class;

    if (class >= XMPI_BUFFER_CLASSES) {
        xy_free(b);
        return;
    }
    b->next = worker->free_buffers[class];
    worker->free_buffers[class] = b;
    if (++worker->free_buffer_count[class] == BATCH)
        shelve(worker, (unsigned)class);
}

void mpi_buffers_cleanup(mpi_job_t *job)
{
    for (int c = 0; c < XMPI_BUFFER_CLASSES; c++) {
        for (int w = 0; w < job->workers; w++)
            free_list(job->worker[w].free_buffers[c]);
        for (buffer_t *b = atomic_load(&job->shelf[c]), *next; b != NULL; b = next) {
            next = b->batch;
            free_list(b);
        }
    }
}
