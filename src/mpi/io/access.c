/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One access. Data that is one run on both sides goes straight to the kernel. Otherwise it goes in
 * pieces: memory with holes is packed first; a view with small holes is read with them, and written
 * through a mapping of the file, so that what others write into the holes is never touched.
 */
#include "mpi/io/access.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "mpi/io/descriptor.h"
#include "mpi/io/io_buffer.h"
#include "mpi/io/io_write.h"
#include "mpi/io/map.h"

enum {
    LONG_RUN = 8 << 10, /* bytes of a run that is worth a system call of its own */
    MUCH = 16 << 20,    /* bytes of the file that are mapped to write long runs */
    SPARSE = 4          /* ... unless they are so many times the data */
};

int io_read_at(int fd, char *to, size_t bytes, int64_t offset, size_t *got_p)
{
    *got_p = 0;
    while (*got_p < bytes) {
        ssize_t n = io_calls.read(fd, to + *got_p, bytes - *got_p, (off_t)offset + (off_t)*got_p);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0) /* the end of the file */
            return 0;
        *got_p += (size_t)n;
    }
    return 0;
}

int io_write_at(int fd, const char *from, size_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t n = io_calls.write(fd, from, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        from += n;
        offset += n;
        bytes -= (size_t)n;
    }
    return 0;
}

char *io_access_bytes(const io_access_t *access)
{
    if (access->staged != NULL)
        return access->staged;
    return mpi_type_is_contiguous(access->type) && !mpi_is_on_device(access->memory)
               ? access->memory
               : NULL;
}

/* ---- Views with holes ---- */

char *io_view_base(const io_view_t *view, char *memory, int64_t from)
{
    return (char *)((uintptr_t)memory + (uintptr_t)(view->disp - from));
}

/* Read runs of the view one by one; *got_p is less than `bytes` at the end of the file. Returns an
 * errno value. */
static int read_runs(const io_access_t *a, char *to, int64_t byte, size_t bytes, size_t *got_p)
{
    io_walk_t walk;
    int error = 0, fd = io_fd(a->shared);

    *got_p = 0;
    io_walk_begin(&walk, a->view, byte);
    while (*got_p < bytes && error == 0) {
        size_t n, got;
        int64_t offset = io_walk_run(&walk, &n);

        n = n < bytes - *got_p ? n : bytes - *got_p;
        error = io_read_at(fd, to + *got_p, n, offset, &got);
        *got_p += got;
        if (got < n)
            break;
        io_walk_advance(&walk, n);
    }
    return error;
}

/* The file from `from` on, with its holes, then the data out of it. */
static int read_around(const io_access_t *a, char *to, int64_t byte, size_t bytes, int64_t from,
                       int64_t end, size_t *got_p)
{
    char *buffer = io_buffer_get(IO_BUFFER_FILE, (size_t)(end - from));
    int64_t last;
    size_t got;
    int error;

    if (buffer == NULL)
        return read_runs(a, to, byte, bytes, got_p);
    error = io_read_at(io_fd(a->shared), buffer, (size_t)(end - from), from, &got);
    last = io_view_before(a->view, from + (int64_t)got);
    *got_p = last > byte ? (size_t)(last - byte) : 0;
    *got_p = *got_p < bytes ? *got_p : bytes;
    mpi_type_pack(to, io_view_base(a->view, buffer, from), 0, a->view->tile, (size_t)byte, *got_p);
    io_buffer_put(IO_BUFFER_FILE, buffer);
    return error;
}

/* Write runs of the view one by one; returns an errno value. */
static int write_runs(const io_access_t *a, const char *from, int64_t byte, size_t bytes)
{
    io_walk_t walk;
    int error = 0, fd = io_fd(a->shared);

    io_walk_begin(&walk, a->view, byte);
    for (size_t done = 0; done < bytes && error == 0;) {
        size_t n;
        int64_t offset = io_walk_run(&walk, &n);

        n = n < bytes - done ? n : bytes - done;
        error = io_write_at(fd, from + done, n, offset);
        io_walk_advance(&walk, n);
        done += n;
    }
    return error;
}

static bool write_mapped(const io_access_t *a, const char *from, int64_t byte, size_t bytes,
                         int64_t first, int64_t end)
{
    io_map_t map;

    if (!io_map(a->shared, first, end, &map))
        return false;
    mpi_type_unpack(io_view_base(a->view, map.memory, map.from), 0, a->view->tile, from,
                    (size_t)byte, bytes);
    return io_unmap(a->shared, &map);
}

/* How much of the view lies in the next `span` bytes of the file, of at most `most`; from where to
 * where. */
static size_t find_piece(const io_view_t *view, int64_t byte, size_t most, int64_t span,
                         int64_t *first_p, int64_t *end_p)
{
    size_t bytes;

    *first_p = io_view_offset(view, byte);
    bytes = (size_t)(io_view_before(view, *first_p + span) - byte);
    bytes = bytes < most ? bytes : most;
    *end_p = io_view_offset(view, byte + (int64_t)bytes - 1) + 1;
    return bytes;
}

