/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of a file for each thread.
 *
 * The kernel counts who uses an open file, in one cache line of it: where several workers read
 * through one descriptor at once, that line goes from core to core twice per call (70 ns of 460 on
 * two cores). So a worker that has made some calls opens the file once more, for itself; the first
 * of them keeps the descriptor of all. Threads that are no workers use that, too, and so do locks.
 * On network file systems, whose writes depend on the descriptor, all use that one.
 */
#ifndef XY_MPI_IO_DESCRIPTOR_H
#define XY_MPI_IO_DESCRIPTOR_H

#include <sys/types.h>

#include "fiber/fiber.h"
#include "mpi/io/access.h"

/* The part of one worker, which alone touches it. */
typedef struct io_own {
    int fd;   /* -1: none, or not yet */
    int uses; /* calls so far; not counted any more once it was tried */
    /* For small writes (io_write.h): */
    atomic_uint writes; /* so far; the others look at it */
    unsigned total;     /* of all workers, when this one looked */
    uint64_t least;     /* time of one, in ticks of xy_trace_clock; 0: not known */
    uint64_t end;       /* of the last, */
    uint64_t pause;     /* and from there to the next */
    char apart[IO_LINES];
} io_own_t;

/* For `workers` of them; false: no memory. */
bool io_own_create(io_shared_t *shared, int workers);
void io_own_destroy(io_shared_t *shared);

/* The worker has none of its own. */
int io_fd_without(io_shared_t *shared, io_own_t *own);

/* The part of the calling worker; NULL: this thread is none. */
static inline io_own_t *io_own(io_shared_t *shared)
{
    const xy_worker_t *worker = xy_worker_self();
    int index = worker != NULL ? xy_worker_index(worker) : 0;

    return worker != NULL && index < shared->workers ? &shared->own[index] : NULL;
}

static inline int io_fd(io_shared_t *shared)
{
    io_own_t *own = io_own(shared);

    if (own == NULL)
        return shared->fd;
    return own->fd >= 0 ? own->fd : io_fd_without(shared, own);
}

/* The functions to read and write: pread and pwrite, or system calls. In the C library the two are
 * points of cancellation, with two atomic operations each (20 ns); but where a tool has put its own
 * in their place (a sanitizer, a profiler of files), that is to see the accesses. */
typedef struct {
    ssize_t (*read)(int fd, void *to, size_t bytes, off_t offset);
    ssize_t (*write)(int fd, const void *from, size_t bytes, off_t offset);
} io_calls_t;

extern io_calls_t io_calls;
void io_calls_choose(void); /* before the first file is used */

#endif
