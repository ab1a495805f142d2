/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of bytes that lie side by side in the file, in order of rank, as ordered accesses have them:
 * one system call moves those of many members, between the file and their own memory.
 */
#include <errno.h>
#include <sys/uio.h>

#include "mpi/io/access.h"
#include "mpi/io/descriptor.h"

enum { RUNS = 64 }; /* of one call */

/* Whether accesses are contiguous on both sides and adjacent in the file, in order of rank. */
static bool are_side_by_side(io_access_t *const *accesses, int count)
{
    int64_t at = accesses[0]->view->disp + accesses[0]->at;

    for (int i = 0; i < count; i++) {
        const io_access_t *a = accesses[i];

        if (!a->view->is_plain || a->is_atomic || a->view->disp + a->at != at ||
            io_access_bytes(a) == NULL)
            return false;
        at += (int64_t)a->bytes;
    }
    return true;
}

/* Gives what was moved to each, from the first on. errno. */
static int move_runs(io_access_t *const *accesses, int count)
{
    const io_access_t *first = accesses[0];
    off_t at = (off_t)(first->view->disp + first->at);
    struct iovec runs[RUNS];
    int fd = io_fd(first->shared);
    ssize_t n;

    for (int i = 0; i < count; i++)
        runs[i] = (struct iovec){io_access_bytes(accesses[i]), accesses[i]->bytes};
    do
        n = first->is_write ? pwritev(fd, runs, count, at) : preadv(fd, runs, count, at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    for (int i = 0; i < count; i++) {
        io_access_t *a = accesses[i];

        a->done = (size_t)n < a->bytes ? (size_t)n : a->bytes;
        n -= (ssize_t)a->done;
    }
    return 0;
}

/* Move the rest of an access after a partial call. */
static int move_rest(io_access_t *a)
{
    char *data = io_access_bytes(a) + a->done;
    size_t left = a->bytes - a->done, got = left;
    int64_t at = a->view->disp + a->at + (int64_t)a->done;
    int error = a->is_write ? io_write_at(io_fd(a->shared), data, left, at)
                            : io_read_at(io_fd(a->shared), data, left, at, &got);

    a->done += got;
    return error;
}

bool io_runs_run(io_access_t *const *accesses, int count)
{
    int error = 0;

    if (!are_side_by_side(accesses, count))
        return false;
    for (int first = 0; first < count && error == 0; first += RUNS) {
        int n = count - first < RUNS ? count - first : RUNS;

        error = move_runs(accesses + first, n);
        for (int i = first; i < first + n && error == 0; i++)
            if (accesses[i]->done < accesses[i]->bytes)
                error = move_rest(accesses[i]);
    }
    for (int i = 0; i < count; i++) {
        accesses[i]->error = error;
        accesses[i]->done = error == 0 ? accesses[i]->done : 0;
    }
    return true;
}
