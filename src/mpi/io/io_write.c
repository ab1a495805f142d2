/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/io_write.h"

#include <string.h>

#include "mpi/io/descriptor.h"
#include "mpi/io/map.h"
#include "trace/trace.h"

enum {
    SMALL = 8 << 10, /* bytes up to which pauses are worth while */
    SAMPLE = 16,     /* one of so many calls, for each worker, looks what the others do */
    MOST = 8,        /* writers for which there are pauses */
    HELD = 37,       /* 64ths of the time of a call for which the lock is held, and is handed on */
    LARGE = 4 << 20, /* bytes for which a mapping costs less than the copy of the kernel */
    SPAN = 64 << 20  /* bytes that are mapped at a time */
};

/* ---- Small ---- */

/* How often all workers write while this one writes once, and what is to be between two writes of
 * it then, so that they can have the lock one after the other. */
static void adapt(const io_shared_t *shared, io_own_t *own, unsigned every, uint64_t time)
{
    unsigned total = 0, writers;

    for (int w = 0; w < shared->workers; w++)
        total += atomic_load_explicit(&shared->own[w].writes, memory_order_relaxed);
    writers = (total - own->total + every / 2) / every;
    writers = writers < MOST ? writers : MOST;
    own->total = total;
    own->least = own->least == 0 || time < own->least ? time : own->least;
    own->pause = writers > 1 ? (HELD * writers - 64) * own->least / 64 : 0;
}

/* Write few bytes, now and then measured, after the pause that this worker keeps; returns an errno
 * value. */
static int write_small(const io_shared_t *shared, io_own_t *own, const char *from, size_t bytes,
                       int64_t offset)
{
    unsigned every = SAMPLE * (unsigned)shared->workers;
    unsigned count = atomic_load_explicit(&own->writes, memory_order_relaxed) + 1;
    uint64_t begin = 0;
    int error;

    atomic_store_explicit(&own->writes, count, memory_order_relaxed);
    if (own->pause == 0 && count % every != 0)
        return io_write_at(own->fd, from, bytes, offset);
    do
        begin = xy_trace_clock();
    while (begin - own->end < own->pause);
    error = io_write_at(own->fd, from, bytes, offset);
    own->end = xy_trace_clock();
    if (count % every == 0)
        adapt(shared, own, every, own->end - begin);
    return error;
}

/* ---- Large ---- */

bool io_write_enter(io_shared_t *shared)
{
    return !atomic_load_explicit(&shared->is_busy, memory_order_relaxed) &&
           !atomic_exchange_explicit(&shared->is_busy, true, memory_order_relaxed);
}

void io_write_leave(io_shared_t *shared)
{
    atomic_store_explicit(&shared->is_busy, false, memory_order_relaxed);
}

/* Pages that the file has not yet are the kernel's: in a mapping they are zeroed first. */
static int write_mapped(io_shared_t *shared, const char *from, size_t bytes, int64_t offset)
{
    bool is_solid = io_is_solid(shared, offset + (int64_t)bytes);

    while (bytes > 0) {
        size_t part = bytes < SPAN ? bytes : SPAN;
        io_map_t map;

        if (!is_solid || !io_map(shared, offset, offset + (int64_t)part, &map))
            return io_write_at(io_fd(shared), from, bytes, offset);
        memcpy(map.memory + (offset - map.from), from, part);
        if (!io_unmap(shared, &map))
            return io_write_at(io_fd(shared), from, bytes, offset);
        from += part;
        offset += (int64_t)part;
        bytes -= part;
    }
    return 0;
}

/* Read through mappings of the file as far as possible, and the rest by calls; returns an errno
 * value. */
static int read_mapped(io_shared_t *shared, char *to, size_t bytes, int64_t offset, size_t *got_p)
{
    size_t got = 0, rest = 0;
    int error;

    while (got < bytes) {
        size_t part = bytes - got < SPAN ? bytes - got : SPAN;
        int64_t first = offset + (int64_t)got;
        io_map_t map;

        if (!io_map_read(shared, first, first + (int64_t)part, &map))
            break;
        memcpy(to + got, map.memory + (first - map.from), part);
        if (!io_unmap(shared, &map))
            break;
        got += part;
    }
    error = io_read_at(io_fd(shared), to + got, bytes - got, offset + (int64_t)got, &rest);
    *got_p = got + rest;
    return error;
}

static int write_large(io_shared_t *shared, const char *from, size_t bytes, int64_t offset)
{
    int error;

    if (bytes >= LARGE || !io_write_enter(shared))
        return write_mapped(shared, from, bytes, offset);
    error = io_write_at(io_fd(shared), from, bytes, offset);
    io_write_leave(shared);
    return error;
}

int io_read(io_shared_t *shared, char *to, size_t bytes, int64_t offset, size_t *got_p)
{
    if (shared->is_memory && bytes >= LARGE)
        return read_mapped(shared, to, bytes, offset, got_p);
    return io_read_at(io_fd(shared), to, bytes, offset, got_p);
}

int io_write(io_shared_t *shared, const char *from, size_t bytes, int64_t offset)
{
    if (shared->is_memory && bytes >= IO_WORTH)
        return write_large(shared, from, bytes, offset);
    if (shared->is_memory && bytes <= SMALL &&
        atomic_load_explicit(&shared->users, memory_order_relaxed) > 1) {
        io_own_t *own = io_own(shared);

        if (own != NULL && own->fd >= 0)
            return write_small(shared, own, from, bytes, offset);
    }
    return io_write_at(io_fd(shared), from, bytes, offset);
}
