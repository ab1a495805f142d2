/* SPDX-License-Identifier: BSD-3-Clause */
/* The object behind an MPI_File: one per member, which belongs to its rank. */
#ifndef XY_MPI_IO_IO_FILE_H
#define XY_MPI_IO_IO_FILE_H

#include "mpi/comm/comm.h"
#include "mpi/io/access.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

/* The access begun by a call of _begin, until its _end. */
typedef struct {
    const char *name; /* "MPI_File_read_all"; NULL: none is open */
    const void *memory;
    MPI_Status status;
} io_split_t;

typedef struct mpi_file {
    mpi_life_t life;
    io_shared_t *shared;
    mpi_comm_t *comm; /* the file's own: agreements, and the error handler */
    mpi_comm_t *here; /* of the members in this process: `comm`, unless there are others */
    mpi_rank_t *owner;
    bool is_atomic;
    io_view_t *view;
    int64_t position;     /* the individual pointer, in etypes */
    size_t piece;         /* hint: cb_buffer_size, */
    bool is_split[2];     /* whether collective reads [0] and writes [1] are left to each member, */
    bool is_direct[2];    /* and holes are left alone */
    mpi_info_t *info;     /* the hints that are known, with their values */
    int pending;          /* nonblocking accesses of this member whose requests it has */
    uint64_t collectives; /* number of collective accesses of this member */
    io_split_t split;
} mpi_file_t;

/* NULL for MPI_FILE_NULL, for one that was closed and for what is no handle. */
static inline mpi_file_t *mpi_file_of(MPI_File handle)
{
    mpi_file_t *file = (mpi_file_t *)(void *)handle;

    if ((uintptr_t)handle < 4096)
        return NULL;
    return mpi_life_is(&file->life, XMPI_LIFE_FILE) ? file
                                                    : mpi_life_refuse(&file->life, XMPI_LIFE_FILE);
}

static inline bool io_is_spread(const mpi_file_t *file)
{
    return file->here != file->comm;
}

/* ---- Errors ---- */

/* An error of a file is raised on its communicator, `file->comm`, with mpi_error and related
 * functions: the communicator has the file's error handler, which gets the file. Errors without a
 * file are raised on MPI_FILE_NULL:
 *
 * Raise MPI_ERR_FILE for a handle that mpi_file_of refused. */
int mpi_file_refuse(MPI_File handle);
/* The result of the MPI function `name` for a NULL argument, before it is entered: see
 * mpi_refuse_null. */
int mpi_file_refuse_null(const char *name, const void *site, MPI_File handle, const char *argument)
    __attribute__((cold));
int io_error_null(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Raise what `code`, an errno, says about the file; 0 is MPI_SUCCESS. */
int io_error_errno(mpi_file_t *file, int code);
/* The class of an errno. */
int io_error_class(int code);
/* A call that is not allowed for a file opened with this bit. */
int io_refuse_mode(mpi_file_t *file, int mode);

/* ---- Agreements ---- */

/* The claim of a member, and then the result of all claims. */
typedef struct {
    int64_t value;
    uint64_t key;          /* all must have the same */
    int error;             /* an errno; the call fails if one has one */
    int64_t before, total; /* sums of values: of the ranks before this one, of all */
    int different;         /* a rank whose key is not that of rank 0; -1: there is none */
    int failed;            /* the first rank with an error, and */
    int failure;           /* ... that error; 0 */
} io_word_t;

/* All members of `comm` come here and go when all have come. Parks. */
int io_agree(mpi_comm_t *comm, io_word_t *word);
/* Raise MPIX_ERR_PROC_FAILED where a member has failed: before collective accesses. */
int io_check_members(mpi_file_t *file);
/* The same for a call that changes the file: raises the first error of any member on `file`, and
 * MPI_ERR_NOT_SAME with `what` where keys differ. */
int io_agree_on(mpi_file_t *file, io_word_t *word, const char *what);
/* Raise that: `member` gives another `what` than rank 0. */
int io_refuse_different(mpi_file_t *file, int member, const char *what);

/* Members of other processes are not waited for in a collective access: MPI_File_close finds out
 * whether all have made as many, reads and writes in the same order. With an offset or at the
 * pointer is the same. */
static inline void io_note_collective(mpi_file_t *file, bool is_write)
{
    file->collectives = xy_hash_u64(2 * file->collectives + is_write + 1);
}

/* ---- Between the files of this part ---- */

void io_shared_release(io_shared_t *shared); /* any thread */
/* The hints in `info` that are known, as far as their values make sense; the others keep theirs.
 * XY_ENOMEM is silent. */
xy_status_t io_info_apply(mpi_file_t *file, const mpi_info_t *info);
/* Add to the shared pointer; what it was before. Of one process: any thread. errno. */
int io_pointer_add(mpi_file_t *file, int64_t etypes, int64_t *before_p);
int io_pointer_set(mpi_file_t *file, int64_t value);
void io_pointer_remove(const io_shared_t *shared); /* the file that holds it */

static inline bool io_is_sequential(const mpi_file_t *file)
{
    return (file->shared->amode & MPI_MODE_SEQUENTIAL) != 0;
}

/* The call is about this file; for reports. */
static inline void io_note(const mpi_file_t *file)
{
    mpi_self->call.comm = file->comm;
    mpi_self->call.peer = MPI_UNDEFINED;
}

#endif