/* Runs so short that a system call for each costs more than to move what is between them. */
static bool has_short_runs(const io_view_t *view, int64_t first, int64_t end, size_t bytes)
{
    size_t run = io_view_run(view);

    return run < LONG_RUN && bytes > run && (size_t)(end - first) / 64 < bytes;
}

/* Much data in long runs: see io_write.h. */
static bool is_much(const io_access_t *a, size_t bytes)
{
    return a->is_write && a->shared->is_memory && !a->is_direct && bytes >= IO_WORTH &&
           io_view_run(a->view) >= LONG_RUN;
}

/* Write dense runs through a mapping of the file if other ranks write too, else one by one; returns
 * an errno value. */
static int write_much(const io_access_t *a, const char *from, int64_t byte, size_t bytes)
{
    bool is_alone = io_write_enter(a->shared), is_written = false;
    int64_t first, end;
    int error = 0;

    if (!is_alone && find_piece(a->view, byte, bytes, MUCH, &first, &end) == bytes &&
        (size_t)(end - first) / SPARSE <= bytes && io_is_solid(a->shared, end))
        is_written = write_mapped(a, from, byte, bytes, first, end);
    if (!is_written)
        error = write_runs(a, from, byte, bytes);
    if (is_alone)
        io_write_leave(a->shared);
    return error;
}

/* Packed data from and to a view with holes. */
static int move_view(const io_access_t *a, char *data, int64_t byte, size_t bytes, size_t *got_p)
{
    int error = 0;

    *got_p = 0;
    if (is_much(a, bytes)) {
        error = write_much(a, data, byte, bytes);
        *got_p = error == 0 ? bytes : 0;
        return error;
    }
    while (*got_p < bytes && error == 0) {
        int64_t first, end, at = byte + (int64_t)*got_p;
        size_t n = find_piece(a->view, at, bytes - *got_p, IO_PIECE, &first, &end), got = n;
        char *here = data + *got_p;
        bool is_short = !a->is_direct && has_short_runs(a->view, first, end, n);

        if (a->is_write && !(is_short && write_mapped(a, here, at, n, first, end)))
            error = write_runs(a, here, at, n);
        else if (!a->is_write)
            error = is_short ? read_around(a, here, at, n, first, end, &got)
                             : read_runs(a, here, at, n, &got);
        if (error == 0 || !a->is_write)
            *got_p += got;
        if (got < n)
            break;
    }
    return error;
}

/* Read or write contiguous data through the view; returns an errno value. */
static int move_data(const io_access_t *a, char *data, int64_t byte, size_t bytes, size_t *got_p)
{
    int error;

    if (a->view->overlaps)
        return read_runs(a, data, byte, bytes, got_p);
    if (!a->view->is_plain)
        return move_view(a, data, byte, bytes, got_p);
    if (!a->is_write)
        return io_read(a->shared, data, bytes, a->view->disp + byte, got_p);
    error = io_write(a->shared, data, bytes, a->view->disp + byte);
    *got_p = error == 0 ? bytes : 0;
    return error;
}

/* ---- Memory with holes ---- */

/* Read or write an access, in packed pieces if its memory is not contiguous; returns an errno
 * value. */
static int move_memory(const io_access_t *a, size_t *got_p)
{
    char *data = io_access_bytes(a), *buffer;
    size_t most = a->bytes < IO_PIECE ? a->bytes : IO_PIECE, got = 0;
    int error = 0;

    *got_p = 0;
    if (data != NULL)
        return move_data(a, data, a->at, a->bytes, got_p);
    buffer = io_buffer_get(IO_BUFFER_MEMORY, most);
    if (buffer == NULL)
        return ENOMEM;
    while (*got_p < a->bytes && error == 0) {
        size_t n = a->bytes - *got_p < most ? a->bytes - *got_p : most;

        if (a->is_write)
            mpi_type_pack(buffer, a->memory, a->count, a->type, *got_p, n);
        error = move_data(a, buffer, a->at + (int64_t)*got_p, n, &got);
        if (!a->is_write)
            mpi_type_unpack(a->memory, a->count, a->type, buffer, *got_p, got);
        *got_p += got;
        if (got < n)
            break;
    }
    io_buffer_put(IO_BUFFER_MEMORY, buffer);
    return error;
}

/* ---- Atomic mode ---- */

/* Others of this process wait for `turn`; other processes, and other opens of the file, for the
 * range. */
static void lock_range(const io_access_t *a, short kind)
{
    int64_t first = io_view_offset(a->view, a->at);
    int64_t end = io_view_end(a->view, a->at + (int64_t)a->bytes - 1);
    struct flock lock = {.l_type = kind,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)first,
                         .l_len = (off_t)(end - first)};

    /* Where the file system has no locks there is nothing else to be had. */
    while (fcntl(a->shared->fd, F_OFD_SETLKW, &lock) != 0 && errno == EINTR)
        ;
}

void io_access_run(io_access_t *a)
{
    if (a->bytes == 0)
        return;
    if (!a->is_atomic) {
        a->error = move_memory(a, &a->done);
        return;
    }
    pthread_mutex_lock(&a->shared->turn);
    lock_range(a, a->is_write ? F_WRLCK : F_RDLCK);
    a->error = move_memory(a, &a->done);
    lock_range(a, F_UNLCK);
    pthread_mutex_unlock(&a->shared->turn);
}
