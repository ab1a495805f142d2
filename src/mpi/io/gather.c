/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/base.h"
#include "mpi/io/descriptor.h"

enum { MOST = 512 }; /* runs of a call; what the kernel takes is at least twice that */

typedef struct {
    int64_t offset;
    char *memory;
    size_t bytes;
} run_t;

typedef struct {
    run_t runs[MOST];
    struct iovec parts[MOST];
} room_t;

static int compare(const void *a, const void *b)
{
    int64_t x = ((const run_t *)a)->offset, y = ((const run_t *)b)->offset;

    return (x > y) - (x < y);
}

static int64_t limit(int64_t value, int64_t most)
{
    if (value < 0)
        return 0;
    return value < most ? value : most;
}

/* Bytes of the access before `offset` of the file. */
static int64_t bytes_before(const io_access_t *a, int64_t offset)
{
    return limit(io_view_before(a->view, offset) - a->at, (int64_t)a->bytes);
}

/* The runs of one access in [from, to); false: too many. */
static bool collect(const io_access_t *a, int64_t from, int64_t to, run_t *runs, int *count_p)
{
    int64_t byte = bytes_before(a, from), end = bytes_before(a, to);
    char *memory = io_access_bytes(a);
    io_walk_t walk;

    if (byte >= end)
        return true;
    io_walk_begin(&walk, a->view, a->at + byte);
    while (byte < end) {
        size_t n;
        int64_t offset = io_walk_run(&walk, &n);

        if (*count_p == MOST)
            return false;
        n = (int64_t)n < end - byte ? n : (size_t)(end - byte);
        runs[(*count_p)++] = (run_t){offset, memory + byte, n};
        io_walk_advance(&walk, n);
        byte += (int64_t)n;
    }
    return true;
}

/* Until all is done, or the file ends. */
static int move(int fd, bool is_write, struct iovec *parts, int count, int64_t offset,
                size_t *got_p)
{
    while (count > 0) {
        ssize_t n = is_write ? pwritev(fd, parts, count, (off_t)offset)
                             : preadv(fd, parts, count, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : (is_write ? EIO : 0);
        *got_p += (size_t)n;
        offset += n;
        for (; count > 0 && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= (size_t)n;
        }
    }
    return 0;
}

/* Half of it at a time where there are too many runs. */
static int move_half(io_access_t *const *accesses, int count, int64_t from, int64_t to,
                     size_t *got_p)
{
    int64_t middle = from + (to - from) / 2;
    size_t got = 0;
    int error = io_gather(accesses, count, from, middle, got_p);

    if (error == 0 && *got_p == (size_t)(middle - from))
        error = io_gather(accesses, count, middle, to, &got);
    *got_p += got;
    return error;
}

int io_gather(io_access_t *const *accesses, int count, int64_t from, int64_t to, size_t *got_p)
{
    room_t *room = xy_malloc(sizeof(*room));
    bool fits = room != NULL;
    int runs = 0, error = 0;

    *got_p = 0;
    if (room == NULL)
        return ENOMEM;
    for (int i = 0; i < count && fits; i++)
        fits = collect(accesses[i], from, to, room->runs, &runs);
    if (fits) {
        qsort(room->runs, (size_t)runs, sizeof(run_t), compare);
        for (int i = 0; i < runs; i++)
            room->parts[i] = (struct iovec){room->runs[i].memory, room->runs[i].bytes};
        error =
            move(io_fd(accesses[0]->shared), accesses[0]->is_write, room->parts, runs, from, got_p);
    }
    xy_free(room);
    return fits ? error : move_half(accesses, count, from, to, got_p);
}
