/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as the home of data: threads of their own read and write it, so that workers compute
 * meanwhile. Reads that tasks wait for and write-backs are served in the order they were asked for;
 * whatever comes from the plan of a policy was asked for early.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tasks/exec/exec_internal.h"

void exec_store_request(exec_tasks_t *e, int32_t data, bool is_write)
{
    int32_t at = (e->request_first + e->request_count) % e->request_room;

    e->requests[at] = (exec_request_t){.data = data, .is_write = is_write};
    e->request_count++;
    e->in_flight++;
    pthread_cond_signal(&e->asked);
}

/* ---- Buffers ---- */

void *exec_buffer_take(exec_tasks_t *e, int32_t data)
{
    uint64_t bytes = e->base.bytes[data];
    void *buffer = e->free_buffers;

    if (buffer != NULL && bytes == e->buffer_bytes) {
        memcpy(&e->free_buffers, buffer, sizeof(void *));
        return buffer;
    }
    buffer = xy_malloc(bytes < sizeof(void *) ? sizeof(void *) : bytes);
    if (buffer == NULL)
        exec_fail(e, xy_fail_memory("holding a block of the file"));
    return buffer;
}

void exec_buffer_give(exec_tasks_t *e, int32_t data, void *buffer)
{
    if (buffer == NULL || e->base.bytes[data] != e->buffer_bytes) {
        xy_free(buffer);
        return;
    }
    memcpy(buffer, &e->free_buffers, sizeof(void *));
    e->free_buffers = buffer;
}

/* ---- Reading and writing ---- */

enum { SHORT_FILE = -1 };

/* Under the lock: of several threads that meet the same full disk, one reports it. */
static void fail_transfer(exec_tasks_t *e, const exec_request_t *r, int err)
{
    const char *path = e->how->store->path;

    if (e->status != XY_OK)
        return;
    if (err == SHORT_FILE)
        exec_fail(e, xy_fail(XY_EIO,
                             "%s ends at byte %lld, before datum %d; it was cut while in "
                             "use",
                             path, (long long)lseek(e->how->store->fd, 0, SEEK_END), r->data));
    else
        exec_fail(e, xy_fail_errno(err, path, r->is_write ? "write to" : "read"));
}

/* Without the lock: the copy is coming, or must not change. 0, an errno or SHORT_FILE. */
static int transfer(const exec_tasks_t *e, const exec_request_t *r, char *buffer)
{
    uint64_t bytes = e->base.bytes[r->data], offset = e->how->store->offset[r->data];

    for (uint64_t done = 0; done < bytes;) {
        off_t at = (off_t)(offset + done);
        ssize_t n = r->is_write ? pwrite(e->how->store->fd, buffer + done, bytes - done, at)
                                : pread(e->how->store->fd, buffer + done, bytes - done, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : SHORT_FILE;
        done += (uint64_t)n;
    }
    return 0;
}

/* Moves data between file and memory, request by request, until it is closed; the body of a
 * thread. */
static void *store_main(void *arg)
{
    exec_tasks_t *e = arg;

    pthread_mutex_lock(&e->lock);
    for (;;) {
        exec_request_t r;
        int err;

        while (e->request_count == 0 && !e->is_closing)
            pthread_cond_wait(&e->asked, &e->lock);
        if (e->request_count == 0 || e->status != XY_OK)
            break;
        r = e->requests[e->request_first];
        e->request_first = (e->request_first + 1) % e->request_room;
        e->request_count--;
        r.start = xy_now() - e->start;
        pthread_mutex_unlock(&e->lock);
        err = transfer(e, &r, e->base.memories[1].space.copies[r.data].own);
        pthread_mutex_lock(&e->lock);
        e->in_flight--;
        e->now = xy_now() - e->start;
        if (err != 0) {
            fail_transfer(e, &r, err);
            break;
        }
        exec_arrived(e, &r);
        if (!exec_is_over(e))
            xy_task_engine_pump(&e->base, 1);
        exec_wake(e);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- Beginning and end ---- */

static uint64_t largest_datum(const exec_tasks_t *e)
{
    uint64_t largest = sizeof(void *);

    for (int32_t d = 0; d < e->base.data_count; d++)
        largest = e->base.bytes[d] > largest ? e->base.bytes[d] : largest;
    return largest;
}

xy_status_t exec_store_start(exec_tasks_t *e)
{
    e->request_room = e->base.data_count + 1;
    e->requests = xy_calloc((size_t)e->request_room, sizeof(*e->requests));
    if (e->requests == NULL)
        return xy_fail_memory("preparing to read the file");
    e->buffer_bytes = largest_datum(e);
    while (e->store_started < EXEC_STORE_THREADS) {
        if (pthread_create(&e->store_threads[e->store_started], NULL, store_main, e) != 0)
            return xy_fail(XY_ELIMIT, "cannot start a thread to read the file");
        e->store_started++;
    }
    return XY_OK;
}

void exec_store_stop(exec_tasks_t *e)
{
    pthread_mutex_lock(&e->lock);
    e->is_closing = true;
    pthread_cond_broadcast(&e->asked);
    pthread_mutex_unlock(&e->lock);
    for (int i = 0; i < e->store_started; i++)
        pthread_join(e->store_threads[i], NULL);
    while (e->free_buffers != NULL) {
        void *next;

        memcpy(&next, e->free_buffers, sizeof(void *));
        xy_free(e->free_buffers);
        e->free_buffers = next;
    }
    xy_free(e->requests);
}
