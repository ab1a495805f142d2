/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File pointers. The shared one is a number in the process; where members are in several processes
 * it is in a small file beside the data, which is made by the first that needs it, changed under a
 * lock, and removed when the file is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"

/* ---- The shared pointer between processes ---- */

static int open_counter(io_shared_t *shared)
{
    int fd;

    if (shared->counter_fd >= 0)
        return 0;
    fd = open(shared->counter, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    shared->counter_fd = fd;
    return 0;
}

static void lock_counter(int fd, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET};

    while (fcntl(fd, F_OFD_SETLKW, &lock) != 0 && errno == EINTR)
        ;
}

/* An empty file is where the pointer began. */
static int change_counter(io_shared_t *shared, bool is_set, int64_t value, int64_t *before_p)
{
    int64_t before = shared->start;
    int error = open_counter(shared);
    size_t got = 0;

    if (error != 0)
        return error;
    lock_counter(shared->counter_fd, F_WRLCK);
    error = io_read_at(shared->counter_fd, (char *)&before, sizeof(before), 0, &got);
    *before_p = before;
    if (!is_set)
        value += before;
    if (error == 0)
        error = io_write_at(shared->counter_fd, (const char *)&value, sizeof(value), 0);
    lock_counter(shared->counter_fd, F_UNLCK);
    return error;
}

static int change_spread(io_shared_t *shared, bool is_set, int64_t value, int64_t *before_p)
{
    int error;

    pthread_mutex_lock(&shared->turn);
    error = change_counter(shared, is_set, value, before_p);
    pthread_mutex_unlock(&shared->turn);
    return error;
}

void io_pointer_remove(const io_shared_t *shared)
{
    if (shared->counter != NULL)
        unlink(shared->counter);
}

/* ---- The shared pointer ---- */

int io_pointer_add(mpi_file_t *file, int64_t etypes, int64_t *before_p)
{
    if (io_is_spread(file))
        return change_spread(file->shared, false, etypes, before_p);
    *before_p = atomic_fetch_add(&file->shared->pointer, etypes);
    return 0;
}

int io_pointer_set(mpi_file_t *file, int64_t value)
{
    int64_t before;

    if (io_is_spread(file) &&
        (value != file->shared->start || access(file->shared->counter, F_OK) == 0))
        return change_spread(file->shared, true, value, &before);
    atomic_store(&file->shared->pointer, value);
    return 0;
}

/* ---- Seeking ---- */

/* Etypes of the view up to the end of the file; one that the end cuts is counted. */
static int find_end(mpi_file_t *file, int64_t *etypes_p)
{
    int64_t unit = (int64_t)file->view->unit;
    struct stat about;

    if (fstat(file->shared->fd, &about) != 0)
        return errno;
    *etypes_p = (io_view_before(file->view, about.st_size) + unit - 1) / unit;
    return 0;
}

static int find_target(mpi_file_t *file, MPI_Offset offset, int whence, int64_t current,
                       int64_t *target_p)
{
    int64_t from = 0;
    int code = 0;

    if (whence == MPI_SEEK_CUR)
        from = current;
    else if (whence == MPI_SEEK_END)
        code = find_end(file, &from);
    else if (whence != MPI_SEEK_SET)
        return mpi_error(file->comm, MPI_ERR_ARG,
                         "whence is %d; it is MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
    if (code != 0)
        return io_error_errno(file, code);
    if (__builtin_add_overflow(from, offset, target_p) || *target_p < 0)
        return mpi_error(file->comm, MPI_ERR_ARG, "the pointer would be at %lld",
                         (long long)*target_p);
    return MPI_SUCCESS;
}

int impl_file_seek(MPI_File handle, MPI_Offset offset, int whence)
{
    mpi_file_t *file = mpi_file_of(handle);
    int64_t target = 0;
    int error;

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    error = find_target(file, offset, whence, file->position, &target);
    if (error == MPI_SUCCESS)
        file->position = target;
    return error;
}

int impl_file_seek_shared(MPI_File handle, MPI_Offset offset, int whence)
{
    mpi_file_t *file = mpi_file_of(handle);
    io_word_t word = {.key = xy_hash_u64((uint64_t)offset) + (uint64_t)whence};
    int64_t current = 0, target = 0;
    int error;

    if (file == NULL)
        return mpi_file_refuse(handle);
    io_note(file);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    error = io_agree_on(file, &word, "offset or whence");
    if (error == MPI_SUCCESS)
        error = io_error_errno(file, io_pointer_add(file, 0, &current));
    if (error == MPI_SUCCESS)
        error = find_target(file, offset, whence, current, &target);
    if (error != MPI_SUCCESS)
        return error;
    error = io_agree_on(file, &word, "offset or whence"); /* all have seen where it was */
    if (file->comm->rank == 0 && error == MPI_SUCCESS)
        word.error = io_pointer_set(file, target);
    return error == MPI_SUCCESS ? io_agree_on(file, &word, "offset or whence") : error;
}

int impl_file_get_position(MPI_File handle, MPI_Offset *offset)
{
    mpi_file_t *file = mpi_file_of(handle);

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    *offset = file->position;
    return MPI_SUCCESS;
}

int impl_file_get_position_shared(MPI_File handle, MPI_Offset *offset)
{
    mpi_file_t *file = mpi_file_of(handle);
    int64_t at = 0;
    int code;

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    code = io_pointer_add(file, 0, &at);
    *offset = at;
    return io_error_errno(file, code);
}

int impl_file_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset *disp)
{
    mpi_file_t *file = mpi_file_of(handle);
    int64_t byte;

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    if (offset < 0 || __builtin_mul_overflow(offset, (int64_t)file->view->unit, &byte))
        return mpi_error(file->comm, MPI_ERR_ARG, "the offset is %lld", (long long)offset);
    *disp = io_view_offset(file->view, byte);
    return MPI_SUCCESS;
}
