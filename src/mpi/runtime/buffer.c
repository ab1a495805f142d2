/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of eager messages. Each worker keeps a short list of free buffers per power of two; a
 * buffer goes back to the list of the worker that frees it, which need not be the one that took it.
 */
#include "mpi/runtime/buffer.h"

enum { SMALLEST_LOG = 7, KEEP_AT_MOST = 64 };

typedef struct buffer {
    union {
        struct buffer *next; /* while free */
        uint64_t class;      /* while taken */
    };
    _Alignas(16) char data[];
} buffer_t;

void *mpi_buffer_take(mpi_worker_t *worker, size_t bytes)
{
    unsigned class = 0;
    buffer_t *b;

    while (class + 1 < XMPI_BUFFER_CLASSES && ((size_t)1 << (SMALLEST_LOG + class)) < bytes)
        class ++;
    if (((size_t)1 << (SMALLEST_LOG + class)) >= bytes && worker->free_buffers[class] != NULL) {
        b = worker->free_buffers[class];
        worker->free_buffers[class] = b->next;
        worker->free_buffer_count[class]--;
    } else {
        size_t size = (size_t)1 << (SMALLEST_LOG + class);

        b = xy_malloc(sizeof(*b) + (size < bytes ? bytes : size));
        if (b == NULL)
            return NULL;
        if (size < bytes)
            class = XMPI_BUFFER_CLASSES;
    }
    b->class = class;
    return b->data;
}

void mpi_buffer_give(mpi_worker_t *worker, void *buffer)
{
    buffer_t *b = (buffer_t *)((char *)buffer - offsetof(buffer_t, data));
    uint64_t class = b->class;

    if (class >= XMPI_BUFFER_CLASSES || worker->free_buffer_count[class] >= KEEP_AT_MOST) {
        xy_free(b);
        return;
    }
    b->next = worker->free_buffers[class];
    worker->free_buffers[class] = b;
    worker->free_buffer_count[class]++;
}

void mpi_buffers_cleanup(mpi_worker_t *worker)
{
    for (int c = 0; c < XMPI_BUFFER_CLASSES; c++)
        for (buffer_t *b = worker->free_buffers[c], *next; b != NULL; b = next) {
            next = b->next;
            xy_free(b);
        }
}
