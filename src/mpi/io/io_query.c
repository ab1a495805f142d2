/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of files: size, group and mode; and the calls that change these. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/io/calls.h"
#include "mpi/io/io.h"
#include "mpi/io/io_pool.h"
#include "mpi/io/io_represent.h"
#include "mpi/io/map.h"

int impl_file_get_size(mpi_file_t *file, MPI_Offset *size)
{
    struct stat about;

    if (fstat(file->shared->fd, &about) != 0)
        return io_error_errno(file, errno);
    *size = about.st_size;
    return MPI_SUCCESS;
}

int impl_file_get_amode(mpi_file_t *file, int *amode)
{
    *amode = file->shared->amode;
    return MPI_SUCCESS;
}

int impl_file_get_group(mpi_file_t *file, MPI_Group *group)
{
    mpi_group_hold(file->comm->group, 1);
    return mpi_group_give(file->comm, file->comm->group, group);
}

int impl_file_get_atomicity(mpi_file_t *file, int *flag)
{
    *flag = file->is_atomic;
    return MPI_SUCCESS;
}

int impl_file_get_type_extent_c(MPI_File handle, MPI_Datatype datatype, MPI_Count *extent)
{
    mpi_file_t *file = mpi_file_of(handle);
    const mpi_type_t *type = mpi_type_of(datatype);

    if (file == NULL)
        return mpi_file_refuse(handle);
    if (type == NULL)
        return mpi_error(file->comm, MPI_ERR_TYPE, "the datatype is not a valid handle");
    *extent = io_rep_extent(file->view->rep, type);
    return MPI_SUCCESS;
}

int impl_file_get_type_extent(MPI_File handle, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Count wide = 0;
    int error = impl_file_get_type_extent_c(handle, datatype, &wide);

    if (error == MPI_SUCCESS)
        *extent = (MPI_Aint)wide;
    return error;
}

/* ---- Changes, which are collectives ---- */

int impl_file_set_atomicity(mpi_file_t *file, int flag)
{
    io_word_t word = {.key = flag != 0};
    int error;

    io_note(file);
    error = io_agree_on(file, &word, "mode");
    if (error == MPI_SUCCESS)
        file->is_atomic = flag != 0;
    return error;
}

static int check_size(mpi_file_t *file, MPI_Offset size)
{
    io_note(file);
    if (size < 0)
        return mpi_error(file->comm, MPI_ERR_ARG, "the size is %lld bytes", (long long)size);
    return (file->shared->amode & MPI_MODE_RDONLY) != 0 ? io_refuse_mode(file, MPI_MODE_RDONLY)
                                                        : MPI_SUCCESS;
}

/* Before it, all have come; after it, rank 0 has done it. */
static int change_size(mpi_file_t *file, MPI_Offset size, int (*change)(int fd, off_t size))
{
    io_word_t word = {.key = (uint64_t)size};
    int error = io_agree_on(file, &word, "size");

    if (error != MPI_SUCCESS)
        return error;
    word.error = file->comm->rank == 0 ? change(file->shared->fd, (off_t)size) : 0;
    return io_agree_on(file, &word, "size");
}

static int truncate_to(int fd, off_t size)
{
    return ftruncate(fd, size) == 0 ? 0 : errno;
}

static int allocate_to(int fd, off_t size)
{
    return size > 0 ? posix_fallocate(fd, 0, size) : 0;
}

int impl_file_set_size(mpi_file_t *file, MPI_Offset size)
{
    int error;

    error = check_size(file, size);
    return error == MPI_SUCCESS ? change_size(file, size, truncate_to) : error;
}

int impl_file_preallocate(mpi_file_t *file, MPI_Offset size)
{
    int error;

    error = check_size(file, size);
    return error == MPI_SUCCESS ? change_size(file, size, allocate_to) : error;
}

typedef struct {
    int fd, error;
} sync_t;

static void sync_file(void *arg)
{
    sync_t *s = arg;

    s->error = fsync(s->fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/* One member of each process does it, on another thread: it may take long. */
int impl_file_sync(mpi_file_t *file)
{
    io_word_t word = {.error = 0};
    int error;

    io_note(file);
    if ((file->shared->amode & MPI_MODE_RDONLY) == 0) {
        error = io_agree_on(file, &word, "call"); /* all writes have been made */
        if (error != MPI_SUCCESS)
            return error;
        if (file->here->rank == 0) {
            sync_t sync = {file->shared->fd, 0};

            io_map_touch(file->shared);
            io_pool_call(sync_file, &sync);
            word.error = sync.error;
        }
    }
    return io_agree_on(file, &word, "call");
}
