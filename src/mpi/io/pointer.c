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

/* Where a seek goes. */
typedef struct {
    mpi_file_t *file;
    MPI_Offset offset;
    int whence;
    int64_t target;
    int code;      /* errno */
    int different; /* a member that asks for something else than the first; 0: none */
} seek_t;

/* Any rank of the process. */
static void find_target(seek_t *seek, int64_t current)
{
    int64_t from = seek->whence == MPI_SEEK_CUR ? current : 0;

    seek->code = 0;
    if (seek->whence == MPI_SEEK_END)
        seek->code = find_end(seek->file, &from);
    if (__builtin_add_overflow(from, seek->offset, &seek->target))
        seek->target = -1;
}

static bool is_whence(int whence)
{
    return whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
}

static int check_whence(mpi_file_t *file, int whence)
{
    if (is_whence(whence))
        return MPI_SUCCESS;
    return mpi_error(file->comm, MPI_ERR_ARG,
                     "whence is %d; it is MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
                     mpi_number_passed(whence));
}

static int check_target(const seek_t *seek)
{
    if (seek->code != 0)
        return io_error_errno(seek->file, seek->code);
    if (seek->target < 0)
        return mpi_error(seek->file->comm, MPI_ERR_ARG, "the pointer would be at %lld",
                         (long long)seek->target);
    return MPI_SUCCESS;
}

int impl_file_seek(mpi_file_t *file, MPI_Offset offset, int whence)
{
    seek_t seek = {.file = file, .offset = offset, .whence = whence};
    int error;

    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    error = check_whence(file, whence);
    if (error != MPI_SUCCESS)
        return error;
    find_target(&seek, file->position);
    error = check_target(&seek);
    if (error == MPI_SUCCESS)
        file->position = seek.target;
    return error;
}

/* All members have come: what the first says is done, if the others say the same. */
static void seek_leader(void *const *inputs, int size, void *const *outputs)
{
    seek_t answer = *(const seek_t *)inputs[0];

    for (int r = 1; r < size && answer.different == 0; r++) {
        const seek_t *other = inputs[r];

        if (other->offset != answer.offset || other->whence != answer.whence)
            answer.different = r;
    }
    if (answer.different == 0 && is_whence(answer.whence)) {
        find_target(&answer, atomic_load(&answer.file->shared->pointer));
        if (answer.code == 0 && answer.target >= 0)
            atomic_store(&answer.file->shared->pointer, answer.target);
    }
    /* Each knows where such a one goes: what is in another's cache is left there. */
    if (answer.different == 0 && answer.whence == MPI_SEEK_SET)
        return;
    for (int r = 0; r < size; r++) {
        seek_t *seek = outputs[r];

        seek->target = answer.target;
        seek->code = answer.code;
        seek->different = answer.different;
    }
}

/* Where members are in several processes, the pointer is changed when all have seen where it was.
 */
static int seek_spread(mpi_file_t *file, seek_t *seek)
{
    io_word_t word = {.key = xy_hash_u64((uint64_t)seek->offset) + (uint64_t)seek->whence};
    int64_t current = 0;
    int error = io_agree_on(file, &word, "offset or whence");

    if (error == MPI_SUCCESS)
        error = io_error_errno(file, io_pointer_add(file, 0, &current));
    if (error != MPI_SUCCESS)
        return error;
    find_target(seek, current);
    error = check_target(seek);
    if (error == MPI_SUCCESS)
        error = io_agree_on(file, &word, "offset or whence");
    if (file->comm->rank == 0 && error == MPI_SUCCESS)
        word.error = io_pointer_set(file, seek->target);
    return error == MPI_SUCCESS ? io_agree_on(file, &word, "offset or whence") : error;
}

int impl_file_seek_shared(mpi_file_t *file, MPI_Offset offset, int whence)
{
    seek_t seek = {.file = file, .offset = offset, .whence = whence};
    int error;

    io_note(file);
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    if (io_is_spread(file)) {
        error = check_whence(file, whence);
        return error == MPI_SUCCESS ? seek_spread(file, &seek) : error;
    }
    if (whence == MPI_SEEK_SET)
        find_target(&seek, 0);
    mpi_coll_agree(file->comm, &seek, &seek, seek_leader);
    if (seek.different != 0)
        return io_refuse_different(file, seek.different, "offset or whence");
    error = check_whence(file, whence);
    return error == MPI_SUCCESS ? check_target(&seek) : error;
}

int impl_file_get_position(mpi_file_t *file, MPI_Offset *offset)
{
    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    *offset = file->position;
    return MPI_SUCCESS;
}

int impl_file_get_position_shared(mpi_file_t *file, MPI_Offset *offset)
{
    int64_t at = 0;
    int code;

    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    code = io_pointer_add(file, 0, &at);
    *offset = at;
    return io_error_errno(file, code);
}

int impl_file_get_byte_offset(mpi_file_t *file, MPI_Offset offset, MPI_Offset *disp)
{
    int64_t byte;

    if (io_is_sequential(file))
        return io_refuse_mode(file, MPI_MODE_SEQUENTIAL);
    if (offset < 0 || __builtin_mul_overflow(offset, (int64_t)file->view->unit, &byte))
        return mpi_error(file->comm, MPI_ERR_ARG, "the offset is %lld", (long long)offset);
    *disp = io_view_offset(file->view, byte);
    return MPI_SUCCESS;
}
